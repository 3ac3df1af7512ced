/**
 * Answers of `/control` that a leader of a cluster owes while its lease is over (cluster.md 7.4): a cancel is answered when its record is
 * stored. What is not within 5 s is `TIMEOUT_UNKNOWN_STATE`: it may have happened, and the later answer is dropped. REST has its own
 * deadline (http-routes.ts).
 *
 * Bounded by the table of requests: what is answered leaves at once.
 */
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { ActionAnswer, EntryAnswer } from '../gateway/orders/entry/pending-requests.ts';

/** The action was sent on, and no answer came in time. */
export const LATE_ACTION: Reject = reject(
  'TIMEOUT_UNKNOWN_STATE',
  'the market did not answer in time; the action may have happened',
);
const AFTER_MS = 5_000;
const LOOK_MS = 250;

interface LateAnswersParts {
  /** Whether the leader has no lease now. */
  readonly isOver: () => boolean;
  readonly nowNs: () => TimestampNs;
  /** Real milliseconds. Default 5,000. */
  readonly afterMs?: number | undefined;
}

interface Waiting {
  readonly sinceMs: number;
  readonly answer: (answer: ActionAnswer) => void;
}

export class LateAnswers {
  readonly #parts: LateAnswersParts;
  /** In the order of their requests. */
  readonly #waiting = new Set<Waiting>();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: LateAnswersParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.look(), Math.min(LOOK_MS, parts.afterMs ?? AFTER_MS));
    this.#timer.unref();
  }

  /** Requests without an answer. */
  get count(): number {
    return this.#waiting.size;
  }

  /** @returns what is called with the answer, which passes on one. */
  once(answer: (answer: ActionAnswer) => void): EntryAnswer {
    const waiting = { sinceMs: performance.now(), answer };
    this.#waiting.add(waiting);
    return (given) => {
      if (this.#waiting.delete(waiting)) answer(given);
    };
  }

  /** Answers what has waited too long, if the lease is over. */
  look(): void {
    const { isOver, nowNs, afterMs = AFTER_MS } = this.#parts;
    if (this.#waiting.size === 0 || !isOver()) return;
    const untilMs = performance.now() - afterMs;
    for (const waiting of this.#waiting) {
      if (waiting.sinceMs > untilMs) return;
      // mutant: late-answer-once
      this.#waiting.delete(waiting);
      waiting.answer({ refusal: LATE_ACTION, processedAtNs: nowNs() });
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#waiting.clear();
  }
}
