/**
 * Which row of the table of users is whose, found by the 32 bytes of a user wherever they lie. A start asks this for
 * each of a million orders: a text of 64 digits for each of them would cost more than all else that is done with it.
 *
 *   words     │ user 0, 8 words │ user 1, 8 words │ …
 *   places    open addressing by a hash with a key of its own, so that nobody can make users that meet (core/key-words.ts)
 */
import { randomBytes } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { type HashKey, hashKeyOf, hashWords } from '../core/key-words.ts';

const WORDS = 8;
const WORD_BYTES = 4;
const USER_BYTES: number = WORDS * WORD_BYTES;
const ROOM_MIN = 1_024;
/** The hash is of bytes and of nobody else's number. */
const NO_NUMBER = 0;
const NOBODY = -1;

export class UserOrdinals {
  readonly #key: HashKey = hashKeyOf(randomBytes(8).readBigUInt64LE());
  /** The user that is being added or looked for. */
  readonly #wanted = new Int32Array(WORDS);
  #words = new Int32Array(ROOM_MIN * WORDS);
  #places: Int32Array = emptyPlaces(2 * ROOM_MIN);
  #count = 0;

  /** The next user. @param at where the 32 bytes begin. */
  add(bytes: Uint8Array, at: number): void {
    const place = this.#place(bytes, at);
    assert(this.#places[place] === NOBODY, 'storage: a user has one row');
    if ((this.#count + 1) * WORDS > this.#words.length) this.#grow();
    this.#words.set(this.#wanted, this.#count * WORDS);
    this.#places[this.#placeOf(this.#wanted, 0)] = this.#count;
    this.#count += 1;
  }

  /** The ordinal of the user, from 0 on; -1 when nobody was added under that name. */
  find(bytes: Uint8Array, at: number): number {
    return this.#places[this.#place(bytes, at)] as number;
  }

  /** For checks: the most places at which a search looks that finds somebody. */
  get searchMax(): number {
    const mask = this.#places.length - 1;
    let most = 0;
    for (let ordinal = 0; ordinal < this.#count; ordinal += 1) {
      const from = ordinal * WORDS;
      const passed = (this.#placeOf(this.#words, from) - this.#firstPlaceOf(this.#words, from)) & mask;
      most = Math.max(most, passed + 1);
    }
    return most;
  }

  #place(bytes: Uint8Array, at: number): number {
    for (let word = 0; word < WORDS; word += 1) {
      const from = at + WORD_BYTES * word;
      this.#wanted[word] =
        (bytes[from] as number) |
        ((bytes[from + 1] as number) << 8) |
        ((bytes[from + 2] as number) << 16) |
        ((bytes[from + 3] as number) << 24);
    }
    return this.#placeOf(this.#wanted, 0);
  }

  /** Of the user whose words begin at `from`, or where it would be. */
  #placeOf(words: Int32Array, from: number): number {
    const mask = this.#places.length - 1;
    for (let place = this.#firstPlaceOf(words, from); ; place = (place + 1) & mask) {
      const ordinal = this.#places[place] as number;
      if (ordinal === NOBODY || this.#isAt(ordinal, words, from)) return place;
    }
  }

  /** Of all bytes: that one differs is enough. */
  #firstPlaceOf(words: Int32Array, from: number): number {
    return hashWords(this.#key, NO_NUMBER, words, from, USER_BYTES) & (this.#places.length - 1);
  }

  #isAt(ordinal: number, words: Int32Array, from: number): boolean {
    const at = ordinal * WORDS;
    for (let word = 0; word < WORDS; word += 1) if (this.#words[at + word] !== words[from + word]) return false;
    return true;
  }

  #grow(): void {
    const words = this.#words;
    this.#words = new Int32Array(2 * words.length);
    this.#words.set(words);
    this.#places = emptyPlaces(2 * this.#places.length);
    for (let ordinal = 0; ordinal < this.#count; ordinal += 1) {
      this.#places[this.#placeOf(words, ordinal * WORDS)] = ordinal;
    }
  }
}

function emptyPlaces(count: number): Int32Array {
  return new Int32Array(count).fill(NOBODY);
}
