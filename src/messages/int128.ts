/** Amounts in messages: a signed 128-bit integer as two little-endian halves. Range: core/limits.ts AMOUNT18_MAX. */
import { assert } from '../core/assert.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import type { Views } from '../core/views.ts';

const LOW_MASK = (1n << 64n) - 1n;

/** @param at byte offset, a multiple of 8. */
export function readInt128(v: Views, at: number): bigint {
  const low = v.u64[at >>> 3] as bigint;
  const high = v.i64[(at + 8) >>> 3] as bigint;
  return (high << 64n) | low;
}

/** @throws InvariantError when the value leaves the range: storing it would wrap silently. */
export function writeInt128(v: Views, at: number, value: bigint): void {
  assert(value <= AMOUNT18_MAX && value >= -AMOUNT18_MAX, 'an amount fits 128 bits');
  v.u64[at >>> 3] = value & LOW_MASK;
  v.i64[(at + 8) >>> 3] = value >> 64n;
}
