/**
 * A new order between its two forms: the fields clearing and the front door work with, and the `NewOrder` message that
 * travels through rings and lies in the journal.
 *
 *   NewOrder struct (264 bytes) │ canonical text, `text_bytes` of ASCII
 *                                        └── a child names its parent there, once more than by `parent_id_at`
 */

import type { NewOrder as OrderFields } from '../clearing/inputs.ts';
import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { type HashKey, hashId } from '../core/key-words.ts';
import { ORDER_ID_BYTES_MAX, SIGNED_TEXT_BYTES_MAX } from '../core/limits.ts';
import type { OrderKind, Side, Tif, TriggerKind } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { NewOrder } from '../schema/generated/messages.ts';

const FEE_RATE_MAX = 0xffff_ffff;
const SIGNATURE_BYTES = 64;
const USER_BYTES = 32;
const USER_WORDS = 8;
/** A power of two. */
const READ_USERS = 4_096;
const HASH_BYTES = 4;

/** What the front door adds to the fields of an order. */
export interface Envelope {
  readonly requestId: number;
  readonly receivedNs: bigint;
  readonly marketIndex: number;
}

/** One Buffer over each buffer that messages lie in: making one per field would cost more than the field. */
const buffers = new WeakMap<Uint8Array, Buffer>();

/** All bytes of the views, for text conversions at offsets. */
export function bufferOf(v: Views): Buffer {
  const known = buffers.get(v.u8);
  if (known !== undefined) return known;
  const buffer = Buffer.from(v.u8.buffer, v.u8.byteOffset, v.u8.byteLength);
  buffers.set(v.u8, buffer);
  return buffer;
}

/** ASCII text of a message. */
export function readText(v: Views, at: number, length: number): string {
  return bufferOf(v).latin1Slice(at, at + length);
}

/** Writes ASCII text that the caller knows to fit. */
export function writeText(v: Views, at: number, text: string): void {
  bufferOf(v).latin1Write(text, at, text.length);
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

/**
 * The same users come again and again: the text of one that was read lately is given anew, which is faster than to make
 * it, and whoever looks for a user by it finds it faster too. @param at a multiple of 4.
 */
export function readUser(v: Views, at: number): UserId {
  return readUsers.read(v, at);
}

/** Users read lately, each at a place that its first word chooses: one takes the place of another. */
class ReadUsers {
  readonly #words = new Int32Array(READ_USERS * USER_WORDS);
  readonly #users: (UserId | undefined)[] = new Array(READ_USERS).fill(undefined);

  read(v: Views, at: number): UserId {
    assert((at & 3) === 0, 'a user id in a message begins at a word');
    const { i32 } = v;
    const from = at >>> 2;
    const place = (i32[from] as number) & (READ_USERS - 1);
    const known = this.#users[place];
    if (known !== undefined && this.#is(place, i32, from)) return known;
    const user = bufferOf(v).hexSlice(at, at + USER_BYTES) as UserId;
    this.#words.set(i32.subarray(from, from + USER_WORDS), place * USER_WORDS);
    this.#users[place] = user;
    return user;
  }

  #is(place: number, words: Int32Array, from: number): boolean {
    const at = place * USER_WORDS;
    // mutant: whole-user-compared
    for (let word = 0; word < USER_WORDS; word += 1) if (this.#words[at + word] !== words[from + word]) return false;
    return true;
  }
}

const readUsers = new ReadUsers();

/** Writes the 32 bytes of a user id at `at`. */
export function writeUser(v: Views, at: number, user: UserId): void {
  bufferOf(v).hexWrite(user, at, USER_BYTES);
}

export function readOrderId(v: Views, at: number, length: number): OrderId {
  return readText(v, at, length) as OrderId;
}

export function writeOrderId(v: Views, at: number, orderId: OrderId): void {
  writeText(v, at, orderId);
}
