/**
 * A book after a restart (AMB-110): orders go in as they come, quietly; then queues are put in order of priority. It can
 * be crossed: two orders may have matched, and the match was never confirmed, or a kill came between a rollback and the
 * end of its uncrossing. It is uncrossed as after a rollback (uncross.ts).
 *
 * Quantity that comes back can lift a level past 2^53−1, which no admission would. Such a level is filled by priority when
 * all are there, and the orders that do not fit any more end, as after a rollback: in which order orders came makes no
 * difference.
 */
import { assert, must } from '../core/assert.ts';
import { ORDER_END } from '../core/order-terms.ts';
import type { Book } from './book.ts';
import type { RestoredOrder, RestoredPosition } from './commands.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';
import { lotsWanted } from './placement.ts';

/** An order of the pool as clearing kept it, FRESH and on no side. The caller gives it its id. @returns its slot. */
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
 * Puts a live order at the end of its queue, if there is room.
 *
 * @param turns where to note it if there is none, or if that may not be where it stood.
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

/** Numbering goes on after `position`, everybody stands in the queue by priority, and who finds no room there ends. */
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
 * The levels of the orders that found no room, filled anew by priority.
 *
 * @returns those that fit nowhere, on no side, by priority.
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
 * Orders that may stand before or behind others of their level out of turn. Most come by rising sequence, which is their
 * priority: among themselves they stand right. A replaced one has a later priority, and some are told late.
 */
export class RestoredTurns {
  /** Orders that found no room where they belong. */
  readonly unplaced: number[] = [];
  #slots: number[] = [];
  #last = 0;

  /** An order that was put at the end of its queue. */
  note(slot: number, sequence: number, priority: number): void {
    if (sequence < this.#last || priority !== sequence) this.#slots.push(slot);
    this.#last = Math.max(this.#last, sequence);
  }

  /** Everybody who was noted as out of turn. */
  take(): readonly number[] {
    const slots = this.#slots;
    this.#slots = [];
    this.#last = 0;
    return slots;
  }
}

/** Orders by name while a book is restored, for children to find their parents. Costs nothing until a child asks. */
export class RestoredNames {
  readonly #orders: OrderPool;
  #slots: Map<number, number> | null = null;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  add(slot: number): void {
    this.#slots?.set(this.#orders.sequenceOf(slot), slot);
  }

  /** @throws InvariantError when no order has that name. */
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
