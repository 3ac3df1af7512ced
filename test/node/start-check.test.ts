/** What a start refuses before anything listens: one line on standard error and 78. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { must } from '../../src/core/assert.ts';
import { SeededRandom } from '../../src/runtime/simulation.ts';
import { TABLE } from '../../src/storage/key-layout.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { readVerifiedMark, writeVerifiedMark } from '../../src/storage/verified-mark.ts';
import { damagedRecords } from '../support/damage.ts';
import { flipIn } from '../support/live-damage.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { seenAtLast } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';

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
    const anew = await startNode({ profile: 'dev', dataDirectory: directory });
    assert.equal(await stopNode(anew), 0);
    removeDirectory(directory);
  });

  test('SIGTERM during a start ends it with 0 and without a word, and the next start has everything (AMB-110)', async () => {
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
      assert.ok(told === 0 || told === 'node ended with 0 before it was ready:', String(told));
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
