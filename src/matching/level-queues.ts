/**
 * The queues of a side's levels: first in, first out, with removal anywhere.
 *
 * A queue is an array of slots. Who leaves, leaves a hole; the head moves past holes. An order knows its position, so
 * taking it out touches its level and one word of the queue, and no neighbour: neighbours are records far away.
 *
 *     head           tail        capacity
 *      ▼              ▼             ▼
 *   ·  ·  7  ·  3  9  ·  ·  ·  ·  ·  ·          · hole
 *
 * When the tail meets the capacity, the orders move to the front if they are fewer than half, else the queue moves to
 * one twice as long. Arrays of each length are given back to a list of that length.
 *
 *   word   0, 1      2, 3   4     5         6     7     8      9
 *          quantity  price  base  capacity  head  tail  count  is in the list of changes      one cache line a level
 *
 * Every order that comes and goes passes `append` and `remove`: each does all that is to be done to a level in one
 * function, because the compiler does not put many small ones into one.
 */
import type { Side } from '../core/order-terms.ts';
import type { MarketEvents } from './commands.ts';
import { LEVEL, type OrderPool, POSITION } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

const LEVEL_BITS = 4;
const CELL_BITS: number = LEVEL_BITS - 1;
const LEVEL_WORDS: number = 1 << LEVEL_BITS;
const PRICE_CELL = 1;
const BASE = 4;
const CAPACITY = 5;
const HEAD = 6;
const TAIL = 7;
const COUNT = 8;
const IS_CHANGED = 9;
/** The compiler folds constants of the same file, imported ones it loads. */
const ORDER_LEVEL: number = LEVEL;
const ORDER_POSITION: number = POSITION;
const HOLE: number = NONE;
const FIRST_LENGTH = 4;

export class LevelQueues {
  /** No level was ever larger. */
  largest = 0;
  /** Levels that changed since they were told. */
  changedCount = 0;
  readonly #orders: OrderPool;
  #levels: Int32Array<ArrayBuffer>;
  #cells: Float64Array<ArrayBuffer>;
  #slots: Int32Array<ArrayBuffer>;
  #changed: Int32Array<ArrayBuffer>;
  #used = 0;
  /** By the logarithm of their length: bases of arrays that are free. */
  readonly #free: number[][] = Array.from({ length: 32 }, () => []);

  constructor(orders: OrderPool, levels: number) {
    this.#orders = orders;
    this.#levels = new Int32Array(levels * LEVEL_WORDS);
    this.#cells = new Float64Array(this.#levels.buffer);
    this.#slots = new Int32Array(Math.max(levels * FIRST_LENGTH, FIRST_LENGTH));
    this.#changed = new Int32Array(levels);
  }

  get bytes(): number {
    return this.#levels.byteLength + this.#slots.byteLength + this.#changed.byteLength;
  }

  /** Levels that there is room for. */
  get capacity(): number {
    return this.#changed.length;
  }

  /** Room for so many levels. */
  reserve(levels: number): void {
    this.#levels = grown(this.#levels, levels * LEVEL_WORDS);
    this.#cells = new Float64Array(this.#levels.buffer);
    this.#changed = grown(this.#changed, levels);
  }

  quantityOf(level: number): number {
    return this.#cells[level << CELL_BITS] as number;
  }

  priceOf(level: number): number {
    return this.#cells[(level << CELL_BITS) + PRICE_CELL] as number;
  }

  countOf(level: number): number {
    return this.#levels[(level << LEVEL_BITS) + COUNT] as number;
  }

  /** The first order. The level has one. */
  headOf(level: number): number {
    const at = level << LEVEL_BITS;
    return this.#slots[(this.#levels[at + BASE] as number) + (this.#levels[at + HEAD] as number)] as number;
  }

  /** The order behind this one, or NONE. */
  after(level: number, slot: number): number {
    const at = level << LEVEL_BITS;
    const base = this.#levels[at + BASE] as number;
    const tail = this.#levels[at + TAIL] as number;
    for (let position = (this.#orders.words[slot + ORDER_POSITION] as number) + 1; position < tail; position++) {
      const next = this.#slots[base + position] as number;
      if (next !== NONE) return next;
    }
    return NONE;
  }

  /** Whether nobody stands behind this order. */
  #isLast(level: number, slot: number): boolean {
    return this.#orders.words[slot + ORDER_POSITION] === (this.#levels[(level << LEVEL_BITS) + TAIL] as number) - 1;
  }

  /** An empty queue for a level that has none. */
  open(level: number, price: number): void {
    const at = level << LEVEL_BITS;
    const base = this.#allocate(FIRST_LENGTH);
    const levels = this.#levels;
    this.#cells[level << CELL_BITS] = 0;
    this.#cells[(level << CELL_BITS) + PRICE_CELL] = price;
    levels[at + BASE] = base;
    levels[at + CAPACITY] = FIRST_LENGTH;
    levels[at + HEAD] = 0;
    levels[at + TAIL] = 0;
    levels[at + COUNT] = 0;
  }

  /** Gives the queue of a level back. */
  close(level: number): void {
    const at = level << LEVEL_BITS;
    this.#giveBack(this.#levels[at + BASE] as number, this.#levels[at + CAPACITY] as number);
    this.#cells[level << CELL_BITS] = 0;
  }

  /** To the back of the level, with `remaining` lots. */
  append(level: number, slot: number, remaining: number): void {
    const at = level << LEVEL_BITS;
    if (this.#levels[at + TAIL] === this.#levels[at + CAPACITY]) this.#makeRoom(at);
    const levels = this.#levels;
    const position = levels[at + TAIL] as number;
    this.#slots[(levels[at + BASE] as number) + position] = slot;
    const { words } = this.#orders;
    words[slot + ORDER_LEVEL] = level;
    words[slot + ORDER_POSITION] = position;
    levels[at + TAIL] = position + 1;
    levels[at + COUNT] = (levels[at + COUNT] as number) + 1;
    this.change(level, remaining);
  }

  /** The quantity of a level grows or shrinks. */
  change(level: number, lots: number): void {
    const quantity = (this.#cells[level << CELL_BITS] as number) + lots;
    this.#cells[level << CELL_BITS] = quantity;
    if (quantity > this.largest) this.largest = quantity;
    const at = (level << LEVEL_BITS) + IS_CHANGED;
    if (this.#levels[at] !== 0) return;
    this.#levels[at] = 1;
    this.#changed[this.changedCount++] = level;
  }

  /** Takes an order out, with `remaining` lots. @returns how many orders are left at its level. */
  remove(slot: number, remaining: number): number {
    const { words } = this.#orders;
    const level = words[slot + ORDER_LEVEL] as number;
    const position = words[slot + ORDER_POSITION] as number;
    const levels = this.#levels;
    const slots = this.#slots;
    const at = level << LEVEL_BITS;
    const base = levels[at + BASE] as number;
    const tail = levels[at + TAIL] as number;
    const count = (levels[at + COUNT] as number) - 1;
    slots[base + position] = HOLE;
    levels[at + COUNT] = count;
    if (position === levels[at + HEAD]) {
      let head = position + 1;
      while (head < tail && slots[base + head] === HOLE) head++;
      levels[at + HEAD] = head;
    } else if (position === tail - 1) {
      let last = position;
      while (slots[base + last - 1] === HOLE) last--;
      levels[at + TAIL] = last;
    }
    this.change(level, -remaining);
    return count;
  }

  /** To the back of its level. */
  moveToBack(slot: number, remaining: number): void {
    const level = this.#orders.words[slot + ORDER_LEVEL] as number;
    if (this.#isLast(level, slot)) return;
    this.remove(slot, remaining);
    this.append(level, slot, remaining);
  }

  /** Tells every level that changed since the last time. */
  tellChanges(side: Side, events: MarketEvents): void {
    const count = this.changedCount;
    const changed = this.#changed;
    const levels = this.#levels;
    const cells = this.#cells;
    for (let i = 0; i < count; i++) {
      const level = changed[i] as number;
      const cell = level << CELL_BITS;
      levels[(level << LEVEL_BITS) + IS_CHANGED] = 0;
      events.levelChanged(side, cells[cell + PRICE_CELL] as number, cells[cell] as number);
    }
    this.changedCount = 0;
  }

  forgetChanges(): void {
    for (let i = 0; i < this.changedCount; i++)
      this.#levels[((this.#changed[i] as number) << LEVEL_BITS) + IS_CHANGED] = 0;
    this.changedCount = 0;
  }

  /** Puts the orders of a level into another order. */
  sort(level: number, compare: (a: number, b: number) => number): void {
    const sorted = this.ordersOf(level).sort(compare);
    const at = level << LEVEL_BITS;
    this.#levels[at + HEAD] = 0;
    this.#levels[at + TAIL] = 0;
    this.#levels[at + COUNT] = 0;
    for (const slot of sorted) this.append(level, slot, 0);
  }

  ordersOf(level: number): number[] {
    const orders: number[] = [];
    for (let slot = this.headOf(level); slot !== NONE; slot = this.after(level, slot)) orders.push(slot);
    return orders;
  }

  #makeRoom(at: number): void {
    const capacity = this.#levels[at + CAPACITY] as number;
    const from = this.#levels[at + BASE] as number;
    if ((this.#levels[at + COUNT] as number) * 2 < capacity) {
      this.#moveToFront(at, from);
      return;
    }
    const to = this.#allocate(capacity * 2);
    this.#slots.copyWithin(to, from, from + capacity);
    this.#levels[at + BASE] = to;
    this.#levels[at + CAPACITY] = capacity * 2;
    this.#giveBack(from, capacity);
  }

  #moveToFront(at: number, base: number): void {
    const slots = this.#slots;
    const { words } = this.#orders;
    const tail = this.#levels[at + TAIL] as number;
    let to = 0;
    for (let position = this.#levels[at + HEAD] as number; position < tail; position++) {
      const slot = slots[base + position] as number;
      if (slot === HOLE) continue;
      slots[base + to] = slot;
      words[slot + ORDER_POSITION] = to++;
    }
    this.#levels[at + HEAD] = 0;
    this.#levels[at + TAIL] = to;
  }

  #allocate(length: number): number {
    const free = (this.#free[31 - Math.clz32(length)] as number[]).pop();
    if (free !== undefined) return free;
    if (this.#used + length > this.#slots.length) {
      let capacity = this.#slots.length * 2;
      while (capacity < this.#used + length) capacity *= 2;
      this.#slots = grown(this.#slots, capacity);
    }
    this.#used += length;
    return this.#used - length;
  }

  #giveBack(base: number, length: number): void {
    (this.#free[31 - Math.clz32(length)] as number[]).push(base);
  }
}
