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
import type { OrderRow } from './rows.ts';
import type { MarketSlot, OrderSlot } from './state.ts';

/** Whether a part of the order waits for the fills of a parent that still lives. */
export function hasLiveParent(market: MarketSlot, row: OrderRow): boolean {
  return row.parentSequence !== 0 && market.orders.has(row.parentSequence);
}

/**
 * Lots of the order that may trade when its quantity is as given. Where the parent is over here, and its market may not
 * have heard: no more than its fills enabled, if that was not all of the child; else all that the market lets a child
 * have of a parent that is filled (AMB-29). When it has heard, it says what is left of the child.
 */
export function enabledQuantityOf(market: MarketSlot, row: OrderRow, quantity: number): number {
  if (row.parentSequence === 0) return quantity;
  const parent = market.orders.get(row.parentSequence);
  if (parent !== undefined) return Math.min(quantity, parent.row.filledQuantity);
  // mutant: child-enabled-quantity
  return row.enabledQuantity < row.quantity ? Math.min(quantity, row.enabledQuantity) : quantity;
}

/** Takes a live order into the index, if it is a child. */
export function linkChild(market: MarketSlot, slot: OrderSlot, { parentSequence: parent }: OrderRow): void {
  if (parent === 0 || !market.orders.has(parent)) return;
  const children = market.children.get(parent);
  if (children === undefined) market.children.set(parent, new Set([slot]));
  else children.add(slot);
}

/** The order is over: it is nobody's child and nobody's parent any more. */
export function unlinkOrder(market: MarketSlot, slot: OrderSlot): void {
  market.children.delete(slot.row.orderSequence);
  const { parentSequence } = slot.row;
  if (parentSequence === 0) return;
  const siblings = market.children.get(parentSequence);
  siblings?.delete(slot);
  if (siblings?.size === 0) market.children.delete(parentSequence);
}

/** The live children of an order, in the order of their admission. */
export function childrenOf(market: MarketSlot, parent: Sequence): Iterable<OrderSlot> {
  return market.children.get(parent) ?? [];
}
