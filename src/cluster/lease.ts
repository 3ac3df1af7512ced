/**
 * The lease of a leader (cluster.md 7.2), in integers. It ends 0.9 × `leaseMs` after the bytes of the last stored record were
 * first sent; it is over too when the wall clock ran 100 ms or more further than the monotonic one since then.
 */
import { MILLISECOND_NS } from '../core/units.ts';

/** One moment by both clocks of a machine, in nanoseconds. */
export interface Instant {
  readonly monotonicNs: bigint;
  readonly wallNs: bigint;
}

const WALL_AHEAD_NS_MAX: bigint = 100n * MILLISECOND_NS;

/** Nine tenths, rounded down: clocks whose rates differ by less than a tenth agree that the lease is over before the silence. */
export function leaseNs(leaseMs: number): bigint {
  return (BigInt(leaseMs) * MILLISECOND_NS * 9n) / 10n;
}

/** Monotonic nanoseconds at which a lease is over that began with this sending. */
export function leaseEndNs(sent: Instant, leaseMs: number): bigint {
  return sent.monotonicNs + leaseNs(leaseMs);
}

/** @param sent null: nothing was ever stored. */
export function isLeaseOver(sent: Instant | null, now: Instant, leaseMs: number): boolean {
  if (sent === null) return true;
  const aheadNs = now.wallNs - sent.wallNs - (now.monotonicNs - sent.monotonicNs);
  // mutant: lease-of-a-suspended-guest
  if (aheadNs >= WALL_AHEAD_NS_MAX) return true;
  return now.monotonicNs >= leaseEndNs(sent, leaseMs);
}

/** How long a node that follows receives nothing before it campaigns. */
export function silenceNs(leaseMs: number, rank: number): bigint {
  return (BigInt(leaseMs) + BigInt(rank) * 100n) * MILLISECOND_NS;
}
