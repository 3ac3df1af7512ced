/**
 * Ids of the orders in the pool: a hash of slots. The ids themselves lie in the pool's records; one longer than those
 * hold lies here.
 *
 * A place is a pair, hash and slot + 1: neither a search nor a removal looks at the record of another order. Linear
 * probing, at most five eighths full, no tombstones.
 */
import { assert } from '../core/assert.ts';
import { lastWordMask, wordCount } from './key-words.ts';
import { INLINE_ID_WORDS, type OrderPool } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

/** Words of the longest id, and so of a place for a long one. */
const LONG_WORDS = 16;

export class LiveIds {
  readonly #orders: OrderPool;
  /** Pairs; a second word of 0 is an empty place. */
  #pairs: Int32Array<ArrayBuffer>;
  #count = 0;
  #long: Int32Array<ArrayBuffer> = new Int32Array(LONG_WORDS);
  readonly #freeLong: number[] = [];
  #usedLong = 0;

  constructor(orders: OrderPool, capacity: number) {
    this.#orders = orders;
    this.#pairs = new Int32Array(Math.max(capacity * 4, 8));
  }

  get bytes(): number {
    return this.#pairs.byteLength + this.#long.byteLength;
  }

  /** The slot of the order with this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const pairs = this.#pairs;
    const mask = pairs.length - 1;
    for (let place = (hash << 1) & mask; ; place = (place + 2) & mask) {
      const named = pairs[place + 1] as number;
      if (named === 0) return NONE;
      if (pairs[place] === hash && this.#equals(named - 1, user, words, at, bytes)) return named - 1;
    }
  }

  /** The order's id from here on; its user is set. */
  add(slot: number, hash: number, words: Int32Array, at: number, bytes: number): void {
    if ((this.#count + 1) * 16 > this.#pairs.length * 5) this.#grow();
    this.#count++;
    this.#orders.setId(slot, hash, bytes);
    this.#write(slot, words, at, bytes);
    this.#enter(slot, hash);
  }

  /** The id is an order's no more; it can be read until the slot is released. */
  remove(slot: number): void {
    const pairs = this.#pairs;
    const mask = pairs.length - 1;
    let gap = (this.#orders.idHashOf(slot) << 1) & mask;
    while (pairs[gap + 1] !== slot + 1) {
      assert(pairs[gap + 1] !== 0, 'an order to take out is in the hash');
      gap = (gap + 2) & mask;
    }
    for (let place = (gap + 2) & mask; pairs[place + 1] !== 0; place = (place + 2) & mask) {
      const home = ((pairs[place] as number) << 1) & mask;
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      pairs[gap] = pairs[place] as number;
      pairs[gap + 1] = pairs[place + 1] as number;
      gap = place;
    }
    pairs[gap + 1] = 0;
    this.#count--;
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

  #enter(slot: number, hash: number): void {
    const pairs = this.#pairs;
    const mask = pairs.length - 1;
    let place = (hash << 1) & mask;
    while (pairs[place + 1] !== 0) place = (place + 2) & mask;
    pairs[place] = hash;
    pairs[place + 1] = slot + 1;
  }

  #grow(): void {
    const old = this.#pairs;
    this.#pairs = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2)
      if (old[at + 1] !== 0) this.#enter((old[at + 1] as number) - 1, old[at] as number);
  }
}
