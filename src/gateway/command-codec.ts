/**
 * Messages of the gateway to a market: creates, replaces, cancels, cancel-alls and the release of orders after their
 * trigger fired, each written into a claimed record. A command about an id carries the hash of the id, so that no market
 * computes one; the key of the hash is the same for every market of the node.
 */
import { SIGNATURE_BYTES } from '../codec/signatures.ts';
import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { type HashKey, hashId } from '../core/key-words.ts';
import { QUOTE_TEXT_BYTES_MAX, SIGNED_TEXT_BYTES_MAX } from '../core/limits.ts';
import { ORDER_END, type OrderEnd, type Side, TRIGGER } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { createBytes, NO_BOUND, writeCreateHash, writeRoom } from '../order/order-codec.ts';
import {
  AmendOrder,
  ApplyQuoteSet,
  CancelAllOrders,
  CancelOrder,
  EndQuoteSet,
  NewOrder,
  OrderRecord,
  type OrderRecordView,
  QuoteSetEntry,
  ReleaseOrder,
  ReplaceOrder,
} from '../schema/generated/messages.ts';
import type { ReduceCommand, ReleaseEvent } from './orders/book/order-events.ts';
import type {
  PreparedAmend,
  PreparedCancel,
  PreparedCreate,
  PreparedReplace,
} from './orders/entry/pending-requests.ts';

const NO_PRICE = 0 as RawPrice;
const NO_QUANTITY = 0 as RawQuantity;
const NO_TIME = 0n as TimestampNs;
const NO_SIGNATURE = new Uint8Array();

/** Common fields of commands: the request, and the time at the gateway. */
export interface Stamp {
  readonly requestId: number;
  readonly receivedNs: bigint;
  /** The key of the hashes of ids. */
  readonly key: HashKey;
}

/** @param order its record, as the gateway keeps it; the market adds the sequences and times of its admission. */
export function writeCreate(
  v: Views,
  at: number,
  order: OrderRecordView,
  {
    terms,
    text,
    signature,
    signatures,
    room,
  }: Pick<PreparedCreate, 'terms' | 'text' | 'signature' | 'signatures' | 'room'>,
  stamp: Stamp,
): void {
  assert(text.length <= SIGNED_TEXT_BYTES_MAX, 'the text of an order is within its limit');
  const signaturesBytes = signaturesBytesOf(signatures);
  const record = at + NewOrder.orderAt;
  NewOrder.setRequestId(v, at, stamp.requestId);
  NewOrder.setReceivedNs(v, at, stamp.receivedNs);
  OrderRecord.copy(order.v, order.at, v, record);
  // The gateway derives what is enabled of a child from its parent; from here on the clearing engine counts it.
  OrderRecord.setEnabledQuantity(v, record, OrderRecord.quantity(v, record));
  if (terms.parentId !== '') OrderRecord.setParentIdAt(v, record, parentIdIn(text, terms.parentId));
  NewOrder.setSignature(v, at, signaturesBytes === 0 ? signature : NO_SIGNATURE);
  NewOrder.setTextBytes(v, at, text.length);
  NewOrder.setSignaturesBytes(v, at, signaturesBytes);
  v.u8.set(text, at + NewOrder.bytes);
  if (signaturesBytes > 0) v.u8.set(signatures, at + NewOrder.bytes + text.length);
  const bytes = createBytes(text.length, signaturesBytes, terms.flags);
  writeRoom(v, at, bytes, room);
  writeCreateHash(v, at, bytes, stamp.key);
}

/** Bytes of the message of a create. */
export function createMessageBytes({
  text,
  signatures,
  terms,
}: Pick<PreparedCreate, 'text' | 'signatures' | 'terms'>): number {
  return createBytes(text.length, signaturesBytesOf(signatures), terms.flags);
}

/** Bytes of the signatures behind the text; 0 where the master alone signed, whose signature has a field of its own. */
function signaturesBytesOf(signatures: Uint8Array): number {
  return signatures.length > SIGNATURE_BYTES ? signatures.length : 0;
}

/** Where the text of a child names its parent: any place that has the bytes of its id. */
function parentIdIn(text: Uint8Array, parentId: OrderId | ''): number {
  const at = Buffer.from(text.buffer, text.byteOffset, text.length).indexOf(parentId, 'latin1');
  assert(at >= 0, "a child's text names its parent");
  return at;
}

interface Keyed {
  readonly userAt: number;
  readonly orderIdAt: number;
  orderIdBytes(v: Views, at: number): number;
  setIdHash(v: Views, at: number, hash: number): void;
}

/** After user and id are written. */
function writeHash(v: Views, at: number, message: Keyed, key: HashKey): void {
  const { userAt, orderIdAt } = message;
  message.setIdHash(
    v,
    at,
    hashId(key, v.i32, (at + userAt) >>> 2, (at + orderIdAt) >>> 2, message.orderIdBytes(v, at)),
  );
}

export function writeReplace(v: Views, at: number, prepared: PreparedReplace, stamp: Stamp): void {
  const { requestId, key } = stamp;
  const { market, user, orderId, timestampNs, newPrice, newQuantity, newTrigger, isComplete, room } = prepared;
  ReplaceOrder.write(v, at, {
    requestId,
    receivedNs: stamp.receivedNs as TimestampNs,
    timestampNs,
    price: newPrice ?? NO_PRICE,
    quantity: newQuantity ?? NO_QUANTITY,
    triggerPrice: newTrigger?.price ?? NO_PRICE,
    ...room,
    marketIndex: market.definition.marketIndex,
    triggerKind: newTrigger?.kind ?? TRIGGER.none,
    nodeMade: false,
    isComplete,
    user,
    orderId,
    idHash: 0,
  });
  writeHash(v, at, ReplaceOrder, key);
}

export function writeAmend(v: Views, at: number, prepared: PreparedAmend, stamp: Stamp): void {
  const { market, user, orderId, timestampNs, expectedRevisionNs, newQuantity } = prepared;
  AmendOrder.write(v, at, {
    requestId: stamp.requestId,
    receivedNs: stamp.receivedNs as TimestampNs,
    timestampNs,
    expectedNs: expectedRevisionNs ?? NO_TIME,
    expectsRevision: expectedRevisionNs !== null,
    quantity: newQuantity,
    marketIndex: market.definition.marketIndex,
    user,
    orderId,
    idHash: 0,
  });
  writeHash(v, at, AmendOrder, stamp.key);
}

/** The node reduces an order: its price stays, and its timestamp. */
export function writeReduction(v: Views, at: number, command: ReduceCommand, stamp: Omit<Stamp, 'requestId'>): void {
  const { requestId, marketIndex, user, orderId, total } = command;
  ReplaceOrder.write(v, at, {
    requestId,
    receivedNs: stamp.receivedNs as TimestampNs,
    timestampNs: NO_TIME,
    price: NO_PRICE,
    quantity: total as RawQuantity,
    triggerPrice: NO_PRICE,
    ...NO_BOUND,
    marketIndex,
    triggerKind: TRIGGER.none,
    nodeMade: true,
    isComplete: false,
    user,
    orderId,
    idHash: 0,
  });
  writeHash(v, at, ReplaceOrder, stamp.key);
}

/** The node cancels an order. */
export function writeNodeCancel(v: Views, at: number, command: ReduceCommand, stamp: Omit<Stamp, 'requestId'>): void {
  const { requestId, marketIndex, user, orderId, end } = command;
  const receivedNs = stamp.receivedNs as TimestampNs;
  CancelOrder.write(v, at, { requestId, receivedNs, marketIndex, hold: false, end, user, orderId, idHash: 0 });
  writeHash(v, at, CancelOrder, stamp.key);
}

/** @param holds whether it may wait for its create (AMB-25). */
export function writeCancel(v: Views, at: number, prepared: PreparedCancel, holds: boolean, stamp: Stamp): void {
  const { requestId, key } = stamp;
  const receivedNs = stamp.receivedNs as TimestampNs;
  const { market, user, orderId } = prepared;
  const { marketIndex } = market.definition;
  const end = ORDER_END.userRequested;
  CancelOrder.write(v, at, { requestId, receivedNs, marketIndex, hold: holds, end, user, orderId, idHash: 0 });
  writeHash(v, at, CancelOrder, key);
}

/** Which orders of a user in a market a cancel is about. */
export interface CancelLimits {
  /** 0n: every order. */
  readonly beforeNs: bigint;
  /** Null: both. */
  readonly side: Side | null;
  /** The slot of a group whose members alone are meant; 0: all. */
  readonly protectionGroup: number;
}

/** Every order. */
export const NO_LIMITS: CancelLimits = { beforeNs: 0n, side: null, protectionGroup: 0 };

interface CancelAll extends CancelLimits {
  readonly user: UserId;
  readonly marketIndex: number;
  readonly end: OrderEnd;
}

export function writeCancelAll(v: Views, at: number, cancelled: CancelAll, stamp: Omit<Stamp, 'key'>): void {
  const { requestId } = stamp;
  const { user, marketIndex, end } = cancelled;
  const receivedNs = stamp.receivedNs as TimestampNs;
  CancelAllOrders.write(v, at, { requestId, receivedNs, marketIndex, user, end, ...boundsOf(cancelled) });
}

function boundsOf({ beforeNs, side, protectionGroup }: CancelLimits): {
  readonly beforeNs: TimestampNs;
  readonly sideOnly: number;
  readonly protectionGroup: number;
} {
  return { beforeNs: beforeNs as TimestampNs, sideOnly: side === null ? 0 : side + 1, protectionGroup };
}

/** A quote set as it passed the gateway; the members are those of ApplyQuoteSet. */
interface QuoteSetToSend {
  readonly user: UserId;
  readonly setId: string;
  readonly marketIndex: number;
  readonly revisionNs: TimestampNs;
  /** 0n for null. */
  readonly goodUntilNs: TimestampNs;
  readonly boughtSeen: number;
  readonly soldSeen: number;
  readonly maxFeeRate: number;
  readonly subAccount: number;
  readonly flags: number;
  readonly protectionGroup: number;
  readonly onlyTakes: boolean;
  /** Price and quantity in turn, best price first. */
  readonly bids: readonly number[];
  readonly asks: readonly number[];
  readonly text: Uint8Array;
  readonly signature: Uint8Array;
  /** All signatures, as they are stored (codec/stored-signatures.ts). */
  readonly signatures: Uint8Array;
}

/** Bytes of its message. */
export function quoteSetMessageBytes({
  bids,
  asks,
  text,
  signatures,
}: Pick<QuoteSetToSend, 'bids' | 'asks' | 'text' | 'signatures'>): number {
  const entries = (bids.length + asks.length) / 2;
  return ApplyQuoteSet.bytes + entries * QuoteSetEntry.bytes + text.length + signaturesBytesOf(signatures);
}

export function writeQuoteSet(v: Views, at: number, set: QuoteSetToSend, stamp: Omit<Stamp, 'key'>): void {
  const { bids, asks, text, signature, signatures } = set;
  assert(text.length <= QUOTE_TEXT_BYTES_MAX, 'the text of a quote set is within its limit');
  const signaturesBytes = signaturesBytesOf(signatures);
  ApplyQuoteSet.write(v, at, {
    ...set,
    requestId: stamp.requestId,
    receivedNs: stamp.receivedNs as TimestampNs,
    signature: signaturesBytes === 0 ? signature : NO_SIGNATURE,
    textBytes: text.length,
    signaturesBytes,
    bids: bids.length / 2,
    asks: asks.length / 2,
  });
  let to = at + ApplyQuoteSet.bytes;
  for (const entries of [bids, asks])
    for (let entry = 0; entry < entries.length; entry += 2, to += QuoteSetEntry.bytes) {
      QuoteSetEntry.setPrice(v, to, entries[entry] as number);
      QuoteSetEntry.setQuantity(v, to, entries[entry + 1] as number);
    }
  v.u8.set(text, to);
  if (signaturesBytes > 0) v.u8.set(signatures, to + text.length);
}

interface EndedQuoteSets extends CancelLimits {
  readonly user: UserId;
  readonly marketIndex: number;
  /** '': every set of the sub-account; of the user where that is null. */
  readonly setId: string;
  readonly subAccount: number | null;
  readonly end: OrderEnd;
}

export function writeEndQuoteSet(v: Views, at: number, ended: EndedQuoteSets, stamp: Omit<Stamp, 'key'>): void {
  const { user, marketIndex, setId, subAccount, end } = ended;
  EndQuoteSet.write(v, at, {
    requestId: stamp.requestId,
    receivedNs: stamp.receivedNs as TimestampNs,
    user,
    marketIndex,
    setId,
    subAccount: subAccount ?? 0,
    anyAccount: subAccount === null,
    end,
    ...boundsOf(ended),
  });
}

export function writeRelease(v: Views, at: number, command: ReleaseEvent, receivedNs: bigint): void {
  const { order, triggered, quantity, budget, bound, room, marketIndex, end } = command;
  ReleaseOrder.write(v, at, {
    receivedNs: receivedNs as TimestampNs,
    order,
    triggered,
    quantity,
    budget,
    ...room,
    bound,
    marketIndex,
    end,
  });
}
