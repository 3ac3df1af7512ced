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
  #indexes: Int32Array;
  #changed: Int32Array;
  #used = 0;
  /** The first free block, or NONE; linked by NEXT. */
  #free: number = NONE;

  constructor(orders: OrderPool, levels: number) {
    this.#orders = orders;
    this.#levels = new Int32Array(levels * LEVEL_WORDS);
    this.#cells = new Float64Array(this.#levels.buffer);
    this.#indexes = new Int32Array(FIRST_BLOCKS * BLOCK_WORDS);
    this.#changed = new Int32Array(levels);
  }

  get bytes(): number {
    return this.#levels.byteLength + this.#indexes.byteLength + this.#changed.byteLength;
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
    return this.#indexes[this.#levels[(level << LEVEL_BITS) + HEAD] as number] as number;
  }

  /** The order behind this one, or NONE. */
  after(level: number, index: number): number {
    const indexes = this.#indexes;
    const tail = this.#levels[(level << LEVEL_BITS) + TAIL] as number;
    let position = (this.#orders.words[index + ORDER_POSITION] as number) + 1;
    while (position !== tail) {
      if ((position & IN_BLOCK) === 0) position = (indexes[position - BLOCK_WORDS + NEXT] as number) + FIRST;
      const next = indexes[position++] as number;
      if (next !== HOLE) return next;
    }
    return NONE;
  }

  /** Whether the order is the last of its level. */
  #isLast(level: number, index: number): boolean {
    return this.#orders.words[index + ORDER_POSITION] === (this.#levels[(level << LEVEL_BITS) + TAIL] as number) - 1;
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
  append(level: number, index: number, remaining: number): void {
    const at = level << LEVEL_BITS;
    if (((this.#levels[at + TAIL] as number) & IN_BLOCK) === 0) this.#addBlock(at);
    const levels = this.#levels;
    const indexes = this.#indexes;
    const position = levels[at + TAIL] as number;
    const held = (position & BLOCK) + HELD;
    indexes[position] = index;
    indexes[held] = (indexes[held] as number) + 1;
    const { words } = this.#orders;
    words[index + ORDER_LEVEL] = level;
    words[index + ORDER_POSITION] = position;
    levels[at + TAIL] = position + 1;
    levels[at + COUNT] = (levels[at + COUNT] as number) + 1;
    this.change(level, remaining);
  }

  /** The last order of a level that has orders. */
  lastOf(level: number): number {
    return this.#indexes[(this.#levels[(level << LEVEL_BITS) + TAIL] as number) - 1] as number;
  }

  /** Inserts an order with `remaining` lots before `next`, an order of the level. */
  insertBefore(level: number, next: number, index: number, remaining: number): void {
    const at = level << LEVEL_BITS;
    const { words } = this.#orders;
    const position = this.#makeRoom(at, words[next + ORDER_POSITION] as number);
    this.#put(index, position);
    words[index + ORDER_LEVEL] = level;
    const held = (position & BLOCK) + HELD;
    this.#indexes[held] = (this.#indexes[held] as number) + 1;
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
  remove(index: number, remaining: number): number {
    const { words } = this.#orders;
    const level = words[index + ORDER_LEVEL] as number;
    const position = words[index + ORDER_POSITION] as number;
    const levels = this.#levels;
    const indexes = this.#indexes;
    const at = level << LEVEL_BITS;
    const count = (levels[at + COUNT] as number) - 1;
    const block = position & BLOCK;
    const held = (indexes[block + HELD] as number) - 1;
    indexes[position] = HOLE;
    indexes[block + HELD] = held;
    levels[at + COUNT] = count;
    if (held === 0) {
      if (count > 0) this.#removeBlock(at, block);
    } else if (position === levels[at + HEAD]) {
      let head = position + 1;
      while (indexes[head] === HOLE) head++;
      levels[at + HEAD] = head;
    } else if (position + 1 === levels[at + TAIL]) {
      let tail = position;
      while (indexes[tail - 1] === HOLE) tail--;
      levels[at + TAIL] = tail;
    }
    this.change(level, -remaining);
    return count;
  }

  /** Moves an order to the back of its level. */
  moveToBack(index: number, remaining: number): void {
    const level = this.#orders.words[index + ORDER_LEVEL] as number;
    if (this.#isLast(level, index)) return;
    this.remove(index, remaining);
    this.append(level, index, remaining);
  }

  /** Publishes every level that changed since the last publication. */
  publishChanges(side: Side, events: MarketEvents): void {
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

  dropChanges(): void {
    for (let i = 0; i < this.changedCount; i++)
      this.#levels[((this.#changed[i] as number) << LEVEL_BITS) + IS_CHANGED] = 0;
    this.changedCount = 0;
  }

  /** Reorders the orders of a level among the positions that they occupy. */
  sort(level: number, compare: (a: number, b: number) => number): void {
    const { words } = this.#orders;
    const orders = this.ordersOf(level);
    const positions = orders.map((index) => words[index + ORDER_POSITION] as number);
    for (const [i, index] of orders.sort(compare).entries()) {
      const position = positions[i] as number;
      this.#indexes[position] = index;
      words[index + ORDER_POSITION] = position;
    }
  }

  ordersOf(level: number): number[] {
    const orders: number[] = [];
    for (let index = this.headOf(level); index !== NONE; index = this.after(level, index)) orders.push(index);
    return orders;
  }

  /** Adds a block to a queue whose last block is full. */
  #addBlock(at: number): void {
    const block = this.#allocate();
    const last = (this.#levels[at + TAIL] as number) - BLOCK_WORDS;
    this.#indexes[last + NEXT] = block;
    this.#indexes[block + PREVIOUS] = last;
    this.#levels[at + TAIL] = block + FIRST;
  }

  /** Removes an empty block from a queue of several blocks. */
  #removeBlock(at: number, block: number): void {
    const indexes = this.#indexes;
    const levels = this.#levels;
    const next = indexes[block + NEXT] as number;
    const previous = indexes[block + PREVIOUS] as number;
    if (block === ((levels[at + HEAD] as number) & BLOCK)) {
      let head = next + FIRST;
      while (indexes[head] === HOLE) head++;
      levels[at + HEAD] = head;
    } else if (block === (((levels[at + TAIL] as number) - 1) & BLOCK)) {
      let tail = previous + BLOCK_WORDS;
      while (indexes[tail - 1] === HOLE) tail--;
      levels[at + TAIL] = tail;
    } else {
      indexes[previous + NEXT] = next;
      indexes[next + PREVIOUS] = previous;
    }
    this.#giveBack(block);
  }

  #put(index: number, position: number): void {
    this.#indexes[position] = index;
    this.#orders.words[index + ORDER_POSITION] = position;
  }

  /**
   * Makes a free cell directly before an order: from a hole of its block, at the end of the previous block, or by
   * splitting.
   */
  #makeRoom(at: number, position: number): number {
    const indexes = this.#indexes;
    const levels = this.#levels;
    const block = position & BLOCK;
    const [head, tail] = [levels[at + HEAD] as number, levels[at + TAIL] as number];
    const isFirstBlock = block === (head & BLOCK);
    const end = block === ((tail - 1) & BLOCK) ? tail : block + BLOCK_WORDS;
    let hole = position - 1;
    while (hole >= block + FIRST && indexes[hole] !== HOLE) hole--;
    if (hole >= block + FIRST) {
      for (let cell = hole; cell < position - 1; cell++) this.#put(indexes[cell + 1] as number, cell);
      if (isFirstBlock && hole < head) levels[at + HEAD] = hole;
      return position - 1;
    }
    if (position === block + FIRST && !isFirstBlock) {
      let free = (indexes[block + PREVIOUS] as number) + BLOCK_WORDS;
      while (indexes[free - 1] === HOLE) free--;
      if ((free & IN_BLOCK) !== 0) return free;
    }
    hole = position + 1;
    while (hole < end && indexes[hole] !== HOLE) hole++;
    if (hole === block + BLOCK_WORDS) return this.#split(at, position);
    if (hole === end) levels[at + TAIL] = end + 1;
    for (let cell = hole; cell > position; cell--) this.#put(indexes[cell - 1] as number, cell);
    return position;
  }

  /**
   * Splits a full block: the entries from `position` on move to a second block. @returns `position`, which is now free.
   */
  #split(at: number, position: number): number {
    const second = this.#allocate();
    const indexes = this.#indexes;
    const levels = this.#levels;
    const block = position & BLOCK;
    const moved = block + BLOCK_WORDS - position;
    indexes.fill(HOLE, second + FIRST, second + BLOCK_WORDS);
    for (let i = 0; i < moved; i++) {
      this.#put(indexes[position + i] as number, second + FIRST + i);
      indexes[position + i] = HOLE;
    }
    indexes[second + HELD] = moved;
    indexes[block + HELD] = (indexes[block + HELD] as number) - moved;
    if (levels[at + TAIL] === block + BLOCK_WORDS) levels[at + TAIL] = second + FIRST + moved;
    else {
      const next = indexes[block + NEXT] as number;
      indexes[second + NEXT] = next;
      indexes[next + PREVIOUS] = second;
    }
    indexes[block + NEXT] = second;
    indexes[second + PREVIOUS] = block;
    return position;
  }

  #allocate(): number {
    let block = this.#free;
    if (block !== NONE) this.#free = this.#indexes[block + NEXT] as number;
    else {
      const { length } = this.#indexes;
      if (this.#used === length) this.#indexes = grown(this.#indexes, length + Math.min(length, GROWTH));
      block = this.#used;
      this.#used += BLOCK_WORDS;
    }
    this.#indexes[block + HELD] = 0;
    return block;
  }

  #giveBack(block: number): void {
    this.#indexes[block + NEXT] = this.#free;
    this.#free = block;
  }
}
