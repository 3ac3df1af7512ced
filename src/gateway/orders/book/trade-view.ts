/**
 * Fills as their users see them (FIL-01 to FIL-05, FIL-14, FIL-15, AMB-33, AMB-35).
 *
 *   matched ──▶ Pending, projected fee ──┬─▶ Confirmed, final fee
 *                                        └─▶ Rollbacked, own reason, fee 0
 *
 * A trade has two sides and each gets its own event, also when both are one user.
 */
import type { TradeRow } from '../../../clearing/rows.ts';
import { notional18, quantity18, tradingFee18 } from '../../../core/arithmetic.ts';
import { must } from '../../../core/assert.ts';
import { format18, formatRaw } from '../../../core/decimal.ts';
import { type AssetId, USD } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import {
  FILL_STATUS,
  type FillStatus,
  ORDER_FLAG,
  ROLLBACK_REASON,
  ROLLBACK_REASON_WORD,
  type RollbackReason,
  SIDE,
  type Side,
} from '../../../core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, type TimestampNs, ZERO_18 } from '../../../core/units.ts';
import { usdDelta } from '../../../risk/position.ts';
import type { SpotMove } from '../balances/balance.ts';
import type { Holds } from '../balances/holds.ts';
import type { AccountPosition, LegMove } from '../margin/margin-account.ts';
import type { LiveOrder } from './live-order.ts';
import type { MarketSlot } from './markets.ts';
import type { UserTradeEvent } from './order-events.ts';

/** The market's word on a match. */
export interface Match {
  readonly marketIndex: number;
  readonly sequence: number;
  readonly tradeId: number;
  readonly makerOrder: number;
  readonly takerOrder: number;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly takerSide: Side;
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly timeNs: TimestampNs;
}

export interface PendingSide {
  readonly order: LiveOrder;
  readonly isMaker: boolean;
  /** Projected, in USD. */
  readonly fee: Amount18;
  /** What it moves until clearing has booked it. */
  readonly move: FillMove;
}

export interface PendingTrade {
  readonly market: MarketSlot;
  readonly tradeId: number;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly notional: Amount18;
  readonly matchedNs: TimestampNs;
  readonly takerSide: Side;
  readonly maker: PendingSide;
  readonly taker: PendingSide;
  /** A party is an order by which the node liquidates an account: both sides show it (AMB-35). */
  readonly isLiquidation: boolean;
}

export function pendingTrade(
  match: Match,
  holds: Holds,
  { market, maker, taker }: { readonly market: MarketSlot; readonly maker: LiveOrder; readonly taker: LiveOrder },
): PendingTrade {
  const { definition } = market;
  const { price, quantity, takerSide, tradeId } = match;
  const notional = notional18(price, quantity, definition);
  const base = quantity18(quantity, definition.quantityDecimals);
  const side = (order: LiveOrder, isMaker: boolean, rate: number): PendingSide => {
    const fee = tradingFee18(notional, rate);
    return { order, isMaker, fee, move: fillMove(order, { base, notional, fee, isMaker }, holds) };
  };
  return {
    market,
    tradeId,
    price,
    quantity,
    notional,
    matchedNs: match.timeNs,
    takerSide,
    maker: side(maker, true, match.makerFeeRate),
    taker: side(taker, false, match.takerFeeRate),
    isLiquidation: ((maker.flags | taker.flags) & ORDER_FLAG.liquidation) !== 0,
  };
}

/** What an outcome adds to a trade. */
interface TradeOutcome {
  readonly status: FillStatus;
  readonly fee: Amount18;
  readonly reason: RollbackReason;
}

export function pendingOutcome(side: PendingSide): TradeOutcome {
  return { status: FILL_STATUS.pending, fee: side.fee, reason: ROLLBACK_REASON.none };
}

export function rolledBackOutcome(reason: RollbackReason): TradeOutcome {
  return { status: FILL_STATUS.rolledBack, fee: ZERO_18, reason };
}

/** One side of a trade as its user sees it. */
export function userTradeOf(trade: PendingTrade, side: PendingSide, outcome: TradeOutcome): UserTradeEvent {
  const { definition } = trade.market;
  const { orderId, subAccount, side: orderSide } = side.order;
  return {
    assetId: definition.assetId,
    tradeId: trade.tradeId,
    orderId,
    subAccount,
    price: trade.price,
    quantity: trade.quantity,
    priceDecimals: definition.priceDecimals,
    quantityDecimals: definition.quantityDecimals,
    timestampNs: trade.matchedNs,
    isMaker: side.isMaker,
    isBuyer: orderSide === SIDE.buy,
    status: outcome.status,
    rollbackReason: ROLLBACK_REASON_WORD[outcome.reason],
    isLiquidation: trade.isLiquidation,
    // Such trades have no match: they come from clearing alone (userTradeOfRow).
    isAutoDeleverage: false,
    fee: outcome.fee,
  };
}

/**
 * One side of a confirmed trade from its row. An auto-deleveraging trade has neither maker nor taker: its row keeps the two
 * sides as such (AMB-59).
 *
 * @param isMaker of the row.
 */
export function userTradeOfRow(row: TradeRow, isMaker: boolean, definition: MarketDefinition): UserTradeEvent {
  const side = isMaker ? row.maker : row.taker;
  return {
    assetId: definition.assetId,
    tradeId: row.tradeId,
    orderId: side.orderId,
    subAccount: side.subAccount,
    price: row.price,
    quantity: row.quantity,
    priceDecimals: definition.priceDecimals,
    quantityDecimals: definition.quantityDecimals,
    timestampNs: row.matchedNs,
    // mutant: deleveraged-maker
    isMaker: isMaker && !row.isAutoDeleverage,
    isBuyer: isBuyerOf(row, isMaker),
    status: FILL_STATUS.confirmed,
    rollbackReason: null,
    isLiquidation: row.isLiquidation,
    isAutoDeleverage: row.isAutoDeleverage,
    fee: side.fee,
  };
}

/** Whether that side of a trade bought. @param isMaker of the row. */
export function isBuyerOf({ takerSide }: Pick<TradeRow, 'takerSide'>, isMaker: boolean): boolean {
  return isMaker === (takerSide === SIDE.sell);
}

/** A user trade on the wire, REST and streams alike (wire.md 7.10). */
interface UserTradeBody {
  readonly asset_id: string;
  readonly trade_id: number;
  readonly order_id: string;
  readonly price: string;
  readonly quantity: string;
  readonly timestamp_ns: bigint;
  readonly is_maker: boolean;
  readonly is_buyer: boolean;
  readonly status: FillStatus;
  readonly rollback_reason: string | null;
  readonly is_liquidation: boolean;
  readonly is_auto_deleverage: boolean;
  readonly sub_account: number;
  readonly trading_fee: string;
}

export function userTradeBody(trade: UserTradeEvent): UserTradeBody {
  return {
    asset_id: trade.assetId,
    trade_id: trade.tradeId,
    order_id: trade.orderId,
    price: formatRaw(trade.price, trade.priceDecimals),
    quantity: formatRaw(trade.quantity, trade.quantityDecimals),
    timestamp_ns: trade.timestampNs,
    is_maker: trade.isMaker,
    is_buyer: trade.isBuyer,
    status: trade.status,
    rollback_reason: trade.rollbackReason,
    is_liquidation: trade.isLiquidation,
    is_auto_deleverage: trade.isAutoDeleverage,
    sub_account: trade.subAccount,
    trading_fee: format18(trade.fee),
  };
}

// What a fill moves until clearing has booked it: spot balances of the order's account, or the legs of its position.

type FillMove =
  | ({ readonly kind: 'spot' } & SpotMove)
  | ({ readonly kind: 'legs'; readonly position: AccountPosition } & LegMove);

/** @param fill.fee USD, negative for a rebate. */
function fillMove(
  order: LiveOrder,
  {
    base,
    notional,
    fee,
    isMaker,
  }: { readonly base: Amount18; readonly notional: Amount18; readonly fee: Amount18; readonly isMaker: boolean },
  holds: Holds,
): FillMove {
  const isBuy = order.side === SIDE.buy;
  const delta = isBuy ? base : -base;
  const usd = usdDelta(delta, notional, fee);
  const { balance: from } = order;
  if (from === null) {
    const { position } = must(order.exposure, 'a margin order has its position');
    return { kind: 'legs', position, base: delta, quote: usd, isMaker };
  }
  const { user, subAccount } = order;
  const asset: AssetId = isBuy ? order.market.definition.assetId : USD;
  const to = holds.balance({ user, subAccount, asset });
  const [debit, credit] = isBuy ? [-usd as Amount18, base] : [base, usd as Amount18];
  return { kind: 'spot', from, debit, to, credit };
}

export function pendMove(move: FillMove, holds: Holds): void {
  if (move.kind === 'spot') holds.pend(move);
  else move.position.account.pend(move.position, move);
}

/** @param confirmedAt the count of clearing's events at its confirmation. */
export function confirmMove(move: FillMove, holds: Holds, confirmedAt: number): void {
  if (move.kind === 'spot') holds.confirm(move, confirmedAt);
  else move.position.account.confirm(move.position, move, confirmedAt);
}

export function rollBackMove(move: FillMove, holds: Holds): void {
  if (move.kind === 'spot') holds.rollBack(move);
  else move.position.account.rollBack(move.position, move);
}
