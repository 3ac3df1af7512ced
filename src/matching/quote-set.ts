/**
 * The quote sets of one market, and which order is an entry of which (QTE-02, QTE-06).
 *
 *   user ─▶ up to four slots ─▶ a set: name, revision, high-water mark ─▶ entries of each side, best price first
 *   order ─▶ OrderPool.quoteSets: the number of its set, NONE_SET, or OUT
 *
 * The entries of a set are the orders that its last revision left on the book. One that ended since is told from them by its
 * state and its sequence: nothing has to be done when an entry ends.
 *
 * A name is forgotten when another one takes the slot of a set that is over, or of which nothing is left to come: that one ends by it. What
 * must outlive it, that no old text is applied and no number given twice, is kept in `markFloor` and `numberFloor` of the slot that took its
 * place.
 */
import { QUOTE_SET_ID_BYTES_MAX, QUOTES_PER_SIDE_MAX } from '../core/limits.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import { isBefore } from '../core/time-words.ts';
import { countLots } from '../order/quote-lots.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';

/** Of an order that is no entry. */
const NONE_SET = 0;
/** Of an order that was an entry and was filled when a later revision was applied: it never returns to the book. */
const OUT: number = -1;
/** Sets of one user (wire: `max_quote_sets`). */
const QUOTE_SETS_PER_USER_MAX = 4;

const USER_WORDS = 8;
const ID_WORDS: number = QUOTE_SET_ID_BYTES_MAX / 4;
const COLON = 0x3a;
const ZERO = 0x30;
const TEN = 10;
/** Of the numbers of ids, which are safe integers. */
const NUMBER_DIGITS_MAX = 16;

/** Shift from an order's index to its number (order-pool.ts). */
const NUMBER = 4;

/** The entries of one side, best price first. */
export class QuoteSide {
  readonly indexes: Int32Array = new Int32Array(QUOTES_PER_SIDE_MAX);
  /** Sequences of the same orders: an index may be another order's by now. */
  readonly sequences: Float64Array = new Float64Array(QUOTES_PER_SIDE_MAX);
  count = 0;

  push(index: number, sequence: number): void {
    this.indexes[this.count] = index;
    this.sequences[this.count] = sequence;
    this.count += 1;
  }
}

export class MarketQuoteSet {
  /** In the table, from 1 on. */
  readonly number: number;
  readonly user: number;
  /** 1 to 4. */
  readonly slot: number;
  readonly userWords: Int32Array = new Int32Array(USER_WORDS);
  readonly nameWords: Int32Array = new Int32Array(ID_WORDS);
  nameBytes = 0;
  /** The revision in force; both 0 before the first. */
  revisionHigh = 0;
  revisionLow = 0;
  /** No revision up to it is applied. Not below the revision. */
  markHigh = 0;
  markLow = 0;
  /** Of all names that this slot and others had before. */
  markFloorHigh = 0;
  markFloorLow = 0;
  numberFloor = 0;
  goodUntilHigh = 0;
  goodUntilLow = 0;
  maxFeeRate = 0;
  subAccount = 0;
  flags = 0;
  protectionGroup = 0;
  /** Nothing of it lives. */
  isOver = false;
  /** The largest number of an entry's id. */
  lastNumber = 0;
  /** Trades up to it are of earlier revisions. */
  appliedTrade = 0;
  /** High word of the revision whose terms the entries have. */
  termsHigh = 0;
  /** Lots traded since the start, counted as in quote-lots.ts from what the gateway had counted when the name took its slot. */
  bought = 0;
  sold = 0;
  readonly bids: QuoteSide = new QuoteSide();
  readonly asks: QuoteSide = new QuoteSide();

  constructor(number: number, user: number, slot: number) {
    this.number = number;
    this.user = user;
    this.slot = slot;
  }

  side(side: Side): QuoteSide {
    return side === SIDE.buy ? this.bids : this.asks;
  }

  /** @param words with the name from word `at` on; bytes behind it are zero. */
  hasName(words: Int32Array, at: number, bytes: number): boolean {
    if (bytes !== this.nameBytes) return false;
    for (let word = 0; word << 2 < bytes; word += 1) if (words[at + word] !== this.nameWords[word]) return false;
    return true;
  }

  /** Whether the id is its name, a colon and a number that it has given or passed over. @param words as for `hasName`. */
  hasGiven(words: Int32Array, at: number, bytes: number): boolean {
    const { nameBytes } = this;
    const digits = bytes - nameBytes - 1;
    if (digits < 1 || digits > NUMBER_DIGITS_MAX) return false;
    for (let byte = 0; byte < nameBytes; byte += 1)
      if (byteOf(words, at, byte) !== byteOf(this.nameWords, 0, byte)) return false;
    if (byteOf(words, at, nameBytes) !== COLON || byteOf(words, at, nameBytes + 1) === ZERO) return false;
    let number = 0;
    for (let byte = nameBytes + 1; byte < bytes; byte += 1) {
      const digit = byteOf(words, at, byte) - ZERO;
      if (digit < 0 || digit >= TEN) return false;
      number = number * TEN + digit;
    }
    return number <= this.lastNumber;
  }

  setUser(words: Int32Array, at: number): void {
    for (let word = 0; word < USER_WORDS; word += 1) this.userWords[word] = words[at + word] as number;
  }

  setName(words: Int32Array, at: number, bytes: number): void {
    this.nameBytes = bytes;
    this.nameWords.fill(0);
    for (let word = 0; word << 2 < bytes; word += 1) this.nameWords[word] = words[at + word] as number;
  }

  /** @returns whether it is higher now. */
  raiseMark(high: number, low: number): boolean {
    if (!isBefore(this.markHigh, this.markLow, high, low)) return false;
    this.markHigh = high;
    this.markLow = low;
    return true;
  }
}

export class QuoteSetTable {
  readonly #orders: OrderPool;
  readonly #sets: MarketQuoteSet[] = [];
  /** By number of the user; at most four. */
  readonly #ofUser = new Map<number, MarketQuoteSet[]>();

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  /** The set of which the order is an entry of the last revision, or null. */
  of(index: number): MarketQuoteSet | null {
    const number = this.#orders.quoteSets[index >> NUMBER] as number;
    return number > NONE_SET ? (this.#sets[number - 1] as MarketQuoteSet) : null;
  }

  isOut(index: number): boolean {
    return this.#orders.quoteSets[index >> NUMBER] === OUT;
  }

  setOut(index: number): void {
    this.#orders.quoteSets[index >> NUMBER] = OUT;
  }

  /** Makes the order an entry. */
  enter(set: MarketQuoteSet, index: number): void {
    this.#orders.quoteSets[index >> NUMBER] = set.number;
  }

  /** Counts a match of an order, which may be an entry. */
  traded(index: number, lots: number): void {
    const number = this.#orders.quoteSets[index >> NUMBER] as number;
    if (number <= NONE_SET) return;
    const set = this.#sets[number - 1] as MarketQuoteSet;
    // mutant: unseen-lots
    if (this.#orders.sideOf(index) === SIDE.buy) set.bought = countLots(set.bought, lots);
    else set.sold = countLots(set.sold, lots);
  }

  /** The sets of a user, in no particular order. */
  ofUser(user: number): readonly MarketQuoteSet[] {
    return this.#ofUser.get(user) ?? NO_SETS;
  }

  /** The user's set of that name, or null. */
  find(user: number, words: Int32Array, at: number, bytes: number): MarketQuoteSet | null {
    for (const set of this.ofUser(user)) if (set.hasName(words, at, bytes)) return set;
    return null;
  }

  /** Whether a set of the user has given the id to an entry, or has passed it over: some are remembered nowhere else. */
  hasGiven(user: number, words: Int32Array, at: number, bytes: number): boolean {
    for (const set of this.ofUser(user)) if (set.hasGiven(words, at, bytes)) return true;
    return false;
  }

  inSlot(user: number, slot: number): MarketQuoteSet | null {
    for (const set of this.ofUser(user)) if (set.slot === slot) return set;
    return null;
  }

  /** Whether a set with a new name finds a slot. */
  hasRoom(user: number): boolean {
    return this.ofUser(user).length < QUOTE_SETS_PER_USER_MAX || this.replaced(user) !== null;
  }

  /**
   * The set whose slot a new name takes where all slots are taken: one that is over, else one of which nothing rests or may come
   * back; null: there is none, or a slot is free.
   */
  replaced(user: number): MarketQuoteSet | null {
    const sets = this.ofUser(user);
    if (sets.length < QUOTE_SETS_PER_USER_MAX) return null;
    return sets.find(({ isOver }) => isOver) ?? sets.find((set) => this.isIdle(set)) ?? null;
  }

  /** Whether no entry of the last revision rests, and none may come back by a rollback. */
  isIdle({ bids, asks }: MarketQuoteSet): boolean {
    for (let at = 0; at < bids.count; at += 1) if (this.living(bids, at) !== NONE) return false;
    for (let at = 0; at < asks.count; at += 1) if (this.living(asks, at) !== NONE) return false;
    return true;
  }

  /** A set in that slot, which is free. */
  addAt(user: number, slot: number): MarketQuoteSet {
    const set = new MarketQuoteSet(this.#sets.length + 1, user, slot);
    this.#sets.push(set);
    const sets = this.#ofUser.get(user);
    if (sets === undefined) this.#ofUser.set(user, [set]);
    else sets.push(set);
    return set;
  }

  /** The largest mark of the names that a new one makes forgotten, and of those before. */
  floorOf(user: number): { readonly high: number; readonly low: number } {
    const sets = this.ofUser(user);
    const over = this.replaced(user);
    let [high, low] = over === null ? [0, 0] : [over.markHigh, over.markLow];
    for (const { markFloorHigh, markFloorLow } of sets)
      if (isBefore(high, low, markFloorHigh, markFloorLow)) [high, low] = [markFloorHigh, markFloorLow];
    return { high, low };
  }

  forEach(visit: (set: MarketQuoteSet) => void): void {
    for (const set of this.#sets) visit(set);
  }

  /** A set without a name, in a slot that never had one, or in that of a set that is over (`replaced`): there is one of them. */
  open(user: number): MarketQuoteSet {
    const sets = this.ofUser(user);
    const over = this.replaced(user);
    const set = over ?? this.addAt(user, sets.length + 1);
    for (const other of sets) {
      if (isBefore(set.markFloorHigh, set.markFloorLow, other.markFloorHigh, other.markFloorLow)) {
        set.markFloorHigh = other.markFloorHigh;
        set.markFloorLow = other.markFloorLow;
      }
      set.numberFloor = Math.max(set.numberFloor, other.numberFloor);
    }
    if (over !== null) {
      if (isBefore(set.markFloorHigh, set.markFloorLow, set.markHigh, set.markLow)) {
        set.markFloorHigh = set.markHigh;
        set.markFloorLow = set.markLow;
      }
      set.numberFloor = Math.max(set.numberFloor, set.lastNumber);
    }
    set.markHigh = set.markFloorHigh;
    set.markLow = set.markFloorLow;
    set.lastNumber = set.numberFloor;
    return set;
  }

  /** The entry of a list if it rests, or NONE. */
  resting({ indexes, sequences }: QuoteSide, at: number): number {
    const index = indexes[at] as number;
    const rests = this.#orders.stateOf(index) === ORDER_STATE.resting;
    return rests && this.#orders.sequenceOf(index) === sequences[at] ? index : NONE;
  }

  /** The entry of a list if it rests, or all of it is in undecided fills; or NONE. */
  living({ indexes, sequences }: QuoteSide, at: number): number {
    const index = indexes[at] as number;
    const state = this.#orders.stateOf(index);
    // mutant: idle-set-undecided
    const lives = state === ORDER_STATE.resting || state === ORDER_STATE.filled;
    return lives && this.#orders.sequenceOf(index) === sequences[at] ? index : NONE;
  }

  /** Entries of both sides that rest. */
  countResting({ bids, asks }: MarketQuoteSet): number {
    let count = 0;
    for (let at = 0; at < bids.count; at += 1) if (this.resting(bids, at) !== NONE) count += 1;
    for (let at = 0; at < asks.count; at += 1) if (this.resting(asks, at) !== NONE) count += 1;
    return count;
  }
}

/** A byte of a text in words, little-endian. */
function byteOf(words: Int32Array, at: number, byte: number): number {
  return ((words[at + (byte >> 2)] as number) >>> ((byte & 3) << 3)) & 0xff;
}

const NO_SETS: readonly MarketQuoteSet[] = [];
