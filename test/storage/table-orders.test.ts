/** What a start reads without lmdb, against what lmdb reads. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { LoadedRow, OrderRow, RowWrite } from '../../src/clearing/rows.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import type { Sequence } from '../../src/core/units.ts';
import { MAP_FILE_NAME } from '../../src/storage/environment.ts';
import { loadRows, readRows } from '../../src/storage/load-rows.ts';
import { CheckpointStore, order, userOf } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';

const pathOf = (store: CheckpointStore): string => join(store.directory, MAP_FILE_NAME);

/** Of every row; an order's as it is looked at when it is its turn. */
function plain(rows: Iterable<LoadedRow>): RowWrite[] {
  return Array.from(rows, (loaded) =>
    loaded.table === 'storedOrder'
      ? { table: 'order', row: structuredClone(loaded.stored.take(loaded.place)) }
      : structuredClone(loaded),
  );
}

function user(byte: number): RowWrite {
  const row = { user: userOf(byte), isMarketMaker: false, configNonce: 0, transferNonce: 0n, closePositionNonce: 0n };
  return { table: 'user', row };
}

/** Live ones; some with a text that lmdb keeps in pages of its own. */
const orders = fc.uniqueArray(
  fc.record({
    marketIndex: fc.nat({ max: 2 }),
    orderSequence: fc.integer({ min: 1, max: 400 }) as fc.Arbitrary<Sequence>,
    user: fc.integer({ min: 1, max: 5 }).map(userOf),
    text: fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength: 300 }) }, fc.constant('long'.repeat(900))),
  }),
  { selector: ({ marketIndex, orderSequence }) => `${marketIndex}/${orderSequence}`, maxLength: 120 },
);

function live(more: Partial<OrderRow> & { readonly orderSequence: Sequence }): OrderRow {
  return order(more.orderSequence, { prioritySequence: more.orderSequence, end: 0, ...more });
}

suite('orders in their table', () => {
  test('a start reads the rows that lmdb reads, and finds and walks each order where it lies', async () => {
    const store = new CheckpointStore();
    const there = new Map<string, OrderRow>();
    store.checkpoint([1, 2, 3, 4].map(user));
    let step = 0;
    fc.assert(
      fc.property(orders, fc.nat({ max: 9 }), (terms, ended) => {
        step += 1000;
        // Some of those from before end: their pages are free, or used again.
        const over = [...there].filter((_, at) => at % 10 === ended);
        for (const [name] of over) there.delete(name);
        const rows = terms.map((more) => live({ ...more, orderSequence: (step + more.orderSequence) as Sequence }));
        for (const row of rows) there.set(`${row.marketIndex}/${row.orderSequence}`, row);
        const gone = over.map(([, row]) => ({ ...row, end: ORDER_END.userRequested }));
        store.checkpoint([...rows, ...gone].map((row) => ({ table: 'order', row })));
        const read = plain(readRows(pathOf(store), store.writer));
        assert.deepEqual(read, plain(loadRows(store.writer)));
        assert.equal(read.filter(({ table }) => table === 'order').length, there.size);
        for (const loaded of readRows(pathOf(store), store.writer)) {
          if (loaded.table !== 'storedOrder') continue;
          const { stored, place, row } = loaded;
          const plainRow = there.get(`${row.marketIndex}/${place}`);
          for (const name of Object.keys(plainRow ?? {}) as (keyof OrderRow)[])
            assert.deepEqual(row[name], plainRow?.[name], name);
          assert.equal(row.text, stored.look(place).text);
          assert.equal(stored.userOf(row), [1, 2, 3, 4].map(userOf).indexOf(row.user));
        }
      }),
      { ...propertyParameters(12) },
    );
    await store.close();
  });

  test('a walk shows the orders that are asked for, in their order, whatever else is looked at', async () => {
    const store = new CheckpointStore();
    const rows = Array.from({ length: 300 }, (_, at) =>
      live({ marketIndex: at % 2, orderSequence: (at + 1) as Sequence, text: `text ${at}` }),
    );
    store.checkpoint([user(1), ...rows.map((row) => ({ table: 'order', row }) as const)]);
    const found = [...readRows(pathOf(store), store.writer)].filter((loaded) => loaded.table === 'storedOrder');
    const stored = found.find(({ place }) => place === 2)?.stored;
    const wanted = rows.filter(({ marketIndex }, at) => marketIndex === 1 && at % 3 === 0);
    let at = 0;
    for (const row of stored?.looks(wanted.map(({ orderSequence }) => orderSequence)) ?? []) {
      assert.equal(stored?.look(300).text, 'text 299');
      assert.equal(row.text, wanted[at]?.text);
      at += 1;
    }
    assert.equal(at, wanted.length);
    assert.throws(() => [...(stored?.looks([3]) ?? [])], { name: 'InvariantError' }, 'it is of the other market');
    assert.throws(() => stored?.take(301), { name: 'InvariantError' });
    await store.close();
  });
});
