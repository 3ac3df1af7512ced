/**
 * Counts of lots that a quote set has traded on one side since the node started (QTE-01). They run round at 2^53, so that no sum is rounded:
 * the market and the gateway each count every match of the set, and only the difference of two counts has a meaning.
 */
import { RAW_MAX } from '../core/limits.ts';

/** `count` and `lots` are integers from 0 to 2^53 − 1, and so is the result. */
export function countLots(count: number, lots: number): number {
  const room = RAW_MAX - count;
  return lots <= room ? count + lots : lots - room - 1;
}

/** Lots from the count `seen` to the count `count`, which is not behind it. */
export function lotsSince(seen: number, count: number): number {
  return count >= seen ? count - seen : RAW_MAX - seen + count + 1;
}
