/**
 * Limits the frames without work that one socket may send: pings, pongs, frames of one-way streams, frames too short
 * for an action. The server can deliver thousands in one read, so each is counted before it is processed.
 *
 *   per pass of the event loop   IDLE_FRAMES_PER_TURN_MAX, fewer when all sockets together sent many in it
 *   over time                    a bucket of IDLE_FRAMES_BURST, refilled by IDLE_FRAMES_PER_SECOND
 */
import {
  IDLE_FRAMES_BURST,
  IDLE_FRAMES_CROWD,
  IDLE_FRAMES_PER_CROWDED_TURN_MAX,
  IDLE_FRAMES_PER_SECOND,
  IDLE_FRAMES_PER_TURN_MAX,
} from '../core/limits.ts';

const SECOND_MS = 1_000;

/** Counts the frames of all sockets of a listener in one pass of the event loop. */
export class FrameCrowd {
  readonly #turnNumber: () => number;
  #turn = -1;
  #frames = 0;

  /** @param turnNumber differs from pass to pass. */
  constructor(turnNumber: () => number) {
    this.#turnNumber = turnNumber;
  }

  /** Counts one more frame. @returns the number of its pass. */
  count(): number {
    const turn = this.#turnNumber();
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#frames = 0;
    }
    this.#frames += 1;
    return turn;
  }

  /** Maximum number of frames per socket in this pass. */
  get most(): number {
    return this.#frames > IDLE_FRAMES_CROWD ? IDLE_FRAMES_PER_CROWDED_TURN_MAX : IDLE_FRAMES_PER_TURN_MAX;
  }
}

/** Limits of the frames that one socket may send to a stream that reads them. */
export interface FrameRule {
  readonly bytesMax: number;
  readonly perSecond: number;
  readonly burst: number;
}

/** Counts the frames of one socket against its rule, where its connection is. */
export class FrameRate {
  readonly #rule: FrameRule;
  #left: number;
  #sinceMs: number;

  /** @param nowMs real milliseconds, monotonic. */
  constructor(rule: FrameRule, nowMs: number) {
    this.#rule = rule;
    this.#left = rule.burst;
    this.#sinceMs = nowMs;
  }

  /** Counts one more frame. @returns whether it is allowed. */
  take(nowMs: number): boolean {
    const supplied = ((nowMs - this.#sinceMs) / SECOND_MS) * this.#rule.perSecond;
    this.#left = Math.min(this.#rule.burst, this.#left + supplied) - 1;
    this.#sinceMs = nowMs;
    return this.#left >= 0;
  }
}

/** The allowance of one socket. */
export class FrameAllowance {
  #turn = -1;
  #inTurn = 0;
  #left: number = IDLE_FRAMES_BURST;
  #sinceMs: number;

  /** @param nowMs real milliseconds, monotonic. */
  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** @returns whether one more frame is allowed; reads the time only once per pass. */
  take(crowd: FrameCrowd, nowMs: () => number): boolean {
    const turn = crowd.count();
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#inTurn = 0;
      this.#refill(nowMs());
    }
    this.#inTurn += 1;
    this.#left -= 1;
    return this.#inTurn <= crowd.most && this.#left >= 0;
  }

  #refill(nowMs: number): void {
    const supplied = ((nowMs - this.#sinceMs) / SECOND_MS) * IDLE_FRAMES_PER_SECOND;
    this.#left = Math.min(IDLE_FRAMES_BURST, this.#left + supplied);
    this.#sinceMs = nowMs;
  }
}
