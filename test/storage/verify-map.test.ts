// tier: quick
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openReader, openWriter } from '../../src/storage/environment.ts';
import { keyWriter, META, TABLE } from '../../src/storage/key-layout.ts';
import { loadRows } from '../../src/storage/load-rows.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { readVerifiedMark, writeVerifiedMark } from '../../src/storage/verified-mark.ts';
import { verifyMap } from '../../src/storage/verify-map.ts';
import { CheckpointStore, order, signedText, trade, userOf } from '../support/checkpoint-store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const WHOLE = { since: null };
const LARGE = 300_000;

/** Some history: orders that end, trades, and a journal record that needs pages of its own. */
async function written(): Promise<string> {
  const store = new CheckpointStore();
  for (let step = 1; step <= 40; step += 1) {
    store.checkpoint([
      { table: 'order', row: order(step) },
      { table: 'trade', row: trade(step) },
      { table: 'signedText', row: signedText(step) },
    ]);
  }
  store.journal.append(41n as never, new Uint8Array(LARGE).fill(9));
  await store.close();
  return store.directory;
}

suite('verification of a map', () => {
  let directory = '';
  let bytes = Buffer.alloc(0);
  before(async () => {
    directory = await written();
    bytes = readFileSync(join(directory, MAP_FILE_NAME));
  });
  after(() => writeFileSync(join(directory, MAP_FILE_NAME), bytes));

  test('what was written is accepted: every page is in use once, free or meta, and everything is counted', () => {
    const report = verifyMap(directory, WHOLE);
    assert.deepEqual([report.records, report.firstSequence, report.mark.sequence, report.checkpoint], [41, 1, 41, 40]);
    assert.deepEqual(
      [report.tables['orderBlock'], report.tables['tradeBlock'], report.tables['signedText']],
      [40, 40, 40],
    );
    assert.equal(report.pagesRead + report.freePages + 2, report.pages);
  });

  test('since a mark only what was written later is read, and the chain goes on from the mark', async () => {
    const store = new CheckpointStore(await written());
    const { mark, pagesRead } = verifyMap(store.directory, WHOLE);
    store.journal.append(42n as never, new Uint8Array(8));
    await store.close();
    const report = verifyMap(store.directory, { since: mark });
    assert.deepEqual([report.records, report.mark.sequence], [1, 42]);
    assert.ok(report.pagesRead < pagesRead / 4, `${report.pagesRead} of ${pagesRead} pages`);
    const other = { ...mark, hash: new Uint8Array(32) };
    assert.throws(() => verifyMap(store.directory, { since: other }), { name: 'InvariantError' });
    assert.throws(() => verifyMap(store.directory, { since: { ...mark, sequence: 39 } }), { name: 'InvariantError' });
  });

  for (const [what, remove] of [
    ['a trade', keyWriter().ofMarket(TABLE.tradeBlock, 0, 7)],
    ['an order', keyWriter().ofMarket(TABLE.orderBlock, 0, 7)],
    ['a record of the journal', keyWriter().journal(7)],
    ['the last record that the checkpoint names', keyWriter().journal(40)],
    ['the checkpoint and the sums', keyWriter().meta(META.tableSums)],
  ] as const) {
    test(`${what} that is missing is noticed, though all that is there is sound`, async () => {
      const missing = await written();
      const writer = openWriter(missing);
      writer.commit([{ key: remove, value: null }]);
      await writer.close();
      assert.throws(() => verifyMap(missing, WHOLE), { name: 'InvariantError' });
    });
  }

  test('a row of an earlier checkpoint in place of the last one is noticed, also when a start loads it', async () => {
    const store = new CheckpointStore();
    const user = {
      user: userOf(1),
      isMarketMaker: false,
      configNonce: 1,
      transferNonce: 0n,
      closePositionNonce: 0n,
      hasTimer: false,
    };
    store.checkpoint([{ table: 'user', row: user }]);
    const key = keyWriter().user(TABLE.user, userOf(1));
    const stale = store.writer.get(key);
    store.checkpoint([{ table: 'user', row: { ...user, configNonce: 2 } }]);
    assert.equal([...loadRows(store.writer)].length, 1);
    store.writer.commit([{ key, value: stale }]);
    await store.close();
    assert.throws(() => verifyMap(store.directory, WHOLE), /table user/);
    const reader = openReader(store.directory);
    assert.throws(() => [...loadRows(reader)], /table user/);
    await reader.close();
  });

  test('a mark survives as it was written, and anything else is none', () => {
    const home = temporaryDirectory();
    assert.equal(readVerifiedMark(home), null);
    const mark = { txn: 7, sequence: 3, hash: new Uint8Array(32).fill(5) };
    writeVerifiedMark(home, mark);
    assert.deepEqual(readVerifiedMark(home), mark);
    const path = join(home, 'verified');
    writeFileSync(path, readFileSync(path).subarray(0, 40));
    assert.equal(readVerifiedMark(home), null);
  });
});
