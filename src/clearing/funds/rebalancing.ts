/**
 * Rebalancing (AMB-75, DEP-16, WDR-14 to WDR-16): what a deposit or a withdrawal pays, or earns, by how it shifts the vault of
 * its chain from its target weight. Exact: a rate is a fraction, and the amount is rounded once.
 *
 *   fixed   the rate as given        curve   rate = k · (|w_after − w*| − |w_before − w*|)
 *   both    clamped to ±2.5 %; of a withdrawal it is 0 at least
 */
import { mulDivCeil, mulDivFloor } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import { parseDecimal18 } from '../../core/decimal.ts';
import type { AssetId, ChainId } from '../../core/ids.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../core/units.ts';
import { type Rebalancing, rebalancingOf, tokenKey } from '../registry/registry-assets.ts';
import type { ClearingState } from '../state.ts';
import { payoutValue } from './withdrawal-figures.ts';

/** The highest rate is one part in 40, 2.5 % (WDR-15, AMB-75). */
const PARTS_MIN = 40n;

/** Vault units of an asset: on the chain in question, and on all of them. 18 decimals. */
export interface VaultUnits {
  readonly onChain: bigint;
  readonly all: bigint;
}

/** Rates of an asset with 18 decimals. */
export type RebalancingRates =
  | { readonly mode: 'fixed'; readonly depositRate: bigint; readonly withdrawalRate: bigint }
  | { readonly mode: 'curve'; readonly k: bigint; readonly target: bigint };

/** @param chainId its target weight is the one that counts. */
export function ratesOf(rebalancing: Rebalancing, chainId: string): RebalancingRates {
  const parse = (text: string): bigint => must(parseDecimal18(text), 'stored rates are decimals');
  if (rebalancing.mode === 'fixed') {
    const { deposit_rate: depositRate, withdrawal_rate: withdrawalRate } = rebalancing;
    return { mode: 'fixed', depositRate: parse(depositRate), withdrawalRate: parse(withdrawalRate) };
  }
  return { mode: 'curve', k: parse(rebalancing.k), target: parse(rebalancing.target_weights[chainId] ?? '0') };
}

/** A fraction that is not rounded; the denominator is above 0. */
interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** |share − target|; of nothing the share is 0. */
function distance({ onChain, all }: VaultUnits, target: bigint): Ratio {
  const [part, whole] = all > 0n && onChain > 0n ? [onChain, all] : [0n, 1n];
  const difference = part * ONE_18 - target * whole;
  return { numerator: difference < 0n ? -difference : difference, denominator: whole * ONE_18 };
}

/** @param change of the units on the chain. */
function curveRate({ k, target }: { k: bigint; target: bigint }, units: VaultUnits, change: bigint): Ratio {
  const before = distance(units, target);
  const after = distance({ onChain: units.onChain + change, all: units.all + change }, target);
  const numerator = k * (after.numerator * before.denominator - before.numerator * after.denominator);
  return { numerator, denominator: ONE_18 * after.denominator * before.denominator };
}

function clamped({ numerator, denominator }: Ratio): Ratio {
  const parts = (numerator < 0n ? -numerator : numerator) * PARTS_MIN;
  if (parts <= denominator) return { numerator, denominator };
  return { numerator: numerator < 0n ? -1n : 1n, denominator: PARTS_MIN };
}

/** Fee of a withdrawal: never negative, 2.5 % at most, rounded up. */
export function withdrawalFee(amount: Amount18, rates: RebalancingRates, units: VaultUnits): Amount18 {
  const rate =
    rates.mode === 'fixed'
      ? { numerator: rates.withdrawalRate, denominator: ONE_18 }
      : curveRate(rates, units, -amount);
  const { numerator, denominator } = clamped(rate);
  return numerator <= 0n ? ZERO_18 : (mulDivCeil(amount, numerator, denominator) as Amount18);
}

/** Fee of a deposit, rounded up, or its rebate as a negative amount, rounded down: 2.5 % at most. */
export function depositFee(amount: Amount18, rates: RebalancingRates, units: VaultUnits): Amount18 {
  const rate =
    rates.mode === 'fixed' ? { numerator: rates.depositRate, denominator: ONE_18 } : curveRate(rates, units, amount);
  const { numerator, denominator } = clamped(rate);
  if (numerator >= 0n) return mulDivCeil(amount, numerator, denominator) as Amount18;
  return -mulDivFloor(amount, -numerator, denominator) as Amount18;
}

/** Units of the asset's tokens in their vaults, isolated ones included: weights are of what a vault holds. */
export function vaultUnitsOf(state: ClearingState, asset: AssetId, chainId: ChainId): VaultUnits {
  let onChain = 0n;
  let all = 0n;
  for (const { token, chainId: chain, decimals } of state.assets.get(asset)?.tokens ?? []) {
    const held = payoutValue(state.vaultTokens.get(tokenKey(token, chain))?.baseUnits ?? 0n, decimals);
    all += held;
    if (chain === chainId) onChain += held;
  }
  return { onChain, all };
}

export function withdrawalFeeOf(state: ClearingState, asset: AssetId, chainId: ChainId, amount: Amount18): Amount18 {
  return withdrawalFee(amount, ratesOf(rebalancingOf(state, asset), chainId), vaultUnitsOf(state, asset, chainId));
}

export function depositFeeOf(state: ClearingState, asset: AssetId, chainId: ChainId, amount: Amount18): Amount18 {
  return depositFee(amount, ratesOf(rebalancingOf(state, asset), chainId), vaultUnitsOf(state, asset, chainId));
}
