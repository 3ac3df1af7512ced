/**
 * Uncrosses a book after orders returned to it: after rollbacks with their old priority (AMB-32), and after a restart
 * (AMB-110). The orders match as if they had arrived in the order of their priorities:
 *
 *   1. crossing orders of the users at fault in these rollbacks end `atFault`, with the reason of their rollback;
 *   2. then, while the best bid and the best ask cross, the younger of them takes at the older one's price. A post-only
 *      younger one ends `postOnlyWouldCross`; with self-trade prevention two of one owner end as a new order against an own
 *      resting one would (STP-03, STP-04, AMB-38). Beyond the collar the younger ends `immediateOrCancel`, like every order
 *      that would match there (AMB-39).
 *
 * All orders keep their place in the queue meanwhile. Steps are counted: a book is uncrossed some steps at a time
 * (market-actor.ts), and in between only clearing's decisions change it. Orders that return then are included. Levels
 * are published when the book is uncrossed.
 */
import { ORDER_END, ORDER_FLAG, type RollbackReason, SIDE } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Book } from './book.ts';
import type { BookSide } from './book-side.ts';
import { endIfDue } from './expired-orders.ts';
import { ORDER_STATE } from './order-records.ts';

export class Uncrossing {
  readonly #book: Book;
  /** Users at fault in the rollbacks since the book was last uncrossed, each with its first reason. */
  readonly #faults = new Map<number, RollbackReason>();
  /** Crossing orders of these users: alternating index and sequence. Those before `#at` are processed. */
  #leaving: number[] = [];
  #at = 0;
  /** Whether `#leaving` is complete: no order has returned since. */
  #isSought = false;

  constructor(book: Book) {
    this.#book = book;
  }

  /** Whether a rollback occurred since the book was last uncrossed. */
  get isBegun(): boolean {
    return this.#book.isUncrossing || this.#faults.size > 0;
  }

  noteFault(user: number, reason: RollbackReason): void {
    if (!this.#faults.has(user)) this.#faults.set(user, reason);
  }

  /** Called after orders may have returned: starts uncrossing if the book is crossed. */
  begin(): void {
    this.#isSought = false;
    if (this.#book.isCrossed()) this.#book.isUncrossing = true;
  }

  /**
   * Takes at most `budget` steps. @returns whether steps remain; if not, the book is uncrossed and the faults are
   * cleared.
   */
  work(budget: number): boolean {
    if (this.#book.isUncrossing) {
      if (!this.#isSought) this.#seek();
      let left = budget;
      while (left > 0 && this.#step()) left--;
      if (left === 0) return true;
      this.#book.isUncrossing = false;
    }
    if (this.#faults.size > 0) this.#faults.clear();
    this.#leaving = [];
    this.#at = 0;
    return false;
  }

  /** Collects the crossing orders of users at fault, best first, bids before asks. */
  #seek(): void {
    const { buys, sells, orders } = this.#book;
    this.#isSought = true;
    this.#leaving = [];
    this.#at = 0;
    if (this.#faults.size === 0 || !this.#book.isCrossed()) return;
    const [bid, ask] = [buys.bestPrice, sells.bestPrice];
    const note = (index: number): void => {
      if (this.#faults.has(orders.userOf(index))) this.#leaving.push(index, orders.sequenceOf(index));
    };
    forEachWithin(buys, ask, note);
    forEachWithin(sells, bid, note);
  }

  /** @returns false when the book is not crossed. */
  #step(): boolean {
    // mutant: faulty-crossing-first
    return this.#endOneAtFault() || this.#resolveBest();
  }

  #endOneAtFault(): boolean {
    const book = this.#book;
    const { orders } = book;
    while (this.#at < this.#leaving.length) {
      const index = this.#leaving[this.#at] as number;
      const sequence = this.#leaving[this.#at + 1];
      this.#at += 2;
      // It may have ended with another order, or by a decision of clearing.
      if (orders.stateOf(index) !== ORDER_STATE.resting || orders.sequenceOf(index) !== sequence) continue;
      if (endIfDue(book, index)) return true;
      const reason = this.#faults.get(orders.userOf(index)) as RollbackReason;
      book.takeOff(index);
      book.end(index, ORDER_END.atFault, reason);
      return true;
    }
    return false;
  }

  #resolveBest(): boolean {
    const book = this.#book;
    if (!book.isCrossed()) return false;
    const { orders } = book;
    const [bid, ask] = [book.buys.bestOrder, book.sells.bestOrder];
    if (endIfDue(book, bid) || endIfDue(book, ask)) return true;
    // mutant: younger-takes
    const [older, younger] = orders.priorityOf(bid) < orders.priorityOf(ask) ? [bid, ask] : [ask, bid];
    const isOwn = book.preventsSelfTrades && book.isSameOwner(older, younger);
    const isPostOnly = (orders.flagsOf(younger) & ORDER_FLAG.postOnly) !== 0;
    if (isPostOnly && (!isOwn || this.#meetsOlderForeign(younger))) {
      book.takeOff(younger);
      book.end(younger, ORDER_END.postOnlyWouldCross);
    } else if (isOwn) {
      book.takeOff(older);
      book.end(older, ORDER_END.selfTradePrevented);
    } else if (this.#isBeyondCollar(older, younger)) {
      book.takeOff(younger);
      book.end(younger, ORDER_END.immediateOrCancel);
    } else book.matchResting(older, younger);
    return true;
  }

  /** Whether it crosses an older order of another owner: then it ends, and the owner's orders stay (AMB-38). */
  #meetsOlderForeign(younger: number): boolean {
    const book = this.#book;
    const { orders } = book;
    const priority = orders.priorityOf(younger);
    let isFound = false;
    forEachWithin(book.otherSide(orders.sideOf(younger)), orders.priceOf(younger), (index) => {
      if (!isFound) isFound = orders.priorityOf(index) < priority && !book.isSameOwner(index, younger);
    });
    return isFound;
  }

  #isBeyondCollar(maker: number, taker: number): boolean {
    const { orders, lowest, highest } = this.#book;
    const price = orders.priceOf(maker);
    return orders.sideOf(taker) === SIDE.buy ? price > highest : price < lowest;
  }
}

/** Visits the orders of a side that an order of the other side with this limit crosses, best first. */
function forEachWithin(side: BookSide, limit: number, visit: (index: number) => void): void {
  for (let level = side.bestLevel; level !== NONE && side.isWithin(level, limit); level = side.worse(level))
    for (let index = side.levelHead(level); index !== NONE; index = side.behind(level, index)) visit(index);
}
