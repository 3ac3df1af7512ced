/**
 * Runs of words of one size in a growing array, for data that few orders have. A freed run is the next one allocated.
 *
 * There is one heap per size, so free runs of one size never limit another, and allocation always succeeds: a run has
 * at most 16 words and an order of the pool at most one of each heap, which the array can hold (order-pool.ts).
 */
import { grown, NONE } from '../core/pools.ts';

const FIRST_WORDS = 64;
/** Words by which a large heap grows. */
const GROWTH = 65_536;

export class WordHeap {
  /** Replaced on growth, which only `allocate` does. */
  words: Int32Array = new Int32Array(0);
  readonly #size: number;
  #used = 0;
  /** The first free run, or NONE; linked through the first words. */
  #free: number = NONE;

  /** @param size of a run: 1 … 16. */
  constructor(size: number) {
    this.#size = size;
  }

  get bytes(): number {
    return this.words.byteLength;
  }

  /** @returns the index of a run's first word; its content is undefined. */
  allocate(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.words[free] as number;
      return free;
    }
    const { length } = this.words;
    if (this.#used + this.#size > length)
      this.words = grown(this.words, Math.max(length + Math.min(length, GROWTH), FIRST_WORDS));
    this.#used += this.#size;
    return this.#used - this.#size;
  }

  release(at: number): void {
    this.words[at] = this.#free;
    this.#free = at;
  }
}
