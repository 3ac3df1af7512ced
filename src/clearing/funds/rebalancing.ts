/**
 * Rebalancing (MON-03, DEP-16, WDR-14 to WDR-16): what a deposit or a withdrawal pays, or earns, by how it shifts the
 * units of an asset between chains from their targets. Exact: every amount is a fraction, rounded once, against the user.
 *
 *   u_c   what deposits brought to chain c less what withdrawals took; below 0 it counts as 0        U = Σ u_c
 *   F(u)  k · Σ_c (u_c − w_c·U)² / U, 0 for U = 0: the potential. Its slope is ±2.5 % at most, as k ≤ 0.0125 and Σ w_c = 1
 *
 *   curve   withdrawal   the largest of the differences of F at u, at u less all live requests, and at u less those of its chain;
 *                        0 at least
 *           deposit      a fee: the difference at u. A rebate: the smaller of those at u and at u less all live requests, of
 *                        the first without what is unpaid, and what the pool holds at most
 *   fixed   the rate as given, clamped to ±2.5 %, of a withdrawal 0 at least; a rebate is what the pool holds at most
 *
 * A fee of a withdrawal is fixed at its request and its units leave later: what the potential rose by without being paid
 * for is `unpaid` of the asset, and no rebate is paid for working that off. So `pool − F(u) + unpaid` never falls: a
 * history that ends where it began has taken at most what `unpaid` rose by (decision 0044).
 */

import { add18, mulDivCeil, smaller, subtract18 } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import { parseDecimal18 } from '../../core/decimal.ts';
import { type AssetId, type ChainId, compareAssetIds } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../core/units.ts';
import { balanceSlot, SPOT_ACCOUNT, setOwned, totalsOf } from '../balances.ts';
import { type Rebalancing, rebalancingOf } from '../registry/registry-assets.ts';
import type { AssetTotals, ClearingState } from '../state.ts';

/** The highest rate is one part in 40, 2.5 % (WDR-15). */
const PARTS_MIN = 40n;
/** The highest k, 0.0125 (MON-03): a larger one that was stored before counts as this. */
export const CURVE_K_MAX: bigint = ONE_18 / 80n;

/** Units of an asset by chain, 18 decimals, signed. */
export type ChainUnits = ReadonlyMap<string, bigint>;

/** Rates of an asset with 18 decimals. */
export type RebalancingRates =
  | { readonly mode: 'fixed'; readonly depositRate: bigint; readonly withdrawalRate: bigint }
  | Curve;

/** k with 18 decimals, and the targets by chain, which count in relation to their sum. */
interface Curve {
  readonly mode: 'curve';
  readonly k: bigint;
  readonly weights: ReadonlyMap<string, bigint>;
}

export function ratesOf(rebalancing: Rebalancing): RebalancingRates {
  const parse = (text: string): bigint => must(parseDecimal18(text), 'stored rates are decimals');
  if (rebalancing.mode === 'fixed') {
    const { deposit_rate: depositRate, withdrawal_rate: withdrawalRate } = rebalancing;
    return { mode: 'fixed', depositRate: parse(depositRate), withdrawalRate: parse(withdrawalRate) };
  }
  const weights = Object.entries(rebalancing.target_weights).map(([chain, text]) => [chain, parse(text)] as const);
  return { mode: 'curve', k: smaller(parse(rebalancing.k), CURVE_K_MAX), weights: new Map(weights) };
}

/** A fraction that is not rounded; the denominator is above 0. */
interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const NOTHING: Ratio = { numerator: 0n, denominator: 1n };

/** The potential, in 18 decimals. */
function potential({ k, weights }: Curve, units: ChainUnits): Ratio {
  let all = 0n;
  for (const amount of units.values()) if (amount > 0n) all += amount;
  let scale = 0n;
  for (const weight of weights.values()) scale += weight;
  if (all === 0n || scale === 0n) return NOTHING;
  let sum = 0n;
  for (const chain of new Set([...units.keys(), ...weights.keys()])) {
    const here = units.get(chain) ?? 0n;
    const distance = (here > 0n ? here : 0n) * scale - (weights.get(chain) ?? 0n) * all;
    sum += distance * distance;
  }
  return { numerator: k * sum, denominator: ONE_18 * scale * scale * all };
}

/** What the potential rises by when the units of a chain change, rounded up; negative where it falls. */
function rise(curve: Curve, units: ChainUnits, chain: string, change: bigint): bigint {
  const before = potential(curve, units);
  const after = potential(curve, new Map(units).set(chain, (units.get(chain) ?? 0n) + change));
  const numerator = after.numerator * before.denominator - before.numerator * after.denominator;
  return mulDivCeil(numerator, 1n, before.denominator * after.denominator);
}

/** What the curve is applied to: units of the chains, and what live requests will take of them. 18 decimals. */
export interface CurveUnits {
  readonly units: ChainUnits;
  readonly requested: ChainUnits;
}

function less({ units, requested }: CurveUnits, isTaken: (chain: string) => boolean): ChainUnits {
  const left = new Map(units);
  for (const [chain, amount] of requested) if (isTaken(chain)) left.set(chain, (left.get(chain) ?? 0n) - amount);
  return left;
}

function fixedFee(amount: bigint, rate: bigint): bigint {
  const parts = (rate < 0n ? -rate : rate) * PARTS_MIN;
  const [numerator, denominator] = parts <= ONE_18 ? [rate, ONE_18] : [rate < 0n ? -1n : 1n, PARTS_MIN];
  return mulDivCeil(amount, numerator, denominator);
}

/** Fee of a withdrawal from a chain: never negative, 2.5 % at most, rounded up. */
export function withdrawalFee(amount: Amount18, rates: RebalancingRates, chain: string, at: CurveUnits): Amount18 {
  let fee = 0n;
  if (rates.mode === 'fixed') fee = fixedFee(amount, rates.withdrawalRate);
  else {
    const states = [at.units, less(at, () => true), less(at, (other) => other === chain)];
    for (const units of states) {
      const difference = rise(rates, units, chain, -amount);
      if (difference > fee) fee = difference;
    }
  }
  return fee > 0n ? (fee as Amount18) : ZERO_18;
}

/** What bounds a rebate, 18 decimals. */
interface RebateBounds {
  /** What the pool of the asset holds. */
  readonly pool: bigint;
  /** What the potential rose by without being paid for. */
  readonly unpaid: bigint;
}

/** Fee of a deposit to a chain, rounded up, or its rebate as a negative amount, rounded down: 2.5 % at most. */
export function depositFee(
  amount: Amount18,
  rates: RebalancingRates,
  chain: string,
  at: CurveUnits,
  { pool, unpaid }: RebateBounds,
): Amount18 {
  let fee = 0n;
  if (rates.mode === 'fixed') fee = fixedFee(amount, rates.depositRate);
  else {
    fee = rise(rates, at.units, chain, amount);
    if (fee < 0n) {
      const withRequests = rise(
        rates,
        less(at, () => true),
        chain,
        amount,
      );
      // mutant: rebate-of-unpaid
      fee += smaller(unpaid, unpaidMax(rates, at.units));
      // mutant: rebate-at-requests
      if (withRequests > fee) fee = withRequests;
      if (fee > 0n) return ZERO_18;
    }
  }
  if (fee >= 0n) return fee as Amount18;
  // mutant: rebate-of-pool
  return -smaller(-fee, pool > 0n ? pool : 0n) as Amount18;
}

/** Nothing is unpaid beyond the potential itself: a change of k or of the targets moves it too. */
function unpaidMax(curve: Curve, units: ChainUnits): bigint {
  const { numerator, denominator } = potential(curve, units);
  return mulDivCeil(numerator, 1n, denominator);
}

// ---- of the ledger

function curveUnits(state: ClearingState, asset: AssetId): CurveUnits {
  return {
    units: state.netDeposits.get(asset) ?? new Map(),
    requested: state.withdrawals.requested(asset),
  };
}

export function withdrawalFeeOf(state: ClearingState, asset: AssetId, chainId: ChainId, amount: Amount18): Amount18 {
  return withdrawalFee(amount, ratesOf(rebalancingOf(state, asset)), chainId, curveUnits(state, asset));
}

export function depositFeeOf(state: ClearingState, asset: AssetId, chainId: ChainId, amount: Amount18): Amount18 {
  const { rebalancingPool: pool, rebalancingUnpaid: unpaid } = totalsOf(state, asset);
  const rates = ratesOf(rebalancingOf(state, asset));
  return depositFee(amount, rates, chainId, curveUnits(state, asset), { pool, unpaid });
}

/** What a deposit brought, or a payout took, and what was paid for it. */
interface FundsMove {
  readonly asset: AssetId;
  readonly chainId: ChainId;
  /** 18 decimals, negative for a payout. */
  readonly change: bigint;
  /** A fee; negative for a rebate, or a fee that returns. */
  readonly paid: bigint;
}

/** Books a deposit, a payout, or one that vanished: units of its chain, pool, and what the potential rose by unpaid. */
export function moveFunds(state: ClearingState, { asset, chainId, change, paid }: FundsMove): void {
  const totals = totalsOf(state, asset);
  const { units } = curveUnits(state, asset);
  const rates = ratesOf(rebalancingOf(state, asset));
  if (rates.mode === 'curve') {
    const before = smaller(totals.rebalancingUnpaid, unpaidMax(rates, units) as Amount18);
    const after = before + rise(rates, units, chainId, change) - paid;
    setUnpaid(state, totals, after > 0n ? (after as Amount18) : ZERO_18);
  }
  const chains = state.netDeposits.get(asset) ?? new Map<ChainId, Amount18>();
  chains.set(chainId, add18(chains.get(chainId) ?? ZERO_18, change as Amount18));
  state.netDeposits.set(asset, chains);
  state.dirty.netDeposits.add(`${asset}/${chainId}`);
  if (paid === 0n) return;
  totals.rebalancingPool = add18(totals.rebalancingPool, paid as Amount18);
  state.dirty.rebalancingPools.add(totals);
  state.touchedTotals.add(totals);
}

function setUnpaid(state: ClearingState, totals: AssetTotals, unpaid: Amount18): void {
  if (unpaid === totals.rebalancingUnpaid) return;
  totals.rebalancingUnpaid = unpaid;
  state.dirty.rebalancingPools.add(totals);
}

/** A pool that versions of before have taken below zero. */
interface ShortPool {
  readonly asset: AssetId;
  readonly missing: Amount18;
}

/** Pools below zero, which only data of before version 14 has (MON-03). */
function shortPools(state: ClearingState): readonly ShortPool[] {
  const short: ShortPool[] = [];
  for (const { asset, rebalancingPool } of state.totals.values()) {
    if (rebalancingPool < 0n) short.push({ asset, missing: subtract18(ZERO_18, rebalancingPool) });
  }
  return short.sort((a, b) => compareAssetIds(a.asset, b.asset));
}

/** Fills them from what the fee account owns, then from the capital of the backstop: part of a start (MON-03). */
export function fillShortPools(state: ClearingState): void {
  for (const { asset, missing } of shortPools(state)) {
    const totals = totalsOf(state, asset);
    const feeUser = state.users.get(state.settings.fee_account);
    const fees = feeUser === undefined ? null : balanceSlot(state, feeUser, SPOT_ACCOUNT, asset);
    const ofFees = fees === null || fees.owned <= 0n ? ZERO_18 : smaller(fees.owned, missing);
    state.outcomes?.cause(LEDGER_ENTRY.poolFill, asset);
    if (fees !== null && ofFees > 0n) setOwned(state, fees, subtract18(fees.owned, ofFees));
    totals.backstopCredits = subtract18(totals.backstopCredits, subtract18(missing, ofFees));
    totals.rebalancingPool = ZERO_18;
    state.dirty.totals.add(totals);
    state.dirty.rebalancingPools.add(totals);
    state.touchedTotals.add(totals);
  }
}

/** A curve that was stored before the bounds existed: its members that count differently from what is written (MON-03). */
interface OutdatedCurve {
  readonly asset: AssetId;
  readonly k: string;
  readonly isAboveMax: boolean;
  readonly hasOtherSum: boolean;
}

/** What a start reports. */
export interface OutdatedRebalancing {
  /** They are filled by this start. */
  readonly pools: readonly ShortPool[];
  readonly curves: readonly OutdatedCurve[];
}

export function outdatedRebalancing(state: ClearingState): OutdatedRebalancing {
  return { pools: shortPools(state), curves: outdatedCurves(state) };
}

function outdatedCurves(state: ClearingState): readonly OutdatedCurve[] {
  const found: OutdatedCurve[] = [];
  for (const asset of state.assets.keys()) {
    const rebalancing = rebalancingOf(state, asset);
    if (rebalancing.mode !== 'curve') continue;
    const rates = ratesOf(rebalancing) as Curve;
    const isAboveMax = must(parseDecimal18(rebalancing.k), 'stored rates are decimals') > CURVE_K_MAX;
    const hasOtherSum = [...rates.weights.values()].reduce((sum, weight) => sum + weight, 0n) !== ONE_18;
    if (isAboveMax || hasOtherSum) found.push({ asset, k: rebalancing.k, isAboveMax, hasOtherSum });
  }
  return found;
}
