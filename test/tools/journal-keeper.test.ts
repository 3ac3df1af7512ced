// tier: full, 7 s
/** A node that keeps its journal short while it trades, is killed, and goes on. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { snapshotsIn } from '../../src/storage/data-files.ts';
import { auditData, replayData } from '../../src/tools/audit-data.ts';
import { JournalKeeper } from '../../src/tools/journal-keeper.ts';
import { metricOf, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PRUNES = 2;
const quiet = (): void => undefined;

/** Trades until the node has reported so many prunings. @returns how many trades there were. */
async function tradeUntilPruned(node: NodeProcess, client: RingbookClient): Promise<number> {
  let trades = 0;
  while (node.stderr().split('journal pruned').length - 1 < PRUNES) {
    await client.create(await client.order({ assetId: '2', side: 'Sell', price: '3000', quantity: '0.01' }));
    await client.create(await client.order({ assetId: '2', side: 'Buy', price: '3000', quantity: '0.01' }));
    trades += 1;
    assert.ok(!node.stderr().includes('nothing is pruned'), node.stderr());
  }
  return trades;
}

suite('a journal that is kept short', () => {
  test('a node makes snapshots and prunes while it trades; killed, it has every trade, and its journal gives its state', async () => {
    const home = temporaryDirectory();
    const config = join(home, 'short.json');
    // Without a bound on the wait of orders: a machine with other work refuses none.
    const members = { logLevel: 'info', orderWaitMsMax: 0, snapshots: { everyMs: 200, keep: 1 } };
    writeFileSync(config, JSON.stringify({ extends: 'dev', ...members }));
    const options = { profile: 'dev', dataDirectory: join(home, 'data'), env: { RINGBOOK_CONFIG: config } } as const;
    let node = await startNode(options);
    try {
      const a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
      const b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
      for (const client of [a, b]) await client.login();
      const selfTrades = await tradeUntilPruned(node, a);
      for (let count = 0; count < 5; count += 1) {
        await a.create(await a.order({ assetId: '2', side: 'Sell', price: '3001', quantity: '0.01' }));
        await b.create(await b.order({ assetId: '2', side: 'Buy', price: '3001', quantity: '0.01' }));
      }
      await operator(node, 'POST', '/operator/barrier', {});
      const { items } = await a.trades({ limit: 1_000 });
      const first = await metricOf(node, 'ringbook_journal_first_sequence');
      assert.ok(first > 1, `the journal begins with ${first}`);
      assert.ok((await metricOf(node, 'ringbook_snapshots_total{result="made"}')) >= PRUNES);
      assert.equal(await metricOf(node, 'ringbook_snapshots_total{result="failed"}'), 0);
      assert.ok((await metricOf(node, 'ringbook_journal_bytes')) < (await metricOf(node, 'ringbook_data_file_bytes')));
      await stopNode(node, 'SIGKILL');
      const { stateHash, map } = await auditData(options.dataDirectory, quiet);
      assert.ok(map.firstSequence >= first && selfTrades > 0);
      const replayed = await replayData(options.dataDirectory, null, quiet);
      assert.equal(replayed.stateHash, stateHash);
      assert.ok(snapshotsIn(options.dataDirectory).some(({ sequence }) => sequence === replayed.fromSequence));
      node = await startNode({ ...options, env: {} });
      const again = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
      await again.login();
      assert.deepEqual((await again.trades({ limit: 1_000 })).items, items);
      for (const client of [a, b, again]) client.close();
      assert.equal(await stopNode(node), 0);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(home);
    }
  });

  test('a snapshot that fails is counted with its reason, removes nothing, and the next one is tried', async () => {
    const home = temporaryDirectory();
    const entry = join(home, 'fails.mjs');
    writeFileSync(entry, "console.log('prune 7'); console.log('failed the disk is full'); process.exitCode = 1;\n");
    const reasons: string[] = [];
    const keeper = new JournalKeeper({
      directory: home,
      entry: pathToFileURL(entry),
      keep: 1,
      sharing: null,
      prune: async () => assert.fail('nothing is pruned'),
      pruned: () => assert.fail('there is no snapshot'),
      failed: (reason) => reasons.push(reason),
      liabilities: () => null,
      stated: () => assert.fail('nothing is stated'),
      printed: () => undefined,
    });
    keeper.start(10);
    await eventually(() => reasons.length >= 2);
    keeper.stop();
    assert.deepEqual(reasons.slice(0, 2), ['the disk is full', 'the disk is full']);
    assert.deepEqual(keeper.counts, { made: 0, failed: reasons.length });
    removeDirectory(home);
  });
});
