/**
 * One hour of confirmed trades of one market: a row for each second that has trades, and, while it is kept, the trades
 * themselves for the edge of the rolling day.
 *
 *   #slotOfSecond[3600] ─▶ slot ─▶ open high low close volume first last   (columns, in order of arrival)
 *                                  head ─▶ trade ─▶ trade ─▶ −1            (a list per second, latest arrival first)
 *
 * Trades may be confirmed in any order: the first and the last of a second are found by (match time, trade id), and
 * lists need no order. A row costs 74 bytes, a kept trade 32.
 */
import { assert } from '../core/assert.ts';
import type { RawPrice, RawQuantity } from '../core/units.ts';

export const HOUR_SECONDS = 3_600;
const LOW_64 = (1n << 64n) - 1n;
const NONE = -1;

/** A trade as this room sums it. */
export interface SummedTrade {
  readonly tradeId: number;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** Nanoseconds within its second. */
  readonly nsInSecond: number;
}

/** Open, high, low, close and volume (Σ raw price × raw quantity) of some trades. */
export interface Bar {
  readonly open: RawPrice;
  readonly high: RawPrice;
  readonly low: RawPrice;
  readonly close: RawPrice;
  readonly volume: bigint;
}

class Rows {
  readonly capacity: number;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: BigUint64Array;
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
    this.volume = new BigUint64Array(2 * capacity);
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
    this.volume.set(from.volume);
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
  readonly #slotOfSecond = new Int16Array(HOUR_SECONDS).fill(NONE);
  #rows = new Rows(16);
  #rowCount = 0;
  /** Null once the hour's single trades are forgotten. */
  #trades: Trades | null = new Trades(16);
  #tradeCount = 0;
  #high = 0;
  #low = Number.MAX_SAFE_INTEGER;
  #volume = 0n;

  /** Seconds with trades. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Single trades kept. */
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
    const known = this.#slotOfSecond[second] ?? NONE;
    const slot = known === NONE ? this.#newRow(second, trade) : known;
    if (known !== NONE) this.#extend(slot, trade);
    this.#setVolume(slot, this.#volumeAt(slot) + volume);
    this.#high = Math.max(this.#high, trade.price);
    this.#low = Math.min(this.#low, trade.price);
    this.#volume += volume;
    this.#keep(slot, trade);
  }

  /** Whether the second has trades. */
  has(second: number): boolean {
    return this.#slotOfSecond[second] !== NONE;
  }

  /** The first second with trades at or after `from`; 3600 when there is none. */
  firstSecond(from: number): number {
    let second = from;
    while (second < HOUR_SECONDS && this.#slotOfSecond[second] === NONE) second += 1;
    return second;
  }

  /** Seconds with trades in [from, to). */
  countBetween(from: number, to: number): number {
    if (from <= 0 && to >= HOUR_SECONDS) return this.#rowCount;
    let count = 0;
    for (let second = Math.max(0, from); second < Math.min(to, HOUR_SECONDS); second += 1) {
      if (this.#slotOfSecond[second] !== NONE) count += 1;
    }
    return count;
  }

  /** The bar of a second that has trades. */
  bar(second: number): Bar {
    const slot = this.#slotOfSecond[second] ?? NONE;
    assert(slot !== NONE, 'a second with trades');
    const rows = this.#rows;
    return {
      open: rows.open[slot] as RawPrice,
      high: rows.high[slot] as RawPrice,
      low: rows.low[slot] as RawPrice,
      close: rows.close[slot] as RawPrice,
      volume: this.#volumeAt(slot),
    };
  }

  /** Nanosecond, within its second, of the first trade of a second that has trades. */
  firstNs(second: number): number {
    return this.#rows.firstNs[this.#slotOfSecond[second] ?? NONE] ?? 0;
  }

  /**
   * The bar of those trades of a second that were matched after `afterNs` of it, with the nanosecond of the first.
   * When single trades are forgotten the second counts whole until its last trade is passed.
   *
   * @returns null when there is none.
   */
  barAfter(second: number, afterNs: number): { readonly bar: Bar; readonly firstNs: number } | null {
    const slot = this.#slotOfSecond[second] ?? NONE;
    if (slot === NONE) return null;
    const trades = this.#trades;
    if (trades === null) {
      const lastNs = this.#rows.lastNs[slot] ?? 0;
      return lastNs > afterNs ? { bar: this.bar(second), firstNs: lastNs } : null;
    }
    const rest = new TradeHour();
    for (let at = this.#rows.head[slot] ?? NONE; at !== NONE; at = trades.next[at] ?? NONE) {
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

  /** Keeps the rows only. */
  forgetTrades(): void {
    this.#trades = null;
    this.#tradeCount = 0;
  }

  #newRow(second: number, trade: SummedTrade): number {
    const slot = this.#rowCount;
    if (slot === this.#rows.capacity) this.#rows = new Rows(Math.min(2 * slot, HOUR_SECONDS), this.#rows);
    this.#rowCount += 1;
    this.#slotOfSecond[second] = slot;
    const rows = this.#rows;
    rows.open[slot] = trade.price;
    rows.high[slot] = trade.price;
    rows.low[slot] = trade.price;
    rows.close[slot] = trade.price;
    rows.firstNs[slot] = trade.nsInSecond;
    rows.firstId[slot] = trade.tradeId;
    rows.lastNs[slot] = trade.nsInSecond;
    rows.lastId[slot] = trade.tradeId;
    rows.head[slot] = NONE;
    return slot;
  }

  #extend(slot: number, trade: SummedTrade): void {
    const rows = this.#rows;
    rows.high[slot] = Math.max(rows.high[slot] ?? 0, trade.price);
    rows.low[slot] = Math.min(rows.low[slot] ?? 0, trade.price);
    if (isBefore(trade, rows.firstNs[slot] ?? 0, rows.firstId[slot] ?? 0)) {
      rows.open[slot] = trade.price;
      rows.firstNs[slot] = trade.nsInSecond;
      rows.firstId[slot] = trade.tradeId;
    }
    if (!isBefore(trade, rows.lastNs[slot] ?? 0, rows.lastId[slot] ?? 0)) {
      rows.close[slot] = trade.price;
      rows.lastNs[slot] = trade.nsInSecond;
      rows.lastId[slot] = trade.tradeId;
    }
  }

  #keep(slot: number, trade: SummedTrade): void {
    if (this.#trades === null) return;
    const at = this.#tradeCount;
    if (at === this.#trades.capacity) this.#trades = new Trades(2 * at, this.#trades);
    const trades = this.#trades;
    trades.ns[at] = trade.nsInSecond;
    trades.id[at] = trade.tradeId;
    trades.price[at] = trade.price;
    trades.quantity[at] = trade.quantity;
    trades.next[at] = this.#rows.head[slot] ?? NONE;
    this.#rows.head[slot] = at;
    this.#tradeCount += 1;
  }

  #volumeAt(slot: number): bigint {
    return ((this.#rows.volume[2 * slot + 1] ?? 0n) << 64n) | (this.#rows.volume[2 * slot] ?? 0n);
  }

  #setVolume(slot: number, volume: bigint): void {
    assert(volume >> 128n === 0n, 'the volume of one second fits 128 bits');
    this.#rows.volume[2 * slot] = volume & LOW_64;
    this.#rows.volume[2 * slot + 1] = volume >> 64n;
  }
}

function isBefore(trade: SummedTrade, ns: number, id: number): boolean {
  return trade.nsInSecond < ns || (trade.nsInSecond === ns && trade.tradeId < id);
}
