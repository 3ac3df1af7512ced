/**
 * One side of a book: its levels, each with a queue of resting orders and its total.
 *
 * Changes are collected, one entry a level, until `commit` tells the absolute quantities (AMB-98).
 *
 * Invariants, between commands
 *   (1) A level exists if and only if it has orders; its quantity is the sum of what remains of them.
 *   (2) A queue ascends by priority sequence.
 *   (3) A level's quantity is a safe integer: `fits` is asked before anything grows.
 *
 * Not here: who matches whom (book.ts), what a rank is (level-index.ts).
 */
import { assert } from '../core/assert.ts';
import { RAW_MAX } from '../core/limits.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import type { MarketEvents } from './commands.ts';
import { LevelIndex } from './level-index.ts';
import { ORDER_STATE, type OrderPool } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

export class BookSide {
  readonly side: Side;
  /** rank = sign · price. */
  readonly #sign: number;
  readonly #orders: OrderPool;
  readonly #index: LevelIndex;
  #head: Int32Array<ArrayBuffer>;
  #tail: Int32Array<ArrayBuffer>;
  #quantity: Float64Array<ArrayBuffer>;
  #isChanged: Uint8Array<ArrayBuffer>;
  #changed: Int32Array<ArrayBuffer>;
  #changedCount = 0;
  /** No level was ever larger: usually spares `fits` to look for the level. */
  #largest = 0;

  constructor(side: Side, orders: OrderPool, leaves: number) {
    this.side = side;
    this.#sign = side === SIDE.buy ? 1 : -1;
    this.#orders = orders;
    this.#index = new LevelIndex(leaves);
    const levels = this.#index.levelCapacity;
    this.#head = new Int32Array(levels);
    this.#tail = new Int32Array(levels);
    this.#quantity = new Float64Array(levels);
    this.#isChanged = new Uint8Array(levels);
    this.#changed = new Int32Array(levels);
  }

  /** The first order of the best level, or NONE. */
  get bestOrder(): number {
    const best = this.#index.best;
    return best === NONE ? NONE : (this.#head[best] as number);
  }

  /** The best price, or 0 when the side is empty. */
  get bestPrice(): number {
    const best = this.#index.best;
    return best === NONE ? 0 : this.#priceOf(best);
  }

  /** Whether an order of the other side with this limit would match. */
  crosses(limit: number): boolean {
    const best = this.#index.best;
    return best !== NONE && this.#index.rankOf(best) >= this.#sign * limit;
  }

  /** Whether everything within the limit adds up to `quantity` or more (TIF-04). */
  canFill(limit: number, quantity: number): boolean {
    const worst = this.#sign * limit;
    let missing = quantity;
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      if (this.#index.rankOf(level) < worst) return false;
      missing -= this.#quantity[level] as number;
      if (missing <= 0) return true;
    }
    return false;
  }

  /** Whether the level at `price` stays a safe integer with `quantity` more. */
  fits(price: number, quantity: number): boolean {
    if (this.#largest + quantity <= RAW_MAX) return true;
    const level = this.#index.find(this.#sign * price);
    return level === NONE || (this.#quantity[level] as number) + quantity <= RAW_MAX;
  }

  /** To the back of the queue at the order's price. */
  append(slot: number): void {
    const level = this.#reach(slot);
    if (this.#index.has(level)) this.#linkAfter(this.#tail[level] as number, slot, level);
    else this.#start(slot, level);
    this.#touch(level);
  }

  /** Into the queue at its price by its priority sequence; quiet, for a book that is being restored. */
  insert(slot: number): void {
    const { priority, previous } = this.#orders;
    const level = this.#reach(slot);
    if (this.#index.has(level)) {
      let before = this.#tail[level] as number;
      while (before !== NONE && (priority[before] as number) > (priority[slot] as number))
        before = previous[before] as number;
      this.#linkAfter(before, slot, level);
    } else this.#start(slot, level);
  }

  /** Off the book, with `remaining` of it. */
  remove(slot: number, remaining: number): void {
    const level = this.#orders.level[slot] as number;
    this.#unlink(slot, level);
    this.#quantity[level] = (this.#quantity[level] as number) - remaining;
    this.#touch(level);
  }

  /** What remains of a resting order grows or shrinks in place. */
  adjust(slot: number, change: number): void {
    const level = this.#orders.level[slot] as number;
    this.#setQuantity(level, (this.#quantity[level] as number) + change);
    this.#touch(level);
  }

  /** Behind everybody else at the same price. */
  moveToBack(slot: number): void {
    const level = this.#orders.level[slot] as number;
    if (this.#tail[level] === slot) return;
    this.#unlink(slot, level);
    this.#linkAtTail(slot, level);
  }

  /** Tells every level that changed since the last time. @returns whether there was one. */
  commit(events: MarketEvents): boolean {
    const count = this.#changedCount;
    if (count === 0) return false;
    for (let i = 0; i < count; i++) {
      const level = this.#changed[i] as number;
      const quantity = this.#index.has(level) ? (this.#quantity[level] as number) : 0;
      events.levelChanged(this.side, this.#priceOf(level), quantity);
    }
    this.forgetChanges();
    return true;
  }

  forgetChanges(): void {
    for (let i = 0; i < this.#changedCount; i++) this.#isChanged[this.#changed[i] as number] = 0;
    this.#changedCount = 0;
    this.#index.releaseEmpty();
  }

  /** Levels from the best on. */
  forEachLevel(visit: (price: number, quantity: number) => void): void {
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      visit(this.#priceOf(level), this.#quantity[level] as number);
  }

  /** Orders in the order in which they would be matched. */
  forEachOrder(visit: (slot: number) => void): void {
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      for (let slot = this.#head[level] as number; slot !== NONE; slot = this.#orders.next[slot] as number) visit(slot);
  }

  /** The orders that an order of the other side with this limit could match. */
  ordersWithin(limit: number): number[] {
    const worst = this.#sign * limit;
    const within: number[] = [];
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      if (this.#index.rankOf(level) < worst) break;
      for (let slot = this.#head[level] as number; slot !== NONE; slot = this.#orders.next[slot] as number)
        within.push(slot);
    }
    return within;
  }

  /** Walks everything. @throws InvariantError */
  check(): void {
    assert(this.#changedCount === 0, 'book side: every change was told');
    assert(this.#index.isSound(), 'book side: levels are sorted and the best is known');
    const { next, previous, priority } = this.#orders;
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      let sum = 0;
      let before = NONE;
      for (let slot = this.#head[level] as number; slot !== NONE; slot = next[slot] as number) {
        this.#checkOrder(slot, level);
        assert(previous[slot] === before, 'book side: queues are linked both ways');
        assert(
          before === NONE || (priority[before] as number) < (priority[slot] as number),
          'book side: first in first out',
        );
        sum += this.#orders.remaining(slot);
        before = slot;
      }
      assert(before !== NONE && this.#tail[level] === before, 'book side: a level has orders');
      assert(this.#quantity[level] === sum && sum <= RAW_MAX, 'book side: a level is the sum of its orders');
    }
  }

  #checkOrder(slot: number, level: number): void {
    const orders = this.#orders;
    assert(orders.state[slot] === ORDER_STATE.resting, 'book side: only resting orders stand in it');
    assert(orders.side[slot] === this.side && orders.level[slot] === level, 'book side: an order knows its place');
    assert(orders.price[slot] === this.#priceOf(level), 'book side: an order stands at its price');
    assert((orders.quantity[slot] as number) > (orders.filled[slot] as number), 'book side: something remains');
  }

  #priceOf(level: number): number {
    return this.#sign * this.#index.rankOf(level);
  }

  #reach(slot: number): number {
    const level = this.#index.reach(this.#sign * (this.#orders.price[slot] as number));
    if (this.#index.levelCapacity > this.#head.length) this.#grow();
    this.#orders.level[slot] = level;
    return level;
  }

  #start(slot: number, level: number): void {
    const { next, previous } = this.#orders;
    this.#index.set(level);
    next[slot] = NONE;
    previous[slot] = NONE;
    this.#head[level] = slot;
    this.#tail[level] = slot;
    this.#setQuantity(level, this.#orders.remaining(slot));
  }

  #linkAtTail(slot: number, level: number): void {
    const { next, previous } = this.#orders;
    const tail = this.#tail[level] as number;
    next[tail] = slot;
    previous[slot] = tail;
    next[slot] = NONE;
    this.#tail[level] = slot;
  }

  /** @param before the order in front, or NONE for the head. */
  #linkAfter(before: number, slot: number, level: number): void {
    this.#setQuantity(level, (this.#quantity[level] as number) + this.#orders.remaining(slot));
    if (before === this.#tail[level]) {
      this.#linkAtTail(slot, level);
      return;
    }
    const { next, previous } = this.#orders;
    const after = (before === NONE ? this.#head[level] : next[before]) as number;
    previous[slot] = before;
    next[slot] = after;
    previous[after] = slot;
    if (before === NONE) this.#head[level] = slot;
    else next[before] = slot;
  }

  #unlink(slot: number, level: number): void {
    const { next, previous } = this.#orders;
    const before = previous[slot] as number;
    const after = next[slot] as number;
    if (before === NONE && after === NONE) {
      this.#index.clear(level);
      return;
    }
    if (before === NONE) this.#head[level] = after;
    else next[before] = after;
    if (after === NONE) this.#tail[level] = before;
    else previous[after] = before;
  }

  #setQuantity(level: number, quantity: number): void {
    this.#quantity[level] = quantity;
    if (quantity > this.#largest) this.#largest = quantity;
  }

  #touch(level: number): void {
    if (this.#isChanged[level] !== 0) return;
    this.#isChanged[level] = 1;
    this.#changed[this.#changedCount++] = level;
  }

  #grow(): void {
    const levels = this.#index.levelCapacity;
    this.#head = grown(this.#head, levels);
    this.#tail = grown(this.#tail, levels);
    this.#quantity = grown(this.#quantity, levels);
    this.#isChanged = grown(this.#isChanged, levels);
    this.#changed = grown(this.#changed, levels);
  }
}
