/**
 * Fills: what clearing decides about each match (service spec 3.2, FIL-01 to FIL-17, AMB-32 to AMB-36).
 *
 *   matched ──▶ waits for its unit (fill-or-kill) ──▶ every fill judged in order ──┬─▶ all pass: booked, Confirmed
 *                                                                                  └─▶ one fails: all Rollbacked
 *
 * Not here: what a fill is checked for (fill-checks.ts); an armed test fault comes before all of that.
 */
import { add18, powerOfTen } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import {
  FILL_GROUP,
  isAtFault,
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  ROLLBACK_REASON,
  type RollbackReason,
} from '../core/order-terms.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import type { OrderRecordView } from '../schema/generated/messages.ts';
import { balanceSlot, ensureUser, SPOT_ACCOUNT, setOwned } from './balances.ts';
import type { Effect, FillRolledBackEffect } from './effects.ts';
import { type Fault, judge } from './fill-checks.ts';
import { book, drop, type Fill, FillPlan, fillsOf, type Party } from './fill-plan.ts';
import { takeFault } from './hooks.ts';
import type { MatchedInput } from './inputs.ts';
import type { ClearingOrder } from './live-orders.ts';
import { changeOrder, enableChildren, finishOrder } from './orders.ts';
import { countQuoted } from './quote-set-slots.ts';
import { isEnoughForMark, moveMark } from './risks.ts';
import type { TradeRow, TradeSide } from './rows.ts';
import type { BalanceSlot, ClearingMarket, ClearingState } from './state.ts';
import { tallyRollback, tallyTrade } from './tallies.ts';
import { fireReached } from './triggers.ts';

/** Applies a match: alone it is decided now, in a group when its last fill is here. */
export function applyMatched(
  state: ClearingState,
  market: ClearingMarket,
  input: MatchedInput,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  if (input.group === FILL_GROUP.alone) {
    assert(market.fillGroup.length === 0, 'a fill that stands alone does not end a group');
    decideGroup(state, market, [input], nowNs, effects);
  } else {
    market.fillGroup.push(input);
    if (input.group === FILL_GROUP.more) return;
    const inputs = market.fillGroup;
    market.fillGroup = [];
    decideGroup(state, market, inputs, nowNs, effects);
  }
  market.decidedTradeId = input.tradeId;
}

function decideGroup(
  state: ClearingState,
  market: ClearingMarket,
  inputs: readonly MatchedInput[],
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const fills = fillsOf(state, market, inputs);
  const plan = new FillPlan(state, market);
  for (const fill of fills) {
    const fault = takeFault(state.hooks, market.definition.assetId) ?? judge(fill, plan, nowNs);
    if (fault !== null) {
      // mutant: failed-plan-dropped
      drop(fills);
      rollBackGroup(state, market, fills, { fill, fault }, effects);
      return;
    }
  }
  // After this point the group must succeed.
  state.outcomes?.causeOfFills();
  book(state, fills);
  const feesTo = bookFees(state, plan.fees, effects);
  state.outcomes?.noCause();
  const last = fills.at(-1);
  for (const fill of fills) {
    state.outcomes?.filled(market, fill, fill === last ? feesTo : null);
    confirm(state, market, fill, effects);
    const { takerOrder, timeNs } = fill.input;
    if (!isEnoughForMark(state, market, plan.risk, { takerOrder, timeNs, notional: fill.notional })) continue;
    moveMark(state, plan.risk, markPrice(fill), timeNs, nowNs);
  }
}

/** The price of a fill in USD, 18 decimals: price decimals never exceed 18. */
function markPrice({ input, market }: Fill): Amount18 {
  return (BigInt(input.price) * powerOfTen(18 - market.priceDecimals)) as Amount18;
}

/**
 * Fees less rebates go to spot USD of account 0 of the fee account (AMB-41). A maker's rebate is at most what the taker
 * pays, so the fee account never pays out of its own pocket and is, like every user, never negative.
 *
 * @returns the balance; null where there are none.
 */
function bookFees(state: ClearingState, fees: Amount18, effects: Effect[]): BalanceSlot | null {
  assert(fees >= 0n, 'a trade never costs the fee account');
  if (fees === 0n) return null;
  const user = ensureUser(state, state.settings.fee_account, effects);
  const slot = balanceSlot(state, user, SPOT_ACCOUNT, USD);
  setOwned(state, slot, add18(slot.owned, fees));
  return slot;
}

function confirm(state: ClearingState, market: ClearingMarket, fill: Fill, effects: Effect[]): void {
  const { input, maker, taker } = fill;
  const trade: TradeRow = {
    marketIndex: input.marketIndex,
    tradeId: input.tradeId,
    price: input.price,
    quantity: input.quantity,
    matchedNs: input.timeNs,
    takerSide: taker.slot.row.side,
    isLiquidation: (taker.slot.row.flags & ORDER_FLAG.liquidation) !== 0,
    isAutoDeleverage: false,
    maker: tradeSide(maker),
    taker: tradeSide(taker),
  };
  fillOrder(state, fill, maker);
  fillOrder(state, fill, taker);
  tallyTrade(state, trade);
  fireReached(state, market, input.price);
  effects.push({ kind: 'fillConfirmed', trade });
}

function tradeSide({ slot, fee }: Party): TradeSide {
  const { user, subAccount } = slot.account.row;
  const { orderId, orderSequence } = slot.row;
  return { user, subAccount, orderId, orderSequence, fee };
}

/** Counts a confirmed fill in its order. The last lot ends it, unless its market counts money and sends the end itself. */
function fillOrder(state: ClearingState, fill: Fill, { slot, fee }: Party): void {
  const { row } = slot;
  if (row.quoteSet !== 0) countQuoted(state, slot.market, row, fill.input.quantity);
  const isWhole = row.kind !== ORDER_KIND.marketQuote && row.filledQuantity + fill.input.quantity >= row.quantity;
  const count = (filled: OrderRecordView): void => {
    filled.filledQuantity += fill.input.quantity;
    filled.filledNotional = add18(filled.filledNotional, fill.notional);
    filled.fees = add18(filled.fees, fee);
    filled.lastUpdateNs = fill.input.timeNs;
    if (!isWhole) return;
    filled.end = ORDER_END.filled;
    filled.faultReason = ROLLBACK_REASON.none;
  };
  if (isWhole) {
    finishOrder(state, slot, count);
    return;
  }
  changeOrder(state, slot, count);
  enableChildren(state, slot);
}

/** The fill of a unit at which it failed, and how. */
interface Failure {
  readonly fill: Fill;
  readonly fault: Fault;
}

/** Rolls back every fill of a unit. Others than the one that failed are reversed for their counterparty's sake. */
function rollBackGroup(
  state: ClearingState,
  market: ClearingMarket,
  fills: readonly Fill[],
  failure: Failure,
  effects: Effect[],
): void {
  const { maker, taker } = failure.fault;
  // The taker is the same order in all fills of a group; makers of the other fills did nothing wrong (AMB-34, EX-25).
  const stale = maker === ROLLBACK_REASON.staleMatch && taker === ROLLBACK_REASON.staleMatch;
  for (const fill of fills) {
    const makerReason = fill === failure.fill || stale ? maker : ROLLBACK_REASON.none;
    rollBack(state, market, fill, { maker: seenBy(makerReason), taker: seenBy(taker) }, effects);
  }
}

/** A party in order sees that the other one is at fault (FIL-15). */
function seenBy(own: RollbackReason): RollbackReason {
  return own === ROLLBACK_REASON.none ? ROLLBACK_REASON.counterpartyAtFault : own;
}

function rollBack(state: ClearingState, market: ClearingMarket, fill: Fill, reasons: Fault, effects: Effect[]): void {
  const { input } = fill;
  state.outcomes?.rolledBack(market, fill, reasons.maker, reasons.taker);
  markRolledBack(state, fill.maker.slot, reasons.maker);
  markRolledBack(state, fill.taker.slot, reasons.taker);
  const rolledBack: FillRolledBackEffect = {
    kind: 'fillRolledBack',
    marketIndex: input.marketIndex,
    tradeId: input.tradeId,
    makerOrder: input.makerOrder,
    takerOrder: input.takerOrder,
    price: input.price,
    quantity: input.quantity,
    matchedNs: input.timeNs,
    makerReason: reasons.maker,
    takerReason: reasons.taker,
    takerSide: fill.taker.slot.row.side,
  };
  tallyRollback(state, rolledBack);
  effects.push(rolledBack);
}

/**
 * The market will cancel what is left of an order at fault; until that has come, a restart must find that the order is lost
 * (AMB-32). A market order that lost a fill has not met its target, even if its market ends it as filled (AMB-32 c).
 */
function markRolledBack(state: ClearingState, order: ClearingOrder, reason: RollbackReason): void {
  const { row } = order;
  const isFirstFault = isAtFault(reason) && row.faultReason === ROLLBACK_REASON.none;
  const faultReason = isFirstFault ? reason : row.faultReason;
  const flags = row.kind === ORDER_KIND.limit ? row.flags : row.flags | ORDER_FLAG.rolledBack;
  if (faultReason === row.faultReason && flags === row.flags) return;
  changeOrder(state, order, (marked) => {
    marked.faultReason = faultReason;
    marked.flags = flags;
  });
}
