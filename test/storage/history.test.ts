// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderRow, RowWrite, TradeRow } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { TABLE } from '../../src/storage/key-layout.ts';
import { CheckpointStore, order, past, trade, userOf } from '../support/checkpoint-store.ts';
import { propertyParameters } from '../support/property.ts';

const USERS = [1, 2, 3];
const MARKETS = [0, 1, 256];

const user = fc.constantFrom(...USERS).map(userOf);
const market = fc.constantFrom(...MARKETS);
/** Few instants, so that many are equal. */
const instant = fc.bigInt({ min: 1n, max: 6n }) as fc.Arbitrary<TimestampNs>;
/** Ids of which one is the beginning of another. */
const orderId = fc.string({
  unit: fc.constantFrom('a', '+', 'Z'),
  minLength: 1,
  maxLength: 3,
}) as fc.Arbitrary<OrderId>;

const orders = fc
  .array(fc.record({ user, marketIndex: market, timestampNs: instant, orderId }), { maxLength: 40 })
  .map((list) => {
    const seen = new Set<string>();
    return list.flatMap((fields, index) => {
      const id = `${fields.user}/${fields.marketIndex}/${fields.orderId}`;
      if (seen.has(id)) return [];
      seen.add(id);
      return [order(index + 1, fields)];
    });
  });

const trades = fc.array(fc.record({ maker: user, taker: user, marketIndex: market, matchedNs: instant }), {
  maxLength: 40,
});

const request = fc.record({
  user,
  marketIndex: fc.option(market),
  skip: fc.integer({ min: 0, max: 12 }),
  limit: fc.integer({ min: 1, max: 12 }),
});

function descending<T>(...parts: ((value: T) => bigint | number | string)[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const part of parts) {
      if (part(a) !== part(b)) return part(a) < part(b) ? 1 : -1;
    }
    return 0;
  };
}

/** Writes rows in several checkpoints. */
function stored(changes: readonly RowWrite[]): CheckpointStore {
  const store = new CheckpointStore();
  const half = changes.length >> 1;
  store.checkpoint(changes.slice(0, half));
  store.checkpoint(changes.slice(half));
  return store;
}

suite('history', () => {
  test('pages of finished orders are those of a sorted array: timestamp, then order id, descending (PAG-01, PAG-02)', async () => {
    await fc.assert(
      fc.asyncProperty(orders, fc.array(request, { minLength: 1, maxLength: 8 }), async (rows, requests) => {
        const store = stored(rows.map((row) => ({ table: 'order', row })));
        const byPlace = descending<OrderRow>(
          (row) => row.timestampNs,
          (row) => row.orderId,
          (row) => row.marketIndex,
        );
        for (const asked of requests) {
          const all = rows
            .filter((row) => row.user === asked.user)
            .filter((row) => asked.marketIndex === null || row.marketIndex === asked.marketIndex)
            .sort(byPlace);
          const page = store.history.finishedOrders(asked);
          assert.deepEqual(page.rows, all.slice(asked.skip, asked.skip + asked.limit).map(past));
          assert.equal(page.total, all.length);
          assert.equal(page.checkpoint, 2);
          const scanned: unknown[] = [];
          const wanted = Math.min(asked.skip + 1, all.length);
          store.history.scanFinished(asked, undefined, (_, rowOf) => scanned.push(rowOf()) < wanted);
          assert.deepEqual(scanned, all.slice(0, wanted).map(past), 'one by one, as far as wanted');
        }
        for (const row of rows) {
          assert.deepEqual(store.history.finishedOrder(row.user, row.marketIndex, row.orderId), past(row));
        }
        await store.close();
      }),
      propertyParameters(20),
    );
  });

  test('pages of user trades are those of a sorted array: match time, then trade id, descending (PAG-01, PAG-03)', async () => {
    await fc.assert(
      fc.asyncProperty(trades, fc.array(request, { minLength: 1, maxLength: 8 }), async (fields, requests) => {
        const rows = numbered(fields);
        const store = stored(rows.map((row) => ({ table: 'trade', row })));
        const sides = rows.flatMap((row) => [
          { trade: row, isMaker: true, user: row.maker.user },
          { trade: row, isMaker: false, user: row.taker.user },
        ]);
        const byPlace = descending<(typeof sides)[number]>(
          (side) => side.trade.matchedNs,
          (side) => side.trade.tradeId,
          (side) => side.trade.marketIndex,
          (side) => (side.isMaker ? 0 : 1),
        );
        for (const asked of requests) {
          const all = sides
            .filter((side) => side.user === asked.user)
            .filter((side) => asked.marketIndex === null || side.trade.marketIndex === asked.marketIndex)
            .sort(byPlace)
            .map(({ trade: row, isMaker }) => ({ trade: row, isMaker }));
          const page = store.history.userTrades(asked);
          assert.deepEqual(page.rows, all.slice(asked.skip, asked.skip + asked.limit));
          assert.equal(page.total, all.length);
          const toNs = all[1]?.trade.matchedNs ?? null;
          const fromNs = all.at(-2)?.trade.matchedNs ?? null;
          const within = all.filter(
            ({ trade: { matchedNs } }) =>
              (toNs === null || matchedNs <= toNs) && (fromNs === null || matchedNs >= fromNs),
          );
          const scanned: unknown[] = [];
          store.history.scanTrades(asked, { fromNs, toNs }, undefined, (row) => scanned.push(row) > 0);
          assert.deepEqual(scanned, within, 'one by one, those within the times');
        }
        await store.close();
      }),
      propertyParameters(20),
    );
  });

  test('self-trades of two markets with one id and match time stay together, market by market (PAG-03)', async () => {
    const side = trade(1, {}).maker;
    const rows = [0, 1].map((marketIndex) => trade(1, { marketIndex, maker: side, taker: side }));
    const store = stored(rows.map((row) => ({ table: 'trade', row })));
    const page = store.history.userTrades({ user: side.user, marketIndex: null, skip: 0, limit: 4 });
    assert.deepEqual(
      page.rows.map((row) => [row.trade.marketIndex, row.isMaker]),
      [
        [1, false],
        [1, true],
        [0, false],
        [0, true],
      ],
    );
    await store.close();
  });

  test('public trades of a market, newest first and after an id, leave out other markets', async () => {
    const rows = MARKETS.flatMap((marketIndex) =>
      Array.from({ length: 7 }, (_, index) => trade(index + 1, { marketIndex })),
    );
    const store = stored(rows.map((row) => ({ table: 'trade', row })));
    const ids = (list: readonly TradeRow[]) => list.map((row) => [row.marketIndex, row.tradeId]);
    const newest = { marketIndex: 1, below: null, skip: 0, limit: 3 };
    const sequence = (id: number) => id as Sequence;
    assert.deepEqual(
      ids(store.history.marketTrades(newest)),
      [7, 6, 5].map((id) => [1, id]),
    );
    assert.deepEqual(
      ids(store.history.marketTrades({ ...newest, skip: 5 })),
      [2, 1].map((id) => [1, id]),
    );
    assert.deepEqual(
      ids(store.history.marketTrades({ ...newest, below: sequence(3) })),
      [2, 1].map((id) => [1, id]),
    );
    assert.deepEqual(
      ids(store.history.marketTradesAfter(0, sequence(4), 2)),
      [5, 6].map((id) => [0, id]),
    );
    assert.deepEqual(ids(store.history.marketTradesAfter(256, sequence(7), 2)), []);
    assert.deepEqual(ids(store.history.marketTrades({ ...newest, marketIndex: 77 })), []);
    await store.close();
  });

  test('trades since an instant are read to its end through any number of steps', async () => {
    const store = stored(Array.from({ length: 1_500 }, (_, index) => ({ table: 'trade', row: trade(index + 1) })));
    for (const since of [1, 400, 989, 1_500, 1_501]) {
      const found = [...store.history.marketTradesSince(0, BigInt(since) as TimestampNs)];
      assert.deepEqual(
        found.map((row) => row.tradeId),
        Array.from({ length: 1_501 - since }, (_, index) => 1_500 - index),
      );
    }
    await store.close();
  });

  test('a user without history has empty pages', async () => {
    const store = stored([]);
    const asked = { user: userOf(9), marketIndex: null, skip: 0, limit: 100 };
    assert.deepEqual(store.history.userTrades(asked), { rows: [], total: 0, checkpoint: 2 });
    assert.deepEqual(store.history.finishedOrders({ ...asked, marketIndex: 3 }), { rows: [], total: 0, checkpoint: 2 });
    assert.equal(store.history.finishedOrder(userOf(9), 0, 'none' as OrderId), null);
    await store.close();
  });

  test('a list and its count that contradict each other are no page: a part of one is not there', async () => {
    const asked = { user: userOf(1), marketIndex: null, skip: 0, limit: 100 };
    const rows = [1, 2, 3].map((sequence): RowWrite => ({ table: 'order', row: order(sequence) }));
    const losses = [
      { table: TABLE.finishedRun, message: /a list is as long as its count/ },
      { table: TABLE.finishedCount, message: /who has a list has a count/ },
    ];
    for (const { table, message } of losses) {
      const store = stored(rows);
      assert.equal(store.history.finishedOrders(asked).rows.length, 3);
      const [lost] = store.writer.range({ from: Uint8Array.of(table), to: Uint8Array.of(table + 1), limit: 1 });
      assert.ok(lost !== undefined);
      store.writer.commit([{ key: lost.key, value: null }]);
      for (const subAccounts of [null, [1]]) {
        const read = (): unknown => store.history.finishedOrders({ ...asked, subAccounts });
        assert.throws(read, { name: 'InvariantError', message });
        const scan = (): void => store.history.scanFinished({ ...asked, subAccounts }, undefined, () => true);
        assert.throws(scan, { name: 'InvariantError', message });
      }
      await store.close();
    }
  });
});

/** Gives trades their ids, per market. */
function numbered(
  fields: readonly {
    maker: ReturnType<typeof userOf>;
    taker: ReturnType<typeof userOf>;
    marketIndex: number;
    matchedNs: TimestampNs;
  }[],
): TradeRow[] {
  const last = new Map<number, number>();
  return fields.map(({ maker, taker, marketIndex, matchedNs }) => {
    const tradeId = (last.get(marketIndex) ?? 0) + 1;
    last.set(marketIndex, tradeId);
    const plain = trade(tradeId);
    return trade(tradeId, {
      marketIndex,
      matchedNs,
      maker: { ...plain.maker, user: maker },
      taker: { ...plain.taker, user: taker },
    });
  });
}
