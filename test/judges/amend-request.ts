/**
 * An amend: lowers the total of an order without a signature (wire-additions.md 4.1). The session alone authorizes it, so it
 * may only reduce, which its market judges.
 *
 * signed-wrapper.ts explains faults and invalid shapes. To order entry it is a signed request without signatures, so that
 * it is processed in its turn among the signed ones of its connection.
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import {
  NO_ASSET,
  NO_USER,
  readAsset,
  readUser,
  type SpelledAsset,
  type SpelledUser,
  STRING_DECODED_MAX,
} from '../../src/codec/signed-text.ts';
import type { OrderId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Reject } from '../../src/core/reject.ts';
import type { RawQuantity, TimestampNs } from '../../src/core/units.ts';
import { changedIdFault, invalidOrder, RAW_BOUNDS } from './order-faults.ts';
import { readTarget } from './signed-order.ts';
import { type SignedRequest, UNSIGNED } from './signed-wrapper.ts';

interface Amend {
  readonly orderId: OrderId;
  readonly asset: SpelledAsset;
  /** The new total, the filled part included (G4). */
  readonly newQuantity: RawQuantity;
  readonly bookQuantityDecimals: number;
  /** The revision for which it was made; null: the order was not changed since its create. */
  readonly expectedRevisionNs: TimestampNs | null;
  /** Becomes the revision. */
  readonly timestampNs: TimestampNs;
}

export interface AmendRequest extends SignedRequest {
  readonly amend: Amend;
  readonly user: SpelledUser;
}

const BODY = objectShape('refuse', ['request', 'user_id', 'target?', 'oms_operator_pubkey?', 'receive_timestamp_ns?']);
const REQUEST = objectShape('refuse', [
  'order_id',
  'base_asset',
  'new_quantity',
  'book_quantity_decimals',
  'expected_authorization_revision?',
  'timestamp_ns',
  'source?',
]);
const SOURCE = 'User';

const NO_AMEND: Amend = {
  orderId: '' as OrderId,
  asset: NO_ASSET,
  newQuantity: 0 as RawQuantity,
  bookQuantityDecimals: 0,
  expectedRevisionNs: null,
  timestampNs: 0n as TimestampNs,
};

/** Decodes the body in bytes[start … end). */
export function decodeAmend(bytes: Uint8Array, start: number, end: number): Outcome<AmendRequest> {
  return decodeText(bytes, start, end, readAmend);
}

/** Reads the body at the cursor. @returns null exactly when the cursor has failed. */
export function readAmend(cursor: JsonCursor): AmendRequest | null {
  let amend = NO_AMEND;
  let user = NO_USER;
  cursor.enterObject();
  for (let name = cursor.nextMember(BODY); name !== null; name = cursor.nextMember(BODY)) {
    if (name === 'request') amend = readRequest(cursor);
    else if (name === 'user_id') user = readUser(cursor);
    // Checked for their type and not used: the account of the order stays.
    else if (name === 'target') readTarget(cursor);
    else if (name === 'oms_operator_pubkey') cursor.readString(STRING_DECODED_MAX);
    else if (!cursor.readNull()) cursor.readU64();
  }
  return cursor.hasFailed ? null : amendRequest(amend, user);
}

/** The request of valid members. @param early a fault found before; null for none. */
export function amendRequest(amend: Amend, user: SpelledUser, early: Reject | null = null): AmendRequest {
  return { ...UNSIGNED, amend, user, fault: early ?? amendFault(amend), postSignNs: amend.timestampNs };
}

function readRequest(cursor: JsonCursor): Amend {
  const amend: Draft<Amend> = { ...NO_AMEND };
  cursor.enterObject();
  for (let name = cursor.nextMember(REQUEST); name !== null; name = cursor.nextMember(REQUEST)) {
    if (name === 'order_id') amend.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
    else if (name === 'base_asset') amend.asset = readAsset(cursor);
    else if (name === 'new_quantity') amend.newQuantity = cursor.readRaw() as RawQuantity;
    else if (name === 'book_quantity_decimals') amend.bookQuantityDecimals = cursor.readInteger(-128, 127);
    else if (name === 'expected_authorization_revision')
      amend.expectedRevisionNs = cursor.readNull() ? null : cursor.readTime();
    else if (name === 'timestamp_ns') amend.timestampNs = cursor.readTime();
    else if (cursor.readString(STRING_DECODED_MAX) !== SOURCE) cursor.fail(`expected "${SOURCE}"`);
  }
  return amend;
}

/** Validates the amend itself, without its market. @returns INVALID_ORDER with the field, ORDER_NOT_FOUND, or null. */
function amendFault({ orderId, newQuantity }: Amend): Reject | null {
  return changedIdFault(orderId) ?? (newQuantity === 0 ? invalidOrder('new_quantity', RAW_BOUNDS) : null);
}
