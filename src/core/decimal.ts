/**
 * Decimal strings: the shortest exact form (AMB-133, EX-00): no exponent, no plus, no trailing zeros, a leading zero
 * before the point, "0" for zero.
 */

import { powerOfTen } from './arithmetic.ts';
import { assert } from './assert.ts';

/** integer × 10^-scale as the shortest exact decimal string. A negative scale multiplies. */
export function formatScaled(integer: bigint, scale: number): string {
  if (scale <= 0) return (integer * powerOfTen(-scale)).toString();
  const negative = integer < 0n;
  const digits = (negative ? -integer : integer).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, -scale);
  let end = digits.length;
  // mutant: decimal-zeros
  while (end > digits.length - scale && digits.charCodeAt(end - 1) === 0x30) end -= 1;
  const fraction = digits.slice(digits.length - scale, end);
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return negative && text !== '0' ? `-${text}` : text;
}

/** An 18-decimal amount in human units. */
export function format18(amount: bigint): string {
  return formatScaled(amount, 18);
}

/** A raw book integer (safe) in human units. */
export function formatRaw(raw: number, decimals: number): string {
  assert(Number.isSafeInteger(raw), 'formatRaw: a safe integer');
  return formatScaled(BigInt(raw), decimals);
}

const DECIMAL_FORM = /^(-?)(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,18}))?$/;

/**
 * Reads a human decimal string with at most 18 fractional digits into 18-decimal units.
 *
 * @returns null when the text is not of that form (no plus, no exponent, no leading zero, no spaces).
 */
export function parseDecimal18(text: string): bigint | null {
  const match = DECIMAL_FORM.exec(text);
  if (match === null) return null;
  const [, sign, whole = '0', fraction = ''] = match;
  const magnitude = BigInt(whole) * powerOfTen(18) + BigInt(fraction.padEnd(18, '0'));
  return sign === '-' ? -magnitude : magnitude;
}

/** Reads a human decimal into a raw integer of `decimals`; null when it is malformed or finer than one raw unit. */
export function parseScaled(text: string, decimals: number): bigint | null {
  const amount = parseDecimal18(text);
  if (amount === null || decimals > 18) return null;
  const unit = powerOfTen(18 - decimals);
  return amount % unit === 0n ? amount / unit : null;
}
