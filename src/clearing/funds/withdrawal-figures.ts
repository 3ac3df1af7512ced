/**
 * Figures of withdrawals, exact: payout, usage and delay (service spec 3.4, WDR-04, WDR-17 to WDR-23, AMB-77, AMB-78).
 *
 *   u = liabilities / (holdings + liabilities)      F(u) = u / max(1 − u, cap_floor)      usage += F(after) − F(before)
 */
import { mulDivCeil, mulDivFloor, powerOfTen } from '../../core/arithmetic.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../core/units.ts';
import type { WithdrawalDelay } from '../registry/registry-config.ts';

/** Fractions of delay parameters are in 1e-6. */
const MILLIONTHS = 1_000_000n;

/** What a vault pays for an amount of 18 decimals, in base units (AMT-07). */
export function payoutOf(amount: Amount18, decimals: number): bigint {
  return mulDivFloor(amount, powerOfTen(decimals), ONE_18);
}

/** What a payout is worth in the ledger, rounded up (wire.md 2.2). */
export function payoutValue(baseUnits: bigint, decimals: number): Amount18 {
  return mulDivCeil(baseUnits, ONE_18, powerOfTen(decimals)) as Amount18;
}

/** A fraction that is not rounded. */
interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

function capacityUse(holdings: bigint, liabilities: bigint, capFloor: number): Ratio {
  if (liabilities <= 0n) return { numerator: 0n, denominator: 1n };
  const held = holdings > 0n ? holdings : 0n;
  const all = held + liabilities;
  const floor = BigInt(capFloor);
  // 1 − u = held / all; at the floor F = u / cap_floor.
  if (held > 0n && held * MILLIONTHS >= floor * all) return { numerator: liabilities, denominator: held };
  return { numerator: liabilities * MILLIONTHS, denominator: all * (floor > 0n ? floor : 1n) };
}

/** What usage changes by when holdings change, 18 decimals, truncated (WDR-17 to WDR-19, EX-11). */
export function usageChange(
  holdings: { readonly before: bigint; readonly after: bigint },
  liabilities: bigint,
  capFloor: number,
): bigint {
  const before = capacityUse(holdings.before, liabilities, capFloor);
  const after = capacityUse(holdings.after, liabilities, capFloor);
  const difference = after.numerator * before.denominator - before.numerator * after.denominator;
  return (difference * ONE_18) / (before.denominator * after.denominator);
}

/** Usage never falls below 0 (WDR-20). */
export function usageAfter(usage: Amount18, change: bigint): Amount18 {
  return usage + change > 0n ? ((usage + change) as Amount18) : ZERO_18;
}

/** Seconds that a withdrawal waits: the tier of its normalized usage, within the bounds (WDR-04, AMB-77). */
export function delaySeconds(usage: Amount18, parameters: WithdrawalDelay): number {
  const { delay_clamps, delay_values, cap_floor, min_delay, max_delay } = parameters;
  const scaled = usage * BigInt(cap_floor);
  // Normalized usage is 1 at most.
  const normalized = scaled > MILLIONTHS * ONE_18 ? MILLIONTHS * ONE_18 : scaled;
  let delay = 0;
  for (const [at, clamp] of delay_clamps.entries()) {
    if (normalized >= BigInt(clamp) * ONE_18) delay = delay_values[at] ?? delay;
  }
  return Math.min(Math.max(delay, min_delay), max_delay);
}
