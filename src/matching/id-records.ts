/**
 * What a market keeps of each order id: one record of 6 to 21 words in one growing array, named by its first word's
 * index. A record lies in one or two cache lines, so that finding an id touches as little memory as can be.
 *
 *   word   0     1     2                    3, 4                  5 …
 *          user  link  state | bytes << 8   time, low then high   the id, the last word filled with zeros
 *
 * A freed record waits in the list of its size, linked through `link` (0 ends a list: record 0 does not exist). Sizes
 * are not exchanged; ids of one client have one length in practice.
 */
import { assert } from '../core/assert.ts';
import { ORDER_ID_BYTES_MAX } from '../core/limits.ts';
import { wordAt, wordCount } from './key-bytes.ts';
import { grown } from './pools.ts';

const USER = 0;
const LINK = 1;
const STATE_AND_BYTES = 2;
const TIME_LOW = 3;
const TIME_HIGH = 4;
const ID = 5;

export class IdRecords {
  #words: Int32Array<ArrayBuffer>;
  /** The same memory, byte by byte. */
  bytes: Uint8Array<ArrayBuffer>;
  #used = 1;
  readonly #free: Int32Array = new Int32Array(wordCount(ORDER_ID_BYTES_MAX) + 1);
  readonly #time: BigUint64Array = new BigUint64Array(1);
  readonly #timeWords: Int32Array = new Int32Array(this.#time.buffer);

  constructor(capacityWords: number) {
    this.#words = new Int32Array(capacityWords);
    this.bytes = new Uint8Array(this.#words.buffer);
  }

  /** A record with the id copied in; state, link and time are the caller's to set. */
  add(user: number, view: DataView, at: number, bytes: number): number {
    assert(bytes >= 1 && bytes <= ORDER_ID_BYTES_MAX, 'an order id has 1 to 64 bytes');
    const record = this.#allocate(wordCount(bytes));
    const words = this.#words;
    words[record + USER] = user;
    words[record + STATE_AND_BYTES] = bytes << 8;
    for (let done = 0, word = record + ID; done < bytes; done += 4, word++)
      words[word] = wordAt(view, at + done, bytes - done);
    return record;
  }

  release(record: number): void {
    const size = wordCount(this.bytesOf(record));
    this.#words[record + LINK] = this.#free[size] as number;
    this.#words[record + STATE_AND_BYTES] = 0;
    this.#free[size] = record;
  }

  equals(record: number, user: number, view: DataView, at: number, bytes: number): boolean {
    const words = this.#words;
    if (words[record + USER] !== user || this.bytesOf(record) !== bytes) return false;
    for (let done = 0, word = record + ID; done < bytes; done += 4, word++)
      if (words[word] !== (wordAt(view, at + done, bytes - done) | 0)) return false;
    return true;
  }

  userOf(record: number): number {
    return this.#words[record + USER] as number;
  }

  linkOf(record: number): number {
    return this.#words[record + LINK] as number;
  }

  setLink(record: number, link: number): void {
    this.#words[record + LINK] = link;
  }

  stateOf(record: number): number {
    return (this.#words[record + STATE_AND_BYTES] as number) & 0xff;
  }

  setState(record: number, state: number): void {
    this.#words[record + STATE_AND_BYTES] = (this.bytesOf(record) << 8) | state;
  }

  /** Length of the id. */
  bytesOf(record: number): number {
    return (this.#words[record + STATE_AND_BYTES] as number) >> 8;
  }

  timeOf(record: number): bigint {
    this.#timeWords[0] = this.#words[record + TIME_LOW] as number;
    this.#timeWords[1] = this.#words[record + TIME_HIGH] as number;
    return this.#time[0] as bigint;
  }

  setTime(record: number, timeNs: bigint): void {
    this.#time[0] = timeNs;
    this.#words[record + TIME_LOW] = this.#timeWords[0] as number;
    this.#words[record + TIME_HIGH] = this.#timeWords[1] as number;
  }

  /** Where the id lies in `bytes`. */
  idAt(record: number): number {
    return (record + ID) * 4;
  }

  idWord(record: number, index: number): number {
    return this.#words[record + ID + index] as number;
  }

  #allocate(size: number): number {
    const free = this.#free[size] as number;
    if (free !== 0) {
      this.#free[size] = this.#words[free + LINK] as number;
      return free;
    }
    if (this.#used + ID + size > this.#words.length) {
      this.#words = grown(this.#words, this.#words.length * 2);
      this.bytes = new Uint8Array(this.#words.buffer);
    }
    const record = this.#used;
    this.#used += ID + size;
    return record;
  }
}
