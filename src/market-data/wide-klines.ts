/**
 * Klines of one market at every width above a second (wire-additions.md 7.2).
 *
 *   closed seconds of seven days ─▶ 5 s, 15 s, 30 s
 *          │ each as it closes or is amended
 *          ├─▶ minutes, 60 days ───▶ 3 m … 30 m
 *          ├─▶ hours, 2 years ─────▶ 2 h … 12 h
 *          └─▶ days, without end ──▶ 3 d, weeks, 30 d
 *
 * Invariants
 *   (1) Each confirmed trade of a closed second is in each kind of stored row once.
 *   (2) Rows are complete from `#readFrom` on: older trades of the tables are still being read (market-data-feed.ts),
 *       newest first, and rows before it are not shown.
 */

import { rowsBefore } from '../core/arithmetic.ts';
import { bucketAtOrAfter, bucketStart, STORED_WIDTH_MIN } from '../core/kline-intervals.ts';
import type { KlineFigures, TradeFigures, WidePage } from '../core/market-figures.ts';
import { SECOND_NS, type TimestampNs } from '../core/units.ts';
import { BarSum, type SpannedBar } from './bars.ts';
import { StoredKlines } from './stored-klines.ts';
import {
  type BucketRange,
  type BucketStarts,
  RETENTION_SECONDS,
  secondOf,
  type TradeHistory,
} from './trade-history.ts';
import { HOUR_SECONDS } from './trade-hour.ts';

const DAY_SECONDS = 86_400;
const MINUTES_KEPT_SECONDS = 60 * DAY_SECONDS;
const HOURS_KEPT_SECONDS = 731 * DAY_SECONDS;

export interface WideQuery {
  /** Seconds, above 1. */
  readonly width: number;
  /** Rows that open at or before this instant. */
  readonly endNs: bigint;
  /** From 0, the newest page. */
  readonly page: number;
  readonly limit: number;
  readonly nowNs: TimestampNs;
}

/** Rows from which wider ones are made. */
interface Source {
  readonly width: number;
  startsBefore(to: number, from: number): Iterable<number>;
  bucketsBefore(range: BucketRange): BucketStarts;
  /** Adds the row that starts at this second to a sum; no effect without trades. */
  addBar(startSecond: number, sum: BarSum): void;
}

export class WideKlines {
  readonly #history: TradeHistory;
  readonly #minutes = new StoredKlines(STORED_WIDTH_MIN, MINUTES_KEPT_SECONDS);
  readonly #hours = new StoredKlines(HOUR_SECONDS, HOURS_KEPT_SECONDS);
  readonly #days = new StoredKlines(DAY_SECONDS, Number.POSITIVE_INFINITY);
  readonly #seconds: Source;
  /** The first second from which every trade was read; 0 for all. */
  #readFrom = 0;
  /** Second of the oldest trade that was read. */
  #oldestSecond = Number.POSITIVE_INFINITY;

  /** @param closedBefore the first second that is not closed. */
  constructor(history: TradeHistory, closedBefore: () => number) {
    this.#history = history;
    this.#seconds = {
      width: 1,
      startsBefore: (to, from) => history.secondsBefore(Math.min(to, closedBefore()), from),
      bucketsBefore: (range) => history.bucketsBefore({ ...range, to: Math.min(range.to, closedBefore()) }),
      addBar: (second, sum) => {
        if (second < closedBefore()) history.addBar(second, sum);
      },
    };
  }

  /** Adds the trades of a second that has closed. */
  secondClosed(second: number, nowSecond: number): void {
    const bar = this.#history.spannedBar(second);
    if (bar !== undefined) this.#merge(bar, nowSecond);
  }

  /** Adds one trade of a second that was closed before, or is older than the seconds that are kept. */
  tradeAdded({ price, quantity, matchedNs, tradeId }: TradeFigures, nowSecond: number): void {
    const edge = { second: secondOf(matchedNs), nsInSecond: Number(matchedNs % SECOND_NS), tradeId };
    const volume = BigInt(price) * BigInt(quantity);
    this.#merge({ open: price, high: price, low: price, close: price, volume, first: edge, last: edge }, nowSecond);
  }

  /** The tables were read down to this second; 0 when nothing older is there. */
  readThrough(second: number): void {
    this.#readFrom = second;
  }

  /** Rows of the buckets that hold any of these seconds, ascending. */
  rowsOf(seconds: readonly number[], width: number): KlineFigures[] {
    const starts = new Set(seconds.map((second) => bucketStart(second, width)));
    const ascending = [...starts].sort((a, b) => a - b);
    return rowsAt(this.#sourceOf(width), ascending, width);
  }

  /** The newest rows, ascending. */
  newest(width: number, count: number, nowNs: TimestampNs): KlineFigures[] {
    const source = this.#sourceOf(width);
    const starts: number[] = [];
    for (const second of source.startsBefore(secondOf(nowNs) + width, this.keptFrom(width, nowNs))) {
      const start = bucketStart(second, width);
      if (starts.at(-1) === start) continue;
      if (starts.length === count) break;
      starts.push(start);
    }
    return rowsAt(source, starts.reverse(), width);
  }

  page({ width, endNs, page, limit, nowNs }: WideQuery): WidePage {
    const from = this.keptFrom(width, nowNs);
    const source = this.#sourceOf(width);
    const to = bucketStart(secondOf(endNs), width) + width;
    const { starts, total } = source.bucketsBefore({ to, from, width, skip: rowsBefore({ page, limit }), limit });
    const rows = rowsAt(source, starts.reverse(), width);
    return { rows, page, limit, total, width, truncatedBeforeNs: this.truncatedBeforeNs(width, nowNs) };
  }

  /** The time before which rows of this width are missing; null when nothing older was traded. */
  truncatedBeforeNs(width: number, nowNs: TimestampNs): TimestampNs | null {
    const from = this.keptFrom(width, nowNs);
    const isWhole = this.#readFrom === 0 && this.#oldestSecond >= from;
    return isWhole || from === 0 ? null : ((BigInt(from) * SECOND_NS) as TimestampNs);
  }

  /** Start of the oldest bucket that is kept and read as a whole, in seconds. */
  keptFrom(width: number, nowNs: TimestampNs): number {
    const nowSecond = secondOf(nowNs);
    const source = this.#sourceOf(width);
    // The first second that is kept may have been read only in part; it is shown as a row of its own.
    const firstSecond = Math.max(0, nowSecond - RETENTION_SECONDS + (width === 1 ? 0 : 1));
    const kept = source instanceof StoredKlines ? source.firstKept(nowSecond) : firstSecond;
    return bucketAtOrAfter(Math.max(kept, this.#readFrom), width);
  }

  #sourceOf(width: number): Source {
    if (width < STORED_WIDTH_MIN) return this.#seconds;
    if (width < HOUR_SECONDS) return this.#minutes;
    return width < DAY_SECONDS ? this.#hours : this.#days;
  }

  #merge(bar: SpannedBar, nowSecond: number): void {
    this.#oldestSecond = Math.min(this.#oldestSecond, bar.first.second);
    for (const rows of [this.#minutes, this.#hours, this.#days]) rows.merge(bar, nowSecond);
  }
}

function rowsAt(source: Source, starts: readonly number[], width: number): KlineFigures[] {
  const sum = new BarSum();
  return starts.flatMap((start) => {
    for (let second = start; second < start + width; second += source.width) source.addBar(second, sum);
    const bar = sum.take();
    return bar === undefined ? [] : { openNs: (BigInt(start) * SECOND_NS) as TimestampNs, ...bar };
  });
}
