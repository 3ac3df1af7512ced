/**
 * Seven days of confirmed trades of one market by hour and second: the source of klines and ticker.
 *
 * Bounded: at most 170 hours; rows for at most 604,800 seconds; single trades of the last 25 hours, at most
 * `keptTradesMax`. Above that the oldest hour drops its single trades and each of its seconds leaves the rolling day as
 * a whole, with its last trade: the ticker is then late by less than a second there, with no other effect.
 */
import { assert } from '../core/assert.ts';
import type { TradeFigures } from '../core/market-figures.ts';
import { SECOND_NS, type TimestampNs } from '../core/units.ts';
import type { BarSum, SpannedBar } from './bars.ts';
import { HOUR_SECONDS, TradeHour } from './trade-hour.ts';

/** Seconds for which rows are kept (KLN-04). */
export const RETENTION_SECONDS = 604_800;
/** Single trades of one market; 32 MiB. Exact for a market with up to 12 trades a second all day. */
const KEPT_TRADES_MAX = 1_048_576;
const DETAIL_HOURS = 25;

/** Which buckets are wanted, in seconds: of those in [from, to), newest first, `limit` behind the first `skip`. */
export interface BucketRange {
  readonly to: number;
  readonly from: number;
  readonly width: number;
  readonly skip: number;
  readonly limit: number;
}

export interface BucketStarts {
  /** Newest first. */
  readonly starts: number[];
  /** The number of all buckets in the range. */
  readonly total: number;
}

/** Whole seconds since 1970. */
export function secondOf(ns: bigint): number {
  return Number(ns / SECOND_NS);
}

export class TradeHistory {
  readonly #keptTradesMax: number;
  readonly #hours = new Map<number, TradeHour>();
  #keptTrades = 0;
  #newestHour = -1;

  constructor(keptTradesMax: number = KEPT_TRADES_MAX) {
    this.#keptTradesMax = keptTradesMax;
  }

  /** @returns false, without a change, for a trade older than the retention. */
  add(trade: TradeFigures, nowNs: TimestampNs): boolean {
    assert(trade.matchedNs >= 0n, 'a match time');
    const second = secondOf(trade.matchedNs);
    // While history is loaded, the trades themselves determine the time.
    const newestSecond = Math.max(secondOf(nowNs), this.#newestHour * HOUR_SECONDS);
    if (second < newestSecond - RETENTION_SECONDS) return false;
    const hourIndex = Math.floor(second / HOUR_SECONDS);
    let hour = this.#hours.get(hourIndex);
    if (hour === undefined) {
      hour = new TradeHour();
      this.#hours.set(hourIndex, hour);
      this.#newestHour = Math.max(this.#newestHour, hourIndex);
      this.#prune(Math.max(newestSecond, second));
    }
    const keptBefore = hour.keptTrades;
    hour.add(second - hourIndex * HOUR_SECONDS, {
      tradeId: trade.tradeId,
      price: trade.price,
      quantity: trade.quantity,
      nsInSecond: Number(trade.matchedNs % SECOND_NS),
    });
    this.#keptTrades += hour.keptTrades - keptBefore;
    while (this.#keptTrades > this.#keptTradesMax) this.#forgetOldestTrades();
    return true;
  }

  /** The first second with a kept row. */
  firstKeptSecond(nowNs: TimestampNs): number {
    return Math.max(0, secondOf(nowNs) - RETENTION_SECONDS);
  }

  hour(hourIndex: number): TradeHour | undefined {
    return this.#hours.get(hourIndex);
  }

  /** Seconds with trades in [from, to), newest first. */
  *secondsBefore(to: number, from: number): Generator<number, void, undefined> {
    const newest = Math.min(this.#newestHour, Math.floor((to - 1) / HOUR_SECONDS));
    for (let index = newest; index >= 0 && (index + 1) * HOUR_SECONDS > from; index -= 1) {
      const hour = this.#hours.get(index);
      const start = index * HOUR_SECONDS;
      if (hour === undefined) continue;
      for (let second = Math.min(to, start + HOUR_SECONDS) - 1; second >= Math.max(from, start); second -= 1) {
        if (hour.has(second - start)) yield second;
      }
    }
  }

  /**
   * Starts of the buckets with trades in [from, to), newest first, and the number of all. An hour is walked only where it is on
   * the page or in the range in part, so a page of seven busy days costs what its own rows cost.
   *
   * @param width seconds, a divisor of an hour; `from` is the start of a bucket.
   */
  bucketsBefore({ to, from, width, skip, limit }: BucketRange): BucketStarts {
    const starts: number[] = [];
    let total = 0;
    const newest = Math.min(this.#newestHour, Math.floor((to - 1) / HOUR_SECONDS));
    for (let index = newest; index >= 0 && (index + 1) * HOUR_SECONDS > from; index -= 1) {
      const hour = this.#hours.get(index);
      if (hour === undefined) continue;
      const start = index * HOUR_SECONDS;
      const end = start + HOUR_SECONDS;
      if (start >= from && end <= to) {
        const count = hour.bucketCount(width);
        if (total + count <= skip || starts.length === limit) {
          total += count;
          continue;
        }
      }
      let last = -1;
      for (let second = Math.min(to, end) - 1; second >= Math.max(from, start); second -= 1) {
        const bucket = second - (second % width);
        if (bucket === last || !hour.has(second - start)) continue;
        last = bucket;
        if (total >= skip && starts.length < limit) starts.push(bucket);
        total += 1;
      }
    }
    return { starts, total };
  }

  /** Adds the bar of a second since 1970 to a sum; no effect without trades. */
  addBar(second: number, sum: BarSum): void {
    const index = Math.floor(second / HOUR_SECONDS);
    this.#hours.get(index)?.addBar(second - index * HOUR_SECONDS, sum);
  }

  /** The bar of a second since 1970, with its first and its last trade; undefined without trades. */
  spannedBar(second: number): SpannedBar | undefined {
    const index = Math.floor(second / HOUR_SECONDS);
    const hour = this.#hours.get(index);
    const start = index * HOUR_SECONDS;
    return hour?.has(second - start) === true ? hour.spannedBar(second - start, start) : undefined;
  }

  /** −1 without trades. */
  get newestHour(): number {
    return this.#newestHour;
  }

  /** Drops hours beyond the retention, and single trades beyond the rolling day. */
  #prune(newestSecond: number): void {
    const firstHour = Math.floor((newestSecond - RETENTION_SECONDS) / HOUR_SECONDS);
    const firstDetailHour = Math.floor(newestSecond / HOUR_SECONDS) - DETAIL_HOURS;
    for (const [hourIndex, hour] of this.#hours) {
      if (hourIndex >= firstDetailHour) continue;
      this.#forget(hour);
      if (hourIndex < firstHour) this.#hours.delete(hourIndex);
    }
  }

  #forgetOldestTrades(): void {
    let oldest: number | undefined;
    for (const [hourIndex, hour] of this.#hours) {
      if (hour.keptTrades > 0 && (oldest === undefined || hourIndex < oldest)) oldest = hourIndex;
    }
    const hour = oldest === undefined ? undefined : this.#hours.get(oldest);
    assert(hour !== undefined, 'kept trades belong to an hour');
    this.#forget(hour);
  }

  #forget(hour: TradeHour): void {
    this.#keptTrades -= hour.keptTrades;
    hour.forgetTrades();
  }
}
