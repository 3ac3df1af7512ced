/**
 * An order in memory from what clearing kept of it at a restart (AMB-110): only confirmed fills are filled.
 *
 * A child is linked to its parent when its market opens, as orders are restored in any sequence. One whose trigger fired
 * but was not answered for has let nothing through yet; the hold is taken when its market opens (releases.ts). Clearing
 * ends covered orders and released ones that never rest at a restart, so neither of them comes here.
 */
import type { UserId } from '../core/ids.ts';
import { TRIGGER_STATE } from '../core/order-terms.ts';
import type { Balance } from './holds.ts';
import { isChild, LET_THROUGH_WHOLE, type LiveOrder, newLiveOrder, type OrderTerms } from './live-order.ts';
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
  order.activated = row.triggerState === TRIGGER_STATE.live ? row.enabledQuantity : 0;
  order.letThrough = letThroughBy(row, order);
  order.enabledWithoutParent = row.enabledQuantity;
  return order;
}

function letThroughBy(row: RestoredOrder, order: LiveOrder): number {
  if (row.triggerState !== TRIGGER_STATE.live) return 0;
  return isChild(order) ? row.enabledQuantity : LET_THROUGH_WHOLE;
}

/** The terms alone: a row carries more than an order should keep. */
function termsOf(row: OrderTerms, user: UserId): OrderTerms {
  const { subAccount, orderId, side, kind, tif, flags, amount, triggerKind, parentId, creationNs, goodUntilNs } = row;
  return { user, subAccount, orderId, side, kind, tif, flags, amount, triggerKind, parentId, creationNs, goodUntilNs };
}
