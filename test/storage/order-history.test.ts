/** The rows of orders that are in memory too. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { MarketRow, TradeRow } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { AS_JSON, answerHistory, type OrderDoubts } from '../../src/gateway/orders/history-ask.ts';
import { planTradePage } from '../../src/gateway/orders/pages.ts';
import type { Tail } from '../../src/gateway/orders/tail.ts';
import type { TailTrade } from '../../src/gateway/orders/trade-tail.ts';
import { TableHistory } from '../../src/storage/order-history.ts';
import { CheckpointStore, order, trade, userOf } from '../support/checkpoint-store.ts';
import { marketOf } from '../support/market-figures.ts';

const QUERY = { user: userOf(1), marketIndex: null, subAccounts: null };

/** Orders of one id in market 0 that are in memory. @param seen the market sequence that was received then. */
function doubtsAbout(
  orderId: string,
  orders: readonly { readonly sequence: number; readonly heard: number }[],
): OrderDoubts {
  return {
    marketIndexes: new Int32Array(orders.length),
    sequences: Float64Array.from(orders, ({ sequence }) => sequence),
    heard: Float64Array.from(orders, ({ heard }) => heard),
    orderIds: orders.map(() => orderId as OrderId),
  };
}

suite('orders in memory and in the tables', () => {
  test('an order whose id was used again is listed once (QRY-01, AMB-08)', async () => {
    const store = new CheckpointStore();
    const again = { orderId: 'again' as OrderId, creationNs: 60n as TimestampNs };
    const market = { definition: marketOf(0, '12'), sequence: 100, lastTradeId: 0 } as MarketRow;
    const rows = [order(5, { orderId: again.orderId }), order(50, again)];
    store.checkpoint([{ table: 'market', row: market }]);
    store.checkpoint(rows.map((row) => ({ table: 'order', row })));
    const inTables = (...orders: { readonly sequence: number; readonly heard: number }[]): readonly number[] => {
      const doubts = doubtsAbout('again', orders);
      const ask = {
        kind: 'orders',
        query: QUERY,
        rank: 0,
        limit: 9,
        pivots: { held: 0, ranks: [], places: [] },
        doubts,
        markets: { marketIndexes: [], heard: [] },
      } as const;
      const answer = new TableHistory(store.writer).read((snapshot) => answerHistory(snapshot, ask, AS_JSON));
      assert.equal(answer.kind === 'orders' && answer.total, 2);
      return answer.kind === 'orders' ? answer.inTables : [];
    };
    assert.deepEqual(inTables({ sequence: 5, heard: 4 }), [0], 'the first one has ended: the tables list it');
    assert.deepEqual(inTables({ sequence: 50, heard: 40 }), [0]);
    assert.deepEqual(inTables({ sequence: 0, heard: 40 }), [0], 'a create that the market took and ended meanwhile');
    assert.deepEqual(inTables({ sequence: 80, heard: 90 }), [], 'one that lives');
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
      const row = { definition: marketOf(index, `${12 + index}`), sequence: 0, lastTradeId: last[index] } as MarketRow;
      return { table: 'market', row } as const;
    });
    store.checkpoint([...markets, ...stored.map((row) => ({ table: 'trade', row }) as const)]);
    const held = rows.filter((row) => row.tradeId > 240).map(tailTrade);
    const tail = { tradesOf: () => held } as unknown as Tail;
    let most = 0;
    for (let page = 0; page < 62; page += 1) {
      const query = { ...QUERY, page, limit: 10 };
      const plan = planTradePage({ tail }, query, { order: () => 0, trade: ({ tradeId }) => tradeId });
      const answer = new TableHistory(store.writer).read((snapshot) =>
        answerHistory(snapshot, structuredClone(must(plan.ask, 'tables are asked')), {
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

function tailTrade({ marketIndex, tradeId, matchedNs }: TradeRow): TailTrade {
  const entry = { assetId: `${12 + marketIndex}`, tradeId, timestampNs: matchedNs, isMaker: true, subAccount: 1 };
  return { marketIndex, trade: entry as never, isSpot: true };
}
