/**
 * What the reads need of the tables; storage implements it with one read transaction per `read`.
 *
 * Orders come newest first: `timestampNs` descending, `orderId` by bytes descending, market index and then order
 * sequence ascending. Trades likewise: `matchedNs` descending, `tradeId` descending, asset ascending as
 * `compareAssetIds` has it, and of a self-match the taker's side first (PAG-02, PAG-03, AMB-35).
 */
import type { OrderRow, TradeRow } from '../../../clearing/rows.ts';
import type { OrderReply } from '../../../codec/shapes/order-record-shapes.ts';
import { format18, formatRaw } from '../../../core/decimal.ts';
import type { OrderId, UserId } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  type OrderStatus,
  SIDE_WORD,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../../../core/order-terms.ts';
import { enabledOf, type LiveOrder } from '../book/live-order.ts';
import { statusOf, statusOfLive } from '../book/order-life.ts';

export interface HistoryQuery {
  readonly user: UserId;
  /** Null for all markets. */
  readonly marketIndex: number | null;
  /** Null for all sub-accounts. */
  readonly subAccounts: readonly number[] | null;
}

/** One side of a confirmed trade; a self-match is two of these. */
export interface HistoryTrade {
  readonly row: TradeRow;
  readonly isMaker: boolean;
}

/** What orders are sorted by: timestamp and id, both descending (PAG-02). */
export interface OrderPlace {
  readonly timeNs: bigint;
  readonly name: string;
  readonly marketIndex: number;
  readonly sequence: number;
}

/** Some of a list, and how many there are of it. */
export interface HistoryWindow<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** A finished order with the id of its parent, as signed; '' of an order that is no child. */
export type PastOrder = OrderRow & { readonly parentId: OrderId | '' };

/** Inclusive; null: any. */
export interface TimeRange {
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

/** One checkpoint's tables, standing still while it is read. */
export interface HistorySnapshot {
  /** The last sequence of the market that the tables reflect; 0 for a market they do not know. */
  marketSequence(marketIndex: number): number;
  /** Every confirmed trade of the market up to this id is in the tables, and no later one. */
  lastTradeId(marketIndex: number): number;
  /**
   * Whether the order is in the tables as finished (`end` is not 0), or was; or a later one of its id, which has the same
   * meaning.
   *
   * @param orderId its own.
   */
  isFinished(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: number): boolean;
  /**
   * Bits of ORDER_FLAG of an order, live or finished; null when its record is gone or a later one has its id.
   *
   * @param orderId its own.
   */
  orderFlags(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: number): number | null;
  /** A finished order by its id. */
  findOrder(user: UserId, marketIndex: number, orderId: OrderId): PastOrder | undefined;
  /** Finished orders, newest first. */
  finishedOrders(query: HistoryQuery, offset: number, limit: number): HistoryWindow<PastOrder>;
  /**
   * The same one after another, until `look` returns false: each list is read once.
   *
   * @param look is given an order to be read during the call, and what makes a row of it.
   */
  scanFinished(query: HistoryQuery, look: (order: OrderRow, rowOf: () => PastOrder) => boolean): void;
  /**
   * How many finished orders of the query come before each place.
   *
   * @param places newest first.
   * @param rank what is more than that need not be exact, but is more than that.
   */
  finishedBefore(query: HistoryQuery, places: readonly OrderPlace[], rank: number): readonly number[];
  /** The user's sides of confirmed trades, newest first; `subAccounts` is about the user's side. */
  trades(query: HistoryQuery, offset: number, limit: number): HistoryWindow<HistoryTrade>;
  /**
   * Gives the trades that were matched within the times to `look`, one after another, until it returns false; each list
   * is read once.
   */
  scanTrades(query: HistoryQuery, times: TimeRange, look: (entry: HistoryTrade) => boolean): void;
  /** The market of a row: the members with which rows are printed never change. */
  definition(marketIndex: number): MarketDefinition;
}

export interface OrderHistory {
  read<T>(reader: (snapshot: HistorySnapshot) => T): T;
}

// Order records as reads show them (wire.md 7.9): from memory the optimistic view, from the tables what was final
// (AMB-128, AMB-142). Amounts are human decimals; the keys are the wire's.

type Recorded = Pick<
  PastOrder,
  | 'orderId'
  | 'side'
  | 'kind'
  | 'tif'
  | 'flags'
  | 'price'
  | 'quantity'
  | 'amount'
  | 'parentId'
  | 'goodUntilNs'
  | 'triggerKind'
  | 'triggerPrice'
  | 'triggerState'
  | 'filledQuantity'
  | 'filledNotional'
  | 'fees'
  | 'timestampNs'
  | 'lastUpdateNs'
  | 'quoteSet'
>;

/** What follows from more than the record. */
interface Derived {
  readonly pendingQuantity: number;
  readonly pendingNotional: bigint;
  readonly pendingFees: bigint;
  readonly enabledQuantity: number;
  readonly status: OrderStatus;
  readonly isInFlight: boolean;
}

/** The optimistic view of an order in memory. */
export function recordOfLive(order: LiveOrder): OrderReply {
  const { pendingQuantity, pendingNotional, pendingFees, requests } = order;
  const pending = { pendingQuantity, pendingNotional, pendingFees };
  const derived = { status: statusOfLive(order), enabledQuantity: enabledOf(order), isInFlight: requests > 0 };
  return record(order.market.definition, order, { ...pending, ...derived });
}

/** A finished order from the tables. */
export function recordOfRow(row: PastOrder, definition: MarketDefinition): OrderReply {
  const { enabledQuantity } = row;
  const pending = { pendingQuantity: 0, pendingNotional: 0n, pendingFees: 0n };
  return record(definition, row, { ...pending, status: statusOf(row), enabledQuantity, isInFlight: false });
}

function record(definition: MarketDefinition, order: Recorded, derived: Derived): OrderReply {
  const { status } = derived;
  const { quantityDecimals, assetId } = definition;
  return {
    order_id: order.orderId,
    base_asset: assetId,
    side: SIDE_WORD[order.side],
    ...sizeOf(definition, order),
    confirmed_filled_quantity: formatRaw(order.filledQuantity, quantityDecimals),
    pending_filled_quantity: formatRaw(derived.pendingQuantity, quantityDecimals),
    confirmed_filled_amount: format18(order.filledNotional),
    pending_filled_amount: format18(derived.pendingNotional),
    confirmed_trading_fees_amount: format18(order.fees),
    pending_trading_fees_amount: format18(derived.pendingFees),
    good_until_timestamp_ns: order.tif === TIF.gtd ? order.goodUntilNs : null,
    timestamp_ns: order.timestampNs,
    in_flight: derived.isInFlight,
    canceled: status === 'Canceled',
    status,
    ...triggerOf(definition, order, derived.enabledQuantity),
    last_update_timestamp_ns: order.lastUpdateNs,
    is_immediate_or_cancel: order.tif === TIF.ioc || order.tif === TIF.fok,
    is_fill_or_kill: order.tif === TIF.fok,
    is_liquidation: (order.flags & ORDER_FLAG.liquidation) !== 0,
    is_auto_deleverage: false,
    is_reduce_only: (order.flags & ORDER_FLAG.reduceOnly) !== 0,
    ...(order.quoteSet === 0 ? {} : { quote_set_id: setIdOf(order.orderId) }),
  };
}

/** An entry is called `<set id>:<number>`. */
function setIdOf(orderId: OrderId): string {
  return orderId.slice(0, orderId.lastIndexOf(':'));
}

type Size = Pick<OrderReply, 'limit_price' | 'quantity' | 'amount' | 'max_sellable_amount' | 'max_sellable_quantity'>;

/**
 * Which figures are set follows from the kind; of a market order 0 stands for none (wire.md 7.9). An entry of a quote set of which
 * every fill was undone after its price had left the set has a total of 0.
 */
function sizeOf({ priceDecimals, quantityDecimals }: MarketDefinition, order: Recorded): Size {
  const { kind, amount } = order;
  const isQuote = kind === ORDER_KIND.marketQuote;
  // mutant: entry-without-quantity
  const isUnset = order.quantity === 0 && kind !== ORDER_KIND.limit;
  const quantity = isUnset ? null : formatRaw(order.quantity, quantityDecimals);
  const quoteAmount = amount === 0 ? null : formatRaw(amount, quantityDecimals);
  return {
    limit_price: kind === ORDER_KIND.limit ? formatRaw(order.price, priceDecimals) : null,
    quantity: isQuote ? null : quantity,
    amount: isQuote ? quoteAmount : null,
    max_sellable_amount: isQuote ? null : quoteAmount,
    max_sellable_quantity: isQuote ? quantity : null,
  };
}

type TriggerMembers = Pick<
  OrderReply,
  'trigger_above_price' | 'trigger_below_price' | 'trigger_touched' | 'parent_id' | 'trigger_enabled_quantity'
>;

/** All null without a trigger; the enabled quantity belongs to a child (AMB-29). */
function triggerOf(
  { priceDecimals, quantityDecimals }: MarketDefinition,
  { triggerKind, triggerState, triggerPrice, parentId }: Recorded,
  enabledQuantity: number,
): TriggerMembers {
  const price = formatRaw(triggerPrice, priceDecimals);
  const isChild = parentId !== '';
  return {
    trigger_above_price: triggerKind === TRIGGER.above ? price : null,
    trigger_below_price: triggerKind === TRIGGER.below ? price : null,
    trigger_touched: triggerKind === TRIGGER.none ? null : triggerState !== TRIGGER_STATE.dormant,
    parent_id: isChild ? parentId : null,
    trigger_enabled_quantity: isChild ? formatRaw(enabledQuantity, quantityDecimals) : null,
  };
}
