/** What the tables say of orders that are in memory too. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { MarketRow } from '../../src/clearing/rows.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { AS_JSON, answerHistory, type OrderDoubts } from '../../src/orders/history-ask.ts';
import { TableHistory } from '../../src/storage/order-history.ts';
import { CheckpointStore, order, userOf } from '../support/checkpoint-store.ts';
import { marketOf } from '../support/market-figures.ts';

const QUERY = { user: userOf(1), marketIndex: null, subAccounts: null };

/** Orders of one id in market 0 that somebody has in memory. @param heard how much was known of the market then. */
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
