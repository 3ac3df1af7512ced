/** What requests are refused with when they have passed the checks on their own text: here, or by the market. */
import { type Reject, type RejectName, reject } from '../../core/reject.ts';
import type { Request } from './requests.ts';

export const DUPLICATE_ORDER: Reject = reject('DUPLICATE_ORDER', 'the order id is taken', 'order_id');
export const INSUFFICIENT: Reject = reject('INSUFFICIENT_INVENTORY', 'the available balance does not cover the order');
export const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many requests are on their way');
export const TOO_MANY_OWN: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'too many requests of this user are on their way, try again',
);
export const CONTESTED: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'several orders with this id are on their way',
  'order_id',
);
export const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market');

const MARKET_TEXT: Readonly<Partial<Record<RejectName, string>>> = {
  WOULD_CROSS: 'a post-only order would have matched',
  DUPLICATE_ORDER: 'the order id is taken',
  ORDER_NOT_FOUND: 'there is no such order',
  ALREADY_CANCELLED: 'the order has been cancelled',
  REQUEST_TOO_OLD: 'a newer request was applied',
  ORDER_EXPIRED: 'the order has expired',
  MARKET_HALTED: 'the market takes no new orders',
  INVALID_ORDER: 'the order cannot be changed so',
};

/** Of a create: the parent is not there, may not have this child, or has as many as it may; or its price level is full. */
const CREATE_TEXT: Readonly<Partial<Record<RejectName, string>>> = {
  ORDER_NOT_FOUND: 'there is no such parent order',
  INVALID_ORDER: 'the parent may not have this child, or the price level is full',
  TOO_MANY_OPEN_ORDERS: 'the parent has as many children as it may have',
};

/** The market's refusal of a request. */
export function marketRefusal(kind: Request['kind'], code: RejectName): Reject {
  const text = (kind === 'create' ? CREATE_TEXT[code] : undefined) ?? MARKET_TEXT[code] ?? 'refused by the market';
  return reject(code, text, kind === 'create' && code === 'ORDER_NOT_FOUND' ? 'parent_order_id' : undefined);
}
