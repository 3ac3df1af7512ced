/**
 * Orders of one market, live or with undecided fills: a pool of slots.
 *
 *   RESTING           on the book; quantity − filled > 0
 *   FILLED            nothing left, every fill pending or confirmed; a rollback may bring it back (AMB-32 b)
 *   FILLED_COVERED    FILLED, and a cancel came: it never comes back (AMB-23, AMB-32 d)
 *   ENDED             its end was told; only pending fills keep it here
 *
 * Between alloc and the end of its create an order is NEW.
 *
 * `filled` is optimistic: pending fills count, rolled-back ones do not (ORD-23). It exceeds `quantity` only after a
 * replace to less than is filled (AMB-19). An order that is not RESTING and has no undecided fill leaves the pool.
 */
import type { Side, Tif } from '../core/order-terms.ts';
import { grown, NONE } from './pools.ts';

export const ORDER_STATE = { free: 0, fresh: 1, resting: 2, filled: 3, filledCovered: 4, ended: 5 } as const;

export class OrderPool {
  /** Neighbours in the queue of the level, NONE at its ends; `next` also links free slots. */
  next: Int32Array<ArrayBuffer>;
  previous: Int32Array<ArrayBuffer>;
  /** While RESTING: its level on its side of the book. */
  level: Int32Array<ArrayBuffer>;
  price: Float64Array<ArrayBuffer>;
  /** The total in force. */
  quantity: Float64Array<ArrayBuffer>;
  filled: Float64Array<ArrayBuffer>;
  /** Sequence of admission: the order's name. */
  sequence: Float64Array<ArrayBuffer>;
  /** Sequence that gives the place in the queue. */
  priority: Float64Array<ArrayBuffer>;
  /** Creation, raised by applied replaces (AMB-18, AMB-21). */
  timestampNs: BigUint64Array<ArrayBuffer>;
  expiryNs: BigUint64Array<ArrayBuffer>;
  /** `expiryNs` as pairs of words, low then high. */
  expiryWords: Uint32Array<ArrayBuffer>;
  /** Neighbours in the expiry bucket; the first one's `expiryPrevious` is −2 − bucket. */
  expiryNext: Int32Array<ArrayBuffer>;
  expiryPrevious: Int32Array<ArrayBuffer>;
  /** Its entry in the order-id table. */
  id: Int32Array<ArrayBuffer>;
  /** Undecided fills. */
  pending: Int32Array<ArrayBuffer>;
  side: Uint8Array<ArrayBuffer>;
  tif: Uint8Array<ArrayBuffer>;
  flags: Uint8Array<ArrayBuffer>;
  state: Uint8Array<ArrayBuffer>;
  /** OrderEnd, once ENDED. */
  end: Uint8Array<ArrayBuffer>;
  #used = 0;
  #free: number = NONE;

  constructor(capacity: number) {
    this.next = new Int32Array(capacity);
    this.previous = new Int32Array(capacity);
    this.level = new Int32Array(capacity);
    this.price = new Float64Array(capacity);
    this.quantity = new Float64Array(capacity);
    this.filled = new Float64Array(capacity);
    this.sequence = new Float64Array(capacity);
    this.priority = new Float64Array(capacity);
    this.timestampNs = new BigUint64Array(capacity);
    this.expiryNs = new BigUint64Array(capacity);
    this.expiryWords = new Uint32Array(this.expiryNs.buffer);
    this.expiryNext = new Int32Array(capacity);
    this.expiryPrevious = new Int32Array(capacity);
    this.id = new Int32Array(capacity);
    this.pending = new Int32Array(capacity);
    this.side = new Uint8Array(capacity);
    this.tif = new Uint8Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.state = new Uint8Array(capacity);
    this.end = new Uint8Array(capacity);
  }

  allocate(): number {
    const slot = this.#free === NONE ? this.#allocateNew() : this.#free;
    if (slot === this.#free) this.#free = this.next[slot] as number;
    this.state[slot] = ORDER_STATE.fresh;
    this.pending[slot] = 0;
    return slot;
  }

  release(slot: number): void {
    this.state[slot] = ORDER_STATE.free;
    this.next[slot] = this.#free;
    this.#free = slot;
  }

  /** What is not filled, optimistically; never below 0. */
  remaining(slot: number): number {
    const remaining = (this.quantity[slot] as number) - (this.filled[slot] as number);
    return Math.max(remaining, 0);
  }

  sideOf(slot: number): Side {
    return this.side[slot] as Side;
  }

  tifOf(slot: number): Tif {
    return this.tif[slot] as Tif;
  }

  #allocateNew(): number {
    if (this.#used === this.next.length) this.#grow();
    return this.#used++;
  }

  #grow(): void {
    const capacity = this.next.length * 2;
    this.next = grown(this.next, capacity);
    this.previous = grown(this.previous, capacity);
    this.level = grown(this.level, capacity);
    this.price = grown(this.price, capacity);
    this.quantity = grown(this.quantity, capacity);
    this.filled = grown(this.filled, capacity);
    this.sequence = grown(this.sequence, capacity);
    this.priority = grown(this.priority, capacity);
    this.timestampNs = grown(this.timestampNs, capacity);
    this.expiryNs = grown(this.expiryNs, capacity);
    this.expiryWords = new Uint32Array(this.expiryNs.buffer);
    this.expiryNext = grown(this.expiryNext, capacity);
    this.expiryPrevious = grown(this.expiryPrevious, capacity);
    this.id = grown(this.id, capacity);
    this.pending = grown(this.pending, capacity);
    this.side = grown(this.side, capacity);
    this.tif = grown(this.tif, capacity);
    this.flags = grown(this.flags, capacity);
    this.state = grown(this.state, capacity);
    this.end = grown(this.end, capacity);
  }
}
