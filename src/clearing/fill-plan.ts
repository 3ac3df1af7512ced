/**
 * What the fills of a unit would leave behind, before any of it is booked: balances, legs, filled orders, fees. Judging
 * writes into a plan, never into the state, so nothing has to be undone. A spot order moves two balances, a margin order
 * the two legs of a position (AMB-30).
 */
import { add18, notional18, quantity18, RATE_SCALE, tradingFee18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { USD } from '../core/ids.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { SIDE } from '../core/order-terms.ts';
import { type Amount18, type Sequence, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import { interestAfter, type Measures } from '../risk/caps.ts';
import { afterFill, type Legs, magnitude, usdDelta } from '../risk/position.ts';
import type { Overlay } from './account-margin.ts';
import { SPOT_ACCOUNT, setOwned } from './balances.ts';
import type { MatchedInput } from './inputs.ts';
import { baseOf, type ClearingOrder, positionOf, usdOf } from './live-orders.ts';
import { namedOrder } from './orders.ts';
import { setLegs } from './positions.ts';
import { assetTermsOf, riskSlot, termsWith } from './risks.ts';
import type { OrderRow } from './rows.ts';
import type { BalanceSlot, ClearingMarket, ClearingState, PositionSlot, RiskSlot } from './state.ts';

/** A fill with its orders and its exact figures. */
export interface Fill {
  readonly market: MarketDefinition;
  readonly input: MatchedInput;
  readonly maker: Party;
  readonly taker: Party;
  readonly notional: Amount18;
  readonly base: Amount18;
}

/** An order of a unit, with what its fills move, and its confirmed fills as the plan would leave them. */
export interface FillingOrder extends ClearingOrder {
  readonly position: PositionSlot | null;
  readonly base: BalanceSlot;
  readonly usd: BalanceSlot;
  filledQuantity: number;
  filledNotional: Amount18;
}

/** One side of a fill. */
export interface Party {
  readonly slot: FillingOrder;
  readonly feeRate: number;
  readonly fee: Amount18;
}

function fillingOrder(state: ClearingState, order: ClearingOrder): FillingOrder {
  const { index, row, market, account } = order;
  return {
    index,
    row,
    market,
    account,
    position: positionOf(state, order),
    base: baseOf(state, order),
    usd: usdOf(state, order),
    filledQuantity: row.filledQuantity,
    filledNotional: row.filledNotional,
  };
}

/**
 * The fills of a unit. Fills of the same order share it, so that each finds what those before it would leave.
 *
 * @throws InvariantError when the market breaks its contract: fees out of bounds, or an order that is not live.
 */
export function fillsOf(
  state: ClearingState,
  market: ClearingMarket,
  inputs: readonly MatchedInput[],
): readonly Fill[] {
  if (inputs.length === 1) return inputs.map((input) => fillOf(market, input, (order) => named(state, market, order)));
  const known = new Map<Sequence, FillingOrder>();
  return inputs.map((input) =>
    fillOf(market, input, (order) => {
      const slot = known.get(order) ?? named(state, market, order);
      known.set(order, slot);
      return slot;
    }),
  );
}

function named(state: ClearingState, market: ClearingMarket, order: Sequence): FillingOrder {
  return fillingOrder(state, namedOrder(market, order));
}

function fillOf(market: ClearingMarket, input: MatchedInput, orderOf: (order: Sequence) => FillingOrder): Fill {
  const { makerFeeRate, takerFeeRate } = input;
  assert(takerFeeRate >= 0 && takerFeeRate <= Number(RATE_SCALE), 'a taker rate is within 0 and 100 %');
  assert(makerFeeRate >= -takerFeeRate && makerFeeRate <= Number(RATE_SCALE), 'a rebate never exceeds the taker rate');
  assert(input.makerOrder !== input.takerOrder, 'an order does not match itself');
  const notional = notional18(input.price, input.quantity, market.definition);
  return {
    market: market.definition,
    input,
    maker: {
      slot: orderOf(input.makerOrder),
      feeRate: makerFeeRate,
      fee: tradingFee18(notional, makerFeeRate),
    },
    taker: {
      slot: orderOf(input.takerOrder),
      feeRate: takerFeeRate,
      fee: tradingFee18(notional, takerFeeRate),
    },
    notional,
    base: quantity18(input.quantity, market.definition.quantityDecimals),
  };
}

/** What a party's base moves by: up when it buys. */
export function baseDelta({ base }: Fill, { slot }: Party): bigint {
  return slot.row.side === SIDE.buy ? base : -base;
}

/**
 * What the fills judged so far would leave behind. As an overlay it answers what an account would be.
 *
 * Planned values stand beside the true ones in the slots, so that looking one up costs nothing. One plan is made at a
 * time, and the caller ends it with the fills that it judged: `book`, or `drop`.
 */
export class FillPlan implements Overlay {
  fees: Amount18 = ZERO_18;
  readonly state: ClearingState;
  /** The risk of the market's asset. */
  readonly risk: RiskSlot;
  measures: Measures;
  /** Lots of entries of quote sets by set, side and price; null before the first. */
  #quoted: Map<string, number> | null = null;
  #planned: AssetTerms | null = null;
  /** Where the fees go; null before the fee account is known. */
  readonly #feeBalance: BalanceSlot | null;

  constructor(state: ClearingState, market: ClearingMarket) {
    this.state = state;
    this.risk = riskSlot(state, market.definition.assetId);
    this.measures = this.risk;
    const feeUser = state.users.get(state.settings.fee_account);
    this.#feeBalance = feeUser?.subAccounts.get(SPOT_ACCOUNT)?.balances.get(USD) ?? null;
  }

  owned(slot: BalanceSlot): Amount18 {
    return slot.planned ?? slot.owned;
  }

  legs(slot: PositionSlot): Legs {
    return slot.planned ?? slot.legs;
  }

  /** The terms with the open interest that the plan would leave, as this interest decides the factor. */
  terms(slot: RiskSlot, nowNs: TimestampNs): AssetTerms {
    if (slot !== this.risk) return assetTermsOf(slot, nowNs);
    this.#planned ??= termsWith(slot, this.measures, nowNs);
    return this.#planned;
  }

  /**
   * Whether everything that the plan changes for an order still fits what rows and messages can hold: what it has traded,
   * its balances, or its legs and the sums of legs. Its fees do where its notional does: no rate is above 100 %.
   */
  fits(slot: FillingOrder): boolean {
    // mutant: filled-notional-fits
    if (slot.filledNotional > AMOUNT18_MAX) return false;
    const { position } = slot;
    if (position === null) return this.owned(slot.base) <= AMOUNT18_MAX && this.owned(slot.usd) <= AMOUNT18_MAX;
    const { base, quote, entry } = this.legs(position);
    const { credits, borrows } = this.measures;
    return isWithin(base) && isWithin(quote) && isWithin(entry) && isWithin(credits) && isWithin(borrows);
  }

  /** Counts lots of an entry of a quote set. @returns how many the plan has of its set, side and price, with these. */
  addQuoted({ user, quoteSet, side, price }: OrderRow, lots: number): number {
    const key = `${user}/${quoteSet}/${side}/${price}`;
    this.#quoted ??= new Map();
    const sum = (this.#quoted.get(key) ?? 0) + lots;
    this.#quoted.set(key, sum);
    return sum;
  }

  /** Whether the fee account can hold the fees so far. */
  feesFit(): boolean {
    return (this.#feeBalance === null ? 0n : this.owned(this.#feeBalance)) + this.fees <= AMOUNT18_MAX;
  }

  /** Writes a fill into the plan: both parties and the fees. A balance may fall below zero here; it is never booked so. */
  add(fill: Fill): void {
    this.#addParty(fill, fill.maker);
    this.#addParty(fill, fill.taker);
    this.#planned = null;
  }

  /** The measures after the change of one party alone (CAP-01). */
  measuresAfter(fill: Fill, party: Party): Measures {
    const delta = baseDelta(fill, party);
    const { credits, borrows, collateral } = this.measures;
    const { position, base } = party.slot;
    if (position !== null) {
      const before = this.legs(position).base;
      const after = interestAfter(this.measures, before, before + delta);
      return { credits: after.credits, borrows: after.borrows, collateral };
    }
    if (base.collateral === null) return this.measures;
    return { credits, borrows, collateral: collateral + delta };
  }

  #addParty(fill: Fill, party: Party): void {
    this.measures = this.measuresAfter(fill, party);
    const { slot, fee } = party;
    const delta = baseDelta(fill, party);
    if (slot.position !== null) {
      slot.position.planned = afterFill(this.legs(slot.position), delta, fill.notional, fee);
    } else {
      slot.base.planned = (this.owned(slot.base) + delta) as Amount18;
      slot.usd.planned = (this.owned(slot.usd) + usdDelta(delta, fill.notional, fee)) as Amount18;
    }
    this.fees = add18(this.fees, fee);
    slot.filledQuantity += fill.input.quantity;
    slot.filledNotional = add18(slot.filledNotional, fill.notional);
  }
}

/** Makes the balances and positions of the plan true, and ends it. Orders and fees are the caller's. */
export function book(state: ClearingState, fills: readonly Fill[]): void {
  for (const { maker, taker } of fills) {
    bookSlots(state, maker.slot);
    bookSlots(state, taker.slot);
  }
}

/** The first order that names a slot books it. */
function bookSlots(state: ClearingState, slot: FillingOrder): void {
  const { position, base, usd } = slot;
  if (position !== null && position.planned !== null) setLegs(state, position, position.planned);
  if (base.planned !== null) setOwned(state, base, base.planned);
  if (usd.planned !== null) setOwned(state, usd, usd.planned);
  dropSlots(slot);
}

/** Ends the plan: nothing of it has happened. */
export function drop(fills: readonly Fill[]): void {
  for (const { maker, taker } of fills) {
    dropSlots(maker.slot);
    dropSlots(taker.slot);
  }
}

function dropSlots(slot: FillingOrder): void {
  slot.base.planned = null;
  slot.usd.planned = null;
  if (slot.position !== null) slot.position.planned = null;
}

function isWithin(amount: bigint): boolean {
  return magnitude(amount) <= AMOUNT18_MAX;
}
