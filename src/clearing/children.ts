/**
 * Parents and children (TRG-07, AMB-29): as a parent's fills confirm, so many lots of each of its children are enabled.
 *
 *   parent lives      enabled = min(quantity, the parent's confirmed fills)
 *   parent is over    enabled stays; the market takes off the rest, or a restart does
 *
 * The links of children are derived: live children have them to live parents, and no other order has one.
 *
 * Not here: what is released of what is enabled (the market's word, triggers.ts).
 */
import { NONE } from '../core/pools.ts';
import type { OrderIndex } from './live-orders.ts';
import type { OrderRow } from './rows.ts';
import type { ClearingMarket } from './state.ts';

/** Whether a part of the order waits for the fills of a parent that still lives. */
export function hasLiveParent(market: ClearingMarket, row: OrderRow): boolean {
  return market.orders.has(row.parentSequence);
}

/**
 * Lots of the order that may trade when its quantity is as given. Where the parent is over here, and its market may not
 * have received that yet: no more than its fills enabled, if that was not all of the child; else all that the market lets
 * a child have of a parent that is filled (AMB-29). Its later events carry what is left of the child.
 */
export function enabledQuantityOf(market: ClearingMarket, row: OrderRow, quantity: number): number {
  if (row.parentSequence === 0) return quantity;
  const parent = market.orders.get(row.parentSequence);
  if (parent !== undefined) return Math.min(quantity, parent.filledQuantity);
  // mutant: child-enabled-quantity
  return row.enabledQuantity < row.quantity ? Math.min(quantity, row.enabledQuantity) : quantity;
}

/** Links a live order to its live parent, if it has one; the end of either takes the link away. */
export function linkChild(market: ClearingMarket, index: OrderIndex): void {
  const { orders } = market;
  const parent = orders.find(orders.row(index).parentSequence);
  if (parent !== NONE) orders.store.linkChild(index, parent);
}

/** The order is a child no more. */
export function unlinkChild({ orders }: ClearingMarket, index: OrderIndex): void {
  if (orders.store.parentOf(index) !== NONE) orders.store.unlinkChild(index);
}
