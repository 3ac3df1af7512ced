// tier: quick
/** Which orders of the tables a filtered page looks at, and which of them it copies (wire-additions.md 8.3). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_END, type OrderStatus } from '../../../src/core/order-terms.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { filteredOrders, type HistoryRequest } from '../../../src/gateway/orders/history/history-request.ts';
import type { HistorySnapshot, PastOrder } from '../../../src/gateway/orders/history/order-history.ts';
import { EMPTY_ORDER } from '../../support/empty-order.ts';
import { ALICE } from '../../support/names.ts';
import { NO_HISTORY, NOW } from '../../support/order-fixture.ts';

const ASK: Extract<HistoryRequest, { kind: 'orders' }> = {
  kind: 'orders',
  query: { user: ALICE, marketIndex: null, subAccounts: null },
  rank: 20,
  limit: 10,
  pivots: { held: 0, ranks: [], places: [] },
  doubts: {
    marketIndexes: new Int32Array(),
    sequences: new Float64Array(),
    received: new Float64Array(),
    orderIds: [],
  },
  markets: { marketIndexes: [], received: [] },
};

/** Finished orders, newest first, of which every third was filled and the others cancelled. */
const FINISHED: readonly PastOrder[] = Array.from({ length: 300 }, (_, index) => ({
  ...EMPTY_ORDER,
  orderId: `order-${index}` as OrderId,
  quantity: 10 as PastOrder['quantity'],
  filledQuantity: index % 3 === 0 ? 10 : 0,
  end: index % 3 === 0 ? ORDER_END.filled : ORDER_END.userRequested,
  creationNs: (NOW - BigInt(index)) as TimestampNs,
  timestampNs: (NOW - BigInt(index)) as TimestampNs,
  parentId: '',
}));

/** The page of orders with those statuses, how many orders were looked at, and how many of them copied. */
function read(statuses: readonly OrderStatus[]) {
  let looked = 0;
  let copied = 0;
  const page = NO_HISTORY.read((empty) => {
    const snapshot: HistorySnapshot = Object.assign(Object.create(empty), {
      scanFinished: (_, look) => {
        FINISHED.every((row) => {
          looked += 1;
          return look(row, () => {
            copied += 1;
            return row;
          });
        });
      },
    } satisfies Partial<HistorySnapshot>);
    return filteredOrders(snapshot, ASK, { fromNs: null, toNs: null, side: null, statuses }, (row) => ({
      place: { timeNs: row.timestampNs, name: row.orderId, marketIndex: row.marketIndex, sequence: row.orderSequence },
      value: row.orderId,
    }));
  });
  return { page, looked, copied };
}

suite('a filtered page of orders', () => {
  test('copies the rows of the page alone, however many it looks at', () => {
    const { page, looked, copied } = read(['Canceled']);
    const all = FINISHED.filter(({ filledQuantity }) => filledQuantity === 0).map(({ orderId }) => orderId);
    assert.deepEqual(
      page.rows.map(({ value }) => value),
      all.slice(20, 30),
    );
    assert.equal(page.total, all.length);
    assert.deepEqual([looked, copied], [FINISHED.length, 10]);
  });

  test('looks at none where no finished order has one of its statuses', () => {
    for (const status of ['Untriggered', 'Open', 'PartiallyFilled', 'Rejected'] as const) {
      const { page, looked } = read([status]);
      assert.deepEqual([page.rows, page.total, page.isTooLong, looked], [[], 0, false, 0], status);
    }
    assert.equal(read(['Open', 'Filled']).page.total, 100, 'beside one that they have');
    assert.equal(read(['Rejected', 'Canceled']).looked, FINISHED.length);
  });
});
