/**
 * Exact arithmetic on money. One rounding per figure, with its direction in the name; no doubles.
 *
 * Formatting and parsing are in decimal.ts.
 */
import { assert, InvariantError } from './assert.ts';
import { type Amount18, type RawPrice, type RawQuantity, ZERO_18 } from './units.ts';

/** Fee and factor rates are integers in 1e-6 (AMB-41, G18). */
export const RATE_SCALE = 1_000_000n;

const POWERS_OF_TEN: readonly bigint[] = Array.from({ length: 79 }, (_, exponent) => 10n ** BigInt(exponent));

/** 10^exponent for 0 ≤ exponent ≤ 78 (10^78 > 2^256). */
export function powerOfTen(exponent: number): bigint {
  const power = POWERS_OF_TEN[exponent];
  // The message is built only on failure: this function is called for every amount.
  if (power === undefined) throw new InvariantError(`power of ten out of range: ${exponent}`);
  return power;
}

/** floor(a·b / divisor) for any signs of a and b, divisor > 0: rounds towards minus infinity. */
export function mulDivFloor(a: bigint, b: bigint, divisor: bigint): bigint {
  assert(divisor > 0n, 'mulDivFloor: divisor above zero');
  const product = a * b;
  const quotient = product / divisor;
  return product < 0n && quotient * divisor !== product ? quotient - 1n : quotient;
}

/** ceil(a·b / divisor) for any signs of a and b, divisor > 0: rounds towards plus infinity. */
export function mulDivCeil(a: bigint, b: bigint, divisor: bigint): bigint {
  return -mulDivFloor(-a, b, divisor);
}

export function larger<T extends bigint>(a: T, b: T): T {
  if (a > b) return a;
  return b;
}

export function smaller<T extends bigint>(a: T, b: T): T {
  if (a < b) return a;
  return b;
}

/** The two decimals of a market; their sum is at most 18, so a notional is exact in 18 decimals (AMB-05). */
export interface BookDecimals {
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
}

/** price × quantity in USD, exact. */
export function notional18(price: RawPrice, quantity: RawQuantity, decimals: BookDecimals): Amount18 {
  const exponent = 18 - decimals.priceDecimals - decimals.quantityDecimals;
  assert(exponent >= 0, 'notional18: price and quantity decimals add up to at most 18');
  return (BigInt(price) * BigInt(quantity) * powerOfTen(exponent)) as Amount18;
}

/** A raw quantity as asset units in 18 decimals, exact: quantity decimals never exceed 18. */
export function quantity18(quantity: RawQuantity, quantityDecimals: number): Amount18 {
  return (BigInt(quantity) * powerOfTen(18 - quantityDecimals)) as Amount18;
}

/**
 * The fee of one side of a trade: ceil for a fee, floor for a rebate, both against the user (AMB-41, EX-27).
 *
 * @param rate integer in 1e-6, negative for a rebate.
 * @returns negative for a rebate. ceil(−x) = −floor(x), so one ceil serves both.
 */
export function tradingFee18(notional: Amount18, rate: number): Amount18 {
  if (rate === 0) return ZERO_18;
  // mutant: fee-rounding
  return mulDivCeil(notional, BigInt(rate), RATE_SCALE) as Amount18;
}

/** Credited amount of a deposit: floor(base·10^18 / 10^decimals) (AMT-06). */
export function normalizeDeposit(baseUnits: bigint, tokenDecimals: number): Amount18 {
  return mulDivFloor(baseUnits, powerOfTen(18), powerOfTen(tokenDecimals)) as Amount18;
}

export function add18(a: Amount18, b: Amount18): Amount18 {
  return (a + b) as Amount18;
}

export function subtract18(a: Amount18, b: Amount18): Amount18 {
  return (a - b) as Amount18;
}

/** Above the length of any list; the rank of a row behind it plus a page is a safe integer. */
const RANK_MAX = 2 ** 52;

/** Rows before a page. An enormous page is behind the end of every list, whatever `page · limit` is (MCH-10). */
export function rowsBefore({ page, limit }: { readonly page: number; readonly limit: number }): number {
  return Math.min(page * limit, RANK_MAX);
}
