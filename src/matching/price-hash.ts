/**
 * A keyed hash of integers that clients choose: simple tabulation. Each byte of a number selects a word of its own
 * table, the last ten bits one of a longer table, and the hash is the XOR of all.
 *
 * Without the secret tables a client cannot choose numbers that collide systematically: a look-up takes constant time
 * on average for any input (Patrascu and Thorup, "The power of simple tabulation hashing", 2011). A keyed hash of bytes
 * (key-words.ts) has the same property and takes four times as long; every level except the best is found by this hash.
 */
import { type HashKey, hashWords } from '../core/key-words.ts';

const TABLE = 256;
const TABLES = 5;
const LAST_TABLE = 1_024;
/** Not a user number: no other hash input starts with these words. */
const NO_USER = -1;

export class PriceHash {
  readonly #words: Int32Array = new Int32Array(TABLE * TABLES + LAST_TABLE);

  constructor(key: HashKey) {
    const word = new Int32Array(1);
    for (let at = 0; at < this.#words.length; at++) {
      word[0] = at;
      // mutant: keyed-price-hash
      this.#words[at] = hashWords(key, NO_USER, word, 0, 4);
    }
  }

  /** @param value −2^50 … 2^50. @returns 32 bits, signed. */
  of(value: number): number {
    const words = this.#words;
    const low = value | 0;
    const high = Math.floor(value / 4_294_967_296);
    return (
      (words[low & 255] as number) ^
      (words[256 + ((low >>> 8) & 255)] as number) ^
      (words[512 + ((low >>> 16) & 255)] as number) ^
      (words[768 + (low >>> 24)] as number) ^
      (words[1_024 + (high & 255)] as number) ^
      (words[1_280 + ((high >> 8) & (LAST_TABLE - 1))] as number)
    );
  }
}
