/**
 * Ids of finished orders and of parked cancels: one record of 6 to 21 words. A record lies in one or two cache lines,
 * so that finding an id touches little memory.
 *
 * Records lie in chunks of 64 Ki words and are addressed by chunk and offset: a market remembers millions of them, and
 * one array that grew by copying would stop the market for 20 ms at every doubling.
 *
 *   word   0     1     2                    3          4         5 …
 *          user  link  state | bytes << 8   time high  time low  the id, the last word filled with zeros
 *
 * A freed record enters the free list of its size, linked through `link` (0 ends a list: record 0 does not exist).
 * Sizes do not share memory; the ids of one client have one length in practice.
 */
import { assert } from '../core/assert.ts';
import { type HashKey, hashWords, lastWordMask, wordCount } from '../core/key-words.ts';
import { ORDER_ID_BYTES_MAX } from '../core/limits.ts';
import { grown, NONE } from '../core/pools.ts';

const USER = 0;
const LINK = 1;
const STATE_AND_BYTES = 2;
const TIME_HIGH = 3;
const TIME_LOW = 4;
const ID = 5;
const CHUNK_BITS = 16;
const CHUNK_WORDS: number = 1 << CHUNK_BITS;
/** The table of ids distinguishes records from live orders by the sign. */
const CHUNKS_MAX: number = 2 ** (31 - CHUNK_BITS);
const OFFSET_MASK: number = CHUNK_WORDS - 1;
/** The first chunk starts small and grows, because most markets are small. */
const FIRST_CHUNK_WORDS = 1_024;
/** Words of a page of memory, and how far ahead of the last record pages are touched. */
const PAGE_WORDS = 1_024;
const AHEAD_WORDS: number = 4 * PAGE_WORDS;

/** The end of a queue. */
const LAST: number = NONE;

export class IdRecords {
  readonly #chunks: Int32Array[] = [];
  /** Words used of the last chunk; record 0 does not exist. */
  #used = 1;
  /** The chunk after the last one, if it is allocated already. */
  #next: Int32Array | null = null;
  /** Up to which word of the last chunk, and on into the next one, memory has been touched ahead. */
  #touched = 0;
  readonly #free: Int32Array = new Int32Array(wordCount(ORDER_ID_BYTES_MAX) + 1);

  constructor() {
    this.#chunks.push(new Int32Array(FIRST_CHUNK_WORDS));
  }

  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.byteLength, this.#next?.byteLength ?? 0);
  }

  /**
   * Touches at most one page ahead of the last record: the first touch of a page takes a microsecond or two, which a command
   * would pay. Called between batches; a page holds about 90 ids.
   */
  touchAhead(): void {
    if (this.#touched >= this.#used + AHEAD_WORDS) return;
    const last = this.#chunks[this.#chunks.length - 1] as Int32Array;
    // A shorter chunk is copied when it grows.
    if (last.length < CHUNK_WORDS) return;
    // mutant: touched-record
    const at = Math.max(this.#touched, this.#used);
    if (at < CHUNK_WORDS) last[at] = 0;
    else {
      this.#next ??= new Int32Array(CHUNK_WORDS);
      this.#next[at - CHUNK_WORDS] = 0;
    }
    this.#touched = at + PAGE_WORDS;
  }

  /** The words that contain the record. */
  wordsOf(record: number): Int32Array {
    return this.#chunks[record >>> CHUNK_BITS] as Int32Array;
  }

  /**
   * Adds a record with a copy of the id, as the last of its queue. Called for every order that ends; separate
   * arguments, because an object would be an allocation.
   */
  add(
    user: number,
    state: number,
    timeHigh: number,
    timeLow: number,
    from: Int32Array,
    at: number,
    bytes: number,
  ): number {
    assert(bytes >= 1 && bytes <= ORDER_ID_BYTES_MAX, 'an order id has 1 to 64 bytes');
    const last = (bytes - 1) >>> 2;
    const record = this.#allocate(last + 1);
    const words = this.#chunks[record >>> CHUNK_BITS] as Int32Array;
    const offset = record & OFFSET_MASK;
    words[offset + USER] = user;
    words[offset + LINK] = LAST;
    words[offset + STATE_AND_BYTES] = (bytes << 8) | state;
    words[offset + TIME_HIGH] = timeHigh;
    words[offset + TIME_LOW] = timeLow;
    const id = offset + ID;
    for (let word = 0; word < last; word++) words[id + word] = from[at + word] as number;
    words[id + last] = (from[at + last] as number) & lastWordMask(bytes);
    return record;
  }

  release(record: number): void {
    const size = wordCount(this.bytesOf(record));
    this.#set(record, LINK, this.#free[size] as number);
    this.#set(record, STATE_AND_BYTES, 0);
    this.#free[size] = record;
  }

  equals(record: number, user: number, from: Int32Array, at: number, bytes: number): boolean {
    const words = this.wordsOf(record);
    const offset = record & OFFSET_MASK;
    if (words[offset + USER] !== user || (words[offset + STATE_AND_BYTES] as number) >> 8 !== bytes) return false;
    const last = (bytes - 1) >>> 2;
    const id = offset + ID;
    for (let word = 0; word < last; word++) if (words[id + word] !== from[at + word]) return false;
    return words[id + last] === ((from[at + last] as number) & lastWordMask(bytes));
  }

  userOf(record: number): number {
    return this.#get(record, USER);
  }

  linkOf(record: number): number {
    return this.#get(record, LINK);
  }

  setLink(record: number, link: number): void {
    this.#set(record, LINK, link);
  }

  stateOf(record: number): number {
    return this.#get(record, STATE_AND_BYTES) & 0xff;
  }

  setState(record: number, state: number): void {
    this.#set(record, STATE_AND_BYTES, (this.#get(record, STATE_AND_BYTES) & ~0xff) | state);
  }

  /** Length of the id. */
  bytesOf(record: number): number {
    return this.#get(record, STATE_AND_BYTES) >> 8;
  }

  timeHighOf(record: number): number {
    return this.#get(record, TIME_HIGH) >>> 0;
  }

  timeLowOf(record: number): number {
    return this.#get(record, TIME_LOW) >>> 0;
  }

  /** Index in `wordsOf` at which the id begins. */
  idAt(record: number): number {
    return (record & OFFSET_MASK) + ID;
  }

  /** @param userHash hash of the record's user. */
  hashOf(key: HashKey, userHash: number, record: number): number {
    return hashWords(key, userHash, this.wordsOf(record), this.idAt(record), this.bytesOf(record));
  }

  #get(record: number, word: number): number {
    return (this.#chunks[record >>> CHUNK_BITS] as Int32Array)[(record & OFFSET_MASK) + word] as number;
  }

  #set(record: number, word: number, value: number): void {
    (this.#chunks[record >>> CHUNK_BITS] as Int32Array)[(record & OFFSET_MASK) + word] = value;
  }

  #allocate(size: number): number {
    const free = this.#free[size] as number;
    if (free !== 0) {
      this.#free[size] = this.#get(free, LINK);
      return free;
    }
    const words = ID + size;
    if (this.#used + words > CHUNK_WORDS) {
      assert(this.#chunks.length < CHUNKS_MAX, 'record addresses have 31 bits');
      this.#chunks.push(this.#next ?? new Int32Array(CHUNK_WORDS));
      this.#next = null;
      this.#used = 0;
      this.#touched = Math.max(this.#touched - CHUNK_WORDS, 0);
    }
    const chunk = this.#chunks.length - 1;
    const last = this.#chunks[chunk] as Int32Array;
    if (this.#used + words > last.length) this.#chunks[chunk] = grown(last, last.length * 2);
    this.#used += words;
    return (chunk << CHUNK_BITS) + this.#used - words;
  }
}
