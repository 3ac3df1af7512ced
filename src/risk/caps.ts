/**
 * Protocol caps (service spec 2.8, CAP-01 to CAP-10, AMB-54, AMB-112): of one asset, over all users.
 *
 *   measure               what raises it          cap in
 *   open interest         base legs               USD, at oracle and at mark: max(credits, borrows)
 *   spot-margin interest  base legs               asset units: |credits − borrows|
 *   collateral            spot in margin accounts asset units
 *
 * Beside them, what shorts have borrowed beyond what longs have is at most a fraction of what the vaults hold (MON-10): while it
 * is more after a trade, that trade opens or grows no short. The gateway, to which the other side of a trade is not known, refuses
 * where there is more already; a sale to a spot buyer that goes beyond it is found by clearing.
 *
 * A change breaks a cap when it leaves a measure above it and higher than before, and the own change of the party raises the
 * measure too. Equal to the cap is allowed.
 *
 * Clearing applies this to a fill: before and after it, and after the change of one party alone. The gateway applies it to
 * an order, over optimistic sums: the other side of its trades is not known, so all that the account's open orders of the
 * side may add is taken to add to this side alone. What only reduces a position adds nothing. Orders of other accounts that
 * rest are not counted: far from the market they would use up a cap for little money.
 */
import { larger } from '../core/arithmetic.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { ONE_18 } from '../core/units.ts';
import type { AssetPrices } from './prices.ts';
import type { RiskTerms } from './risk-terms.ts';

/** Sums of an asset's margin legs over all users (AMB-54): `borrows` is not negative. */
export interface Interest {
  readonly credits: bigint;
  readonly borrows: bigint;
}

/** The measured sums of an asset. */
export interface Measures extends Interest {
  /** The sum of spot balances in margin-type accounts, 10^-18. */
  readonly collateral: bigint;
}

/** The same sums, kept with each change of a leg. */
export interface InterestSums {
  credits: bigint;
  borrows: bigint;
}

/** A leg of one account goes from `before` to `after`. */
export function moveInterest(sums: InterestSums, before: bigint, after: bigint): void {
  if (before > 0n) sums.credits -= before;
  else sums.borrows += before;
  // mutant: open-interest-legs
  if (after > 0n) sums.credits += after;
  else sums.borrows -= after;
}

/** The sums of all legs after one of them went from `before` to `after`. */
export function interestAfter({ credits, borrows }: Interest, before: bigint, after: bigint): Interest {
  const sums = { credits, borrows };
  moveInterest(sums, before, after);
  return sums;
}

/** |credits − borrows| (CAP-05). */
export function netInterest({ credits, borrows }: Interest): bigint {
  return credits > borrows ? credits - borrows : borrows - credits;
}

/** max(credits, borrows) (CAP-03). */
function openInterest({ credits, borrows }: Interest): bigint {
  return larger(credits, borrows);
}

/** Whether shorts have borrowed more than they may. @param holdings units in the vaults, and those that a faucet gave. */
export function isOverUtilized(
  { maxUtilization }: Pick<RiskTerms, 'maxUtilization'>,
  { credits, borrows }: Interest,
  holdings: bigint,
): boolean {
  const borrowed = borrows - credits;
  // mutant: max-utilization
  return borrowed > 0n && borrowed * ONE_18 > maxUtilization * holdings;
}

/** Before and after a trade, and after the change of one party alone. */
interface Change {
  readonly before: Measures;
  readonly after: Measures;
  readonly own: Measures;
}

function isRaised(measure: (of: Measures) => bigint, { before, after, own }: Change): boolean {
  return measure(after) > measure(before) && measure(own) > measure(before);
}

function collateralOf({ collateral }: Measures): bigint {
  return collateral;
}

export function hasCap({ maxCollateral, maxOpenInterest, maxSpotInterest }: RiskTerms): boolean {
  return maxCollateral !== null || maxOpenInterest !== null || maxSpotInterest !== null;
}

/** Whether the party's change breaks a cap of the asset. */
export function breaksCap(risk: RiskTerms, prices: AssetPrices, change: Change): boolean {
  const { maxCollateral, maxOpenInterest, maxSpotInterest } = risk;
  const { after } = change;
  if (maxCollateral !== null && after.collateral > maxCollateral && isRaised(collateralOf, change)) return true;
  if (maxSpotInterest !== null && netInterest(after) > maxSpotInterest && isRaised(netInterest, change)) return true;
  if (maxOpenInterest === null) return false;
  const interest = openInterest(after);
  // mutant: open-interest-at-oracle
  const isAbove =
    interest * prices.oracle > maxOpenInterest * ONE_18 || interest * prices.mark > maxOpenInterest * ONE_18;
  return isAbove && isRaised(openInterest, change);
}

/** What open orders of a side may add in all: margin orders to the legs, spot buys to the collateral. */
interface Addition {
  readonly side: Side;
  readonly isSpot: boolean;
  /** 10^-18 of the asset. */
  readonly added: bigint;
}

/** The measures with all that open orders may add; a spot sell adds nothing. */
function measuresWith(measures: Measures, { side, isSpot, added }: Addition): Measures {
  const { credits, borrows, collateral } = measures;
  // mutant: collateral-cap-entry
  if (isSpot) return side === SIDE.buy ? { credits, borrows, collateral: collateral + added } : measures;
  // mutant: protocol-cap-entry
  return side === SIDE.buy
    ? { credits: credits + added, borrows, collateral }
    : { credits, borrows: borrows + added, collateral };
}

/** Whether what open orders may add breaks a cap of the asset. */
export function additionBreaksCap(risk: RiskTerms, prices: AssetPrices, before: Measures, addition: Addition): boolean {
  if (!hasCap(risk)) return false;
  const after = measuresWith(before, addition);
  return breaksCap(risk, prices, { before, after, own: after });
}
