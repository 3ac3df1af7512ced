/** A seeded source of chance: the same seed throws the same dice on every machine (xorshift over 32 bits). */
export class Dice {
  #state: number;

  /** @param seed any integer. */
  constructor(seed: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) | 0;
    if (this.#state === 0) this.#state = 1;
    for (let turn = 0; turn < 4; turn += 1) this.#next();
  }

  /** 0 ≤ value < limit. */
  below(limit: number): number {
    return this.#next() % limit;
  }

  /** True once in so many throws. */
  once(inThrows: number): boolean {
    return this.below(inThrows) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.below(choices.length)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let index = 0; index < length; index += 1) bytes[index] = this.below(256);
    return bytes;
  }

  /** Dice of its own, for one case: a failing case is repeated without those before it. */
  seed(): number {
    return this.#next();
  }

  #next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state | 0;
    return state >>> 0;
  }
}
