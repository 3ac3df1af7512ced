/**
 * One hour of confirmed trades of one market: a row for each second with trades, and, while kept, the trades themselves
 * for the edge of the rolling day.
 *
 *   #rowOfSecond[3600] ─▶ row ─▶ open high low close volume first last   (columns, in order of arrival)
 *                                 head ─▶ trade ─▶ trade ─▶ −1            (a list per second, latest arrival first)
 *
 * Trades may be confirmed in any order: the first and the last of a second are determined by (match time, trade id),
 * and lists need no order. A row costs 74 bytes, a kept trade 32.
 */
import { assert } from '../core/assert.ts';
import type { RawPrice, RawQuantity } from '../core/units.ts';
import { type Bar, type BarSum, type SpannedBar, VolumeColumn } from './bars.ts';

export const HOUR_SECONDS = 3_600;
const NONE = -1;

/** A trade as this module sums it. */
interface SummedTrade {
  readonly tradeId: number;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** Nanoseconds within its second. */
  readonly nsInSecond: number;
}

class Rows {
  readonly capacity: number;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volumes: VolumeColumn;
  readonly firstNs: Uint32Array;
  readonly firstId: Float64Array;
  readonly lastNs: Uint32Array;
  readonly lastId: Float64Array;
  readonly head: Int32Array;

  constructor(capacity: number, from?: Rows) {
    this.capacity = capacity;
    this.open = new Float64Array(capacity);
    this.high = new Float64Array(capacity);
    this.low = new Float64Array(capacity);
    this.close = new Float64Array(capacity);
    this.volumes = new VolumeColumn(capacity, from?.volumes);
    this.firstNs = new Uint32Array(capacity);
    this.firstId = new Float64Array(capacity);
    this.lastNs = new Uint32Array(capacity);
    this.lastId = new Float64Array(capacity);
    this.head = new Int32Array(capacity);
    if (from === undefined) return;
    this.open.set(from.open);
    this.high.set(from.high);
    this.low.set(from.low);
    this.close.set(from.close);
    this.firstNs.set(from.firstNs);
    this.firstId.set(from.firstId);
    this.lastNs.set(from.lastNs);
    this.lastId.set(from.lastId);
    this.head.set(from.head);
  }
}

class Trades {
  readonly capacity: number;
  readonly ns: Uint32Array;
  readonly id: Float64Array;
  readonly price: Float64Array;
  readonly quantity: Float64Array;
  readonly next: Int32Array;

  constructor(capacity: number, from?: Trades) {
    this.capacity = capacity;
    this.ns = new Uint32Array(capacity);
    this.id = new Float64Array(capacity);
    this.price = new Float64Array(capacity);
    this.quantity = new Float64Array(capacity);
    this.next = new Int32Array(capacity);
    if (from === undefined) return;
    this.ns.set(from.ns);
    this.id.set(from.id);
    this.price.set(from.price);
    this.quantity.set(from.quantity);
    this.next.set(from.next);
  }
}

export class TradeHour {
  readonly #rowOfSecond = new Int16Array(HOUR_SECONDS).fill(NONE);
  #rows = new Rows(16);
  #rowCount = 0;
  /** Null after the hour's single trades were dropped. */
  #trades: Trades | null = new Trades(16);
  #tradeCount = 0;
  #high = 0;
  #low = Number.MAX_SAFE_INTEGER;
  #volume = 0n;
  /** Buckets with trades, by width, of those that were counted since the last new second. */
  readonly #bucketCounts = new Map<number, number>();

  /** Number of seconds with trades. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Number of kept single trades. */
  get keptTrades(): number {
    return this.#tradeCount;
  }

  get high(): RawPrice {
    return this.#high as RawPrice;
  }

  get low(): RawPrice {
    return this.#low as RawPrice;
  }

  get volume(): bigint {
    return this.#volume;
  }

  /** @param second 0 … 3599. */
  add(second: number, trade: SummedTrade): void {
    assert(second >= 0 && second < HOUR_SECONDS, 'a second of its hour');
    const volume = BigInt(trade.price) * BigInt(trade.quantity);
    const known = this.#rowOfSecond[second] ?? NONE;
    const row = known === NONE ? this.#newRow(second, trade) : known;
    if (known === NONE) this.#bucketCounts.clear();
    else this.#extend(row, trade);
    this.#rows.volumes.add(row, volume);
    this.#high = Math.max(this.#high, trade.price);
    this.#low = Math.min(this.#low, trade.price);
    this.#volume += volume;
    this.#keep(row, trade);
  }

  /** Whether the second has trades. */
  has(second: number): boolean {
    return this.#rowOfSecond[second] !== NONE;
  }

  /** The first second with trades at or after `from`; 3600 if there is none. */
  firstSecond(from: number): number {
    let second = from;
    while (second < HOUR_SECONDS && this.#rowOfSecond[second] === NONE) second += 1;
    return second;
  }

  /** Number of seconds with trades in [from, to). */
  countBetween(from: number, to: number): number {
    if (from <= 0 && to >= HOUR_SECONDS) return this.#rowCount;
    let count = 0;
    for (let second = Math.max(0, from); second < Math.min(to, HOUR_SECONDS); second += 1) {
      if (this.#rowOfSecond[second] !== NONE) count += 1;
    }
    return count;
  }

  /** Number of buckets with trades. @param width seconds, a divisor of an hour. */
  bucketCount(width: number): number {
    const known = this.#bucketCounts.get(width);
    if (known !== undefined) return known;
    let count = 0;
    for (let start = 0; start < HOUR_SECONDS; start += width) {
      if (this.firstSecond(start) < start + width) count += 1;
    }
    this.#bucketCounts.set(width, count);
    return count;
  }

  /** The bar of a second that has trades. */
  bar(second: number): Bar {
    const row = this.#rowOfSecond[second] ?? NONE;
    assert(row !== NONE, 'a second with trades');
    const rows = this.#rows;
    return {
      open: rows.open[row] as RawPrice,
      high: rows.high[row] as RawPrice,
      low: rows.low[row] as RawPrice,
      close: rows.close[row] as RawPrice,
      volume: rows.volumes.at(row),
    };
  }

  /** Adds the bar of a second to a sum; no effect without trades. */
  addBar(second: number, sum: BarSum): void {
    const row = this.#rowOfSecond[second] ?? NONE;
    if (row !== NONE) sum.add(this.#rows, this.#rows.volumes, row);
  }

  /** As `bar`, with its first and its last trade. @param startSecond start of the hour, seconds since 1970. */
  spannedBar(second: number, startSecond: number): SpannedBar {
    const row = this.#rowOfSecond[second] ?? NONE;
    const { firstNs, firstId, lastNs, lastId } = this.#rows;
    const at = startSecond + second;
    return {
      ...this.bar(second),
      first: { second: at, nsInSecond: firstNs[row] ?? 0, tradeId: firstId[row] ?? 0 },
      last: { second: at, nsInSecond: lastNs[row] ?? 0, tradeId: lastId[row] ?? 0 },
    };
  }

  /** Nanosecond, within its second, of the first trade of a second that has trades. */
  firstNs(second: number): number {
    return this.#rows.firstNs[this.#rowOfSecond[second] ?? NONE] ?? 0;
  }

  /**
   * The bar of those trades of a second that were matched after its nanosecond `afterNs`, with the nanosecond of the
   * first. Without single trades the whole second counts until its last trade is passed.
   *
   * @returns null if there is none.
   */
  barAfter(second: number, afterNs: number): { readonly bar: Bar; readonly firstNs: number } | null {
    const row = this.#rowOfSecond[second] ?? NONE;
    if (row === NONE) return null;
    const trades = this.#trades;
    if (trades === null) {
      const lastNs = this.#rows.lastNs[row] ?? 0;
      return lastNs > afterNs ? { bar: this.bar(second), firstNs: lastNs } : null;
    }
    const rest = new TradeHour();
    for (let at = this.#rows.head[row] ?? NONE; at !== NONE; at = trades.next[at] ?? NONE) {
      const nsInSecond = trades.ns[at] ?? 0;
      if (nsInSecond <= afterNs) continue;
      rest.add(0, {
        tradeId: trades.id[at] ?? 0,
        price: trades.price[at] as RawPrice,
        quantity: trades.quantity[at] as RawQuantity,
        nsInSecond,
      });
    }
    return rest.rowCount === 0 ? null : { bar: rest.bar(0), firstNs: rest.firstNs(0) };
  }

  /** Drops the single trades and keeps the rows. */
  forgetTrades(): void {
    this.#trades = null;
    this.#tradeCount = 0;
  }

  #newRow(second: number, trade: SummedTrade): number {
    const row = this.#rowCount;
    if (row === this.#rows.capacity) this.#rows = new Rows(Math.min(2 * row, HOUR_SECONDS), this.#rows);
    this.#rowCount += 1;
    this.#rowOfSecond[second] = row;
    const rows = this.#rows;
    rows.open[row] = trade.price;
    rows.high[row] = trade.price;
    rows.low[row] = trade.price;
    rows.close[row] = trade.price;
    rows.firstNs[row] = trade.nsInSecond;
    rows.firstId[row] = trade.tradeId;
    rows.lastNs[row] = trade.nsInSecond;
    rows.lastId[row] = trade.tradeId;
    rows.head[row] = NONE;
    return row;
  }

  #extend(row: number, trade: SummedTrade): void {
    const rows = this.#rows;
    rows.high[row] = Math.max(rows.high[row] ?? 0, trade.price);
    rows.low[row] = Math.min(rows.low[row] ?? 0, trade.price);
    if (isBefore(trade, rows.firstNs[row] ?? 0, rows.firstId[row] ?? 0)) {
      rows.open[row] = trade.price;
      rows.firstNs[row] = trade.nsInSecond;
      rows.firstId[row] = trade.tradeId;
    }
    if (!isBefore(trade, rows.lastNs[row] ?? 0, rows.lastId[row] ?? 0)) {
      rows.close[row] = trade.price;
      rows.lastNs[row] = trade.nsInSecond;
      rows.lastId[row] = trade.tradeId;
    }
  }

  #keep(row: number, trade: SummedTrade): void {
    if (this.#trades === null) return;
    const at = this.#tradeCount;
    if (at === this.#trades.capacity) this.#trades = new Trades(2 * at, this.#trades);
    const trades = this.#trades;
    trades.ns[at] = trade.nsInSecond;
    trades.id[at] = trade.tradeId;
    trades.price[at] = trade.price;
    trades.quantity[at] = trade.quantity;
    trades.next[at] = this.#rows.head[row] ?? NONE;
    this.#rows.head[row] = at;
    this.#tradeCount += 1;
  }
}

function isBefore(trade: SummedTrade, ns: number, id: number): boolean {
  return trade.nsInSecond < ns || (trade.nsInSecond === ns && trade.tradeId < id);
}
