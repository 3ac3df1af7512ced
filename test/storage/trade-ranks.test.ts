// tier: quick
/** Deep pages of trades, found by counting (PAG-01, PAG-03, QRY-03). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { RowWrite, TradeRow } from '../../src/clearing/rows.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { CheckpointStore, trade, userOf } from '../support/checkpoint-store.ts';

const MARKETS = [0, 1, 256];
const PER_CHECKPOINT = 3_000;

/** Trades of user 1 as maker; several of one instant, some of another user between them. */
function tradesOf(count: number): readonly TradeRow[] {
  return Array.from({ length: count }, (_, at) => {
    const plain = trade(at + 1, {
      marketIndex: MARKETS[((at * 7) % 11) % 3] ?? 0,
      matchedNs: BigInt(1_000 + Math.floor(at / 3) * 17) as TimestampNs,
    });
    const isOther = at % 5 === 0;
    return isOther ? { ...plain, maker: { ...plain.maker, user: userOf(3) } } : plain;
  });
}

async function stored(rows: readonly TradeRow[]): Promise<CheckpointStore> {
  const store = new CheckpointStore();
  for (let from = 0; from < rows.length; from += PER_CHECKPOINT) {
    const some = rows.slice(from, from + PER_CHECKPOINT);
    store.checkpoint(some.map((row): RowWrite => ({ table: 'trade', row })));
  }
  return store;
}

suite('trades from a rank on', () => {
  test('pages at any depth are those of a sorted array (PAG-01, PAG-03)', async () => {
    const rows = tradesOf(12_000);
    const store = await stored(rows);
    const sorted = [...rows].sort(
      (a, b) => Number(b.matchedNs - a.matchedNs) || b.tradeId - a.tradeId || b.marketIndex - a.marketIndex,
    );
    for (const marketIndex of [null, ...MARKETS]) {
      const own = sorted
        .filter((row) => row.maker.user === userOf(1))
        .filter((row) => marketIndex === null || row.marketIndex === marketIndex);
      for (let skip = 0; skip < own.length + 10; skip += 1_097) {
        const page = store.history.userTrades({ user: userOf(1), marketIndex, skip, limit: 7 });
        assert.deepEqual(
          page.rows.map(({ trade: { tradeId } }) => tradeId),
          own.slice(skip, skip + 7).map(({ tradeId }) => tradeId),
        );
        assert.equal(page.total, own.length);
      }
    }
    await store.close();
  });

  test('the deepest page costs what the first one costs', async () => {
    const rows = tradesOf(30_000);
    const store = await stored(rows);
    const msOf = (skip: number): number => {
      const figures = Array.from({ length: 20 }, () => {
        const began = performance.now();
        store.history.userTrades({ user: userOf(2), marketIndex: null, skip, limit: 1 });
        return performance.now() - began;
      });
      return Math.min(...figures);
    };
    const [first, middle, deepest] = [msOf(0), msOf(15_000), msOf(29_999)];
    // All 30,000 sides before it take 30 times a first page and more.
    const most = 10 * first + 1;
    assert.ok(
      middle < most && deepest < most,
      `${first} ms for the first page, ${middle} and ${deepest} for deep ones`,
    );
    await store.close();
  });

  test('a list whose match times went backwards is read as it is', async () => {
    const store = new CheckpointStore();
    const times = [50, 60, 10, 55, 70, 20];
    const rows = times.map((time, at) => trade(at + 1, { matchedNs: BigInt(time) as TimestampNs }));
    for (const row of rows) store.checkpoint([{ table: 'trade', row }]);
    const ids = (skip: number): readonly Sequence[] =>
      store.history
        .userTrades({ user: userOf(1), marketIndex: 0, skip, limit: 2 })
        .rows.map(({ trade: row }) => row.tradeId);
    assert.deepEqual([ids(0), ids(2), ids(4)].flat(), [5, 2, 4, 1, 6, 3]);
    await store.close();
  });
});
