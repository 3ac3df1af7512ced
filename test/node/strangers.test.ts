// tier: quick, 5 s
/**
 * Strangers from many addresses on the limits of `config/production.json`: what they read, log in and hold leaves an
 * honest user with funds what that user needs.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { OperatorClient } from '../../src/client/operator.ts';
import { Stranger, type Target } from '../hostile/stranger.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

/** Of user A of the dev seed, who has funds (operator-api.md 9). */
const DEV_SEED = new Uint8Array(32).fill(1);
/** A tenth of the global budget, and reads at fifty times their price: what a test can send on a crowded machine too. */
const SMALL = { global: { units_per_second: 2_000 }, costs: { public_read: 100 } };
const ADDRESSES = 24;
const FLOOD_MS = 1_500;
const FLOOD_MS_MAX = 10_000;
const ENOUGH = 50;

/** A node with funds for users and the limits of production. */
async function productionLimits(directory: string): Promise<NodeProcess> {
  const { addresses, rateLimits } = JSON.parse(readFileSync('config/production.json', 'utf8')) as Record<
    string,
    unknown
  >;
  const path = join(directory, 'config.json');
  writeFileSync(
    path,
    JSON.stringify({ extends: 'dev', addresses, rateLimits, orderWaitMsMax: 0, storage: { mapSizeMiB: 1024 } }),
  );
  const dataDirectory = join(directory, 'data');
  return startNode({ profile: 'dev', dataDirectory, rateLimits: 'standard', env: { RINGBOOK_CONFIG: path } });
}

suite('an honest user beside strangers, on production limits', () => {
  let home: string;
  let node: NodeProcess;
  let target: Target;
  let honest: Stranger;

  before(async () => {
    home = temporaryDirectory();
    node = await productionLimits(home);
    const port = (url: string): number => Number(new URL(url).port);
    target = { oms: port(node.oms), mds: port(node.mds), untilMs: Number.POSITIVE_INFINITY };
    honest = new Stranger(target, '127.0.0.1', DEV_SEED);
    assert.equal((await honest.login()).status, 200);
    const operating = new OperatorClient(node.ops);
    await operating.setMarketMaker(honest.key.userId, true);
    operating.close();
  });
  after(async () => {
    honest?.end();
    await stopNode(node, 'SIGKILL');
    removeDirectory(home);
  });

  /** Everything at once from many addresses, until enough have had this answer; what the strangers were answered. */
  async function flood(
    ask: (stranger: Stranger, address: string) => Promise<{ readonly status: number }>,
    awaited = 200,
  ): Promise<Map<number, number>> {
    const told = new Map<number, number>();
    const begunMs = performance.now();
    // On a crowded machine it takes longer until anything is refused.
    const isOver = (): boolean => {
      const ms = performance.now() - begunMs;
      return ms >= FLOOD_MS && ((told.get(awaited) ?? 0) > ENOUGH || ms >= FLOOD_MS_MAX);
    };
    const strangers = Array.from({ length: ADDRESSES }, (_, index) => {
      const address = `127.0.1.${index + 1}`;
      return { address, stranger: new Stranger(target, address) };
    });
    await Promise.all(
      strangers.flatMap(({ stranger, address }) =>
        Array.from({ length: 4 }, async () => {
          while (!isOver()) {
            const { status } = await ask(stranger, address);
            told.set(status, (told.get(status) ?? 0) + 1);
          }
        }),
      ),
    );
    for (const { stranger } of strangers) stranger.end();
    return told;
  }

  /** What a maker cannot do without, over and over until the work beside it is done. @returns answers by their status. */
  async function makerAtWork(beside: Promise<unknown>): Promise<string[]> {
    let isOver = false;
    void beside.finally(() => {
      isOver = true;
    });
    const refused: string[] = [];
    const note = (what: string, { status, code }: { readonly status: number; readonly code: string }): void => {
      if (status === 429 || status === 503 || status === 0) refused.push(`${what}: ${status} ${code}`);
    };
    const ids = Array.from({ length: 50 }, (_, index) => `"none-${index}"`);
    for (let turn = 0; !isOver; turn += 1) {
      const order = honest.order({ side: 'Buy', price: '1', quantity: '0.01' });
      note('create', await honest.create(order));
      note('cancel-batch', await honest.call('DELETE', '/orders/cancel-batch', `{"order_ids":[${ids.join(',')}]}`));
      note('cancel-all', await honest.call('DELETE', '/orders/cancel-all'));
      note('timer', await honest.call('POST', '/orders/cancel-all-after', '{"timeout_ms":60000}'));
      if (turn % 8 === 0) note('login', await honest.login());
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return refused;
  }

  test('public reads from many addresses take their half; not one request of a maker is refused (LIM-02, LIM-06, LIM-14)', async () => {
    await operator(node, 'PUT', '/operator/rate-limits', SMALL);
    const reading = flood((stranger) => stranger.call('GET', '/tickers', '', target.mds), 429);
    assert.deepEqual(await makerAtWork(reading), []);
    const told = await reading;
    assert.ok((told.get(429) ?? 0) > ENOUGH, `the strangers asked for more than their share: ${[...told]}`);
    await operator(node, 'PUT', '/operator/rate-limits', {});
  });

  test('logins of free keys from many addresses: every login and request of a user with funds is served (SES-07, AMB-87)', async () => {
    const logins = flood(async (_, address) => {
      const one = new Stranger(target, address);
      const answer = await one.login();
      one.end();
      return answer;
    });
    assert.deepEqual(await makerAtWork(logins), []);
    const told = await logins;
    assert.ok((told.get(200) ?? 0) > ENOUGH, `strangers logged in: ${[...told]}`);
    assert.equal(told.get(503), undefined);
  });

  test('nonces of a user, requested by strangers, keep that user out of nothing (SES-04)', async () => {
    const asking = flood((stranger) => stranger.call('GET', `/nonce/${honest.key.userId}`));
    assert.deepEqual(await makerAtWork(asking), []);
    assert.ok(((await asking).get(200) ?? 0) > ENOUGH);
    assert.equal((await honest.login()).status, 200);
  });

  test('dead-man timers of free keys are refused by a reason, and an honest one is started, ended and started again', async () => {
    const strangers = Array.from({ length: 8 }, (_, index) => new Stranger(target, `127.0.2.${index + 1}`));
    const timer = '{"timeout_ms":60000}';
    for (const stranger of strangers) {
      assert.equal((await stranger.login()).status, 200);
      const { status, code } = await stranger.call('POST', '/orders/cancel-all-after', timer);
      assert.equal(`${status} ${code}`, '400 INSUFFICIENT_INVENTORY');
      assert.equal((await stranger.call('POST', '/orders/cancel-all-after', '{"timeout_ms":0}')).status, 200);
      stranger.end();
    }
    for (const body of [timer, '{"timeout_ms":0}', timer]) {
      assert.equal((await honest.call('POST', '/orders/cancel-all-after', body)).status, 200);
    }
  });
});
