// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { TradeRow } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { keyWriter, TABLE } from '../../src/storage/key-layout.ts';
import { TradeFinder } from '../../src/storage/trade-blocks.ts';
import { CheckpointStore, trade } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';

/** Ids rise by steps of one or more; order ids are of any length. */
const gaps = fc.array(fc.record({ step: fc.integer({ min: 1, max: 3 }), idLength: fc.integer({ min: 1, max: 36 }) }), {
  maxLength: 150,
});

function tradesOf(steps: readonly { step: number; idLength: number }[], marketIndex: number): TradeRow[] {
  let tradeId = 0;
  return steps.map(({ step, idLength }) => {
    tradeId += step;
    const plain = trade(tradeId, { marketIndex });
    const orderId = 'x'.repeat(idLength) as OrderId;
    return { ...plain, matchedNs: BigInt(tradeId) as TimestampNs, maker: { ...plain.maker, orderId } };
  });
}

/** Writes them in as many checkpoints as there are cuts, and one. */
function stored(rows: readonly TradeRow[], cuts: readonly number[]): CheckpointStore {
  const store = new CheckpointStore();
  const places = [...new Set([0, ...cuts.map((cut) => cut % (rows.length + 1)), rows.length])].sort((a, b) => a - b);
  for (const [index, from] of places.entries()) {
    store.checkpoint(rows.slice(from, places[index + 1] ?? from).map((row) => ({ table: 'trade', row })));
  }
  return store;
}

suite('blocks of trades', () => {
  test('however trades were cut into checkpoints, each is found, and so are those before and after it (PAG-03)', async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(gaps, gaps, cuts, async (one, other, at) => {
        const rows = tradesOf(one, 1);
        const store = stored(
          [...rows, ...tradesOf(other, 2)].sort((a, b) => a.tradeId - b.tradeId),
          at,
        );
        const finder = new TradeFinder(store.writer);
        for (const row of rows) assert.deepEqual(finder.find(1, row.tradeId), row);
        for (const row of [...rows].reverse()) assert.deepEqual(finder.find(1, row.tradeId), row);
        const last = rows.at(-1)?.tradeId ?? 0;
        for (const id of [0, 1, last >> 1, last, last + 1] as Sequence[]) {
          const before = { marketIndex: 1, below: id, skip: 1, limit: 60 };
          const older = rows.filter((row) => row.tradeId < id).reverse();
          assert.deepEqual(store.history.marketTrades(before), older.slice(1, 61));
          const newer = rows.filter((row) => row.tradeId > id);
          assert.deepEqual(store.history.marketTradesAfter(1, id, 60), newer.slice(0, 60));
          if (rows.every((row) => row.tradeId !== id)) assert.throws(() => finder.find(1, id), /is missing/);
        }
        await store.close();
      }),
      propertyParameters(15),
    );
  });

  test('a list of many trades reads each of their blocks once, of several markets in turn too', async () => {
    const store = new CheckpointStore();
    const rows = [1, 2, 3].flatMap((marketIndex) =>
      Array.from({ length: 200 }, (_, index) => trade(index + 1, { marketIndex })),
    );
    store.checkpoint(rows.map((row) => ({ table: 'trade', row })));
    const keys = keyWriter();
    const blocks = store.writer.range({
      from: keys.table(TABLE.tradeBlock),
      to: keys.table(TABLE.tradeBlock + 1),
      limit: 1_000,
    });
    let reads = 0;
    const finder = new TradeFinder({
      range: (range) => {
        reads += 1;
        return store.writer.range(range);
      },
    });
    for (let id = 200; id > 0; id -= 1) {
      for (const market of [1, 2, 3]) assert.equal(finder.find(market, id as Sequence).tradeId, id);
    }
    assert.ok(blocks.length > 20, `${blocks.length} blocks`);
    assert.equal(reads, blocks.length);
    await store.close();
  });

  test('a block is about as long as a page: some twenty trades, and one whose ids are long as well', async () => {
    const store = new CheckpointStore();
    const rows = Array.from({ length: 100 }, (_, index) => trade(index + 1));
    store.checkpoint(rows.map((row) => ({ table: 'trade', row })));
    const keys = keyWriter();
    const blocks = store.writer.range({
      from: keys.table(TABLE.tradeBlock),
      to: keys.table(TABLE.tradeBlock + 1),
      limit: 100,
    });
    assert.ok(blocks.length >= 4 && blocks.length <= 6, `${blocks.length} blocks`);
    for (const { value } of blocks) assert.ok(value.length <= 4_072, `${value.length} bytes`);
    await store.close();
  });

  test('a trade at or below the last of its market is refused, in one checkpoint or in two', async () => {
    const store = new CheckpointStore();
    const write = (...ids: readonly number[]) => {
      store.checkpoint(ids.map((id) => ({ table: 'trade', row: trade(id) })));
    };
    write(3, 5, 9);
    for (const ids of [[9], [8], [4], [1], [10, 10], [11, 10]]) {
      assert.throws(() => write(...ids), { name: 'InvariantError', message: /written once/ }, ids.join());
    }
    write(10);
    assert.deepEqual(
      store.history.marketTradesAfter(0, 0 as Sequence, 9).map((row) => row.tradeId),
      [3, 5, 9, 10],
    );
    await store.close();
  });
});
