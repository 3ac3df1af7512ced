/**
 * One user's orders in memory in the order of pages (PAG-02), so that a page is found by counting, not by sorting.
 *
 *   chunks, oldest first   │ entry, entry, … │ entry, entry, … │ …      at most CHUNK_ORDERS each
 *   entry, four words        index of the order │ word │ time, low │ time, high
 *   word of an order         group (market and sub-account) << 2 | is settled << 1 | is open
 *
 * A page freezes the list: it keeps the chunks as they are, and a chunk that is frozen is copied before its next change.
 * Cost: a change O(log n), a page without a filter O(n / CHUNK_ORDERS), one with a filter reads n words, a nanosecond each.
 * A list begins empty and grows by single orders, or is filled with all that there are by one sort.
 *
 * Invariants
 *   (1) Orders are sorted by time, then id, then market, as the entries' times and the orders' records say.
 *   (2) An order is listed while its `pageWord` is not NOT_LISTED, and that is its word here.
 *
 * Not here: which orders are listed, and that those of a frozen list keep their records (live-orders.ts); what the tables
 * hold (pages.ts).
 */
import { assert, InvariantError, must } from '../../../core/assert.ts';
import { OrderRecord } from '../../../schema/generated/messages.ts';
import { type LiveOrder, NOT_LISTED } from '../book/live-order.ts';
import { type GroupFilter, OrderGroups } from '../book/order-groups.ts';
import { isOpenOrder } from '../book/order-life.ts';
import type { OrderPlace } from './order-history.ts';

/** Some 8 KiB; a change moves at most so many entries. */
export const CHUNK_ORDERS = 512;
const FIRST_ENTRIES = 4;
const ENTRY_WORDS = 4;
/** Words of an entry. */
const INDEX = 0;
const WORD = 1;
const TIME_LOW = 2;
const TIME_HIGH = 3;
const OPEN = 1;
const SETTLED = 2;
/** An order with both is in memory alone, unless the tables are ahead of this process. */
const CERTAIN: number = OPEN | SETTLED;
const GROUP_SHIFT = 2;

/** Where the orders of a list are. */
interface ListedOrders {
  at(index: number): LiveOrder;
}

class Chunk {
  entries: Int32Array;
  length = 0;
  /** How many of them are open, and how many are open and settled. */
  open = 0;
  certain = 0;
  /** A page keeps it: it is copied before it changes. */
  isFrozen = false;

  constructor(room: number) {
    this.entries = new Int32Array(Math.max(FIRST_ENTRIES, room) * ENTRY_WORDS);
  }

  indexAt(at: number): number {
    return this.entries[at * ENTRY_WORDS + INDEX] as number;
  }

  wordAt(at: number): number {
    return this.entries[at * ENTRY_WORDS + WORD] as number;
  }

  timeAt(at: number): bigint {
    const low = this.entries[at * ENTRY_WORDS + TIME_LOW] as number;
    const high = this.entries[at * ENTRY_WORDS + TIME_HIGH] as number;
    return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  }

  setWord(at: number, word: number): void {
    this.#count(this.wordAt(at), -1);
    this.#count(word, 1);
    this.entries[at * ENTRY_WORDS + WORD] = word;
  }

  insert(at: number, order: LiveOrder, word: number): void {
    if (this.length * ENTRY_WORDS === this.entries.length) {
      const entries = new Int32Array(this.entries.length * 2);
      entries.set(this.entries);
      this.entries = entries;
    }
    const first = at * ENTRY_WORDS;
    this.entries.copyWithin(first + ENTRY_WORDS, first, this.length * ENTRY_WORDS);
    this.length += 1;
    this.entries[first + INDEX] = order.index;
    this.entries[first + WORD] = word;
    this.entries[first + TIME_LOW] = timeLow(order);
    this.entries[first + TIME_HIGH] = timeHigh(order);
    this.#count(word, 1);
  }

  remove(at: number): void {
    this.#count(this.wordAt(at), -1);
    this.entries.copyWithin(at * ENTRY_WORDS, (at + 1) * ENTRY_WORDS, this.length * ENTRY_WORDS);
    this.length -= 1;
  }

  /** Entries `from` to `to` as a chunk of their own, behind those of `before`. */
  part(from: number, to: number, before: Chunk | null = null): Chunk {
    const lead = before === null ? 0 : before.length;
    const part = new Chunk(lead + to - from);
    if (before !== null) part.entries.set(before.entries.subarray(0, lead * ENTRY_WORDS));
    part.entries.set(this.entries.subarray(from * ENTRY_WORDS, to * ENTRY_WORDS), lead * ENTRY_WORDS);
    part.length = lead + to - from;
    for (let at = 0; at < part.length; at += 1) part.#count(part.wordAt(at), 1);
    return part;
  }

  #count(word: number, change: number): void {
    if ((word & OPEN) !== 0) this.open += change;
    if ((word & CERTAIN) === CERTAIN) this.certain += change;
  }
}

/** Which orders a page is about. */
export interface ListFilter extends GroupFilter {
  readonly openOnly: boolean;
}

export interface PageEntry {
  readonly order: LiveOrder;
  readonly place: OrderPlace;
}

/** A place in a list and how many entries come before it, newest first. */
interface Pivot {
  readonly rank: number;
  readonly place: OrderPlace;
}

export class PageList {
  readonly #orders: ListedOrders;
  readonly #groups: OrderGroups;
  #chunks: Chunk[] = [];
  /** Where the last `#find` found its order. */
  #foundIndex = 0;

  /** @param groups of the user. */
  constructor(orders: ListedOrders, groups: OrderGroups = new OrderGroups()) {
    this.#orders = orders;
    this.#groups = groups;
  }

  /** @param orders all that are to be listed in an empty list, in the order of their insertion. */
  fill(orders: readonly LiveOrder[]): void {
    assert(this.#chunks.length === 0, 'an empty list is filled');
    const sorted = [...orders].sort(compareListed);
    for (let from = 0; from < sorted.length; from += CHUNK_ORDERS) {
      const part = sorted.slice(from, from + CHUNK_ORDERS);
      const chunk = new Chunk(part.length);
      for (const order of part) chunk.insert(chunk.length, order, this.#enlist(order));
      this.#chunks.push(chunk);
    }
  }

  /** The order becomes a part of pages; it is not listed yet. */
  insert(order: LiveOrder): void {
    const word = this.#enlist(order);
    if (this.#chunks.length === 0) this.#chunks.push(new Chunk(0));
    const at = Math.max(0, this.#chunkFor(order));
    const chunk = this.#writable(at);
    chunk.insert(this.#firstAbove(chunk, order), order, word);
    if (chunk.length > CHUNK_ORDERS) this.#split(at);
  }

  /** @returns the word of an order that was not listed. */
  #enlist(order: LiveOrder): number {
    assert(order.pageWord === NOT_LISTED, 'an order is listed once');
    const word = (this.#groups.numberOf(order) << GROUP_SHIFT) | flagsOf(order);
    order.pageWord = word;
    return word;
  }

  /** No page shows it any more. */
  remove(order: LiveOrder): void {
    const at = this.#find(order);
    this.#writable(at).remove(this.#foundIndex);
    order.pageWord = NOT_LISTED;
    this.#shrink(at);
  }

  /** Brings the word of a listed order up to date. */
  update(order: LiveOrder): void {
    const word = (order.pageWord & ~CERTAIN) | flagsOf(order);
    if (word === order.pageWord) return;
    const at = this.#find(order);
    this.#writable(at).setWord(this.#foundIndex, word);
    order.pageWord = word;
  }

  /** The list as it is now, whatever changes later. */
  freeze(filter: ListFilter): FrozenList {
    for (const chunk of this.#chunks) chunk.isFrozen = true;
    return new FrozenList(this.#orders, [...this.#chunks], this.#matching(filter), filter.openOnly);
  }

  /** Markets that the orders of a filter may be in. */
  marketsOf(filter: ListFilter): readonly number[] {
    return this.#groups.markets((group) => this.#groups.isMeant(group, filter));
  }

  /** By group number 1 where the filter takes it; null: it takes all. */
  #matching(filter: ListFilter): Uint8Array | null {
    if (filter.marketIndex === null && filter.subAccounts === null) return null;
    const taken = new Uint8Array(this.#groups.count);
    return taken.map((_, group) => (this.#groups.isMeant(group, filter) ? 1 : 0));
  }

  // ---- chunks

  /** The last chunk that begins at or before the order; -1 when none does. */
  #chunkFor(order: LiveOrder): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = chunks[middle] as Chunk;
      if (chunk.length === 0 || this.#compareAt(chunk, 0, order) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * The chunk of a listed order; its place there is `#foundIndex` until the next call. Equals may reach into earlier
   * chunks.
   */
  #find(order: LiveOrder): number {
    for (let at = this.#chunkFor(order); at >= 0; at -= 1) {
      const chunk = this.#chunks[at] as Chunk;
      for (let index = this.#firstAbove(chunk, order) - 1; index >= 0; index -= 1) {
        if (chunk.indexAt(index) === order.index) {
          this.#foundIndex = index;
          return at;
        }
        if (this.#compareAt(chunk, index, order) !== 0) break;
      }
    }
    throw new InvariantError('a listed order is in its list');
  }

  /** Below 0 when the entry is older than the order. Orders that differ in their sequence alone are equal. */
  #compareAt(chunk: Chunk, at: number, order: LiveOrder): number {
    const first = at * ENTRY_WORDS;
    const high = (chunk.entries[first + TIME_HIGH] as number) >>> 0;
    if (high !== timeHigh(order)) return high < timeHigh(order) ? -1 : 1;
    const low = (chunk.entries[first + TIME_LOW] as number) >>> 0;
    if (low !== timeLow(order)) return low < timeLow(order) ? -1 : 1;
    if (chunk.entries[first + INDEX] === order.index) return 0;
    return compareOfOneTime(this.#orders.at(chunk.indexAt(at)), order);
  }

  /** The place of the first entry that is newer than the order. */
  #firstAbove(chunk: Chunk, order: LiveOrder): number {
    const { length } = chunk;
    if (length > 0 && this.#compareAt(chunk, length - 1, order) <= 0) return length;
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compareAt(chunk, middle, order) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #writable(at: number): Chunk {
    const chunk = must(this.#chunks[at], 'a chunk is there');
    if (!chunk.isFrozen) return chunk;
    const copy = chunk.part(0, chunk.length);
    this.#chunks[at] = copy;
    return copy;
  }

  /** Orders mostly come at the end: then the chunk before stays full. */
  #split(at: number): void {
    const chunk = must(this.#chunks[at], 'a chunk is there');
    const isLast = at === this.#chunks.length - 1;
    const cut = isLast ? CHUNK_ORDERS : CHUNK_ORDERS >>> 1;
    this.#chunks.splice(at, 1, chunk.part(0, cut), chunk.part(cut, chunk.length));
  }

  /** Joins a small chunk with the one before it, so that chunks are at least a quarter full on average. */
  #shrink(at: number): void {
    const chunk = must(this.#chunks[at], 'a chunk is there');
    if (chunk.length === 0) {
      this.#chunks.splice(at, 1);
      return;
    }
    const before = this.#chunks[at - 1];
    if (before === undefined || before.length + chunk.length > CHUNK_ORDERS >>> 1) return;
    this.#chunks.splice(at - 1, 2, chunk.part(0, chunk.length, before));
  }
}

/** A list at one moment, newest first. */
export class FrozenList {
  readonly #orders: ListedOrders;
  readonly #chunks: readonly Chunk[];
  readonly #groups: Uint8Array | null;
  readonly #openOnly: boolean;
  /** How many of each chunk the filter takes. */
  readonly #counts: readonly number[];
  /** How many the filter takes in all. */
  readonly count: number;

  /** @param groups by group number 1 where the filter takes it; null: it takes all. */
  constructor(orders: ListedOrders, chunks: readonly Chunk[], groups: Uint8Array | null, openOnly: boolean) {
    this.#orders = orders;
    this.#chunks = chunks;
    this.#groups = groups;
    this.#openOnly = openOnly;
    this.#counts = chunks.map((chunk) => this.#countIn(chunk));
    this.count = this.#counts.reduce((sum, taken) => sum + taken, 0);
  }

  /** Entries from that rank on. */
  *from(rank: number): Generator<PageEntry, void, undefined> {
    let skip = rank;
    for (let at = this.#chunks.length - 1; at >= 0; at -= 1) {
      const taken = this.#counts[at] as number;
      if (skip >= taken) {
        skip -= taken;
        continue;
      }
      const chunk = this.#chunks[at] as Chunk;
      for (let index = chunk.length - 1; index >= 0; index -= 1) {
        if (!this.#takes(chunk.wordAt(index))) continue;
        if (skip > 0) skip -= 1;
        else yield this.#entryAt(chunk, index);
      }
    }
  }

  /** Orders that the tables may hold too: finished, pending as a whole, or without an answer of their market. */
  *doubtful(): Generator<PageEntry, void, undefined> {
    for (const chunk of this.#chunks) {
      if (chunk.certain === chunk.length) continue;
      for (let index = 0; index < chunk.length; index += 1) {
        const word = chunk.wordAt(index);
        if ((word & CERTAIN) !== CERTAIN && this.#takes(word)) yield this.#entryAt(chunk, index);
      }
    }
  }

  /**
   * Places that cut what comes before rank `below` into parts of some chunks each, and the first at or behind it.
   *
   * @param most how many at most, one more aside.
   */
  pivots(below: number, most: number): readonly Pivot[] {
    const step = Math.max(CHUNK_ORDERS, Math.ceil(Math.min(below, this.count) / most));
    const pivots: Pivot[] = [];
    let rank = 0;
    let next = step;
    for (let at = this.#chunks.length - 1; at >= 0; at -= 1) {
      if (rank >= next) {
        const first = this.from(rank).next().value;
        if (first === undefined) break;
        pivots.push({ rank, place: first.place });
        if (rank >= below) break;
        next = rank + step;
      }
      rank += this.#counts[at] as number;
    }
    return pivots;
  }

  #takes(word: number): boolean {
    if (this.#openOnly && (word & OPEN) === 0) return false;
    return this.#groups === null || this.#groups[word >>> GROUP_SHIFT] === 1;
  }

  #countIn(chunk: Chunk): number {
    if (this.#groups === null) return this.#openOnly ? chunk.open : chunk.length;
    let taken = 0;
    for (let index = 0; index < chunk.length; index += 1) if (this.#takes(chunk.wordAt(index))) taken += 1;
    return taken;
  }

  #entryAt(chunk: Chunk, at: number): PageEntry {
    const order = this.#orders.at(chunk.indexAt(at));
    const { orderId: name, marketIndex, sequence } = order;
    return { order, place: { timeNs: chunk.timeAt(at), name, marketIndex, sequence } };
  }
}

/** Newest first: time and id descending, then market and sequence (PAG-02). */
export function compareOrders(a: OrderPlace, b: OrderPlace): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.name !== b.name) return a.name > b.name ? -1 : 1;
  return a.marketIndex - b.marketIndex || a.sequence - b.sequence;
}

/** The order of a list: below 0 when `a` is older than `b`. Orders that differ in their sequence alone are equal. */
function compareListed(a: LiveOrder, b: LiveOrder): number {
  return timeHigh(a) - timeHigh(b) || timeLow(a) - timeLow(b) || compareOfOneTime(a, b);
}

function compareOfOneTime(a: LiveOrder, b: LiveOrder): number {
  const [id, otherId] = [a.orderId, b.orderId];
  if (id !== otherId) return id < otherId ? -1 : 1;
  return a.marketIndex - b.marketIndex;
}

/** The lower half of its time, unsigned. */
function timeLow({ v, at }: LiveOrder): number {
  return v.u32[(at + OrderRecord.timestampNsAt) >>> 2] as number;
}

function timeHigh({ v, at }: LiveOrder): number {
  return v.u32[(at + OrderRecord.timestampNsAt + 4) >>> 2] as number;
}

function flagsOf(order: LiveOrder): number {
  return (isOpenOrder(order) ? OPEN : 0) | (order.sequence === 0 ? 0 : SETTLED);
}
