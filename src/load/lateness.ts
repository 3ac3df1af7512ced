/** Whether a run measured the node, or the generator itself. */
import type { LoadResult } from './plan.ts';

/** The generator's share of a latency that is still a measurement of the node. */
const SHARE_P50_MAX = 0.25;
const SHARE_P99_MAX = 0.5;
/** The pacer announces messages in steps of 0.1 ms: below these, in microseconds, it is not late. */
const US_P50 = 300;
const US_P99 = 3_000;

/**
 * The delay of the generator is part of every latency. Where it is not small beside them, the machine or the
 * generator was too busy to measure.
 *
 * @returns why the figures of a run mean nothing; null if they are valid.
 */
export function latenessFault({ latencies, lateness }: Pick<LoadResult, 'latencies' | 'lateness'>): string | null {
  const measured = latencies.create ?? latencies.refused;
  if (measured === undefined) return 'no message was answered';
  const late = (percentile: 'p50' | 'p99', shareMax: number, floorUs: number): string | null =>
    lateness[percentile] > floorUs && lateness[percentile] > shareMax * measured[percentile]
      ? `the generator was ${lateness[percentile]} µs late at ${percentile}, of ${measured[percentile]} µs measured`
      : null;
  // mutant: late-generator
  return late('p50', SHARE_P50_MAX, US_P50) ?? late('p99', SHARE_P99_MAX, US_P99);
}
