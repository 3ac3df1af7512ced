// tier: quick, 3 s
/** The rows of orders that are in memory too. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type MarketRow, NO_MATCH, type RowWrite, type TradeRow } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import type { OrderId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawQuantity, TimestampNs } from '../../src/core/units.ts';
import type { UserTradeEvent } from '../../src/gateway/orders/book/order-events.ts';
import { AS_JSON, answerHistory, type OrderDoubts } from '../../src/gateway/orders/history/history-request.ts';
import type { HistorySnapshot } from '../../src/gateway/orders/history/order-history.ts';
import { planTradePage } from '../../src/gateway/orders/history/pages.ts';
import { BASIS_TRADES_MAX, type BasisAnswer, BasisFolds } from '../../src/gateway/orders/history/position-basis.ts';
import type { UncheckpointedHistory, UncheckpointedTrade } from '../../src/gateway/orders/history/uncheckpointed.ts';
import { TableHistory } from '../../src/storage/order-history.ts';
import { CheckpointStore, order, trade, userOf } from '../support/checkpoint-store.ts';
import { marketOf } from '../support/market-figures.ts';

const QUERY = { user: userOf(1), marketIndex: null, subAccounts: null };

/** Orders of one id in market 0 that are in memory. @param seen the market sequence that was received then. */
function doubtsAbout(
  orderId: string,
  orders: readonly { readonly sequence: number; readonly received: number }[],
): OrderDoubts {
  return {
    marketIndexes: new Int32Array(orders.length),
    sequences: Float64Array.from(orders, ({ sequence }) => sequence),
    received: Float64Array.from(orders, ({ received }) => received),
    orderIds: orders.map(() => orderId as OrderId),
  };
}

suite('orders in memory and in the tables', () => {
  test('an order whose id was used again is listed once (QRY-01, AMB-08)', async () => {
    const store = new CheckpointStore();
    const again = { orderId: 'again' as OrderId, creationNs: 60n as TimestampNs };
    const market = { definition: marketOf(0, '12'), sequence: 100, lastTradeId: 0, match: NO_MATCH } as MarketRow;
    const rows = [order(5, { orderId: again.orderId }), order(50, again)];
    store.checkpoint([{ table: 'market', row: market }]);
    store.checkpoint(rows.map((row) => ({ table: 'order', row })));
    const inTables = (...orders: { readonly sequence: number; readonly received: number }[]): readonly number[] => {
      const doubts = doubtsAbout('again', orders);
      const request = {
        kind: 'orders',
        query: QUERY,
        rank: 0,
        limit: 9,
        pivots: { held: 0, ranks: [], places: [] },
        doubts,
        markets: { marketIndexes: [], received: [] },
      } as const;
      const answer = new TableHistory(store.writer).read((snapshot) => answerHistory(snapshot, request, AS_JSON));
      assert.equal(answer.kind === 'orders' && answer.total, 2);
      return answer.kind === 'orders' ? answer.inTables : [];
    };
    assert.deepEqual(inTables({ sequence: 5, received: 4 }), [0], 'the first one has ended: the tables list it');
    assert.deepEqual(inTables({ sequence: 50, received: 40 }), [0]);
    assert.deepEqual(inTables({ sequence: 0, received: 40 }), [0], 'a create that the market took and ended meanwhile');
    assert.deepEqual(inTables({ sequence: 80, received: 90 }), [], 'one that lives');
    await store.close();
  });
});

suite('targets of trades in the tables', () => {
  test('the flags of an order are found while it lives and when it has ended, not those of a later one of its id', async () => {
    const store = new CheckpointStore();
    const market = { definition: marketOf(0, '12'), sequence: 100, lastTradeId: 0, match: NO_MATCH } as MarketRow;
    const reused = 'reused' as OrderId;
    const live = order(7, { end: 0, flags: 5 });
    store.checkpoint([{ table: 'market', row: market }]);
    store.checkpoint(
      [live, order(8, { flags: 6 }), order(9, { orderId: reused })].map((row) => ({ table: 'order', row })),
    );
    const flagsOf = (sequence: number, orderId: OrderId = `order-${sequence}` as OrderId): number | null =>
      new TableHistory(store.writer).read((snapshot) => snapshot.orderFlags(userOf(1), 0, orderId, sequence));
    assert.deepEqual([flagsOf(7), flagsOf(8), flagsOf(9, reused), flagsOf(10)], [5, 6, 4, null]);
    const later = order(50, { orderId: reused, creationNs: 60n as TimestampNs, flags: 12 });
    store.checkpoint([order(7, { flags: 5 }), later].map((row) => ({ table: 'order', row })));
    assert.deepEqual([flagsOf(7), flagsOf(9, reused), flagsOf(50, reused)], [5, null, 12]);
    await store.close();
  });

  test('a list of many trades is added in questions of a bounded number, each of them read once', async () => {
    const store = new CheckpointStore();
    const count = 5_000;
    const market = {
      definition: marketOf(0, '12'),
      sequence: 2 * count,
      lastTradeId: count,
      match: NO_MATCH,
    } as MarketRow;
    const rowsFrom = function* (first: number, last: number): Generator<RowWrite> {
      for (let id = first; id <= last; id += 1)
        yield { table: 'trade', row: trade(id, { quantity: 1 as RawQuantity }) };
    };
    store.checkpoint([{ table: 'market', row: market }, ...rowsFrom(1, 3_000)]);
    store.checkpoint(rowsFrom(3_001, count));
    const history = new TableHistory(store.writer);
    const folds = new BasisFolds();
    const request = { kind: 'basis', user: userOf(1), marketIndexes: [0], spotAccounts: [] } as const;
    let read = 0;
    const question = (): BasisAnswer =>
      history.read((snapshot) => {
        const counted = Object.create(snapshot) as HistorySnapshot;
        counted.trades = (query, offset, limit) => {
          const found = snapshot.trades(query, offset, limit);
          read += found.rows.length;
          return found;
        };
        // Its private members are those of the snapshot itself.
        counted.lastTradeId = (marketIndex) => snapshot.lastTradeId(marketIndex);
        counted.definition = (marketIndex) => snapshot.definition(marketIndex);
        counted.orderFlags = () => null;
        return folds.answer(counted, request);
      });
    for (let expected = BASIS_TRADES_MAX; expected < count; expected += BASIS_TRADES_MAX) {
      assert.deepEqual(question().markets, []);
      assert.equal(read, expected);
    }
    const [whole] = question().markets;
    assert.equal(read, count);
    const { quantityDecimals, priceDecimals } = market.definition;
    assert.deepEqual(whole?.lines, [
      {
        subAccount: 1,
        isSpot: false,
        quantity: BigInt(count) * 10n ** BigInt(18 - quantityDecimals),
        cost: 100n * BigInt(count) * 10n ** BigInt(18 - quantityDecimals - priceDecimals),
      },
    ]);
    assert.deepEqual([question().markets[0]?.lines, read], [whole?.lines, count], 'what was added is kept');
    await store.close();
  });
});

suite('trades in memory and in the tables', () => {
  test('a page is the part of one sorted list, and reads of the tables what it may show (PAG-03, QRY-03)', async () => {
    const store = new CheckpointStore();
    // Three trades of each instant, by turns in two markets, of which the second is behind in the tables.
    const rows = Array.from({ length: 600 }, (_, at) =>
      trade(at + 1, { marketIndex: at % 2, matchedNs: BigInt(1 + Math.floor(at / 3)) as TimestampNs }),
    );
    const last = [300, 270];
    const stored = rows.filter((row) => row.tradeId <= (last[row.marketIndex] ?? 0));
    const markets = [0, 1].map((index) => {
      const row = {
        definition: marketOf(index, `${12 + index}`),
        sequence: 0,
        lastTradeId: last[index],
        match: NO_MATCH,
      } as MarketRow;
      return { table: 'market', row } as const;
    });
    store.checkpoint([...markets, ...stored.map((row) => ({ table: 'trade', row }) as const)]);
    const held = rows.filter((row) => row.tradeId > 240).map(tailTrade);
    const tail = { tradesOf: () => held } as unknown as UncheckpointedHistory;
    let most = 0;
    for (let page = 0; page < 62; page += 1) {
      const query = { ...QUERY, page, limit: 10 };
      const plan = planTradePage({ uncheckpointed: tail }, query, { order: () => 0, trade: ({ tradeId }) => tradeId });
      const answer = new TableHistory(store.writer).read((snapshot) =>
        answerHistory(snapshot, structuredClone(must(plan.request, 'tables are asked')), {
          order: () => 0,
          trade: ({ tradeId }) => tradeId,
        }),
      );
      most = Math.max(most, answer.rows.length);
      const { rows: shown, total } = must(plan.finish(answer), 'a page');
      const expected = rows
        .map(({ tradeId }) => tradeId)
        .reverse()
        .slice(page * 10, page * 10 + 10);
      assert.deepEqual(
        shown.map((row) => row()),
        expected,
      );
      assert.equal(total, 600);
    }
    assert.ok(most <= 10 + 40, `${most} rows of the tables for a page of 10`);
    await store.close();
  });
});

suite('trades of one side in the tables', () => {
  test('what is shown is made for the rows of the page alone, however many are looked at (wire-additions.md 8.3)', async () => {
    const store = new CheckpointStore();
    const rows = Array.from({ length: 900 }, (_, at) =>
      trade(at + 1, { takerSide: at % 3 === 0 ? SIDE.buy : SIDE.sell }),
    );
    const market = {
      definition: marketOf(0, '12'),
      sequence: 0,
      lastTradeId: rows.length,
      match: NO_MATCH,
    } as MarketRow;
    store.checkpoint([{ table: 'market', row: market }, ...rows.map((row) => ({ table: 'trade', row }) as const)]);
    const filter = { fromNs: null, toNs: null, side: SIDE.sell, statuses: null };
    const sold = rows.flatMap(({ takerSide, tradeId }) => (takerSide === SIDE.buy ? [tradeId] : [])).reverse();
    for (const subAccounts of [null, [1]]) {
      const made: number[] = [];
      const show = { order: () => 0, trade: ({ tradeId }: UserTradeEvent) => made.push(tradeId) };
      const query = { ...QUERY, subAccounts, page: 2, limit: 10, filter };
      const plan = planTradePage(
        { uncheckpointed: { tradesOf: () => [] } as unknown as UncheckpointedHistory },
        query,
        show,
      );
      const request = must(plan.request, 'tables are asked');
      const answer = new TableHistory(store.writer).read((snapshot) => answerHistory(snapshot, request, show));
      assert.equal(plan.finish(answer)?.total, sold.length);
      assert.deepEqual(made, sold.slice(20, 30));
    }
    await store.close();
  });
});

function tailTrade({ marketIndex, tradeId, matchedNs }: TradeRow): UncheckpointedTrade {
  const entry = { assetId: `${12 + marketIndex}`, tradeId, timestampNs: matchedNs, isMaker: true, subAccount: 1 };
  return { marketIndex, trade: entry as never, isSpot: true };
}
