/**
 * The risk row of an asset as margin reads it (service spec 2.8, wire.md 7.3, AMB-53, AMB-140): integers instead of the
 * row's texts, and caps that can be absent.
 *
 * Not here: whether a row is valid (clearing, when it is put).
 */

import { parseDecimal18 } from '../core/decimal.ts';
import { USD } from '../core/ids.ts';
import { MARK_BAND_AGE_NS } from '../core/limits.ts';
import { type Amount18, ONE_18 } from '../core/units.ts';
import { type Interest, netInterest } from './caps.ts';
import type { MarkRule } from './prices.ts';

/** The members of a public risk row that margin needs; amounts are integer texts in 18 decimals. */
export interface RiskRow {
  readonly collateral_factor: number;
  readonly liability_factor: number;
  readonly max_collateral: string;
  readonly max_total_open_interest_notional: string;
  readonly max_spot_open_interest: string;
  readonly max_utilization: string;
  readonly isolated_only: boolean;
  readonly initial_margin_clamps: readonly number[];
  readonly initial_margin_factors: readonly number[];
  readonly min_sub_account_balance: string;
}

/** A factor of 1 in 1e-6. */
export const FACTOR_ONE = 1_000_000n;
/** Whole percents of a liability weight of 1. */
const PERCENT_ONE = 100n;
const NO_CAP = (1n << 256n) - 1n;
/** A registry contract cannot hold 1000000, so this means exactly 1 (AMB-53). */
const NEARLY_ONE = 999_999;

export interface RiskTerms {
  /** CF in percent, 0 … 100. */
  readonly collateralFactor: bigint;
  /** 2 − LF in percent, 100 … 200. */
  readonly liabilityWeight: bigint;
  /** 1e-6, ascending from 0; one factor (1e-6) a clamp, not ascending. */
  readonly clamps: readonly bigint[];
  readonly factors: readonly bigint[];
  /** Asset units; null is no cap, 0 nothing allowed. */
  readonly maxCollateral: Amount18 | null;
  readonly maxSpotInterest: Amount18 | null;
  /** USD. */
  readonly maxOpenInterest: Amount18 | null;
  /** Fraction of what the vaults hold that shorts may have borrowed beyond what longs have, 18 decimals (MON-10). */
  readonly maxUtilization: bigint;
  readonly isIsolatedOnly: boolean;
  /** USD, 0 for none. */
  readonly minSubAccountBalance: Amount18;
  readonly markRule: MarkRule;
}

/** What binds the mark of an asset beside its row (operator-api.md 4.1, 4.10, MON-06). */
interface MarkTerms {
  /** A fraction as a decimal; null: as the factors have it; 'none': no band. */
  readonly markBand: string | null;
  readonly bandAgeNs: bigint;
}

export const DEFAULT_MARK_TERMS: MarkTerms = { markBand: null, bandAgeNs: MARK_BAND_AGE_NS };

/**
 * The widest band at which no account at maintenance has negative equity at the oracle (MON-06): min(1/CF − 1,
 * 1 − 1/(2 − LF)), floored at 18 decimals. CF 0 bounds nothing: such a credit counts nothing.
 */
export function markBandMax({
  collateralFactor,
  liabilityWeight,
}: Pick<RiskTerms, 'collateralFactor' | 'liabilityWeight'>): bigint {
  const ofBorrows = ((liabilityWeight - PERCENT_ONE) * ONE_18) / liabilityWeight;
  if (collateralFactor === 0n) return ofBorrows;
  const ofCredits = ((PERCENT_ONE - collateralFactor) * ONE_18) / collateralFactor;
  // mutant: mark-band-max
  return ofCredits < ofBorrows ? ofCredits : ofBorrows;
}

/** @param terms.markBand valid for the factors when it was stored. */
function markRuleOf(
  factors: Pick<RiskTerms, 'collateralFactor' | 'liabilityWeight'>,
  { markBand, bandAgeNs }: MarkTerms,
): MarkRule {
  if (markBand === 'none') return { band: null, bandAgeNs };
  const given = markBand === null ? null : parseDecimal18(markBand);
  return { band: given ?? markBandMax(factors), bandAgeNs };
}

function capOf(text: string): Amount18 | null {
  const cap = BigInt(text);
  return cap === NO_CAP ? null : (cap as Amount18);
}

/** @param mark as configured; its defaults if left out. */
export function riskTerms(row: RiskRow, mark: MarkTerms = DEFAULT_MARK_TERMS): RiskTerms {
  const factors = {
    collateralFactor: BigInt(row.collateral_factor),
    liabilityWeight: 2n * PERCENT_ONE - BigInt(row.liability_factor),
  };
  return {
    ...factors,
    markRule: markRuleOf(factors, mark),
    clamps: row.initial_margin_clamps.map(BigInt),
    factors: row.initial_margin_factors.map((factor) => (factor === NEARLY_ONE ? FACTOR_ONE : BigInt(factor))),
    maxCollateral: capOf(row.max_collateral),
    maxSpotInterest: capOf(row.max_spot_open_interest),
    maxOpenInterest: capOf(row.max_total_open_interest_notional),
    maxUtilization: BigInt(row.max_utilization),
    isIsolatedOnly: row.isolated_only,
    minSubAccountBalance: BigInt(row.min_sub_account_balance) as Amount18,
  };
}

/** USD, and an asset that has no row: a credit of it is no collateral (CF 0), a borrow counts once (LF 1). */
export const USD_TERMS: RiskTerms = plainTerms(PERCENT_ONE);
export const NO_ROW_TERMS: RiskTerms = plainTerms(0n);

function plainTerms(collateralFactor: bigint, mark: MarkTerms = DEFAULT_MARK_TERMS): RiskTerms {
  const factors = { collateralFactor, liabilityWeight: PERCENT_ONE };
  return {
    ...factors,
    markRule: markRuleOf(factors, mark),
    clamps: [0n],
    factors: [FACTOR_ONE],
    maxCollateral: null,
    maxSpotInterest: null,
    maxOpenInterest: null,
    maxUtilization: ONE_18,
    isIsolatedOnly: false,
    minSubAccountBalance: 0n as Amount18,
  };
}

/** @param row null for an asset without one. */
export function termsOfRow(asset: string, row: RiskRow | null, mark: MarkTerms = DEFAULT_MARK_TERMS): RiskTerms {
  if (asset === USD) return row === null ? USD_TERMS : { ...riskTerms(row), ...FIXED_FOR_USD };
  return row === null ? plainTerms(0n, mark) : riskTerms(row, mark);
}

/** The service spec fixes these (MRG-02). */
const FIXED_FOR_USD = {
  collateralFactor: USD_TERMS.collateralFactor,
  liabilityWeight: USD_TERMS.liabilityWeight,
  clamps: USD_TERMS.clamps,
  factors: USD_TERMS.factors,
} as const;

/** The initial-margin factor in 1e-6: that of the last clamp that the utilization of the cap has reached (AMB-53). */
export function imFactor(terms: RiskTerms, interest: Interest): bigint {
  return terms.factors[stepOf(terms, interest)] ?? FACTOR_ONE;
}

/** The factor of the step below the one in force, which more interest would bring; without a cap there is none (MON-07). */
export function nextImFactor(terms: RiskTerms, interest: Interest): bigint {
  const { factors, maxSpotInterest } = terms;
  const step = stepOf(terms, interest);
  // mutant: next-margin-factor
  return (maxSpotInterest === null ? undefined : factors[step + 1]) ?? factors[step] ?? FACTOR_ONE;
}

/** Index of the step in force. */
function stepOf({ clamps, factors, maxSpotInterest }: RiskTerms, interest: Interest): number {
  if (maxSpotInterest === null) return 0;
  const used = netInterest(interest) * FACTOR_ONE;
  let step = 0;
  for (let at = 1; at < clamps.length; at += 1) {
    // mutant: margin-factor-step
    if ((clamps[at] ?? 0n) * maxSpotInterest > used) break;
    if (factors[at] !== undefined) step = at;
  }
  return step;
}

/** The floor of the factor: what a broken asset has (AMB-44). */
export function imFloor({ factors }: RiskTerms): bigint {
  return factors.at(-1) ?? FACTOR_ONE;
}
