/**
 * Families of metrics in the form that prom-client renders, made of what threads recorded in shared memory
 * (runtime/metrics.ts) or of values at hand.
 *
 * A recorded histogram has sixteen buckets per power of two; here each power of two is one bucket. Its bound is 2^k − 1
 * of the recorded unit, which is also the upper bound of a recorded bucket, so the cumulative counts are exact.
 *
 * Which families there are: metrics-page.ts, runtime-families.ts.
 */
import { assert } from '../core/assert.ts';
import type { HistogramSnapshot, MetricSnapshot } from '../runtime/metrics.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly value: number;
  readonly labels: Labels;
  /** Set where it differs from the family's name: the parts of a histogram. */
  readonly metricName?: string;
}

/** The shape that `Registry.getMetricsAsJSON` returns. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly Sample[];
}

/** One actor or thread and its metrics, by name. */
export interface Recorded {
  readonly actor: string;
  readonly metrics: ReadonlyMap<string, MetricSnapshot>;
}

/** A histogram with its labels. */
export interface Labelled {
  readonly labels: Labels;
  readonly snapshot: HistogramSnapshot;
}

/** Upper bounds in the recorded unit, and the factor to the published unit. */
export interface Scale {
  readonly bounds: readonly number[];
  readonly unit: number;
}

/** From nanoseconds: 1 µs to 34 s. */
export const SECONDS: Scale = { bounds: powersBelow(10, 35), unit: 1e9 };
export const RECORDS: Scale = { bounds: powersBelow(1, 12), unit: 1 };
const NO_HISTOGRAM: HistogramSnapshot = { count: 0, sum: 0, max: 0, buckets: [] };

function powersBelow(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => 2 ** (from + at) - 1);
}

export function recordedOf(actor: string, metrics: readonly MetricSnapshot[]): Recorded {
  return { actor, metrics: new Map(metrics.map((metric) => [metric.name, metric])) };
}

export function actorNamed(recorded: readonly Recorded[], actor: string): Recorded {
  const found = recorded.find((candidate) => candidate.actor === actor);
  assert(found !== undefined, `the plan has an actor ${actor}`);
  return found;
}

export function numberOf({ actor, metrics }: Recorded, name: string): number {
  const metric = metrics.get(name);
  assert(metric !== undefined && metric.kind !== 'histogram', `${actor} records a number ${name}`);
  return metric.value;
}

/** An empty histogram for an actor that does not record this duration. */
export function histogramOf({ metrics }: Recorded, name: string): HistogramSnapshot {
  const metric = metrics.get(name);
  return metric?.kind === 'histogram' ? metric.value : NO_HISTOGRAM;
}

/** One histogram of what several threads recorded. */
export function sumOf(snapshots: readonly HistogramSnapshot[]): HistogramSnapshot {
  const counts = new Map<number, number>();
  for (const { buckets } of snapshots) {
    for (const { upTo, count } of buckets) counts.set(upTo, (counts.get(upTo) ?? 0) + count);
  }
  return {
    count: snapshots.reduce((sum, { count }) => sum + count, 0),
    sum: snapshots.reduce((total, { sum }) => total + sum, 0),
    max: snapshots.reduce((highest, { max }) => Math.max(highest, max), 0),
    buckets: [...counts].sort(([a], [b]) => a - b).map(([upTo, count]) => ({ upTo, count })),
  };
}

export function counter(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'counter', aggregator: 'sum', values };
}

export function gauge(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'gauge', aggregator: 'sum', values };
}

export function plainGauge(name: string, help: string, value: number): Family {
  return gauge(name, help, [{ value, labels: {} }]);
}

export function plainCounter(name: string, help: string, value: number): Family {
  return counter(name, help, [{ value, labels: {} }]);
}

export function histogram(name: string, help: string, parts: readonly Labelled[], scale: Scale): Family {
  const values = parts.flatMap(({ labels, snapshot }) => histogramSamples(name, labels, snapshot, scale));
  return { name, help, type: 'histogram', aggregator: 'sum', values };
}

/** The count is the sum of the buckets, so that `+Inf` and count agree while a sample is being recorded. */
function histogramSamples(
  name: string,
  labels: Labels,
  { sum, buckets }: HistogramSnapshot,
  { bounds, unit }: Scale,
): readonly Sample[] {
  // Both ascend.
  const cumulative: number[] = [];
  let next = 0;
  let total = 0;
  for (const bound of [...bounds, Number.POSITIVE_INFINITY]) {
    for (; next < buckets.length; next += 1) {
      const bucket = buckets[next];
      if (bucket === undefined || bucket.upTo > bound) break;
      total += bucket.count;
    }
    cumulative.push(total);
  }
  const bucket = (le: string, value: number): Sample => ({
    value,
    labels: { ...labels, le },
    metricName: `${name}_bucket`,
  });
  return [
    ...bounds.map((bound, at) => bucket(String(bound / unit), cumulative[at] ?? 0)),
    bucket('+Inf', total),
    { value: sum / unit, labels, metricName: `${name}_sum` },
    { value: total, labels, metricName: `${name}_count` },
  ];
}
