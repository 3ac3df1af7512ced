/**
 * Starts requests one after the other, so that work which any client may request leaves a thread time for everything else:
 * one piece of it in a pass of the loop, and about a quarter of the time where a piece takes from 1 to 17 ms.
 *
 *   begin ─▶ work, promises included ─▶ next turn of the loop ─▶ a pause three times as long as the work, if it was long ─▶ begin
 *
 * Work that only waits (for a flush, for a barrier) does not hold up what comes behind it.
 *
 * Not bounded here: how many wait. The listener has so many connections, and each has one request at a time.
 */

/** Shorter work is followed by the next turn of the loop and by no pause. */
const LONG_MS = 1;
const PAUSE_FACTOR = 3;
const PAUSE_MS_MAX = 50;

interface Waiting {
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

export class PacedRequests {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  /**
   * @param isGone whether there is no client any more; then the work is forgotten, and the promise with it.
   * @returns a promise that resolves when the work may begin.
   */
  begin(isGone: () => boolean): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push({ isGone, begin });
      if (!this.#isBusy) this.#next();
    });
  }

  #next(): void {
    let next = this.#waiting.shift();
    while (next?.isGone() === true) next = this.#waiting.shift();
    this.#isBusy = next !== undefined;
    if (next === undefined) return;
    const startedMs = performance.now();
    next.begin();
    setImmediate(() => {
      const spentMs = performance.now() - startedMs;
      if (spentMs < LONG_MS) this.#next();
      else setTimeout(() => this.#next(), Math.min(PAUSE_MS_MAX, spentMs * PAUSE_FACTOR));
    });
  }
}
