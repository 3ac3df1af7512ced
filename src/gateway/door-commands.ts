/**
 * What the front door writes to a market, field by field into a claimed record: creates, replaces, cancels, cancel-alls
 * and the release of orders whose trigger fired. A command about an id carries its hash, so that no market has to hash:
 * `key` is what they are found by, the same for every market of the node.
 */
import type { UserId } from '../core/ids.ts';
import { type HashKey, hashId } from '../core/key-words.ts';
import { ORDER_END, type OrderEnd } from '../core/order-terms.ts';
import type { Views } from '../core/views.ts';
import { createBytes, writeCreateHash, writeNewOrderFields } from '../order/order-codec.ts';
import { writeOrderId, writeUser } from '../schema/fields.ts';
import { CancelAllOrders, CancelOrder, NewOrder, ReleaseOrder, ReplaceOrder } from '../schema/generated/messages.ts';
import type { ReduceWord, ReleaseWord } from './orders/order-events.ts';
import type { PreparedCancel, PreparedCreate, PreparedReplace } from './orders/prepared.ts';

/** Who is answered, and when the door took it. */
export interface Stamp {
  readonly requestId: number;
  readonly receivedNs: bigint;
  /** Of the hashes of ids. */
  readonly key: HashKey;
}

/** @param budget what the hold allows the order to use, from `reserveCreate` (AMB-39). */
export function writeCreate(v: Views, at: number, prepared: PreparedCreate, budget: number, stamp: Stamp): void {
  const { market, terms, text } = prepared;
  const parentIdAt = terms.parentId === '' ? 0 : positionOf(terms.parentId, text);
  const { requestId, receivedNs } = stamp;
  const { marketIndex } = market.definition;
  const around = { requestId, receivedNs, marketIndex, budget, textBytes: text.length, parentIdAt };
  writeNewOrderFields(v, at, terms, prepared, around);
  v.u8.set(text, at + NewOrder.bytes);
  writeCreateHash(v, at, createBytes(text.length), stamp.key);
}

interface Keyed {
  readonly userAt: number;
  readonly orderIdAt: number;
  orderIdBytes(v: Views, at: number): number;
  setIdHash(v: Views, at: number, hash: number): void;
}

/** User and id have been written. */
function writeHash(v: Views, at: number, message: Keyed, key: HashKey): void {
  const { userAt, orderIdAt } = message;
  message.setIdHash(
    v,
    at,
    hashId(key, v.i32, (at + userAt) >>> 2, (at + orderIdAt) >>> 2, message.orderIdBytes(v, at)),
  );
}

function positionOf(id: string, text: Uint8Array): number {
  return Buffer.from(text.buffer, text.byteOffset, text.length).indexOf(id, 'latin1');
}

export function writeReplace(v: Views, at: number, prepared: PreparedReplace, stamp: Stamp): void {
  ReplaceOrder.setRequestId(v, at, stamp.requestId);
  ReplaceOrder.setReceivedNs(v, at, stamp.receivedNs);
  ReplaceOrder.setTimestampNs(v, at, prepared.timestampNs);
  ReplaceOrder.setPrice(v, at, prepared.newPrice ?? 0);
  ReplaceOrder.setQuantity(v, at, prepared.newQuantity ?? 0);
  ReplaceOrder.setTriggerKind(v, at, prepared.newTrigger?.kind ?? 0);
  ReplaceOrder.setTriggerPrice(v, at, prepared.newTrigger?.price ?? 0);
  ReplaceOrder.setMarketIndex(v, at, prepared.market.definition.marketIndex);
  ReplaceOrder.setNodeMade(v, at, 0);
  ReplaceOrder.setOrderIdBytes(v, at, prepared.orderId.length);
  writeUser(v, at + ReplaceOrder.userAt, prepared.user);
  writeOrderId(v, at + ReplaceOrder.orderIdAt, prepared.orderId);
  writeHash(v, at, ReplaceOrder, stamp.key);
}

/** The node makes an order smaller: its price stays, and its timestamp. */
export function writeReduction(v: Views, at: number, word: ReduceWord, stamp: Omit<Stamp, 'requestId'>): void {
  ReplaceOrder.setRequestId(v, at, word.requestId);
  ReplaceOrder.setReceivedNs(v, at, stamp.receivedNs);
  ReplaceOrder.setTimestampNs(v, at, 0n);
  ReplaceOrder.setPrice(v, at, 0);
  ReplaceOrder.setQuantity(v, at, word.total);
  ReplaceOrder.setTriggerKind(v, at, 0);
  ReplaceOrder.setTriggerPrice(v, at, 0);
  ReplaceOrder.setMarketIndex(v, at, word.marketIndex);
  ReplaceOrder.setNodeMade(v, at, 1);
  ReplaceOrder.setOrderIdBytes(v, at, word.orderId.length);
  writeUser(v, at + ReplaceOrder.userAt, word.user);
  writeOrderId(v, at + ReplaceOrder.orderIdAt, word.orderId);
  writeHash(v, at, ReplaceOrder, stamp.key);
}

/** The node takes an order off. */
export function writeNodeCancel(v: Views, at: number, word: ReduceWord, stamp: Omit<Stamp, 'requestId'>): void {
  CancelOrder.setRequestId(v, at, word.requestId);
  CancelOrder.setReceivedNs(v, at, stamp.receivedNs);
  CancelOrder.setMarketIndex(v, at, word.marketIndex);
  CancelOrder.setHold(v, at, 0);
  CancelOrder.setEnd(v, at, word.end);
  CancelOrder.setOrderIdBytes(v, at, word.orderId.length);
  writeUser(v, at + CancelOrder.userAt, word.user);
  writeOrderId(v, at + CancelOrder.orderIdAt, word.orderId);
  writeHash(v, at, CancelOrder, stamp.key);
}

/** @param holds whether it may wait for its create (AMB-25). */
export function writeCancel(v: Views, at: number, prepared: PreparedCancel, holds: boolean, stamp: Stamp): void {
  CancelOrder.setRequestId(v, at, stamp.requestId);
  CancelOrder.setReceivedNs(v, at, stamp.receivedNs);
  CancelOrder.setMarketIndex(v, at, prepared.market.definition.marketIndex);
  CancelOrder.setHold(v, at, holds ? 1 : 0);
  CancelOrder.setEnd(v, at, ORDER_END.userRequested);
  CancelOrder.setOrderIdBytes(v, at, prepared.orderId.length);
  writeUser(v, at + CancelOrder.userAt, prepared.user);
  writeOrderId(v, at + CancelOrder.orderIdAt, prepared.orderId);
  writeHash(v, at, CancelOrder, stamp.key);
}

export interface CancelAll {
  readonly user: UserId;
  readonly marketIndex: number;
  /** 0n: every order. */
  readonly beforeNs: bigint;
  readonly end: OrderEnd;
}

export function writeCancelAll(
  v: Views,
  at: number,
  { user, marketIndex, beforeNs, end }: CancelAll,
  stamp: Omit<Stamp, 'key'>,
): void {
  CancelAllOrders.setRequestId(v, at, stamp.requestId);
  CancelAllOrders.setReceivedNs(v, at, stamp.receivedNs);
  CancelAllOrders.setBeforeNs(v, at, beforeNs);
  CancelAllOrders.setMarketIndex(v, at, marketIndex);
  CancelAllOrders.setEnd(v, at, end);
  writeUser(v, at + CancelAllOrders.userAt, user);
}

export function writeRelease(v: Views, at: number, word: ReleaseWord, receivedNs: bigint): void {
  ReleaseOrder.setReceivedNs(v, at, receivedNs);
  ReleaseOrder.setOrder(v, at, word.order);
  ReleaseOrder.setTriggered(v, at, word.triggered);
  ReleaseOrder.setQuantity(v, at, word.quantity);
  ReleaseOrder.setBudget(v, at, word.budget);
  ReleaseOrder.setMarketIndex(v, at, word.marketIndex);
  ReleaseOrder.setEnd(v, at, word.end);
}
