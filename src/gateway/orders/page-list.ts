/**
 * One user's orders in memory in the order of pages (PAG-02), so that a page is found by counting, not by sorting.
 *
 *   chunks, oldest first   │ orders, times, words │ orders, times, words │ …      at most CHUNK_ORDERS each
 *   word of an order         group (market and sub-account) << 2 | is settled << 1 | is open
 *
 * A page freezes the list: it keeps the chunks as they are, and a chunk that is frozen is copied before its next change.
 * Cost: a change O(log n), a page without a filter O(n / CHUNK_ORDERS), one with a filter reads n words, a nanosecond each.
 *
 * Invariants
 *   (1) Orders are sorted by time, then id, then market, all of them as `times` and the orders' terms say.
 *   (2) An order is listed while its `pageWord` is not NOT_LISTED, and that is its word here.
 *
 * Not here: which orders are listed (live-orders.ts), what the tables hold (pages.ts).
 */
import { assert, InvariantError, must } from '../../core/assert.ts';
import { type LiveOrder, NOT_LISTED } from './live-order.ts';
import type { OrderPlace } from './order-history.ts';
import { isOpen } from './order-life.ts';

/** Some 10 KiB of references; a change moves at most so many. */
export const CHUNK_ORDERS = 512;
const OPEN = 1;
const SETTLED = 2;
/** An order with both is in memory alone, unless the tables are ahead of this process. */
const CERTAIN: number = OPEN | SETTLED;
const GROUP_SHIFT = 2;
/** Most users trade in a few markets. */
const FEW_GROUPS = 8;

/** What the list reads of an order. */
export type Listable = Pick<
  LiveOrder,
  'terms' | 'market' | 'timestampNs' | 'pageWord' | 'sequence' | 'end' | 'isSpent' | 'faultReason' | 'quantity'
> &
  Pick<LiveOrder, 'pending' | 'confirmed'>;

interface Chunk<Order> {
  readonly orders: Order[];
  readonly times: bigint[];
  readonly words: number[];
  /** How many of them are open, and how many are open and settled. */
  open: number;
  certain: number;
  /** A page keeps it: it is copied before it changes. */
  isFrozen: boolean;
}

/** Which orders a page is about. */
export interface ListFilter {
  /** Null: all of them. */
  readonly marketIndex: number | null;
  readonly subAccounts: readonly number[] | null;
  readonly openOnly: boolean;
}

/** A market and a sub-account in which the user has had an order. */
interface Group {
  readonly marketIndex: number;
  readonly subAccount: number;
}

export interface Entry<Order> {
  readonly order: Order;
  readonly place: OrderPlace;
}

/** A place in a list and how many entries come before it, newest first. */
export interface Pivot {
  readonly rank: number;
  readonly place: OrderPlace;
}

export class PageList<Order extends Listable = LiveOrder> {
  #chunks: Chunk<Order>[] = [];
  readonly #groups: Group[] = [];
  /** By `groupKey`; null while a look through all groups is as fast. */
  #numbers: Map<number, number> | null = null;

  /** The order becomes a part of pages; it is not listed yet. */
  insert(order: Order): void {
    assert(order.pageWord === NOT_LISTED, 'an order is listed once');
    const word = (this.#groupOf(order) << GROUP_SHIFT) | flagsOf(order);
    order.pageWord = word;
    const at = Math.max(0, this.#chunkFor(order));
    if (this.#chunks.length === 0) this.#chunks.push(chunkOf([order], [order.timestampNs], [word]));
    else {
      const chunk = this.#writable(at);
      const index = firstAbove(chunk, order);
      chunk.orders.splice(index, 0, order);
      chunk.times.splice(index, 0, order.timestampNs);
      chunk.words.splice(index, 0, word);
      count(chunk, word, 1);
      if (chunk.orders.length > CHUNK_ORDERS) this.#split(at);
    }
  }

  /** No page shows it any more. */
  remove(order: Order): void {
    const [at, index] = this.#placeOf(order);
    const chunk = this.#writable(at);
    count(chunk, must(chunk.words[index], 'a listed order has a word'), -1);
    chunk.orders.splice(index, 1);
    chunk.times.splice(index, 1);
    chunk.words.splice(index, 1);
    order.pageWord = NOT_LISTED;
    this.#shrink(at);
  }

  /** Brings the word of a listed order up to date. */
  update(order: Order): void {
    const word = (order.pageWord & ~CERTAIN) | flagsOf(order);
    if (word === order.pageWord) return;
    const [at, index] = this.#placeOf(order);
    const chunk = this.#writable(at);
    count(chunk, order.pageWord, -1);
    count(chunk, word, 1);
    chunk.words[index] = word;
    order.pageWord = word;
  }

  /** The list as it is now, whatever changes later. */
  freeze(filter: ListFilter): FrozenList<Order> {
    for (const chunk of this.#chunks) chunk.isFrozen = true;
    return new FrozenList([...this.#chunks], this.#matching(filter), filter.openOnly);
  }

  /** Markets that the orders of a filter may be in. */
  marketsOf(filter: ListFilter): readonly number[] {
    const groups = this.#groups.filter((group) => isMeant(filter, group));
    return [...new Set(groups.map(({ marketIndex }) => marketIndex))];
  }

  /** By group number 1 where the filter takes it; null: it takes all. */
  #matching(filter: ListFilter): Uint8Array | null {
    if (filter.marketIndex === null && filter.subAccounts === null) return null;
    return Uint8Array.from(this.#groups, (group) => (isMeant(filter, group) ? 1 : 0));
  }

  #groupOf({ market, terms }: Order): number {
    const { marketIndex } = market.definition;
    const { subAccount } = terms;
    const known = this.#findGroup(marketIndex, subAccount);
    if (known >= 0) return known;
    const number = this.#groups.length;
    this.#groups.push({ marketIndex, subAccount });
    if (number === FEW_GROUPS) {
      const entries = this.#groups.map((group, at) => [groupKey(group.marketIndex, group.subAccount), at] as const);
      this.#numbers = new Map(entries);
    } else this.#numbers?.set(groupKey(marketIndex, subAccount), number);
    return number;
  }

  /** -1 when there is none. */
  #findGroup(marketIndex: number, subAccount: number): number {
    if (this.#numbers !== null) return this.#numbers.get(groupKey(marketIndex, subAccount)) ?? -1;
    for (let at = 0; at < this.#groups.length; at += 1) {
      const group = this.#groups[at];
      if (group?.marketIndex === marketIndex && group.subAccount === subAccount) return at;
    }
    return -1;
  }

  // ---- chunks

  /** The last chunk that begins at or before the order; -1 when none does. */
  #chunkFor(order: Order): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareAt(chunks[middle] as Chunk<Order>, 0, order) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Chunk and index of a listed order. Equals may reach into earlier chunks. */
  #placeOf(order: Order): readonly [number, number] {
    for (let at = this.#chunkFor(order); at >= 0; at -= 1) {
      const chunk = this.#chunks[at] as Chunk<Order>;
      for (let index = firstAbove(chunk, order) - 1; index >= 0; index -= 1) {
        if (chunk.orders[index] === order) return [at, index];
        if (compareAt(chunk, index, order) !== 0) break;
      }
    }
    throw new InvariantError('a listed order is in its list');
  }

  #writable(at: number): Chunk<Order> {
    const chunk = must(this.#chunks[at], 'a chunk is there');
    if (!chunk.isFrozen) return chunk;
    const { orders, times, words, open, certain } = chunk;
    const copy = { orders: [...orders], times: [...times], words: [...words], open, certain, isFrozen: false };
    this.#chunks[at] = copy;
    return copy;
  }

  /** Orders mostly come at the end: then the chunk before stays full. */
  #split(at: number): void {
    const { orders, times, words } = must(this.#chunks[at], 'a chunk is there');
    const isLast = at === this.#chunks.length - 1;
    const cut = isLast ? CHUNK_ORDERS : CHUNK_ORDERS >>> 1;
    const halves = [
      chunkOf(orders.slice(0, cut), times.slice(0, cut), words.slice(0, cut)),
      chunkOf(orders.slice(cut), times.slice(cut), words.slice(cut)),
    ];
    this.#chunks.splice(at, 1, ...halves);
  }

  /** Joins a small chunk with the one before it, so that chunks are at least a quarter full on average. */
  #shrink(at: number): void {
    const chunk = must(this.#chunks[at], 'a chunk is there');
    if (chunk.orders.length === 0) {
      this.#chunks.splice(at, 1);
      return;
    }
    const before = this.#chunks[at - 1];
    if (before === undefined || before.orders.length + chunk.orders.length > CHUNK_ORDERS >>> 1) return;
    const joined = chunkOf(
      [...before.orders, ...chunk.orders],
      [...before.times, ...chunk.times],
      [...before.words, ...chunk.words],
    );
    this.#chunks.splice(at - 1, 2, joined);
  }
}

/** A list at one moment, newest first. */
export class FrozenList<Order extends Listable = LiveOrder> {
  readonly #chunks: readonly Chunk<Order>[];
  readonly #groups: Uint8Array | null;
  readonly #openOnly: boolean;
  /** How many of each chunk the filter takes. */
  readonly #counts: readonly number[];
  /** How many the filter takes in all. */
  readonly count: number;

  /** @param groups by group number 1 where the filter takes it; null: it takes all. */
  constructor(chunks: readonly Chunk<Order>[], groups: Uint8Array | null, openOnly: boolean) {
    this.#chunks = chunks;
    this.#groups = groups;
    this.#openOnly = openOnly;
    this.#counts = chunks.map((chunk) => this.#countIn(chunk));
    this.count = this.#counts.reduce((sum, taken) => sum + taken, 0);
  }

  /** Entries from that rank on. */
  *from(rank: number): Generator<Entry<Order>, void, undefined> {
    let skip = rank;
    for (let at = this.#chunks.length - 1; at >= 0; at -= 1) {
      const taken = this.#counts[at] as number;
      if (skip >= taken) {
        skip -= taken;
        continue;
      }
      const chunk = this.#chunks[at] as Chunk<Order>;
      for (let index = chunk.orders.length - 1; index >= 0; index -= 1) {
        if (!this.#takes(chunk.words[index] as number)) continue;
        if (skip > 0) skip -= 1;
        else yield entryAt(chunk, index);
      }
    }
  }

  /** Orders that the tables may hold too: finished, pending as a whole, or without an answer of their market. */
  *doubtful(): Generator<Entry<Order>, void, undefined> {
    for (const chunk of this.#chunks) {
      if (chunk.certain === chunk.orders.length) continue;
      for (let index = 0; index < chunk.orders.length; index += 1) {
        const word = chunk.words[index] as number;
        if ((word & CERTAIN) !== CERTAIN && this.#takes(word)) yield entryAt(chunk, index);
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

  #countIn({ words, open }: Chunk<Order>): number {
    if (this.#groups === null) return this.#openOnly ? open : words.length;
    let taken = 0;
    for (let index = 0; index < words.length; index += 1) if (this.#takes(words[index] as number)) taken += 1;
    return taken;
  }
}

/** Newest first: time and id descending, then market and sequence (PAG-02). */
export function compareOrders(a: OrderPlace, b: OrderPlace): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.name !== b.name) return a.name > b.name ? -1 : 1;
  return a.marketIndex - b.marketIndex || a.sequence - b.sequence;
}

function entryAt<Order extends Listable>({ orders, times }: Chunk<Order>, index: number): Entry<Order> {
  const order = must(orders[index], 'an entry is in its chunk');
  const { terms, market, sequence } = order;
  const timeNs = must(times[index], 'an entry has its time');
  return { order, place: { timeNs, name: terms.orderId, marketIndex: market.definition.marketIndex, sequence } };
}

/** Below 0 when the entry at `index` is older than the order. Orders that differ in their sequence alone are equal. */
function compareAt<Order extends Listable>({ orders, times }: Chunk<Order>, index: number, order: Order): number {
  const time = times[index] as bigint;
  if (time !== order.timestampNs) return time < order.timestampNs ? -1 : 1;
  const other = orders[index] as Order;
  if (other.terms.orderId !== order.terms.orderId) return other.terms.orderId < order.terms.orderId ? -1 : 1;
  return order.market.definition.marketIndex - other.market.definition.marketIndex;
}

/** The index of the first entry that is newer than the order. */
function firstAbove<Order extends Listable>(chunk: Chunk<Order>, order: Order): number {
  const { length } = chunk.orders;
  if (length > 0 && compareAt(chunk, length - 1, order) <= 0) return length;
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAt(chunk, middle, order) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function chunkOf<Order>(orders: Order[], times: bigint[], words: number[]): Chunk<Order> {
  const chunk = { orders, times, words, open: 0, certain: 0, isFrozen: false };
  for (const word of words) count(chunk, word, 1);
  return chunk;
}

function count(chunk: Pick<Chunk<unknown>, 'open' | 'certain'>, word: number, change: number): void {
  if ((word & OPEN) !== 0) chunk.open += change;
  if ((word & CERTAIN) === CERTAIN) chunk.certain += change;
}

function flagsOf(order: Listable): number {
  return (isOpen(order) ? OPEN : 0) | (order.sequence === 0 ? 0 : SETTLED);
}

function isMeant({ marketIndex, subAccounts }: ListFilter, group: Group): boolean {
  if (marketIndex !== null && marketIndex !== group.marketIndex) return false;
  return subAccounts === null || subAccounts.includes(group.subAccount);
}

function groupKey(marketIndex: number, subAccount: number): number {
  return marketIndex * 65_536 + subAccount;
}
