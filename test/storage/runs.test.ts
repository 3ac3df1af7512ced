// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderRow, RowWrite, TradeRow } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { loadIdWatermarks, loadRememberedIds } from '../../src/storage/id-runs.ts';
import { endOf, keyWriter, TABLE } from '../../src/storage/key-layout.ts';
import { RUN_ENTRIES_MAX } from '../../src/storage/runs.ts';
import { CheckpointStore, order, past, trade, userOf } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';

const USERS = [userOf(1), userOf(2)];
const MARKETS = [0, 1, 256];
const PAGE = 7;
const ALL = 1_000;

const user = fc.constantFrom(...USERS);
const marketIndex = fc.constantFrom(...MARKETS);
/** Few instants, in no order: an order that rested for long ends late. */
const instant = fc.bigInt({ min: 1n, max: 30n }) as fc.Arbitrary<TimestampNs>;
const time = (ns: number) => BigInt(ns) as TimestampNs;

const someOrders = fc.array(fc.record({ user, marketIndex, timestampNs: instant }), {
  maxLength: 12,
});
const someTrades = fc.array(fc.record({ maker: user, taker: user, marketIndex, matchedNs: instant }), {
  maxLength: 12,
});
const checkpoints = fc.array(fc.record({ orders: someOrders, trades: someTrades }), {
  minLength: 1,
  maxLength: 12,
});
/** Match times of a market rise with trade ids, unless a clock went backwards. */
const rising = fc.boolean();
type CheckpointFields = typeof checkpoints extends fc.Arbitrary<(infer T)[]> ? T : never;

/** Makes rows with sequences of their own. */
class Rows {
  #last = 0;
  #latest = 1n;

  orders(fields: CheckpointFields['orders']): OrderRow[] {
    return fields.map((field) => order(this.#next(), field));
  }

  trades(fields: CheckpointFields['trades'], rises = false): TradeRow[] {
    return fields.map(({ maker, taker, marketIndex: market, matchedNs: given }) => {
      this.#latest += given % 3n;
      const matchedNs = (rises ? this.#latest : given) as TimestampNs;
      const plain = trade(this.#next());
      const sides = { maker: { ...plain.maker, user: maker }, taker: { ...plain.taker, user: taker } };
      return { ...plain, ...sides, marketIndex: market, matchedNs };
    });
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }
}

const changes = (orders: readonly OrderRow[], trades: readonly TradeRow[] = []): RowWrite[] => [
  ...orders.map((row) => ({ table: 'order', row }) as const),
  ...trades.map((row) => ({ table: 'trade', row }) as const),
];

function newestFirst(a: OrderRow, b: OrderRow): number {
  if (a.timestampNs !== b.timestampNs) return a.timestampNs > b.timestampNs ? -1 : 1;
  return a.orderId > b.orderId ? -1 : 1;
}

/** All rows of a list, page by page, and whether its total is their number. */
function sweep<Row>(pageAt: (skip: number) => { readonly rows: readonly Row[]; readonly total: number }): Row[] {
  const rows: Row[] = [];
  for (;;) {
    const page = pageAt(rows.length);
    rows.push(...page.rows);
    if (page.rows.length < PAGE) {
      assert.equal(page.total, rows.length);
      return rows;
    }
  }
}

function assertOrders(store: CheckpointStore, expected: readonly OrderRow[]): void {
  for (const owner of USERS) {
    for (const market of [null, ...MARKETS]) {
      const asked = { user: owner, marketIndex: market, limit: PAGE };
      const found = sweep((skip) => store.history.finishedOrders({ ...asked, skip }));
      const own = expected.filter((row) => row.user === owner && (market ?? row.marketIndex) === row.marketIndex);
      assert.deepEqual(found, own.sort(newestFirst).map(past));
    }
  }
}

function assertTrades(store: CheckpointStore, expected: readonly TradeRow[]): void {
  for (const owner of USERS) {
    for (const market of [null, ...MARKETS]) {
      const asked = { user: owner, marketIndex: market, limit: PAGE };
      const found = sweep((skip) => store.history.userTrades({ ...asked, skip }));
      const sorted = expected
        .filter((row) => (market ?? row.marketIndex) === row.marketIndex)
        .sort((a, b) => Number(b.matchedNs - a.matchedNs) || b.tradeId - a.tradeId);
      const sides = sorted.flatMap((row) => [
        ...(row.taker.user === owner ? [{ trade: row, isMaker: false }] : []),
        ...(row.maker.user === owner ? [{ trade: row, isMaker: true }] : []),
      ]);
      assert.deepEqual(found, sides);
    }
  }
}

const rememberedSequences = (store: CheckpointStore): number[] =>
  [...loadRememberedIds(store.writer, time(0))].map(({ orderSequence }) => orderSequence).sort((a, b) => a - b);

suite('runs', () => {
  test('lists of many checkpoints are swept like one sorted array (PAG-01, PAG-02, PAG-03)', async () => {
    await fc.assert(
      fc.asyncProperty(checkpoints, rising, async (steps, rises) => {
        const store = new CheckpointStore();
        const rows = new Rows();
        const orders: OrderRow[] = [];
        const trades: TradeRow[] = [];
        for (const step of steps) {
          const added = { orders: rows.orders(step.orders), trades: rows.trades(step.trades, rises) };
          store.checkpoint(changes(added.orders, added.trades));
          orders.push(...added.orders);
          trades.push(...added.trades);
        }
        assertOrders(store, orders);
        assertTrades(store, trades);
        await store.close();
      }),
      propertyParameters(20),
    );
  });

  test('what one checkpoint adds to a list is cut into runs of a bounded length', async () => {
    const store = new CheckpointStore();
    const count = 2 * RUN_ENTRIES_MAX + 5;
    const orders = Array.from({ length: count }, (_, index) => order(index + 1));
    const trades = Array.from({ length: count }, (_, index) => trade(index + 1));
    store.checkpoint(changes(orders, trades));
    for (const table of [TABLE.finishedRun, TABLE.idRun, TABLE.dueRun]) assert.equal(keysOf(store, table).length, 3);
    assert.equal(keysOf(store, TABLE.tradeRun).length, 6);
    assertOrders(store, orders);
    assertTrades(store, trades);
    store.checkpoint([], { forgetBeforeNs: time(count) });
    assertOrders(store, orders.slice(-1));
    assert.deepEqual(rememberedSequences(store), [count]);
    await store.close();
  });

  test('an id forgotten in the checkpoint that finishes a later order of that id is that order’s', async () => {
    const store = new CheckpointStore();
    const orderId = 'again' as OrderId;
    store.checkpoint(changes([order(1, { orderId })]));
    store.checkpoint(changes([order(50, { orderId })]), { forgetBeforeNs: time(2) });
    assert.deepEqual(store.history.finishedOrder(userOf(1), 0, orderId), past(order(50, { orderId })));
    assert.deepEqual(rememberedSequences(store), [50]);
    await store.close();
  });

  test('a flipped bit in any run is found before anything is read from it', async () => {
    const store = new CheckpointStore();
    store.checkpoint(changes([order(1), order(2)], [trade(1), trade(2)]));
    const asked = { user: userOf(1), marketIndex: null, skip: 0, limit: ALL };
    const readers: readonly [number, () => unknown][] = [
      [TABLE.finishedRun, () => store.history.finishedOrders(asked)],
      [TABLE.tradeRun, () => store.history.userTrades(asked)],
      [TABLE.dueRun, () => store.checkpoint([], { forgetBeforeNs: time(9) })],
      [TABLE.idRun, () => [...loadRememberedIds(store.writer, time(0))]],
      [TABLE.idList, () => [...loadIdWatermarks(store.writer)]],
      [TABLE.finishedById, () => store.history.finishedOrder(userOf(1), 0, 'order-1' as OrderId)],
    ];
    for (const [table, read] of readers) {
      const [key] = keysOf(store, table);
      assert.ok(key !== undefined);
      const value = Uint8Array.from(store.writer.get(key) ?? []);
      fc.assert(
        fc.property(fc.nat(value.length * 8 - 1), (bit) => {
          const flipped = Uint8Array.from(value);
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          store.writer.commit([{ key, value: flipped }]);
          assert.throws(read, { name: 'InvariantError', message: /is damaged/ });
        }),
        propertyParameters(20),
      );
      store.writer.commit([{ key, value }]);
    }
    assert.equal(store.history.finishedOrders(asked).total, 2);
    await store.close();
  });
});

function keysOf(store: CheckpointStore, table: number): readonly Uint8Array[] {
  const from = keyWriter().table(table);
  return store.writer.range({ from, to: endOf(from), limit: ALL }).map(({ key }) => key);
}
