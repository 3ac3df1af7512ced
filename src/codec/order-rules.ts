/**
 * The rules of the order actions that no shape expresses, without their market: ids, raw figures, versions, and which members
 * go together (wire.md 2.2, 7.4 to 7.6, wire-additions.md 3 and 4.1).
 *
 * What ends in `Fault` finds a domain error, INVALID_ORDER with the invalid member or ORDER_NOT_FOUND, which is reported after
 * session, rate and signer were checked (AMB-91). A `MemberFault` is a broken shape: INVALID_REQUEST at once.
 */
import { isNodeOrderId, NODE_ORDER_PREFIX, parseOrderId } from '../core/ids.ts';
import { PROTECTION_GROUP_BYTES_MAX, QUOTE_SET_ID_BYTES_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Draft } from './decode-text.ts';
import type {
  AmendTerms,
  ReplaceRequest,
  SignedCancel,
  SignedOrder,
  SignedQuoteSet,
  SignedReplace,
} from './generated/order-json.ts';
import { rawFault } from './order-details.ts';
import { NO_ASSET } from './signed-text.ts';

export const PROTOCOL_VERSION = 1;
/** The version of an object that gives none. */
export const NO_VERSION = -1;
const RAW_BOUNDS = 'an integer from 1 to 2^53-1';
const ID_RULES = 'an order id is 1 to 64 of A-Z a-z 0-9 + / = _ - . : and does not begin with sys-';
const SET_ID_RULES = `a set id is 1 to ${QUOTE_SET_ID_BYTES_MAX} of A-Z a-z 0-9 + / = _ - . and does not begin with sys-`;
const SET_ID_FORM = new RegExp(`^(?!${NODE_ORDER_PREFIX})[A-Za-z0-9+/=_\\-.]{1,${QUOTE_SET_ID_BYTES_MAX}}$`);
const GROUP_RULES = `a protection group has 1 to ${PROTECTION_GROUP_BYTES_MAX} characters of an order id`;
const GROUP_FORM = new RegExp(`^[A-Za-z0-9+/=_\\-.:]{1,${PROTECTION_GROUP_BYTES_MAX}}$`);
const GIVEN_FIGURE = `an integer from 1 to ${Number.MAX_SAFE_INTEGER}`;

/** A member that breaks the shape, or is missing from it. */
export interface MemberFault {
  readonly field: string;
  readonly message: string;
}

// ---- which members go together

/** Of the terms of a replace. A complete one without a version has the only one (wire-additions.md 3). */
export function replaceTermsFault(terms: Draft<SignedReplace>): MemberFault | null {
  if (terms.baseAsset === null) return terms.protocolVersion === NO_VERSION ? missing('protocol_version') : null;
  // mutant: default-of-an-unset-member
  if (terms.protocolVersion === NO_VERSION) terms.protocolVersion = PROTOCOL_VERSION;
  // mutant: complete-terms
  if (terms.newPriceLimit === null) return { field: 'new_price_limit', message: GIVEN_FIGURE };
  if (terms.newQuantity === null) return { field: 'new_quantity', message: GIVEN_FIGURE };
  return terms.newTrigger?.shape === 'wrapped'
    ? { field: 'new_trigger', message: 'expected the bare condition' }
    : null;
}

/** Of a replace: its terms name their market, or the wrapper does. */
export function replaceMarketFault({ request, asset }: ReplaceRequest): MemberFault | null {
  if (request.baseAsset === null) return asset === NO_ASSET ? missing('asset_id') : null;
  if (asset === NO_ASSET) return null;
  return { field: 'asset_id', message: 'a request with `base_asset` names its market itself' };
}

function missing(field: string): MemberFault {
  return { field, message: 'a missing member' };
}

// ---- domain errors

export function orderFault(order: SignedOrder): Reject | null {
  const parent = order.trigger?.parentOrderId ?? null;
  if (parseOrderId(order.orderId) === null) return invalidOrder('order_id', ID_RULES);
  const field = rawFault(order.details) ?? (order.trigger?.condition.price === 0 ? 'price' : null);
  if (field !== null) return invalidOrder(field, RAW_BOUNDS);
  return parentFault(parent) ?? versionFault(order.protocolVersion);
}

export function replaceFault(request: SignedReplace): Reject | null {
  const idFault = changedIdFault(request.orderId);
  if (idFault !== null) return idFault;
  if (request.newPriceLimit === 0) return invalidOrder('new_price_limit', RAW_BOUNDS);
  if (request.newQuantity === 0) return invalidOrder('new_quantity', RAW_BOUNDS);
  if (request.newTrigger?.condition.price === 0) return invalidOrder('price', RAW_BOUNDS);
  return parentFault(request.newTrigger?.parentOrderId ?? null) ?? versionFault(request.protocolVersion);
}

export function cancelFault(cancel: SignedCancel): Reject | null {
  return changedIdFault(cancel.orderId) ?? versionFault(cancel.protocolVersion);
}

export function amendFault({ orderId, newQuantity }: AmendTerms): Reject | null {
  return changedIdFault(orderId) ?? (newQuantity === 0 ? invalidOrder('new_quantity', RAW_BOUNDS) : null);
}

/** Of ids, raw figures and version; the order of the entries is judged with their market (quote-entries.ts). */
export function quoteSetFault(quotes: SignedQuoteSet): Reject | null {
  if (!SET_ID_FORM.test(quotes.setId)) return invalidOrder('set_id', SET_ID_RULES);
  const { bids, asks, protectionGroup } = quotes;
  if (bids.includes(0)) return invalidOrder('bids', RAW_BOUNDS);
  if (asks.includes(0)) return invalidOrder('asks', RAW_BOUNDS);
  return groupFault(protectionGroup) ?? versionFault(quotes.protocolVersion);
}

/** Of the name of a protection group; null for none. */
export function groupFault(group: string | null): Reject | null {
  return group === null || GROUP_FORM.test(group) ? null : invalidOrder('protection_group', GROUP_RULES);
}

function invalidOrder(field: string, message: string): Reject {
  return reject('INVALID_ORDER', message, field);
}

/** Signed objects have version 1 (VER-04). */
function versionFault(version: number): Reject | null {
  return version === PROTOCOL_VERSION ? null : invalidOrder('protocol_version', `the version is ${PROTOCOL_VERSION}`);
}

function parentFault(parent: string | null): Reject | null {
  return parent !== null && parseOrderId(parent) === null ? invalidOrder('parent_order_id', ID_RULES) : null;
}

/**
 * The id of an order to replace or to cancel: INVALID_ORDER when no order can have it, ORDER_NOT_FOUND for an order that
 * the node made, which clients neither replace nor cancel, or null.
 */
function changedIdFault(orderId: string): Reject | null {
  if (isNodeOrderId(orderId)) return reject('ORDER_NOT_FOUND', 'there is no such order');
  return parseOrderId(orderId) === null ? invalidOrder('order_id', ID_RULES) : null;
}
