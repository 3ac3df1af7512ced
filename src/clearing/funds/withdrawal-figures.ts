/**
 * Figures of withdrawals, exact: payout, fee, usage and delay (service spec 3.4, WDR-04, WDR-14 to WDR-23, AMB-75 to AMB-78).
 *
 *   u = liabilities / (holdings + liabilities)      F(u) = u / max(1 − u, cap_floor)      usage += F(after) − F(before)
 */
import { mulDivCeil, mulDivFloor, powerOfTen } from '../../core/arithmetic.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../core/units.ts';
import type { Rebalancing } from '../registry/registry-assets.ts';
import type { WithdrawalDelay } from '../registry/registry-config.ts';

/** Highest fee and rebate: 2.5 % (WDR-15, AMB-75). */
const RATE_MAX: Amount18 = (ONE_18 / 40n) as Amount18;
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

/** Vault units of an asset: on the chain of the withdrawal, and on all of them. 18 decimals. */
export interface VaultUnits {
  readonly onChain: bigint;
  readonly all: bigint;
}

/**
 * Fee of a withdrawal at the rate in force: never negative, 2.5 % at most, rounded up (WDR-14 to WDR-16, AMB-75).
 *
 * @param weight target of this chain, 18 decimals; for the curve only.
 */
export function withdrawalFee(amount: Amount18, rebalancing: RebalancingRates, units: VaultUnits): Amount18 {
  const rate = withdrawalRate(amount, rebalancing, units);
  return mulDivCeil(amount, rate, ONE_18) as Amount18;
}

/** Rates of an asset with 18 decimals. */
export type RebalancingRates =
  | { readonly mode: 'fixed'; readonly withdrawalRate: bigint }
  | { readonly mode: 'curve'; readonly k: bigint; readonly target: bigint };

/** @param chainId whose target weight counts. @param parse a decimal text with 18 decimals. */
export function ratesOf(rebalancing: Rebalancing, chainId: string, parse: (text: string) => bigint): RebalancingRates {
  if (rebalancing.mode === 'fixed') return { mode: 'fixed', withdrawalRate: parse(rebalancing.withdrawal_rate) };
  return {
    mode: 'curve',
    k: parse(rebalancing.k),
    target: parse(rebalancing.target_weights[chainId] ?? '0'),
  };
}

function withdrawalRate(amount: Amount18, rates: RebalancingRates, { onChain, all }: VaultUnits): bigint {
  if (rates.mode === 'fixed') return clamped(rates.withdrawalRate);
  const before = distance(onChain, all, rates.target);
  const after = distance(onChain - amount, all - amount, rates.target);
  return clamped(((after - before) * rates.k) / ONE_18);
}

/** |share − target| with 18 decimals; of nothing the share is 0. */
function distance(part: bigint, all: bigint, target: bigint): bigint {
  const share = all > 0n && part > 0n ? (part * ONE_18) / all : 0n;
  return share > target ? share - target : target - share;
}

function clamped(rate: bigint): bigint {
  if (rate < 0n) return 0n;
  return rate > RATE_MAX ? RATE_MAX : rate;
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
