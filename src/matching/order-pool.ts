/**
 * Orders of one market, live or with undecided fills: records of 96 bytes in one array, so that an order touches two
 * cache lines. A slot is the index of a record's first 32-bit word; its 64-bit cells start at half of it.
 *
 *   cell    0      1         2       3         4         5             6
 *           price  quantity  filled  sequence  priority  timestamp ns  expiry ns
 *   word   14    15        16     17           18               19  20       21     22
 *          next  previous  level  expiry next  expiry previous  id  pending  terms  state
 *
 *   RESTING           on the book; quantity − filled > 0
 *   FILLED            nothing left, every fill pending or confirmed; a rollback may bring it back (AMB-32 b)
 *   FILLED_COVERED    FILLED, and a cancel came: it never comes back (AMB-23, AMB-32 d)
 *   ENDED             its end was told; only pending fills keep it here
 *
 * Between `allocate` and the end of its create an order is FRESH.
 *
 * `filled` is optimistic: pending fills count, rolled-back ones do not (ORD-23). It exceeds `quantity` only after a
 * replace to less than is filled (AMB-19). An order that is not RESTING and has no undecided fill leaves the pool.
 *
 * The arrays are replaced when the pool grows, which only `allocate` does: whoever works on them takes them anew.
 */
import type { OrderEnd, Side, Tif } from '../core/order-terms.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { grown, NONE } from './pools.ts';

export const ORDER_STATE = { free: 0, fresh: 1, resting: 2, filled: 3, filledCovered: 4, ended: 5 } as const;

export const ORDER_WORDS = 24;
/** Cells: offsets into `numbers` and `times` from half of the slot. */
export const PRICE = 0;
/** The total in force. */
export const QUANTITY = 1;
export const FILLED = 2;
/** Of its admission: the order's name. */
export const SEQUENCE = 3;
/** Gives the place in the queue. */
export const PRIORITY = 4;
/** Creation, raised by applied replaces (AMB-18, AMB-21). */
export const TIMESTAMP = 5;
export const EXPIRY = 6;
/** Words: offsets into `words` from the slot. Neighbours in the level's queue; NEXT also links free slots. */
export const NEXT = 14;
export const PREVIOUS = 15;
/** While RESTING: its level on its side of the book. */
export const LEVEL = 16;
/** Neighbours in the expiry bucket; the first one's PREVIOUS is −2 − bucket. */
export const EXPIRY_NEXT = 17;
export const EXPIRY_PREVIOUS = 18;
/** Its entry in the order-id table. */
export const ID = 19;
/** Undecided fills. */
export const PENDING = 20;
/** side | tif << 8 | flags << 16. */
export const TERMS = 21;
/** state | OrderEnd << 8, the end once ENDED. */
export const STATE = 22;

/** What an order starts with. */
export interface OrderTerms {
  readonly side: Side;
  readonly tif: Tif;
  readonly flags: number;
  readonly price: number;
  readonly quantity: number;
  readonly expiryNs: TimestampNs;
}

export class OrderPool {
  words: Int32Array<ArrayBuffer>;
  numbers: Float64Array<ArrayBuffer>;
  times: BigUint64Array<ArrayBuffer>;
  #used = 0;
  #free: number = NONE;

  constructor(capacity: number) {
    this.words = new Int32Array(capacity * ORDER_WORDS);
    this.numbers = new Float64Array(this.words.buffer);
    this.times = new BigUint64Array(this.words.buffer);
  }

  /** A FRESH order without a sequence, an id and a timestamp. */
  allocate(terms: OrderTerms): number {
    const slot = this.#allocate();
    const { words, numbers } = this;
    const cell = slot >> 1;
    words[slot + STATE] = ORDER_STATE.fresh;
    words[slot + PENDING] = 0;
    words[slot + TERMS] = terms.side | (terms.tif << 8) | (terms.flags << 16);
    numbers[cell + PRICE] = terms.price;
    numbers[cell + QUANTITY] = terms.quantity;
    numbers[cell + FILLED] = 0;
    this.times[cell + EXPIRY] = terms.expiryNs;
    return slot;
  }

  release(slot: number): void {
    this.words[slot + STATE] = ORDER_STATE.free;
    this.words[slot + NEXT] = this.#free;
    this.#free = slot;
  }

  priceOf(slot: number): number {
    return this.numbers[(slot >> 1) + PRICE] as number;
  }

  quantityOf(slot: number): number {
    return this.numbers[(slot >> 1) + QUANTITY] as number;
  }

  filledOf(slot: number): number {
    return this.numbers[(slot >> 1) + FILLED] as number;
  }

  setFilled(slot: number, filled: number): void {
    this.numbers[(slot >> 1) + FILLED] = filled;
  }

  /** What is not filled, optimistically; never below 0. */
  remaining(slot: number): number {
    return Math.max(this.quantityOf(slot) - this.filledOf(slot), 0);
  }

  sequenceOf(slot: number): Sequence {
    return this.numbers[(slot >> 1) + SEQUENCE] as Sequence;
  }

  setSequence(slot: number, sequence: number): void {
    this.numbers[(slot >> 1) + SEQUENCE] = sequence;
  }

  priorityOf(slot: number): Sequence {
    return this.numbers[(slot >> 1) + PRIORITY] as Sequence;
  }

  setPriority(slot: number, sequence: number): void {
    this.numbers[(slot >> 1) + PRIORITY] = sequence;
  }

  timestampOf(slot: number): bigint {
    return this.times[(slot >> 1) + TIMESTAMP] as bigint;
  }

  setTimestamp(slot: number, timestampNs: bigint): void {
    this.times[(slot >> 1) + TIMESTAMP] = timestampNs;
  }

  expiryOf(slot: number): bigint {
    return this.times[(slot >> 1) + EXPIRY] as bigint;
  }

  /** New terms by a replace. */
  setPriceAndQuantity(slot: number, price: number, quantity: number): void {
    this.numbers[(slot >> 1) + PRICE] = price;
    this.numbers[(slot >> 1) + QUANTITY] = quantity;
  }

  idOf(slot: number): number {
    return this.words[slot + ID] as number;
  }

  setId(slot: number, id: number): void {
    this.words[slot + ID] = id;
  }

  pendingOf(slot: number): number {
    return this.words[slot + PENDING] as number;
  }

  setPending(slot: number, pending: number): void {
    this.words[slot + PENDING] = pending;
  }

  sideOf(slot: number): Side {
    return ((this.words[slot + TERMS] as number) & 1) as Side;
  }

  tifOf(slot: number): Tif {
    return (((this.words[slot + TERMS] as number) >> 8) & 0xff) as Tif;
  }

  flagsOf(slot: number): number {
    return (this.words[slot + TERMS] as number) >> 16;
  }

  stateOf(slot: number): number {
    return (this.words[slot + STATE] as number) & 0xff;
  }

  setState(slot: number, state: number): void {
    this.words[slot + STATE] = state;
  }

  /** Of an ENDED order. */
  endOf(slot: number): OrderEnd {
    return ((this.words[slot + STATE] as number) >> 8) as OrderEnd;
  }

  setEnded(slot: number, end: OrderEnd): void {
    this.words[slot + STATE] = ORDER_STATE.ended | (end << 8);
  }

  #allocate(): number {
    const slot = this.#free;
    if (slot !== NONE) {
      this.#free = this.words[slot + NEXT] as number;
      return slot;
    }
    if (this.#used === this.words.length) {
      this.words = grown(this.words, this.words.length * 2);
      this.numbers = new Float64Array(this.words.buffer);
      this.times = new BigUint64Array(this.words.buffer);
    }
    this.#used += ORDER_WORDS;
    return this.#used - ORDER_WORDS;
  }
}
