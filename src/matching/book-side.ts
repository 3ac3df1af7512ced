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
import { LEVEL, NEXT, ORDER_STATE, type OrderPool, PREVIOUS } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

/** A level: one cell with its quantity, then head, tail and whether it is in the list of changes, and a spare word. */
const LEVEL_WORDS = 6;
const LEVEL_CELLS: number = LEVEL_WORDS / 2;
const HEAD = 2;
const TAIL = 3;
const IS_CHANGED = 4;

export class BookSide {
  readonly side: Side;
  /** rank = sign · price. */
  readonly #sign: number;
  readonly #orders: OrderPool;
  readonly #index: LevelIndex;
  #levels: Int32Array<ArrayBuffer>;
  /** The same memory: a level's quantity at LEVEL_CELLS times its number. */
  #quantities: Float64Array<ArrayBuffer>;
  #changed: Int32Array<ArrayBuffer>;
  #changedCount = 0;
  /** No level was ever larger: usually spares `fits` to look for the level. */
  #largest = 0;

  constructor(side: Side, orders: OrderPool, leaves: number) {
    this.side = side;
    this.#sign = side === SIDE.buy ? 1 : -1;
    this.#orders = orders;
    this.#index = new LevelIndex(leaves);
    this.#levels = new Int32Array(this.#index.levelCapacity * LEVEL_WORDS);
    this.#quantities = new Float64Array(this.#levels.buffer);
    this.#changed = new Int32Array(this.#index.levelCapacity);
  }

  /** The first order of the best level, or NONE. */
  get bestOrder(): number {
    const best = this.#index.best;
    return best === NONE ? NONE : this.#headOf(best);
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
    return this.#quantityOf(level);
  }

  levelHead(level: number): number {
    return this.#headOf(level);
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
      missing -= this.#quantityOf(level);
      if (missing <= 0) return true;
    }
    return false;
  }

  /** Whether the level at `price` stays a safe integer with `quantity` more. */
  fits(price: number, quantity: number): boolean {
    if (this.#largest + quantity <= RAW_MAX) return true;
    const level = this.#index.find(this.#sign * price);
    return level === NONE || this.#quantityOf(level) + quantity <= RAW_MAX;
  }

  /** To the back of the queue at the order's price. */
  append(slot: number): void {
    const level = this.#reach(slot);
    if (this.#index.has(level)) this.#linkAfter(this.#tailOf(level), slot, level);
    else this.#start(slot, level);
    this.#touch(level);
  }

  /** Into the queue at its price by its priority sequence; quiet, for a book that is being restored. */
  insert(slot: number): void {
    const orders = this.#orders;
    const level = this.#reach(slot);
    if (this.#index.has(level)) {
      let before = this.#tailOf(level);
      while (before !== NONE && orders.priorityOf(before) > orders.priorityOf(slot))
        before = orders.words[before + PREVIOUS] as number;
      this.#linkAfter(before, slot, level);
    } else this.#start(slot, level);
  }

  /** Off the book, with `remaining` of it. */
  remove(slot: number, remaining: number): void {
    const level = this.#orders.words[slot + LEVEL] as number;
    this.#unlink(slot, level);
    this.#quantities[level * LEVEL_CELLS] = this.#quantityOf(level) - remaining;
    this.#touch(level);
  }

  /** What remains of a resting order grows or shrinks in place. */
  adjust(slot: number, change: number): void {
    const level = this.#orders.words[slot + LEVEL] as number;
    this.#setQuantity(level, this.#quantityOf(level) + change);
    this.#touch(level);
  }

  /** Behind everybody else at the same price. */
  moveToBack(slot: number): void {
    const level = this.#orders.words[slot + LEVEL] as number;
    if (this.#tailOf(level) === slot) return;
    this.#unlink(slot, level);
    this.#linkAtTail(slot, level);
  }

  /** Tells every level that changed since the last time. @returns whether there was one. */
  commit(events: MarketEvents): boolean {
    const count = this.#changedCount;
    if (count === 0) return false;
    for (let i = 0; i < count; i++) {
      const level = this.#changed[i] as number;
      const quantity = this.#index.has(level) ? this.#quantityOf(level) : 0;
      events.levelChanged(this.side, this.#priceOf(level), quantity);
    }
    this.forgetChanges();
    return true;
  }

  forgetChanges(): void {
    for (let i = 0; i < this.#changedCount; i++)
      this.#levels[(this.#changed[i] as number) * LEVEL_WORDS + IS_CHANGED] = 0;
    this.#changedCount = 0;
    this.#index.releaseEmpty();
  }

  /** Levels from the best on. */
  forEachLevel(visit: (price: number, quantity: number) => void): void {
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      visit(this.#priceOf(level), this.#quantityOf(level));
  }

  /** Orders in the order in which they would be matched. */
  forEachOrder(visit: (slot: number) => void): void {
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level))
      for (let slot = this.#headOf(level); slot !== NONE; slot = this.#orders.words[slot + NEXT] as number) visit(slot);
  }

  /** The orders that an order of the other side with this limit could match. */
  ordersWithin(limit: number): number[] {
    const worst = this.#sign * limit;
    const within: number[] = [];
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      if (this.#index.rankOf(level) < worst) break;
      for (let slot = this.#headOf(level); slot !== NONE; slot = this.#orders.words[slot + NEXT] as number)
        within.push(slot);
    }
    return within;
  }

  /** Walks everything. @throws InvariantError */
  check(): void {
    assert(this.#changedCount === 0, 'book side: every change was told');
    assert(this.#index.isSound(), 'book side: levels are sorted and the best is known');
    const orders = this.#orders;
    const { words } = orders;
    for (let level = this.#index.best; level !== NONE; level = this.#index.worse(level)) {
      let sum = 0;
      let before = NONE;
      for (let slot = this.#headOf(level); slot !== NONE; slot = words[slot + NEXT] as number) {
        this.#checkOrder(slot, level);
        assert(words[slot + PREVIOUS] === before, 'book side: queues are linked both ways');
        assert(before === NONE || orders.priorityOf(before) < orders.priorityOf(slot), 'book side: first in first out');
        sum += this.#orders.remaining(slot);
        before = slot;
      }
      assert(before !== NONE && this.#tailOf(level) === before, 'book side: a level has orders');
      assert(this.#quantityOf(level) === sum && sum <= RAW_MAX, 'book side: a level is the sum of its orders');
    }
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

  #reach(slot: number): number {
    const level = this.#index.reach(this.#sign * this.#orders.priceOf(slot));
    if (this.#index.levelCapacity > this.#changed.length) this.#grow();
    this.#orders.words[slot + LEVEL] = level;
    return level;
  }

  #start(slot: number, level: number): void {
    const { words } = this.#orders;
    this.#index.set(level);
    words[slot + NEXT] = NONE;
    words[slot + PREVIOUS] = NONE;
    this.#levels[level * LEVEL_WORDS + HEAD] = slot;
    this.#levels[level * LEVEL_WORDS + TAIL] = slot;
    this.#setQuantity(level, this.#orders.remaining(slot));
  }

  #linkAtTail(slot: number, level: number): void {
    const { words } = this.#orders;
    const tail = this.#tailOf(level);
    words[tail + NEXT] = slot;
    words[slot + PREVIOUS] = tail;
    words[slot + NEXT] = NONE;
    this.#levels[level * LEVEL_WORDS + TAIL] = slot;
  }

  /** @param before the order in front, or NONE for the head. */
  #linkAfter(before: number, slot: number, level: number): void {
    this.#setQuantity(level, this.#quantityOf(level) + this.#orders.remaining(slot));
    if (before === this.#tailOf(level)) {
      this.#linkAtTail(slot, level);
      return;
    }
    const { words } = this.#orders;
    const after = (before === NONE ? this.#headOf(level) : words[before + NEXT]) as number;
    words[slot + PREVIOUS] = before;
    words[slot + NEXT] = after;
    words[after + PREVIOUS] = slot;
    if (before === NONE) this.#levels[level * LEVEL_WORDS + HEAD] = slot;
    else words[before + NEXT] = slot;
  }

  #unlink(slot: number, level: number): void {
    const { words } = this.#orders;
    const before = words[slot + PREVIOUS] as number;
    const after = words[slot + NEXT] as number;
    if (before === NONE && after === NONE) {
      this.#index.clear(level);
      return;
    }
    if (before === NONE) this.#levels[level * LEVEL_WORDS + HEAD] = after;
    else words[before + NEXT] = after;
    if (after === NONE) this.#levels[level * LEVEL_WORDS + TAIL] = before;
    else words[after + PREVIOUS] = before;
  }

  #setQuantity(level: number, quantity: number): void {
    this.#quantities[level * LEVEL_CELLS] = quantity;
    if (quantity > this.#largest) this.#largest = quantity;
  }

  #touch(level: number): void {
    const at = level * LEVEL_WORDS + IS_CHANGED;
    if (this.#levels[at] !== 0) return;
    this.#levels[at] = 1;
    this.#changed[this.#changedCount++] = level;
  }

  #headOf(level: number): number {
    return this.#levels[level * LEVEL_WORDS + HEAD] as number;
  }

  #tailOf(level: number): number {
    return this.#levels[level * LEVEL_WORDS + TAIL] as number;
  }

  #quantityOf(level: number): number {
    return this.#quantities[level * LEVEL_CELLS] as number;
  }

  #grow(): void {
    const levels = this.#index.levelCapacity;
    this.#levels = grown(this.#levels, levels * LEVEL_WORDS);
    this.#quantities = new Float64Array(this.#levels.buffer);
    this.#changed = grown(this.#changed, levels);
  }
}
