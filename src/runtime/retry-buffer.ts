/**
 * The sending end of an edge with a sender that must neither block nor drop: clearing to all receivers, a market to
 * clearing and to the gateway. A retry buffer in front of the ring:
 *
 *   the ring has space and the buffer is empty   → records are written directly into the ring
 *   otherwise                                    → they are buffered, in order, and moved when there is space
 *
 * Bounded by the output of input that the actor has accepted: the actor accepts no new input while the buffer is not
 * empty. A market continues to accept clearing's decisions, so that two full rings can never wait for each other; their
 * output is bounded by the fills in flight.
 */
import { assert } from '../core/assert.ts';
import { type Views, viewsOf } from '../core/views.ts';

/** The part of a ring's sending end that a retry buffer uses (runtime's Publication). */
export interface RetriedPublication {
  readonly views: Views;
  claim(typeId: number, payloadBytes: number, urgent?: boolean): number;
  commit(): void;
  /** Publishes committed records and notifies the reader. */
  flush(): void;
  /** Whether records of `bytes`, including headers, would all be accepted. */
  hasRoom(bytes: number): boolean;
  /** Requests a notification when the reader has freed space. */
  wantRoom(): void;
}

const HEADER_BYTES = 8;
const INITIAL_BYTES = 1 << 16;
const BYTES_MAX = 1 << 30;

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

export class RetryBuffer {
  /** The buffer of the last claim: read it after each claim. */
  views: Views;
  readonly #publication: RetriedPublication;
  #waiting: Views = viewsOf(new ArrayBuffer(INITIAL_BYTES), 0, INITIAL_BYTES);
  #start = 0;
  #end = 0;
  #isDirect = false;

  constructor(publication: RetriedPublication) {
    this.#publication = publication;
    this.views = publication.views;
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  /** Bytes that wait for room in the ring. */
  get waitingBytes(): number {
    return this.#end - this.#start;
  }

  /** Claims space for one record; never fails. @returns the payload's offset in `views`, a multiple of 8. */
  claim(typeId: number, payloadBytes: number): number {
    const bytes = HEADER_BYTES + padded(payloadBytes);
    this.#isDirect = this.isEmpty && this.#publication.hasRoom(bytes);
    if (this.#isDirect) {
      this.views = this.#publication.views;
      return this.#publication.claim(typeId, payloadBytes);
    }
    this.#reserve(bytes);
    this.views = this.#waiting;
    this.#waiting.u32[this.#end >>> 2] = typeId;
    this.#waiting.u32[(this.#end >>> 2) + 1] = payloadBytes;
    return this.#end + HEADER_BYTES;
  }

  commit(): void {
    if (this.#isDirect) this.#publication.commit();
    else this.#end += HEADER_BYTES + padded(this.#waiting.u32[(this.#end >>> 2) + 1] as number);
  }

  /** Moves records into the ring as far as they fit and notifies the reader. @returns whether the buffer is empty. */
  flush(): boolean {
    while (this.#start < this.#end) {
      const typeId = this.#waiting.u32[this.#start >>> 2] as number;
      const bytes = this.#waiting.u32[(this.#start >>> 2) + 1] as number;
      const whole = HEADER_BYTES + padded(bytes);
      if (!this.#publication.hasRoom(whole)) break;
      const at = this.#publication.claim(typeId, bytes);
      const from = this.#start + HEADER_BYTES;
      this.#publication.views.u8.set(this.#waiting.u8.subarray(from, from + bytes), at);
      this.#publication.commit();
      this.#start += whole;
    }
    this.#publication.flush();
    if (this.#start !== this.#end) {
      this.#publication.wantRoom();
      return false;
    }
    this.#start = 0;
    this.#end = 0;
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#waiting.u8.length) return;
    let capacity = this.#waiting.u8.length;
    while (capacity < this.#end + bytes) capacity *= 2;
    assert(capacity <= BYTES_MAX, 'a retry buffer holds the output of accepted input only');
    const grown = viewsOf(new ArrayBuffer(capacity), 0, capacity);
    grown.u8.set(this.#waiting.u8.subarray(0, this.#end));
    this.#waiting = grown;
  }
}
