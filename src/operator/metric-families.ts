/**
 * Families of metrics in Prometheus text, made of what threads recorded in shared memory (runtime/metrics.ts) or of values at
 * hand. They are printed here, not by prom-client, which takes 2 µs of CPU a line instead of 0.6: with 256 markets there
 * are 10,000 lines.
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
}

/** Lines of Prometheus text, with those that begin a family. */
export type Family = string;

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

/** Upper bounds in the recorded unit, as the label `le` has them, and the factor to the published unit. */
export interface Scale {
  readonly bounds: readonly { readonly bound: number; readonly le: string }[];
  readonly unit: number;
}

/** From nanoseconds: 1 µs to 34 s. */
export const SECONDS: Scale = scaleOf({ from: 10, to: 35, step: 1 }, 1e9);
/** Fewer, where there are many histograms: 4 µs to 17 s, each four times the one before. */
export const COARSE_SECONDS: Scale = scaleOf({ from: 12, to: 34, step: 2 }, 1e9);
export const RECORDS: Scale = scaleOf({ from: 1, to: 12, step: 1 }, 1);
const UNSAFE = /["\\\n]/;
const NO_HISTOGRAM: HistogramSnapshot = { count: 0, sum: 0, max: 0, buckets: [] };

/** Bounds are powers of two less one, and infinity. */
function scaleOf(powers: { readonly from: number; readonly to: number; readonly step: number }, unit: number): Scale {
  const bounds: { bound: number; le: string }[] = [];
  for (let power = powers.from; power <= powers.to; power += powers.step) {
    const bound = 2 ** power - 1;
    bounds.push({ bound, le: String(bound / unit) });
  }
  return { bounds: [...bounds, { bound: Number.POSITIVE_INFINITY, le: '+Inf' }], unit };
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
  return linesOf(name, help, 'counter', values);
}

export function gauge(name: string, help: string, values: readonly Sample[]): Family {
  return linesOf(name, help, 'gauge', values);
}

export function plainGauge(name: string, help: string, value: number): Family {
  return gauge(name, help, [{ value, labels: {} }]);
}

export function plainCounter(name: string, help: string, value: number): Family {
  return counter(name, help, [{ value, labels: {} }]);
}

export function histogram(name: string, help: string, parts: readonly Labelled[], scale: Scale): Family {
  let text = beginning(name, help, 'histogram');
  for (const part of parts) text += histogramLines(name, part, scale);
  return text;
}

function linesOf(name: string, help: string, type: 'counter' | 'gauge', values: readonly Sample[]): Family {
  let text = beginning(name, help, type);
  for (const value of values) text += sampleLine(name, value);
  return text;
}

function beginning(name: string, help: string, type: 'counter' | 'gauge' | 'histogram'): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** The count is the sum of the buckets, so that `+Inf` and count agree while a sample is being recorded. */
function histogramLines(name: string, { labels, snapshot }: Labelled, scale: Scale): string {
  const { sum, buckets } = snapshot;
  const own = labelPairs(labels);
  const from = `${name}_bucket{${own}${own === '' ? '' : ','}le="`;
  let text = '';
  // Both ascend.
  let next = 0;
  let total = 0;
  for (const { bound, le } of scale.bounds) {
    for (; next < buckets.length; next += 1) {
      const bucket = buckets[next];
      if (bucket === undefined || bucket.upTo > bound) break;
      total += bucket.count;
    }
    text += `${from}${le}"} ${total}\n`;
  }
  const braced = own === '' ? '' : `{${own}}`;
  return `${text}${name}_sum${braced} ${sum / scale.unit}\n${name}_count${braced} ${total}\n`;
}

function sampleLine(name: string, { value, labels }: Sample): string {
  const pairs = labelPairs(labels);
  return `${name}${pairs === '' ? '' : `{${pairs}}`} ${printedValue(value)}\n`;
}

function labelPairs(labels: Labels): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escaped(labels[name] ?? '')}"`;
  return text;
}

/** Most have nothing to escape. */
function escaped(value: string): string {
  return UNSAFE.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"') : value;
}

function printedValue(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
