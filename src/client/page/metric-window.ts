/**
 * The metrics of a node over the last minutes: reads of `/metrics` (Prometheus text), and what follows from two of them: rates of
 * counters and quantiles of histograms. For pages that draw them.
 *
 * Invariants
 *   (1) A figure over time is a difference of two reads, never a total since the start. With one read there is none (null).
 *   (2) When a counter falls, the node has started anew: what was read before is forgotten.
 *   (3) Bounded: reads older than `keepMs` are forgotten, and so are the names of samples at SERIES_MAX.
 *
 * A quantile is linear inside its bucket, as histogram_quantile of Prometheus has it; the buckets of the node double.
 */

export type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

interface Quantiles {
  /** Observations in the window. */
  readonly count: number;
  /** Those that were requested, in their order; null when there was no observation. */
  readonly values: readonly (number | null)[];
}

interface Series {
  readonly name: string;
  readonly labels: Labels;
  /** Whether its value never falls while the node runs. */
  readonly isCounter: boolean;
}

/** The series of a read, shared by all reads with the same ones. */
interface Layout {
  /** The texts of the series. */
  readonly keys: readonly string[];
  readonly series: readonly Series[];
  /** The place in `keys` and `values` by text. */
  readonly places: ReadonlyMap<string, number>;
  /** All places with a name. */
  readonly byName: ReadonlyMap<string, readonly number[]>;
}

interface Read {
  readonly atMs: number;
  readonly layout: Layout;
  readonly values: Float64Array;
}

const SERIES_MAX = 50_000;
const LABEL_FORM = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPE_FORM = /\\(.)/g;

export class MetricWindow {
  readonly #keepMs: number;
  readonly #known = new Map<string, Series>();
  /** Oldest first. */
  #reads: Read[] = [];

  /** @param keepMs how far back the longest window goes. */
  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** Reads in the window. */
  get length(): number {
    return this.#reads.length;
  }

  /** @param text of `/metrics`. @param atMs when it was read, on a clock that never falls. */
  add(text: string, atMs: number): void {
    const read = this.#parse(text, atMs);
    const last = this.#reads.at(-1);
    // mutant: figures-of-one-start
    if (last !== undefined && hasRestarted(last, read)) this.#reads = [];
    this.#reads = this.#reads.filter((one) => one.atMs >= atMs - this.#keepMs);
    this.#reads.push(read);
  }

  /** The latest values of the series with this name and these labels, among others. */
  samples(name: string, labels: Labels = {}): readonly Sample[] {
    const read = this.#reads.at(-1);
    return read === undefined
      ? []
      : matching(read, name, labels).map((at) => ({
          labels: read.layout.series[at]?.labels ?? {},
          value: read.values[at] ?? 0,
        }));
  }

  /** The sum of the latest values; null when there is no such series. */
  value(name: string, labels: Labels = {}): number | null {
    const samples = this.samples(name, labels);
    return samples.length === 0 ? null : samples.reduce((sum, { value }) => sum + value, 0);
  }

  /** By how much the sum of the counters has grown. @param windowMs how far back, at most. @returns null with one read only. */
  increase(name: string, labels: Labels, windowMs: number): number | null {
    const span = this.#span(windowMs);
    if (span === null) return null;
    const [from, to] = span;
    const places = matching(to, name, labels);
    if (places.length === 0) return null;
    return places.reduce((sum, at) => sum + grown(from, to, at), 0);
  }

  /** A second. */
  rate(name: string, labels: Labels, windowMs: number): number | null {
    const span = this.#span(windowMs);
    const increase = this.increase(name, labels, windowMs);
    if (span === null || increase === null) return null;
    return (increase * 1_000) / (span[1].atMs - span[0].atMs);
  }

  /**
   * Quantiles of a histogram over the window; series with these labels count together.
   *
   * @param quantiles each from 0 to 1.
   */
  quantiles(name: string, labels: Labels, quantiles: readonly number[], windowMs: number): Quantiles {
    const none = { count: 0, values: quantiles.map(() => null) };
    const span = this.#span(windowMs);
    if (span === null) return none;
    const [from, to] = span;
    const byBound = new Map<number, number>();
    for (const at of matching(to, `${name}_bucket`, labels)) {
      const bound = boundOf(to.layout.series[at]?.labels['le'] ?? '');
      byBound.set(bound, (byBound.get(bound) ?? 0) + grown(from, to, at));
    }
    const buckets = [...byBound].sort(([one], [other]) => one - other);
    const count = buckets.at(-1)?.[1] ?? 0;
    return count <= 0 ? none : { count, values: quantiles.map((quantile) => quantileOf(buckets, quantile * count)) };
  }

  /** The values of one label among the series with this name and these labels, in the order of the page. */
  labelValues(name: string, label: string, labels: Labels = {}): readonly string[] {
    const values = this.samples(name, labels).map((sample) => sample.labels[label] ?? '');
    return [...new Set(values)].filter((value) => value !== '');
  }

  /** The oldest read of the window and the latest. */
  #span(windowMs: number): readonly [Read, Read] | null {
    const to = this.#reads.at(-1);
    if (to === undefined) return null;
    const from = this.#reads.find((read) => read.atMs >= to.atMs - windowMs);
    // The window may be shorter than the pause between two reads.
    const oldest = from === to ? this.#reads.at(-2) : from;
    return oldest === undefined || oldest.atMs >= to.atMs ? null : [oldest, to];
  }

  #parse(text: string, atMs: number): Read {
    const before = this.#reads.at(-1);
    const keys: string[] = [];
    const values: number[] = [];
    const counters = new Set<string>();
    for (const line of text.split('\n')) {
      if (line.startsWith('# TYPE ')) {
        const [, , name = '', type = ''] = line.split(' ');
        if (type === 'counter') counters.add(name);
        if (type === 'histogram') for (const part of ['_bucket', '_sum', '_count']) counters.add(`${name}${part}`);
      }
      const space = line.lastIndexOf(' ');
      if (space < 0 || line.startsWith('#')) continue;
      keys.push(line.slice(0, space));
      values.push(numberOf(line.slice(space + 1)));
    }
    if (this.#known.size > SERIES_MAX) this.#known.clear();
    const isSame = before !== undefined && sameKeys(keys, before.layout.keys);
    return { atMs, layout: isSame ? before.layout : this.#layoutOf(keys, counters), values: Float64Array.from(values) };
  }

  #layoutOf(keys: readonly string[], counters: ReadonlySet<string>): Layout {
    const series = keys.map((key) => this.#seriesOf(key, counters));
    const byName = new Map<string, number[]>();
    for (const [at, { name }] of series.entries()) {
      const places = byName.get(name);
      if (places === undefined) byName.set(name, [at]);
      else places.push(at);
    }
    return { keys, series, byName, places: new Map(keys.map((key, at) => [key, at])) };
  }

  #seriesOf(key: string, counters: ReadonlySet<string>): Series {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const brace = key.indexOf('{');
    const name = brace < 0 ? key : key.slice(0, brace);
    const labels: Record<string, string> = {};
    for (const [, label = '', value = ''] of key.slice(name.length).matchAll(LABEL_FORM)) {
      labels[label] = value.replace(ESCAPE_FORM, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    }
    const series = { name, labels, isCounter: counters.has(name) };
    this.#known.set(key, series);
    return series;
  }
}

function sameKeys(keys: readonly string[], others: readonly string[]): boolean {
  return keys.length === others.length && keys.every((key, at) => others[at] === key);
}

function hasRestarted(before: Read, now: Read): boolean {
  return before.layout.keys.some((key, place) => {
    const at = before.layout === now.layout ? place : now.layout.places.get(key);
    if (at === undefined || before.layout.series[place]?.isCounter !== true) return false;
    return (now.values[at] ?? 0) < (before.values[place] ?? 0);
  });
}

function matching({ layout }: Read, name: string, labels: Labels): readonly number[] {
  const wanted = Object.entries(labels);
  const named = layout.byName.get(name) ?? [];
  return named.filter((at) => wanted.every(([label, value]) => layout.series[at]?.labels[label] === value));
}

/** A series that was not there began at zero. */
function grown(from: Read, to: Read, at: number): number {
  const place = from.layout === to.layout ? at : from.layout.places.get(to.layout.keys[at] ?? '');
  return (to.values[at] ?? 0) - (place === undefined ? 0 : (from.values[place] ?? 0));
}

/** @param rank the count at the quantile, above 0. */
function quantileOf(buckets: readonly (readonly [bound: number, upTo: number])[], rank: number): number {
  let below = 0;
  let lower = 0;
  for (const [bound, upTo] of buckets) {
    if (upTo >= rank && upTo > below) {
      if (!Number.isFinite(bound)) return lower;
      return lower + ((bound - lower) * (rank - below)) / (upTo - below);
    }
    below = upTo;
    lower = bound;
  }
  return lower;
}

function boundOf(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}
