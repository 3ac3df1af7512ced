/**
 * Protocol caps as pre-flight sees them (CAP-01 to CAP-10, AMB-54, AMB-112): of one asset, on what all users have with
 * every fill on its way, and with all that an account's own open orders of a side would add.
 *
 *   measure               as it would be                                    cap in
 *   open interest         max(credits, borrows)                             USD, at oracle and at mark
 *   spot-margin interest  |credits - borrows|                               asset units
 *   collateral            spot balances of margin-type accounts             asset units
 *
 * A spot buy of a margin-type account adds to the collateral, a spot sell takes from it. A margin buy adds to the credits and a sell to the borrows what exceeds the account's position; what only reduces adds nothing
 * and is always taken. An order is refused where what it adds leaves a measure above its cap and higher than it is now. The
 * other side of its trades is not known, so they are taken to add to this one alone. Orders of other accounts that rest are
 * not counted: far from the market they would use up a cap for little money. Clearing decides for good when an order fills.
 *
 * Not here: transfers, which clearing alone checks; which lots exceed a position (pressure-lane.ts); the sum of collateral
 * (holds.ts).
 */

import { SIDE, type Side } from '../../core/order-terms.ts';
import { ONE_18 } from '../../core/units.ts';
import type { AssetTerms } from '../../risk/asset-terms.ts';
import { type Interest, netInterest, openInterest, type RiskTerms } from '../../risk/risk-terms.ts';

/** Optimistic sums of the positive and the negative base legs of an asset over all users. Changed only by accounts. */
export interface OpenLegs {
  credits: bigint;
  borrows: bigint;
}

/** Optimistic sum of the spot balances of an asset in margin-type accounts, 10^-18. Changed only by `Holds`. */
export interface CollateralSum {
  amount: bigint;
}

/** A base leg of one account has changed. */
export function moveLegs(legs: OpenLegs, before: bigint, after: bigint): void {
  if (before > 0n) legs.credits -= before;
  else legs.borrows += before;
  if (after > 0n) legs.credits += after;
  else legs.borrows -= after;
}

/** @param added base that open orders of the side may add in all, 10^-18. */
export function exceedsCap(legs: Interest, side: Side, added: bigint, { risk, prices }: AssetTerms): boolean {
  const { maxOpenInterest, maxSpotInterest } = risk;
  if (maxOpenInterest === null && maxSpotInterest === null) return false;
  const { credits, borrows } = legs;
  // mutant: protocol-cap-entry
  const after = side === SIDE.buy ? { credits: credits + added, borrows } : { credits, borrows: borrows + added };
  const net = netInterest(after);
  if (maxSpotInterest !== null && net > maxSpotInterest && net > netInterest(legs)) return true;
  if (maxOpenInterest === null) return false;
  const open = openInterest(after);
  const most = maxOpenInterest * ONE_18;
  return open > openInterest(legs) && (open * prices.oracle > most || open * prices.mark > most);
}

/** @param added base that the account's open spot buys may add in all, 10^-18. */
export function exceedsCollateralCap(collateral: bigint, added: bigint, { maxCollateral }: RiskTerms): boolean {
  // mutant: collateral-cap-entry
  return maxCollateral !== null && collateral + added > maxCollateral;
}
