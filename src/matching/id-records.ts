/**
 * Ids of finished orders and of held cancels: one record of 6 to 21 words in one growing array, named by its first word's
 * index. A record lies in one or two cache lines, so that finding an id touches as little memory as can be.
 *
 *   word   0     1     2                    3          4         5 …
 *          user  link  state | bytes << 8   time high  time low  the id, the last word filled with zeros
 *
 * A freed record waits in the list of its size, linked through `link` (0 ends a list: record 0 does not exist). Sizes
 * are not exchanged; ids of one client have one length in practice.
 */
import { assert } from '../core/assert.ts';
import { ORDER_ID_BYTES_MAX } from '../core/limits.ts';
import { hashWords, lastWordMask, wordCount } from './key-words.ts';
import { grown } from './pools.ts';

const USER = 0;
const LINK = 1;
const STATE_AND_BYTES = 2;
const TIME_HIGH = 3;
const TIME_LOW = 4;
const ID = 5;

export class IdRecords {
  words: Int32Array<ArrayBuffer>;
  #used = 1;
  readonly #free: Int32Array = new Int32Array(wordCount(ORDER_ID_BYTES_MAX) + 1);

  constructor(capacityWords: number) {
    this.words = new Int32Array(capacityWords);
  }

  /** A record with the id copied in; state, link and time are the caller's to set. */
  add(user: number, from: Int32Array, at: number, bytes: number): number {
    assert(bytes >= 1 && bytes <= ORDER_ID_BYTES_MAX, 'an order id has 1 to 64 bytes');
    const count = (bytes + 3) >>> 2;
    const record = this.#allocate(count);
    const words = this.words;
    words[record + USER] = user;
    words[record + STATE_AND_BYTES] = bytes << 8;
    const last = count - 1;
    const id = record + ID;
    for (let word = 0; word < last; word++) words[id + word] = from[at + word] as number;
    words[id + last] = (from[at + last] as number) & lastWordMask(bytes);
    return record;
  }

  release(record: number): void {
    const size = wordCount(this.bytesOf(record));
    this.words[record + LINK] = this.#free[size] as number;
    this.words[record + STATE_AND_BYTES] = 0;
    this.#free[size] = record;
  }

  equals(record: number, user: number, from: Int32Array, at: number, bytes: number): boolean {
    const words = this.words;
    if (words[record + USER] !== user || (words[record + STATE_AND_BYTES] as number) >> 8 !== bytes) return false;
    const last = (bytes - 1) >>> 2;
    const id = record + ID;
    for (let word = 0; word < last; word++) if (words[id + word] !== from[at + word]) return false;
    return words[id + last] === ((from[at + last] as number) & lastWordMask(bytes));
  }

  userOf(record: number): number {
    return this.words[record + USER] as number;
  }

  linkOf(record: number): number {
    return this.words[record + LINK] as number;
  }

  setLink(record: number, link: number): void {
    this.words[record + LINK] = link;
  }

  stateOf(record: number): number {
    return (this.words[record + STATE_AND_BYTES] as number) & 0xff;
  }

  setState(record: number, state: number): void {
    this.words[record + STATE_AND_BYTES] = ((this.words[record + STATE_AND_BYTES] as number) & ~0xff) | state;
  }

  /** Length of the id. */
  bytesOf(record: number): number {
    return (this.words[record + STATE_AND_BYTES] as number) >> 8;
  }

  timeHighOf(record: number): number {
    return (this.words[record + TIME_HIGH] as number) >>> 0;
  }

  timeLowOf(record: number): number {
    return (this.words[record + TIME_LOW] as number) >>> 0;
  }

  setTime(record: number, high: number, low: number): void {
    this.words[record + TIME_HIGH] = high;
    this.words[record + TIME_LOW] = low;
  }

  /** Index in `words` at which the id begins. */
  idAt(record: number): number {
    return record + ID;
  }

  hashOf(seed: number, record: number): number {
    return hashWords(seed, this.words, record + ID, this.bytesOf(record));
  }

  #allocate(size: number): number {
    const free = this.#free[size] as number;
    if (free !== 0) {
      this.#free[size] = this.words[free + LINK] as number;
      return free;
    }
    if (this.#used + ID + size > this.words.length) this.words = grown(this.words, this.words.length * 2);
    const record = this.#used;
    this.#used += ID + size;
    return record;
  }
}
