/**
 * Starts requests one after the other, so that work any client may request leaves the thread time for everything else:
 * one request per pass of the event loop, and about a quarter of the time where a request takes from 1 to 17 ms.
 *
 *   begin ─▶ work, promises included ─▶ next pass of the loop ─▶ a pause three times as long as the work, if it was long ─▶ begin
 *
 * Work that only waits (for a flush, for a barrier) does not delay the requests behind it.
 *
 * The number of waiting requests is bounded elsewhere: by the listener's connections, with one request each at a time.
 */

/** After shorter work the next request starts in the next pass of the loop, without a pause. */
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
   * @param isGone whether the client has disconnected; then the work is dropped, and its promise never resolves.
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
