/**
 * Fills: what clearing decides about each match (service spec 3.2, FIL-01 to FIL-17, AMB-32 to AMB-36).
 *
 *   matched ──▶ waits for its unit (fill-or-kill) ──▶ every fill judged in order ──┬─▶ all pass: booked, Confirmed
 *                                                                                  └─▶ one fails: all Rollbacked
 *
 * The checks of a fill, in order: an armed test fault; stale match, which is nobody's fault; then for each party by
 * itself its first failure of signature, order terms, overfill, spot inventory. Both may fail.
 *
 * Judging writes into a plan, never into the state, so nothing has to be undone.
 *
 * Not here: margin (service spec 2.8) and protocol caps; a margin order's fill is refused as an invalid order.
 */
import { add18, notional18, quantity18, RATE_SCALE, tradingFee18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import { STALE_MATCH_NS } from '../core/limits.ts';
import { isAtFault, ORDER_END, ORDER_FLAG, ROLLBACK_REASON, type RollbackReason, SIDE } from '../core/order-terms.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../core/units.ts';
import { balanceSlot, ensureUser, SPOT_ACCOUNT, setOwned } from './balances.ts';
import type { Effect, FillRolledBack } from './effects.ts';
import { takeFault } from './hooks.ts';
import { FILL_UNIT, type Matched } from './inputs.ts';
import { changeOrder, finishOrder, liveOrder } from './orders.ts';
import { type OrderRow, SIGNATURE_VERDICT, type TradeRow, type TradeSide } from './rows.ts';
import type { BalanceSlot, ClearingState, MarketSlot, OrderSlot } from './state.ts';
import { tallyRollback, tallyTrade } from './tallies.ts';

/** What went wrong with a fill, by party; `none` for a party that is in order. */
export interface Fault {
  readonly maker: RollbackReason;
  readonly taker: RollbackReason;
}

/** A fill with its orders and its exact figures. */
interface Fill {
  readonly input: Matched;
  readonly maker: OrderSlot;
  readonly taker: OrderSlot;
  readonly notional: Amount18;
  readonly base: Amount18;
  readonly makerFee: Amount18;
  readonly takerFee: Amount18;
}

interface Party {
  readonly slot: OrderSlot;
  readonly feeRate: number;
  readonly fee: Amount18;
}

/** What the fills judged so far will leave behind: balances and filled quantities. */
interface Plan {
  readonly owned: Map<BalanceSlot, Amount18>;
  readonly filled: Map<OrderSlot, number>;
  fees: Amount18;
}

/** Applies a match: alone it is decided now, in a unit when its last fill is here. */
export function applyMatched(
  state: ClearingState,
  market: MarketSlot,
  input: Matched,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  market.unit.push(input);
  if (input.unit === FILL_UNIT.more) return;
  const inputs = market.unit;
  market.unit = [];
  assert(input.unit === FILL_UNIT.last || inputs.length === 1, 'a fill that stands alone does not end a unit');
  decideUnit(state, market, inputs, nowNs, effects);
  market.decidedTradeId = input.tradeId;
}

function decideUnit(
  state: ClearingState,
  market: MarketSlot,
  inputs: readonly Matched[],
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const fills = inputs.map((input) => fillOf(market, input));
  const plan: Plan = { owned: new Map(), filled: new Map(), fees: ZERO_18 };
  for (const fill of fills) {
    const fault = takeFault(state.hooks, market.definition.assetId) ?? judge(fill, plan, nowNs);
    if (fault !== null) {
      rollBackUnit(state, market, fills, { fill, fault }, effects);
      return;
    }
    planFill(fill, plan);
  }
  // After this point the unit must succeed.
  for (const [slot, owned] of plan.owned) setOwned(state, slot, owned);
  bookFees(state, plan.fees, effects);
  for (const fill of fills) confirm(state, market, fill, effects);
}

function fillOf(market: MarketSlot, input: Matched): Fill {
  const { makerFeeRate, takerFeeRate } = input;
  assert(takerFeeRate >= 0 && takerFeeRate <= Number(RATE_SCALE), 'a taker rate is within 0 and 100 %');
  assert(makerFeeRate >= -takerFeeRate && makerFeeRate <= Number(RATE_SCALE), 'a rebate never exceeds the taker rate');
  assert(input.makerOrder !== input.takerOrder, 'an order does not match itself');
  const notional = notional18(input.price, input.quantity, market.definition);
  return {
    input,
    maker: liveOrder(market, input.makerOrder),
    taker: liveOrder(market, input.takerOrder),
    notional,
    base: quantity18(input.quantity, market.definition.quantityDecimals),
    makerFee: tradingFee18(notional, makerFeeRate),
    takerFee: tradingFee18(notional, takerFeeRate),
  };
}

/** The two parties' own failures, or null when the fill can be booked. */
function judge(fill: Fill, plan: Plan, nowNs: TimestampNs): Fault | null {
  if (nowNs - fill.input.timeNs > STALE_MATCH_NS) {
    return { maker: ROLLBACK_REASON.staleMatch, taker: ROLLBACK_REASON.staleMatch };
  }
  const { makerFeeRate, takerFeeRate } = fill.input;
  const maker = judgeParty(fill, { slot: fill.maker, feeRate: makerFeeRate, fee: fill.makerFee }, plan);
  const taker = judgeParty(fill, { slot: fill.taker, feeRate: takerFeeRate, fee: fill.takerFee }, plan);
  return maker === ROLLBACK_REASON.none && taker === ROLLBACK_REASON.none ? null : { maker, taker };
}

function judgeParty(fill: Fill, party: Party, plan: Plan): RollbackReason {
  const order = party.slot.row;
  if ((order.flags & ORDER_FLAG.nodeMade) === 0) {
    assert(order.verdict !== SIGNATURE_VERDICT.unknown, 'a signature is judged before the first fill is decided');
    if (order.verdict === SIGNATURE_VERDICT.invalid) return ROLLBACK_REASON.invalidSignature;
  }
  if (!termsAllow(fill, party)) return ROLLBACK_REASON.invalidOrder;
  const filled = plan.filled.get(party.slot) ?? order.filledQuantity;
  if (filled + fill.input.quantity > order.quantity) return ROLLBACK_REASON.overfill;
  return inventoryCovers(fill, party, plan) ? ROLLBACK_REASON.none : ROLLBACK_REASON.insufficientInventory;
}

/** Side, limit price, life, account and highest fee rate of one order against the fill (FIL-10, AMB-09). */
function termsAllow(fill: Fill, party: Party): boolean {
  const order = party.slot.row;
  const { price, timeNs } = fill.input;
  if (fill.maker.row.side === fill.taker.row.side) return false;
  if (order.side === SIDE.buy ? price > order.price : price < order.price) return false;
  if (timeNs > order.expiryNs) return false;
  return (order.flags & ORDER_FLAG.isSpot) !== 0 && party.feeRate <= order.maxFeeRate;
}

function ownedInPlan(slot: BalanceSlot, plan: Plan): Amount18 {
  return plan.owned.get(slot) ?? slot.owned;
}

/** The buyer pays notional and fee in USD, the seller pays base; a seller's fee never exceeds the proceeds. */
function inventoryCovers(fill: Fill, party: Party, plan: Plan): boolean {
  if (party.slot.row.side === SIDE.buy) {
    return ownedInPlan(party.slot.usd, plan) >= add18(fill.notional, party.fee);
  }
  return ownedInPlan(party.slot.base, plan) >= fill.base;
}

/** Writes a fill that passed into the plan: base legs, USD legs, fees. */
function planFill(fill: Fill, plan: Plan): void {
  const takerBuys = fill.taker.row.side === SIDE.buy;
  const buyer = takerBuys ? fill.taker : fill.maker;
  const seller = takerBuys ? fill.maker : fill.taker;
  const buyerFee = takerBuys ? fill.takerFee : fill.makerFee;
  const sellerFee = takerBuys ? fill.makerFee : fill.takerFee;
  move(plan, buyer.usd, -fill.notional - buyerFee);
  move(plan, buyer.base, fill.base);
  move(plan, seller.base, -fill.base);
  move(plan, seller.usd, fill.notional - sellerFee);
  plan.fees = add18(plan.fees, add18(fill.makerFee, fill.takerFee));
  for (const slot of [fill.maker, fill.taker]) {
    plan.filled.set(slot, (plan.filled.get(slot) ?? slot.row.filledQuantity) + fill.input.quantity);
  }
}

function move(plan: Plan, slot: BalanceSlot, delta: bigint): void {
  const owned = (ownedInPlan(slot, plan) + delta) as Amount18;
  assert(owned >= 0n, 'a judged fill never overdraws');
  plan.owned.set(slot, owned);
}

/**
 * Fees less rebates go to spot USD of account 0 of the fee account (AMB-41). A maker's rebate is at most what the taker
 * pays, so the fee account never pays out of its own pocket and is, like every user, never negative.
 */
function bookFees(state: ClearingState, fees: Amount18, effects: Effect[]): void {
  assert(fees >= 0n, 'a trade never costs the fee account');
  if (fees === 0n) return;
  const user = ensureUser(state, state.settings.fee_account, effects);
  const slot = balanceSlot(state, user, SPOT_ACCOUNT, USD);
  setOwned(state, slot, add18(slot.owned, fees));
}

function confirm(state: ClearingState, market: MarketSlot, fill: Fill, effects: Effect[]): void {
  const { input, maker, taker } = fill;
  const trade: TradeRow = {
    marketIndex: input.marketIndex,
    tradeId: input.tradeId,
    price: input.price,
    quantity: input.quantity,
    matchedNs: input.timeNs,
    takerSide: taker.row.side,
    isLiquidation: false,
    isAutoDeleverage: false,
    maker: tradeSide(maker, fill.makerFee),
    taker: tradeSide(taker, fill.takerFee),
  };
  fillOrder(state, market, maker, fill, fill.makerFee);
  fillOrder(state, market, taker, fill, fill.takerFee);
  tallyTrade(state, trade);
  effects.push({ kind: 'fillConfirmed', trade });
}

function tradeSide(slot: OrderSlot, fee: Amount18): TradeSide {
  const { user, subAccount, orderId, orderSequence } = slot.row;
  return { user, subAccount, orderId, orderSequence, fee };
}

/** Counts a confirmed fill in its order; the last lot ends it. */
function fillOrder(state: ClearingState, market: MarketSlot, slot: OrderSlot, fill: Fill, fee: Amount18): void {
  const { row } = slot;
  const filledQuantity = row.filledQuantity + fill.input.quantity;
  const isWhole = filledQuantity >= row.quantity;
  const filled: OrderRow = {
    ...row,
    filledQuantity,
    filledNotional: add18(row.filledNotional, fill.notional),
    fees: add18(row.fees, fee),
    lastUpdateNs: fill.input.timeNs,
    end: isWhole ? ORDER_END.filled : 0,
    faultReason: isWhole ? ROLLBACK_REASON.none : row.faultReason,
  };
  if (isWhole) finishOrder(state, market, slot, filled);
  else changeOrder(state, market, slot, filled);
}

/** The fill of a unit at which it failed, and how. */
interface Failure {
  readonly fill: Fill;
  readonly fault: Fault;
}

/** Rolls back every fill of a unit. Others than the one that failed are reversed for their counterparty's sake. */
function rollBackUnit(
  state: ClearingState,
  market: MarketSlot,
  fills: readonly Fill[],
  failure: Failure,
  effects: Effect[],
): void {
  const { maker, taker } = failure.fault;
  // The taker is the same order in all fills of a unit; makers of the other fills did nothing wrong (AMB-34, EX-25).
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

function rollBack(state: ClearingState, market: MarketSlot, fill: Fill, reasons: Fault, effects: Effect[]): void {
  const { input } = fill;
  markAtFault(state, market, fill.maker, reasons.maker);
  markAtFault(state, market, fill.taker, reasons.taker);
  const rolledBack: FillRolledBack = {
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
  };
  tallyRollback(state, rolledBack);
  effects.push(rolledBack);
}

/** The market will cancel the remainder; until it says so a restart must know that the order is lost (AMB-32). */
function markAtFault(state: ClearingState, market: MarketSlot, slot: OrderSlot, reason: RollbackReason): void {
  if (!isAtFault(reason) || slot.row.faultReason !== ROLLBACK_REASON.none) return;
  changeOrder(state, market, slot, { ...slot.row, faultReason: reason });
}
