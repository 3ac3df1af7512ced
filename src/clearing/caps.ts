/**
 * Protocol caps (service spec 2.8, CAP-01 to CAP-10, AMB-54): of one asset, on the state after a trade or transfer.
 *
 *   measure               what raises it          cap in
 *   open interest         base legs               USD, at oracle and at mark
 *   spot-margin interest  base legs               asset units
 *   collateral            spot in margin accounts asset units
 *
 * A party is at fault when the trade leaves a measure above its cap and higher than before, and the party's own change
 * raises it. Equal to the cap is allowed.
 */
import { ONE_18 } from '../core/units.ts';
import type { AssetPrices } from '../risk/prices.ts';
import { type Interest, netInterest, openInterest, type RiskTerms } from '../risk/risk-terms.ts';

/** The measured sums of an asset. */
export interface Measures extends Interest {
  readonly collateral: bigint;
}

/** Before and after a trade, and after the change of one party alone. */
export interface Change {
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
