/**
 * Which orders expire when. Most live for 30 days and are gone within minutes: for them nothing is done at all.
 *
 *   now ───────── horizon ──────────────────────────────▶ time
 *      │ a heap     │ nobody looks; when now gets there, the expiries of
 *      │ of these   │ all slots are read once and the horizon moves on
 *
 * An order that leaves is not taken out of the heap: its entry is void once its slot is free or another order's. When
 * as many entries were added as there were, the void ones are dropped, so the heap is bounded by the orders that
 * expire within the horizon.
 *
 * `wake` is a time before which nothing expires: that is the only comparison a command pays. Of many that are due at one
 * instant some go at a time; until all are gone the watch is behind, and `wake` lies in the past (overdue.ts).
 *
 * Invariant: every order in the pool whose expiry lies before the horizon is marked as watched and has one entry.
 */
import { fromWords, highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { grown } from './pools.ts';

/** An hour: reading every slot once in it is nothing, and only short-lived orders stand in the heap. */
const HORIZON_NS = 3_600_000_000_000n;
const FIRST_CAPACITY = 64;
/** Entries of orders that have left, too, are dropped some at a time. */
const VOID_PER_TURN = 1_024;

export class ExpiryWatch {
  wakeHigh = 0;
  wakeLow = 0;
  /** Some that are due are still to go. */
  isBehind = false;
  /** The latest time passed to. */
  lastHigh = 0;
  lastLow = 0;
  readonly #orders: OrderPool;
  #horizonHigh = 0;
  #horizonLow = 0;
  /** A binary heap over (expiry, order sequence). */
  #slots: Int32Array = new Int32Array(FIRST_CAPACITY);
  #highs: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  #lows: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  #sequences: Float64Array = new Float64Array(FIRST_CAPACITY);
  #count = 0;
  #cleanAt: number = FIRST_CAPACITY;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  /** An order begins to rest or to wait; its expiry lies after the last time. Adding it again changes nothing. */
  add(slot: number): void {
    const high = this.#orders.expiryHigh(slot);
    const low = this.#orders.expiryLow(slot);
    if (!isBefore(high, low, this.#horizonHigh, this.#horizonLow)) return;
    if (this.#orders.hasMark(slot, MARK.isWatched)) return;
    if (this.#count >= this.#cleanAt) this.#clean();
    this.#push(slot);
    this.#setWake();
  }

  /** Whether an expiry is over at `high`, `low`, or at the later time passed to last. */
  hasPassed(slot: number, high: number, low: number): boolean {
    return this.isPast(this.#orders.expiryHigh(slot), this.#orders.expiryLow(slot), high, low);
  }

  isPast(expiryHigh: number, expiryLow: number, high: number, low: number): boolean {
    return !isBefore(high, low, expiryHigh, expiryLow) || !isBefore(this.lastHigh, this.lastLow, expiryHigh, expiryLow);
  }

  /** Whether the order's time is over, at the latest time passed to. */
  isDue(slot: number): boolean {
    return !isBefore(this.lastHigh, this.lastLow, this.#orders.expiryHigh(slot), this.#orders.expiryLow(slot));
  }

  /**
   * Passes to a time at or after `wake`.
   *
   * @returns the live orders due by then, earliest first, then by admission; no more than `budget`, to be ended now.
   */
  pass(high: number, low: number, budget: number): number[] {
    if (!isBefore(high, low, this.lastHigh, this.lastLow)) {
      this.lastHigh = high;
      this.lastLow = low;
    }
    if (!isBefore(high, low, this.#horizonHigh, this.#horizonLow)) this.#moveHorizon(fromWords(high, low) + HORIZON_NS);
    const due: number[] = [];
    for (let looks = budget + VOID_PER_TURN; looks > 0 && this.#isFirstDue(); looks--) {
      if (this.#isFirstLive()) {
        if (due.length === budget) break;
        due.push(this.#slots[0] as number);
      }
      this.#pop();
    }
    this.#setWake();
    return due;
  }

  /** After orders have ended that were due: whether others are left. */
  lookAgain(): void {
    if (this.isBehind) this.pass(this.lastHigh, this.lastLow, 0);
  }

  #isFirstDue(): boolean {
    const { lastHigh: high, lastLow: low } = this;
    return this.#count > 0 && !isBefore(high, low, this.#highs[0] as number, this.#lows[0] as number);
  }

  #isFirstLive(): boolean {
    const state = this.#isVoid(0) ? ORDER_STATE.free : this.#orders.stateOf(this.#slots[0] as number);
    return state === ORDER_STATE.resting || state === ORDER_STATE.dormant;
  }

  #isVoid(at: number): boolean {
    const slot = this.#slots[at] as number;
    return this.#orders.stateOf(slot) === ORDER_STATE.free || this.#orders.sequenceOf(slot) !== this.#sequences[at];
  }

  /** The heap anew: every order in the pool that expires before the horizon. */
  #moveHorizon(horizonNs: bigint): void {
    this.#horizonHigh = highWord(horizonNs);
    this.#horizonLow = lowWord(horizonNs);
    const orders = this.#orders;
    this.#count = 0;
    orders.forEach((slot) => {
      if (isBefore(orders.expiryHigh(slot), orders.expiryLow(slot), this.#horizonHigh, this.#horizonLow))
        this.#push(slot);
    });
    this.#cleanAt = Math.max(this.#count * 2, FIRST_CAPACITY);
  }

  /** Drops void entries. */
  #clean(): void {
    const count = this.#count;
    this.#count = 0;
    for (let at = 0; at < count; at++) if (!this.#isVoid(at)) this.#copy(at, this.#count++);
    for (let at = (this.#count >> 1) - 1; at >= 0; at--) this.#sink(at);
    this.#cleanAt = Math.max(this.#count * 2, FIRST_CAPACITY);
  }

  #setWake(): void {
    this.isBehind = this.#isFirstDue();
    const isEmpty = this.#count === 0;
    this.wakeHigh = this.isBehind ? 0 : isEmpty ? this.#horizonHigh : (this.#highs[0] as number);
    this.wakeLow = this.isBehind ? 0 : isEmpty ? this.#horizonLow : (this.#lows[0] as number);
  }

  #push(slot: number): void {
    if (this.#count === this.#slots.length) this.#grow();
    const orders = this.#orders;
    const at = this.#count++;
    this.#slots[at] = slot;
    this.#highs[at] = orders.expiryHigh(slot);
    this.#lows[at] = orders.expiryLow(slot);
    this.#sequences[at] = orders.sequenceOf(slot);
    orders.mark(slot, MARK.isWatched);
    for (let child = at; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#isEarlier(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #pop(): void {
    this.#count--;
    if (this.#count === 0) return;
    this.#copy(this.#count, 0);
    this.#sink(0);
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
    this.#slots[to] = this.#slots[from] as number;
    this.#highs[to] = this.#highs[from] as number;
    this.#lows[to] = this.#lows[from] as number;
    this.#sequences[to] = this.#sequences[from] as number;
  }

  #swap(a: number, b: number): void {
    const slot = this.#slots[a] as number;
    const high = this.#highs[a] as number;
    const low = this.#lows[a] as number;
    const sequence = this.#sequences[a] as number;
    this.#copy(b, a);
    this.#slots[b] = slot;
    this.#highs[b] = high;
    this.#lows[b] = low;
    this.#sequences[b] = sequence;
  }

  #grow(): void {
    const capacity = this.#slots.length * 2;
    this.#slots = grown(this.#slots, capacity);
    this.#highs = grown(this.#highs, capacity);
    this.#lows = grown(this.#lows, capacity);
    this.#sequences = grown(this.#sequences, capacity);
  }
}
