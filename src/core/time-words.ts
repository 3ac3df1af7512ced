/**
 * Nanosecond timestamps as two 32-bit words, for hot paths: a bigint is an allocation, a pair of words is not. Words are
 * unsigned, 0 … 2^32−1, as a Uint32Array reads them.
 */
import type { TimestampNs } from './units.ts';

/** The high word of a u64. */
export function highWord(ns: bigint): number {
  return Number((ns >> 32n) & 0xffff_ffffn);
}

/** The low word of a u64. */
export function lowWord(ns: bigint): number {
  return Number(ns & 0xffff_ffffn);
}

export function fromWords(high: number, low: number): TimestampNs {
  return ((BigInt(high) << 32n) | BigInt(low)) as TimestampNs;
}

/** Whether a is strictly before b. */
export function isBefore(aHigh: number, aLow: number, bHigh: number, bLow: number): boolean {
  return aHigh < bHigh || (aHigh === bHigh && aLow < bLow);
}
