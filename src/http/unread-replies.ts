/**
 * Replies that their clients have not taken yet, and the bounds on them, for one listener.
 *
 *   reply ─▶ the kernel takes all ─▶ done
 *       │ takes a part
 *       ▼
 *   held here, the rest is offered whenever the kernel has room ─▶ done
 *       │ too slow, or all of them hold too much
 *       ▼
 *   connection closed
 *
 * The server buffers nothing of a reply beyond its cork buffer, and ends a connection that sends the next request while a
 * reply is held. So a connection holds one reply at most, whatever it requests.
 *
 * Bytes of documents count for the time, not for the sum: all their readers share one copy.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { UNREAD_REPLIES_MAX, UNREAD_REPLY_BYTES_PER_SECOND, UNREAD_REPLY_MS } from '../core/limits.ts';

const SECOND_MS = 1_000;
/** After the sum was too large, so much is left: an eighth is closed at once, so that it is rare. */
const KEPT_NUMERATOR = 7;
const KEPT_DENOMINATOR = 8;

interface Held {
  readonly response: HttpResponse;
  readonly body: Uint8Array;
  /** False for bytes that are shared. */
  readonly isOwn: boolean;
  /** Real milliseconds, monotonic. */
  readonly deadlineMs: number;
  /** What was taken. */
  offset: number;
}

/** Whose reply is held; the same object takes and forgets. */
export type ReplyOwner = object;

export class UnreadReplies {
  readonly #held = new Map<ReplyOwner, Held>();
  readonly #bytesMax: number;
  readonly #patienceMs: number;
  #bytes = 0;
  #isSweepPlanned = false;

  /** @param bytesMax of all. @param patienceMs for a reply of any length. */
  constructor(bytesMax: number = UNREAD_REPLIES_MAX, patienceMs: number = UNREAD_REPLY_MS) {
    this.#bytesMax = bytesMax;
    this.#patienceMs = patienceMs;
  }

  /** Replies that are held. */
  get count(): number {
    return this.#held.size;
  }

  /** Bytes of them that nobody else needs. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Sends the body of a response whose status and headers are written; inside a cork.
   *
   * @param isOwn whether nothing else holds these bytes.
   */
  send(owner: ReplyOwner, response: HttpResponse, body: Uint8Array, isOwn: boolean): void {
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

  /** The connection is gone, or the reply is sent. */
  forget(owner: ReplyOwner): void {
    const held = this.#held.get(owner);
    if (held === undefined) return;
    this.#held.delete(owner);
    if (held.isOwn) this.#bytes -= held.body.byteLength;
  }

  /** Closes connections that are too slow, and, while all hold too much, those that hold the most. Outside a cork. */
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
