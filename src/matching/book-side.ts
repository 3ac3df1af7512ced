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
 * Not here: who matches whom (book.ts), what a rank is (level-index.ts), how a queue lies in memory (level-queues.ts).
 */
import { assert } from '../core/assert.ts';
import { RAW_MAX } from '../core/limits.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import type { MarketEvents } from './commands.ts';
import { LevelIndex } from './level-index.ts';
import { LevelQueues } from './level-queues.ts';
import { LEVEL, ORDER_STATE, type OrderPool } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

export class BookSide {
  readonly side: Side;
  /** rank = sign · price. */
  readonly #sign: number;
  readonly #orders: OrderPool;
  readonly #index: LevelIndex;
  readonly #queues: LevelQueues;
  #changed: Int32Array<ArrayBuffer>;
  #changedCount = 0;
  /** No level was ever larger: usually spares `fits` to look for the level. */
  #largest = 0;

  constructor(side: Side, orders: OrderPool, leaves: number) {
    this.side = side;
    this.#sign = side === SIDE.buy ? 1 : -1;
    this.#orders = orders;
    this.#index = new LevelIndex(leaves);
    this.#queues = new LevelQueues(orders, this.#index.levelCapacity);
    this.#changed = new Int32Array(this.#index.levelCapacity);
  }

  get bytes(): number {
    return this.#queues.bytes + this.#changed.byteLength;
  }

  /** The first order of the best level, or NONE. */
  get bestOrder(): number {
    const best = this.#index.best;
    return best === NONE ? NONE : this.#queues.headOf(best);
  }

  /** The best price, or 0 when the side is empty. */
  get bestPrice(): number {
    const best = this.#index.best;
    return best === NONE ? 0 : this.#priceOf(best);
  }

  get bestLevel(): number {
    return this.#index.best;
  }

  /** The next level after this one, or NONE. */
  worse(level: number): number {
    return this.#index.worse(level);
  }

  isWithin(level: number, limit: number): boolean {
    return this.#index.rankOf(level) >= this.#sign * limit;
  }

  levelPrice(level: number): number {
    return this.#priceOf(level);
  }

  levelQuantity(level: number): number {
    return this.#queues.quantityOf(level);
  }

  /** The first order of a level, and the one behind an order of it, or NONE. */
  levelHead(level: number): number {
    return this.#queues.headOf(level);
  }

  behind(level: number, slot: number): number {
    return this.#queues.after(level, slot);
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
      missing -= this.#queues.quantityOf(level);
      if (missing <= 0) return true;
    }
    return false;
  }

  /** Whether the level at `price` stays a safe integer with `quantity` more. */
  fits(price: number, quantity: number): boolean {
    if (this.#largest + quantity <= RAW_MAX) return true;
    const level = this.#index.find(this.#sign * price);
    return level === NONE || this.#queues.quantityOf(level) + quantity <= RAW_MAX;
  }

  /** To the back of the queue at the order's price. */
  append(slot: number): void {
    const level = this.#reach(slot);
    this.#queues.append(level, slot);
    this.#setQuantity(level, this.#queues.quantityOf(level) + this.#orders.remaining(slot));
    this.#touch(level);
  }

  /** Off the book, with `remaining` of it. */
  remove(slot: number, remaining: number): void {
    const level = this.#orders.words[slot + LEVEL] as number;
    const left = this.#queues.remove(level, slot);
    this.#queues.setQuantity(level, this.#queues.quantityOf(level) - remaining);
    this.#touch(level);
    if (left > 0) return;
    this.#queues.close(level);
    this.#index.clear(level);
  }

  /** What remains of a resting order grows or shrinks in place. */
  adjust(slot: number, change: number): void {
    const level = this.#orders.words[slot + LEVEL] as number;
    this.#setQuantity(level, this.#queues.quantityOf(level) + change);
    this.#touch(level);
  }

  /** Behind everybody else at the same price. */
  moveToBack(slot: number): void {
    const level = this.#orders.words[slot + LEVEL] as number;
    if (this.#queues.isLast(level, slot)) return;
    this.#queues.remove(level, slot);
    this.#queues.append(level, slot);
  }

  /** Every queue by priority: after a restore, which may bring orders in any order. */
  sortQueues(): void {
    const orders = this.#orders;
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      this.#queues.sort(level, (a, b) => orders.priorityOf(a) - orders.priorityOf(b));
  }

  /** Tells every level that changed since the last time. @returns whether there was one. */
  commit(events: MarketEvents): boolean {
    const count = this.#changedCount;
    if (count === 0) return false;
    for (let i = 0; i < count; i++) {
      const level = this.#changed[i] as number;
      const quantity = this.#index.has(level) ? this.#queues.quantityOf(level) : 0;
      events.levelChanged(this.side, this.#priceOf(level), quantity);
    }
    this.forgetChanges();
    return true;
  }

  forgetChanges(): void {
    for (let i = 0; i < this.#changedCount; i++) this.#queues.unmarkChanged(this.#changed[i] as number);
    this.#changedCount = 0;
    this.#index.releaseEmpty();
  }

  /** Levels from the best on. */
  forEachLevel(visit: (price: number, quantity: number) => void): void {
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      visit(this.#priceOf(level), this.#queues.quantityOf(level));
  }

  /** Orders in the order in which they would be matched. */
  forEachOrder(visit: (slot: number) => void): void {
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      for (const slot of this.#queues.ordersOf(level)) visit(slot);
  }

  /** The orders that an order of the other side with this limit could match. */
  ordersWithin(limit: number): number[] {
    const worst = this.#sign * limit;
    const within: number[] = [];
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      if (this.#index.rankOf(level) < worst) break;
      for (const slot of this.#queues.ordersOf(level)) within.push(slot);
    }
    return within;
  }

  /** No level has changed since the last `commit`. */
  get isTold(): boolean {
    return this.#changedCount === 0;
  }

  /** Walks everything. @throws InvariantError */
  check(): void {
    assert(this.#index.isSound(), 'book side: levels are sorted and the best is known');
    const orders = this.#orders;
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      let sum = 0;
      let before = -1;
      const queue = this.#queues.ordersOf(level);
      for (const slot of queue) {
        this.#checkOrder(slot, level);
        assert(before < orders.priorityOf(slot), 'book side: first in first out');
        sum += orders.remaining(slot);
        before = orders.priorityOf(slot);
      }
      assert(queue.length > 0 && queue.length === this.#queues.countOf(level), 'book side: a level has its orders');
      assert(this.#queues.quantityOf(level) === sum && sum <= RAW_MAX, 'book side: a level is the sum of its orders');
    }
  }

  /**
   * Looks at one level, as far as its first so many orders say. @param told its quantity as it was told last, 0 for none.
   *
   * @throws InvariantError
   */
  checkLevel(price: number, told: number, ordersMax: number): void {
    const found = this.#index.find(this.#sign * price);
    const level = found !== NONE && this.#index.has(found) ? found : NONE;
    const quantity = level === NONE ? 0 : this.#queues.quantityOf(level);
    assert(quantity === told, 'book side: a level is what was told of it');
    if (level === NONE) return;
    let missing = quantity;
    let before = -1;
    let slot = this.#queues.headOf(level);
    for (let seen = 0; slot !== NONE && seen < ordersMax; seen++, slot = this.#queues.after(level, slot)) {
      this.#checkOrder(slot, level);
      assert(before < this.#orders.priorityOf(slot), 'book side: first in first out');
      before = this.#orders.priorityOf(slot);
      missing -= this.#orders.remaining(slot);
    }
    assert(slot === NONE ? missing === 0 : missing > 0, 'book side: a level is the sum of its orders');
  }

  #checkOrder(slot: number, level: number): void {
    const orders = this.#orders;
    assert(orders.stateOf(slot) === ORDER_STATE.resting, 'book side: only resting orders stand in it');
    assert(
      orders.sideOf(slot) === this.side && orders.words[slot + LEVEL] === level,
      'book side: an order knows its place',
    );
    assert(orders.priceOf(slot) === this.#priceOf(level), 'book side: an order stands at its price');
    assert(orders.quantityOf(slot) > orders.filledOf(slot), 'book side: something remains');
  }

  #priceOf(level: number): number {
    return this.#sign * this.#index.rankOf(level);
  }

  /** The level at the order's price, with a queue. */
  #reach(slot: number): number {
    const level = this.#index.reach(this.#sign * this.#orders.priceOf(slot));
    if (this.#index.levelCapacity > this.#changed.length) this.#grow();
    this.#orders.words[slot + LEVEL] = level;
    if (this.#index.has(level)) return level;
    this.#index.set(level);
    this.#queues.open(level);
    this.#queues.setQuantity(level, 0);
    return level;
  }

  #setQuantity(level: number, quantity: number): void {
    this.#queues.setQuantity(level, quantity);
    if (quantity > this.#largest) this.#largest = quantity;
  }

  #touch(level: number): void {
    if (this.#queues.markChanged(level)) this.#changed[this.#changedCount++] = level;
  }

  #grow(): void {
    this.#queues.reserve(this.#index.levelCapacity);
    this.#changed = grown(this.#changed, this.#index.levelCapacity);
  }
}
