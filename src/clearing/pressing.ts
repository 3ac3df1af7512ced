/**
 * Open orders of a margin account as they press on its capacity (service spec 2.8, MRG-22, MRG-23, AMB-28, AMB-50).
 *
 *   account ──▶ per side and book: its orders, in the order of admission ──▶ what they count, kept until something changes
 *
 * What orders count depends on them and on the base leg that they may reduce, and not on weights or fees, so it stays
 * while prices move. A question asked again therefore costs its books and not their orders; only what changed a book is
 * paid for, once, by the next question.
 *
 * Not here: weights and roundings (src/margin), who asks (account-margin.ts).
 */
import { must } from '../core/assert.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';
import { isMarginType } from '../margin/account-rules.ts';
import type { AssetTerms } from '../margin/asset-terms.ts';
import { countSide, marketPrice, type OpenOrder } from '../margin/pressure.ts';
import { ownPressing } from './balances.ts';
import { quote18 } from './holds.ts';
import type { OrderRow } from './rows.ts';
import type { CountedOrders, OrderSlot, PressingOrders } from './state.ts';

/** Whether an order may ever press. A spot sale does not: it turns collateral into USD, which counts more. */
function mayPress({ account, position }: OrderSlot, row: OrderRow): boolean {
  if (!isMarginType(account.row)) return false;
  if ((row.flags & ORDER_FLAG.reduceOnly) !== 0) return false;
  return position !== null || row.side === SIDE.buy;
}

/** Puts a live order among those of its book and side, behind those admitted before it, if it may press. */
export function addPressing(slot: OrderSlot, row: OrderRow): void {
  if (!mayPress(slot, row)) return;
  const { account, market, position, base } = slot;
  const { side } = row;
  const books = ownPressing(account)[side];
  const key = position ?? base;
  let book = books.get(key);
  if (book === undefined) {
    const risk = must(position?.risk ?? base.collateral, 'an order of a margin account is about collateral');
    book = { side, market, position, risk, orders: new Set(), counted: null };
    books.set(key, book);
  }
  book.orders.add(slot);
  book.counted = null;
  slot.pressing = book;
}

/** The order or what is left of it changed. */
export function notePressing({ pressing }: OrderSlot): void {
  if (pressing !== null) pressing.counted = null;
}

export function removePressing(slot: OrderSlot): void {
  const { account, position, base, row, pressing } = slot;
  if (pressing === null) return;
  pressing.orders.delete(slot);
  pressing.counted = null;
  if (pressing.orders.size === 0) account.pressing[row.side].delete(position ?? base);
  slot.pressing = null;
}

/** Margin orders net against the position, spot buys against nothing (AMB-47). */
function baseOf({ position }: PressingOrders): bigint {
  return position?.legs.base ?? 0n;
}

/** What the orders of a book and side count now. @param terms of its asset. */
export function countedOf(book: PressingOrders, terms: AssetTerms): CountedOrders {
  const { counted } = book;
  const isFresh =
    counted !== null &&
    counted.base === baseOf(book) &&
    (counted.marketPrice === null || counted.marketPrice === marketPrice(terms));
  return isFresh ? counted : recount(book, terms);
}

/** Orders are walked. An order presses once it is released (MRG-22, AMB-28). */
function recount(book: PressingOrders, terms: AssetTerms): CountedOrders {
  const open: OpenOrder[] = [];
  let isPriced = false;
  for (const slot of book.orders) {
    if (slot.row.triggerState !== TRIGGER_STATE.live) continue;
    open.push(openOrder(slot));
    if (slot.row.kind !== ORDER_KIND.limit) isPriced = true;
  }
  const base = baseOf(book);
  const { side, market } = book;
  const counted: CountedOrders = {
    base,
    marketPrice: isPriced ? marketPrice(terms) : null,
    notional: countSide({ side, market: market.definition, terms, base }, open),
    presses: open.length > 0,
  };
  book.counted = counted;
  return counted;
}

/** What is left of a live order. */
function openOrder({ row, market }: OrderSlot): OpenOrder {
  const lots = lotsLeft(row.enabledQuantity - row.filledQuantity - row.droppedQuantity);
  if (row.kind === ORDER_KIND.limit) {
    return { price: row.price, lots, spend: ZERO_18 };
  }
  const amount = row.amount === 0 ? 0n : quote18(row.amount, market.definition) - row.filledNotional;
  const spend = (amount > 0n ? amount : 0n) as Amount18;
  const isSized = row.kind === ORDER_KIND.marketBase;
  return { price: 0, lots: isSized ? lots : 0, spend };
}

function lotsLeft(lots: number): number {
  return Math.max(0, lots);
}

/** Whether the order is where it belongs, and what is kept of its book is still so; for checks. */
export function isPressingRight(slot: OrderSlot, row: OrderRow, terms: (book: PressingOrders) => AssetTerms): boolean {
  const { account, position, base, pressing } = slot;
  if (pressing === null) return !mayPress(slot, row);
  const { side } = row;
  const isThere = pressing.orders.has(slot) && account.pressing[side].get(position ?? base) === pressing;
  const first = pressing.orders.values().next().value;
  if (first !== slot || pressing.counted === null) return mayPress(slot, row) && isThere;
  const kept = countedOf(pressing, terms(pressing));
  const anew = recount(pressing, terms(pressing));
  return mayPress(slot, row) && isThere && kept.notional === anew.notional && kept.presses === anew.presses;
}
