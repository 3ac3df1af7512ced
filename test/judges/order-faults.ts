/** Domain errors common to the signed objects: INVALID_ORDER with the invalid member (wire.md 2.2, 7.4). */
import { isNodeOrderId, parseOrderId } from '../../src/core/ids.ts';
import { type Reject, reject } from '../../src/core/reject.ts';

export const PROTOCOL_VERSION = 1;
export const RAW_BOUNDS = 'an integer from 1 to 2^53-1';
export const ID_RULES = 'an order id is 1 to 64 of A-Z a-z 0-9 + / = _ - . : and does not begin with sys-';

export function invalidOrder(field: string, message: string): Reject {
  return reject('INVALID_ORDER', message, field);
}

/** Signed objects have version 1 (VER-04). */
export function versionFault(version: number): Reject | null {
  return version === PROTOCOL_VERSION ? null : invalidOrder('protocol_version', `the version is ${PROTOCOL_VERSION}`);
}

/**
 * The id of an order to replace or to cancel: INVALID_ORDER when no order can have it, ORDER_NOT_FOUND for an order that
 * the node made, which clients neither replace nor cancel, or null.
 */
export function changedIdFault(orderId: string): Reject | null {
  if (isNodeOrderId(orderId)) return reject('ORDER_NOT_FOUND', 'there is no such order');
  return parseOrderId(orderId) === null ? invalidOrder('order_id', ID_RULES) : null;
}
