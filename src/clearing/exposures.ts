/**
 * Exposure of the open orders of margin accounts, by confirmed figures (service spec 2.8, MRG-22, MRG-23, AMB-28, AMB-50).
 *
 *   account ──▶ per side and book: the queue of its orders, in the order of admission (src/risk/exposure-queue.ts)
 *
 * Reduce-only orders that may rest are a book of their own: the base leg covers its first lots too, and what exceeds it
 * counts (AMB-27). Those that are judged on arrival never count.
 *
 * An order without a limit price counts at the price of the moment: while one is released it is priced when the sum is
 * read. (It is gone with its match.)
 *
 * Not here: the rule (src/risk/exposure.ts), the account's capacity (account-margin.ts).
 */
import { must } from '../core/assert.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, TRIGGER_STATE } from '../core/order-terms.ts';
import { isMarginType } from '../risk/account-types.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import { exposureOf, isJudgedOnArrival, marketPrice, offsetLots } from '../risk/exposure.ts';
import { type Exposure, ExposureQueue, NO_EXPOSURE, newExposureEntry } from '../risk/exposure-queue.ts';
import { ownExposures, SPOT_ACCOUNT } from './balances.ts';
import type { OrderRow } from './rows.ts';
import type { BookExposure, ExposureKey, OrderSlot } from './state.ts';

/** Whether an order may ever count. A spot sale does not: it turns collateral into USD, which counts more. */
function mayCount(slot: OrderSlot, row: OrderRow): boolean {
  const { subAccount, side } = row;
  // Every user's first account is a spot one: nothing that its orders are tied to has to be looked up.
  if (subAccount === SPOT_ACCOUNT || !isMarginType(slot.account.row)) return false;
  if (isReduceOnly(row)) return slot.position !== null && !isJudgedOnArrival(row);
  return slot.position !== null || side === SIDE.buy;
}

function isReduceOnly({ flags }: OrderRow): boolean {
  return (flags & ORDER_FLAG.reduceOnly) !== 0;
}

/** Of the book in which an order counts, among those of its account and side. */
function keyOf({ position, base, market }: OrderSlot, row: OrderRow): ExposureKey {
  return isReduceOnly(row) ? market : (position ?? base);
}

/** Puts a live order among those of its book and side, at its place of admission, if it may count. */
export function addExposure(slot: OrderSlot, row: OrderRow): void {
  if (!mayCount(slot, row)) return;
  const { account, market, position, base } = slot;
  const books = ownExposures(account)[row.side];
  const key = keyOf(slot, row);
  let book = books.get(key);
  if (book === undefined) {
    const risk = must(position?.risk ?? base.collateral, 'an order of a margin account is about collateral');
    book = {
      key,
      side: row.side,
      market,
      position,
      risk,
      orders: 0,
      unpriced: new Set(),
      price: 0n,
      queue: new ExposureQueue(),
    };
    books.set(key, book);
  }
  book.orders += 1;
  slot.exposure = { book, entry: newExposureEntry(slot, row.orderSequence) };
  setExposure(slot, row);
}

/** The order or what is left of it changed. */
export function updateExposure(slot: OrderSlot): void {
  // mutant: open-orders-weighed
  if (slot.exposure !== null) setExposure(slot, slot.row);
}

export function removeExposure(slot: OrderSlot): void {
  const { exposure } = slot;
  if (exposure === null) return;
  const { book, entry } = exposure;
  book.unpriced.delete(slot);
  book.queue.set(entry, NO_EXPOSURE);
  book.orders -= 1;
  if (book.orders === 0) slot.account.exposures[book.side].delete(book.key);
  slot.exposure = null;
}

function setExposure(slot: OrderSlot, row: OrderRow): void {
  const { book, entry } = must(slot.exposure, 'an order that counts has its book');
  if (row.kind !== ORDER_KIND.limit) {
    if (row.triggerState === TRIGGER_STATE.live) book.unpriced.add(slot);
    else book.unpriced.delete(slot);
  }
  book.queue.set(entry, exposureNow(book, row));
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
    for (const slot of book.unpriced) setExposure(slot, slot.look());
  }
  book.queue.setOffset(offsetOf(book));
  return book.queue.counted;
}

/** Whether the order is where it belongs and counts what it should, and so does its book; for checks. */
export function isExposureRight(slot: OrderSlot, row: OrderRow, terms: (book: BookExposure) => AssetTerms): boolean {
  const { exposure } = slot;
  if (exposure === null) return !mayCount(slot, row);
  const { book, entry } = exposure;
  if (!mayCount(slot, row) || slot.account.exposures[row.side].get(keyOf(slot, row)) !== book) return false;
  return isSame(entry.exposure, exposureNow(book, row)) && (!isFirst(slot, book) || isBookRight(book, terms(book)));
}

function isSame(a: Exposure, b: Exposure): boolean {
  return a.lots === b.lots && a.lotPrice === b.lotPrice && a.total === b.total;
}

function isFirst(slot: OrderSlot, { queue }: BookExposure): boolean {
  for (const { owner } of queue.entries()) return owner === slot;
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
