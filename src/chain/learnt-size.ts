/**
 * How much of something a server takes at once: blocks of a range, calls of a batch (CHN-01, CHN-02). A refusal halves it, answers of
 * that size make it slowly larger again. What a refusal has followed at once is tried again later and later.
 *
 *   1,024 ──refused──▶ 512 ──refused──▶ 256 ──16 answers──▶ 512 ──refused──▶ 256 ──32 answers──▶ 512 …
 */
const ANSWERS_MIN = 16;
const ANSWERS_MAX = 4_096;

export class LearntSize {
  readonly #most: number;
  #value: number;
  /** Answers of the whole size since the last change, and how many make it larger: one before the first refusal. */
  #answers = 0;
  #needed = 1;
  #hasGrown = false;

  /** @param first 1 to `most`. */
  constructor(first: number, most: number) {
    this.#value = first;
    this.#most = most;
  }

  /** 1 to the most. */
  get value(): number {
    return this.#value;
  }

  /** @param size what was requested. @returns whether less can be requested. */
  refused(size: number): boolean {
    if (size <= 1) return false;
    if (this.#needed === 1) this.#needed = ANSWERS_MIN;
    else if (this.#hasGrown) this.#needed = Math.min(this.#needed * 2, ANSWERS_MAX);
    this.#value = Math.max(1, Math.min(this.#value, Math.floor(size / 2)));
    this.#answers = 0;
    this.#hasGrown = false;
    return true;
  }

  /** @param size what was requested; less than the whole shows nothing of more. */
  answered(size: number): void {
    if (size < this.#value || this.#value >= this.#most) return;
    this.#answers += 1;
    if (this.#answers < this.#needed) return;
    this.#value = Math.min(this.#value * 2, this.#most);
    this.#answers = 0;
    this.#hasGrown = true;
  }
}
