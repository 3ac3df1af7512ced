/**
 * Nanosecond timestamps as two 32-bit words, for hot paths: a bigint is an allocation, a pair of words is not. Words are
 * unsigned, 0 … 2^32−1, as a Uint32Array reads them.
 */
import type { TimestampNs } from './units.ts';

/** One timestamp as a whole and as its words, least significant first, as every machine that runs the node has them. */
const whole = new BigUint64Array(1);
const words = new Uint32Array(whole.buffer);

/** The high word of a u64. */
export function highWord(ns: bigint): number {
  whole[0] = ns;
  return words[1] as number;
}

/** The low word of a u64. */
export function lowWord(ns: bigint): number {
  whole[0] = ns;
  return words[0] as number;
}

export function fromWords(high: number, low: number): TimestampNs {
  words[1] = high;
  words[0] = low;
  return whole[0] as TimestampNs;
}

/** Whether a is strictly before b. */
export function isBefore(aHigh: number, aLow: number, bHigh: number, bLow: number): boolean {
  return aHigh < bHigh || (aHigh === bHigh && aLow < bLow);
}
