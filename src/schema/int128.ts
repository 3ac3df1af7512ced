/** Amounts in messages: a signed 128-bit integer as two little-endian halves. Range: core/limits.ts AMOUNT18_MAX. */
import { assert } from '../core/assert.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import type { Views } from '../core/views.ts';

const AMOUNT18_MIN = -AMOUNT18_MAX;
const I64_LIMIT = 1n << 63n;

/** @param at byte offset, a multiple of 8. */
export function readInt128(v: Views, at: number): bigint {
  const low = v.u64[at >>> 3] as bigint;
  const high = v.i64[(at + 8) >>> 3] as bigint;
  // Most amounts are the lower half: what is not computed is not allocated.
  return high === 0n ? low : (high << 64n) | low;
}

/** @throws InvariantError when the value leaves the range: storing it would wrap silently. */
export function writeInt128(v: Views, at: number, value: bigint): void {
  assert(value <= AMOUNT18_MAX && value >= AMOUNT18_MIN, 'an amount fits 128 bits');
  // Stores the lower 64 bits.
  v.u64[at >>> 3] = value;
  v.i64[(at + 8) >>> 3] = value >= 0n && value < I64_LIMIT ? 0n : value >> 64n;
}
