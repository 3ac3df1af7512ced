/**
 * Rebuilds a book after a restart (AMB-110): orders are added as they arrive, without events; then the queues are
 * sorted by priority. The book can be crossed: two orders may have matched without confirmation, or the node was killed
 * between a rollback and the end of its uncrossing. It is uncrossed as after a rollback (uncross.ts).
 *
 * Returned quantity can raise a level above 2^53−1, which no create could. Such a level is filled by priority when all
 * orders are present, and the orders that do not fit end, as after a rollback; so the sequence of arrival has no
 * effect.
 */
import { assert, must } from '../core/assert.ts';
import { ORDER_END } from '../core/order-terms.ts';
import type { Book } from './book.ts';
import type { RestoredOrder, RestoredPosition } from './commands.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';
import { lotsWanted } from './placement.ts';

/** Allocates a stored order, FRESH and on no side; the caller assigns its id. @returns its index. */
export function allocateRestored(book: Book, command: RestoredOrder, user: number): number {
  const { orders } = book;
  assert(book.trades.lastTradeId === book.trades.settledThrough, 'orders are restored before anything matches');
  const index = orders.allocate(command, user, lotsWanted(command));
  orders.setFilled(index, command.filledQuantity);
  orders.setSequence(index, command.order);
  orders.setPriority(index, command.prioritySequence);
  orders.setCreation(index, command.creationHigh, command.creationLow);
  orders.setTimestamp(index, command.timestampHigh, command.timestampLow);
  orders.setExpiry(index, command.expiryHigh, command.expiryLow);
  return index;
}

/**
 * Appends a live order to its queue if the level has room.
 *
 * @param turns collects the order if there is no room, or if it may be out of order there.
 */
export function placeRestored(book: Book, index: number, turns: UnsortedOrders): void {
  const { orders } = book;
  const remaining = orders.remaining(index);
  assert(remaining > 0, 'a restored order has something left');
  const side = book.ownSide(orders.sideOf(index));
  if (!side.fits(orders.priceOf(index), remaining)) {
    turns.unplaced.push(index);
    return;
  }
  orders.setState(index, ORDER_STATE.resting);
  side.append(index);
  turns.note(index, orders.sequenceOf(index), orders.priorityOf(index));
  book.expiries.add(index);
}

/** Continues numbering after `position`, sorts the queues by priority, and ends the orders that do not fit. */
export function continueFrom(book: Book, position: RestoredPosition, turns: UnsortedOrders): void {
  assert(position.sequence >= book.sequence, 'sequences never go back');
  book.sequence = position.sequence;
  book.trades.startAfter(position.lastTradeId);
  const indexes = turns.take();
  for (const side of [book.buys, book.sells]) {
    side.sortQueuesOf(indexes.filter((index) => book.orders.sideOf(index) === side.side));
  }
  const over = refillByPriority(book, turns.unplaced.splice(0));
  for (const index of over) book.end(index, ORDER_END.rolledBack);
}

/**
 * Refills the levels of orders that did not fit, by priority.
 *
 * @returns the orders that do not fit, on no side, by priority.
 */
function refillByPriority(book: Book, unplaced: readonly number[]): readonly number[] {
  const { orders } = book;
  const byPriority = (a: number, b: number): number => orders.priorityOf(a) - orders.priorityOf(b);
  const over: number[] = [];
  for (const side of [book.buys, book.sells]) {
    const levels = new Map<number, number[]>();
    for (const index of unplaced.filter((each) => orders.sideOf(each) === side.side)) {
      const price = orders.priceOf(index);
      const level = levels.get(price);
      if (level === undefined) levels.set(price, [index]);
      else level.push(index);
    }
    for (const [price, more] of levels) {
      const placed = side.ordersAt(price);
      for (const index of placed) book.takeOff(index);
      for (const index of [...placed, ...more].sort(byPriority)) {
        if (side.fits(price, orders.remaining(index))) book.rest(index);
        else over.push(index);
      }
    }
  }
  return over.sort(byPriority);
}

/**
 * Collects the orders that may be out of order in their level. Most arrive by ascending sequence, which is their
 * priority, and so are in order. A replaced order has a later priority, and some arrive late.
 */
export class UnsortedOrders {
  /** Orders that did not fit into their level. */
  readonly unplaced: number[] = [];
  #indexes: number[] = [];
  #last = 0;

  /** Registers an order that was appended to its queue. */
  note(index: number, sequence: number, priority: number): void {
    if (sequence < this.#last || priority !== sequence) this.#indexes.push(index);
    this.#last = Math.max(this.#last, sequence);
  }

  /** Returns the collected orders and clears the list. */
  take(): readonly number[] {
    const indexes = this.#indexes;
    this.#indexes = [];
    this.#last = 0;
    return indexes;
  }
}

/** Finds orders by sequence while a book is restored: children look up their parents. Built at the first look-up. */
export class RestoredSequences {
  readonly #orders: OrderPool;
  #indexes: Map<number, number> | null = null;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  add(index: number): void {
    this.#indexes?.set(this.#orders.sequenceOf(index), index);
  }

  /** @throws InvariantError when no order has this sequence. */
  indexOf(order: number): number {
    if (this.#indexes === null) {
      this.#indexes = new Map();
      this.#orders.forEach((index) => {
        this.add(index);
      });
    }
    return must(this.#indexes.get(order), 'a parent is restored before its children');
  }

  clear(): void {
    this.#indexes = null;
  }
}
