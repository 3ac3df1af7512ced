/**
 * One live order at boot, as clearing tells it to its market and to the front door: made once, written to both, read by
 * each in its own way. Signed text and signature stay with clearing.
 *
 *   OrderRestoredAtBoot struct │ the id of its parent, ASCII
 *    └ what the door keeps ┘└ the market's, user, id ┘
 *
 * Not here: where the door keeps it (kept-orders.ts), in which order orders are told (restoring.ts).
 */

import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { ORDER_ID_BYTES_MAX } from '../core/limits.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  type OrderKind,
  orderExpiryNs,
  type Side,
  type Tif,
  TRIGGER_STATE,
  type TriggerKind,
  type TriggerState,
} from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import type { RestoredOrder } from '../gateway/orders/words.ts';
import type { RestoredOrder as RestoredCommand } from '../matching/commands.ts';
import { readOrderId, readUser, writeOrderId, writeUser } from '../schema/fields.ts';
import { OrderRestoredAtBoot } from '../schema/generated/messages.ts';
import type { RecordSink } from './effect-codec.ts';
import type { OrderRow } from './rows.ts';

const BYTES_MAX = (OrderRestoredAtBoot.bytes + ORDER_ID_BYTES_MAX + 7) & ~7;

/** Lots that the market has released, or never kept back. */
function inForceOf({ triggerState, parentSequence, quantity, activatedQuantity }: OrderRow): number {
  if (triggerState !== TRIGGER_STATE.live) return 0;
  return parentSequence === 0 ? quantity : activatedQuantity;
}

// ---- clearing

export class RestoredOrderWord {
  readonly #views = viewsOf(new ArrayBuffer(BYTES_MAX), 0, BYTES_MAX);
  #bytes = 0;

  /** @param parent its parent's sequence if that lives, else 0. @param parentId as signed, '' of an order that is no child. */
  set(row: OrderRow, parent: number, parentId: OrderId | ''): void {
    const v = this.#views;
    this.#writeTexts(row, parentId);
    OrderRestoredAtBoot.setOrder(v, 0, row.orderSequence);
    OrderRestoredAtBoot.setPrice(v, 0, row.price);
    OrderRestoredAtBoot.setQuantity(v, 0, row.quantity);
    OrderRestoredAtBoot.setAmount(v, 0, row.amount);
    OrderRestoredAtBoot.setBudget(v, 0, row.budget);
    OrderRestoredAtBoot.setTriggerPrice(v, 0, row.triggerPrice);
    OrderRestoredAtBoot.setEnabledQuantity(v, 0, row.enabledQuantity);
    OrderRestoredAtBoot.setInForce(v, 0, inForceOf(row));
    OrderRestoredAtBoot.setFilledQuantity(v, 0, row.filledQuantity);
    OrderRestoredAtBoot.setFilledNotional(v, 0, row.filledNotional);
    OrderRestoredAtBoot.setFees(v, 0, row.fees);
    OrderRestoredAtBoot.setCreationNs(v, 0, row.creationNs);
    OrderRestoredAtBoot.setGoodUntilNs(v, 0, row.goodUntilNs);
    OrderRestoredAtBoot.setTimestampNs(v, 0, row.timestampNs);
    OrderRestoredAtBoot.setLastUpdateNs(v, 0, row.lastUpdateNs);
    OrderRestoredAtBoot.setMarketIndex(v, 0, row.marketIndex);
    OrderRestoredAtBoot.setSubAccount(v, 0, row.subAccount);
    OrderRestoredAtBoot.setSide(v, 0, row.side);
    OrderRestoredAtBoot.setKind(v, 0, row.kind);
    OrderRestoredAtBoot.setTif(v, 0, row.tif);
    OrderRestoredAtBoot.setFlags(v, 0, row.flags);
    OrderRestoredAtBoot.setTriggerKind(v, 0, row.triggerKind);
    OrderRestoredAtBoot.setTriggerState(v, 0, row.triggerState);
    OrderRestoredAtBoot.setPrioritySequence(v, 0, row.prioritySequence);
    OrderRestoredAtBoot.setParent(v, 0, parent);
    OrderRestoredAtBoot.setExpiryNs(v, 0, orderExpiryNs(row.creationNs, row.goodUntilNs));
  }

  /** Word by word: a message has some seventy. */
  write(sink: RecordSink): void {
    const at = sink.claim(OrderRestoredAtBoot.typeId, this.#bytes);
    if (at < 0) return;
    const { i32: from } = this.#views;
    const { i32: to } = sink.views;
    const words = (this.#bytes + 3) >>> 2;
    const first = at >>> 2;
    for (let word = 0; word < words; word += 1) to[first + word] = from[word] as number;
    sink.commit();
  }

  #writeTexts({ user, orderId }: OrderRow, parentId: OrderId | ''): void {
    const v = this.#views;
    this.#setLengths(orderId.length, parentId.length);
    writeUser(v, OrderRestoredAtBoot.userAt, user);
    writeOrderId(v, OrderRestoredAtBoot.orderIdAt, orderId);
    if (parentId !== '') writeOrderId(v, OrderRestoredAtBoot.bytes, parentId);
  }

  #setLengths(orderIdBytes: number, parentIdBytes: number): void {
    const v = this.#views;
    assert(orderIdBytes <= ORDER_ID_BYTES_MAX && parentIdBytes <= ORDER_ID_BYTES_MAX, 'order ids are within limits');
    OrderRestoredAtBoot.setOrderIdBytes(v, 0, orderIdBytes);
    OrderRestoredAtBoot.setParentIdBytes(v, 0, parentIdBytes);
    this.#bytes = OrderRestoredAtBoot.bytes + parentIdBytes;
  }
}

// ---- the front door

/** Where the texts of an order lie. */
export interface RestoredTexts {
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly parentId: OrderId | '';
}

/** A live order with the values in force. */
export function readRestoredRow(v: Views, at: number): RestoredOrder {
  return readKeptRow(v, at, {
    user: readUser(v, at + OrderRestoredAtBoot.userAt),
    orderId: readOrderId(v, at + OrderRestoredAtBoot.orderIdAt, OrderRestoredAtBoot.orderIdBytes(v, at)),
    parentId: readOrderId(v, at + OrderRestoredAtBoot.bytes, OrderRestoredAtBoot.parentIdBytes(v, at)),
  });
}

/** Of the struct only its first part is read. */
export function readKeptRow(v: Views, at: number, { user, orderId, parentId }: RestoredTexts): RestoredOrder {
  return {
    user,
    subAccount: OrderRestoredAtBoot.subAccount(v, at),
    orderId,
    side: OrderRestoredAtBoot.side(v, at) as Side,
    tif: OrderRestoredAtBoot.tif(v, at) as Tif,
    kind: OrderRestoredAtBoot.kind(v, at) as OrderKind,
    amount: OrderRestoredAtBoot.amount(v, at),
    budget: OrderRestoredAtBoot.budget(v, at),
    parentId,
    creationNs: OrderRestoredAtBoot.creationNs(v, at) as TimestampNs,
    goodUntilNs: OrderRestoredAtBoot.goodUntilNs(v, at) as TimestampNs,
    price: OrderRestoredAtBoot.price(v, at) as RawPrice,
    quantity: OrderRestoredAtBoot.quantity(v, at) as RawQuantity,
    flags: OrderRestoredAtBoot.flags(v, at),
    triggerKind: OrderRestoredAtBoot.triggerKind(v, at) as TriggerKind,
    triggerPrice: OrderRestoredAtBoot.triggerPrice(v, at) as RawPrice,
    triggerState: OrderRestoredAtBoot.triggerState(v, at) as TriggerState,
    enabledQuantity: OrderRestoredAtBoot.enabledQuantity(v, at),
    inForce: OrderRestoredAtBoot.inForce(v, at),
    marketIndex: OrderRestoredAtBoot.marketIndex(v, at),
    orderSequence: OrderRestoredAtBoot.order(v, at) as Sequence,
    timestampNs: OrderRestoredAtBoot.timestampNs(v, at) as TimestampNs,
    lastUpdateNs: OrderRestoredAtBoot.lastUpdateNs(v, at) as TimestampNs,
    filledQuantity: OrderRestoredAtBoot.filledQuantity(v, at),
    filledNotional: OrderRestoredAtBoot.filledNotional(v, at) as Amount18,
    fees: OrderRestoredAtBoot.fees(v, at) as Amount18,
  };
}

// ---- the market

/** Reads orders for an engine into one record, filled anew for each: a start reads a million of them. */
export class RestoredCommandReader {
  readonly #command: RestoredCommand = {
    words: new Int32Array(0),
    userAt: 0,
    orderIdAt: 0,
    orderIdBytes: 0,
    order: 0,
    prioritySequence: 0,
    subAccount: 0,
    side: 0,
    kind: 0,
    tif: 0,
    flags: 0,
    price: 0,
    quantity: 0,
    amount: 0,
    budget: 0,
    filledQuantity: 0,
    inForce: 0,
    spent: 0n,
    triggerState: TRIGGER_STATE.live,
    triggerKind: 0,
    triggerPrice: 0,
    parent: 0,
    creationHigh: 0,
    creationLow: 0,
    timestampHigh: 0,
    timestampLow: 0,
    expiryHigh: 0,
    expiryLow: 0,
  };

  /**
   * @param moneyUnit the engine's unit of money, with 18 decimals.
   * @returns valid until the next call, and while the message lies where it is.
   */
  read(v: Views, at: number, moneyUnit: bigint): RestoredCommand {
    const command = this.#command;
    const kind = OrderRestoredAtBoot.kind(v, at) as OrderKind;
    command.words = v.i32;
    command.userAt = (at + OrderRestoredAtBoot.userAt) >>> 2;
    command.orderIdAt = (at + OrderRestoredAtBoot.orderIdAt) >>> 2;
    command.orderIdBytes = OrderRestoredAtBoot.orderIdBytes(v, at);
    command.order = OrderRestoredAtBoot.order(v, at);
    command.prioritySequence = OrderRestoredAtBoot.prioritySequence(v, at);
    command.subAccount = OrderRestoredAtBoot.subAccount(v, at);
    command.side = OrderRestoredAtBoot.side(v, at) as Side;
    command.kind = kind;
    command.tif = OrderRestoredAtBoot.tif(v, at) as Tif;
    // Clearing's own note of a lost fill means nothing to a market.
    command.flags = OrderRestoredAtBoot.flags(v, at) & ~ORDER_FLAG.rolledBack;
    command.price = OrderRestoredAtBoot.price(v, at);
    command.quantity = OrderRestoredAtBoot.quantity(v, at);
    command.amount = OrderRestoredAtBoot.amount(v, at);
    command.budget = OrderRestoredAtBoot.budget(v, at);
    command.filledQuantity = OrderRestoredAtBoot.filledQuantity(v, at);
    command.inForce = OrderRestoredAtBoot.inForce(v, at);
    // A limit order is bound by lots alone.
    command.spent = kind === ORDER_KIND.limit ? 0n : OrderRestoredAtBoot.filledNotional(v, at) / moneyUnit;
    command.triggerState = OrderRestoredAtBoot.triggerState(v, at) as TriggerState;
    command.triggerKind = OrderRestoredAtBoot.triggerKind(v, at) as TriggerKind;
    command.triggerPrice = OrderRestoredAtBoot.triggerPrice(v, at);
    command.parent = OrderRestoredAtBoot.parent(v, at);
    fillTimes(command, v, at);
    return command;
  }
}

function fillTimes(command: RestoredCommand, v: Views, at: number): void {
  const creation = (at + OrderRestoredAtBoot.creationNsAt) >>> 2;
  const timestamp = (at + OrderRestoredAtBoot.timestampNsAt) >>> 2;
  const expiry = (at + OrderRestoredAtBoot.expiryNsAt) >>> 2;
  command.creationHigh = v.u32[creation + 1] as number;
  command.creationLow = v.u32[creation] as number;
  command.timestampHigh = v.u32[timestamp + 1] as number;
  command.timestampLow = v.u32[timestamp] as number;
  command.expiryHigh = v.u32[expiry + 1] as number;
  command.expiryLow = v.u32[expiry] as number;
}
