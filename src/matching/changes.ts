/**
 * Replace: new price, total or trigger of an order that rests or waits (RPL-04, RPL-05, AMB-19 to AMB-21).
 *
 *   same price, remainder not larger   keeps its queue place
 *   same price, larger remainder       moves to the back of its queue
 *   another price                      leaves, matches what it crosses, rests the remainder; a post-only order that would
 *                                      cross ends
 *   no remainder                       complete: the new total is not above the filled quantity
 *   waits for its trigger              changes its place in the trigger book; nothing is matched
 *
 * An amend only reduces, and only the order of the revision for which it was made: check and change are one step
 * (wire-additions.md 4.3). The revision is the timestamp of the last replace or amend, which both raise above the creation.
 *
 * The node's own replaces only reduce (AMB-61): they carry no timestamp, and the order keeps its own.
 *
 * A replace of a reduce-only order is cut to its room as a create is; without any it is refused (MON-09).
 */
import { ORDER_END, ORDER_FLAG, ORDER_KIND, TRIGGER } from '../core/order-terms.ts';
import { REJECT_CODE, type RejectCode } from '../core/reject.ts';
import { isBefore } from '../core/time-words.ts';
import type { Sequence } from '../core/units.ts';
import type { Book } from './book.ts';
import type { MarketEvents, ReplaceCommand } from './commands.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { exhausted, NO_MONEY, place } from './placement.ts';
import { isReducing, lotsInRoom } from './room.ts';
import type { Triggers } from './triggers.ts';
import type { Waiting } from './waiting.ts';

/** The parts of the engine that a replace changes. */
interface ChangePlace {
  readonly book: Book;
  readonly triggers: Triggers;
  readonly events: MarketEvents;
}

/** Applies a replace to a live order, or publishes the reject. */
export function replaceOrder(at: ChangePlace, index: number, command: ReplaceCommand): void {
  const { book, events } = at;
  const { orders } = book;
  if (!command.isNodeMade && book.quoteSets.of(index) !== null) {
    // Its set changes it (QTE-06).
    events.replaceRefused(command, REJECT_CODE.QUOTE_ENTRY);
    return;
  }
  const waiting = orders.hasMark(index, MARK.waits) ? at.triggers.of(index) : null;
  const amendFault = command.isAmend ? faultOfAmend(book, index, waiting, command) : 0;
  if (amendFault !== 0) {
    events.replaceRefused(command, amendFault);
    return;
  }
  if (command.isNodeMade) takeTimestamp(book, index, command);
  const isOlder = isOlderThan(book, index, command);
  const isSameTimestamp = !command.isNodeMade && !isOlder && !isNewerThan(book, index, command);
  const refuse = (code: RejectCode): void => events.replaceRefused(command, code);
  if (orders.kindOf(index) !== ORDER_KIND.limit) refuse(REJECT_CODE.INVALID_ORDER);
  else if (isOlder || (isSameTimestamp && !isSame(book, index, waiting, command))) refuse(REJECT_CODE.REQUEST_TOO_OLD);
  else if (isSameTimestamp || isNoReduction(book, index, waiting, command))
    events.replaceUnchanged(command.requestId, orders.sequenceOf(index));
  else if (book.quoteSets.of(index) !== null) cutEntry(at, index, command);
  else if (command.isNodeMade && waiting !== null && waiting.released > 0) cutGrowing(at, index, waiting, command);
  else if (exceedsChangeable(at.triggers, waiting, command)) refuse(REJECT_CODE.INVALID_ORDER);
  else if (waiting === null) changeResting(at, index, command);
  else if (waiting.released === 0) changeWaiting(at, index, waiting, command);
  else changeGrowing(at, index, waiting, command);
}

/**
 * Whether the replace exceeds what may change: a trigger only while the order waits for it (AMB-20), and complete terms do
 * not take it away then; the total of a child not while only a part of it is released, and not beyond what a filled parent
 * can activate.
 */
function exceedsChangeable(triggers: Triggers, waiting: Waiting | null, command: ReplaceCommand): boolean {
  const { triggerKind, quantity, isComplete } = command;
  const mayChange = waiting !== null && !triggers.hasFired(waiting);
  // mutant: complete-trigger
  if (isComplete && mayChange && triggerKind === TRIGGER.none) return true;
  const isOwn = isComplete && hasTrigger(waiting, command);
  if (triggerKind !== TRIGGER.none && !mayChange && !isOwn) return true;
  if (waiting === null || quantity === 0 || quantity === waiting.total) return false;
  const { parent, released, total } = waiting;
  return released > 0 || (parent !== null && quantity > total && !triggers.mayActivate(parent.index, quantity));
}

/** Why an amend may not change the order, or 0. */
function faultOfAmend(book: Book, index: number, waiting: Waiting | null, command: ReplaceCommand): RejectCode | 0 {
  const { orders } = book;
  // mutant: amend-revision
  if (!isOfRevision(orders, index, command)) return REJECT_CODE.ORDER_REVISION_MISMATCH;
  if (!isNewerThan(book, index, command)) return REJECT_CODE.REQUEST_TOO_OLD;
  const total = waiting === null ? orders.quantityOf(index) : waiting.total;
  // mutant: amend-reduces
  return command.quantity < total ? 0 : REJECT_CODE.INVALID_ORDER;
}

/** An order with its time of creation has no revision. */
function isOfRevision(orders: Book['orders'], index: number, command: ReplaceCommand): boolean {
  const high = orders.timestampHigh(index);
  const low = orders.timestampLow(index);
  const hasRevision = high !== orders.creationHigh(index) || low !== orders.creationLow(index);
  if (!hasRevision || !command.expectsRevision) return hasRevision === command.expectsRevision;
  return high === command.expectedHigh && low === command.expectedLow;
}

function takeTimestamp({ orders }: Book, index: number, command: ReplaceCommand): void {
  command.timestampHigh = orders.timestampHigh(index);
  command.timestampLow = orders.timestampLow(index);
}

/** Whether the order is already as small as the node's replace requests. */
function isNoReduction(
  { orders }: Book,
  index: number,
  waiting: Waiting | null,
  { isNodeMade, quantity }: ReplaceCommand,
): boolean {
  const total = waiting !== null && waiting.released > 0 ? waiting.total : orders.quantityOf(index);
  return isNodeMade && quantity >= total;
}

function isOlderThan({ orders }: Book, index: number, { timestampHigh, timestampLow }: ReplaceCommand): boolean {
  return isBefore(timestampHigh, timestampLow, orders.timestampHigh(index), orders.timestampLow(index));
}

function isNewerThan({ orders }: Book, index: number, { timestampHigh, timestampLow }: ReplaceCommand): boolean {
  return isBefore(orders.timestampHigh(index), orders.timestampLow(index), timestampHigh, timestampLow);
}

/** Whether all requested terms are current already. */
function isSame({ orders }: Book, index: number, waiting: Waiting | null, command: ReplaceCommand): boolean {
  const total = waiting === null ? orders.quantityOf(index) : waiting.total;
  const changesPrice = command.price !== 0 && command.price !== orders.priceOf(index);
  const changesTotal = command.quantity !== 0 && command.quantity !== total;
  return !changesPrice && !changesTotal && (command.triggerKind === TRIGGER.none || hasTrigger(waiting, command));
}

/** Whether the command names the trigger that the order waits for, or that has fired and is not released yet. */
function hasTrigger(waiting: Waiting | null, { triggerKind, triggerPrice }: ReplaceCommand): boolean {
  return waiting !== null && waiting.kind === triggerKind && waiting.price === triggerPrice;
}

function changeResting(at: ChangePlace, index: number, command: ReplaceCommand): void {
  const { book, events } = at;
  const { orders } = book;
  const price = command.price === 0 ? orders.priceOf(index) : command.price;
  const wanted = command.quantity === 0 ? orders.quantityOf(index) : command.quantity;
  const before = orders.remaining(index);
  const moves = price !== orders.priceOf(index);
  const quantity = totalInRoom(book, index, { price, wanted, moves }, command);
  const after = quantity - orders.filledOf(index);
  if (after <= 0 && wanted > quantity) {
    events.replaceRefused(command, REJECT_CODE.REDUCE_ONLY_WOULD_INCREASE);
    return;
  }
  if (after > 0 && moves && isStopped(at, index, price, command)) return;
  const growth = moves ? after : after - before;
  if (growth > 0 && !book.ownSide(orders.sideOf(index)).fits(price, growth)) {
    events.replaceRefused(command, REJECT_CODE.INVALID_ORDER);
    return;
  }
  // After this point the command must succeed.
  if (after <= 0 || moves) book.takeOff(index);
  const sequence = apply(book, index, command, { price, quantity });
  if (after > 0 && (moves || after > before)) orders.setPriority(index, sequence);
  publishReplaced(at, index, sequence, command, quantity);
  if (after <= 0) complete(at, index, command.requestId);
  else if (moves) reenter(book, index);
  else resize(book, index, after - before);
}

/** The new total of an order, of a reduce-only one cut to its room (MON-09). What is filled is not cut. */
function totalInRoom(
  book: Book,
  index: number,
  { price, wanted, moves }: { readonly price: number; readonly wanted: number; readonly moves: boolean },
  room: ReplaceCommand,
): number {
  const { orders } = book;
  const [flags, filled] = [orders.flagsOf(index), orders.filledOf(index)];
  if (!isReducing(flags) || wanted <= filled) return wanted;
  const mayTake = moves && (flags & ORDER_FLAG.postOnly) === 0;
  const bound = mayTake ? book.boundAt(orders.sideOf(index), price) : null;
  // mutant: room-of-a-replace
  return filled + lotsInRoom(book, index, wanted - filled, room, bound);
}

/** Ends a post-only order that would match at its new price: a stale quote is worse than none (AMB-19). */
function isStopped({ book, events }: ChangePlace, index: number, price: number, command: ReplaceCommand): boolean {
  const isPostOnly = (book.orders.flagsOf(index) & ORDER_FLAG.postOnly) !== 0;
  if (!isPostOnly || !book.wouldTake(index, price)) return false;
  book.takeOff(index);
  book.end(index, ORDER_END.postOnlyWouldCross, 0, command.requestId);
  events.replaceRefused(command, REJECT_CODE.WOULD_CROSS);
  return true;
}

/** Changes an order without released quantity. */
function changeWaiting(at: ChangePlace, index: number, waiting: Waiting, command: ReplaceCommand): void {
  const { book, triggers } = at;
  const price = command.price === 0 ? book.orders.priceOf(index) : command.price;
  const quantity = command.quantity === 0 ? waiting.total : command.quantity;
  const sequence = apply(book, index, command, { price, quantity });
  const isArmed = !triggers.hasFired(waiting);
  if (isArmed && command.triggerKind !== TRIGGER.none)
    triggers.move(waiting, command.triggerKind, command.triggerPrice);
  publishReplaced(at, index, sequence, command, quantity);
  triggers.resize(waiting, quantity);
  triggers.reconsider(waiting);
}

/** Changes a child that is partly released: only its price. */
function changeGrowing(at: ChangePlace, index: number, waiting: Waiting, command: ReplaceCommand): void {
  const { book, triggers, events } = at;
  const { orders } = book;
  const rests = orders.stateOf(index) === ORDER_STATE.resting;
  const price = command.price === 0 ? orders.priceOf(index) : command.price;
  const moves = rests && price !== orders.priceOf(index);
  if (moves && isStopped(at, index, price, command)) return;
  if (moves && !book.ownSide(orders.sideOf(index)).fits(price, orders.remaining(index))) {
    events.replaceRefused(command, REJECT_CODE.INVALID_ORDER);
    return;
  }
  if (moves) book.takeOff(index);
  const sequence = apply(book, index, command, { price, quantity: orders.quantityOf(index) });
  if (moves) orders.setPriority(index, sequence);
  publishReplaced(at, index, sequence, command, waiting.total);
  triggers.reconsider(waiting);
  if (moves) reenter(book, index);
}

/**
 * The node takes resting lots off an entry of a quote set. Never more: its total is never below what is filled, as the total that
 * clearing and gateway have may be lower by fills that are undone, of which the market does not know yet (QTE-07).
 */
function cutEntry(at: ChangePlace, index: number, command: ReplaceCommand): void {
  const { book } = at;
  const { orders } = book;
  const total = orders.quantityOf(index);
  const rests = orders.remaining(index);
  // mutant: entry-cut-to-what-is-filled
  const lots = Math.min(total - command.quantity, rests);
  if (lots === rests) book.takeOff(index);
  const sequence = apply(book, index, command, { price: orders.priceOf(index), quantity: total - lots });
  publishReplaced(at, index, sequence, command, lots, true);
  if (lots === rests) complete(at, index, command.requestId);
  else resize(book, index, -lots);
}

/** The node takes resting lots off a child that may be released further (MON-09), and so lowers its total and what is enabled. */
function cutGrowing(at: ChangePlace, index: number, waiting: Waiting, command: ReplaceCommand): void {
  const { book, triggers, events } = at;
  const { orders } = book;
  const resting = orders.stateOf(index) === ORDER_STATE.resting ? orders.remaining(index) : 0;
  const lots = Math.min(waiting.total - command.quantity, resting);
  if (lots <= 0) {
    events.replaceUnchanged(command.requestId, orders.sequenceOf(index));
    return;
  }
  if (lots === resting) book.takeOff(index);
  triggers.takeBack(waiting, lots);
  orders.setPriceAndQuantity(index, orders.priceOf(index), waiting.released);
  if (lots === resting) book.exhaust(index);
  else book.ownSide(orders.sideOf(index)).adjust(index, -lots);
  const order = orders.sequenceOf(index);
  events.activated(book.nextSequence(), order, orders.priorityOf(index), waiting.released);
  publishReplaced(at, index, book.nextSequence(), command, waiting.total);
  triggers.reconsider(waiting);
}

/**
 * Enters at the new price like a new order; a post-only order that crosses only its owner's orders cancels those
 * (STP-04).
 */
function reenter(book: Book, index: number): void {
  if ((book.orders.flagsOf(index) & ORDER_FLAG.postOnly) !== 0) book.cancelOwn(index, book.orders.priceOf(index));
  place(book, index, NO_MONEY);
}

function apply(
  book: Book,
  index: number,
  command: ReplaceCommand,
  terms: { price: number; quantity: number },
): Sequence {
  book.orders.setPriceAndQuantity(index, terms.price, terms.quantity);
  book.orders.setTimestamp(index, command.timestampHigh, command.timestampLow);
  return book.nextSequence();
}

function publishReplaced(
  { book, triggers, events }: ChangePlace,
  index: number,
  sequence: Sequence,
  command: ReplaceCommand,
  quantity: number,
  isCut = false,
): void {
  const { orders } = book;
  const waiting = orders.hasMark(index, MARK.waits) ? triggers.of(index) : null;
  const trigger = waiting === null || triggers.hasFired(waiting) ? null : waiting;
  events.replaced(
    sequence,
    orders.sequenceOf(index),
    orders.priorityOf(index),
    orders.priceOf(index),
    quantity,
    command.timestampHigh,
    command.timestampLow,
    command.requestId,
    trigger?.kind ?? TRIGGER.none,
    trigger?.price ?? 0,
    isCut,
  );
}

/**
 * The new total is not above the filled quantity: the order ends as filled, though a rollback may return it to the book
 * (AMB-32 e).
 */
function complete({ book, events }: ChangePlace, index: number, requestId: number): void {
  events.ended(book.nextSequence(), book.orders.sequenceOf(index), ORDER_END.filled, 0, 0, requestId);
  exhausted(book, index);
}

/** At the same price a smaller order keeps its place, a larger one moves to the back. */
function resize(book: Book, index: number, growth: number): void {
  if (growth === 0) return;
  const side = book.ownSide(book.orders.sideOf(index));
  side.adjust(index, growth);
  if (growth > 0) side.moveToBack(index);
}
