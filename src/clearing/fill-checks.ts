/**
 * The checks of a fill (FIL-17), in order: stale match, which is nobody's fault; then for each party by itself its first
 * failure of
 *
 *   signature     asked once, before the order's first fill (FIL-09)
 *   order terms   side, price, life, account, fee rate, and whether it is released at all (FIL-10)
 *   overfill      lots enabled, and the target or cap of a market order, in exact money (FIL-11, AMB-05)
 *   inventory     what it owns (SUB-02)
 *
 * Both may fail. Judging writes into a plan, never into the state, so nothing has to be undone.
 *
 * Not here: margin (service spec 2.8) and protocol caps; a margin order's fill is refused as an invalid order.
 */
import { add18, notional18, quantity18, RATE_SCALE, tradingFee18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { STALE_MATCH_NS } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  ROLLBACK_REASON,
  type RollbackReason,
  SIDE,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../core/units.ts';
import { quote18 } from './holds.ts';
import type { Matched } from './inputs.ts';
import { liveOrder } from './orders.ts';
import { type OrderRow, SIGNATURE_VERDICT } from './rows.ts';
import type { BalanceSlot, MarketSlot, OrderSlot } from './state.ts';

/** What went wrong with a fill, by party; `none` for a party that is in order. */
export interface Fault {
  readonly maker: RollbackReason;
  readonly taker: RollbackReason;
}

/** A fill with its orders and its exact figures. */
export interface Fill {
  readonly market: MarketDefinition;
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

/** Confirmed fills of an order. */
interface Filled {
  readonly quantity: number;
  readonly notional: Amount18;
}

/** What the fills judged so far will leave behind: balances and filled orders. */
export interface Plan {
  readonly owned: Map<BalanceSlot, Amount18>;
  readonly filled: Map<OrderSlot, Filled>;
  fees: Amount18;
}

export function emptyPlan(): Plan {
  return { owned: new Map(), filled: new Map(), fees: ZERO_18 };
}

/** @throws InvariantError when the market breaks its word: fees out of bounds, or an order that is not live. */
export function fillOf(market: MarketSlot, input: Matched): Fill {
  const { makerFeeRate, takerFeeRate } = input;
  assert(takerFeeRate >= 0 && takerFeeRate <= Number(RATE_SCALE), 'a taker rate is within 0 and 100 %');
  assert(makerFeeRate >= -takerFeeRate && makerFeeRate <= Number(RATE_SCALE), 'a rebate never exceeds the taker rate');
  assert(input.makerOrder !== input.takerOrder, 'an order does not match itself');
  const notional = notional18(input.price, input.quantity, market.definition);
  return {
    market: market.definition,
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
export function judge(fill: Fill, plan: Plan, nowNs: TimestampNs): Fault | null {
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
  if (overfills(fill, party.slot, plan)) return ROLLBACK_REASON.overfill;
  return inventoryCovers(fill, party, plan) ? ROLLBACK_REASON.none : ROLLBACK_REASON.insufficientInventory;
}

/** Side, limit price, life, account, trigger and highest fee rate of one order against the fill (FIL-10, AMB-09). */
function termsAllow(fill: Fill, party: Party): boolean {
  const order = party.slot.row;
  const { price, timeNs } = fill.input;
  if (fill.maker.row.side === fill.taker.row.side) return false;
  if (order.triggerState !== TRIGGER_STATE.live) return false;
  if (order.kind === ORDER_KIND.limit && isBeyondLimit(order, price)) return false;
  if (timeNs > order.expiryNs) return false;
  return (order.flags & ORDER_FLAG.isSpot) !== 0 && party.feeRate <= order.maxFeeRate;
}

function isBeyondLimit(order: OrderRow, price: number): boolean {
  return order.side === SIDE.buy ? price > order.price : price < order.price;
}

function filledInPlan(slot: OrderSlot, plan: Plan): Filled {
  return plan.filled.get(slot) ?? { quantity: slot.row.filledQuantity, notional: slot.row.filledNotional };
}

/** More lots than are enabled, or more money than a market order's target or cap. */
function overfills(fill: Fill, slot: OrderSlot, plan: Plan): boolean {
  const { quantity, amount, enabledQuantity } = slot.row;
  const filled = filledInPlan(slot, plan);
  if (quantity !== 0 && filled.quantity + fill.input.quantity > enabledQuantity) return true;
  return amount !== 0 && filled.notional + fill.notional > quote18(amount, fill.market);
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
export function planFill(fill: Fill, plan: Plan): void {
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
    const { quantity, notional } = filledInPlan(slot, plan);
    const filled = { quantity: quantity + fill.input.quantity, notional: add18(notional, fill.notional) };
    plan.filled.set(slot, filled);
  }
}

function move(plan: Plan, slot: BalanceSlot, delta: bigint): void {
  const owned = (ownedInPlan(slot, plan) + delta) as Amount18;
  assert(owned >= 0n, 'a judged fill never overdraws');
  plan.owned.set(slot, owned);
}
