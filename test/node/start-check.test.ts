// tier: full, 37 s
/** What a start refuses before anything listens: one line on standard error and 78. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { must } from '../../src/core/assert.ts';
import { TABLE } from '../../src/storage/key-layout.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { readVerifiedMark, writeVerifiedMark } from '../../src/storage/verified-mark.ts';
import { damagedRecords } from '../support/damage.ts';
import { flipIn } from '../support/live-damage.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { eventually, seenAtLast } from '../support/patience.ts';
import { SeededRandom } from '../support/simulation.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';

const SLOW_NODE = fileURLToPath(new URL('../support/slow-node-main.js', import.meta.url));

/** A directory in which a node has run and stopped. */
async function usedDirectory(): Promise<string> {
  const node = await startNode({ profile: 'dev' });
  assert.equal(await stopNode(node), 0);
  return node.dataDirectory;
}

/** The one line that a refused start prints. */
async function refusal(dataDirectory: string): Promise<string> {
  const error = await startNode({ profile: 'dev', dataDirectory }).then(
    (node: NodeProcess) => stopNode(node, 'SIGKILL').then(() => new Error('it started')),
    (reason: unknown) => reason as Error,
  );
  const [head = '', ...lines] = error.message.trimEnd().split('\n');
  assert.match(head, /ended with 78 before it was ready/, error.message);
  assert.equal(lines.length, 1, error.message);
  return lines[0] ?? '';
}

/** The process that holds the directory, once there is one; the claims of those that ended at once stay until then. */
async function claimant(directory: string, ended: ReadonlySet<number>): Promise<number> {
  const found = await seenAtLast(() => {
    const claims = readdirSync(directory).map((name) => Number(/^claim\.\d+\.([1-9]\d*)\./.exec(name)?.[1] ?? 0));
    return claims.find((pid) => pid > 0 && !ended.has(pid));
  });
  return must(found, 'a start claims its directory');
}

/** The line of a start that a signal ended; there is none while nothing has begun. */
function isAbandoned(line: string, signal: string): boolean {
  const { event, why, ready } = JSON.parse(line) as Record<string, unknown>;
  return event === 'stopped' && why === signal && ready === false;
}

suite('the check before a start', () => {
  test('a second node on a directory is refused with 78, and the first goes on (I24)', async () => {
    const node = await startNode({ profile: 'dev' });
    assert.match(await refusal(node.dataDirectory), /in use by process/);
    assert.equal(await stopNode(node), 0);
    const again = await startNode({ profile: 'dev', dataDirectory: node.dataDirectory });
    assert.equal(await stopNode(again), 0);
    removeDirectory(node.dataDirectory);
  });

  test('a damaged record is refused with 78 however often it is tried, until its bytes are back', async () => {
    const directory = await usedDirectory();
    const path = join(directory, MAP_FILE_NAME);
    const sound = readFileSync(path);
    writeFileSync(path, damagedRecords(sound));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      assert.match(await refusal(directory), /is damaged: (?:journal|map|storage): /);
    }
    writeFileSync(path, sound);
    const node = await startNode({ profile: 'dev', dataDirectory: directory });
    assert.equal(await stopNode(node), 0);
    removeDirectory(directory);
  });

  test('a directory that has lost its map is refused with 78 and nothing is made in it; an empty one begins anew', async () => {
    const directory = await usedDirectory();
    const again = await startNode({ profile: 'dev', dataDirectory: directory });
    assert.equal(await stopNode(again), 0);
    rmSync(join(directory, MAP_FILE_NAME));
    assert.match(await refusal(directory), /has lost its ledger\.mdb, as verified is there/);
    rmSync(join(directory, 'verified'));
    assert.match(await refusal(directory), /has lost its ledger\.mdb, as chains is there/);
    assert.equal(existsSync(join(directory, MAP_FILE_NAME)), false);
    rmSync(join(directory, 'chains'), { recursive: true });
    assert.match(await refusal(directory), /has lost its ledger\.mdb, as evm is there/);
    rmSync(join(directory, 'evm'), { recursive: true });
    const anew = await startNode({ profile: 'dev', dataDirectory: directory });
    assert.equal(await stopNode(anew), 0);
    removeDirectory(directory);
  });

  test('a start that is refused or told to stop while a thread loads ends when it has loaded, in order', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const refusedIn = temporaryDirectory();
    const env = { RINGBOOK_OPS_PORT: `${port}` };
    await assert.rejects(
      startNode({ profile: 'dev', program: SLOW_NODE, dataDirectory: refusedIn, env }),
      (refused: Error) => {
        assert.match(
          refused.message,
          /^node ended with 78 before it was ready:\nringbook does not start: cannot listen/,
        );
        return refused.message.endsWith('\nthe slow verifier has loaded\n');
      },
    );
    taken.close();
    const dataDirectory = temporaryDirectory();
    const starting = startNode({ profile: 'dev', program: SLOW_NODE, dataDirectory });
    const pid = await claimant(dataDirectory, new Set());
    await eventually(() => existsSync(join(dataDirectory, 'loading')));
    process.kill(pid, 'SIGTERM');
    await assert.rejects(starting, ({ message }: Error) => {
      const [head, ...lines] = message.trimEnd().split('\n');
      assert.equal(head, 'node ended with 0 before it was ready:');
      assert.equal(lines.at(-1), 'the slow verifier has loaded');
      return lines.slice(0, -1).every((line) => isAbandoned(line, 'SIGTERM'));
    });
    removeDirectory(refusedIn);
    removeDirectory(dataDirectory);
  });

  test('SIGTERM during a start ends it with 0 and one line (MCH-03), and the next start has everything (AMB-110)', async () => {
    const directory = await usedDirectory();
    const ended = new Set<number>();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const starting = startNode({ profile: 'dev', dataDirectory: directory, rateLimits: 'standard' });
      const how = starting.then(
        (node) => node.ended,
        (refused: Error) => refused.message.trimEnd(),
      );
      const pid = await claimant(directory, ended);
      ended.add(pid);
      process.kill(pid, signal);
      const told = await how;
      const [head, ...lines] = String(told).split('\n');
      assert.ok(told === 0 || head === 'node ended with 0 before it was ready:', String(told));
      assert.ok(lines.length <= 1 && lines.every((line) => isAbandoned(line, signal)), String(told));
    }
    const node = await startNode({ profile: 'dev', dataDirectory: directory });
    assert.equal(await stopNode(node), 0);
    removeDirectory(directory);
  });

  test('a node that meets damage in a page verified before ends, and the next start finds it: 78 (AMB-111)', async () => {
    const market = await TestNode.start();
    const [seller, buyer] = [await market.trader({ '2': '1' }), await market.trader({ '0': '5000' })];
    await seller.sell(limit(300_000, 10_000));
    const order = await buyer.buy(limit(300_000, 10_000));
    await buyer.until(order.id, 'Removed Filled');
    await market.restart('SIGTERM');
    await market.restart('SIGTERM');
    const { dataDirectory } = market.process;
    assert.equal(await stopNode(market.process), 0);
    assert.ok(readVerifiedMark(dataDirectory) !== null);
    flipIn(join(dataDirectory, MAP_FILE_NAME), new SeededRandom(1), TABLE.orderBlock);

    market.process = await startNode({ profile: 'test', dataDirectory });
    await market.login();
    await assert.rejects(buyer.call('GET', `/orders/user/${buyer.userId}`), 'no answer');
    assert.equal(await market.process.ended, 70, market.process.stderr());
    assert.match(await refusal(dataDirectory), /is damaged: /);
    await market.stop();
  });

  test('a start keeps how far it verified; a mark of another journal is not believed', async () => {
    const directory = await usedDirectory();
    assert.equal(readVerifiedMark(directory), null, 'an empty directory has nothing to verify');
    const node = await startNode({ profile: 'dev', dataDirectory: directory });
    const mark = readVerifiedMark(directory);
    assert.ok(mark !== null && mark.sequence > 0);
    assert.equal(await stopNode(node), 0);
    writeVerifiedMark(directory, { ...mark, hash: new Uint8Array(32) });
    const again = await startNode({ profile: 'dev', dataDirectory: directory });
    const renewed = readVerifiedMark(directory);
    assert.ok(renewed !== null && renewed.sequence > mark.sequence);
    assert.equal(await stopNode(again), 0);
    removeDirectory(directory);
  });
});
