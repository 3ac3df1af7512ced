/**
 * Kinds of orders that the wire knows and this node does not trade: market orders, triggers, margin. Each is refused
 * with the member that asks for it. Serving a kind means deleting its line here.
 */
import { type Reject, reject } from '../core/reject.ts';
import type { LimitDetails, OrderDetails } from '../wire/order-details.ts';
import type { SignedOrder } from '../wire/signed-order.ts';
import type { SignedReplace } from '../wire/signed-replace.ts';

/** @returns null when the order is of a kind that is traded. */
export function createNotServed(order: SignedOrder): Reject | null {
  if (!isLimit(order.details)) return reject('INVALID_ORDER', 'market orders are not served', 'details');
  if (order.trigger !== null) return reject('INVALID_ORDER', 'triggers are not served', 'trigger');
  if (!order.isSpot) return reject('INVALID_ORDER', 'margin trading is not served', 'is_spot');
  return null;
}

export function isLimit(details: OrderDetails): details is LimitDetails {
  return details.kind === 'limit';
}

/** A live order takes no new trigger (AMB-20), and no order waits in a trigger book. */
export function replaceNotServed(request: SignedReplace): Reject | null {
  if (request.newTrigger === null) return null;
  return reject('INVALID_ORDER', 'the order is not waiting for a trigger', 'new_trigger');
}
