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
 *   word   0, 1      2     3         4     5     6      7
 *          quantity  base  capacity  head  tail  count  is in the list of changes
 */

import { type OrderPool, POSITION } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

export const LEVEL_WORDS = 8;
const BASE = 2;
const CAPACITY = 3;
const HEAD = 4;
const TAIL = 5;
const COUNT = 6;
const IS_CHANGED = 7;
const FIRST_LENGTH = 4;

export class LevelQueues {
  readonly #orders: OrderPool;
  #levels: Int32Array<ArrayBuffer>;
  #quantities: Float64Array<ArrayBuffer>;
  #slots: Int32Array<ArrayBuffer>;
  #used = 0;
  /** By the logarithm of their length: bases of arrays that are free. */
  readonly #free: number[][] = Array.from({ length: 32 }, () => []);

  constructor(orders: OrderPool, levels: number) {
    this.#orders = orders;
    this.#levels = new Int32Array(levels * LEVEL_WORDS);
    this.#quantities = new Float64Array(this.#levels.buffer);
    this.#slots = new Int32Array(Math.max(levels * FIRST_LENGTH, FIRST_LENGTH));
  }

  get bytes(): number {
    return this.#levels.byteLength + this.#slots.byteLength;
  }

  /** Room for so many levels. */
  reserve(levels: number): void {
    this.#levels = grown(this.#levels, levels * LEVEL_WORDS);
    this.#quantities = new Float64Array(this.#levels.buffer);
  }

  quantityOf(level: number): number {
    return this.#quantities[(level * LEVEL_WORDS) / 2] as number;
  }

  setQuantity(level: number, quantity: number): void {
    this.#quantities[(level * LEVEL_WORDS) / 2] = quantity;
  }

  /** @returns whether it was unmarked until now. */
  markChanged(level: number): boolean {
    const at = level * LEVEL_WORDS + IS_CHANGED;
    if (this.#levels[at] !== 0) return false;
    this.#levels[at] = 1;
    return true;
  }

  unmarkChanged(level: number): void {
    this.#levels[level * LEVEL_WORDS + IS_CHANGED] = 0;
  }

  countOf(level: number): number {
    return this.#levels[level * LEVEL_WORDS + COUNT] as number;
  }

  /** The first order. The level has one. */
  headOf(level: number): number {
    const at = level * LEVEL_WORDS;
    return this.#slots[(this.#levels[at + BASE] as number) + (this.#levels[at + HEAD] as number)] as number;
  }

  /** The order behind this one, or NONE. */
  after(level: number, slot: number): number {
    const at = level * LEVEL_WORDS;
    const base = this.#levels[at + BASE] as number;
    const tail = this.#levels[at + TAIL] as number;
    for (let position = (this.#orders.words[slot + POSITION] as number) + 1; position < tail; position++) {
      const next = this.#slots[base + position] as number;
      if (next !== NONE) return next;
    }
    return NONE;
  }

  /** Whether nobody stands behind this order. */
  isLast(level: number, slot: number): boolean {
    return this.#orders.words[slot + POSITION] === (this.#levels[level * LEVEL_WORDS + TAIL] as number) - 1;
  }

  /** An empty queue for a level that has none. */
  open(level: number): void {
    const at = level * LEVEL_WORDS;
    this.#levels[at + BASE] = this.#allocate(FIRST_LENGTH);
    this.#levels[at + CAPACITY] = FIRST_LENGTH;
    this.#levels[at + HEAD] = 0;
    this.#levels[at + TAIL] = 0;
    this.#levels[at + COUNT] = 0;
  }

  /** Gives the queue of a level back. */
  close(level: number): void {
    const at = level * LEVEL_WORDS;
    this.#giveBack(this.#levels[at + BASE] as number, this.#levels[at + CAPACITY] as number);
  }

  append(level: number, slot: number): void {
    const at = level * LEVEL_WORDS;
    if (this.#levels[at + TAIL] === this.#levels[at + CAPACITY]) this.#makeRoom(at);
    const position = this.#levels[at + TAIL] as number;
    this.#slots[(this.#levels[at + BASE] as number) + position] = slot;
    this.#orders.words[slot + POSITION] = position;
    this.#levels[at + TAIL] = position + 1;
    this.#levels[at + COUNT] = (this.#levels[at + COUNT] as number) + 1;
  }

  /** Takes an order out. @returns how many are left. */
  remove(level: number, slot: number): number {
    const at = level * LEVEL_WORDS;
    const base = this.#levels[at + BASE] as number;
    const position = this.#orders.words[slot + POSITION] as number;
    const slots = this.#slots;
    slots[base + position] = NONE;
    const count = (this.#levels[at + COUNT] as number) - 1;
    this.#levels[at + COUNT] = count;
    const tail = this.#levels[at + TAIL] as number;
    if (position === this.#levels[at + HEAD]) {
      let head = position + 1;
      while (head < tail && slots[base + head] === NONE) head++;
      this.#levels[at + HEAD] = head;
    } else if (position === tail - 1) {
      let last = position;
      while (slots[base + last - 1] === NONE) last--;
      this.#levels[at + TAIL] = last;
    }
    return count;
  }

  /** Puts the orders of a level into another order. */
  sort(level: number, compare: (a: number, b: number) => number): void {
    const sorted = this.ordersOf(level).sort(compare);
    const at = level * LEVEL_WORDS;
    this.#levels[at + HEAD] = 0;
    this.#levels[at + TAIL] = 0;
    this.#levels[at + COUNT] = 0;
    for (const slot of sorted) this.append(level, slot);
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
      if (slot === NONE) continue;
      slots[base + to] = slot;
      words[slot + POSITION] = to++;
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
