/**
 * Orders of one market: live, waiting for a trigger, or with undecided fills.
 *
 * A record is two neighbouring cache lines: the first is what matching touches, the second what ids, replaces and expiry
 * need. A slot is the index of a record's first 32-bit word; its 64-bit cells start at half of it.
 *
 *   cell    0      1         2       3
 *           price  quantity  filled  sequence
 *   word    8      9         10    11       12       13     14     15
 *           level  position  user  id hash  pending  terms  state  id bytes
 *   word   16, 17    18, 19     20, 21  22, 23    24 … 31
 *          priority  timestamp  expiry  creation  the id, or in word 24 where it lies if it is longer than 32 bytes
 *
 *   RESTING           on the book; quantity − filled > 0
 *   DORMANT           waits for its trigger or for the word that releases it (triggers.ts)
 *   FILLED            nothing left, every fill pending or confirmed; a rollback may bring it back (AMB-32 b)
 *   FILLED_COVERED    FILLED, and a cancel came: it never comes back (AMB-23, AMB-32 d)
 *   ENDED             its end was told; only pending fills keep it here
 *   FORGOTTEN         counted no more; its slot is kept until its id is written down (order-ids.ts)
 *
 * Between `allocate` and the end of its create an order is FRESH.
 *
 * `filled` is optimistic: pending fills count, rolled-back ones do not (ORD-23). It exceeds `quantity` only after a
 * replace to less than is filled (AMB-19). An order that is neither RESTING nor DORMANT and has no undecided fill leaves
 * the pool.
 *
 * The arrays are replaced when the pool grows, which only `allocate` does: whoever works on them takes them anew.
 */
import { must } from '../core/assert.ts';
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
  forgotten: 7,
} as const;

export const ORDER_WORDS = 32;
/** Of memory, 4 KiB. */
const PAGE_WORDS = 1_024;
/** From a slot to its number. */
const NUMBER = 5;
/** Cells: offsets into `numbers` from half of the slot. */
const PRICE = 0;
/** The total in force. */
const QUANTITY = 1;
const FILLED = 2;
/** Of its admission: the order's name. */
const SEQUENCE = 3;
/** Gives the place in the queue. */
const PRIORITY = 8;
/** Words: offsets into `words` from the slot. While RESTING: its level, and its position in the level's queue. */
export const LEVEL = 8;
export const POSITION = 9;
/** While FORGOTTEN: its place among those that wait to be written down. */
const PLACE = 8;
/** While free: the next free slot. */
const NEXT_FREE = 8;
const USER = 10;
/** The hash under which its id is found. */
const ID_HASH = 11;
/** Undecided fills. */
export const PENDING = 12;
/** side | tif << 1 | kind << 4 | flags << 8 | sub-account << 16. */
const TERMS = 13;
/** state | OrderEnd << 8, the end once ENDED | marks << 16. */
const STATE = 14;
const ID_BYTES = 15;
const TIMESTAMP_HIGH = 18;
const TIMESTAMP_LOW = 19;
const EXPIRY_HIGH = 20;
const EXPIRY_LOW = 21;
const CREATION_HIGH = 22;
const CREATION_LOW = 23;
const ID = 24;
/** Ids of up to so many words lie in the record. */
export const INLINE_ID_WORDS: number = ORDER_WORDS - ID;

/**
 * `hasChildren`, and `waits` while triggers.ts knows it; `wasConditional` for ever, as such an order is no parent
 * (TRG-06); `isWatched` while it stands in the heap of the expiry watch.
 */
export const MARK = { hasChildren: 0x1_0000, waits: 0x2_0000, wasConditional: 0x4_0000, isWatched: 0x8_0000 } as const;
const MARKS = ~0xffff;
/**
 * Slots are 31-bit numbers: of words, 32 of them an order. One slot more may be FORGOTTEN: when a create comes, fewer
 * ids wait than are written down at a time, which is two (order-ids.ts).
 */
export const ORDERS_MAX: number = 2 ** 26 - 1;

/** What an order starts with. */
export interface OrderTerms {
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly flags: number;
  readonly subAccount: number;
  readonly price: number;
}

/** Terms and times. */
export interface NewTerms extends OrderTerms {
  readonly creationHigh: number;
  readonly creationLow: number;
  readonly expiryHigh: number;
  readonly expiryLow: number;
}

export class OrderPool {
  words: Int32Array<ArrayBuffer>;
  numbers: Float64Array<ArrayBuffer>;
  /** The user of every slot number, NONE for a free one: what a cancel-all looks through. */
  owners: Int32Array<ArrayBuffer>;
  #used = 0;
  /** Where the pool will grow to, while its last 32nd part fills, and how much of it is at hand. */
  #next: Int32Array<ArrayBuffer> | null = null;
  #nextReady = 0;
  #count = 0;
  #free: number = NONE;

  constructor(capacity: number) {
    this.words = new Int32Array(capacity * ORDER_WORDS);
    this.numbers = new Float64Array(this.words.buffer);
    this.owners = new Int32Array(capacity);
  }

  /** Orders in the pool. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.words.byteLength + this.owners.byteLength + (this.#next?.byteLength ?? 0);
  }

  /** A FRESH order without a sequence, an id and times. */
  allocate(terms: OrderTerms, user: number, quantity: number): number {
    const slot = this.#allocate();
    const { words, numbers } = this;
    const cell = slot >> 1;
    this.owners[slot >> NUMBER] = user;
    words[slot + USER] = user;
    words[slot + STATE] = ORDER_STATE.fresh;
    words[slot + PENDING] = 0;
    words[slot + TERMS] =
      terms.side | (terms.tif << 1) | (terms.kind << 4) | (terms.flags << 8) | (terms.subAccount << 16);
    numbers[cell + PRICE] = terms.price;
    numbers[cell + QUANTITY] = quantity;
    numbers[cell + FILLED] = 0;
    return slot;
  }

  /**
   * A FRESH order with its name and times: `allocate` and the setters in one, because every create passes here and the
   * compiler does not inline so many calls.
   */
  begin(command: NewTerms, user: number, quantity: number, sequence: number): number {
    const slot = this.allocate(command, user, quantity);
    const { words, numbers } = this;
    const { creationHigh, creationLow } = command;
    numbers[(slot >> 1) + SEQUENCE] = sequence;
    numbers[(slot >> 1) + PRIORITY] = sequence;
    words[slot + TIMESTAMP_HIGH] = creationHigh;
    words[slot + TIMESTAMP_LOW] = creationLow;
    words[slot + EXPIRY_HIGH] = command.expiryHigh;
    words[slot + EXPIRY_LOW] = command.expiryLow;
    words[slot + CREATION_HIGH] = creationHigh;
    words[slot + CREATION_LOW] = creationLow;
    return slot;
  }

  /** The order is over: it counts no more, and nobody finds it here. Its slot waits to be released, in this place. */
  retire(slot: number, place: number): void {
    this.#count--;
    this.words[slot + PLACE] = place;
    this.owners[slot >> NUMBER] = NONE;
    this.setState(slot, ORDER_STATE.forgotten);
  }

  /** Of a FORGOTTEN slot. */
  placeOf(slot: number): number {
    return this.words[slot + PLACE] as number;
  }

  /** Another order may have the slot of one that is FORGOTTEN. */
  release(slot: number): void {
    this.words[slot + STATE] = ORDER_STATE.free;
    this.words[slot + NEXT_FREE] = this.#free;
    this.#free = slot;
  }

  /** Every slot in use. */
  forEach(visit: (slot: number) => void): void {
    const end = this.#used >> NUMBER;
    for (let number = 0; number < end; number++) if (this.owners[number] !== NONE) visit(number << NUMBER);
  }

  /** The user's orders by admission. Looks through all slot numbers: 4 bytes each, a millisecond for a million. */
  ofUser(user: number): number[] {
    const { owners } = this;
    const found: number[] = [];
    const end = this.#used >> NUMBER;
    for (let number = 0; number < end; number++) if (owners[number] === user) found.push(number << NUMBER);
    return found.sort((a, b) => this.sequenceOf(a) - this.sequenceOf(b));
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
    return Math.max(left, 0);
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

  /** Creation, raised by applied replaces (AMB-18, AMB-21). */
  timestampHigh(slot: number): number {
    return (this.words[slot + TIMESTAMP_HIGH] as number) >>> 0;
  }

  timestampLow(slot: number): number {
    return (this.words[slot + TIMESTAMP_LOW] as number) >>> 0;
  }

  setTimestamp(slot: number, high: number, low: number): void {
    this.words[slot + TIMESTAMP_HIGH] = high;
    this.words[slot + TIMESTAMP_LOW] = low;
  }

  expiryHigh(slot: number): number {
    return (this.words[slot + EXPIRY_HIGH] as number) >>> 0;
  }

  expiryLow(slot: number): number {
    return (this.words[slot + EXPIRY_LOW] as number) >>> 0;
  }

  setExpiry(slot: number, high: number, low: number): void {
    this.words[slot + EXPIRY_HIGH] = high;
    this.words[slot + EXPIRY_LOW] = low;
  }

  creationHigh(slot: number): number {
    return (this.words[slot + CREATION_HIGH] as number) >>> 0;
  }

  creationLow(slot: number): number {
    return (this.words[slot + CREATION_LOW] as number) >>> 0;
  }

  /** The words of the creation as they lie, with a sign. */
  creationHighRaw(slot: number): number {
    return this.words[slot + CREATION_HIGH] as number;
  }

  creationLowRaw(slot: number): number {
    return this.words[slot + CREATION_LOW] as number;
  }

  setCreation(slot: number, high: number, low: number): void {
    this.words[slot + CREATION_HIGH] = high;
    this.words[slot + CREATION_LOW] = low;
  }

  /** New terms by a replace. */
  setPriceAndQuantity(slot: number, price: number, quantity: number): void {
    this.numbers[(slot >> 1) + PRICE] = price;
    this.numbers[(slot >> 1) + QUANTITY] = quantity;
  }

  userOf(slot: number): number {
    return this.words[slot + USER] as number;
  }

  idHashOf(slot: number): number {
    return this.words[slot + ID_HASH] as number;
  }

  /** Length of the id. */
  idBytesOf(slot: number): number {
    return this.words[slot + ID_BYTES] as number;
  }

  /** Index in `words` of the id, or of the word that says where a long one lies. */
  idAt(slot: number): number {
    return slot + ID;
  }

  setId(slot: number, hash: number, bytes: number): void {
    this.words[slot + ID_HASH] = hash;
    this.words[slot + ID_BYTES] = bytes;
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
    this.#count++;
    const slot = this.#free;
    if (slot !== NONE) {
      this.#free = this.words[slot + NEXT_FREE] as number;
      return slot;
    }
    if (this.#used >= this.words.length - (this.words.length >> 5)) this.#prepare();
    if (this.#used === this.words.length) this.#grow();
    this.#used += ORDER_WORDS;
    return this.#used - ORDER_WORDS;
  }

  /**
   * A page of the next array for each order of the last 32nd, which is as many as will be copied: the first touch of a page costs the kernel a microsecond or two, and all of them at once
   * would stop a large market for as long as a hundred thousand orders take.
   */
  #prepare(): void {
    this.#next ??= new Int32Array(this.words.length * 2);
    if (this.#nextReady >= this.words.length) return;
    this.#next[this.#nextReady] = 0;
    this.#nextReady += PAGE_WORDS;
  }

  #grow(): void {
    const next = must(this.#next, 'a pool is prepared before it grows');
    next.set(this.words);
    this.words = next;
    this.numbers = new Float64Array(next.buffer);
    this.owners = grown(this.owners, this.owners.length * 2);
    this.#next = null;
    this.#nextReady = 0;
  }
}
