/**
 * Expired orders that have not ended yet, because more were due at one instant than one command ends (ORD-20, AMB-10).
 * They end some per step, earliest first. A step that would involve one of them ends it first, so none ever trades, is
 * changed, is released or blocks another order:
 *
 *   a command refers to one                     it ends, and the command does not find it
 *   an order is about to enter the book         expired orders among those within its reach end, up to its quantity
 *   a fill of one is rolled back                it ends, and nothing of it returns
 *   a crossed book is uncrossed                 it ends when it is one of the best two
 *
 * Until then its level counts it, as its end is not published.
 */
import { ORDER_END, SIDE, type Side } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Book } from './book.ts';
import type { HashedKey, NewOrderCommand, ReplaceCommand } from './commands.ts';
import type { OrderLookup } from './order-lookup.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { lotsWanted, moneyOf } from './placement.ts';

/** The part of the opposite side that an order could match. */
interface Reach {
  readonly side: Side;
  /** Owner of the order: with self-trade prevention the owner's resting orders are not matched. */
  readonly user: number;
  readonly subAccount: number;
  /** The worst price. */
  readonly bound: number;
  /** Limits of the quantity and the money. */
  readonly lots: number;
  readonly target: bigint | null;
}

/** Advances to a time and ends at most `budget` due orders. */
export function expireSome(book: Book, high: number, low: number, budget: number): void {
  for (const index of book.expiries.pass(high, low, budget)) {
    // The end of a parent may have ended a child that is due as well.
    if (isOpen(book, index)) expire(book, index);
  }
}

/** Ends the order if it is due. @returns whether it has ended. */
export function endIfDue(book: Book, index: number): boolean {
  const { expiries } = book;
  if (!expiries.isBehind || !isOpen(book, index) || !expiries.isDue(index)) return false;
  expire(book, index);
  // Publish the level before another order changes it.
  book.commitDepth();
  return true;
}

/** Ends the due orders within this reach; returns at once when none is due. */
export function endExpiredWithin(book: Book, way: Reach): void {
  if (!book.expiries.isBehind) return;
  const due = dueWithin(book, way);
  for (const index of due) expire(book, index);
  if (due.length > 0) book.commitDepth();
}

function dueWithin(book: Book, way: Reach): readonly number[] {
  const { expiries, orders } = book;
  const makers = book.otherSide(way.side);
  const due: number[] = [];
  let { lots, target } = way;
  for (let level = makers.bestLevel; level !== NONE && makers.isWithin(level, way.bound); level = makers.worse(level)) {
    const price = BigInt(makers.levelPrice(level));
    for (let index = makers.levelHead(level); index !== NONE; index = makers.behind(level, index)) {
      if (expiries.isDue(index)) due.push(index);
      // A protected order may leave the book before it is reached (MMP-03): it shortens no way.
      else if (orders.hasMark(index, MARK.isMember)) continue;
      else if (!book.preventsSelfTrades || !isOwn(book, index, way)) {
        lots -= orders.remaining(index);
        if (target !== null) target -= price * BigInt(orders.remaining(index));
        if (lots <= 0 || (target !== null && target <= 0n)) return due;
      }
    }
  }
  return due;
}

/** The worst relevant price: orders beyond the collar are not matched, but an order with a price of its own stops there. */
export function boundOf(book: Book, { side, price }: { side: Side; price: number }): number {
  if (price !== 0) return price;
  return side === SIDE.buy ? book.highest : book.lowest;
}

function isOwn({ orders }: Book, index: number, { user, subAccount }: Reach): boolean {
  return orders.userOf(index) === user && orders.subAccountOf(index) === subAccount;
}

function isOpen({ orders }: Book, index: number): boolean {
  const state = orders.stateOf(index);
  return state === ORDER_STATE.resting || state === ORDER_STATE.dormant;
}

function expire(book: Book, index: number): void {
  if (book.orders.stateOf(index) === ORDER_STATE.resting) book.takeOff(index);
  book.end(index, ORDER_END.expired);
}

/** Ends the expired orders that a command would involve, before the command runs. */
export class ExpiredOrders {
  readonly #book: Book;
  readonly #lookup: OrderLookup;
  readonly #quoteUnit: bigint;

  /** @param quoteUnit one raw quote unit in the engine's money scale. */
  constructor(book: Book, lookup: OrderLookup, quoteUnit: bigint) {
    this.#book = book;
    this.#lookup = lookup;
    this.#quoteUnit = quoteUnit;
  }

  /** Ends the order that a command refers to if it is due. @returns the order's index if it is live, or NONE. */
  beforeCommand(key: HashedKey): number {
    const index = this.#lookup.findLive(key);
    return index === NONE || endIfDue(this.#book, index) ? NONE : index;
  }

  beforeCreate(command: NewOrderCommand): void {
    this.beforeCommand(command);
    if (command.parentIdBytes !== 0) {
      const parent = this.#lookup.findOther(command.parentWords, command.parentIdBytes);
      if (parent !== NONE) endIfDue(this.#book, parent);
    } else if (command.triggerKind === 0) {
      const { side, subAccount } = command;
      const lots = lotsWanted(command);
      const { target } = moneyOf(command, this.#quoteUnit);
      const { user } = this.#lookup;
      endExpiredWithin(this.#book, { side, user, subAccount, bound: boundOf(this.#book, command), lots, target });
    }
  }

  beforeReplace(command: ReplaceCommand): void {
    const { orders } = this.#book;
    const index = this.beforeCommand(command);
    if (index === NONE || orders.stateOf(index) !== ORDER_STATE.resting || command.price === 0) return;
    endExpiredWithin(this.#book, {
      side: orders.sideOf(index),
      user: orders.userOf(index),
      subAccount: orders.subAccountOf(index),
      bound: command.price,
      lots: Math.max(orders.remaining(index), command.quantity),
      target: null,
    });
  }
}
