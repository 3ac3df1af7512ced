/**
 * The sending end of an edge whose sender must neither block nor drop: clearing to everyone, a market to clearing and
 * to the front door.
 *
 *   the ring has room and nothing waits here   → records are written straight into the ring
 *   otherwise                                  → they are kept here, in order, and moved when there is room
 *
 * Bounded by the outputs of what its actor has already taken: the actor takes nothing new while anything waits here.
 * A market goes on taking clearing's decisions, though, so that two full rings can never wait for each other; what
 * those add is bounded by the fills in flight.
 */
import { assert } from '../core/assert.ts';
import { type Views, viewsOf } from '../core/views.ts';

/** What an outbox needs of a ring's sending end (runtime's Outlet). */
export interface Outlet {
  readonly views: Views;
  claim(typeId: number, payloadBytes: number, urgent?: boolean): number;
  commit(): void;
  /** Makes committed records visible and wakes the reader. */
  flush(): void;
  /** Whether records that take so many bytes, headers included, are certain to be accepted. */
  hasRoom(bytes: number): boolean;
  /** Asks to be woken when the reader has freed room. */
  wantRoom(): void;
}

const HEADER_BYTES = 8;
const INITIAL_BYTES = 1 << 16;
const BYTES_MAX = 1 << 30;

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

export class Outbox {
  /** Where the last claim put its payload: read it after each claim. */
  views: Views;
  readonly #outlet: Outlet;
  #waiting: Views = viewsOf(new ArrayBuffer(INITIAL_BYTES), 0, INITIAL_BYTES);
  #start = 0;
  #end = 0;
  #isDirect = false;

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
    this.views = outlet.views;
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  /** Room for one record. @returns the payload's offset in `views`, a multiple of 8. Never full. */
  claim(typeId: number, payloadBytes: number): number {
    const bytes = HEADER_BYTES + padded(payloadBytes);
    this.#isDirect = this.isEmpty && this.#outlet.hasRoom(bytes);
    if (this.#isDirect) {
      this.views = this.#outlet.views;
      return this.#outlet.claim(typeId, payloadBytes);
    }
    this.#reserve(bytes);
    this.views = this.#waiting;
    this.#waiting.u32[this.#end >>> 2] = typeId;
    this.#waiting.u32[(this.#end >>> 2) + 1] = payloadBytes;
    return this.#end + HEADER_BYTES;
  }

  commit(): void {
    if (this.#isDirect) this.#outlet.commit();
    else this.#end += HEADER_BYTES + padded(this.#waiting.u32[(this.#end >>> 2) + 1] as number);
  }

  /** Moves what the ring takes and wakes its reader. @returns whether nothing waits any more. */
  flush(): boolean {
    while (this.#start < this.#end) {
      const typeId = this.#waiting.u32[this.#start >>> 2] as number;
      const bytes = this.#waiting.u32[(this.#start >>> 2) + 1] as number;
      const whole = HEADER_BYTES + padded(bytes);
      if (!this.#outlet.hasRoom(whole)) break;
      const at = this.#outlet.claim(typeId, bytes);
      const from = this.#start + HEADER_BYTES;
      this.#outlet.views.u8.set(this.#waiting.u8.subarray(from, from + bytes), at);
      this.#outlet.commit();
      this.#start += whole;
    }
    this.#outlet.flush();
    if (this.#start !== this.#end) {
      this.#outlet.wantRoom();
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
    assert(capacity <= BYTES_MAX, 'an outbox holds the outputs of what was taken, not more');
    const grown = viewsOf(new ArrayBuffer(capacity), 0, capacity);
    grown.u8.set(this.#waiting.u8.subarray(0, this.#end));
    this.#waiting = grown;
  }
}
