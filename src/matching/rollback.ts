/**
 * Effect of a rollback on the two orders of a fill (AMB-32, AMB-34, AMB-23; FIL-14, FIL-15).
 *
 *   the order …                        at fault              innocent
 *   rests                              ended atFault         (a, e) quantity − filled again, in place
 *   is filled, cancel received         ended userRequested   (d) the same
 *   is filled, total reduced (e)       stays filled *        stays filled
 *   is filled, IOC or FOK              ended atFault         (c) ended rolledBack
 *   is filled, its group has tripped   ended atFault         ended marketMakerProtection (MMP-03)
 *   is filled, past its expiry         ended atFault         (d) ended expired
 *   is filled, GTC or GTD              ended atFault         (b) at its old place, by its old priority
 *   awaits more release, GTC or GTD    ended atFault         (b) as if it were filled
 *   awaits more release, IOC, FOK,     ended atFault         (c) these lots are dropped (triggers.ts)
 *     market
 *   had ended before                   —                     (d) nothing: its end is published
 *
 * (*) Until another fill of it is rolled back and leaves a remainder: then it ends atFault, independent of that
 * rollback's reason.
 *
 * An order at fault is processed first, otherwise the maker. A book that is crossed by returned orders is uncrossed
 * before any other command changes it, together with the effects of further rollbacks (uncross.ts). Where a level would
 * exceed 2^53−1 the order ends rolledBack. `StaleMatch` is no order's fault: both orders are innocent (AMB-33).
 */
import { assert } from '../core/assert.ts';
import { isAtFault, ORDER_END, type OrderEnd, ROLLBACK_REASON, type RollbackReason, TIF } from '../core/order-terms.ts';
import { highWord, lowWord } from '../core/time-words.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Book } from './book.ts';
import type { MarketEvents, RollbackCommand } from './commands.ts';
import { endIfDue } from './expired-orders.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import type { ProtectionGroup } from './protection.ts';
import type { Triggers } from './triggers.ts';
import type { Uncrossing } from './uncross.ts';

/** The parts of the engine that a rollback changes. */
export interface RollbackPlace {
  readonly book: Book;
  readonly triggers: Triggers;
  readonly events: MarketEvents;
  readonly uncrossing: Uncrossing;
}

/** Reverses the fill for both orders. The trade is undecided and equals the command's description. */
export function rollBack(place: RollbackPlace, command: RollbackCommand): void {
  const { book } = place;
  const { trades } = book;
  const { tradeId, quantity } = command;
  assert(tradeId > trades.settledThrough && tradeId <= trades.lastTradeId, 'only an undecided trade is rolled back');
  const at = trades.indexOf(tradeId);
  const maker = trades.maker[at] as number;
  const taker = trades.taker[at] as number;
  assert(trades.quantity[at] === quantity && quantity > 0, 'a trade is rolled back completely and once');
  assert(book.orders.sequenceOf(maker) === command.makerOrder, 'a rollback names the maker of its trade');
  assert(book.orders.sequenceOf(taker) === command.takerOrder, 'a rollback names the taker of its trade');
  trades.quantity[at] = 0;
  for (const index of [maker, taker]) endIfDue(book, index);
  const price = trades.price[at] as number;
  const { receivedNs: nowNs, makerReason, takerReason } = command;
  const ofMaker = { index: maker, tradeId, quantity, price, reason: makerReason, nowNs };
  const ofTaker = { index: taker, tradeId, quantity, price, reason: takerReason, nowNs };
  const group = book.orders.hasMark(maker, MARK.isMember) ? book.protection.groupOf(maker) : null;
  const takerLeaves = isAtFault(ofTaker.reason) && !isAtFault(ofMaker.reason);
  reverse(place, takerLeaves ? ofTaker : ofMaker);
  reverse(place, takerLeaves ? ofMaker : ofTaker);
  if (group !== null && !isAtFault(ofMaker.reason)) uncount(place, group, tradeId);
  place.uncrossing.begin();
}

/** A fill that is undone, and not by the fault of its protected maker, no longer counts for its group (MMP-03). */
function uncount({ book, events }: RollbackPlace, group: ProtectionGroup, tradeId: number): void {
  const { trip } = group;
  if (book.protection.rolledBack(group, tradeId))
    events.protectionEnded(book.nextSequence(), group.key, group.slot, trip as Sequence);
}

interface Reversal {
  readonly index: number;
  readonly tradeId: number;
  readonly quantity: number;
  readonly price: number;
  readonly reason: RollbackReason;
  readonly nowNs: TimestampNs;
}

function reverse(place: RollbackPlace, reversal: Reversal): void {
  const { book, triggers, events } = place;
  const { orders } = book;
  const { index, quantity, reason } = reversal;
  if (isAtFault(reason)) place.uncrossing.noteFault(orders.userOf(index), reason);
  // mutant: old-fill-restores
  const isOld = isOfOldRevision(book, index, reversal.tradeId);
  if (isOld) forget(book, reversal);
  else if (orders.stateOf(index) === ORDER_STATE.resting) reverseResting(book, events, reversal);
  else {
    unfill(book, reversal);
    const isDropped = orders.stateOf(index) === ORDER_STATE.dormant && neverRests(book, index) && !isAtFault(reason);
    if (isDropped) triggers.drop(index, quantity, reversal.price);
    else if (orders.stateOf(index) !== ORDER_STATE.ended) reverseFilled(book, events, reversal);
  }
  book.decide(index);
}

/** Whether the fill is of an entry of a quote set, and from before its revision in force (QTE-07). */
function isOfOldRevision({ quoteSets }: Book, index: number, tradeId: number): boolean {
  const set = quoteSets.of(index);
  return set !== null && tradeId <= set.appliedTrade;
}

/** The lots are no part of what the set in force wants: the total falls with what is filled, and what rests stays, unless its owner is at fault. */
function forget(book: Book, reversal: Reversal): void {
  const { orders } = book;
  const { index, quantity, reason } = reversal;
  const state = orders.stateOf(index);
  unfill(book, reversal);
  orders.setPriceAndQuantity(index, orders.priceOf(index), orders.quantityOf(index) - quantity);
  if (state === ORDER_STATE.filled) noteFault(orders, reversal);
  if (state !== ORDER_STATE.resting || !isAtFault(reason)) return;
  book.takeOff(index);
  book.end(index, ORDER_END.atFault, reason);
}

function neverRests(book: Book, index: number): boolean {
  const tif = book.orders.tifOf(index);
  return tif === TIF.ioc || tif === TIF.fok;
}

function reverseResting(book: Book, events: MarketEvents, reversal: Reversal): void {
  const { orders } = book;
  const { index, quantity, reason } = reversal;
  const side = book.ownSide(orders.sideOf(index));
  // mutant: faulty-side-ends
  if (isAtFault(reason) || !side.fits(orders.priceOf(index), quantity)) {
    book.takeOff(index);
    unfill(book, reversal);
    endAfterRollback(book, reversal, ORDER_END.rolledBack);
    return;
  }
  unfill(book, reversal);
  side.adjust(index, quantity);
  events.restored(book.nextSequence(), book.orders.sequenceOf(index), orders.priorityOf(index), quantity);
}

function reverseFilled(book: Book, events: MarketEvents, reversal: Reversal): void {
  const { orders } = book;
  const { index, nowNs } = reversal;
  const remaining = orders.remaining(index);
  // The total was reduced to the filled quantity: the order was published as filled and stays so (AMB-19).
  if (remaining === 0) {
    noteFault(orders, reversal);
    return;
  }
  if (orders.stateOf(index) === ORDER_STATE.filledCancelPending) {
    if (remaining > 0) book.end(index, orders.endOf(index));
    return;
  }
  const end = endInsteadOfReturn(book, index, nowNs);
  const reason = firstFault(orders, reversal);
  if (end !== null || isAtFault(reason)) {
    endAfterRollback(book, { ...reversal, reason }, end ?? ORDER_END.rolledBack);
    return;
  }
  // mutant: rollback-priority
  book.restByPriority(index);
  events.restored(book.nextSequence(), orders.sequenceOf(index), orders.priorityOf(index), remaining);
}

/** Stores the fault of an order without a remainder. */
function noteFault(orders: OrderPool, reversal: Reversal): void {
  const { index } = reversal;
  const reason = firstFault(orders, reversal);
  if (isAtFault(reason) && orders.stateOf(index) === ORDER_STATE.filled) orders.setFault(index, reason);
}

/** The order's first fault reason: the stored one, or this rollback's. */
function firstFault(orders: OrderPool, { index, reason }: Reversal): RollbackReason {
  const noted = orders.stateOf(index) === ORDER_STATE.filled ? orders.faultOf(index) : ROLLBACK_REASON.none;
  return noted === ROLLBACK_REASON.none ? reason : noted;
}

/** @returns the end of an innocent order that cannot return to the book, or null. */
function endInsteadOfReturn(book: Book, index: number, nowNs: TimestampNs): OrderEnd | null {
  const { orders } = book;
  if (neverRests(book, index) || book.quoteSets.isOut(index)) return ORDER_END.rolledBack;
  // mutant: protection-no-return
  if (orders.hasMark(index, MARK.isMember) && book.protection.isOver(index)) return ORDER_END.marketMakerProtection;
  if (book.expiries.hasPassed(index, highWord(nowNs), lowWord(nowNs))) return ORDER_END.expired;
  const side = book.ownSide(orders.sideOf(index));
  return side.fits(orders.priceOf(index), orders.remaining(index)) ? null : ORDER_END.rolledBack;
}

function unfill(book: Book, { index, quantity }: Reversal): void {
  const { orders } = book;
  const left = orders.filledOf(index) - quantity;
  assert(left >= 0, 'a reversed fill was counted');
  orders.setFilled(index, left);
}

function endAfterRollback(book: Book, { index, reason }: Reversal, innocentEnd: OrderEnd): void {
  if (isAtFault(reason)) book.end(index, ORDER_END.atFault, reason);
  else book.end(index, innocentEnd);
}
