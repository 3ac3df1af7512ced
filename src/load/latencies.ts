/** Latencies of one run: HDR histograms of three significant digits in microseconds, and counts over time. */
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import type { HeatMap, Latency } from './plan.ts';

const CURVE: readonly number[] = [
  0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.99, 99.999, 100,
];
const US_MAX = 600_000_000;
const COLUMNS = 120;
const COLUMN_MS_MIN = 50;
const BANDS_PER_OCTAVE = 4;

export class Latencies {
  readonly #histogram: Histogram = buildHistogram({
    lowestDiscernibleValue: 1,
    highestTrackableValue: US_MAX,
    numberOfSignificantValueDigits: 3,
  });

  get count(): number {
    return this.#histogram.totalCount;
  }

  /** In whole microseconds, at least 1. */
  recordMs(ms: number): void {
    this.#histogram.recordValue(Math.min(US_MAX, Math.max(1, Math.round(ms * 1_000))));
  }

  summary(): Latency {
    const at = (percentile: number): number => this.#histogram.getValueAtPercentile(percentile);
    return {
      count: this.count,
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      p9999: at(99.99),
      max: this.#histogram.maxValue,
      curve: this.count === 0 ? [] : CURVE.map((percentile) => [percentile, at(percentile)]),
    };
  }
}

/** Counts replies by the time at which their message was due, and by latency. */
export class LatenciesOverTime {
  readonly #columnMs: number;
  readonly #columns: Map<number, number>[] = [];

  /** @param totalMs of the counted messages. */
  constructor(totalMs: number) {
    this.#columnMs = Math.max(COLUMN_MS_MIN, Math.ceil(totalMs / COLUMNS));
  }

  /** @param dueMs since the first counted message was due. Messages of a run without schedule go on beyond `totalMs`. */
  record(dueMs: number, latencyMs: number): void {
    const at = Math.min(COLUMNS - 1, Math.max(0, Math.floor(dueMs / this.#columnMs)));
    while (this.#columns.length <= at) this.#columns.push(new Map());
    const column = this.#columns[at] ?? new Map<number, number>();
    const band = Math.floor(BANDS_PER_OCTAVE * Math.log2(Math.max(1, latencyMs * 1_000)));
    column.set(band, (column.get(band) ?? 0) + 1);
  }

  heatMap(): HeatMap {
    const bands = this.#columns.flatMap((column) => [...column.keys()]);
    const from = bands.length === 0 ? 0 : Math.min(...bands);
    const columns = this.#columns.map((column) => {
      const to = Math.max(from - 1, ...column.keys());
      return Array.from({ length: to - from + 1 }, (_, index) => column.get(from + index) ?? 0);
    });
    return { columnMs: this.#columnMs, from, columns };
  }
}

/** Microseconds at which a band of a heat map begins. */
export function bandBeginUs(band: number): number {
  return 2 ** (band / BANDS_PER_OCTAVE);
}
