/**
 * The order queues of a side's levels: first in, first out, with removal anywhere.
 *
 * A queue is a list of blocks, one cache line each. Removing an order leaves a hole; an empty block leaves the list. An
 * order stores its position, so removing it touches its level and one block of the queue, but no neighbouring order:
 * those are records in other cache lines. Only an order that returns between others (`insertBefore`, AMB-32) moves
 * entries of one block, 13 at most.
 *
 *     head                                        tail
 *      ▼                                           ▼
 *   │ │7 · · 3 9 · 1│ ◀──▶ │ │· 8 · · · · 2│ ◀──▶ │ │5 4 …          · hole
 *    └ next, previous, number of orders
 *
 *   word of a level   0, 1      2, 3   4     5     6      7
 *                     quantity  price  head  tail  count  is in the list of changes
 *
 * Invariants, for a level that has orders
 *   (1) Every block of its list holds at least one order.
 *   (2) The head is the position of the first order; the tail is the position after the last one.
 *
 * Every order passes `append` and `remove`: each is one function, because the compiler would not inline several small
 * ones.
 */
import type { Side } from '../core/order-terms.ts';
import { grown, NONE } from '../core/pools.ts';
import type { MarketEvents } from './commands.ts';
import type { OrderPool } from './order-pool.ts';
import { LEVEL, POSITION } from './order-records.ts';

const LEVEL_BITS = 3;
const CELL_BITS: number = LEVEL_BITS - 1;
const LEVEL_WORDS: number = 1 << LEVEL_BITS;
const PRICE_CELL = 1;
const HEAD = 4;
const TAIL = 5;
const COUNT = 6;
const IS_CHANGED = 7;
/** Words of a block: links to its neighbours, the number of its orders, and the orders. */
const BLOCK_WORDS = 16;
const BLOCK: number = -BLOCK_WORDS;
const IN_BLOCK: number = BLOCK_WORDS - 1;
const NEXT = 0;
const PREVIOUS = 1;
const HELD = 2;
const FIRST = 3;
/** The compiler folds constants of the same file but loads imported ones. */
const ORDER_LEVEL: number = LEVEL;
const ORDER_POSITION: number = POSITION;
const HOLE: number = NONE;
const FIRST_BLOCKS = 16;
/** Words by which the block array of a large side grows. */
const GROWTH = 65_536;

export class LevelQueues {
  /** Upper bound of every level's quantity so far. */
  largest = 0;
  /** Number of levels changed since the last publication. */
  changedCount = 0;
  readonly #orders: OrderPool;
  #levels: Int32Array;
  #cells: Float64Array;
  #slots: Int32Array;
  #changed: Int32Array;
  #used = 0;
  /** The first free block, or NONE; linked by NEXT. */
  #free: number = NONE;

  constructor(orders: OrderPool, levels: number) {
    this.#orders = orders;
    this.#levels = new Int32Array(levels * LEVEL_WORDS);
    this.#cells = new Float64Array(this.#levels.buffer);
    this.#slots = new Int32Array(FIRST_BLOCKS * BLOCK_WORDS);
    this.#changed = new Int32Array(levels);
  }

  get bytes(): number {
    return this.#levels.byteLength + this.#slots.byteLength + this.#changed.byteLength;
  }

  /** Number of levels that the arrays hold. */
  get capacity(): number {
    return this.#changed.length;
  }

  /** Grows the arrays to this number of levels. */
  reserve(levels: number): void {
    this.#levels = grown(this.#levels, levels * LEVEL_WORDS);
    this.#cells = new Float64Array(this.#levels.buffer, 0, this.#levels.length >> 1);
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

  /** The first order of a level that has orders. */
  headOf(level: number): number {
    // mutant: time-priority
    return this.#slots[this.#levels[(level << LEVEL_BITS) + HEAD] as number] as number;
  }

  /** The order behind this one, or NONE. */
  after(level: number, slot: number): number {
    const slots = this.#slots;
    const tail = this.#levels[(level << LEVEL_BITS) + TAIL] as number;
    let position = (this.#orders.words[slot + ORDER_POSITION] as number) + 1;
    while (position !== tail) {
      if ((position & IN_BLOCK) === 0) position = (slots[position - BLOCK_WORDS + NEXT] as number) + FIRST;
      const next = slots[position++] as number;
      if (next !== HOLE) return next;
    }
    return NONE;
  }

  /** Whether the order is the last of its level. */
  #isLast(level: number, slot: number): boolean {
    return this.#orders.words[slot + ORDER_POSITION] === (this.#levels[(level << LEVEL_BITS) + TAIL] as number) - 1;
  }

  /** Opens an empty queue for a level. */
  open(level: number, price: number): void {
    const at = level << LEVEL_BITS;
    const block = this.#allocate();
    const levels = this.#levels;
    this.#cells[level << CELL_BITS] = 0;
    this.#cells[(level << CELL_BITS) + PRICE_CELL] = price;
    levels[at + HEAD] = block + FIRST;
    levels[at + TAIL] = block + FIRST;
    levels[at + COUNT] = 0;
  }

  /** Frees the queue of a level without orders. */
  close(level: number): void {
    this.#giveBack((this.#levels[(level << LEVEL_BITS) + HEAD] as number) & BLOCK);
    this.#cells[level << CELL_BITS] = 0;
  }

  /** Appends an order with `remaining` lots to the level. */
  append(level: number, slot: number, remaining: number): void {
    const at = level << LEVEL_BITS;
    if (((this.#levels[at + TAIL] as number) & IN_BLOCK) === 0) this.#addBlock(at);
    const levels = this.#levels;
    const slots = this.#slots;
    const position = levels[at + TAIL] as number;
    const held = (position & BLOCK) + HELD;
    slots[position] = slot;
    slots[held] = (slots[held] as number) + 1;
    const { words } = this.#orders;
    words[slot + ORDER_LEVEL] = level;
    words[slot + ORDER_POSITION] = position;
    levels[at + TAIL] = position + 1;
    levels[at + COUNT] = (levels[at + COUNT] as number) + 1;
    this.change(level, remaining);
  }

  /** The last order of a level that has orders. */
  lastOf(level: number): number {
    return this.#slots[(this.#levels[(level << LEVEL_BITS) + TAIL] as number) - 1] as number;
  }

  /** Inserts an order with `remaining` lots before `next`, an order of the level. */
  insertBefore(level: number, next: number, slot: number, remaining: number): void {
    const at = level << LEVEL_BITS;
    const { words } = this.#orders;
    const position = this.#makeRoom(at, words[next + ORDER_POSITION] as number);
    this.#put(slot, position);
    words[slot + ORDER_LEVEL] = level;
    const held = (position & BLOCK) + HELD;
    this.#slots[held] = (this.#slots[held] as number) + 1;
    const levels = this.#levels;
    levels[at + COUNT] = (levels[at + COUNT] as number) + 1;
    this.change(level, remaining);
  }

  /** Changes the quantity of a level. */
  change(level: number, lots: number): void {
    const quantity = (this.#cells[level << CELL_BITS] as number) + lots;
    this.#cells[level << CELL_BITS] = quantity;
    if (quantity > this.largest) this.largest = quantity;
    const at = (level << LEVEL_BITS) + IS_CHANGED;
    if (this.#levels[at] !== 0) return;
    this.#levels[at] = 1;
    this.#changed[this.changedCount++] = level;
  }

  /** Removes an order with `remaining` lots. @returns the number of orders left at its level. */
  remove(slot: number, remaining: number): number {
    const { words } = this.#orders;
    const level = words[slot + ORDER_LEVEL] as number;
    const position = words[slot + ORDER_POSITION] as number;
    const levels = this.#levels;
    const slots = this.#slots;
    const at = level << LEVEL_BITS;
    const count = (levels[at + COUNT] as number) - 1;
    const block = position & BLOCK;
    const held = (slots[block + HELD] as number) - 1;
    slots[position] = HOLE;
    slots[block + HELD] = held;
    levels[at + COUNT] = count;
    if (held === 0) {
      if (count > 0) this.#removeBlock(at, block);
    } else if (position === levels[at + HEAD]) {
      let head = position + 1;
      while (slots[head] === HOLE) head++;
      levels[at + HEAD] = head;
    } else if (position + 1 === levels[at + TAIL]) {
      let tail = position;
      while (slots[tail - 1] === HOLE) tail--;
      levels[at + TAIL] = tail;
    }
    this.change(level, -remaining);
    return count;
  }

  /** Moves an order to the back of its level. */
  moveToBack(slot: number, remaining: number): void {
    const level = this.#orders.words[slot + ORDER_LEVEL] as number;
    if (this.#isLast(level, slot)) return;
    this.remove(slot, remaining);
    this.append(level, slot, remaining);
  }

  /** Publishes every level that changed since the last publication. */
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

  /** Reorders the orders of a level among the positions that they occupy. */
  sort(level: number, compare: (a: number, b: number) => number): void {
    const { words } = this.#orders;
    const orders = this.ordersOf(level);
    const positions = orders.map((slot) => words[slot + ORDER_POSITION] as number);
    for (const [i, slot] of orders.sort(compare).entries()) {
      const position = positions[i] as number;
      this.#slots[position] = slot;
      words[slot + ORDER_POSITION] = position;
    }
  }

  ordersOf(level: number): number[] {
    const orders: number[] = [];
    for (let slot = this.headOf(level); slot !== NONE; slot = this.after(level, slot)) orders.push(slot);
    return orders;
  }

  /** Adds a block to a queue whose last block is full. */
  #addBlock(at: number): void {
    const block = this.#allocate();
    const last = (this.#levels[at + TAIL] as number) - BLOCK_WORDS;
    this.#slots[last + NEXT] = block;
    this.#slots[block + PREVIOUS] = last;
    this.#levels[at + TAIL] = block + FIRST;
  }

  /** Removes an empty block from a queue of several blocks. */
  #removeBlock(at: number, block: number): void {
    const slots = this.#slots;
    const levels = this.#levels;
    const next = slots[block + NEXT] as number;
    const previous = slots[block + PREVIOUS] as number;
    if (block === ((levels[at + HEAD] as number) & BLOCK)) {
      let head = next + FIRST;
      while (slots[head] === HOLE) head++;
      levels[at + HEAD] = head;
    } else if (block === (((levels[at + TAIL] as number) - 1) & BLOCK)) {
      let tail = previous + BLOCK_WORDS;
      while (slots[tail - 1] === HOLE) tail--;
      levels[at + TAIL] = tail;
    } else {
      slots[previous + NEXT] = next;
      slots[next + PREVIOUS] = previous;
    }
    this.#giveBack(block);
  }

  #put(slot: number, position: number): void {
    this.#slots[position] = slot;
    this.#orders.words[slot + ORDER_POSITION] = position;
  }

  /**
   * Makes a free cell directly before an order: from a hole of its block, at the end of the previous block, or by
   * splitting.
   */
  #makeRoom(at: number, position: number): number {
    const slots = this.#slots;
    const levels = this.#levels;
    const block = position & BLOCK;
    const [head, tail] = [levels[at + HEAD] as number, levels[at + TAIL] as number];
    const isFirstBlock = block === (head & BLOCK);
    const end = block === ((tail - 1) & BLOCK) ? tail : block + BLOCK_WORDS;
    let hole = position - 1;
    while (hole >= block + FIRST && slots[hole] !== HOLE) hole--;
    if (hole >= block + FIRST) {
      for (let cell = hole; cell < position - 1; cell++) this.#put(slots[cell + 1] as number, cell);
      if (isFirstBlock && hole < head) levels[at + HEAD] = hole;
      return position - 1;
    }
    if (position === block + FIRST && !isFirstBlock) {
      let free = (slots[block + PREVIOUS] as number) + BLOCK_WORDS;
      while (slots[free - 1] === HOLE) free--;
      if ((free & IN_BLOCK) !== 0) return free;
    }
    hole = position + 1;
    while (hole < end && slots[hole] !== HOLE) hole++;
    if (hole === block + BLOCK_WORDS) return this.#split(at, position);
    if (hole === end) levels[at + TAIL] = end + 1;
    for (let cell = hole; cell > position; cell--) this.#put(slots[cell - 1] as number, cell);
    return position;
  }

  /**
   * Splits a full block: the entries from `position` on move to a second block. @returns `position`, which is now free.
   */
  #split(at: number, position: number): number {
    const second = this.#allocate();
    const slots = this.#slots;
    const levels = this.#levels;
    const block = position & BLOCK;
    const moved = block + BLOCK_WORDS - position;
    slots.fill(HOLE, second + FIRST, second + BLOCK_WORDS);
    for (let i = 0; i < moved; i++) {
      this.#put(slots[position + i] as number, second + FIRST + i);
      slots[position + i] = HOLE;
    }
    slots[second + HELD] = moved;
    slots[block + HELD] = (slots[block + HELD] as number) - moved;
    if (levels[at + TAIL] === block + BLOCK_WORDS) levels[at + TAIL] = second + FIRST + moved;
    else {
      const next = slots[block + NEXT] as number;
      slots[second + NEXT] = next;
      slots[next + PREVIOUS] = second;
    }
    slots[block + NEXT] = second;
    slots[second + PREVIOUS] = block;
    return position;
  }

  #allocate(): number {
    let block = this.#free;
    if (block !== NONE) this.#free = this.#slots[block + NEXT] as number;
    else {
      const { length } = this.#slots;
      if (this.#used === length) this.#slots = grown(this.#slots, length + Math.min(length, GROWTH));
      block = this.#used;
      this.#used += BLOCK_WORDS;
    }
    this.#slots[block + HELD] = 0;
    return block;
  }

  #giveBack(block: number): void {
    this.#slots[block + NEXT] = this.#free;
    this.#free = block;
  }
}
