/**
 * Kinds of orders that the wire knows and this node does not trade: margin. Each is refused with the member that asks
 * for it. Serving a kind means deleting its line here.
 */
import { type Reject, reject } from '../core/reject.ts';
import type { SignedOrder } from '../wire/signed-order.ts';

/** @returns null when the order is of a kind that is traded. */
export function createNotServed(order: SignedOrder): Reject | null {
  return order.isSpot ? null : reject('INVALID_ORDER', 'margin trading is not served', 'is_spot');
}
