// tier: full, 7 s
/** A start on many orders: progress is reported, and every actor has all of them when it is over (AMB-110). */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { before, suite, test } from 'node:test';
import { RECOVERY_STEPS } from '../../src/clearing/recovery-steps.ts';
import { restoredCount } from '../../src/clearing/restoring.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { LARGE_DATA_LOTS } from '../support/large-data.ts';
import { makeLargeRows } from '../support/large-rows.ts';
import { OPERATOR_TOKEN, startNode, stopNode } from '../support/node-process.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const SIZE = { users: 2_000, orders: 20_000, triggers: 4_000, children: 3_000, leftovers: 200 };
/** A restart ends the leftovers. */
const LIVE = SIZE.orders + SIZE.triggers + SIZE.children;
const STEPS: readonly string[] = ['verifying', ...RECOVERY_STEPS];

interface Told {
  readonly step: string;
  readonly done: number;
  readonly of: number;
}

/** Steps come in their order, and none of them goes back or beyond its end. */
function checkRising(told: readonly Told[]): void {
  for (const [index, { step, done, of }] of told.entries()) {
    const before = told[index - 1] ?? { step, done: 0, of };
    assert.ok(done <= of, `${step} ${done} of ${of}`);
    const steps = STEPS.indexOf(step) - STEPS.indexOf(before.step);
    assert.ok(steps > 0 || (steps === 0 && done >= before.done && of === before.of), `${step} after ${before.step}`);
  }
}

suite('a start on 27,000 orders of 2,000 users', () => {
  const directory = temporaryDirectory();
  before(() => makeLargeRows(directory, SIZE));

  test('every step rises to its end, and gateway, markets and clearing have the same orders (AMB-110)', async () => {
    const durability = new LmdbDurability(directory);
    const told: Told[] = [];
    const node = new SimulatedNode({
      durability,
      forged: new Set(),
      startNs: SIMULATION_START_NS,
      seed: 1,
      recovering: (step, done, of) => told.push({ step, done, of }),
    });
    node.settle();
    const { clearing, progressUnsaid } = node;
    assert.deepEqual([progressUnsaid, clearing.isRecovering()], [0, false], 'its thread recovers until all is told');
    checkRising(told);
    const ends = new Map(told.map(({ step, done, of }) => [step, { done, of }]));
    assert.equal(restoredCount(node.clearing.ledger), SIZE.users + LIVE);
    // Orders are sent while they are loaded; those that the restart ends count when they are passed.
    const all = SIZE.users + LIVE + SIZE.leftovers;
    assert.deepEqual(ends.get('restoring'), { done: all, of: all });
    const { done = 0, of } = ends.get('loading') ?? {};
    assert.ok(done === of && done > SIZE.users);
    assert.equal(node.gateway.orders.ordersInMemory, LIVE);
    let lots = 0;
    for (const engine of node.shards.flatMap((shard) => [...shard.engines().values()])) {
      for (const side of [SIDE.buy, SIDE.sell]) engine.forEachLevel(side, (_price, quantity) => (lots += quantity));
    }
    assert.equal(lots, SIZE.orders * LARGE_DATA_LOTS);
    await durability.close();
  });

  test('GET /readyz shows progress until it is ready, and clearing starts until all is sent', async () => {
    const port = await freePort();
    const starting = startNode({ dataDirectory: directory, env: { RINGBOOK_OPS_PORT: String(port) } });
    const told: Told[] = [];
    let isReady = false;
    while (!isReady) {
      const clearing = await clearingState(port);
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      const body = (await answer?.json()) as { ready: boolean; progress?: Told } | undefined;
      if (body?.progress !== undefined) {
        const { step, done, of } = body.progress;
        told.push(body.progress);
        if (clearing === 'running') assert.deepEqual([step, done], ['restoring', of], 'whoever runs has recovered');
      }
      isReady = body?.ready === true;
      await Promise.race([starting, new Promise((resolve) => setTimeout(resolve, 1))]);
    }
    checkRising(told);
    assert.equal(await stopNode(await starting), 0);
  });
});

/** What operators see of it; undefined while there is no answer. */
async function clearingState(port: number): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const answer = await fetch(`http://127.0.0.1:${port}/operator/actors`, { headers }).catch(() => null);
  if (answer?.status !== 200) return undefined;
  const { actors } = (await answer.json()) as { actors: { name: string; state: string }[] };
  return actors.find(({ name }) => name === 'clearing')?.state;
}

/** No other user gets one of these by chance: systems choose from those above. */
const PORTS = { from: 10_000, count: 20_000 };

async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS.count; tried += 1) {
    const port = PORTS.from + ((process.pid + tried) % PORTS.count);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  return assert.fail('no port is free');
}
