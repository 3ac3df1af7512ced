/**
 * Parents and children (TRG-07, AMB-29): as a parent's fills confirm, so many lots of each of its children are enabled.
 *
 *   parent lives      enabled = min(quantity, the parent's confirmed fills)
 *   parent is over    enabled stays; the market takes off the rest, or a restart does
 *
 * The index of children is derived: it holds live children of live parents, and nothing else.
 *
 * Not here: what is released of what is enabled (the market's word, triggers.ts).
 */
import type { Sequence } from '../core/units.ts';
import type { OrderIndex } from './live-orders.ts';
import type { OrderRow } from './rows.ts';
import type { MarketSlot } from './state.ts';

/** Whether a part of the order waits for the fills of a parent that still lives. */
export function hasLiveParent(market: MarketSlot, row: OrderRow): boolean {
  return market.orders.has(row.parentSequence);
}

/**
 * Lots of the order that may trade when its quantity is as given. Where the parent is over here, and its market may not
 * have received that yet: no more than its fills enabled, if that was not all of the child; else all that the market lets
 * a child have of a parent that is filled (AMB-29). Its later events carry what is left of the child.
 */
export function enabledQuantityOf(market: MarketSlot, row: OrderRow, quantity: number): number {
  if (row.parentSequence === 0) return quantity;
  const parent = market.orders.get(row.parentSequence);
  if (parent !== undefined) return Math.min(quantity, parent.filledQuantity);
  // mutant: child-enabled-quantity
  return row.enabledQuantity < row.quantity ? Math.min(quantity, row.enabledQuantity) : quantity;
}

/** Takes a live order into the index, if it is a child. */
export function linkChild(market: MarketSlot, index: OrderIndex): void {
  const { parentSequence: parent } = market.orders.row(index);
  if (parent === 0 || !market.orders.has(parent)) return;
  const children = market.children.get(parent);
  if (children === undefined) market.children.set(parent, new Set([index]));
  else children.add(index);
}

/** The order has ended, or is a child no more: neither child nor, where it ends, parent in the index. */
export function unlinkOrder(market: MarketSlot, index: OrderIndex): void {
  const { orderSequence, parentSequence } = market.orders.row(index);
  market.children.delete(orderSequence);
  if (parentSequence === 0) return;
  const siblings = market.children.get(parentSequence);
  siblings?.delete(index);
  if (siblings?.size === 0) market.children.delete(parentSequence);
}

/** The live children of an order, in the order of their admission. */
export function childrenOf(market: MarketSlot, parent: Sequence): Iterable<OrderIndex> {
  return market.children.get(parent) ?? [];
}
