/**
 * A new order between its two forms: the fields that clearing and the gateway work with, and the `NewOrder` message that
 * travels through rings and lies in the journal.
 *
 *   request │ OrderRecord, 288 bytes │ signature │ canonical text, `text_bytes` of ASCII
 *                                                   └── a child names its parent there, at the record's `parent_id_at`
 */

import type { NewOrder as OrderFields } from '../clearing/inputs.ts';
import { assert } from '../core/assert.ts';
import { type HashKey, hashId } from '../core/key-words.ts';
import { ORDER_LIFE_NS, SIGNED_TEXT_BYTES_MAX } from '../core/limits.ts';
import { orderExpiryNs, TRIGGER, TRIGGER_STATE } from '../core/order-terms.ts';
import { highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { Views } from '../core/views.ts';
import { readOrderId, readText, writeText } from '../schema/fields.ts';
import { NewOrder, OrderRecord } from '../schema/generated/messages.ts';

const FEE_RATE_MAX = 0xffff_ffff;
const HASH_BYTES = 4;
const LIFE_HIGH: number = highWord(ORDER_LIFE_NS);
const LIFE_LOW: number = lowWord(ORDER_LIFE_NS);

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
  const record = at + NewOrder.orderAt;
  const userWord = (record + OrderRecord.userAt) >>> 2;
  const idWord = (record + OrderRecord.orderIdAt) >>> 2;
  v.i32[hashWordOf(at, bytes)] = hashId(key, v.i32, userWord, idWord, OrderRecord.orderIdBytes(v, record));
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
  NewOrder.setRequestId(v, at, envelope.requestId);
  NewOrder.setReceivedNs(v, at, envelope.receivedNs);
  NewOrder.setTextBytes(v, at, envelope.textBytes);
  NewOrder.setSignature(v, at, sizes.signature);
  const record = at + NewOrder.orderAt;
  v.u8.fill(0, record, record + OrderRecord.bytes);
  OrderRecord.setMarketIndex(v, record, envelope.marketIndex);
  OrderRecord.setCreationNs(v, record, terms.creationNs);
  OrderRecord.setTimestampNs(v, record, terms.creationNs);
  OrderRecord.setGoodUntilNs(v, record, terms.goodUntilNs);
  OrderRecord.setPrice(v, record, sizes.price);
  OrderRecord.setQuantity(v, record, sizes.quantity);
  OrderRecord.setEnabledQuantity(v, record, sizes.quantity);
  OrderRecord.setAmount(v, record, terms.amount);
  OrderRecord.setBudget(v, record, envelope.budget);
  OrderRecord.setTriggerPrice(v, record, sizes.triggerPrice);
  // A limit above every rate limits nothing, so saturating keeps its meaning.
  OrderRecord.setMaxFeeRate(v, record, Math.min(sizes.maxFeeRate, FEE_RATE_MAX));
  OrderRecord.setSubAccount(v, record, terms.subAccount);
  OrderRecord.setSide(v, record, terms.side);
  OrderRecord.setTif(v, record, terms.tif);
  OrderRecord.setFlags(v, record, terms.flags);
  OrderRecord.setKind(v, record, terms.kind);
  OrderRecord.setTriggerKind(v, record, terms.triggerKind);
  const isParked = terms.triggerKind !== TRIGGER.none;
  OrderRecord.setTriggerState(v, record, isParked ? TRIGGER_STATE.dormant : TRIGGER_STATE.live);
  writeParent(v, record, terms.parentId, envelope);
  OrderRecord.setOrderId(v, record, terms.orderId);
  OrderRecord.setUser(v, record, terms.user);
}

function writeParent(
  v: Views,
  record: number,
  parentId: OrderFields['parentId'],
  { textBytes, parentIdAt }: TextPlace,
): void {
  const isChild = parentId !== '';
  assert(!isChild || (parentIdAt >= 0 && parentIdAt + parentId.length <= textBytes), "a child's text names its parent");
  OrderRecord.setParentIdAt(v, record, isChild ? parentIdAt : 0);
  OrderRecord.setParentIdBytes(v, record, parentId.length);
}

/** The fields of the message at `at`; nothing of it points into the buffer afterwards. */
export function readNewOrder(v: Views, at: number): OrderFields {
  const record = at + NewOrder.orderAt;
  const creationNs = OrderRecord.creationNs(v, record);
  const goodUntilNs = OrderRecord.goodUntilNs(v, record);
  const parentIdAt = at + NewOrder.bytes + OrderRecord.parentIdAt(v, record);
  return {
    user: OrderRecord.user(v, record),
    subAccount: OrderRecord.subAccount(v, record),
    orderId: OrderRecord.orderId(v, record),
    side: OrderRecord.side(v, record),
    tif: OrderRecord.tif(v, record),
    flags: OrderRecord.flags(v, record),
    price: OrderRecord.price(v, record),
    quantity: OrderRecord.quantity(v, record),
    kind: OrderRecord.kind(v, record),
    amount: OrderRecord.amount(v, record),
    budget: OrderRecord.budget(v, record),
    triggerKind: OrderRecord.triggerKind(v, record),
    triggerPrice: OrderRecord.triggerPrice(v, record),
    parentId: readOrderId(v, parentIdAt, OrderRecord.parentIdBytes(v, record)),
    maxFeeRate: OrderRecord.maxFeeRate(v, record),
    creationNs,
    goodUntilNs,
    expiryNs: orderExpiryNs(creationNs, goodUntilNs),
    text: readText(v, at + NewOrder.bytes, NewOrder.textBytes(v, at)),
    signature: NewOrder.signature(v, at),
  };
}

/** Sets the expiry of a command from the order's record at `at`, as two words. */
export function fillExpiry(to: { expiryHigh: number; expiryLow: number }, v: Views, at: number): void {
  to.expiryLow = (OrderRecord.creationNsLow(v, at) + LIFE_LOW) >>> 0;
  const carry = to.expiryLow < LIFE_LOW ? 1 : 0;
  to.expiryHigh = (OrderRecord.creationNsHigh(v, at) + LIFE_HIGH + carry) >>> 0;
  const high = OrderRecord.goodUntilNsHigh(v, at);
  const low = OrderRecord.goodUntilNsLow(v, at);
  if ((high === 0 && low === 0) || !isBefore(high, low, to.expiryHigh, to.expiryLow)) return;
  to.expiryHigh = high;
  to.expiryLow = low;
}
