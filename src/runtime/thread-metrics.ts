/**
 * Metrics of a thread of the topology, in shared memory: pauses of its collector, and how late the timers of its event loop
 * are. Recorded by the thread itself, which looks after each tick of its actors; a thread without an event loop has no delay.
 *
 * V8 keeps the record of each collection (some 40 µs each) until it is read. A thread without an event loop gets no
 * notification of a collection, so all of them read that record, once a second: 9 µs without a collection, 15 µs more for
 * each.
 *
 * Not here: metrics of actors (actor-host.ts), CPU time (thread-times.ts).
 */
import { GCProfiler } from 'node:v8';
import { type Histogram, type MetricDefinition, type MetricsPlan, MetricsWriter } from './metrics.ts';

/** The metrics of every thread of the topology. */
export const THREAD_METRICS: readonly MetricDefinition[] = [
  { name: 'collector_ns', kind: 'histogram' }, // Nanoseconds of a pause of the collector.
  { name: 'loop_delay_ns', kind: 'histogram' }, // Nanoseconds that a timer of the event loop was late.
];

/** Real milliseconds between two looks at the collector's record. */
const LOOK_MS = 1_000;

export class ThreadMetrics {
  readonly #collector: Histogram;
  readonly #loopDelay: Histogram;
  #profiler: GCProfiler | null = null;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(plan: MetricsPlan) {
    const writer = new MetricsWriter(plan);
    this.#collector = writer.histogram('collector_ns');
    this.#loopDelay = writer.histogram('loop_delay_ns');
  }

  /** Records the pauses since the last look, at most once a second. @param nowMs of `performance.now()`. */
  look(nowMs: number): void {
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    // What was there before the first look is not recorded.
    const profile = this.#profiler?.stop();
    this.#profiler = new GCProfiler();
    this.#profiler.start();
    for (const { cost } of profile?.statistics ?? []) this.#collector.record(cost * 1_000);
  }

  /** A timer ended so many milliseconds after its time. */
  timerLate(ms: number): void {
    this.#loopDelay.record(Math.max(ms, 0) * 1e6);
  }
}
