/**
 * Ids of finished orders and of held cancels: many, written once, seldom asked for. Built so that remembering one and
 * finding that one is unknown touch memory that stays in the processor's caches, however many there are.
 *
 *   filter      two bits of one word an id, 16 bits an id: "not here" is nearly always said by this alone
 *   parts       short lists of (hash, record), by hash: an id is added at the end of one, found by reading it; there are
 *               twice as many when they hold more than 512 ids each
 *   records     the ids themselves (id-records.ts), written one after the other
 *
 * Bits are not cleared when an id is taken out; the filter is made anew when as many were taken out as are there.
 */
import { assert } from '../core/assert.ts';
import type { IdRecords } from './id-records.ts';
import { grown, NONE } from './pools.ts';

const FIRST_PARTS = 256;
const IDS_PER_PART_MAX = 512;
const FIRST_PART_WORDS = 8;
const NO_PART: Int32Array<ArrayBuffer> = new Int32Array(0);
const FIRST_FILTER_WORDS = 256;
const BITS_PER_ID = 16;

export class PastIds {
  readonly #records: IdRecords;
  #parts: Int32Array<ArrayBuffer>[] = new Array(FIRST_PARTS).fill(NO_PART);
  #lengths: Int32Array = new Int32Array(FIRST_PARTS);
  #filter: Int32Array<ArrayBuffer> = new Int32Array(FIRST_FILTER_WORDS);
  #count = 0;
  #removed = 0;

  constructor(records: IdRecords) {
    this.#records = records;
  }

  get bytes(): number {
    return this.#filter.byteLength + this.#parts.reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** The record of this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const filter = this.#filter;
    const bits = bitsOf(hash);
    if (((filter[(hash >>> 5) & (filter.length - 1)] as number) & bits) !== bits) return NONE;
    const part = hash & (this.#parts.length - 1);
    const list = this.#parts[part] as Int32Array;
    const length = this.#lengths[part] as number;
    for (let i = 0; i < length; i += 2)
      if (list[i] === hash && this.#records.equals(list[i + 1] as number, user, words, at, bytes))
        return list[i + 1] as number;
    return NONE;
  }

  add(hash: number, record: number): void {
    if ((this.#count + this.#removed + 1) * BITS_PER_ID > this.#filter.length * 32) this.#refill();
    if (this.#count >= this.#parts.length * IDS_PER_PART_MAX) this.#split();
    this.#count++;
    this.#append(hash, record);
    this.#note(hash);
  }

  #append(hash: number, record: number): void {
    const part = hash & (this.#parts.length - 1);
    let list = this.#parts[part] as Int32Array<ArrayBuffer>;
    const length = this.#lengths[part] as number;
    if (length === list.length) {
      list = grown(list, Math.max(length * 2, FIRST_PART_WORDS));
      this.#parts[part] = list;
    }
    list[length] = hash;
    list[length + 1] = record;
    this.#lengths[part] = length + 2;
  }

  /** Twice as many lists: one more bit of the hash decides which of two an id belongs to. */
  #split(): void {
    const old = this.#parts;
    const lengths = this.#lengths;
    this.#parts = [...old, ...old];
    this.#lengths = new Int32Array(old.length * 2);
    for (let part = 0; part < old.length; part++) {
      const list = old[part] as Int32Array<ArrayBuffer>;
      const room = Math.max(list.length / 2, FIRST_PART_WORDS);
      const length = lengths[part] as number;
      this.#parts[part] = new Int32Array(room);
      this.#parts[part + old.length] = new Int32Array(room);
      for (let i = 0; i < length; i += 2) this.#append(list[i] as number, list[i + 1] as number);
    }
  }

  /** The last of the list takes its place. What ended first usually stands near the front. */
  remove(hash: number, record: number): void {
    const part = hash & (this.#parts.length - 1);
    const list = this.#parts[part] as Int32Array;
    const last = (this.#lengths[part] as number) - 2;
    let at = 0;
    while (at <= last && list[at + 1] !== record) at += 2;
    assert(at <= last, 'an id to take out is in its list');
    list[at] = list[last] as number;
    list[at + 1] = list[last + 1] as number;
    this.#lengths[part] = last;
    this.#count--;
    this.#removed++;
  }

  #note(hash: number): void {
    const filter = this.#filter;
    const word = (hash >>> 5) & (filter.length - 1);
    filter[word] = (filter[word] as number) | bitsOf(hash);
  }

  /** A filter for twice as many ids as there are. */
  #refill(): void {
    let words = FIRST_FILTER_WORDS;
    while (words * 32 < (this.#count + 1) * BITS_PER_ID * 2) words *= 2;
    this.#filter = new Int32Array(words);
    this.#removed = 0;
    for (let part = 0; part < this.#parts.length; part++) {
      const list = this.#parts[part] as Int32Array;
      for (let i = 0; i < (this.#lengths[part] as number); i += 2) this.#note(list[i] as number);
    }
  }
}

/** Two of 32 bits, from bits of the hash that choose neither the word nor the part. */
function bitsOf(hash: number): number {
  const mixed = Math.imul(hash, 0x9e3779b1);
  return (1 << (mixed >>> 27)) | (1 << ((mixed >>> 22) & 31));
}
