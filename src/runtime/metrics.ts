/**
 * Counters, gauges and histograms recorded in shared memory and rendered elsewhere. One thread writes a region with
 * plain stores; any thread reads it. Recording allocates nothing. A snapshot may be a few records old, and the parts of
 * a histogram may be one record apart; a value is never torn, because it is one aligned word.
 *
 *   region = cells of 8 bytes:   counter 1 · gauge 1 · histogram 3 + HISTOGRAM_BUCKETS / 2
 *   histogram = count, sum, max (f64), then buckets (u32)
 *
 * Buckets are log-linear: sixteen per power of two, so a bound is at most 6.25 % above the recorded value. Values below
 * 16 have a bucket each; values from 2^41 on share the last one.
 */
import { assert, InvariantError } from '../core/assert.ts';

type MetricKind = 'counter' | 'gauge' | 'histogram';

export interface MetricDefinition {
  readonly name: string;
  readonly kind: MetricKind;
}

/** A region and its layout; structured-cloneable. */
export interface MetricsPlan {
  readonly definitions: readonly MetricDefinition[];
  readonly memory: SharedArrayBuffer;
}

export interface HistogramSnapshot {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  /** Non-empty buckets: highest value of the bucket, records in it. Ascending. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
}

export type MetricSnapshot =
  | { readonly kind: 'counter' | 'gauge'; readonly name: string; readonly value: number }
  | { readonly kind: 'histogram'; readonly name: string; readonly value: HistogramSnapshot };

const SUB_BUCKETS = 16;
const OCTAVE_FIRST = 4;
const OCTAVE_END = 41;
const HISTOGRAM_BUCKETS: number = SUB_BUCKETS * (1 + OCTAVE_END - OCTAVE_FIRST);
/** The highest value of each bucket. */
const HIGHEST: Float64Array = Float64Array.from({ length: HISTOGRAM_BUCKETS }, (_, bucket) => highestOf(bucket));
const CELLS: Readonly<Record<MetricKind, number>> = { counter: 1, gauge: 1, histogram: 3 + HISTOGRAM_BUCKETS / 2 };
const INT_LIMIT = 2 ** 31;

export function createMetrics(definitions: readonly MetricDefinition[]): MetricsPlan {
  assert(new Set(definitions.map((metric) => metric.name)).size === definitions.length, 'metric names are distinct');
  const cells = definitions.reduce((sum, metric) => sum + CELLS[metric.kind], 0);
  return { definitions, memory: new SharedArrayBuffer(cells * 8) };
}

/** Only grows. */
export class Counter {
  readonly #cells: Float64Array;
  readonly #index: number;

  constructor(cells: Float64Array, index: number) {
    this.#cells = cells;
    this.#index = index;
  }

  add(amount: number): void {
    this.#cells[this.#index] = (this.#cells[this.#index] ?? 0) + amount;
  }

  value(): number {
    return this.#cells[this.#index] ?? 0;
  }
}

export class Gauge {
  readonly #cells: Float64Array;
  readonly #index: number;

  constructor(cells: Float64Array, index: number) {
    this.#cells = cells;
    this.#index = index;
  }

  set(value: number): void {
    this.#cells[this.#index] = value;
  }

  /** Keeps the maximum. */
  raise(value: number): void {
    if (value > (this.#cells[this.#index] ?? 0)) this.#cells[this.#index] = value;
  }
}

export class Histogram {
  readonly #totals: Float64Array;
  readonly #buckets: Uint32Array;

  constructor(memory: SharedArrayBuffer, cell: number) {
    this.#totals = new Float64Array(memory, cell * 8, 3);
    this.#buckets = new Uint32Array(memory, (cell + 3) * 8, HISTOGRAM_BUCKETS);
  }

  /** @param value - 0 … 2^53−1; fractions are cut off. */
  record(value: number): void {
    assert(value >= 0 && value <= Number.MAX_SAFE_INTEGER, 'a recorded value is in range');
    const totals = this.#totals;
    const buckets = this.#buckets;
    totals[0] = (totals[0] ?? 0) + 1;
    totals[1] = (totals[1] ?? 0) + value;
    if (value > (totals[2] ?? 0)) totals[2] = value;
    const bucket = bucketOf(value);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
}

/** The writing end of a region; for one thread. */
export class MetricsWriter {
  readonly #plan: MetricsPlan;
  readonly #cells: Float64Array;

  constructor(plan: MetricsPlan) {
    this.#plan = plan;
    this.#cells = new Float64Array(plan.memory);
  }

  /** @throws InvariantError when the region has no such metric; so do the other methods. */
  counter(name: string): Counter {
    return new Counter(this.#cells, this.#find(name, 'counter'));
  }

  gauge(name: string): Gauge {
    return new Gauge(this.#cells, this.#find(name, 'gauge'));
  }

  histogram(name: string): Histogram {
    return new Histogram(this.#plan.memory, this.#find(name, 'histogram'));
  }

  #find(name: string, kind: MetricKind): number {
    let cell = 0;
    for (const metric of this.#plan.definitions) {
      if (metric.name === name && metric.kind === kind) return cell;
      cell += CELLS[metric.kind];
    }
    throw new InvariantError(`there is no ${kind} named ${name}`);
  }
}

/** Reads a region from any thread. */
export function snapshotMetrics(plan: MetricsPlan): MetricSnapshot[] {
  const cells = new Float64Array(plan.memory);
  const snapshots: MetricSnapshot[] = [];
  let cell = 0;
  for (const { name, kind } of plan.definitions) {
    if (kind === 'histogram') snapshots.push({ kind, name, value: snapshotHistogram(plan.memory, cell) });
    else snapshots.push({ kind, name, value: cells[cell] ?? 0 });
    cell += CELLS[kind];
  }
  return snapshots;
}

/** The value of one counter or gauge; 0 when the region has none of this name. */
export function readMetric(plan: MetricsPlan, name: string): number {
  let cell = 0;
  for (const metric of plan.definitions) {
    if (metric.name === name && metric.kind !== 'histogram') return new Float64Array(plan.memory, cell * 8, 1)[0] ?? 0;
    cell += CELLS[metric.kind];
  }
  return 0;
}

/** @param fraction - 0 … 1. @returns the upper bound of the bucket of that rank; 0 without records. */
export function quantile(histogram: HistogramSnapshot, fraction: number): number {
  const total = histogram.buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const rank = Math.max(1, Math.ceil(fraction * total));
  let seen = 0;
  for (const bucket of histogram.buckets) {
    seen += bucket.count;
    if (seen >= rank) return Math.min(bucket.upTo, histogram.max);
  }
  return 0;
}

function snapshotHistogram(memory: SharedArrayBuffer, cell: number): HistogramSnapshot {
  const [count = 0, sum = 0, max = 0] = new Float64Array(memory, cell * 8, 3);
  const counts = new Uint32Array(memory, (cell + 3) * 8, HISTOGRAM_BUCKETS);
  const buckets = [];
  for (let index = 0; index < HISTOGRAM_BUCKETS; index += 1) {
    const inBucket = counts[index] ?? 0;
    if (inBucket > 0) buckets.push({ upTo: HIGHEST[index] ?? 0, count: inBucket });
  }
  return { count, sum, max, buckets };
}

/** Values above 2^31 are scaled into integer range, ten octaves at a time. */
function bucketOf(value: number): number {
  let scaled = value;
  let octaves = 0;
  while (scaled >= INT_LIMIT) {
    scaled /= 1_024;
    octaves += 10;
  }
  const whole = scaled | 0;
  if (whole < SUB_BUCKETS) return whole;
  const octave = 31 - Math.clz32(whole);
  const sub = (whole >>> (octave - OCTAVE_FIRST)) - SUB_BUCKETS;
  const bucket = SUB_BUCKETS * (1 + octave + octaves - OCTAVE_FIRST) + sub;
  return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

function highestOf(bucket: number): number {
  if (bucket < SUB_BUCKETS) return bucket;
  if (bucket === HISTOGRAM_BUCKETS - 1) return Number.POSITIVE_INFINITY;
  const octave = Math.floor(bucket / SUB_BUCKETS) - 1;
  return (SUB_BUCKETS + (bucket % SUB_BUCKETS) + 1) * 2 ** octave - 1;
}
