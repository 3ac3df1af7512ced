/**
 * A token bucket as one integer: its consumption on the scale of the total supply (AMB-104).
 *
 *   supplied(t) = rate × t            total supply of this rate since time 0
 *   missing(t)  = position − supplied(t), at least 0           level = capacity − missing
 *   taking c    : position = supplied + missing + c
 *
 * Refilling needs no work and rounding loses nothing: time is multiplied, never accumulated. A bucket with a position
 * that is not ahead of the supply is full and needs no entry.
 *
 * All amounts are milli-units; one unit per second is one milli-unit per millisecond of the node clock.
 */
import type { TimestampNs } from '../../core/units.ts';
import { UNIT } from './costs.ts';

export interface BucketSize {
  /** 0 to BUDGET_MAX: whole units. */
  readonly unitsPerSecond: bigint;
  readonly capacity: bigint;
}

/** Maximum rate and capacity. With both, limits are lifted (operator-api.md 1). */
export const BUDGET_MAX = 1_000_000_000n;
/** The minimum default capacity: a batch of 50 and a cancel-all fit (G23). */
const CAPACITY_MIN = 150n;
const NS_PER_MILLI_UNIT = 1_000_000n;

/** A bucket of this rate with the default capacity. */
export function bucketOf(unitsPerSecond: bigint): BucketSize {
  return { unitsPerSecond, capacity: unitsPerSecond > CAPACITY_MIN ? unitsPerSecond : CAPACITY_MIN };
}

/** Milli-units supplied until `now`. */
export function suppliedBy(size: BucketSize, now: TimestampNs): bigint {
  return (now * size.unitsPerSecond) / NS_PER_MILLI_UNIT;
}

/** The capacity in milli-units. */
export function bucketCapacity(size: BucketSize): bigint {
  return size.capacity * UNIT;
}
