/**
 * The margin figures of an account as clearing knows it: confirmed balances and legs, or those that a plan would leave;
 * and the capacity that its open orders leave it.
 *
 * Not here: the formulas (src/margin).
 */

import { must } from '../core/assert.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, type Side, TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../core/units.ts';
import {
  addInitial,
  addInitialUsd,
  addMaintenance,
  addMaintenanceUsd,
  emptyInitial,
  emptyMaintenance,
  type InitialSums,
  initialSurplus,
  type MaintenanceSums,
} from '../margin/account.ts';
import type { AssetTerms } from '../margin/asset-terms.ts';
import type { Legs } from '../margin/position.ts';
import { capacityOf, type OpenOrder, sidePressure } from '../margin/pressure.ts';
import { quote18 } from './holds.ts';
import { termsOf } from './risks.ts';
import type { BalanceSlot, MarketSlot, OrderSlot, PositionSlot, RiskSlot, SubAccountSlot } from './state.ts';

/** What is asked about instead of what is confirmed. */
export interface Overlay {
  owned(slot: BalanceSlot): Amount18;
  legs(slot: PositionSlot): Legs;
  terms(slot: RiskSlot, nowNs: TimestampNs): AssetTerms;
}

export const CONFIRMED: Overlay = {
  owned: (slot) => slot.owned,
  legs: (slot) => slot.legs,
  terms: termsOf,
};

/** Initial surplus at both prices: every balance and every leg (AMB-47). */
export function initialOf(account: SubAccountSlot, nowNs: TimestampNs, overlay: Overlay): InitialSums {
  const sums = emptyInitial();
  for (const slot of account.balances.values()) {
    const owned = overlay.owned(slot);
    if (owned === 0n) continue;
    if (slot.collateral === null) addInitialUsd(sums, owned);
    else addInitial(sums, overlay.terms(slot.collateral, nowNs), owned);
  }
  for (const slot of account.positions.values()) {
    const { base, quote } = overlay.legs(slot);
    if (base !== 0n) addInitial(sums, overlay.terms(slot.risk, nowNs), base);
    addInitialUsd(sums, quote);
  }
  return sums;
}

/** Maintenance margin as confirmed: what every price of an asset is checked for, in all accounts that hold it (LIQ-02). */
export function maintenanceOf(account: SubAccountSlot, nowNs: TimestampNs): MaintenanceSums {
  const sums = emptyMaintenance();
  for (const { collateral, owned } of account.balances.values()) {
    if (collateral === null) addMaintenanceUsd(sums, owned);
    else if (owned !== 0n) addMaintenance(sums, termsOf(collateral, nowNs), owned);
  }
  for (const { risk, legs } of account.positions.values()) {
    if (legs.base !== 0n) addMaintenance(sums, termsOf(risk, nowNs), legs.base);
    addMaintenanceUsd(sums, legs.quote);
  }
  return sums;
}

/**
 * Whether the order presses: released, and it may cost the account margin (MRG-22, AMB-28). A spot sale does not: it turns
 * collateral into USD, which counts more.
 */
function presses({ row, position }: OrderSlot): boolean {
  if (row.triggerState !== TRIGGER_STATE.live || (row.flags & ORDER_FLAG.reduceOnly) !== 0) return false;
  return position !== null || row.side === SIDE.buy;
}

/** What is left of a live order. */
function openOrder({ row, market, dropped }: OrderSlot): OpenOrder {
  if (row.kind === ORDER_KIND.limit) {
    return { price: row.price, lots: lotsLeft(row.enabledQuantity - row.filledQuantity - dropped), spend: ZERO_18 };
  }
  const amount = row.amount === 0 ? 0n : quote18(row.amount, market.definition) - row.filledNotional;
  const spend = (amount > 0n ? amount : 0n) as Amount18;
  const isSized = row.kind === ORDER_KIND.marketBase;
  return { price: 0, lots: isSized ? lotsLeft(row.enabledQuantity - row.filledQuantity - dropped) : 0, spend };
}

function lotsLeft(lots: number): number {
  return Math.max(0, lots);
}

/** Orders of one side in one book: margin orders net against the position, spot buys against nothing (AMB-47). */
interface Book {
  readonly market: MarketSlot;
  readonly position: PositionSlot | null;
  readonly risk: RiskSlot;
  readonly orders: OpenOrder[];
}

function booksOf(account: SubAccountSlot, side: Side): Iterable<Book> {
  const books = new Map<PositionSlot | BalanceSlot, Book>();
  for (const slot of account.marginOrders) {
    if (slot.row.side !== side || !presses(slot)) continue;
    const { market, position, base } = slot;
    const risk = must(position?.risk ?? base.collateral, 'an order of a margin account is about collateral');
    const key = position ?? base;
    const book = books.get(key) ?? { market, position, risk, orders: [] };
    books.set(key, book);
    book.orders.push(openOrder(slot));
  }
  return books.values();
}

/** Pressure of one side over all books, from the confirmed positions (MRG-23, AMB-50). */
function pressureOfSide(account: SubAccountSlot, side: Side, nowNs: TimestampNs): Amount18 {
  let pressure = 0n;
  for (const { market, position, risk, orders } of booksOf(account, side)) {
    const base = position?.legs.base ?? 0n;
    pressure += sidePressure({ side, market: market.definition, terms: termsOf(risk, nowNs), base }, orders);
  }
  return pressure as Amount18;
}

/** What is left for more risk, were the balance of `slot` to become `owned` (MRG-16, AMB-65). */
export function capacityWith(
  account: SubAccountSlot,
  { slot, owned }: { readonly slot: BalanceSlot; readonly owned: Amount18 },
  nowNs: TimestampNs,
): Amount18 {
  const overlay: Overlay = { ...CONFIRMED, owned: (other) => (other === slot ? owned : other.owned) };
  const surplus = initialSurplus(initialOf(account, nowNs, overlay));
  return capacityOf(surplus, pressureOfSide(account, SIDE.buy, nowNs), pressureOfSide(account, SIDE.sell, nowNs));
}

/** Whether the account is held to its capacity: it borrows, or has orders that may borrow (AMB-65). */
export function isMarginBound(account: SubAccountSlot): boolean {
  for (const { legs } of account.positions.values()) if (legs.base < 0n || legs.quote < 0n) return true;
  for (const slot of account.marginOrders) if (slot.position !== null && presses(slot)) return true;
  return false;
}
