/**
 * Ids of the orders in the pool: a hash of slots. The ids themselves lie in the pool's records; one longer than those
 * hold lies here.
 *
 * One 32-bit word a place: 24 bits name the slot, 8 bits of the hash spare looking at another order's record.
 * Linear probing, at most five eighths full, no tombstones.
 */
import { assert } from '../core/assert.ts';
import { lastWordMask, wordCount } from './key-words.ts';
import { INLINE_ID_WORDS, ORDER_WORDS, type OrderPool } from './order-pool.ts';
import { grown, NONE } from './pools.ts';

const SLOT_BITS = 24;
const SLOT_MASK: number = (1 << SLOT_BITS) - 1;
/** Words of the longest id, and so of a place for a long one. */
const LONG_WORDS = 16;

export class LiveIds {
  readonly #orders: OrderPool;
  /** 0: empty; else slot number + 1, and the hash's lowest 8 bits above. */
  #places: Int32Array<ArrayBuffer>;
  #count = 0;
  #long: Int32Array<ArrayBuffer> = new Int32Array(LONG_WORDS);
  readonly #freeLong: number[] = [];
  #usedLong = 0;

  constructor(orders: OrderPool, capacity: number) {
    this.#orders = orders;
    this.#places = new Int32Array(Math.max(capacity * 2, 4));
  }

  get bytes(): number {
    return this.#places.byteLength + this.#long.byteLength;
  }

  /** The slot of the order with this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    for (let place = (hash >>> 8) & mask; ; place = (place + 1) & mask) {
      const entry = places[place] as number;
      if (entry === 0) return NONE;
      if ((entry ^ (hash << SLOT_BITS)) >>> SLOT_BITS !== 0) continue;
      const slot = ((entry & SLOT_MASK) - 1) * ORDER_WORDS;
      if (this.#orders.idHashOf(slot) === hash && this.#equals(slot, user, words, at, bytes)) return slot;
    }
  }

  /** The order's id from here on; its user is set. */
  add(slot: number, hash: number, words: Int32Array, at: number, bytes: number): void {
    if ((this.#count + 1) * 8 > this.#places.length * 5) this.#grow();
    this.#count++;
    this.#orders.setId(slot, hash, bytes);
    this.#write(slot, words, at, bytes);
    this.#enter(slot, hash);
  }

  /** The id is an order's no more; it can be read until the slot is released. */
  remove(slot: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    const hash = this.#orders.idHashOf(slot);
    const entry = entryOf(slot, hash);
    let gap = (hash >>> 8) & mask;
    while (places[gap] !== entry) {
      assert(places[gap] !== 0, 'an order to take out is in the hash');
      gap = (gap + 1) & mask;
    }
    for (let place = (gap + 1) & mask; places[place] !== 0; place = (place + 1) & mask) {
      const home = (this.#hashAt(place) >>> 8) & mask;
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      places[gap] = places[place] as number;
      gap = place;
    }
    places[gap] = 0;
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

  #hashAt(place: number): number {
    const slot = (((this.#places[place] as number) & SLOT_MASK) - 1) * ORDER_WORDS;
    return this.#orders.idHashOf(slot);
  }

  #enter(slot: number, hash: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let place = (hash >>> 8) & mask;
    while (places[place] !== 0) place = (place + 1) & mask;
    places[place] = entryOf(slot, hash);
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Int32Array(old.length * 2);
    for (const entry of old) {
      if (entry === 0) continue;
      const slot = ((entry & SLOT_MASK) - 1) * ORDER_WORDS;
      this.#enter(slot, this.#orders.idHashOf(slot));
    }
  }
}

function entryOf(slot: number, hash: number): number {
  return (slot / ORDER_WORDS + 1) | (hash << SLOT_BITS);
}
