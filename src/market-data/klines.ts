/**
 * One-second klines of one market (KLN-01 to KLN-09, AMB-99).
 *
 * A second is open until it is over and clearing has decided all its trades, but at most 5 s longer: then its row is
 * available in pages and is sent. A trade confirmed for a closed second amends the row, which is sent again.
 *
 *      closed: in pages, sent              │ open: in the ticker only
 *   ───────────────────────────────────────┼──────────────────────────▶ time
 *                                   #closedBefore
 *
 * A second that closes, and a trade of a closed one, go on to the wider rows (wide-klines.ts).
 *
 * Seconds closed by the first `close` are history: available in pages but not sent.
 */

import { rowsBefore } from '../core/arithmetic.ts';
import type { KlineFigures, KlineFiguresPage, TradeFigures } from '../core/market-figures.ts';
import { SECOND_NS, type TimestampNs } from '../core/units.ts';
import { secondOf, type TradeHistory } from './trade-history.ts';
import { HOUR_SECONDS } from './trade-hour.ts';
import { WideKlines } from './wide-klines.ts';

/** Rows per page (KLN-02). */
export const KLINE_LIMIT_MAX = 18_000;
export const KLINE_LIMIT_DEFAULT = 1_000;
/** How long a past second waits for clearing. */
const CLOSE_LATE_SECONDS = 5;
/** Seconds that are certainly closed at the start: it is later than the reading of the trades. */
const LOADED_LATE_SECONDS = 60;

export interface KlineRange {
  /** Rows that close at or before this instant. */
  readonly endNs: TimestampNs;
  /** From 0, the newest page. */
  readonly page: number;
  readonly limit: number;
  readonly nowNs: TimestampNs;
}

export class Klines {
  readonly #history: TradeHistory;
  #closedBefore = 0;
  #hasStarted = false;
  readonly #openSeconds = new Set<number>();
  readonly #amendedSeconds = new Set<number>();
  #nowSecond = 0;
  /** Before the start: trades of earlier seconds went into the wider rows one by one. */
  #mergedBefore = 0;
  readonly wide: WideKlines;

  constructor(history: TradeHistory) {
    this.#history = history;
    this.wide = new WideKlines(history, () => this.#closedBefore);
  }

  /** Called after the trade was added to the history. */
  tradeAdded(trade: TradeFigures): void {
    const second = secondOf(trade.matchedNs);
    if (!this.#hasStarted) {
      if (second < this.#mergedBefore) this.wide.tradeAdded(trade, this.#mergedBefore);
      return;
    }
    if (second >= this.#closedBefore) {
      this.#openSeconds.add(second);
      return;
    }
    this.#amendedSeconds.add(second);
    // mutant: amended-wide-row
    this.wide.tradeAdded(trade, this.#nowSecond);
  }

  /**
   * Trades that are added from now on until the start, but for those of the last minute, go into the wider rows at once:
   * seven days of them would take seconds at the start.
   */
  loading(nowNs: TimestampNs): void {
    this.#mergedBefore = secondOf(nowNs) - LOADED_LATE_SECONDS;
  }

  /** A trade that is too old for the seconds that are kept: its wider rows remain. */
  oldTradeAdded(trade: TradeFigures): void {
    if (this.#hasStarted) this.wide.tradeAdded(trade, this.#nowSecond);
  }

  /**
   * Closes the seconds that are due.
   *
   * @param passedNs everything matched before this time has been confirmed or rolled back.
   * @returns the rows to send: newly closed and amended ones, ascending.
   */
  close(nowNs: TimestampNs, passedNs: TimestampNs): KlineFigures[] {
    const nowSecond = secondOf(nowNs);
    this.#nowSecond = nowSecond;
    const target = Math.min(nowSecond, Math.max(secondOf(passedNs), nowSecond - CLOSE_LATE_SECONDS));
    if (!this.#hasStarted) this.#start(target, nowNs);
    if (target > this.#closedBefore) {
      this.#closedBefore = target;
      for (const second of this.#openSeconds) {
        if (second >= target) continue;
        this.#openSeconds.delete(second);
        this.#amendedSeconds.add(second);
        this.wide.secondClosed(second, nowSecond);
      }
    }
    if (this.#amendedSeconds.size === 0) return [];
    const seconds = [...this.#amendedSeconds].sort((a, b) => a - b);
    this.#amendedSeconds.clear();
    return seconds.flatMap((second) => this.#row(second) ?? []);
  }

  /** A window of closed rows, ascending; page 0 is the newest (G19). */
  page({ endNs, page, limit, nowNs }: KlineRange): KlineFiguresPage {
    const first = this.#history.firstKeptSecond(nowNs);
    const end = Math.min(this.#closedBefore, secondOf(endNs));
    const newestHour = Math.min(this.#history.newestHour, Math.floor((end - 1) / HOUR_SECONDS));
    const rows: KlineFigures[] = [];
    let toSkip = rowsBefore({ page, limit });
    let total = 0;
    for (let hourIndex = newestHour; hourIndex * HOUR_SECONDS > first - HOUR_SECONDS; hourIndex -= 1) {
      const start = hourIndex * HOUR_SECONDS;
      const count = this.#history.hour(hourIndex)?.countBetween(first - start, end - start) ?? 0;
      total += count;
      if (toSkip >= count) toSkip -= count;
      else {
        let second = Math.min(end, start + HOUR_SECONDS) - 1;
        for (; second >= Math.max(first, start) && rows.length < limit; second -= 1) {
          const row = this.#history.hour(hourIndex)?.has(second - start) ? this.#row(second) : undefined;
          if (row === undefined) continue;
          if (toSkip > 0) toSkip -= 1;
          else rows.push(row);
        }
      }
    }
    return { rows: rows.reverse(), page, limit, total };
  }

  #start(target: number, nowNs: TimestampNs): void {
    const nowSecond = secondOf(nowNs);
    this.#hasStarted = true;
    this.#closedBefore = target;
    const from = Math.max(this.#mergedBefore, this.#history.firstKeptSecond(nowNs) - HOUR_SECONDS);
    for (const second of this.#history.secondsBefore(target, from)) {
      this.wide.secondClosed(second, nowSecond);
    }
    for (let second = target; second <= nowSecond; second += 1) {
      if (this.#row(second) !== undefined) this.#openSeconds.add(second);
    }
  }

  #row(second: number): KlineFigures | undefined {
    const hourIndex = Math.floor(second / HOUR_SECONDS);
    const hour = this.#history.hour(hourIndex);
    const secondOfHour = second - hourIndex * HOUR_SECONDS;
    if (hour === undefined || !hour.has(secondOfHour)) return undefined;
    return { openNs: (BigInt(second) * SECOND_NS) as TimestampNs, ...hour.bar(secondOfHour) };
  }
}
