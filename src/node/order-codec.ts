/**
 * A new order between its two forms: the fields clearing and the front door work with, and the `NewOrder` message that
 * travels through rings and lies in the journal.
 *
 *   NewOrder struct (232 bytes) │ canonical text, `text_bytes` of ASCII
 */

import type { NewOrder as OrderFields } from '../clearing/inputs.ts';
import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { ORDER_ID_BYTES_MAX, SIGNED_TEXT_BYTES_MAX } from '../core/limits.ts';
import type { Side, Tif } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { NewOrder } from '../messages/generated/messages.ts';

const FEE_RATE_MAX = 0xffff_ffff;
const SIGNATURE_BYTES = 64;

/** What the front door adds to the fields of an order. */
export interface Envelope {
  readonly requestId: number;
  readonly receivedNs: bigint;
  readonly marketIndex: number;
}

/** A short view on bytes of a message, for text conversions. */
export function bufferAt(v: Views, at: number, length: number): Buffer {
  return Buffer.from(v.u8.buffer, v.u8.byteOffset + at, length);
}

/** Bytes of the message that `writeNewOrder` writes. */
export function newOrderBytes(order: OrderFields): number {
  return NewOrder.bytes + order.text.length;
}

/** @param at a multiple of 8 with room for `newOrderBytes(order)`. */
export function writeNewOrder(v: Views, at: number, order: OrderFields, envelope: Envelope): void {
  assert(order.text.length <= SIGNED_TEXT_BYTES_MAX, 'the text of an order is within its limit');
  assert(order.orderId.length <= ORDER_ID_BYTES_MAX, 'an order id is within its limit');
  NewOrder.setRequestId(v, at, envelope.requestId);
  NewOrder.setReceivedNs(v, at, envelope.receivedNs);
  NewOrder.setMarketIndex(v, at, envelope.marketIndex);
  NewOrder.setCreationNs(v, at, order.creationNs);
  NewOrder.setExpiryNs(v, at, order.expiryNs);
  NewOrder.setGoodUntilNs(v, at, order.goodUntilNs);
  NewOrder.setPrice(v, at, order.price);
  NewOrder.setQuantity(v, at, order.quantity);
  // A limit above every rate limits nothing, so saturating keeps its meaning.
  NewOrder.setMaxFeeRate(v, at, Math.min(order.maxFeeRate, FEE_RATE_MAX));
  NewOrder.setSubAccount(v, at, order.subAccount);
  NewOrder.setTextBytes(v, at, order.text.length);
  NewOrder.setSide(v, at, order.side);
  NewOrder.setTif(v, at, order.tif);
  NewOrder.setFlags(v, at, order.flags);
  writeOrderId(v, at + NewOrder.orderIdAt, order.orderId);
  NewOrder.setOrderIdBytes(v, at, order.orderId.length);
  bufferAt(v, at + NewOrder.userAt, 32).write(order.user, 'hex');
  v.u8.fill(0, at + NewOrder.signatureAt, at + NewOrder.signatureAt + SIGNATURE_BYTES);
  v.u8.set(order.signature, at + NewOrder.signatureAt);
  bufferAt(v, at + NewOrder.bytes, order.text.length).write(order.text, 'latin1');
}

/** The fields of the message at `at`; nothing of it points into the buffer afterwards. */
export function readNewOrder(v: Views, at: number): OrderFields {
  const text = bufferAt(v, at + NewOrder.bytes, NewOrder.textBytes(v, at)).toString('latin1');
  return {
    user: readUser(v, at + NewOrder.userAt),
    subAccount: NewOrder.subAccount(v, at),
    orderId: readOrderId(v, at + NewOrder.orderIdAt, NewOrder.orderIdBytes(v, at)),
    side: NewOrder.side(v, at) as Side,
    tif: NewOrder.tif(v, at) as Tif,
    flags: NewOrder.flags(v, at),
    price: NewOrder.price(v, at) as RawPrice,
    quantity: NewOrder.quantity(v, at) as RawQuantity,
    maxFeeRate: NewOrder.maxFeeRate(v, at),
    creationNs: NewOrder.creationNs(v, at) as TimestampNs,
    goodUntilNs: NewOrder.goodUntilNs(v, at) as TimestampNs,
    expiryNs: NewOrder.expiryNs(v, at) as TimestampNs,
    text,
    signature: v.u8.slice(at + NewOrder.signatureAt, at + NewOrder.signatureAt + SIGNATURE_BYTES),
  };
}

export function readUser(v: Views, at: number): UserId {
  return bufferAt(v, at, 32).toString('hex') as UserId;
}

/** Writes the 32 bytes of a user id at `at`. */
export function writeUser(v: Views, at: number, user: UserId): void {
  bufferAt(v, at, 32).write(user, 'hex');
}

export function readOrderId(v: Views, at: number, length: number): OrderId {
  return bufferAt(v, at, length).toString('latin1') as OrderId;
}

export function writeOrderId(v: Views, at: number, orderId: OrderId): void {
  bufferAt(v, at, ORDER_ID_BYTES_MAX).write(orderId, 'latin1');
}
