/**
 * The hot records of orders: what matching touches of each, 64 bytes, one cache line.
 *
 * An order's index is that of its record's first 32-bit word; its 64-bit cells start at half of it.
 *
 *   cell    0      1         2       3
 *           price  quantity  filled  sequence
 *   word    8      9         10, 11    12       13       14     15
 *           level  position  creation  id hash  pending  terms  state
 *
 *   RESTING           on the book; quantity − filled > 0
 *   DORMANT           waits for its trigger or for its release by the gateway (triggers.ts)
 *   FILLED            no remainder, every fill pending or confirmed; a rollback may return it to the book (AMB-32 b),
 *                     unless a rollback found it at fault while it had no remainder
 *   FILLED_CANCEL_PENDING    FILLED with a cancel pending: it cannot return to the book (AMB-23, AMB-32 d)
 *   ENDED             its end is published; it stays only for its pending fills
 *
 * Between `allocate` and the end of its create an order is FRESH.
 *
 * `filled` is optimistic: pending fills count, rolled-back ones do not (ORD-23). It exceeds `quantity` only after a
 * replace to less than is filled (AMB-19).
 *
 * The allocation of entries, their owners, ids and rarely stored times are in order-pool.ts.
 */
import type { OrderEnd, OrderKind, RollbackReason, Side, Tif } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';

export const ORDER_STATE = {
  free: 0,
  fresh: 1,
  resting: 2,
  dormant: 3,
  filled: 4,
  filledCancelPending: 5,
  ended: 6,
} as const;

export const ORDER_WORDS = 16;
/** Cells: offsets into `numbers` from half of the index. */
const PRICE = 0;
/** The released total. */
const QUANTITY = 1;
const FILLED = 2;
/** Sequence of its acceptance: the order's identity. */
const SEQUENCE = 3;
/** Words: offsets into `words` from the index. While RESTING: its level, and its position in the level's queue. */
export const LEVEL = 8;
export const POSITION = 9;
/** While free: the next free entry. */
const NEXT_FREE = 8;
const CREATION_HIGH = 10;
const CREATION_LOW = 11;
/** Hash of its id. */
const ID_HASH = 12;
/** Number of undecided fills. */
export const PENDING = 13;
/** side | tif << 1 | kind << 4 | flags << 8 | sub-account << 16. */
const TERMS = 14;
/**
 * state | OrderEnd of an ENDED or a FILLED_CANCEL_PENDING order, fault of a FILLED one << 8 | marks << 16 | length of the
 * id << 24.
 */
const STATE = 15;
const ID_BYTES_SHIFT = 24;

/**
 * `isMember` of a group of protection (protection.ts). `hasChildren`, and `waits` while it is in triggers.ts; `wasConditional` permanently, because such an order cannot be
 * a parent (TRG-06); `isWatched` while it is in the heap of the expiry watch. `hasOwnTimes` and `isFar` (an id stored
 * apart) belong to the pool.
 */
export const MARK = {
  hasChildren: 0x1_0000,
  waits: 0x2_0000,
  wasConditional: 0x4_0000,
  isWatched: 0x8_0000,
  hasOwnTimes: 0x10_0000,
  isFar: 0x20_0000,
  isMember: 0x40_0000,
} as const;
/** Everything but state and end. */
const MARKS = ~0xffff;

/** The initial terms of an order. */
export interface MatchingTerms {
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly flags: number;
  readonly subAccount: number;
  readonly price: number;
}

/** Terms and times. */
export interface NewTerms extends MatchingTerms {
  readonly creationHigh: number;
  readonly creationLow: number;
  readonly expiryHigh: number;
  readonly expiryLow: number;
}

export class OrderRecords {
  words: Int32Array;
  numbers: Float64Array;

  constructor(capacity: number) {
    this.words = new Int32Array(capacity * ORDER_WORDS);
    this.numbers = new Float64Array(this.words.buffer);
  }

  /** Writes a FRESH order, unfilled, without a sequence, a creation time and an id. */
  writeNew(index: number, terms: MatchingTerms, quantity: number): void {
    const { words, numbers } = this;
    const cell = index >> 1;
    words[index + STATE] = ORDER_STATE.fresh;
    words[index + PENDING] = 0;
    words[index + TERMS] =
      terms.side | (terms.tif << 1) | (terms.kind << 4) | (terms.flags << 8) | (terms.subAccount << 16);
    numbers[cell + PRICE] = terms.price;
    numbers[cell + QUANTITY] = quantity;
    numbers[cell + FILLED] = 0;
  }

  writeBegun(index: number, sequence: number, creationHigh: number, creationLow: number): void {
    this.numbers[(index >> 1) + SEQUENCE] = sequence;
    this.words[index + CREATION_HIGH] = creationHigh;
    this.words[index + CREATION_LOW] = creationLow;
  }

  writeId(index: number, hash: number, bytes: number): void {
    this.words[index + ID_HASH] = hash;
    this.words[index + STATE] = (this.words[index + STATE] as number) | (bytes << ID_BYTES_SHIFT);
  }

  writeFree(index: number, next: number): void {
    this.words[index + STATE] = ORDER_STATE.free;
    this.words[index + NEXT_FREE] = next;
  }

  nextFreeOf(index: number): number {
    return this.words[index + NEXT_FREE] as number;
  }

  priceOf(index: number): number {
    return this.numbers[(index >> 1) + PRICE] as number;
  }

  quantityOf(index: number): number {
    return this.numbers[(index >> 1) + QUANTITY] as number;
  }

  filledOf(index: number): number {
    return this.numbers[(index >> 1) + FILLED] as number;
  }

  setFilled(index: number, filled: number): void {
    this.numbers[(index >> 1) + FILLED] = filled;
  }

  /** The optimistic unfilled quantity; at least 0. */
  remaining(index: number): number {
    const left = this.quantityOf(index) - this.filledOf(index);
    return Math.max(left, 0);
  }

  sequenceOf(index: number): Sequence {
    return this.numbers[(index >> 1) + SEQUENCE] as Sequence;
  }

  setSequence(index: number, sequence: number): void {
    this.numbers[(index >> 1) + SEQUENCE] = sequence;
  }

  creationHigh(index: number): number {
    return (this.words[index + CREATION_HIGH] as number) >>> 0;
  }

  creationLow(index: number): number {
    return (this.words[index + CREATION_LOW] as number) >>> 0;
  }

  /** The words of the creation time, signed. */
  creationHighRaw(index: number): number {
    return this.words[index + CREATION_HIGH] as number;
  }

  creationLowRaw(index: number): number {
    return this.words[index + CREATION_LOW] as number;
  }

  setCreation(index: number, high: number, low: number): void {
    this.words[index + CREATION_HIGH] = high;
    this.words[index + CREATION_LOW] = low;
  }

  /** Sets new terms after a replace. */
  setPriceAndQuantity(index: number, price: number, quantity: number): void {
    this.numbers[(index >> 1) + PRICE] = price;
    this.numbers[(index >> 1) + QUANTITY] = quantity;
  }

  idHashOf(index: number): number {
    return this.words[index + ID_HASH] as number;
  }

  /** Length of the id. */
  idBytesOf(index: number): number {
    return (this.words[index + STATE] as number) >>> ID_BYTES_SHIFT;
  }

  pendingOf(index: number): number {
    return this.words[index + PENDING] as number;
  }

  setPending(index: number, pending: number): void {
    this.words[index + PENDING] = pending;
  }

  sideOf(index: number): Side {
    return ((this.words[index + TERMS] as number) & 1) as Side;
  }

  tifOf(index: number): Tif {
    return (((this.words[index + TERMS] as number) >> 1) & 7) as Tif;
  }

  setTif(index: number, tif: Tif): void {
    const at = index + TERMS;
    this.words[at] = ((this.words[at] as number) & ~(7 << 1)) | (tif << 1);
  }

  kindOf(index: number): OrderKind {
    return (((this.words[index + TERMS] as number) >> 4) & 15) as OrderKind;
  }

  flagsOf(index: number): number {
    return ((this.words[index + TERMS] as number) >> 8) & 0xff;
  }

  subAccountOf(index: number): number {
    return (this.words[index + TERMS] as number) >>> 16;
  }

  stateOf(index: number): number {
    return (this.words[index + STATE] as number) & 0xff;
  }

  /** Keeps the marks. */
  setState(index: number, state: number): void {
    this.words[index + STATE] = ((this.words[index + STATE] as number) & MARKS) | state;
  }

  /** For an ENDED order, and the end that a FILLED_CANCEL_PENDING one gets when it is short. */
  endOf(index: number): OrderEnd {
    return (((this.words[index + STATE] as number) >> 8) & 0xff) as OrderEnd;
  }

  setEnded(index: number, end: OrderEnd): void {
    this.setState(index, ORDER_STATE.ended | (end << 8));
  }

  setCancelPending(index: number, end: OrderEnd): void {
    this.setState(index, ORDER_STATE.filledCancelPending | (end << 8));
  }

  /** For a FILLED order: its fault in a rolled-back fill that left no remainder; `none` without such a fault. */
  faultOf(index: number): RollbackReason {
    return (((this.words[index + STATE] as number) >> 8) & 0xff) as RollbackReason;
  }

  setFault(index: number, reason: RollbackReason): void {
    this.setState(index, ORDER_STATE.filled | (reason << 8));
  }

  hasMark(index: number, mark: number): boolean {
    return ((this.words[index + STATE] as number) & mark) !== 0;
  }

  mark(index: number, mark: number): void {
    this.words[index + STATE] = (this.words[index + STATE] as number) | mark;
  }

  unmark(index: number, mark: number): void {
    this.words[index + STATE] = (this.words[index + STATE] as number) & ~mark;
  }
}
