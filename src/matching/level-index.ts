/**
 * The price index of one side of a book, for prices anywhere in 1 … 2^53−1, dense or sparse.
 *
 * Prices are mapped to ranks, larger is better: a bid's rank is its price, an ask's is minus its price. A leaf covers
 * eight neighbouring ranks, with one bit for each rank that has orders. Leaves are kept in one array sorted by key, the
 * best last, and in a hash by key.
 *
 *   level = leaf · 8 + bit            rank = key[leaf] · 8 + bit
 *
 *   order   … 7      12      13 ◀─ best leaf: 31 − clz32(mask) is the best bit
 *             ▲       ▲       ▲
 *            mask    mask    mask
 *
 * On dense prices adding or removing a level changes one bit; on sparse prices a leaf holds one level and the array is
 * an ordinary sorted array, cheap to shift because trading happens at its end. A level number is valid while its rank
 * has orders, and then until the next `releaseEmpty`.
 *
 * Invariants
 *   (1) `order` ascends strictly by key; a leaf is in it if and only if it is in the hash.
 *   (2) The last leaf of `order` is not empty; `best` is its highest level, NONE if there is no leaf.
 *   (3) Empty leaves further down are kept for reuse, at most 64 or as many as the others.
 *   (4) There are at most `leavesMax` leaves: callers check `hasRoom` before they add a level.
 */
import { assert } from '../core/assert.ts';
import { grown, NONE } from '../core/pools.ts';
import type { PriceHash } from './price-hash.ts';

/**
 * Every level of a leaf has a record (level-queues.ts) even without orders: larger leaves would waste memory in a
 * sparse book.
 */
const LEAF_BITS = 3;
export const LEAF_SIZE: number = 1 << LEAF_BITS;
const BIT_MASK: number = LEAF_SIZE - 1;
const EMPTY_LEAVES_MAX = 64;
/** At this number of leaves, adding one far from the best shifts 8 MB of `order`, which takes a millisecond. */
export const LEAVES_MAX: number = 2 ** 22;
/** Leaves shifted one by one before a binary search with a block copy is faster. */
const NEAR = 16;

export class LevelIndex {
  /** The best level with orders, or NONE. */
  best: number = NONE;
  /** Allocated leaves; there are LEAF_SIZE times as many level numbers. */
  capacity: number;
  #key: Float64Array;
  #mask: Int32Array;
  /** Links the free leaves, and the leaves detached since the last `releaseEmpty`. */
  #next: Int32Array;
  #order: Int32Array;
  #orderCount = 0;
  #emptyCount = 0;
  readonly #hash: PriceHash;
  readonly #leavesMax: number;
  #table: Int32Array;
  #used = 0;
  #free: number = NONE;
  #detached: number = NONE;

  /**
   * @param leaves initial number. @param hash keyed with a secret, because clients choose the prices and so the keys.
   * @param leavesMax `leaves` doubled a whole number of times.
   */
  constructor(leaves: number, hash: PriceHash, leavesMax: number = LEAVES_MAX) {
    this.#hash = hash;
    this.#leavesMax = leavesMax;
    this.capacity = leaves;
    this.#key = new Float64Array(leaves);
    this.#mask = new Int32Array(leaves);
    this.#next = new Int32Array(leaves);
    this.#order = new Int32Array(leaves);
    this.#table = new Int32Array(leaves * 4).fill(NONE);
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    const arrays = [this.#key, this.#mask, this.#next, this.#order, this.#table];
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  get levelCapacity(): number {
    return this.capacity * LEAF_SIZE;
  }

  rankOf(level: number): number {
    return (this.#key[level >> LEAF_BITS] as number) * LEAF_SIZE + (level & BIT_MASK);
  }

  has(level: number): boolean {
    return ((this.#mask[level >> LEAF_BITS] as number) & (1 << (level & BIT_MASK))) !== 0;
  }

  /** @returns the level of the rank if it has orders, else NONE. */
  find(rank: number): number {
    const key = Math.floor(rank / LEAF_SIZE);
    const leaf = this.#leafOf(key);
    if (leaf === NONE) return NONE;
    const level = leaf * LEAF_SIZE + (rank - key * LEAF_SIZE);
    return this.has(level) ? level : NONE;
  }

  /** Whether the rank can be added: its leaf exists or can be allocated. */
  hasRoom(rank: number): boolean {
    return this.#used < this.#leavesMax || this.#free !== NONE || this.#leafOf(Math.floor(rank / LEAF_SIZE)) !== NONE;
  }

  /** @returns the level of the rank; if it has no orders, the caller must call `set`. */
  reach(rank: number): number {
    const key = Math.floor(rank / LEAF_SIZE);
    const best = this.best;
    const leaf = best !== NONE && this.#key[best >> LEAF_BITS] === key ? best >> LEAF_BITS : this.#leafOf(key);
    return (leaf === NONE ? this.#add(key) : leaf) * LEAF_SIZE + (rank - key * LEAF_SIZE);
  }

  /** Marks a level that got its first order. */
  set(level: number): void {
    const leaf = level >> LEAF_BITS;
    const mask = this.#mask[leaf] as number;
    if (mask === 0) this.#emptyCount--;
    this.#mask[leaf] = mask | (1 << (level & BIT_MASK));
    if (this.best === NONE || this.rankOf(level) > this.rankOf(this.best)) this.best = level;
  }

  /** Unmarks a level that lost its last order. */
  clear(level: number): void {
    const leaf = level >> LEAF_BITS;
    const mask = (this.#mask[leaf] as number) & ~(1 << (level & BIT_MASK));
    this.#mask[leaf] = mask;
    if (mask === 0) this.#emptyCount++;
    if (level === this.best) this.#findBest();
  }

  /** The next worse level with orders, or NONE. Searches the leaf array when it is in another leaf. */
  worse(level: number): number {
    const leaf = level >> LEAF_BITS;
    const below = (this.#mask[leaf] as number) & ((1 << (level & BIT_MASK)) - 1);
    if (below !== 0) return leaf * LEAF_SIZE + 31 - Math.clz32(below);
    for (let at = this.#placeOf(this.#key[leaf] as number) - 1; at >= 0; at--) {
      const next = this.#order[at] as number;
      const mask = this.#mask[next] as number;
      if (mask !== 0) return next * LEAF_SIZE + 31 - Math.clz32(mask);
    }
    return NONE;
  }

  /** Frees the detached leaves; level numbers of empty levels become invalid. */
  releaseEmpty(): void {
    if (this.#detached === NONE && this.#emptyCount <= EMPTY_LEAVES_MAX) return;
    if (this.#emptyCount > EMPTY_LEAVES_MAX && this.#emptyCount * 2 > this.#orderCount) this.#compact();
    while (this.#detached !== NONE) {
      const leaf = this.#detached;
      this.#detached = this.#next[leaf] as number;
      this.#next[leaf] = this.#free;
      this.#free = leaf;
    }
  }

  /** Whether invariants (1) to (3) hold. */
  isSound(): boolean {
    let empty = 0;
    for (let at = 0; at < this.#orderCount; at++) {
      const leaf = this.#order[at] as number;
      const key = this.#key[leaf] as number;
      if (this.#mask[leaf] === 0) empty++;
      if (this.#leafOf(key) !== leaf) return false;
      if (at > 0 && (this.#key[this.#order[at - 1] as number] as number) >= key) return false;
    }
    if (empty !== this.#emptyCount || (empty > EMPTY_LEAVES_MAX && empty * 2 > this.#orderCount)) return false;
    if (this.#orderCount === 0) return this.best === NONE;
    const last = this.#order[this.#orderCount - 1] as number;
    const mask = this.#mask[last] as number;
    return mask !== 0 && this.best === last * LEAF_SIZE + 31 - Math.clz32(mask);
  }

  #findBest(): void {
    while (this.#orderCount > 0) {
      const leaf = this.#order[this.#orderCount - 1] as number;
      const mask = this.#mask[leaf] as number;
      if (mask !== 0) {
        this.best = leaf * LEAF_SIZE + 31 - Math.clz32(mask);
        return;
      }
      this.#orderCount--;
      this.#detach(leaf);
    }
    this.best = NONE;
  }

  #leafOf(key: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    for (let place = this.#hash.of(key) & mask; ; place = (place + 1) & mask) {
      const leaf = table[place] as number;
      if (leaf === NONE || this.#key[leaf] === key) return leaf;
    }
  }

  /** A new, empty leaf. */
  #add(key: number): number {
    const leaf = this.#allocate();
    this.#key[leaf] = key;
    this.#mask[leaf] = 0;
    this.#emptyCount++;
    this.#enter(leaf);
    const order = this.#order;
    let at = this.#orderCount++;
    const near = Math.max(at - NEAR, 0);
    for (; at > near && (this.#key[order[at - 1] as number] as number) > key; at--) order[at] = order[at - 1] as number;
    if (at === near && at > 0 && (this.#key[order[at - 1] as number] as number) > key) {
      const place = this.#placeOf(key, at);
      order.copyWithin(place + 1, place, at);
      at = place;
    }
    order[at] = leaf;
    return leaf;
  }

  /** Index in `order` of the first of `count` leaves whose key is not below `key`. */
  #placeOf(key: number, count: number = this.#orderCount): number {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#key[this.#order[middle] as number] as number) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #allocate(): number {
    if (this.#free !== NONE) {
      const leaf = this.#free;
      this.#free = this.#next[leaf] as number;
      return leaf;
    }
    if (this.#used === this.capacity) this.#grow();
    return this.#used++;
  }

  #detach(leaf: number): void {
    this.#unhash(leaf);
    this.#emptyCount--;
    this.#next[leaf] = this.#detached;
    this.#detached = leaf;
  }

  #compact(): void {
    let kept = 0;
    for (let at = 0; at < this.#orderCount; at++) {
      const leaf = this.#order[at] as number;
      if (this.#mask[leaf] === 0) this.#detach(leaf);
      else this.#order[kept++] = leaf;
    }
    this.#orderCount = kept;
  }

  #enter(leaf: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let place = this.#hash.of(this.#key[leaf] as number) & mask;
    while (table[place] !== NONE) place = (place + 1) & mask;
    table[place] = leaf;
  }

  #unhash(leaf: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let gap = this.#hash.of(this.#key[leaf] as number) & mask;
    while (table[gap] !== leaf) gap = (gap + 1) & mask;
    for (let place = (gap + 1) & mask; table[place] !== NONE; place = (place + 1) & mask) {
      const moved = table[place] as number;
      const home = this.#hash.of(this.#key[moved] as number) & mask;
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      table[gap] = moved;
      gap = place;
    }
    table[gap] = NONE;
  }

  #grow(): void {
    const { capacity } = this;
    assert(capacity < this.#leavesMax, 'level index: callers check hasRoom before they add a level');
    this.capacity = capacity * 2;
    this.#key = grown(this.#key, capacity * 2);
    this.#mask = grown(this.#mask, capacity * 2);
    this.#next = grown(this.#next, capacity * 2);
    this.#order = grown(this.#order, capacity * 2);
    this.#table = new Int32Array(capacity * 8).fill(NONE);
    for (let at = 0; at < this.#orderCount; at++) this.#enter(this.#order[at] as number);
  }
}
