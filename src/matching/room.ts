/**
 * The room of reduce-only orders (MON-09): by how many lots one may reduce its position. The gateway counts it, from positions
 * that it receives; the market, which alone has the book, decides how many lots of the order that is.
 *
 *   never rests      at most the room to take
 *   may rest         what it matches at once, at most the room to take; or the room to rest, where that is more: the position
 *                    that it leaves covers what rests, after all that is older
 *   sized in quote   the room to take is its base cap
 *
 * An order beyond its room is cut before it matches anything, so that no fill of it is beyond it either. A cut has no
 * requestId and changes neither price, timestamp nor priority.
 *
 * Not here: resting orders that exceed a position which has shrunk (src/gateway/orders/margin/reductions.ts).
 */
import { ORDER_END, ORDER_FLAG, ORDER_KIND, TIF, TRIGGER } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import type { Room } from '../order/order-codec.ts';
import type { Book } from './book.ts';
import type { MarketEvents, NewOrderCommand } from './commands.ts';
import { NO_MONEY } from './placement.ts';
import { sizeOf } from './sizing.ts';

export function isReducing(flags: number): boolean {
  return (flags & ORDER_FLAG.reduceOnly) !== 0;
}

/** Whether a create has no room to rest and would match nothing: it is refused before it is accepted. */
export function lacksRoom(book: Book, { flags, tif, side, price, roomToTake, roomToRest }: NewOrderCommand): boolean {
  if (!isReducing(flags) || roomToRest > 0 || tif === TIF.ioc || tif === TIF.fok) return false;
  const isPostOnly = (flags & ORDER_FLAG.postOnly) !== 0;
  return isPostOnly || roomToTake === 0 || !book.otherSide(side).crosses(book.boundAt(side, price));
}

/**
 * Lots of `wanted` that may be in force of an order that is on no side.
 *
 * @param bound the worst price at which it may match; null: it matches nothing.
 */
export function lotsInRoom(book: Book, index: number, wanted: number, room: Room, bound: number | null): number {
  const { orders } = book;
  const tif = orders.tifOf(index);
  const mayTake = Math.min(wanted, room.roomToTake);
  if (tif === TIF.ioc || tif === TIF.fok) return mayTake;
  const mayRest = Math.min(wanted, room.roomToRest);
  if (mayRest === wanted || bound === null) return mayRest;
  // mutant: room-of-a-taker
  return Math.max(mayRest, sizeOf(book, index, { price: bound, lots: mayTake, ...NO_MONEY }).lots);
}

/**
 * Cuts a reduce-only order that was accepted and has matched nothing to its room. @returns false: there is none, and it ended.
 */
export function enterRoom(book: Book, events: MarketEvents, index: number, room: Room): boolean {
  const { orders } = book;
  const wanted = orders.remaining(index);
  const isPostOnly = (orders.flagsOf(index) & ORDER_FLAG.postOnly) !== 0;
  const lots = lotsInRoom(book, index, wanted, room, isPostOnly ? null : book.boundOf(index));
  if (lots === wanted) return true;
  if (lots === 0) {
    book.end(index, ORDER_END.reduceOnly);
    return false;
  }
  orders.setPriceAndQuantity(index, orders.priceOf(index), orders.filledOf(index) + lots);
  // What was signed in quote has no quantity that could change.
  if (orders.kindOf(index) !== ORDER_KIND.marketQuote) publishCut(book, events, index, orders.quantityOf(index));
  return true;
}

/** The node has cut a released order to this total. */
export function publishCut(book: Book, events: MarketEvents, index: number, total: number): void {
  const { orders } = book;
  events.replaced(
    book.nextSequence() as Sequence,
    orders.sequenceOf(index),
    orders.priorityOf(index),
    orders.priceOf(index),
    total,
    orders.timestampHigh(index),
    orders.timestampLow(index),
    0,
    TRIGGER.none,
    0,
    false,
  );
}
