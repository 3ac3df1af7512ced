/**
 * Limits of the frames that sockets may send. The server can deliver thousands in one read, so each is counted before it
 * is processed.
 *
 * Frames without work, such as pings, pongs, frames of one-way streams, frames too short for an action:
 *
 *   per pass of the event loop   IDLE_FRAMES_PER_TURN_MAX, fewer when all sockets together sent many in it
 *   over time                    a bucket of IDLE_FRAMES_BURST, refilled by IDLE_FRAMES_PER_SECOND
 *
 * Frames of a stream that reads them have the rule of their stream (FrameRule), and those that wait for their work are
 * bounded per socket and in total (HeldFrames). `/control` has rules of its own (control-socket.ts).
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

/** What each waiting frame counts more than its bytes. */
const HELD_FRAME_COST_BYTES = 512;
/** Waiting frames of one socket: two of 64 KiB. */
const HELD_PER_SOCKET_MAX = 2 * (65_536 + HELD_FRAME_COST_BYTES);
/**
 * Bytes held for all sockets. A socket with few bytes may hold them even beyond this bound, so others do not close it by what
 * they send.
 */
const HELD_MAX = 16_777_216;
const HELD_SMALL_MAX = 8_192;

/** A socket with frames that wait. */
export interface FrameHolder {
  /** Counted by HeldFrames. */
  heldBytes: number;
}

/** Counts the frames that wait, of all sockets of a stream. */
export class HeldFrames {
  #bytes = 0;

  /** Counts one more frame. @returns false, without an effect, beyond the limits. */
  hold(holder: FrameHolder, frameBytes: number): boolean {
    const cost = frameBytes + HELD_FRAME_COST_BYTES;
    const after = holder.heldBytes + cost;
    if (after > HELD_PER_SOCKET_MAX) return false;
    // mutant: held-frames-of-others
    if (this.#bytes + cost > HELD_MAX && after > HELD_SMALL_MAX) return false;
    this.#count(holder, cost);
    return true;
  }

  /** The frame waits no longer. */
  release(holder: FrameHolder, frameBytes: number): void {
    this.#count(holder, -(frameBytes + HELD_FRAME_COST_BYTES));
  }

  /** The socket is closed. */
  releaseAll(holder: FrameHolder): void {
    this.#count(holder, -holder.heldBytes);
  }

  #count(holder: FrameHolder, bytes: number): void {
    holder.heldBytes += bytes;
    this.#bytes += bytes;
  }
}
