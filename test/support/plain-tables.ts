/** The tables of a plain exchange at one checkpoint, read the way storage reads its own. */
import type { OrderRow, TradeRow } from '../../src/clearing/rows.ts';
import { ORDER_END, ORDER_KIND, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import type {
  HistoryQuery,
  HistorySnapshot,
  HistoryTrade,
  HistoryWindow,
} from '../../src/gateway/orders/order-history.ts';
import { MARKET, NOW } from './order-desk.ts';
import type { PlainOrder, PlainTrade } from './plain-exchange.ts';

export function tablesOf(
  finished: readonly PlainOrder[],
  trades: readonly PlainTrade[],
  sequence: number,
  lastTradeId: number,
): HistorySnapshot {
  const ordersOf = ({ user, subAccounts }: HistoryQuery) =>
    finished
      .filter((order) => order.user === user && (subAccounts === null || subAccounts.includes(0)))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .map(rowOf);
  const tradesOf = ({ user }: HistoryQuery): readonly HistoryTrade[] =>
    [...trades]
      .reverse()
      .flatMap((trade) => [
        ...(trade.taker.user === user ? [{ row: tradeRow(trade), isMaker: false }] : []),
        ...(trade.maker.user === user ? [{ row: tradeRow(trade), isMaker: true }] : []),
      ]);
  return {
    marketSequence: () => sequence,
    lastTradeId: () => lastTradeId,
    isFinished: (user, _, id, sequence) => {
      return finished.some((row) => row.user === user && row.id === id && row.sequence >= sequence);
    },
    findOrder: (user, _, id) => finished.filter((row) => row.user === user && row.id === id).map(rowOf)[0],
    finishedOrders: (query, offset, limit) => windowOf(ordersOf(query), offset, limit),
    finishedBefore: (query, places) =>
      places.map(({ name }) => ordersOf(query).filter(({ orderId }) => orderId > name).length),
    trades: (query, offset, limit) => windowOf(tradesOf(query), offset, limit),
    definition: () => MARKET,
  };
}

function windowOf<Row>(rows: readonly Row[], offset: number, limit: number): HistoryWindow<Row> {
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
}

function rowOf(order: PlainOrder): OrderRow {
  return {
    marketIndex: 3,
    orderSequence: order.sequence as Sequence,
    prioritySequence: order.sequence as Sequence,
    user: order.user,
    subAccount: 0,
    orderId: order.id as never,
    side: order.side,
    kind: ORDER_KIND.limit,
    tif: order.tif,
    flags: 4,
    price: order.price as RawPrice,
    quantity: order.quantity as RawQuantity,
    amount: 0,
    budget: 0,
    triggerKind: TRIGGER.none,
    triggerPrice: 0 as RawPrice,
    triggerState: TRIGGER_STATE.live,
    parentSequence: 0,
    parentId: '',
    enabledQuantity: order.quantity,
    activatedQuantity: 0,
    droppedQuantity: 0,
    maxFeeRate: 500,
    creationNs: NOW,
    timestampNs: NOW,
    goodUntilNs: 0n as never,
    expiryNs: NOW,
    admittedNs: NOW,
    lastUpdateNs: NOW,
    filledQuantity: order.confirmed,
    filledNotional: order.notional as Amount18,
    fees: order.fees as Amount18,
    end: order.end === 0 ? ORDER_END.filled : order.end,
    faultReason: 0,
    verdict: 0,
    text: '',
    signature: new Uint8Array(),
  };
}

function tradeRow({ id, maker, taker, price, quantity }: PlainTrade): TradeRow {
  const side = (order: PlainOrder) => ({
    user: order.user,
    subAccount: 0,
    orderId: order.id as never,
    orderSequence: order.sequence as Sequence,
    fee: 0n as Amount18,
  });
  return {
    marketIndex: 3,
    tradeId: id as Sequence,
    price: price as RawPrice,
    quantity: quantity as RawQuantity,
    matchedNs: NOW,
    takerSide: taker.side,
    isLiquidation: false,
    isAutoDeleverage: false,
    maker: side(maker),
    taker: side(taker),
  };
}
