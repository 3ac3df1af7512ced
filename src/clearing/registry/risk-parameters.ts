/**
 * Risk parameters of an asset: the 21 keys of wire.md 7.3, their defaults (operator-api.md 4.2) and the
 * relations between them (wire.md 12.5). Stored and shown; margin reads them in its own time.
 *
 * Not here: what each member may be (src/operator/registry-bodies.ts).
 *
 * Amounts are integer strings in 18 decimals. No cap is 2^256−1 in the public row and null for the operator (AMB-140).
 */
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';

/** The public row, in the key order of wire.md 7.3. */
export interface RiskParameters {
  readonly collateral_factor: number;
  readonly liability_factor: number;
  readonly max_collateral: string;
  readonly max_total_open_interest_notional: string;
  readonly max_spot_open_interest: string;
  readonly max_utilization: string;
  readonly isolated_only: boolean;
  readonly initial_margin_clamps: readonly number[];
  readonly initial_margin_factors: readonly number[];
  readonly max_funding_rate: number;
  readonly max_utilization_rate: number;
  readonly utilization_kinks: readonly number[];
  readonly rate_at_kinks: readonly number[];
  readonly quote_utilization_kinks: readonly number[];
  readonly quote_rate_at_kinks: readonly number[];
  readonly skew_factor: number;
  readonly base_funding_rate: number;
  readonly skew_cliff: number;
  readonly premium_clamp: number;
  readonly buffer_multiplier: number;
  readonly min_sub_account_balance: string;
}

/** 2^256−1: no cap. */
export const NO_CAP: bigint = (1n << 256n) - 1n;
export const MILLION = 1_000_000;

export const DEFAULT_RISK: RiskParameters = {
  collateral_factor: 0,
  liability_factor: 100,
  max_collateral: NO_CAP.toString(),
  max_total_open_interest_notional: NO_CAP.toString(),
  max_spot_open_interest: NO_CAP.toString(),
  max_utilization: '1000000000000000000',
  isolated_only: false,
  initial_margin_clamps: [0],
  initial_margin_factors: [MILLION],
  max_funding_rate: 0,
  max_utilization_rate: 0,
  utilization_kinks: [0, MILLION],
  rate_at_kinks: [0, 0],
  quote_utilization_kinks: [0, MILLION],
  quote_rate_at_kinks: [0, 0],
  skew_factor: 0,
  base_funding_rate: 0,
  skew_cliff: 0,
  premium_clamp: 0,
  buffer_multiplier: MILLION,
  min_sub_account_balance: '0',
};

/** USD: CF = LF = 1, factor 1 (service spec 2.8). */
export const USD_RISK: RiskParameters = { ...DEFAULT_RISK, collateral_factor: 100 };

/**
 * The row with the given members changed. Each member is valid by itself; here are the relations between them (wire.md
 * 12.5); factors may reach 1000000.
 *
 * @param now what members left out keep: the defaults for a PUT, the row for a PATCH.
 * @returns INVALID_REQUEST with the member at fault.
 */
export function changedRisk(now: RiskParameters, change: Partial<RiskParameters>): Outcome<RiskParameters> {
  const row: RiskParameters = { ...now, ...change };
  const fault =
    kinksFault('utilization_kinks', row.utilization_kinks, 'rate_at_kinks', row.rate_at_kinks) ??
    kinksFault(
      'quote_utilization_kinks',
      row.quote_utilization_kinks,
      'quote_rate_at_kinks',
      row.quote_rate_at_kinks,
    ) ??
    clampsFault(row);
  return fault === null ? accepted(row) : rejected(fault);
}

function clampsFault({
  initial_margin_clamps: clamps,
  initial_margin_factors: factors,
}: RiskParameters): Reject | null {
  if (clamps[0] !== 0 || !isNonDecreasing(clamps)) {
    return reject('INVALID_REQUEST', 'clamps start at 0 and do not decrease', 'initial_margin_clamps');
  }
  if (factors.length !== clamps.length || !isNonDecreasing([...factors].reverse())) {
    return reject('INVALID_REQUEST', 'one factor a clamp, and they do not increase', 'initial_margin_factors');
  }
  return null;
}

function kinksFault(
  kinksName: string,
  kinks: readonly number[],
  ratesName: string,
  rates: readonly number[],
): Reject | null {
  if (kinks[0] !== 0 || kinks.at(-1) !== MILLION || !isNonDecreasing(kinks)) {
    return reject('INVALID_REQUEST', 'kinks start at 0, do not decrease and end at 1000000', kinksName);
  }
  if (rates.length !== kinks.length || !isNonDecreasing(rates)) {
    return reject('INVALID_REQUEST', 'one rate a kink, and they do not decrease', ratesName);
  }
  return null;
}

function isNonDecreasing(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value >= (values[index - 1] ?? value));
}

/** Whether USD would keep the factors that the service spec fixes for it. */
export function keepsUsdFixed(row: RiskParameters): boolean {
  return (
    row.collateral_factor === 100 &&
    row.liability_factor === 100 &&
    row.initial_margin_factors.every((factor) => factor === MILLION)
  );
}

/** Reads a stored row back; what is not stored has its default. */
export function parseRisk(json: string): RiskParameters {
  return { ...DEFAULT_RISK, ...(JSON.parse(json) as Partial<RiskParameters>) };
}

/** The row as the operator API shows it: null where there is no cap. */
export function riskView(row: RiskParameters): Readonly<Record<string, unknown>> {
  const orNull = (text: string): string | null => (text === NO_CAP.toString() ? null : text);
  return {
    ...row,
    max_collateral: orNull(row.max_collateral),
    max_total_open_interest_notional: orNull(row.max_total_open_interest_notional),
    max_spot_open_interest: orNull(row.max_spot_open_interest),
  };
}
