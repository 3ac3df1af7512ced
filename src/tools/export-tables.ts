/**
 * Rows of an export where there is no row log: what the tables have, as it is at the newest record of the journal. One row an
 * order, live or finished; confirmed fills and trades, balances and positions. Rows come market by market or user by user,
 * with the members that the tables have: there is no record, no number and no ledger.
 */
import { recoverState } from '../clearing/recovery.ts';
import { liveOrders } from '../clearing/restoring.ts';
import type { OrderRow, TradeRow, TradeSide } from '../clearing/rows.ts';
import type { ClearingState } from '../clearing/state.ts';
import { notional18 } from '../core/arithmetic.ts';
import { must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import { USD } from '../core/ids.ts';
import {
  FILL_STATUS,
  ORDER_END_WORD,
  ORDER_FLAG,
  ORDER_KIND,
  ROLLBACK_REASON_WORD,
  SIDE,
  SIDE_WORD,
  TIF,
  TRIGGER,
} from '../core/order-terms.ts';
import type { StorageReader } from '../storage/environment.ts';
import { recoveryOf } from '../storage/lmdb-durability.ts';
import { finishedOrdersOf } from '../storage/order-blocks.ts';
import type { ExportRow, RowExportName } from './export-columns.ts';
import { accountsOf, tradesOf } from './export-data.ts';

/** What the tables have. */
export const TABLE_EXPORTS = ['orders', 'fills', 'trades', 'balances', 'positions'] as const;
type TableExport = (typeof TABLE_EXPORTS)[number];

export function isOfTables(what: RowExportName): what is TableExport {
  return (TABLE_EXPORTS as readonly string[]).includes(what);
}

/** The rows, with `time_ns` where they have a time: of an order its last update, of a trade its match. */
export function* tableRows(reader: StorageReader, what: TableExport): Generator<ExportRow, void, undefined> {
  const { state } = recoverState({ recover: () => recoveryOf(reader) });
  if (what === 'orders') yield* orderRows(reader, state);
  else if (what === 'balances') yield* balanceRows(state);
  else if (what === 'positions') yield* positionRows(state);
  else {
    for (const trade of tradesOf(reader, state)) {
      if (what === 'trades') yield tradeRow(state, trade);
      else yield* [fillRow(state, trade, trade.maker, 'Maker'), fillRow(state, trade, trade.taker, 'Taker')];
    }
  }
}

/** Finished orders of the tables, those that ended behind them, and live ones, market by market. */
function* orderRows(reader: StorageReader, state: ClearingState): Generator<ExportRow, void, undefined> {
  const ended = new Set<string>();
  for (const { marketIndex, orderSequence } of state.dirty.finishedOrders) ended.add(`${marketIndex}/${orderSequence}`);
  for (const { definition, orders } of state.markets) {
    const { marketIndex } = definition;
    for (const order of finishedOrdersOf(reader, marketIndex)) {
      // A running node may have written since what the state has as live, or as ended behind the tables.
      const isOther = orders.has(order.orderSequence) || ended.has(`${marketIndex}/${order.orderSequence}`);
      if (!isOther) yield orderRow(state, order);
    }
    for (const order of state.dirty.finishedOrders) if (order.marketIndex === marketIndex) yield orderRow(state, order);
  }
  for (const order of liveOrders(state)) yield orderRow(state, order.row);
}

const ORDER_TYPES = {
  [ORDER_KIND.limit]: 'Limit',
  [ORDER_KIND.marketBase]: 'MarketBase',
  [ORDER_KIND.marketQuote]: 'MarketQuote',
};
const TIFS = { [TIF.gtc]: 'GTC', [TIF.gtd]: 'GTD', [TIF.ioc]: 'IOC', [TIF.fok]: 'FOK' };

/** 0 is none. */
function some<T extends number | bigint>(value: T): T | undefined {
  return value === 0 || value === 0n ? undefined : value;
}

function marketOf(state: ClearingState, marketIndex: number): ClearingState['markets'][number]['definition'] {
  return must(state.markets[marketIndex], 'an order is of a known market').definition;
}

function orderRow(state: ClearingState, order: OrderRow): ExportRow {
  const has = (flag: number): boolean => (order.flags & flag) !== 0;
  return {
    time_ns: order.lastUpdateNs,
    user: order.user,
    event: order.end === 0 ? 'accepted' : 'ended',
    asset_id: marketOf(state, order.marketIndex).assetId,
    order_id: order.orderId,
    order_sequence: order.orderSequence,
    sub_account: order.subAccount,
    side: SIDE_WORD[order.side],
    order_type: ORDER_TYPES[order.kind],
    price: some(order.price),
    quantity: some(order.quantity),
    amount: some(order.amount),
    time_in_force: TIFS[order.tif],
    post_only: has(ORDER_FLAG.postOnly),
    reduce_only: has(ORDER_FLAG.reduceOnly),
    is_spot: has(ORDER_FLAG.isSpot),
    is_liquidation: has(ORDER_FLAG.liquidation),
    is_node_made: has(ORDER_FLAG.nodeMade),
    trigger: order.triggerKind === TRIGGER.none ? undefined : order.triggerKind === TRIGGER.above ? 'above' : 'below',
    trigger_price: some(order.triggerPrice),
    protection_slot: some(order.protectionGroup),
    max_fee_rate: order.maxFeeRate,
    creation_ns: order.creationNs,
    timestamp_ns: order.timestampNs,
    good_until_ns: some(order.goodUntilNs),
    filled_quantity: order.filledQuantity,
    filled_amount: format18(order.filledNotional),
    fees: format18(order.fees),
    reason: order.end === 0 ? undefined : ORDER_END_WORD[order.end],
    fault: ROLLBACK_REASON_WORD[order.faultReason],
  };
}

function tradeRow(state: ClearingState, trade: TradeRow): ExportRow {
  return {
    time_ns: trade.matchedNs,
    asset_id: marketOf(state, trade.marketIndex).assetId,
    trade_id: trade.tradeId,
    price: trade.price,
    quantity: trade.quantity,
    taker_side: SIDE_WORD[trade.takerSide],
    event_ns: trade.matchedNs,
    is_liquidation: trade.isLiquidation,
    is_auto_deleverage: trade.isAutoDeleverage,
  };
}

function fillRow(state: ClearingState, trade: TradeRow, side: TradeSide, role: 'Maker' | 'Taker'): ExportRow {
  const market = marketOf(state, trade.marketIndex);
  const isBuy = (trade.takerSide === SIDE.buy) === (role === 'Taker');
  return {
    time_ns: trade.matchedNs,
    user: side.user,
    status: FILL_STATUS.confirmed,
    asset_id: market.assetId,
    trade_id: trade.tradeId,
    order_id: side.orderId,
    order_sequence: side.orderSequence,
    sub_account: side.subAccount,
    side: SIDE_WORD[isBuy ? SIDE.buy : SIDE.sell],
    role,
    price: trade.price,
    quantity: trade.quantity,
    event_ns: trade.matchedNs,
    amount: format18(notional18(trade.price, trade.quantity, market)),
    fee: format18(side.fee),
    is_liquidation: trade.isLiquidation,
    is_auto_deleverage: trade.isAutoDeleverage,
  };
}

/** Balances and the legs of positions, but for those that are nothing. */
function* balanceRows(state: ClearingState): Generator<ExportRow, void, undefined> {
  for (const { user, subAccount, account } of accountsOf(state)) {
    const row = (asset: string, amount: bigint, leg?: string): ExportRow => {
      return { user, sub_account: subAccount, asset, leg, balance_after: format18(amount) };
    };
    for (const [asset, { owned }] of [...account.balances].sort(([a], [b]) => (a < b ? -1 : 1)))
      if (owned !== 0n) yield row(asset, owned);
    for (const [asset, { legs }] of [...account.positions].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (legs.base !== 0n) yield row(asset, legs.base, asset);
      if (legs.quote !== 0n) yield row(USD, legs.quote, asset);
    }
  }
}

function* positionRows(state: ClearingState): Generator<ExportRow, void, undefined> {
  for (const { user, subAccount, account } of accountsOf(state)) {
    for (const [asset, { legs }] of [...account.positions].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const amounts = { base: format18(legs.base), quote: format18(legs.quote), entry: format18(legs.entry) };
      yield { user, sub_account: subAccount, asset_id: asset, ...amounts };
    }
  }
}
