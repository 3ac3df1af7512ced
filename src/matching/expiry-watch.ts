/**
 * Tracks which orders expire when. Most orders live for 30 days and end within minutes: those cost nothing here.
 *
 *   now ───────── horizon ───────── next ───────────────▶ time
 *      │ orders in  │ read by the   │ not read
 *      │ the heap   │ next sweep    │
 *
 * Halfway to the horizon a sweep begins: it reads all pool entries once, some per tick, and adds those that expire
 * before `next`; when it is complete, `next` becomes the horizon. If time reaches the horizon earlier, for example
 * after a clock step, the rest is read at once.
 *
 * The heap entry of an order that ends is not removed: it is void once its pool entry is free or reused. Every added
 * entry examines two others, cyclically, and drops void ones: so the heap is bounded by about twice the number of
 * orders that expire within the horizon, at constant cost per addition.
 *
 * `wake` is a time before which nothing expires: the only comparison that a command makes. Of many orders due at one
 * instant a limited number ends per step; until all have ended, `isBehind` is true and `wake` lies in the past
 * (expired-orders.ts).
 *
 * Invariant: every order in the pool that expires before the horizon is marked as watched and has one heap entry; so
 * does every order that expires before `next` and was passed by the sweep or added after it began.
 */

import { grown, NONE } from '../core/pools.ts';
import { fromWords, highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';

/** One hour: reading every pool entry once in half of it is cheap, and only short-lived orders are in the heap. */
const HORIZON_NS = 3_600_000_000_000n;
/** Pool entries that one tick of a sweep reads: some ten microseconds when none of them expires soon. */
const SWEPT_PER_TICK = 1_024;
/** Existing entries examined per added entry. */
const LOOKS_PER_ADDED = 2;
const FIRST_CAPACITY = 64;
/** Maximum number of void entries dropped per step. */
const VOID_PER_TURN = 1_024;

export class ExpiryWatch {
  wakeHigh = 0;
  wakeLow = 0;
  /** Whether due orders are still to be ended. */
  isBehind = false;
  /** The latest time passed to `pass`. */
  lastHigh = 0;
  lastLow = 0;
  readonly #orders: OrderPool;
  #horizonHigh = 0;
  #horizonLow = 0;
  /** Time at which the next sweep begins. */
  #sweepHigh = 0;
  #sweepLow = 0;
  /** Where the sweep continues; NONE between sweeps. */
  #sweepAt: number = NONE;
  /** The horizon after the current sweep; equals the horizon between sweeps. */
  #nextHigh = 0;
  #nextLow = 0;
  /** A binary heap over (expiry, order sequence). */
  #indexes: Int32Array = new Int32Array(FIRST_CAPACITY);
  #highs: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  #lows: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  #sequences: Float64Array = new Float64Array(FIRST_CAPACITY);
  #count = 0;
  /** The entry that is examined next for being void. */
  #lookAt = 0;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  /**
   * Adds an order that begins to rest or to wait; its expiry lies after the last time. Adding it again changes nothing.
   */
  add(index: number): void {
    const high = this.#orders.expiryHigh(index);
    if (high > this.#nextHigh || !isBefore(high, this.#orders.expiryLow(index), this.#nextHigh, this.#nextLow)) return;
    if (this.#orders.hasMark(index, MARK.isWatched)) return;
    this.#push(index);
    for (let looks = 0; looks < LOOKS_PER_ADDED; looks++) this.#dropIfVoid();
    this.#setWake();
  }

  /** The expiry of an order was changed. */
  change(index: number): void {
    this.#orders.unmark(index, MARK.isWatched);
    this.add(index);
  }

  /** Advances time: begins or continues a sweep. */
  tick(nowNs: bigint): void {
    const [high, low] = [highWord(nowNs), lowWord(nowNs)];
    if (this.#sweepAt === NONE && isBefore(high, low, this.#sweepHigh, this.#sweepLow)) return;
    if (this.#sweepAt === NONE) this.#beginSweep(high, low);
    this.#sweep(SWEPT_PER_TICK);
    this.#setWake();
  }

  /** Whether the order is expired at `high`, `low`, or at the latest passed time if that is later. */
  hasPassed(index: number, high: number, low: number): boolean {
    return this.isPast(this.#orders.expiryHigh(index), this.#orders.expiryLow(index), high, low);
  }

  isPast(expiryHigh: number, expiryLow: number, high: number, low: number): boolean {
    return !isBefore(high, low, expiryHigh, expiryLow) || !isBefore(this.lastHigh, this.lastLow, expiryHigh, expiryLow);
  }

  /** Whether the order is expired at the latest passed time. */
  isDue(index: number): boolean {
    return !isBefore(this.lastHigh, this.lastLow, this.#orders.expiryHigh(index), this.#orders.expiryLow(index));
  }

  /**
   * Advances to a time at or after `wake`.
   *
   * @returns the live orders due by then, earliest first, then by acceptance; at most `budget`, which the caller must
   * end.
   */
  pass(high: number, low: number, budget: number): number[] {
    if (!isBefore(high, low, this.lastHigh, this.lastLow)) {
      this.lastHigh = high;
      this.lastLow = low;
    }
    if (!isBefore(high, low, this.#horizonHigh, this.#horizonLow)) this.#moveHorizon(high, low);
    const due: number[] = [];
    for (let looks = budget + VOID_PER_TURN; looks > 0 && this.#isFirstDue(); looks--) {
      if (this.#isFirstLive()) {
        if (due.length === budget) break;
        due.push(this.#indexes[0] as number);
      }
      this.#drop(0);
    }
    this.#setWake();
    return due;
  }

  /** Recomputes `isBehind` after due orders have ended. */
  lookAgain(): void {
    if (this.isBehind) this.pass(this.lastHigh, this.lastLow, 0);
  }

  #isFirstDue(): boolean {
    const { lastHigh: high, lastLow: low } = this;
    // mutant: expiry-time
    return this.#count > 0 && !isBefore(high, low, this.#highs[0] as number, this.#lows[0] as number);
  }

  #isFirstLive(): boolean {
    const state = this.#isVoid(0) ? ORDER_STATE.free : this.#orders.stateOf(this.#indexes[0] as number);
    return state === ORDER_STATE.resting || state === ORDER_STATE.dormant;
  }

  #isVoid(at: number): boolean {
    const index = this.#indexes[at] as number;
    const orders = this.#orders;
    if (orders.stateOf(index) === ORDER_STATE.free || orders.sequenceOf(index) !== this.#sequences[at]) return true;
    return orders.expiryHigh(index) !== this.#highs[at] || orders.expiryLow(index) !== this.#lows[at];
  }

  /** The time is beyond the horizon: completes the sweep at once. */
  #moveHorizon(high: number, low: number): void {
    const isBeyond = !isBefore(high, low, this.#nextHigh, this.#nextLow);
    if (this.#sweepAt === NONE || isBeyond) this.#beginSweep(high, low);
    this.#sweep(Number.POSITIVE_INFINITY);
  }

  /** Begins a sweep to one hour from now. Watched orders stay watched. */
  #beginSweep(high: number, low: number): void {
    const nowNs = fromWords(high, low);
    this.#nextHigh = highWord(nowNs + HORIZON_NS);
    this.#nextLow = lowWord(nowNs + HORIZON_NS);
    this.#sweepAt = 0;
  }

  #sweep(entriesMax: number): void {
    const orders = this.#orders;
    this.#sweepAt = orders.forEachOf(this.#sweepAt, entriesMax, (index) => {
      if (!isBefore(orders.expiryHigh(index), orders.expiryLow(index), this.#nextHigh, this.#nextLow)) return;
      if (!orders.hasMark(index, MARK.isWatched)) this.#push(index);
    });
    if (this.#sweepAt !== NONE) return;
    this.#horizonHigh = this.#nextHigh;
    this.#horizonLow = this.#nextLow;
    const sweepNs = fromWords(this.#nextHigh, this.#nextLow) - HORIZON_NS / 2n;
    this.#sweepHigh = highWord(sweepNs);
    this.#sweepLow = lowWord(sweepNs);
  }

  #dropIfVoid(): void {
    if (this.#lookAt >= this.#count) this.#lookAt = 0;
    if (this.#count > 0 && this.#isVoid(this.#lookAt)) this.#drop(this.#lookAt);
    else this.#lookAt++;
  }

  #setWake(): void {
    this.isBehind = this.#isFirstDue();
    const high = this.#highs[0] as number;
    const low = this.#lows[0] as number;
    // Entries added by an incomplete sweep may expire after orders that it has not read yet.
    const isFirst = this.#count > 0 && isBefore(high, low, this.#horizonHigh, this.#horizonLow);
    this.wakeHigh = this.isBehind ? 0 : isFirst ? high : this.#horizonHigh;
    this.wakeLow = this.isBehind ? 0 : isFirst ? low : this.#horizonLow;
  }

  #push(index: number): void {
    if (this.#count === this.#indexes.length) this.#grow();
    const orders = this.#orders;
    const at = this.#count++;
    this.#indexes[at] = index;
    this.#highs[at] = orders.expiryHigh(index);
    this.#lows[at] = orders.expiryLow(index);
    this.#sequences[at] = orders.sequenceOf(index);
    orders.mark(index, MARK.isWatched);
    this.#rise(at);
  }

  #rise(from: number): void {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#isEarlier(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #drop(at: number): void {
    this.#count--;
    if (this.#count === at) return;
    this.#copy(this.#count, at);
    this.#rise(at);
    this.#sink(at);
  }

  #sink(from: number): void {
    for (let parent = from; ; ) {
      const left = parent * 2 + 1;
      if (left >= this.#count) return;
      const child = left + 1 < this.#count && this.#isEarlier(left + 1, left) ? left + 1 : left;
      if (!this.#isEarlier(child, parent)) return;
      this.#swap(child, parent);
      parent = child;
    }
  }

  #isEarlier(a: number, b: number): boolean {
    const aHigh = this.#highs[a] as number;
    const bHigh = this.#highs[b] as number;
    if (aHigh !== bHigh) return aHigh < bHigh;
    const aLow = this.#lows[a] as number;
    const bLow = this.#lows[b] as number;
    return aLow === bLow ? (this.#sequences[a] as number) < (this.#sequences[b] as number) : aLow < bLow;
  }

  #copy(from: number, to: number): void {
    this.#indexes[to] = this.#indexes[from] as number;
    this.#highs[to] = this.#highs[from] as number;
    this.#lows[to] = this.#lows[from] as number;
    this.#sequences[to] = this.#sequences[from] as number;
  }

  #swap(a: number, b: number): void {
    const index = this.#indexes[a] as number;
    const high = this.#highs[a] as number;
    const low = this.#lows[a] as number;
    const sequence = this.#sequences[a] as number;
    this.#copy(b, a);
    this.#indexes[b] = index;
    this.#highs[b] = high;
    this.#lows[b] = low;
    this.#sequences[b] = sequence;
  }

  #grow(): void {
    const capacity = this.#indexes.length * 2;
    this.#indexes = grown(this.#indexes, capacity);
    this.#highs = grown(this.#highs, capacity);
    this.#lows = grown(this.#lows, capacity);
    this.#sequences = grown(this.#sequences, capacity);
  }
}
