/**
 * One side of a book: its levels, each with a queue of resting orders and its total quantity.
 *
 * Changed levels are collected, one entry each, until `commit` publishes their absolute quantities (AMB-98).
 *
 * Invariants, between commands
 *   (1) A level exists if and only if it has orders; its quantity is the sum of their remaining quantities.
 *   (2) A queue ascends by priority sequence.
 *   (3) A level's quantity is a safe integer, and the index has room for every level: callers check `fits` before they add
 *       quantity.
 *
 * Matching is in book.ts, ranks in level-index.ts, the memory layout of queues in level-queues.ts.
 */
import { assert } from '../core/assert.ts';
import { RAW_MAX } from '../core/limits.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { MarketEvents } from './commands.ts';
import { LevelIndex } from './level-index.ts';
import { LevelQueues } from './level-queues.ts';
import type { OrderPool } from './order-pool.ts';
import { LEVEL, ORDER_STATE } from './order-records.ts';
import type { PriceHash } from './price-hash.ts';

const BUY: Side = SIDE.buy;

/** Number of levels for which the last returned order is stored. */
const RETURNED_MAX = 256;

interface Levels {
  /** Initial number of leaves. */
  readonly leaves: number;
  /** Maximum number of leaves; by default as many as fit (level-index.ts). */
  readonly leavesMax?: number;
  readonly hash: PriceHash;
}

export class BookSide {
  readonly side: Side;
  /** rank = sign · price. */
  readonly #sign: number;
  readonly #orders: OrderPool;
  readonly #levelIndex: LevelIndex;
  readonly #queues: LevelQueues;
  /**
   * The last order that returned to each level: the next one usually belongs right behind it. A hint, validated before
   * use.
   */
  readonly #returned = new Map<number, number>();

  constructor(side: Side, orders: OrderPool, levels: Levels) {
    this.side = side;
    this.#sign = side === SIDE.buy ? 1 : -1;
    this.#orders = orders;
    this.#levelIndex = new LevelIndex(levels.leaves, levels.hash, levels.leavesMax);
    this.#queues = new LevelQueues(orders, this.#levelIndex.levelCapacity);
  }

  get bytes(): number {
    return this.#queues.bytes + this.#levelIndex.bytes;
  }

  /** The first order of the best level, or NONE. */
  get bestOrder(): number {
    const best = this.#levelIndex.best;
    return best === NONE ? NONE : this.#queues.headOf(best);
  }

  /** The best price, or 0 when the side is empty. */
  get bestPrice(): number {
    const best = this.#levelIndex.best;
    return best === NONE ? 0 : this.#queues.priceOf(best);
  }

  get bestLevel(): number {
    return this.#levelIndex.best;
  }

  /** The next level after this one, or NONE. */
  worse(level: number): number {
    return this.#levelIndex.worse(level);
  }

  isWithin(level: number, limit: number): boolean {
    return this.#reaches(level, limit);
  }

  levelPrice(level: number): number {
    return this.#queues.priceOf(level);
  }

  levelQuantity(level: number): number {
    return this.#queues.quantityOf(level);
  }

  /** The first order of a level. */
  levelHead(level: number): number {
    return this.#queues.headOf(level);
  }

  behind(level: number, index: number): number {
    return this.#queues.after(level, index);
  }

  /** Whether an order of the other side with this limit would match. */
  crosses(limit: number): boolean {
    const best = this.#levelIndex.best;
    return best !== NONE && this.#reaches(best, limit);
  }

  /** Whether the quantity within the limit is at least `quantity` (TIF-04). */
  canFill(limit: number, quantity: number): boolean {
    let missing = quantity;
    for (let level = this.#levelIndex.best; level !== NONE; level = this.#levelIndex.worse(level)) {
      if (!this.#reaches(level, limit)) return false;
      missing -= this.#queues.quantityOf(level);
      if (missing <= 0) return true;
    }
    return false;
  }

  /** Whether the side can hold a level at `price`, and its quantity plus `quantity` is a safe integer. */
  fits(price: number, quantity: number): boolean {
    if (!this.#levelIndex.hasRoom(this.#sign * price)) return false;
    // `largest` bounds every level, which usually avoids the look-up.
    if (this.#queues.largest + quantity <= RAW_MAX) return true;
    const level = this.#levelIndex.find(this.#sign * price);
    return level === NONE || this.#queues.quantityOf(level) + quantity <= RAW_MAX;
  }

  /** Adds the order at the back of the queue at its price. */
  append(index: number): void {
    const price = this.#orders.priceOf(index);
    const best = this.#levelIndex.best;
    const isBest = best !== NONE && this.#queues.priceOf(best) === price;
    this.#queues.append(isBest ? best : this.#reach(price), index, this.#orders.remaining(index));
  }

  /** Inserts the order by priority into the queue at its price (AMB-32). */
  insert(index: number): void {
    const orders = this.#orders;
    const queues = this.#queues;
    const level = this.#reach(orders.priceOf(index));
    const priority = orders.priorityOf(index);
    if (queues.countOf(level) === 0 || orders.priorityOf(queues.lastOf(level)) < priority)
      queues.append(level, index, orders.remaining(index));
    else {
      let next = this.#searchFrom(level, priority);
      while (orders.priorityOf(next) < priority) next = queues.after(level, next);
      queues.insertBefore(level, next, index, orders.remaining(index));
    }
    if (this.#returned.size >= RETURNED_MAX) this.#returned.clear();
    this.#returned.set(level, index);
  }

  /** An order of the level with a lower priority sequence, or the first order of the level. */
  #searchFrom(level: number, priority: number): number {
    const orders = this.#orders;
    const hint = this.#returned.get(level);
    const isThere =
      hint !== undefined &&
      orders.stateOf(hint) === ORDER_STATE.resting &&
      orders.sideOf(hint) === this.side &&
      orders.words[hint + LEVEL] === level &&
      orders.priorityOf(hint) < priority;
    return isThere ? hint : this.#queues.headOf(level);
  }

  /** Removes an order with `remaining` lots from the book. */
  remove(index: number, remaining: number): void {
    if (this.#queues.remove(index, remaining) > 0) return;
    const level = this.#orders.words[index + LEVEL] as number;
    this.#queues.close(level);
    this.#levelIndex.clear(level);
  }

  /** Changes the remaining quantity of a resting order in place. */
  adjust(index: number, change: number): void {
    this.#queues.change(this.#orders.words[index + LEVEL] as number, change);
  }

  /** Moves the order behind all others at its price. */
  moveToBack(index: number): void {
    this.#queues.moveToBack(index, this.#orders.remaining(index));
  }

  /** Sorts the queues that contain these orders by priority: after a restore. */
  sortQueuesOf(indexes: readonly number[]): void {
    const orders = this.#orders;
    const levels = new Set(indexes.map((index) => orders.words[index + LEVEL] as number));
    for (const level of levels) this.#queues.sort(level, (a, b) => orders.priorityOf(a) - orders.priorityOf(b));
  }

  /** Publishes every level that changed since the last commit. */
  commit(events: MarketEvents): void {
    this.#queues.publishChanges(this.side, events);
    this.#levelIndex.releaseEmpty();
  }

  dropChanges(): void {
    this.#queues.dropChanges();
    this.#levelIndex.releaseEmpty();
  }

  /** Visits the levels, best first. */
  forEachLevel(visit: (price: number, quantity: number) => void): void {
    for (let level = this.#levelIndex.best; level !== NONE; level = this.#levelIndex.worse(level))
      visit(this.#queues.priceOf(level), this.#queues.quantityOf(level));
  }

  /** Visits the orders in matching sequence. */
  forEachOrder(visit: (index: number) => void): void {
    for (let level = this.#levelIndex.best; level !== NONE; level = this.#levelIndex.worse(level))
      for (const index of this.#queues.ordersOf(level)) visit(index);
  }

  /** The orders at a price, in time priority. */
  ordersAt(price: number): number[] {
    const level = this.#levelIndex.find(this.#sign * price);
    return level === NONE ? [] : [...this.#queues.ordersOf(level)];
  }

  /** The orders that an order of the other side with this limit could match. */
  ordersWithin(limit: number): number[] {
    const within: number[] = [];
    for (let level = this.#levelIndex.best; level !== NONE; level = this.#levelIndex.worse(level)) {
      if (!this.#reaches(level, limit)) break;
      for (const index of this.#queues.ordersOf(level)) within.push(index);
    }
    return within;
  }

  /** Whether all level changes are published. */
  get isPublished(): boolean {
    return this.#queues.changedCount === 0;
  }

  /** Checks every invariant. @throws InvariantError */
  check(): void {
    assert(this.#levelIndex.isSound(), 'book side: levels are sorted and the best is the last');
    const orders = this.#orders;
    for (let level = this.#levelIndex.best; level !== NONE; level = this.#levelIndex.worse(level)) {
      let sum = 0;
      let before = -1;
      const queue = this.#queues.ordersOf(level);
      for (const index of queue) {
        this.#checkOrder(index, level);
        assert(before < orders.priorityOf(index), 'book side: first in first out');
        sum += orders.remaining(index);
        before = orders.priorityOf(index);
      }
      assert(
        this.#levelIndex.rankOf(level) === this.#sign * this.#queues.priceOf(level),
        'book side: a level has its price',
      );
      assert(queue.length > 0 && queue.length === this.#queues.countOf(level), 'book side: a level has its orders');
      assert(this.#queues.quantityOf(level) === sum && sum <= RAW_MAX, 'book side: a level is the sum of its orders');
    }
  }

  /**
   * Checks one level, up to `ordersMax` of its orders. @param published its last published quantity, 0 for none.
   *
   * @throws InvariantError
   */
  checkLevel(price: number, published: number, ordersMax: number): void {
    const found = this.#levelIndex.find(this.#sign * price);
    const level = found !== NONE && this.#levelIndex.has(found) ? found : NONE;
    const quantity = level === NONE ? 0 : this.#queues.quantityOf(level);
    assert(quantity === published, 'book side: a level equals its published quantity');
    if (level === NONE) return;
    let missing = quantity;
    let before = -1;
    let index = this.#queues.headOf(level);
    for (let seen = 0; index !== NONE && seen < ordersMax; seen++, index = this.#queues.after(level, index)) {
      this.#checkOrder(index, level);
      assert(before < this.#orders.priorityOf(index), 'book side: first in first out');
      before = this.#orders.priorityOf(index);
      missing -= this.#orders.remaining(index);
    }
    assert(index === NONE ? missing === 0 : missing > 0, 'book side: a level is the sum of its orders');
  }

  #checkOrder(index: number, level: number): void {
    const orders = this.#orders;
    assert(orders.stateOf(index) === ORDER_STATE.resting, 'book side: its orders rest');
    assert(
      orders.sideOf(index) === this.side && orders.words[index + LEVEL] === level,
      'book side: an order has its side and level',
    );
    assert(orders.priceOf(index) === this.#queues.priceOf(level), 'book side: an order is at its price');
    assert(orders.quantityOf(index) > orders.filledOf(index), 'book side: an order has remaining quantity');
  }

  #reaches(level: number, limit: number): boolean {
    const price = this.#queues.priceOf(level);
    return this.side === BUY ? price >= limit : price <= limit;
  }

  /** The level at this price, opened if it did not exist. */
  #reach(price: number): number {
    const level = this.#levelIndex.reach(this.#sign * price);
    if (this.#levelIndex.has(level)) return level;
    if (this.#levelIndex.levelCapacity > this.#queues.capacity) this.#queues.reserve(this.#levelIndex.levelCapacity);
    this.#levelIndex.set(level);
    this.#queues.open(level, price);
    return level;
  }
}
