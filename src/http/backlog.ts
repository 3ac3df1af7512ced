/**
 * How far one socket is behind: the messages of ours that its kernel has not taken yet.
 *
 * The server reports queued bytes only, so the ends of queued messages are remembered as byte positions in the stream
 * since the queue was last empty:
 *
 *   taken by the kernel          queued
 *   ├───────────────┼──────────────────────┤ #streamBytes
 *        end   end      end    end       end
 *                   └ a message is queued while its end lies beyond this point
 *
 * Exact to within the few bytes of protocol pings that the server queues itself. Nothing is allocated for a socket
 * that keeps up.
 */
import { assert } from '../core/assert.ts';
import { SOCKET_LAG_MESSAGES_MAX } from '../core/limits.ts';

/** One more than the limit, so that the message which breaks it is still counted. */
const CAPACITY = SOCKET_LAG_MESSAGES_MAX + 1;

/** Bytes a server adds in front of a payload (RFC 6455 5.2; servers do not mask). */
export function frameHeaderBytes(payloadBytes: number): number {
  return payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10;
}

export class Backlog {
  #ends: Float64Array | null = null;
  #first = 0;
  #count = 0;
  #streamBytes = 0;

  /** Queued messages, up to one above the limit. */
  get messages(): number {
    return this.#count;
  }

  /** A message was handed to the server. Call `settle` after one or several of these. */
  add(payloadBytes: number): void {
    this.#streamBytes += payloadBytes + frameHeaderBytes(payloadBytes);
    if (this.#count === CAPACITY) return;
    this.#ends ??= new Float64Array(CAPACITY);
    this.#ends[(this.#first + this.#count) % CAPACITY] = this.#streamBytes;
    this.#count += 1;
  }

  /** @param queuedBytes what the server reports as not yet taken by the kernel. */
  settle(queuedBytes: number): void {
    if (queuedBytes === 0) {
      this.#count = 0;
      this.#streamBytes = 0;
      return;
    }
    const taken = this.#streamBytes - queuedBytes;
    while (this.#count > 0 && (this.#ends?.[this.#first] ?? 0) <= taken) {
      this.#first = (this.#first + 1) % CAPACITY;
      this.#count -= 1;
    }
    assert(this.#count >= 0, 'backlog: a count');
  }
}
