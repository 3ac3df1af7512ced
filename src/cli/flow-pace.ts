/** The schedule of a flow's events: at once, at the recorded times, or at a steady rate. */

export type Pace =
  | { readonly kind: 'fast' }
  /** At the recorded times, `speed` times as fast. */
  | { readonly kind: 'recorded'; readonly speed: number }
  | { readonly kind: 'rate'; readonly perSecond: number };

/** Waits until an event is due; time starts at construction. */
export class Pacer {
  readonly #pace: Pace;
  readonly #firstNs: bigint;
  readonly #startedAt = performance.now();

  constructor(pace: Pace, firstNs: bigint) {
    this.#pace = pace;
    this.#firstNs = firstNs;
  }

  async until(index: number, timeNs: bigint): Promise<void> {
    const delayMs = this.#startedAt + this.#dueMs(index, timeNs) - performance.now();
    if (delayMs > 1) await new Promise((resolve) => setTimeout(resolve, delayMs));
  }

  #dueMs(index: number, timeNs: bigint): number {
    switch (this.#pace.kind) {
      case 'fast':
        return 0;
      case 'recorded':
        return Number(timeNs - this.#firstNs) / 1e6 / this.#pace.speed;
      case 'rate':
        return (index * 1_000) / this.#pace.perSecond;
    }
  }
}
