/** What a start reads without lmdb, against what lmdb reads. */
import assert from 'node:assert/strict';
import { closeSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { LoadedRow, OrderRow, RowWrite, StoredOrders } from '../../src/clearing/rows.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import type { Sequence } from '../../src/core/units.ts';
import { loadRows, readRows } from '../../src/storage/load-rows.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { CheckpointStore, order, userOf } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';

const fileOf = (store: CheckpointStore): number => openSync(join(store.directory, MAP_FILE_NAME), 'r');

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
    const file = fileOf(store);
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
        const read = plain(readRows(file, store.writer));
        assert.deepEqual(read, plain(loadRows(store.writer)));
        assert.equal(read.filter(({ table }) => table === 'order').length, there.size);
        for (const loaded of readRows(file, store.writer)) {
          if (loaded.table !== 'storedOrder') continue;
          const { stored, place, row } = loaded;
          const plainRow = there.get(`${row.marketIndex}/${row.orderSequence}`);
          for (const name of Object.keys(plainRow ?? {}) as (keyof OrderRow)[])
            assert.deepEqual(row[name], plainRow?.[name], name);
          assert.equal(row.text, stored.look(place).text);
          assert.equal(stored.userOf(row), [1, 2, 3, 4].map(userOf).indexOf(row.user));
        }
      }),
      { ...propertyParameters(12) },
    );
    closeSync(file);
    await store.close();
  });

  /** 300 orders in two markets, of which those of the second are found again. */
  function walked(store: CheckpointStore, file: number): { readonly stored: StoredOrders; readonly places: number[] } {
    const rows = Array.from({ length: 300 }, (_, at) => textOf(at + 1, `text ${at + 1}`));
    store.checkpoint([user(1), ...rows]);
    const found = Array.from(readRows(file, store.writer), (loaded) =>
      loaded.table === 'storedOrder' && loaded.row.marketIndex === 1
        ? [{ stored: loaded.stored, place: loaded.place }]
        : [],
    ).flat();
    const [first] = found;
    assert.ok(first !== undefined && found.length === 150);
    return { stored: first.stored, places: found.map(({ place }) => place) };
  }

  function textOf(sequence: number, text: string): RowWrite {
    const row = live({ marketIndex: (sequence + 1) % 2, orderSequence: sequence as Sequence, text });
    return { table: 'order', row };
  }

  test('a walk shows the requested orders, in their order, whatever else is looked at', async () => {
    const store = new CheckpointStore();
    const file = fileOf(store);
    const { stored, places } = walked(store, file);
    const wanted = places.filter((_, at) => at % 3 === 0);
    const seen: string[] = [];
    for (const row of stored.looks(wanted)) {
      assert.equal(stored.look(places.at(-1) ?? 0).text, 'text 300');
      seen.push(row.text);
    }
    assert.deepEqual(
      seen,
      wanted.map((place) => `text ${2 * (place + 1)}`),
    );
    assert.throws(() => [...stored.looks([150])], { name: 'InvariantError' }, 'there are only so many');
    assert.throws(() => stored.take(150), { name: 'InvariantError' });
    closeSync(file);
    await store.close();
  });

  test('an order that is in its table as another version of itself, however sound, is damage', async () => {
    const store = new CheckpointStore();
    const file = fileOf(store);
    const { stored, places } = walked(store, file);
    const [before, place, after] = places.slice(20, 23) as [number, number, number];
    store.checkpoint([textOf(2 * (place + 1), 'text of before')]);
    const wrong = { name: 'InvariantError', message: /as it was loaded/ };
    assert.throws(() => stored.take(place), wrong);
    assert.throws(() => stored.look(place), wrong);
    assert.throws(() => [...stored.looks(places)], wrong);
    // The change itself is not a request for it, and all others are as they were.
    const others = places.filter((each) => each !== place);
    assert.equal([...stored.looks(others)].length, 149);
    for (const each of [before, after]) assert.equal(stored.take(each).text, `text ${2 * (each + 1)}`);
    closeSync(file);
    await store.close();
  });

  test('a walk reads the map that was loaded, whatever becomes of its name, and opens nothing', async () => {
    const store = new CheckpointStore();
    const file = fileOf(store);
    const { stored, places } = walked(store, file);
    const path = join(store.directory, MAP_FILE_NAME);
    renameSync(path, `${path}.away`);
    assert.equal([...stored.looks(places)].length, 150);
    const other = new CheckpointStore();
    other.checkpoint([user(1), textOf(2, 'another')]);
    renameSync(join(other.directory, MAP_FILE_NAME), path);
    assert.deepEqual(
      Array.from(stored.looks(places), ({ text }) => text),
      places.map((place) => `text ${2 * (place + 1)}`),
    );
    await other.close();
    closeSync(file);
    await store.close();
  });
});
