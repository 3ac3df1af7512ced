/**
 * A book after a restart (AMB-110): orders go in by priority sequence, quietly; then those that cross are dealt again.
 *
 * A restored book can be crossed: two orders may have matched, and the match was never confirmed. The later one takes,
 * in sequence. Only orders within the crossing prices can be concerned, so they alone leave the book and come back one
 * by one in priority order, each matching what is there and resting what is left, its priority unchanged.
 *
 * Quantity that comes back can lift a level past 2^53−1, which no admission would. The order that does not fit any more
 * ends when the restore is finished, as after a rollback.
 */
import { assert } from '../core/assert.ts';
import type { Book } from './book.ts';
import type { RestoredOrder, RestoredPosition } from './commands.ts';
import { ORDER_STATE } from './order-pool.ts';

/** Puts one live order where it stood, or on no side if it does not fit. @param id its LIVE entry. @returns its slot. */
export function placeRestored(book: Book, command: RestoredOrder, id: number): number {
  const { orders } = book;
  assert(command.quantity > command.filledQuantity, 'a restored order has something left');
  assert(book.trades.lastTradeId === book.trades.settledThrough, 'orders are restored before anything matches');
  const slot = orders.allocate(command);
  orders.setFilled(slot, command.filledQuantity);
  orders.setSequence(slot, command.order);
  orders.setPriority(slot, command.prioritySequence);
  orders.setTimestamp(slot, command.timestampNs);
  orders.setId(slot, id);
  const side = book.ownSide(command.side);
  if (!side.fits(command.price, command.quantity - command.filledQuantity)) return slot;
  orders.setState(slot, ORDER_STATE.resting);
  side.insert(slot);
  book.expiries.add(slot);
  return slot;
}

/** Numbering goes on after `position`. */
export function continueFrom(book: Book, position: RestoredPosition): void {
  assert(position.sequence >= book.sequence, 'sequences never go back');
  book.sequence = position.sequence;
  book.trades.startAfter(position.lastTradeId);
}

/** Later orders take what they cross. Expired orders have left before. */
export function uncross(book: Book): void {
  if (!book.isCrossed()) return;
  const { orders } = book;
  const { buys, sells } = book;
  const crossing = [...buys.ordersWithin(sells.bestPrice), ...sells.ordersWithin(buys.bestPrice)].sort(
    (a, b) => orders.priorityOf(a) - orders.priorityOf(b),
  );
  for (const slot of crossing) book.takeOff(slot);
  for (const slot of crossing) {
    book.match(slot);
    if (orders.remaining(slot) > 0) book.rest(slot);
    else book.becomeFilled(slot);
  }
}
