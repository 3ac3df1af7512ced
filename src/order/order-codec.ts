/**
 * A new order between its two forms: the fields clearing and the front door work with, and the `NewOrder` message that
 * travels through rings and lies in the journal.
 *
 *   NewOrder struct (264 bytes) │ canonical text, `text_bytes` of ASCII
 *                                        └── a child names its parent there, once more than by `parent_id_at`
 */

import type { NewOrder as OrderFields } from '../clearing/inputs.ts';
import { assert } from '../core/assert.ts';
import { type HashKey, hashId } from '../core/key-words.ts';
import { ORDER_ID_BYTES_MAX, SIGNED_TEXT_BYTES_MAX } from '../core/limits.ts';
import type { OrderKind, Side, Tif, TriggerKind } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { readOrderId, readText, readUser, writeOrderId, writeText, writeUser } from '../schema/fields.ts';
import { NewOrder } from '../schema/generated/messages.ts';

const FEE_RATE_MAX = 0xffff_ffff;
const SIGNATURE_BYTES = 64;
const HASH_BYTES = 4;

/** What the front door adds to the fields of an order. */
export interface Envelope {
  readonly requestId: number;
  readonly receivedNs: bigint;
  readonly marketIndex: number;
}

/** Bytes of the message that `writeNewOrder` writes. */
export function newOrderBytes(order: OrderFields): number {
  return NewOrder.bytes + order.text.length;
}

/** @param at a multiple of 8 with room for `newOrderBytes(order)`. */
export function writeNewOrder(v: Views, at: number, order: OrderFields, envelope: Envelope): void {
  const parentIdAt = order.text.indexOf(order.parentId);
  const { requestId, receivedNs, marketIndex } = envelope;
  const { budget, text } = order;
  const around = { requestId, receivedNs, marketIndex, budget, textBytes: text.length, parentIdAt };
  writeNewOrderFields(v, at, order, order, around);
  writeText(v, at + NewOrder.bytes, order.text);
}

/** Bytes of a create on its way to a market: the message, its text, and a word with the hash of its id. */
export function createBytes(textBytes: number): number {
  return ((NewOrder.bytes + textBytes + 3) & ~3) + HASH_BYTES;
}

/** Writes that word. @param bytes of the create, from `createBytes`. */
export function writeCreateHash(v: Views, at: number, bytes: number, key: HashKey): void {
  const idBytes = NewOrder.orderIdBytes(v, at);
  v.i32[hashWordOf(at, bytes)] = hashId(
    key,
    v.i32,
    (at + NewOrder.userAt) >>> 2,
    (at + NewOrder.orderIdAt) >>> 2,
    idBytes,
  );
}

/** The hash that the front door wrote behind a create. */
export function createHash(v: Views, at: number, bytes: number): number {
  return v.i32[hashWordOf(at, bytes)] as number;
}

function hashWordOf(at: number, bytes: number): number {
  return (at + bytes - HASH_BYTES) >>> 2;
}

/** What a replace may turn, and what is derived; the rest of an order are its terms. */
type Sized = 'price' | 'quantity' | 'triggerPrice' | 'maxFeeRate' | 'expiryNs' | 'signature';
/** The door has terms and sizes in two objects: one made of both for every create would be a fifth of its time. */
export type OrderSizes = Pick<OrderFields, Sized>;
export type FixedTerms = Omit<OrderFields, Sized | 'budget' | 'text'>;

/** Of the text that the caller writes behind the struct. */
export interface TextPlace {
  readonly textBytes: number;
  /** Where the parent's id stands in the text, any place that has its bytes; anything when there is no parent. */
  readonly parentIdAt: number;
}

/** All but the text. */
export function writeNewOrderFields(
  v: Views,
  at: number,
  terms: FixedTerms,
  sizes: OrderSizes,
  envelope: Envelope & TextPlace & Pick<OrderFields, 'budget'>,
): void {
  assert(envelope.textBytes <= SIGNED_TEXT_BYTES_MAX, 'the text of an order is within its limit');
  assert(terms.orderId.length <= ORDER_ID_BYTES_MAX, 'an order id is within its limit');
  NewOrder.setRequestId(v, at, envelope.requestId);
  NewOrder.setReceivedNs(v, at, envelope.receivedNs);
  NewOrder.setMarketIndex(v, at, envelope.marketIndex);
  NewOrder.setCreationNs(v, at, terms.creationNs);
  NewOrder.setExpiryNs(v, at, sizes.expiryNs);
  NewOrder.setGoodUntilNs(v, at, terms.goodUntilNs);
  NewOrder.setPrice(v, at, sizes.price);
  NewOrder.setQuantity(v, at, sizes.quantity);
  NewOrder.setAmount(v, at, terms.amount);
  NewOrder.setBudget(v, at, envelope.budget);
  NewOrder.setTriggerPrice(v, at, sizes.triggerPrice);
  // A limit above every rate limits nothing, so saturating keeps its meaning.
  NewOrder.setMaxFeeRate(v, at, Math.min(sizes.maxFeeRate, FEE_RATE_MAX));
  NewOrder.setSubAccount(v, at, terms.subAccount);
  NewOrder.setTextBytes(v, at, envelope.textBytes);
  NewOrder.setSide(v, at, terms.side);
  NewOrder.setTif(v, at, terms.tif);
  NewOrder.setFlags(v, at, terms.flags);
  NewOrder.setKind(v, at, terms.kind);
  NewOrder.setTriggerKind(v, at, terms.triggerKind);
  writeParent(v, at, terms.parentId, envelope);
  writeOrderId(v, at + NewOrder.orderIdAt, terms.orderId);
  NewOrder.setOrderIdBytes(v, at, terms.orderId.length);
  writeUser(v, at + NewOrder.userAt, terms.user);
  v.u8.fill(0, at + NewOrder.signatureAt, at + NewOrder.signatureAt + SIGNATURE_BYTES);
  v.u8.set(sizes.signature, at + NewOrder.signatureAt);
}

function writeParent(
  v: Views,
  at: number,
  parentId: OrderFields['parentId'],
  { textBytes, parentIdAt }: TextPlace,
): void {
  const isChild = parentId !== '';
  assert(!isChild || (parentIdAt >= 0 && parentIdAt + parentId.length <= textBytes), "a child's text names its parent");
  NewOrder.setParentIdAt(v, at, isChild ? parentIdAt : 0);
  NewOrder.setParentIdBytes(v, at, parentId.length);
}

/** The fields of the message at `at`; nothing of it points into the buffer afterwards. */
export function readNewOrder(v: Views, at: number): OrderFields {
  const text = readText(v, at + NewOrder.bytes, NewOrder.textBytes(v, at));
  return {
    user: readUser(v, at + NewOrder.userAt),
    subAccount: NewOrder.subAccount(v, at),
    orderId: readOrderId(v, at + NewOrder.orderIdAt, NewOrder.orderIdBytes(v, at)),
    side: NewOrder.side(v, at) as Side,
    tif: NewOrder.tif(v, at) as Tif,
    flags: NewOrder.flags(v, at),
    price: NewOrder.price(v, at) as RawPrice,
    quantity: NewOrder.quantity(v, at) as RawQuantity,
    kind: NewOrder.kind(v, at) as OrderKind,
    amount: NewOrder.amount(v, at),
    budget: NewOrder.budget(v, at),
    triggerKind: NewOrder.triggerKind(v, at) as TriggerKind,
    triggerPrice: NewOrder.triggerPrice(v, at) as RawPrice,
    parentId: readOrderId(v, at + NewOrder.bytes + NewOrder.parentIdAt(v, at), NewOrder.parentIdBytes(v, at)),
    maxFeeRate: NewOrder.maxFeeRate(v, at),
    creationNs: NewOrder.creationNs(v, at) as TimestampNs,
    goodUntilNs: NewOrder.goodUntilNs(v, at) as TimestampNs,
    expiryNs: NewOrder.expiryNs(v, at) as TimestampNs,
    text,
    signature: v.u8.slice(at + NewOrder.signatureAt, at + NewOrder.signatureAt + SIGNATURE_BYTES),
  };
}
