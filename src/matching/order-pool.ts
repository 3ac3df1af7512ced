/**
 * Orders of one market: live, waiting for a trigger, or with undecided fills.
 *
 * What matching touches is one cache line of 64 bytes; what it seldom needs lies beside it. A slot is the index of a
 * record's first 32-bit word; its 64-bit cells start at half of it, its place in the side arrays is a sixteenth.
 *
 *   cell    0      1         2       3
 *           price  quantity  filled  sequence
 *   word    8     9         10     11  12       13       14     15
 *           next  previous  level  id  id hash  pending  terms  state
 *   beside  priority, timestamp, expiry
 *
 *   RESTING           on the book; quantity − filled > 0
 *   DORMANT           waits for its trigger or for the word that releases it (triggers.ts)
 *   FILLED            nothing left, every fill pending or confirmed; a rollback may bring it back (AMB-32 b)
 *   FILLED_COVERED    FILLED, and a cancel came: it never comes back (AMB-23, AMB-32 d)
 *   ENDED             its end was told; only pending fills keep it here
 *
 * Between `allocate` and the end of its create an order is FRESH.
 *
 * `filled` is optimistic: pending fills count, rolled-back ones do not (ORD-23). It exceeds `quantity` only after a
 * replace to less than is filled (AMB-19). An order that is neither RESTING nor DORMANT and has no undecided fill leaves
 * the pool.
 *
 * The arrays are replaced when the pool grows, which only `allocate` does: whoever works on them takes them anew.
 */
import type { OrderEnd, OrderKind, Side, Tif } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { grown, NONE } from './pools.ts';

export const ORDER_STATE = {
  free: 0,
  fresh: 1,
  resting: 2,
  dormant: 3,
  filled: 4,
  filledCovered: 5,
  ended: 6,
} as const;

export const ORDER_WORDS = 16;
/** From a slot to its place in the side arrays. */
export const BESIDE = 4;
/** Cells: offsets into `numbers` from half of the slot. */
export const PRICE = 0;
/** The total in force. */
export const QUANTITY = 1;
export const FILLED = 2;
/** Of its admission: the order's name. */
export const SEQUENCE = 3;
/** Words: offsets into `words` from the slot. Neighbours in the level's queue; NEXT also links free slots. */
export const NEXT = 8;
export const PREVIOUS = 9;
/** While RESTING: its level on its side of the book. */
export const LEVEL = 10;
/** Its entry in the order-id table, and the hash under which it is found there. */
export const ID = 11;
export const ID_HASH = 12;
/** Undecided fills. */
export const PENDING = 13;
/** side | tif << 1 | kind << 4 | flags << 8 | sub-account << 16. */
export const TERMS = 14;
/** state | OrderEnd << 8, the end once ENDED | marks << 16. */
export const STATE = 15;

/**
 * `hasChildren`, and `waits` while triggers.ts knows it; `wasConditional` for ever, as such an order is no parent
 * (TRG-06); `isWatched` while it stands in the heap of the expiry watch.
 */
export const MARK = { hasChildren: 0x1_0000, waits: 0x2_0000, wasConditional: 0x4_0000, isWatched: 0x8_0000 } as const;
const MARKS = ~0xffff;
/** The high word of the expiry of a free slot: later than any. */
export const NEVER_HIGH = 0xffff_ffff;

/** What an order starts with. */
export interface OrderTerms {
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly flags: number;
  readonly subAccount: number;
  readonly price: number;
}

export class OrderPool {
  words: Int32Array<ArrayBuffer>;
  numbers: Float64Array<ArrayBuffer>;
  /** Gives the place in the queue. */
  priority: Float64Array<ArrayBuffer>;
  /** Creation, raised by applied replaces (AMB-18, AMB-21). */
  timestampHigh: Uint32Array<ArrayBuffer>;
  timestampLow: Uint32Array<ArrayBuffer>;
  expiryHigh: Uint32Array<ArrayBuffer>;
  expiryLow: Uint32Array<ArrayBuffer>;
  #used = 0;
  #free: number = NONE;

  constructor(capacity: number) {
    this.words = new Int32Array(capacity * ORDER_WORDS);
    this.numbers = new Float64Array(this.words.buffer);
    this.priority = new Float64Array(capacity);
    this.timestampHigh = new Uint32Array(capacity);
    this.timestampLow = new Uint32Array(capacity);
    this.expiryHigh = new Uint32Array(capacity).fill(NEVER_HIGH);
    this.expiryLow = new Uint32Array(capacity);
  }

  /** End of the slots that were ever given out. */
  get end(): number {
    return this.#used;
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.words.byteLength + this.priority.byteLength + this.expiryHigh.byteLength * 4;
  }

  /** A FRESH order without a sequence, an id and times. */
  allocate(terms: OrderTerms, quantity: number): number {
    const slot = this.#allocate();
    const { words, numbers } = this;
    const cell = slot >> 1;
    words[slot + STATE] = ORDER_STATE.fresh;
    words[slot + PENDING] = 0;
    words[slot + TERMS] =
      terms.side | (terms.tif << 1) | (terms.kind << 4) | (terms.flags << 8) | (terms.subAccount << 16);
    numbers[cell + PRICE] = terms.price;
    numbers[cell + QUANTITY] = quantity;
    numbers[cell + FILLED] = 0;
    return slot;
  }

  release(slot: number): void {
    this.words[slot + STATE] = ORDER_STATE.free;
    this.words[slot + NEXT] = this.#free;
    this.expiryHigh[slot >> BESIDE] = NEVER_HIGH;
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
    const left = this.quantityOf(slot) - this.filledOf(slot);
    return left > 0 ? left : 0;
  }

  sequenceOf(slot: number): Sequence {
    return this.numbers[(slot >> 1) + SEQUENCE] as Sequence;
  }

  setSequence(slot: number, sequence: number): void {
    this.numbers[(slot >> 1) + SEQUENCE] = sequence;
  }

  priorityOf(slot: number): Sequence {
    return this.priority[slot >> BESIDE] as Sequence;
  }

  setPriority(slot: number, sequence: number): void {
    this.priority[slot >> BESIDE] = sequence;
  }

  setTimestamp(slot: number, high: number, low: number): void {
    this.timestampHigh[slot >> BESIDE] = high;
    this.timestampLow[slot >> BESIDE] = low;
  }

  setExpiry(slot: number, high: number, low: number): void {
    this.expiryHigh[slot >> BESIDE] = high;
    this.expiryLow[slot >> BESIDE] = low;
  }

  /** New terms by a replace. */
  setPriceAndQuantity(slot: number, price: number, quantity: number): void {
    this.numbers[(slot >> 1) + PRICE] = price;
    this.numbers[(slot >> 1) + QUANTITY] = quantity;
  }

  idOf(slot: number): number {
    return this.words[slot + ID] as number;
  }

  idHashOf(slot: number): number {
    return this.words[slot + ID_HASH] as number;
  }

  setId(slot: number, id: number, hash: number): void {
    this.words[slot + ID] = id;
    this.words[slot + ID_HASH] = hash;
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
    return (((this.words[slot + TERMS] as number) >> 1) & 7) as Tif;
  }

  kindOf(slot: number): OrderKind {
    return (((this.words[slot + TERMS] as number) >> 4) & 15) as OrderKind;
  }

  flagsOf(slot: number): number {
    return ((this.words[slot + TERMS] as number) >> 8) & 0xff;
  }

  subAccountOf(slot: number): number {
    return (this.words[slot + TERMS] as number) >>> 16;
  }

  stateOf(slot: number): number {
    return (this.words[slot + STATE] as number) & 0xff;
  }

  /** Keeps the marks. */
  setState(slot: number, state: number): void {
    this.words[slot + STATE] = ((this.words[slot + STATE] as number) & MARKS) | state;
  }

  /** Of an ENDED order. */
  endOf(slot: number): OrderEnd {
    return (((this.words[slot + STATE] as number) >> 8) & 0xff) as OrderEnd;
  }

  setEnded(slot: number, end: OrderEnd): void {
    this.setState(slot, ORDER_STATE.ended | (end << 8));
  }

  hasMark(slot: number, mark: number): boolean {
    return ((this.words[slot + STATE] as number) & mark) !== 0;
  }

  mark(slot: number, mark: number): void {
    this.words[slot + STATE] = (this.words[slot + STATE] as number) | mark;
  }

  unmark(slot: number, mark: number): void {
    this.words[slot + STATE] = (this.words[slot + STATE] as number) & ~mark;
  }

  #allocate(): number {
    const slot = this.#free;
    if (slot !== NONE) {
      this.#free = this.words[slot + NEXT] as number;
      return slot;
    }
    if (this.#used === this.words.length) this.#grow(this.words.length >> BESIDE);
    this.#used += ORDER_WORDS;
    return this.#used - ORDER_WORDS;
  }

  #grow(capacity: number): void {
    this.words = grown(this.words, capacity * 2 * ORDER_WORDS);
    this.numbers = new Float64Array(this.words.buffer);
    this.priority = grown(this.priority, capacity * 2);
    this.timestampHigh = grown(this.timestampHigh, capacity * 2);
    this.timestampLow = grown(this.timestampLow, capacity * 2);
    this.expiryHigh = grown(this.expiryHigh, capacity * 2).fill(NEVER_HIGH, capacity);
    this.expiryLow = grown(this.expiryLow, capacity * 2);
  }
}
