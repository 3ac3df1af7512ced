/**
 * The bytes of order ids: blocks of 1 to 16 words in one growing Uint32Array.
 *
 * A freed block waits in the list of its size, linked through its first word (0 ends a list: word 0 is never given
 * out). Sizes are not exchanged, so the arena is at most 16 times what it held at its fullest, and in practice ids of
 * one client have one length.
 */
import { assert } from '../core/assert.ts';
import { ORDER_ID_BYTES_MAX } from '../core/limits.ts';
import { wordAt, wordCount } from './key-bytes.ts';
import { grown } from './pools.ts';

export class IdArena {
  words: Uint32Array<ArrayBuffer>;
  /** The same memory, byte by byte. */
  bytes: Uint8Array<ArrayBuffer>;
  #used = 1;
  readonly #free: Uint32Array = new Uint32Array(wordCount(ORDER_ID_BYTES_MAX) + 1);

  constructor(capacityWords: number) {
    this.words = new Uint32Array(capacityWords);
    this.bytes = new Uint8Array(this.words.buffer);
  }

  /** Copies a field in. @returns the index of its first word. */
  store(view: DataView, at: number, bytes: number): number {
    assert(bytes >= 1 && bytes <= ORDER_ID_BYTES_MAX, 'an order id has 1 to 64 bytes');
    const block = this.#allocate(wordCount(bytes));
    const words = this.words;
    for (let done = 0, word = block; done < bytes; done += 4, word++)
      words[word] = wordAt(view, at + done, bytes - done);
    return block;
  }

  equals(block: number, view: DataView, at: number, bytes: number): boolean {
    const words = this.words;
    for (let done = 0, word = block; done < bytes; done += 4, word++)
      if (words[word] !== wordAt(view, at + done, bytes - done) >>> 0) return false;
    return true;
  }

  release(block: number, bytes: number): void {
    const size = wordCount(bytes);
    this.words[block] = this.#free[size] as number;
    this.#free[size] = block;
  }

  #allocate(size: number): number {
    const free = this.#free[size] as number;
    if (free !== 0) {
      this.#free[size] = this.words[free] as number;
      return free;
    }
    if (this.#used + size > this.words.length) {
      this.words = grown(this.words, this.words.length * 2);
      this.bytes = new Uint8Array(this.words.buffer);
    }
    const block = this.#used;
    this.#used += size;
    return block;
  }
}
