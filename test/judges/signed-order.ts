/**
 * A signed create: the wrapper of wire.md 7.4, its `order`, and the canonical text that was signed (wire.md 4.2).
 *
 * The text is rebuilt from the typed values in declaration order, every string as it was received, a missing trigger as
 * null; the order of members and the white space of the body are irrelevant (AMB-02).
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
import { type TextWriter, textBytes } from '../../src/codec/text-writer.ts';
import { unreachable } from '../../src/core/assert.ts';
import { type OrderId, parseOrderId } from '../../src/core/ids.ts';
import { SIDE, SIDE_WORD, type Side } from '../../src/core/order-terms.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import {
  NO_DETAILS,
  type OrderDetails,
  rawFault,
  readDetails,
  readTrigger,
  type Trigger,
  writeDetails,
  writeTrigger,
} from './order-details.ts';
import { ID_RULES, invalidOrder, RAW_BOUNDS, versionFault } from './order-faults.ts';
import { readWrapper, type SignedRequest, signedText, wrapperShape } from './signed-wrapper.ts';

const MAX_TRADING_FEES_RATE_MAX = 4_294_967_295;
const ACCOUNT_INDEX_MAX = 65_535;

/** The signable `order`. `orderId` and raw figures satisfy their types once `orderFault` has returned null. */
export interface SignedOrder {
  readonly signer: SpelledUser;
  readonly orderId: OrderId;
  readonly baseAsset: SpelledAsset;
  readonly bookPriceDecimals: number;
  readonly bookQuantityDecimals: number;
  readonly details: OrderDetails;
  readonly side: Side;
  readonly trigger: Trigger | null;
  readonly creationNs: TimestampNs;
  readonly account: number;
  readonly isSpot: boolean;
  readonly reduceOnly: boolean;
  /** 1e-6 of notional. */
  readonly maxTradingFeesRate: number;
  readonly protocolVersion: number;
}

export interface CreateRequest extends SignedRequest {
  readonly order: SignedOrder;
}

const WRAPPER = wrapperShape(['order']);
const ORDER = objectShape('refuse', [
  'signer',
  'order_id',
  'base_asset',
  'book_price_decimals',
  'book_quantity_decimals',
  'details',
  'side',
  'trigger?',
  'creation_timestamp_ns',
  'target',
  'reduce_only',
  'max_trading_fees_rate',
  'protocol_version',
]);
const TARGET = objectShape('refuse', ['account', 'is_spot']);

const NO_ORDER: SignedOrder = {
  signer: NO_USER,
  orderId: '' as OrderId,
  baseAsset: NO_ASSET,
  bookPriceDecimals: 0,
  bookQuantityDecimals: 0,
  details: NO_DETAILS,
  side: SIDE.buy,
  trigger: null,
  creationNs: 0n as TimestampNs,
  account: 0,
  isSpot: false,
  reduceOnly: false,
  maxTradingFeesRate: 0,
  protocolVersion: 0,
};

/** Decodes the create wrapper in bytes[start … end). */
export function decodeCreate(bytes: Uint8Array, start: number, end: number): Outcome<CreateRequest> {
  return decodeText(bytes, start, end, readCreate);
}

/**
 * Reads an order back from what was signed.
 *
 * @returns null unless it is, byte for byte, the canonical text of an order without fault.
 */
export function orderOfText(bytes: Uint8Array): SignedOrder | null {
  const read = decodeText(bytes, 0, bytes.length, (cursor) => {
    const order = readOrder(cursor);
    return cursor.hasFailed ? null : order;
  });
  if (!read.ok || orderFault(read.value) !== null) return null;
  return Buffer.compare(textBytes(read.value, writeOrder), bytes) === 0 ? read.value : null;
}

/** Reads a create wrapper at the cursor. @returns null exactly when the cursor has failed. */
export function readCreate(cursor: JsonCursor): CreateRequest | null {
  let order = NO_ORDER;
  const members = readWrapper(cursor, WRAPPER, () => {
    order = readOrder(cursor);
  });
  if (cursor.hasFailed) return null;
  const { signature, additionalSigners, postSignNs } = members;
  const fault = orderFault(order);
  return { order, signature, additionalSigners, postSignNs, fault, text: signedText(order, fault, writeOrder) };
}

function readOrder(cursor: JsonCursor): SignedOrder {
  const order: Draft<SignedOrder> = { ...NO_ORDER };
  cursor.enterObject();
  for (let name = cursor.nextMember(ORDER); name !== null; name = cursor.nextMember(ORDER)) {
    switch (name) {
      case 'signer':
        order.signer = readUser(cursor);
        break;
      case 'order_id':
        order.orderId = cursor.readString(STRING_DECODED_MAX) as OrderId;
        break;
      case 'base_asset':
        order.baseAsset = readAsset(cursor);
        break;
      case 'book_price_decimals':
        order.bookPriceDecimals = cursor.readInteger(-128, 127);
        break;
      case 'book_quantity_decimals':
        order.bookQuantityDecimals = cursor.readInteger(-128, 127);
        break;
      case 'details':
        order.details = readDetails(cursor);
        break;
      case 'side':
        order.side = readSide(cursor);
        break;
      case 'trigger':
        order.trigger = cursor.readNull() ? null : readTrigger(cursor);
        break;
      case 'creation_timestamp_ns':
        order.creationNs = cursor.readTime();
        break;
      case 'target':
        readTarget(cursor, order);
        break;
      case 'reduce_only':
        order.reduceOnly = cursor.readBoolean();
        break;
      case 'max_trading_fees_rate':
        order.maxTradingFeesRate = cursor.readInteger(0, MAX_TRADING_FEES_RATE_MAX);
        break;
      case 'protocol_version':
        order.protocolVersion = cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
        break;
      default:
        unreachable(name);
    }
  }
  return order;
}

function readSide(cursor: JsonCursor): Side {
  const word = cursor.readString(STRING_DECODED_MAX);
  if (word !== 'Buy' && word !== 'Sell') cursor.fail('expected Buy or Sell');
  return word === 'Sell' ? SIDE.sell : SIDE.buy;
}

/** Reads where an order trades. @param order takes its members; left out where they are only checked. */
export function readTarget(
  cursor: JsonCursor,
  order: Draft<Pick<SignedOrder, 'account' | 'isSpot'>> = { account: 0, isSpot: false },
): void {
  cursor.enterObject();
  for (let name = cursor.nextMember(TARGET); name !== null; name = cursor.nextMember(TARGET)) {
    if (name === 'account') order.account = cursor.readInteger(0, ACCOUNT_INDEX_MAX);
    else order.isSpot = cursor.readBoolean();
  }
}

/**
 * Validates the order itself, without its market: ids, raw figures, version. @returns INVALID_ORDER with the field, or
 * null.
 */
export function orderFault(order: SignedOrder): Reject | null {
  const parent = order.trigger?.parentOrderId ?? null;
  if (parseOrderId(order.orderId) === null) return invalidOrder('order_id', ID_RULES);
  const field = rawFault(order.details) ?? (order.trigger?.condition.price === 0 ? 'price' : null);
  if (field !== null) return invalidOrder(field, RAW_BOUNDS);
  if (parent !== null && parseOrderId(parent) === null) {
    return invalidOrder('parent_order_id', ID_RULES);
  }
  return versionFault(order.protocolVersion);
}

/** Canonical text of an `order` without fault. */
export function writeOrder(text: TextWriter, order: SignedOrder): void {
  text.ascii('{"signer":"');
  text.signed(order.signer.text);
  text.ascii('","order_id":"');
  text.signed(order.orderId);
  text.ascii('","base_asset":"');
  text.signed(order.baseAsset.text);
  text.ascii('","book_price_decimals":');
  text.integer(order.bookPriceDecimals);
  text.ascii(',"book_quantity_decimals":');
  text.integer(order.bookQuantityDecimals);
  text.ascii(',"details":');
  writeDetails(text, order.details);
  text.ascii(',"side":"');
  text.ascii(SIDE_WORD[order.side]);
  text.ascii('","trigger":');
  if (order.trigger === null) text.ascii('null');
  else writeTrigger(text, order.trigger);
  text.ascii(',"creation_timestamp_ns":');
  text.u64(order.creationNs);
  text.ascii(',"target":{"account":');
  text.integer(order.account);
  text.ascii(',"is_spot":');
  text.flag(order.isSpot);
  text.ascii('},"reduce_only":');
  text.flag(order.reduceOnly);
  text.ascii(',"max_trading_fees_rate":');
  text.integer(order.maxTradingFeesRate);
  text.ascii(',"protocol_version":');
  text.integer(order.protocolVersion);
  text.ascii('}');
}
