/**
 * Times of files that people and other programs read: UTC with nanoseconds, `2026-11-29T09:41:26.123456789Z`. They are never
 * parsed through a number of doubles (EXP-02).
 */

const MILLISECONDS = 1_000_000n;
const SECOND = 1_000_000_000n;
const FORM = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?Z)?$/;

/** @param ns since 1970, 0 or more. @returns 30 characters. */
export function isoTime(ns: bigint): string {
  const second = new Date(Number(ns / MILLISECONDS)).toISOString().slice(0, 19);
  return `${second}.${String(ns % SECOND).padStart(9, '0')}Z`;
}

/**
 * A UTC day (`2026-11-29`, its first nanosecond) or instant (`2026-11-29T09:41Z`, with seconds and up to nine decimals of
 * them if wanted).
 *
 * @returns null for any other text, and for a day or an hour that there is not.
 */
export function parseIsoTime(text: string): bigint | null {
  const found = FORM.exec(text);
  if (found === null) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = ''] = found;
  const whole = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const ms = Date.parse(`${whole}.000Z`);
  if (Number.isNaN(ms) || ms < 0 || new Date(ms).toISOString().slice(0, 19) !== whole) return null;
  return BigInt(ms) * MILLISECONDS + BigInt(fraction.padEnd(9, '0'));
}
