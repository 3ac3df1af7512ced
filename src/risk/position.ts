/**
 * A margin position: the two legs of one asset in one sub-account (service spec 2.3, AMB-30), and what a fill makes of it.
 *
 *   base   signed asset leg: the exposure          quote   signed USD leg: the cash, fees included
 *   entry  what the open base was bought or sold for, at average cost and without fees; never negative (AMB-59)
 */
import { mulDivFloor } from '../core/arithmetic.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../core/units.ts';

export interface Legs {
  readonly base: Amount18;
  readonly quote: Amount18;
  readonly entry: Amount18;
}

export const NO_LEGS: Legs = { base: ZERO_18, quote: ZERO_18, entry: ZERO_18 };

export function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

/** Whether the base leg only shrinks: no flip, no growth (TIF-08, MRG-14). Flat to flat reduces nothing. */
export function reduces(base: bigint, delta: bigint): boolean {
  // mutant: crossing-trade
  return base < 0n === delta > 0n && base !== 0n && delta !== 0n && magnitude(delta) <= magnitude(base);
}

/**
 * What a fill moves in USD: on top of what a buy pays, out of what a sell gets (AMB-30).
 *
 * @param delta signed base of the fill, not 0. @param fee USD, negative for a rebate.
 */
export function usdDelta(delta: bigint, notional: bigint, fee: bigint): bigint {
  // mutant: margin-trade-fee
  return (delta > 0n ? -notional : notional) - fee;
}

/**
 * @param delta signed base of the fill, not 0. @param notional of the fill, not negative.
 * @param fee USD, negative for a rebate.
 */
export function afterFill(legs: Legs, delta: bigint, notional: Amount18, fee: Amount18): Legs {
  const base = (legs.base + delta) as Amount18;
  const quote = (legs.quote + usdDelta(delta, notional, fee)) as Amount18;
  return { base, quote, entry: entryAfter(legs, delta, notional) };
}

function entryAfter({ base, entry }: Legs, delta: bigint, notional: Amount18): Amount18 {
  const after = base + delta;
  const grows = base === 0n || base < 0n === delta < 0n;
  if (grows) return (entry + notional) as Amount18;
  if (after === 0n) return ZERO_18;
  // A smaller position keeps its share of the cost, a flipped one is what is left of the fill.
  const isFlipped = after < 0n !== base < 0n;
  return (
    isFlipped
      ? mulDivFloor(notional, magnitude(after), magnitude(delta))
      : mulDivFloor(entry, magnitude(after), magnitude(base))
  ) as Amount18;
}

/** Average price of the open base, floored; null when there is none. */
export function entryPrice({ base, entry }: Legs): Amount18 | null {
  return base === 0n ? null : (mulDivFloor(entry, ONE_18, magnitude(base)) as Amount18);
}

type PositionSide = 'long' | 'short' | 'closed';

/** A flat position with a quote rest is closed until it is folded (AMB-69). */
export function sideOf({ base }: Legs): PositionSide {
  return base === 0n ? 'closed' : base > 0n ? 'long' : 'short';
}

/** A position is there while a leg is not zero (AMB-69, AMB-72). */
export function isOpen({ base, quote }: { readonly base: bigint; readonly quote: bigint }): boolean {
  return base !== 0n || quote !== 0n;
}
