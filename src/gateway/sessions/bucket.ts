/**
 * A token bucket as one integer: how far its consumption has come on the scale of what has been supplied (AMB-104).
 *
 *   supplied(t) = rate × t            what a bucket of this rate has been given since the beginning of time
 *   missing(t)  = position − supplied(t), at least 0           level = capacity − missing
 *   taking c    : position = supplied + missing + c
 *
 * Refill needs no work and nothing is lost to rounding: time is multiplied, never added up. A bucket whose position is
 * not ahead of the supply is full, so it need not be kept.
 *
 * Everything is in milli-units; one unit a second is one milli-unit each millisecond of the node clock.
 */
import type { TimestampNs } from '../../core/units.ts';
import { UNIT } from './costs.ts';

export interface BucketSize {
  /** 0 to BUDGET_MAX: whole units. */
  readonly unitsPerSecond: bigint;
  readonly capacity: bigint;
}

/** Largest rate and capacity. With both, limits are lifted (operator-api.md 1). */
export const BUDGET_MAX = 1_000_000_000n;
/** The least capacity that a bucket gets unasked: a batch of 50 and a cancel-all fit (G23). */
const CAPACITY_MIN = 150n;
const NS_PER_MILLI_UNIT = 1_000_000n;

/** A bucket of this rate whose capacity nobody chose. */
export function bucketOf(unitsPerSecond: bigint): BucketSize {
  return { unitsPerSecond, capacity: unitsPerSecond > CAPACITY_MIN ? unitsPerSecond : CAPACITY_MIN };
}

/** Milli-units supplied until now. */
export function suppliedBy(size: BucketSize, now: TimestampNs): bigint {
  return (now * size.unitsPerSecond) / NS_PER_MILLI_UNIT;
}

/** Milli-units that fit. */
export function capacityOf(size: BucketSize): bigint {
  return size.capacity * UNIT;
}
