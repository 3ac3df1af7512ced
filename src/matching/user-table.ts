/**
 * Users of one market: maps 32-byte keys to small numbers, dense from 0, assigned once.
 *
 * Per user it stores the counters that bound its ids: parked cancels (AMB-25) and the queue of remembered ids with its
 * watermark (AMB-08); order-ids.ts updates them.
 *
 * Open addressing over Int32Array, at most half full. Bounded by the number of registered users.
 */

import { type HashKey, hashUser } from '../core/key-words.ts';
import { grown, NONE } from '../core/pools.ts';
import { USER_BYTES } from './commands.ts';

export const USER_WORDS: number = USER_BYTES / 4;
/** The compiler folds constants of the same file but loads imported and exported ones. */
const KEY_WORDS = 8;
const NO_USER = -1;
const WORD_BITS = 32;
const QUEUE_BITS = 2;
/** A user's remembered ids: the first and the last record, or NONE, and their number; and the number of parked cancels. */
export const QUEUE = { head: 0, tail: 1, count: 2, parked: 3 } as const;

/** Where a user's words begin in `queues`. */
export function queueOf(user: number): number {
  return user << QUEUE_BITS;
}

export class UserTable {
  /** The concatenated keys. */
  words: Int32Array;
  /** Four words a user, from `queueOf` on, at the offsets of QUEUE. */
  queues: Int32Array;
  /** Creation time of the youngest id evicted before its 30 days; 0n for none. */
  watermarkNs: BigUint64Array;
  hasWatermark: Uint8Array;
  #table: Int32Array;
  /** Shift from a hash to its place. */
  #shift: number;
  #count = 0;
  readonly #key: HashKey;

  /** @param capacity a power of two. */
  constructor(capacity: number, key: HashKey) {
    this.#key = key;
    this.words = new Int32Array(capacity * USER_WORDS);
    this.queues = new Int32Array(capacity << QUEUE_BITS);
    this.watermarkNs = new BigUint64Array(capacity);
    this.hasWatermark = new Uint8Array(capacity);
    this.#table = new Int32Array(capacity * 2).fill(NONE);
    this.#shift = shiftOf(this.#table);
  }

  get count(): number {
    return this.#count;
  }

  /** @returns the user's number, or NONE. Called for every command. */
  find(from: Int32Array, at: number): number {
    const table = this.#table;
    const { words } = this;
    const mask = table.length - 1;
    for (let place = this.#placeOf(from, at); ; place = (place + 1) & mask) {
      const user = table[place] as number;
      if (user === NO_USER) return NO_USER;
      const known = user * KEY_WORDS;
      const isSame =
        words[known] === from[at] &&
        words[known + 1] === from[at + 1] &&
        words[known + 2] === from[at + 2] &&
        words[known + 3] === from[at + 3] &&
        words[known + 4] === from[at + 4] &&
        words[known + 5] === from[at + 5] &&
        words[known + 6] === from[at + 6] &&
        words[known + 7] === from[at + 7];
      if (isSame) return user;
    }
  }

  /** @returns the user's number; adds the user if it is new. */
  intern(from: Int32Array, at: number): number {
    const known = this.find(from, at);
    if (known !== NONE) return known;
    if (this.#count === this.hasWatermark.length) this.#grow();
    const user = this.#count++;
    for (let word = 0; word < USER_WORDS; word++) this.words[user * USER_WORDS + word] = from[at + word] as number;
    this.queues[queueOf(user) + QUEUE.head] = NONE;
    this.queues[queueOf(user) + QUEUE.tail] = NONE;
    this.#enter(user);
    return user;
  }

  /** The user's part of the hashes of its ids. */
  hashOf(user: number): number {
    return hashUser(this.#key, this.words, user * USER_WORDS);
  }

  /** Where the search for a key begins. */
  #placeOf(from: Int32Array, at: number): number {
    return hashUser(this.#key, from, at) >>> this.#shift;
  }

  #enter(user: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let place = this.#placeOf(this.words, user * USER_WORDS);
    while (table[place] !== NONE) place = (place + 1) & mask;
    table[place] = user;
  }

  #grow(): void {
    const capacity = this.hasWatermark.length * 2;
    this.words = grown(this.words, capacity * USER_WORDS);
    this.queues = grown(this.queues, capacity << QUEUE_BITS);
    this.watermarkNs = grown(this.watermarkNs, capacity);
    this.hasWatermark = grown(this.hasWatermark, capacity);
    this.#table = new Int32Array(capacity * 2).fill(NONE);
    this.#shift = shiftOf(this.#table);
    for (let user = 0; user < this.#count; user++) this.#enter(user);
  }
}

function shiftOf(table: Int32Array): number {
  return WORD_BITS - Math.log2(table.length);
}
