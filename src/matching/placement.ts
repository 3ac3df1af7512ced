/**
 * Places an order that enters the book: match, then rest or end (TIF-02 to TIF-05, AMB-37, AMB-39).
 *
 *   limit GTC, GTD    match, rest the remainder; a remainder that crosses beyond the collar ends instead
 *   limit IOC         match, end the remainder
 *   limit FOK         match all or end unfilled
 *   market            by quantity alone as IOC or FOK; by money it is sized first. Never rests (ORD-21)
 *
 * A complete fill of the quantity publishes no end event: it follows from the fills. An order that is complete by its
 * money ends as filled.
 */
import { ORDER_END, ORDER_KIND, SIDE, type Side, TIF } from '../core/order-terms.ts';
import { type Book, UNSIZED } from './book.ts';
import { type Size, sizeOf } from './sizing.ts';

/** Money limits of a market order, in units of 10^-(price decimals + quantity decimals); a sell's budget in lots. */
export interface Money {
  readonly target: bigint | null;
  readonly budget: bigint | null;
}

export const NO_MONEY: Money = { target: null, budget: null };

/** Places an order that is on no side, with its remaining quantity. */
export function place(book: Book, index: number, money: Money): void {
  if (money === NO_MONEY) placePlain(book, index);
  else placeSized(book, index, money);
}

function placePlain(book: Book, index: number): void {
  const { orders } = book;
  const tif = orders.tifOf(index);
  const bound = book.boundOf(index);
  const wanted = orders.remaining(index);
  if (tif === TIF.fok && !canFill(book, index, bound, wanted)) {
    book.end(index, ORDER_END.fillOrKill);
    return;
  }
  const left = book.match(index, bound, wanted);
  book.endTripped();
  if (left === 0) exhausted(book, index);
  else if (tif === TIF.ioc || tif === TIF.fok) book.end(index, ORDER_END.immediateOrCancel);
  else settleDown(book, index, bound);
}

/**
 * Rests the remainder of a GTC or GTD order, unless orders beyond the collar would cross it or its level would exceed
 * the maximum quantity.
 */
function settleDown(book: Book, index: number, bound: number): void {
  const { orders } = book;
  const price = orders.priceOf(index);
  const side = orders.sideOf(index);
  const isStopped = bound !== price && book.otherSide(side).crosses(price);
  if (isStopped || !book.ownSide(side).fits(price, orders.remaining(index)))
    book.end(index, ORDER_END.immediateOrCancel);
  else book.rest(index);
}

function canFill(book: Book, index: number, bound: number, wanted: number): boolean {
  const side = book.orders.sideOf(index);
  if (!book.preventsSelfTrades && !book.protection.hasMembers) return book.otherSide(side).canFill(bound, wanted);
  return sizeOf(book, index, { price: bound, lots: wanted, ...NO_MONEY }).isComplete;
}

/** Market orders with a target, a cap or a budget. */
function placeSized(book: Book, index: number, money: Money): void {
  const { orders } = book;
  const bound = book.boundOf(index);
  const size = sizeOf(book, index, { price: bound, lots: orders.remaining(index), ...money });
  if (!size.isComplete && orders.tifOf(index) === TIF.fok) {
    book.end(index, ORDER_END.fillOrKill);
    return;
  }
  const wanted = orders.remaining(index);
  matchSized(book, index, size, { lots: wanted, ...moneyLeft(money, size, orders.sideOf(index)) });
  const isWhole = orders.kindOf(index) === ORDER_KIND.marketBase && orders.remaining(index) === 0;
  if (isWhole) exhausted(book, index);
  else book.end(index, size.isComplete ? ORDER_END.filled : ORDER_END.immediateOrCancel);
}

/** Limits of an order: before matching, or what is left of them after it. */
interface Allowed extends Money {
  readonly lots: number;
}

/**
 * Matches the computed size. With self-trade prevention the owner's resting orders that the order would have reached
 * are cancelled too: `match` cancels those before each fill; this function cancels those behind the last fill, as long
 * as one lot at their price is within the limits (STP-03, AMB-38). @param after the limits beyond `size`, its lots
 * included in `lots`.
 */
export function matchSized(book: Book, index: number, size: Size, after: Allowed): void {
  const bound = book.boundOf(index);
  book.match(index, bound, size.lots);
  if (book.preventsSelfTrades && size.lots !== after.lots) cancelOwnBehind(book, index, bound, after);
  book.endTripped();
}

function cancelOwnBehind(book: Book, index: number, bound: number, after: Allowed): void {
  const side = book.orders.sideOf(index);
  const makers = book.otherSide(side);
  while (
    makers.crosses(bound) &&
    book.isSameOwner(makers.bestOrder, index) &&
    affordsOne(after, side, makers.bestPrice)
  ) {
    const own = makers.bestOrder;
    book.takeOff(own);
    book.end(own, ORDER_END.selfTradePrevented);
  }
}

function affordsOne({ target, budget }: Money, side: Side, price: number): boolean {
  const need = BigInt(price);
  const isPayable = target === null || target >= need;
  return isPayable && (budget === null || budget >= (side === SIDE.buy ? need : 1n));
}

/** The money left after lots were matched. */
export function moneyLeft(money: Money, { lots, money: spent }: Pick<Size, 'lots' | 'money'>, side: Side): Money {
  const used = side === SIDE.buy ? spent : BigInt(lots);
  return {
    target: money.target === null ? null : money.target - spent,
    budget: money.budget === null ? null : money.budget - used,
  };
}

/** The order has no released quantity left to match. */
export function exhausted(book: Book, index: number): void {
  book.exhaust(index);
  book.releaseIfDone(index);
}

/** The money limits of an order, from its signed terms. @param unit 10^price decimals. */
export function moneyOf(
  order: { readonly kind: number; readonly side: number; readonly amount: number; readonly budget: number },
  unit: bigint,
): Money {
  if (order.kind === ORDER_KIND.limit || (order.amount === 0 && order.budget === 0)) return NO_MONEY;
  const isBaseBudget = order.side === SIDE.sell;
  return {
    target: order.amount === 0 ? null : BigInt(order.amount) * unit,
    budget: order.budget === 0 ? null : isBaseBudget ? BigInt(order.budget) : BigInt(order.budget) * unit,
  };
}

/** The quantity stored in the pool: UNSIZED for a quote-sized order without a cap. */
export function lotsWanted(order: { readonly kind: number; readonly quantity: number }): number {
  return order.kind === ORDER_KIND.marketQuote && order.quantity === 0 ? UNSIZED : order.quantity;
}
