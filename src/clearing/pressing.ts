/**
 * Open orders of a margin account as they press on its capacity (service spec 2.8, MRG-22, MRG-23, AMB-28, AMB-50).
 *
 *   account ──▶ per side and book: its orders, in the order of admission, and the sum of what they count uncovered
 *                                    └─▶ less what the base leg covers ──▶ what they count, kept until something changes
 *
 * Reduce-only orders that may rest are a book of their own: the base leg covers its first lots too, and what exceeds it
 * counts (AMB-27). Those that are judged on arrival never press.
 *
 * What orders count depends on them and on the base leg that they may reduce, and not on weights or fees, so it stays
 * while prices move. The sum follows each change, so a question looks at no order but the first ones, as far as the base
 * leg covers them; asked again, at none. What it needs of an order stands in its slot: the row may lie in its table
 * (order-slot.ts), and only that of an order without a limit price is read. (Such an order counts at the price of the
 * moment: while one is released, all of its book are looked at. It is gone with its match.)
 *
 * Not here: weights and roundings (src/risk), who asks (account-margin.ts).
 */
import { notional18 } from '../core/arithmetic.ts';
import { must } from '../core/assert.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, ZERO_18 } from '../core/units.ts';
import { isMarginType } from '../risk/account-rules.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import { countSide, isJudgedOnArrival, marketPrice, type OpenOrder, offsetLots } from '../risk/pressure.ts';
import { ownPressing, SPOT_ACCOUNT } from './balances.ts';
import { quote18 } from './holds.ts';
import type { OrderRow } from './rows.ts';
import type { CountedOrders, OrderSlot, PressingKey, PressingOrders } from './state.ts';

/** As `OrderSlot.openLots`. */
const UNRELEASED = -1;

/** Whether an order may ever press. A spot sale does not: it turns collateral into USD, which counts more. */
function mayPress(slot: OrderSlot, row: OrderRow): boolean {
  const { subAccount, side } = row;
  // Every user's first account is a spot one: nothing that its orders are tied to has to be looked up.
  if (subAccount === SPOT_ACCOUNT || !isMarginType(slot.account.row)) return false;
  if (isReduceOnly(row)) return slot.position !== null && !isJudgedOnArrival(row);
  return slot.position !== null || side === SIDE.buy;
}

function isReduceOnly({ flags }: OrderRow): boolean {
  return (flags & ORDER_FLAG.reduceOnly) !== 0;
}

/** Of the book in which an order presses, among those of its account and side. */
function keyOf({ position, base, market }: OrderSlot, row: OrderRow): PressingKey {
  return isReduceOnly(row) ? market : (position ?? base);
}

/** Puts a live order among those of its book and side, behind those admitted before it, if it may press. */
export function addPressing(slot: OrderSlot, row: OrderRow): void {
  if (!mayPress(slot, row)) return;
  const { account, market, position, base } = slot;
  const { side } = row;
  const books = ownPressing(account)[side];
  const key = keyOf(slot, row);
  let book = books.get(key);
  if (book === undefined) {
    const risk = must(position?.risk ?? base.collateral, 'an order of a margin account is about collateral');
    const nothing = { released: 0, unpriced: 0, notional: 0n, counted: null };
    book = { key, side, market, position, risk, orders: new Set(), ...nothing };
    books.set(key, book);
  }
  book.orders.add(slot);
  slot.pressing = book;
  weigh(slot, book, row);
}

/** The order or what is left of it changed. */
export function notePressing(slot: OrderSlot): void {
  const { pressing } = slot;
  // mutant: open-orders-weighed
  if (pressing !== null) weigh(slot, pressing, slot.row);
}

export function removePressing(slot: OrderSlot): void {
  const { pressing } = slot;
  if (pressing === null) return;
  pressing.orders.delete(slot);
  weigh(slot, pressing, null);
  if (pressing.orders.size === 0) slot.account.pressing[pressing.side].delete(pressing.key);
  slot.pressing = null;
}

/** Counts the order as its row is now. @param row null for one that is over. */
function weigh(slot: OrderSlot, book: PressingOrders, row: OrderRow | null): void {
  const lots = row === null ? UNRELEASED : openLotsOf(row);
  const price = row === null ? slot.openPrice : limitOf(row);
  const by = (lots === UNRELEASED ? 0 : 1) - (slot.openLots === UNRELEASED ? 0 : 1);
  book.released += by;
  if (price === 0) book.unpriced += by;
  if (price !== slot.openPrice) {
    book.notional -= notionalOf(book, slot.openPrice, slot.openLots);
    slot.openPrice = price;
    book.notional += notionalOf(book, price, lots);
  } else if (lots !== slot.openLots) {
    book.notional += notionalOf(book, price, lots) - notionalOf(book, price, slot.openLots);
  }
  slot.openLots = lots;
  book.counted = null;
}

/** As `OrderSlot.openLots`. An order presses once it is released (MRG-22, AMB-28). */
function openLotsOf(row: OrderRow): number {
  if (row.triggerState !== TRIGGER_STATE.live) return UNRELEASED;
  return row.kind === ORDER_KIND.limit ? lotsLeft(row) : 0;
}

/** As `OrderSlot.openPrice`. */
function limitOf({ kind, price }: OrderRow): RawPrice | 0 {
  return kind === ORDER_KIND.limit ? price : 0;
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
  return isFresh ? counted : count(book, terms);
}

function count(book: PressingOrders, terms: AssetTerms): CountedOrders {
  const base = baseOf(book);
  const isPriced = book.unpriced > 0;
  const counted: CountedOrders = {
    base,
    marketPrice: isPriced ? marketPrice(terms) : null,
    notional: isPriced ? countAll(book, terms) : ((book.notional - coveredOf(book)) as Amount18),
  };
  book.counted = counted;
  return counted;
}

/** What the base leg covers of limit orders, the first ones first; what comes after them is not looked at (AMB-50). */
function coveredOf(book: PressingOrders): bigint {
  let offset = offsetLots(book.side, baseOf(book), book.market.definition.quantityDecimals);
  let { released } = book;
  let covered = 0n;
  if (offset === 0 || released === 0) return covered;
  for (const { openLots, openPrice } of book.orders) {
    if (openLots === UNRELEASED) continue;
    const lots = Math.min(openLots, offset);
    covered += notionalOf(book, openPrice, lots);
    offset -= lots;
    released -= 1;
    if (offset === 0 || released === 0) break;
  }
  return covered;
}

/** Order by order, market orders at the price of the moment. */
function countAll(book: PressingOrders, terms: AssetTerms): Amount18 {
  const { side, market } = book;
  const open: OpenOrder[] = [];
  for (const slot of book.orders) if (slot.openLots !== UNRELEASED) open.push(openOrder(slot));
  return countSide({ side, market: market.definition, terms, base: baseOf(book) }, open);
}

/** What is left of a live order. */
function openOrder(slot: OrderSlot): OpenOrder {
  const { openPrice: price, openLots: lots, market } = slot;
  if (price !== 0) return { price, lots, spend: ZERO_18 };
  const row = slot.look();
  const amount = row.amount === 0 ? 0n : quote18(row.amount, market.definition) - row.filledNotional;
  const isSized = row.kind === ORDER_KIND.marketBase;
  const left = isSized ? lotsLeft(row) : 0;
  // A child has filled all that is in force: what is left of its cap is for lots that its parent may still bring.
  const spend = (amount > 0n && !(isSized && left === 0) ? amount : 0n) as Amount18;
  return { price, lots: left, spend };
}

function lotsLeft({ enabledQuantity, filledQuantity, droppedQuantity }: OrderRow): number {
  return Math.max(0, enabledQuantity - filledQuantity - droppedQuantity);
}

/** Of an order that is not released: nothing. */
function notionalOf({ market }: PressingOrders, price: RawPrice | 0, lots: number): bigint {
  return price === 0 || lots <= 0 ? 0n : notional18(price, lots as RawQuantity, market.definition);
}

/** Whether the order is where it belongs and counts what it should, and so does its book; for checks. */
export function isPressingRight(slot: OrderSlot, row: OrderRow, terms: (book: PressingOrders) => AssetTerms): boolean {
  const { pressing } = slot;
  if (pressing === null) return !mayPress(slot, row);
  const isThere = pressing.orders.has(slot) && slot.account.pressing[row.side].get(keyOf(slot, row)) === pressing;
  const isSame = slot.openLots === openLotsOf(row) && slot.openPrice === limitOf(row);
  const first = pressing.orders.values().next().value;
  const isRight = mayPress(slot, row) && isThere && isSame;
  return isRight && (first !== slot || isBookRight(pressing, terms(pressing)));
}

/** Its sums are those of its orders, by what their slots say of them. */
function isBookRight(book: PressingOrders, terms: AssetTerms): boolean {
  let [released, unpriced, notional] = [0, 0, 0n];
  for (const { openLots, openPrice } of book.orders) {
    if (openLots === UNRELEASED) continue;
    released += 1;
    if (openPrice === 0) unpriced += 1;
    notional += notionalOf(book, openPrice, openLots);
  }
  const isSummedUp = book.released === released && book.unpriced === unpriced && book.notional === notional;
  return isSummedUp && countedOf(book, terms).notional === countAll(book, terms);
}
