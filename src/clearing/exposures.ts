/**
 * Exposure of the open orders of margin accounts, by confirmed figures (service spec 2.8, MRG-22, MRG-23, AMB-28, AMB-50).
 *
 *   account ──▶ per side and book: the queue of its orders, in the order of admission (src/risk/exposure-queue.ts)
 *
 * Reduce-only orders never count (MRG-22, MON-09).
 *
 * An order without a limit price counts at the price of the moment: while one is released it is priced when the sum is
 * read. (It is gone with its match.)
 *
 * Not here: the rule (src/risk/exposure.ts), the account's capacity (account-margin.ts).
 */
import { must } from '../core/assert.ts';
import { ORDER_KIND, TRIGGER_STATE } from '../core/order-terms.ts';
import { isMarginType } from '../risk/account-types.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import { EXPOSURE_BOOK, exposureBook, exposureOf, marketPrice, offsetLots } from '../risk/exposure.ts';
import {
  type Exposure,
  type ExposureEntry,
  ExposureQueue,
  NO_EXPOSURE,
  newExposureEntry,
} from '../risk/exposure-queue.ts';
import { ownExposures } from './balances.ts';
import { baseOf, type ClearingOrder, type OrderIndex, positionOf } from './live-orders.ts';
import type { OrderRow } from './rows.ts';
import type { BookExposure, ClearingState, ExposureKey } from './state.ts';

/** The key of the book in which an order counts, among those of its account and side; null if it never counts. */
function keyOf(state: ClearingState, order: ClearingOrder): ExposureKey | null {
  const { account, row } = order;
  if (!isMarginType(account.row)) return null;
  switch (exposureBook(row)) {
    case EXPOSURE_BOOK.margin:
      return positionOf(state, order);
    case EXPOSURE_BOOK.spotBuys:
      return baseOf(state, order);
    default:
      return null;
  }
}

/** The book in which a live order counts; undefined if it never counts. */
function bookOf(state: ClearingState, order: ClearingOrder): BookExposure | undefined {
  const key = keyOf(state, order);
  return key === null ? undefined : order.account.exposures[order.row.side].get(key);
}

/** Puts a live order among those of its book and side, at its place of admission, if it may count. */
export function addExposure(state: ClearingState, order: ClearingOrder): void {
  const key = keyOf(state, order);
  if (key === null) return;
  const { index, row } = order;
  const books = ownExposures(order.account)[row.side];
  let book = books.get(key);
  if (book === undefined) {
    book = newBook(state, order, key);
    books.set(key, book);
  }
  book.entries.set(index, newExposureEntry(index, row.orderSequence));
  setExposure(book, index, row);
}

function newBook(state: ClearingState, order: ClearingOrder, key: ExposureKey): BookExposure {
  const { market, row } = order;
  const position = positionOf(state, order);
  const collateral = position?.risk ?? baseOf(state, order).collateral;
  return {
    key,
    side: row.side,
    market,
    position,
    risk: must(collateral, 'an order of a margin account is about collateral'),
    entries: new Map(),
    unpriced: new Set(),
    price: 0n,
    queue: new ExposureQueue(),
  };
}

/** The order or what is left of it changed. */
export function updateExposure(state: ClearingState, order: ClearingOrder): void {
  const book = bookOf(state, order);
  // mutant: open-orders-weighed
  if (book !== undefined) setExposure(book, order.index, order.row);
}

export function removeExposure(state: ClearingState, order: ClearingOrder): void {
  const book = bookOf(state, order);
  if (book === undefined) return;
  const { index, account } = order;
  book.unpriced.delete(index);
  book.queue.set(entryOf(book, index), NO_EXPOSURE);
  book.entries.delete(index);
  if (book.entries.size === 0) account.exposures[book.side].delete(book.key);
}

function entryOf({ entries }: BookExposure, index: OrderIndex): ExposureEntry<OrderIndex> {
  return must(entries.get(index), 'an order that counts stands in its book');
}

function setExposure(book: BookExposure, index: OrderIndex, row: OrderRow): void {
  if (row.kind !== ORDER_KIND.limit) {
    if (row.triggerState === TRIGGER_STATE.live) book.unpriced.add(index);
    else book.unpriced.delete(index);
  }
  book.queue.set(entryOf(book, index), exposureNow(book, row));
}

/** An order counts once it is released (MRG-22, AMB-28). */
function exposureNow({ market, price }: BookExposure, row: OrderRow): Exposure {
  if (row.triggerState !== TRIGGER_STATE.live) return NO_EXPOSURE;
  return exposureOf(row, row.enabledQuantity - row.droppedQuantity, price, market.definition);
}

/** Margin orders net against the position, spot buys against nothing (AMB-47). */
function offsetOf({ side, position, market }: BookExposure): number {
  return position === null ? 0 : offsetLots(side, position.legs.base, market.definition.quantityDecimals);
}

/** What the orders of a book and side count now, 10^-18 USD. @param terms of its asset. */
export function countedOf(book: BookExposure, terms: AssetTerms): bigint {
  const price = marketPrice(terms);
  if (book.unpriced.size > 0 && price !== book.price) {
    book.price = price;
    for (const index of book.unpriced) setExposure(book, index, book.market.orders.row(index));
  }
  book.queue.setOffset(offsetOf(book));
  return book.queue.counted;
}

/** Whether the order is where it belongs and counts what it should, and so does its book; for checks. */
export function isExposureRight(
  state: ClearingState,
  order: ClearingOrder,
  terms: (book: BookExposure) => AssetTerms,
): boolean {
  if (keyOf(state, order) === null) return true;
  const book = bookOf(state, order);
  const entry = book?.entries.get(order.index);
  if (book === undefined || entry === undefined) return false;
  const isRight = isSame(entry.exposure, exposureNow(book, order.row));
  return isRight && (!isFirst(order.index, book) || isBookRight(book, terms(book)));
}

function isSame(a: Exposure, b: Exposure): boolean {
  return a.lots === b.lots && a.lotPrice === b.lotPrice && a.total === b.total;
}

function isFirst(index: OrderIndex, { queue }: BookExposure): boolean {
  for (const { owner } of queue.entries()) return owner === index;
  return false;
}

/** Its sum is that of a queue made anew from its orders. */
function isBookRight(book: BookExposure, terms: AssetTerms): boolean {
  const counted = countedOf(book, terms);
  const anew = new ExposureQueue();
  anew.setOffset(offsetOf(book));
  for (const { owner, place, exposure } of book.queue.entries()) anew.set(newExposureEntry(owner, place), exposure);
  return anew.counted === counted;
}
