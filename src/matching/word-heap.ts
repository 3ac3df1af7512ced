/**
 * Short runs of words in one growing array: what few orders have, of many sizes.
 *
 * A run that is given back waits in the list of its size, linked through its first word. Sizes are not exchanged: own
 * times have one, and ids of one client have one length in practice.
 */
import { grown } from './pools.ts';

const FIRST_WORDS = 64;
/** Of the longest run, an order id of 64 bytes. */
const SIZE_MAX = 16;
/** Words by which a large heap grows. */
const GROWTH = 65_536;

export class WordHeap {
  /** Replaced when it grows, which only `allocate` does. */
  words: Int32Array = new Int32Array(FIRST_WORDS);
  /** No run lies at 0, so 0 ends a list. */
  #used = 1;
  readonly #free: Int32Array = new Int32Array(SIZE_MAX + 1);

  get bytes(): number {
    return this.words.byteLength;
  }

  /** @param size 1 … 16. @returns the index of the first word; the words hold anything. */
  allocate(size: number): number {
    const free = this.#free[size] as number;
    if (free !== 0) {
      this.#free[size] = this.words[free] as number;
      return free;
    }
    const { length } = this.words;
    if (this.#used + size > length) this.words = grown(this.words, length + Math.min(length, GROWTH));
    this.#used += size;
    return this.#used - size;
  }

  release(at: number, size: number): void {
    this.words[at] = this.#free[size] as number;
    this.#free[size] = at;
  }
}
