/**
 * Replies that their clients have not read yet, and their limits, for one listener.
 *
 *   reply ─▶ the kernel accepts all ─▶ done
 *       │ accepts a part
 *       ▼
 *   kept here, the rest is written whenever the kernel has capacity ─▶ done
 *       │ too slow, or the total is too large
 *       ▼
 *   connection closed
 *
 * The server buffers nothing of a reply beyond its cork buffer, and closes a connection that sends the next request
 * while a reply is pending. So a connection has at most one pending reply.
 *
 * Documents count for the time limit but not for the total: all their readers share one copy.
 */
import { UNREAD_REPLIES_MAX, UNREAD_REPLY_BYTES_PER_SECOND, UNREAD_REPLY_MS } from '../core/limits.ts';
import type { ReplyTarget } from './passed-requests.ts';

const SECOND_MS = 1_000;
/** Closing continues until this fraction of the limit is left: an eighth is freed at once, so that closing is rare. */
const KEPT_NUMERATOR = 7;
const KEPT_DENOMINATOR = 8;

interface Held {
  readonly response: ReplyTarget;
  readonly body: Uint8Array;
  /** False for shared bytes. */
  readonly isOwn: boolean;
  /** Real milliseconds, monotonic. */
  readonly deadlineMs: number;
  /** Bytes already written. */
  offset: number;
}

/** The owner of a pending reply, as a key. */
type ReplyOwner = object;

export class UnreadReplies {
  readonly #held = new Map<ReplyOwner, Held>();
  readonly #bytesMax: number;
  readonly #patienceMs: number;
  #bytes = 0;
  #isSweepPlanned = false;

  /** @param bytesMax total limit. @param patienceMs time limit for a reply of any length. */
  constructor(bytesMax: number = UNREAD_REPLIES_MAX, patienceMs: number = UNREAD_REPLY_MS) {
    this.#bytesMax = bytesMax;
    this.#patienceMs = patienceMs;
  }

  /** Number of pending replies. */
  get count(): number {
    return this.#held.size;
  }

  /** Bytes of pending replies that are not shared. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Sends the body of a response after status and headers; inside a cork.
   *
   * @param isOwn whether the bytes are not shared.
   */
  send(owner: ReplyOwner, response: ReplyTarget, body: Uint8Array, isOwn: boolean): void {
    const start = response.getWriteOffset();
    const [isTaken, isDone] = response.tryEnd(body, body.byteLength);
    if (isTaken || isDone) return;
    const offset = response.getWriteOffset() - start;
    const bytesMs = (body.byteLength / UNREAD_REPLY_BYTES_PER_SECOND) * SECOND_MS;
    const deadlineMs = performance.now() + this.#patienceMs + bytesMs;
    const held = { response, body, isOwn, deadlineMs, offset };
    this.#held.set(owner, held);
    if (isOwn) this.#bytes += body.byteLength;
    if (this.#bytes > this.#bytesMax) this.#planSweep();
    response.onWritable((written) => this.#offer(owner, held, written - start));
  }

  /** Ends tracking: the connection is closed, or the reply is sent. */
  forget(owner: ReplyOwner): void {
    const held = this.#held.get(owner);
    if (held === undefined) return;
    this.#held.delete(owner);
    if (held.isOwn) this.#bytes -= held.body.byteLength;
  }

  /** Closes connections that are too slow, and, above the total limit, those with the most bytes. Outside a cork. */
  sweep(nowMs: number): void {
    for (const [owner, held] of this.#held) {
      if (nowMs >= held.deadlineMs) this.#cut(owner, held);
    }
    if (this.#bytes <= this.#bytesMax) return;
    const longest = [...this.#held].filter(([, { isOwn }]) => isOwn).sort(([, a], [, b]) => unreadOf(b) - unreadOf(a));
    const keptBytes = Math.floor((this.#bytesMax / KEPT_DENOMINATOR) * KEPT_NUMERATOR);
    for (const [owner, held] of longest) {
      if (this.#bytes <= keptBytes) return;
      this.#cut(owner, held);
    }
  }

  #planSweep(): void {
    if (this.#isSweepPlanned) return;
    this.#isSweepPlanned = true;
    setImmediate(() => {
      this.#isSweepPlanned = false;
      this.sweep(performance.now());
    });
  }

  #offer(owner: ReplyOwner, held: Held, offset: number): boolean {
    held.offset = offset;
    const [isTaken, isDone] = held.response.tryEnd(held.body.subarray(offset), held.body.byteLength);
    if (isTaken || isDone) this.forget(owner);
    return isTaken;
  }

  #cut(owner: ReplyOwner, held: Held): void {
    this.forget(owner);
    held.response.close();
  }
}

function unreadOf({ body, offset }: Held): number {
  return body.byteLength - offset;
}
