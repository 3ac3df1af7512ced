/**
 * Orders of one market: live, waiting for a trigger, or with undecided fills. An order that is neither RESTING nor
 * DORMANT and has no undecided fill leaves the pool.
 *
 * Parallel to the records (order-records.ts) lie the owner and 24 bytes of id for each order. What few orders have, a
 * longer id or times of their own, is stored apart (WordHeap):
 *
 *   ids     word   0 … 4    5
 *                  the id   the id, or the address of own times; word 0 is the address of an id too long for these words
 *
 * Most orders have the priority of their acceptance, the timestamp of their creation, and live for 30 days: these times
 * are not stored. An order that differs in one of them stores all three.
 *
 * The arrays are replaced when the pool grows, which only `allocate` does: code that calls it must read them again.
 */
import { assert } from '../core/assert.ts';
import { lastWordMask, wordCount } from '../core/key-words.ts';
import { ORDER_LIFE_NS } from '../core/limits.ts';
import { grown, NONE } from '../core/pools.ts';
import { highWord, lowWord } from '../core/time-words.ts';
import type { Sequence } from '../core/units.ts';
import { MARK, type MatchingTerms, type NewTerms, ORDER_WORDS, OrderRecords } from './order-records.ts';

// Runs of words of one size in a growing array, for data that few orders have. A freed run is the next one allocated.
// There is one heap per size, so free runs of one size never limit another, and allocation always succeeds: a run has
// at most 16 words and an order of the pool at most one of each heap, which the array can hold (order-pool.ts).

const FIRST_WORDS = 64;
/** Words by which a large heap grows. */
const HEAP_GROWTH = 65_536;

export class WordHeap {
  /** Replaced on growth, which only `allocate` does. */
  words: Int32Array = new Int32Array(0);
  readonly #size: number;
  #used = 0;
  /** The first free run, or NONE; linked through the first words. */
  #free: number = NONE;

  /** @param size of a run: 1 … 16. */
  constructor(size: number) {
    this.#size = size;
  }

  get bytes(): number {
    return this.words.byteLength;
  }

  /** @returns the index of a run's first word; its content is undefined. */
  allocate(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.words[free] as number;
      return free;
    }
    const { length } = this.words;
    if (this.#used + this.#size > length)
      this.words = grown(this.words, Math.max(length + Math.min(length, HEAP_GROWTH), FIRST_WORDS));
    this.#used += this.#size;
    return this.#used - this.#size;
  }

  release(at: number): void {
    this.words[at] = this.#free;
    this.#free = at;
  }
}

/** Shift from an order's index to its number. */
const NUMBER = 4;
/** Words of an id beside the record; one fewer if that word is the address of own times. */
const ID_WORDS = 6;
const TIMES_AT = 5;
/** Word offsets of own times. */
const PRIORITY_HIGH = 0;
const PRIORITY_LOW = 1;
const TIMESTAMP_HIGH = 2;
const TIMESTAMP_LOW = 3;
const EXPIRY_HIGH = 4;
const EXPIRY_LOW = 5;
const TIMES_WORDS = 6;
const WORD = 2 ** 32;
const LIFE_HIGH: number = highWord(ORDER_LIFE_NS);
const LIFE_LOW: number = lowWord(ORDER_LIFE_NS);
/** The compiler folds constants of the same file but loads imported ones. */
const HAS_TIMES: number = MARK.hasOwnTimes;
const IS_FAR: number = MARK.isFar;
/** Indexes are 31-bit word offsets: 16 words per order, in an array of 4 GiB. */
export const ORDERS_MAX: number = 2 ** 26 - 1;
/** Entries by which a large pool grows. */
const GROWTH = 16_384;
/** Words of an order id of 64 bytes. */
const LONGEST_ID_WORDS = 16;

export class OrderPool extends OrderRecords {
  /** The user of every order number, NONE for a free one: the column that a cancel-all scans. */
  owners: Int32Array;
  /** By order number: 0 of an order that is no entry of a quote set (quote-set.ts). */
  quoteSets: Int32Array;
  #ids: Int32Array;
  /** Ids by their number of words; times. */
  readonly #farIds: readonly WordHeap[] = Array.from({ length: LONGEST_ID_WORDS + 1 }, (_, size) => new WordHeap(size));
  readonly #times: WordHeap = new WordHeap(TIMES_WORDS);
  readonly #wordsMax: number;
  #used = 0;
  #count = 0;
  #free: number = NONE;

  /** @param ordersMax maximum number of orders at a time. */
  constructor(capacity: number, ordersMax: number = ORDERS_MAX) {
    super(capacity);
    this.#wordsMax = ordersMax * ORDER_WORDS;
    this.owners = new Int32Array(capacity);
    this.quoteSets = new Int32Array(capacity);
    this.#ids = new Int32Array(capacity * ID_WORDS);
  }

  /** Orders in the pool. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    const apart = this.#farIds.reduce((sum, { bytes }) => sum + bytes, this.#times.bytes);
    return this.words.byteLength + this.owners.byteLength + this.quoteSets.byteLength + this.#ids.byteLength + apart;
  }

  /** Allocates a FRESH order without a sequence, an id and times. */
  allocate(terms: MatchingTerms, user: number, quantity: number): number {
    const index = this.#allocate();
    this.owners[index >> NUMBER] = user;
    this.quoteSets[index >> NUMBER] = 0;
    this.writeNew(index, terms, quantity);
    return index;
  }

  /** Allocates a FRESH order with its sequence and times, without an id. */
  begin(command: NewTerms, user: number, quantity: number, sequence: number): number {
    const index = this.allocate(command, user, quantity);
    const { creationHigh, creationLow, expiryHigh, expiryLow } = command;
    this.writeBegun(index, sequence, creationHigh, creationLow);
    const low = creationLow + LIFE_LOW;
    const high = creationHigh + LIFE_HIGH + (low >= WORD ? 1 : 0);
    if (high !== expiryHigh || low >>> 0 !== expiryLow) this.setExpiry(index, expiryHigh, expiryLow);
    return index;
  }

  /** Frees the entry of an order that is over. */
  release(index: number): void {
    this.#count--;
    if (this.hasMark(index, IS_FAR | HAS_TIMES)) this.#releaseApart(index);
    this.owners[index >> NUMBER] = NONE;
    this.writeFree(index, this.#free);
    this.#free = index;
  }

  /** Visits every order. */
  forEach(visit: (index: number) => void): void {
    this.forEachOf(0, Number.POSITIVE_INFINITY, visit);
  }

  /**
   * Visits the orders among the next `entriesMax` entries.
   *
   * @param from where to begin: 0, or what the previous call returned.
   * @returns where to continue; NONE at the end.
   */
  forEachOf(from: number, entriesMax: number, visit: (index: number) => void): number {
    const all = this.#used >> NUMBER;
    const end = Math.min(all, from + entriesMax);
    for (let number = from; number < end; number++) if ((this.owners[number] as number) >= 0) visit(number << NUMBER);
    return end < all ? end : NONE;
  }

  /** The user's orders by acceptance. Scans all entries: 4 bytes each, a millisecond for a million. */
  ofUser(user: number): number[] {
    const { owners } = this;
    const found: number[] = [];
    const end = this.#used >> NUMBER;
    for (let number = 0; number < end; number++) if (owners[number] === user) found.push(number << NUMBER);
    return found.sort((a, b) => this.sequenceOf(a) - this.sequenceOf(b));
  }

  /** The sequence that determines the place in the queue. */
  priorityOf(index: number): Sequence {
    if (!this.hasMark(index, HAS_TIMES)) return this.sequenceOf(index);
    const at = this.#timesAt(index);
    const { words } = this.#times;
    return ((words[at + PRIORITY_HIGH] as number) * WORD + ((words[at + PRIORITY_LOW] as number) >>> 0)) as Sequence;
  }

  setPriority(index: number, sequence: number): void {
    if (!this.hasMark(index, HAS_TIMES) && sequence === this.sequenceOf(index)) return;
    const at = this.#ownTimes(index);
    this.#times.words[at + PRIORITY_HIGH] = Math.floor(sequence / WORD);
    this.#times.words[at + PRIORITY_LOW] = sequence | 0;
  }

  /** The creation time, raised by applied replaces (AMB-18, AMB-21). */
  timestampHigh(index: number): number {
    return this.hasMark(index, HAS_TIMES) ? this.#time(index, TIMESTAMP_HIGH) : this.creationHigh(index);
  }

  timestampLow(index: number): number {
    return this.hasMark(index, HAS_TIMES) ? this.#time(index, TIMESTAMP_LOW) : this.creationLow(index);
  }

  setTimestamp(index: number, high: number, low: number): void {
    if (high === this.timestampHigh(index) && low === this.timestampLow(index)) return;
    const at = this.#ownTimes(index);
    this.#times.words[at + TIMESTAMP_HIGH] = high;
    this.#times.words[at + TIMESTAMP_LOW] = low;
  }

  expiryHigh(index: number): number {
    if (this.hasMark(index, HAS_TIMES)) return this.#time(index, EXPIRY_HIGH);
    const carry = this.creationLow(index) + LIFE_LOW >= WORD ? 1 : 0;
    return (this.creationHigh(index) + LIFE_HIGH + carry) >>> 0;
  }

  expiryLow(index: number): number {
    if (this.hasMark(index, HAS_TIMES)) return this.#time(index, EXPIRY_LOW);
    return (this.creationLow(index) + LIFE_LOW) >>> 0;
  }

  setExpiry(index: number, high: number, low: number): void {
    if (low === this.expiryLow(index) && high === this.expiryHigh(index)) return;
    const at = this.#ownTimes(index);
    this.#times.words[at + EXPIRY_HIGH] = high;
    this.#times.words[at + EXPIRY_LOW] = low;
  }

  userOf(index: number): number {
    return this.owners[index >> NUMBER] as number;
  }

  /** Whether the order has this user and id. */
  hasId(index: number, user: number, words: Int32Array, at: number, bytes: number): boolean {
    if (this.owners[index >> NUMBER] !== user || this.idBytesOf(index) !== bytes) return false;
    const own = this.idWordsOf(index);
    const id = this.idAt(index);
    const last = (bytes - 1) >>> 2;
    for (let word = 0; word < last; word++) if (own[id + word] !== words[at + word]) return false;
    return own[id + last] === ((words[at + last] as number) & lastWordMask(bytes));
  }

  /** The words that contain the order's id. */
  idWordsOf(index: number): Int32Array {
    return this.hasMark(index, IS_FAR) ? this.#heapOf(index).words : this.#ids;
  }

  /** Index in `idWordsOf` at which it begins; the rest of its last word is zero. */
  idAt(index: number): number {
    const at = (index >> NUMBER) * ID_WORDS;
    return this.hasMark(index, IS_FAR) ? (this.#ids[at] as number) : at;
  }

  /** Sets the id of an order that has none. @param bytes 1 … 64. */
  setId(index: number, hash: number, from: Int32Array, at: number, bytes: number): void {
    this.writeId(index, hash, bytes);
    const last = (bytes - 1) >>> 2;
    if (last >= (this.hasMark(index, HAS_TIMES) ? TIMES_AT : ID_WORDS)) this.#setFar(index);
    const own = this.idWordsOf(index);
    const id = this.idAt(index);
    for (let word = 0; word < last; word++) own[id + word] = from[at + word] as number;
    own[id + last] = (from[at + last] as number) & lastWordMask(bytes);
  }

  #allocate(): number {
    this.#count++;
    const index = this.#free;
    if (index !== NONE) {
      this.#free = this.nextFreeOf(index);
      return index;
    }
    assert(this.#used < this.#wordsMax, 'callers check the pool for room before they add an order');
    if (this.#used === this.words.length) this.#grow();
    this.#used += ORDER_WORDS;
    return this.#used - ORDER_WORDS;
  }

  #grow(): void {
    const capacity = this.owners.length + Math.min(this.owners.length, GROWTH);
    this.words = grown(this.words, capacity * ORDER_WORDS);
    this.numbers = new Float64Array(this.words.buffer, 0, this.words.length >> 1);
    this.owners = grown(this.owners, capacity);
    this.quoteSets = grown(this.quoteSets, capacity);
    this.#ids = grown(this.#ids, capacity * ID_WORDS);
  }

  #releaseApart(index: number): void {
    if (this.hasMark(index, IS_FAR)) this.#heapOf(index).release(this.idAt(index));
    if (this.hasMark(index, HAS_TIMES)) this.#times.release(this.#timesAt(index));
  }

  /** The heap for ids of this order's length. */
  #heapOf(index: number): WordHeap {
    return this.#farIds[wordCount(this.idBytesOf(index))] as WordHeap;
  }

  #setFar(index: number): void {
    this.#ids[(index >> NUMBER) * ID_WORDS] = this.#heapOf(index).allocate();
    this.mark(index, IS_FAR);
  }

  #timesAt(index: number): number {
    return this.#ids[(index >> NUMBER) * ID_WORDS + TIMES_AT] as number;
  }

  #time(index: number, word: number): number {
    return (this.#times.words[this.#timesAt(index) + word] as number) >>> 0;
  }

  /** The address of an order's own times; initialises them with the current values when it has none. */
  #ownTimes(index: number): number {
    if (this.hasMark(index, HAS_TIMES)) return this.#timesAt(index);
    const times = [
      Math.floor(this.sequenceOf(index) / WORD),
      this.sequenceOf(index) | 0,
      this.timestampHigh(index),
      this.timestampLow(index),
      this.expiryHigh(index),
      this.expiryLow(index),
    ];
    this.#leaveTimesAt(index);
    const at = this.#times.allocate();
    this.#times.words.set(times, at);
    this.#ids[(index >> NUMBER) * ID_WORDS + TIMES_AT] = at;
    this.mark(index, HAS_TIMES);
    return at;
  }

  /** Moves an id apart when it occupies the word that will hold the address of own times. */
  #leaveTimesAt(index: number): void {
    const words = wordCount(this.idBytesOf(index));
    if (words <= TIMES_AT || this.hasMark(index, IS_FAR)) return;
    const from = this.idAt(index);
    const id = this.#ids.slice(from, from + words);
    this.#setFar(index);
    this.idWordsOf(index).set(id, this.idAt(index));
  }
}
