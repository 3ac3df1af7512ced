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
  const slot = orders.allocate(command, user, lotsWanted(command));
  orders.setFilled(slot, command.filledQuantity);
  orders.setSequence(slot, command.order);
  orders.setPriority(slot, command.prioritySequence);
  orders.setCreation(slot, command.creationHigh, command.creationLow);
  orders.setTimestamp(slot, command.timestampHigh, command.timestampLow);
  orders.setExpiry(slot, command.expiryHigh, command.expiryLow);
  return slot;
}

/**
 * Appends a live order to its queue if the level has room.
 *
 * @param turns collects the order if there is no room, or if it may be out of order there.
 */
export function placeRestored(book: Book, slot: number, turns: RestoredTurns): void {
  const { orders } = book;
  const remaining = orders.remaining(slot);
  assert(remaining > 0, 'a restored order has something left');
  const side = book.ownSide(orders.sideOf(slot));
  if (!side.fits(orders.priceOf(slot), remaining)) {
    turns.unplaced.push(slot);
    return;
  }
  orders.setState(slot, ORDER_STATE.resting);
  side.append(slot);
  turns.note(slot, orders.sequenceOf(slot), orders.priorityOf(slot));
  book.expiries.add(slot);
}

/** Continues numbering after `position`, sorts the queues by priority, and ends the orders that do not fit. */
export function continueFrom(book: Book, position: RestoredPosition, turns: RestoredTurns): void {
  assert(position.sequence >= book.sequence, 'sequences never go back');
  book.sequence = position.sequence;
  book.trades.startAfter(position.lastTradeId);
  const slots = turns.take();
  for (const side of [book.buys, book.sells]) {
    side.sortQueuesOf(slots.filter((slot) => book.orders.sideOf(slot) === side.side));
  }
  const over = refillByPriority(book, turns.unplaced.splice(0));
  for (const slot of over) book.end(slot, ORDER_END.rolledBack);
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
    for (const slot of unplaced.filter((each) => orders.sideOf(each) === side.side)) {
      const price = orders.priceOf(slot);
      const level = levels.get(price);
      if (level === undefined) levels.set(price, [slot]);
      else level.push(slot);
    }
    for (const [price, more] of levels) {
      const placed = side.ordersAt(price);
      for (const slot of placed) book.takeOff(slot);
      for (const slot of [...placed, ...more].sort(byPriority)) {
        if (side.fits(price, orders.remaining(slot))) book.rest(slot);
        else over.push(slot);
      }
    }
  }
  return over.sort(byPriority);
}

/**
 * Collects the orders that may be out of order in their level. Most arrive by ascending sequence, which is their
 * priority, and so are in order. A replaced order has a later priority, and some arrive late.
 */
export class RestoredTurns {
  /** Orders that did not fit into their level. */
  readonly unplaced: number[] = [];
  #slots: number[] = [];
  #last = 0;

  /** Registers an order that was appended to its queue. */
  note(slot: number, sequence: number, priority: number): void {
    if (sequence < this.#last || priority !== sequence) this.#slots.push(slot);
    this.#last = Math.max(this.#last, sequence);
  }

  /** Returns the collected orders and clears the list. */
  take(): readonly number[] {
    const slots = this.#slots;
    this.#slots = [];
    this.#last = 0;
    return slots;
  }
}

/** Finds orders by sequence while a book is restored: children look up their parents. Built at the first look-up. */
export class RestoredNames {
  readonly #orders: OrderPool;
  #slots: Map<number, number> | null = null;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  add(slot: number): void {
    this.#slots?.set(this.#orders.sequenceOf(slot), slot);
  }

  /** @throws InvariantError when no order has this sequence. */
  slotOf(order: number): number {
    if (this.#slots === null) {
      this.#slots = new Map();
      this.#orders.forEach((slot) => {
        this.add(slot);
      });
    }
    return must(this.#slots.get(order), 'a parent is restored before its children');
  }

  clear(): void {
    this.#slots = null;
  }
}
