/**
 * Risk parameters of an asset: the 21 keys of wire.md 7.3, their defaults (operator-api.md 4.2) and their validation
 * (wire.md 12.5). Stored and shown; margin reads them in its own time.
 *
 * Amounts are integer strings in 18 decimals. No cap is 2^256−1 in the public row and null for the operator (AMB-140).
 */
import { assert } from '../../core/assert.ts';
import { accepted, type Outcome } from '../../core/outcome.ts';
import { BodyReader, type Bounds } from './body-reader.ts';

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
const MILLION = 1_000_000;

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

const PERCENT: Bounds = { min: 0, max: 100 };
const FRACTION: Bounds = { min: 0, max: MILLION };
const RATE: Bounds = { min: 0, max: 1_142 };
const MAGNITUDE: Bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
const SIGNED: Bounds = { min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
const BUFFER: Bounds = { min: MILLION, max: 2 * MILLION };
const CAP = { min: 0n, max: NO_CAP };
const ONE_IN_18_DECIMALS = { min: 0n, max: 10n ** 18n };

function cap(reader: BodyReader, name: keyof RiskParameters & string, current: string): string {
  if (!reader.has(name)) return current;
  return (reader.integerTextOrNull(name, CAP, NO_CAP) ?? NO_CAP).toString();
}

/**
 * @param current what members left out keep: the defaults for a PUT, the row for a PATCH.
 * @returns INVALID_REQUEST with the member at fault.
 */
export function readRiskParameters(body: unknown, current: RiskParameters): Outcome<RiskParameters> {
  const reader = new BodyReader(body, Object.keys(DEFAULT_RISK));
  const row: RiskParameters = {
    collateral_factor: reader.integer('collateral_factor', PERCENT, current.collateral_factor),
    liability_factor: reader.integer('liability_factor', PERCENT, current.liability_factor),
    max_collateral: cap(reader, 'max_collateral', current.max_collateral),
    max_total_open_interest_notional: cap(
      reader,
      'max_total_open_interest_notional',
      current.max_total_open_interest_notional,
    ),
    max_spot_open_interest: cap(reader, 'max_spot_open_interest', current.max_spot_open_interest),
    max_utilization: reader
      .integerText('max_utilization', ONE_IN_18_DECIMALS, BigInt(current.max_utilization))
      .toString(),
    isolated_only: reader.flag('isolated_only', current.isolated_only),
    initial_margin_clamps: reader.integers('initial_margin_clamps', FRACTION, current.initial_margin_clamps),
    initial_margin_factors: reader.integers('initial_margin_factors', FRACTION, current.initial_margin_factors),
    max_funding_rate: reader.integer('max_funding_rate', RATE, current.max_funding_rate),
    max_utilization_rate: reader.integer('max_utilization_rate', RATE, current.max_utilization_rate),
    utilization_kinks: reader.integers('utilization_kinks', FRACTION, current.utilization_kinks),
    rate_at_kinks: reader.integers('rate_at_kinks', MAGNITUDE, current.rate_at_kinks),
    quote_utilization_kinks: reader.integers('quote_utilization_kinks', FRACTION, current.quote_utilization_kinks),
    quote_rate_at_kinks: reader.integers('quote_rate_at_kinks', MAGNITUDE, current.quote_rate_at_kinks),
    skew_factor: reader.integer('skew_factor', MAGNITUDE, current.skew_factor),
    base_funding_rate: reader.integer('base_funding_rate', SIGNED, current.base_funding_rate),
    skew_cliff: reader.integer('skew_cliff', MAGNITUDE, current.skew_cliff),
    premium_clamp: reader.integer('premium_clamp', MAGNITUDE, current.premium_clamp),
    buffer_multiplier: reader.integer('buffer_multiplier', BUFFER, current.buffer_multiplier),
    min_sub_account_balance: reader
      .integerText('min_sub_account_balance', CAP, BigInt(current.min_sub_account_balance))
      .toString(),
  };
  checkCurves(reader, row);
  return reader.failure ?? accepted(row);
}

/** The relations between the lists (wire.md 12.5); factors may reach 1000000. */
function checkCurves(reader: BodyReader, row: RiskParameters): void {
  checkKinks(reader, 'utilization_kinks', row.utilization_kinks, 'rate_at_kinks', row.rate_at_kinks);
  checkKinks(
    reader,
    'quote_utilization_kinks',
    row.quote_utilization_kinks,
    'quote_rate_at_kinks',
    row.quote_rate_at_kinks,
  );
  const { initial_margin_clamps: clamps, initial_margin_factors: factors } = row;
  if (clamps[0] !== 0 || !isNonDecreasing(clamps)) {
    reader.fail('initial_margin_clamps', 'clamps start at 0 and do not decrease');
  }
  if (factors.length !== clamps.length || !isNonDecreasing([...factors].reverse())) {
    reader.fail('initial_margin_factors', 'one factor a clamp, and they do not increase');
  }
}

function checkKinks(
  reader: BodyReader,
  kinksName: string,
  kinks: readonly number[],
  ratesName: string,
  rates: readonly number[],
): void {
  if (kinks[0] !== 0 || kinks.at(-1) !== MILLION || !isNonDecreasing(kinks)) {
    reader.fail(kinksName, 'kinks start at 0, do not decrease and end at 1000000');
  }
  if (rates.length !== kinks.length || !isNonDecreasing(rates)) {
    reader.fail(ratesName, 'one rate a kink, and they do not decrease');
  }
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

/** Reads a stored row back. */
export function parseRisk(json: string): RiskParameters {
  const outcome = readRiskParameters(JSON.parse(json), DEFAULT_RISK);
  assert(outcome.ok, 'a stored risk row is valid');
  return outcome.value;
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
