/**
 * Families of metrics in Prometheus text, made of what threads recorded in shared memory (runtime/metrics.ts) or of values at
 * hand. They are printed here, not by prom-client, which takes 2 µs of CPU a line instead of 0.6: with 256 markets there
 * are 10,000 lines.
 *
 * A recorded histogram has sixteen buckets per power of two; here each power of two is one bucket. Its bound is 2^k − 1
 * of the recorded unit, which is also the upper bound of a recorded bucket, so the cumulative counts are exact.
 *
 * Which families there are: metric-table.ts, process-metrics.ts.
 */
import { assert } from '../core/assert.ts';
import type { HistogramSnapshot, MetricSnapshot } from '../runtime/metrics.ts';

/** Values of the labels of a row, in their order; one that is undefined is left out. */
type LabelValues = readonly (string | undefined)[];
/** A value with those of the labels. */
export type Sample = readonly [value: number, ...labels: LabelValues];
/** What a row reads: samples, or the one value of a family without labels; null when there is none now. */
export type Samples = number | null | Iterable<Sample>;
/** A histogram with the values of its labels. */
export type Labelled = readonly [snapshot: HistogramSnapshot, ...labels: LabelValues];

interface RowHead {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** Names of its labels, in the order of the page. */
  readonly labels: readonly string[];
}

/** A family: its name, kind, help and labels, and its source. @typeParam Scope what sources read. */
export type MetricRow<Scope> = RowHead &
  (
    | { readonly kind: 'counter' | 'gauge'; readonly read: (scope: Scope) => Samples }
    | { readonly kind: 'histogram'; readonly scale: Scale; readonly read: (scope: Scope) => Iterable<Labelled> }
  );

/** One actor or thread and its metrics, by name. */
export interface Recorded {
  readonly actor: string;
  readonly metrics: ReadonlyMap<string, MetricSnapshot>;
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

/** The lines of a family, with those that begin it. */
export function familyText<Scope>(row: MetricRow<Scope>, scope: Scope): string {
  const { name, help, kind, labels } = row;
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
  if (row.kind === 'histogram') {
    for (const [snapshot, ...values] of row.read(scope)) {
      text += histogramLines(name, labelPairs(labels, values), snapshot, row.scale);
    }
    return text;
  }
  const samples = row.read(scope);
  if (samples === null) return text;
  if (typeof samples === 'number') return text + sampleLine(name, '', samples);
  for (const [value, ...values] of samples) text += sampleLine(name, labelPairs(labels, values), value);
  return text;
}

/** The count is the sum of the buckets, so that `+Inf` and count agree while a sample is being recorded. */
function histogramLines(name: string, own: string, { sum, buckets }: HistogramSnapshot, scale: Scale): string {
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

function sampleLine(name: string, pairs: string, value: number): string {
  return `${name}${pairs === '' ? '' : `{${pairs}}`} ${printedValue(value)}\n`;
}

function labelPairs(names: readonly string[], values: LabelValues): string {
  assert(values.length <= names.length, 'every value of a label has a name');
  let text = '';
  for (const [at, value] of values.entries()) {
    if (value !== undefined) text += `${text === '' ? '' : ','}${names[at]}="${escaped(value)}"`;
  }
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
