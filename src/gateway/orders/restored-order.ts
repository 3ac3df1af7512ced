/**
 * An order in memory from what clearing kept of it at a restart (AMB-110): only confirmed fills are filled.
 *
 * A child is linked to its parent when its market opens, as orders are restored in any sequence. One whose trigger fired
 * but was not answered for has let nothing through yet; the hold is taken when its market opens (releases.ts). One that
 * was released in part is told of again by its market. Clearing ends covered orders and those that never rest at a
 * restart, unless more of a child may be released, so neither of them comes here.
 */
import type { UserId } from '../../core/ids.ts';
import { TRIGGER_STATE } from '../../core/order-terms.ts';
import type { Balance } from './holds.ts';
import { isChild, LET_THROUGH_WHOLE, type LiveOrder, neverRests, newLiveOrder, type OrderTerms } from './live-order.ts';
import type { MarketSlot } from './markets.ts';
import type { RestoredOrder } from './words.ts';

/** What it is tied to. @param user the text that the orders of this user share. */
interface Ties {
  readonly user: UserId;
  readonly market: MarketSlot;
  readonly balance: Balance | null;
}

export function restoredOrder(row: RestoredOrder, { user, market, balance }: Ties): LiveOrder {
  const { price, quantity, budget, triggerPrice } = row;
  const order = newLiveOrder(
    { terms: termsOf(row, user), market, balance, price, quantity, bound: budget, triggerPrice },
    row.lastUpdateNs,
  );
  if (row.timestampNs !== row.creationNs) order.timestampNs = row.timestampNs;
  order.confirmed.quantity = row.filledQuantity;
  // Most orders have no fills: a zero that is read is a value of its own, this one is shared.
  if (row.filledNotional !== 0n) order.confirmed.notional = row.filledNotional;
  if (row.fees !== 0n) order.confirmed.fees = row.fees;
  order.triggerState = row.triggerState;
  order.activated = row.inForce;
  order.letThrough = letThroughBy(row, order);
  // A part of a child that never rests has met all that it could.
  order.isIdle = isChild(order) && neverRests(order) && row.inForce > 0;
  order.enabledWithoutParent = row.enabledQuantity;
  return order;
}

function letThroughBy(row: RestoredOrder, order: LiveOrder): number {
  if (row.triggerState !== TRIGGER_STATE.live) return 0;
  return isChild(order) ? row.inForce : LET_THROUGH_WHOLE;
}

/** The terms alone: a row carries more than an order should keep. */
function termsOf(row: OrderTerms, user: UserId): OrderTerms {
  const { subAccount, orderId, side, kind, tif, flags, amount, triggerKind, parentId, creationNs, goodUntilNs } = row;
  return { user, subAccount, orderId, side, kind, tif, flags, amount, triggerKind, parentId, creationNs, goodUntilNs };
}
