/**
 * Ids of the orders in the pool: a hash of slots. The ids themselves lie in the pool's records; one longer than those
 * hold lies here.
 *
 * Neither a search nor a removal looks at the record of another order, unless their hashes are equal.
 */

import { lastWordMask, wordCount } from '../core/key-words.ts';
import { IdTable } from './id-table.ts';
import { INLINE_ID_WORDS, type OrderPool } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

/** Words of the longest id, and so of a place for a long one. */
const LONG_WORDS = 16;

export class LiveIds {
  readonly #orders: OrderPool;
  readonly #table: IdTable;
  #long: Int32Array<ArrayBuffer> = new Int32Array(LONG_WORDS);
  readonly #freeLong: number[] = [];
  #usedLong = 0;

  constructor(orders: OrderPool, capacity: number) {
    this.#orders = orders;
    this.#table = new IdTable(capacity, false);
  }

  get bytes(): number {
    return this.#table.bytes + this.#long.byteLength;
  }

  /** The slot of the order with this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const places = this.#table.placesOf(hash);
    const { pairs } = places;
    for (let place = places.placeOf(hash) << 1; pairs[place + 1] !== 0; place += 2) {
      const slot = (pairs[place + 1] as number) - 1;
      if (pairs[place] === hash && this.#equals(slot, user, words, at, bytes)) return slot;
    }
    return NONE;
  }

  /** The order's id from here on; its user is set. */
  add(slot: number, hash: number, words: Int32Array, at: number, bytes: number): void {
    this.#orders.setId(slot, hash, bytes);
    this.#write(slot, words, at, bytes);
    this.#table.add(hash, slot);
  }

  /** The id is an order's no more; it can be read until the slot is released. */
  remove(slot: number): void {
    this.#table.remove(this.#orders.idHashOf(slot), slot);
    if (wordCount(this.#orders.idBytesOf(slot)) > INLINE_ID_WORDS)
      this.#freeLong.push(this.#orders.words[this.#orders.idAt(slot)] as number);
  }

  /** The words in which a slot's id lies. */
  wordsOf(slot: number): Int32Array {
    return this.#isLong(slot) ? this.#long : this.#orders.words;
  }

  /** Index in `wordsOf` at which it begins; the rest of its last word is zero. */
  atOf(slot: number): number {
    const at = this.#orders.idAt(slot);
    return this.#isLong(slot) ? (this.#orders.words[at] as number) : at;
  }

  #isLong(slot: number): boolean {
    return this.#orders.idBytesOf(slot) > INLINE_ID_WORDS * 4;
  }

  #equals(slot: number, user: number, words: Int32Array, at: number, bytes: number): boolean {
    const orders = this.#orders;
    if (orders.userOf(slot) !== user || orders.idBytesOf(slot) !== bytes) return false;
    const own = this.wordsOf(slot);
    const id = this.atOf(slot);
    const last = (bytes - 1) >>> 2;
    for (let word = 0; word < last; word++) if (own[id + word] !== words[at + word]) return false;
    return own[id + last] === ((words[at + last] as number) & lastWordMask(bytes));
  }

  #write(slot: number, words: Int32Array, at: number, bytes: number): void {
    const last = (bytes - 1) >>> 2;
    let own = this.#orders.words;
    let id = this.#orders.idAt(slot);
    if (last >= INLINE_ID_WORDS) {
      const place = this.#allocateLong();
      own[id] = place;
      own = this.#long;
      id = place;
    }
    for (let word = 0; word < last; word++) own[id + word] = words[at + word] as number;
    own[id + last] = (words[at + last] as number) & lastWordMask(bytes);
  }

  #allocateLong(): number {
    const free = this.#freeLong.pop();
    if (free !== undefined) return free;
    if (this.#usedLong === this.#long.length) this.#long = grown(this.#long, this.#long.length * 2);
    this.#usedLong += LONG_WORDS;
    return this.#usedLong - LONG_WORDS;
  }
}
