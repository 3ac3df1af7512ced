/**
 * Reads messages as commands of an engine, in place: one record per kind, refilled for each message, so nothing is
 * allocated per message. Times stay two words and keys stay in the ring.
 */
import { RAW_MAX } from '../core/limits.ts';
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  TRIGGER_STATE,
  type TriggerKind,
} from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { OrderToFill } from '../order/fill-injection.ts';
import { createHash, fillExpiry, fillRoom } from '../order/order-codec.ts';
import {
  AmendOrder,
  ApplyQuoteSet,
  CancelAllOrders,
  CancelOrder,
  EndQuoteSet,
  FillRolledBack,
  NewOrder,
  OrderIdRemembered,
  OrderRecord,
  OrderRestoredAtBoot,
  QuoteSetEntry,
  QuoteSetRestored,
  ReleaseOrder,
  ReplaceOrder,
} from '../schema/generated/messages.ts';
import {
  type CancelAllCommand,
  CancelCommand,
  type EndQuoteSetCommand,
  type HashedKey,
  NewOrderCommand,
  type OrderKey,
  QuoteSetCommand,
  type Received,
  type ReleaseCommand,
  type RememberedId,
  ReplaceCommand,
  type RestoredOrder,
  type RestoredQuoteSet,
  type RollbackCommand,
} from './commands.ts';

const NO_WORDS = new Int32Array(0);
const NO_TIME = 0n as TimestampNs;

function emptyKey(): HashedKey {
  return { words: NO_WORDS, userAt: 0, orderIdAt: 0, orderIdBytes: 0, idHash: 0 };
}

function notReceived(): Received {
  return { requestId: 0, receivedHigh: 0, receivedLow: 0 };
}

/** A struct's key; its fields give the position. */
interface Keyed {
  readonly userAt: number;
  readonly orderIdAt: number;
  orderIdBytes(v: Views, at: number): number;
}

function fillKey(key: OrderKey, message: Keyed, v: Views, at: number): void {
  key.words = v.i32;
  key.userAt = (at + message.userAt) >>> 2;
  key.orderIdAt = (at + message.orderIdAt) >>> 2;
  key.orderIdBytes = message.orderIdBytes(v, at);
}

/** The first fields of the gateway's commands: user and time. */
interface FromGateway {
  receivedNsHigh(v: Views, at: number): number;
  receivedNsLow(v: Views, at: number): number;
  requestId(v: Views, at: number): number;
}

function fillReceived(command: Received, message: FromGateway, v: Views, at: number): void {
  command.requestId = message.requestId(v, at);
  command.receivedHigh = message.receivedNsHigh(v, at);
  command.receivedLow = message.receivedNsLow(v, at);
}

/** What a replace and an amend have in common. */
function fillChange(
  command: ReplaceCommand,
  message: typeof ReplaceOrder | typeof AmendOrder,
  v: Views,
  at: number,
): void {
  fillKey(command, message, v, at);
  command.idHash = message.idHash(v, at);
  fillReceived(command, message, v, at);
  command.timestampHigh = message.timestampNsHigh(v, at);
  command.timestampLow = message.timestampNsLow(v, at);
  command.quantity = message.quantity(v, at);
}

export class CommandReader {
  readonly #create = new NewOrderCommand();
  readonly #parentId: Uint8Array;
  readonly #replace = new ReplaceCommand();
  readonly #amend: ReplaceCommand = Object.assign(new ReplaceCommand(), { isAmend: true });
  readonly #cancel = new CancelCommand();
  readonly #cancelAll: CancelAllCommand = {
    ...notReceived(),
    words: NO_WORDS,
    userAt: 0,
    beforeHigh: 0,
    beforeLow: 0,
    end: ORDER_END.userRequested,
    sideOnly: 0,
    protectionGroup: 0,
  };
  readonly #quoteSet = new QuoteSetCommand();
  readonly #endQuoteSet: EndQuoteSetCommand = {
    ...notReceived(),
    words: NO_WORDS,
    userAt: 0,
    nameAt: 0,
    nameBytes: 0,
    subAccount: 0,
    anyAccount: false,
    end: ORDER_END.userRequested,
    beforeHigh: 0,
    beforeLow: 0,
    sideOnly: 0,
    protectionGroup: 0,
  };
  readonly #release: ReleaseCommand = {
    receivedNs: NO_TIME,
    order: 0,
    triggered: 0,
    quantity: 0,
    budget: 0,
    bound: 0,
    end: 0,
    roomToTake: RAW_MAX,
    roomToRest: RAW_MAX,
  };
  readonly #rollback: RollbackCommand = {
    receivedNs: NO_TIME,
    tradeId: 0,
    makerOrder: 0,
    takerOrder: 0,
    quantity: 0,
    makerReason: 0,
    takerReason: 0,
  };

  constructor() {
    this.#parentId = new Uint8Array(this.#create.parentWords.buffer);
  }

  /** @param bytes of the record, from `createBytes`. */
  readCreate(v: Views, at: number, bytes: number): NewOrderCommand {
    const command = this.#create;
    const record = at + NewOrder.orderAt;
    fillKey(command, OrderRecord, v, record);
    command.idHash = createHash(v, at, bytes);
    fillReceived(command, NewOrder, v, at);
    command.creationHigh = OrderRecord.creationNsHigh(v, record);
    command.creationLow = OrderRecord.creationNsLow(v, record);
    fillExpiry(command, v, record);
    command.subAccount = OrderRecord.subAccount(v, record);
    command.side = OrderRecord.side(v, record);
    command.kind = OrderRecord.kind(v, record);
    command.tif = OrderRecord.tif(v, record);
    command.flags = OrderRecord.flags(v, record);
    fillRoom(command, v, at, bytes);
    command.price = OrderRecord.price(v, record);
    command.quantity = OrderRecord.quantity(v, record);
    command.amount = OrderRecord.amount(v, record);
    command.budget = OrderRecord.budget(v, record);
    command.triggerKind = OrderRecord.triggerKind(v, record);
    command.triggerPrice = OrderRecord.triggerPrice(v, record);
    command.protectionGroup = OrderRecord.protectionGroup(v, record);
    this.#fillParent(command, v, at);
    return command;
  }

  /** The parent's id can start at any byte of the text, so it is copied to an aligned place. */
  #fillParent(command: NewOrderCommand, v: Views, at: number): void {
    const record = at + NewOrder.orderAt;
    const bytes = OrderRecord.parentIdBytes(v, record);
    command.parentIdBytes = bytes;
    if (bytes === 0) return;
    const from = at + NewOrder.bytes + OrderRecord.parentIdAt(v, record);
    this.#parentId.fill(0);
    for (let index = 0; index < bytes; index += 1) this.#parentId[index] = v.u8[from + index] as number;
  }

  readReplace(v: Views, at: number): ReplaceCommand {
    const command = this.#replace;
    fillChange(command, ReplaceOrder, v, at);
    command.price = ReplaceOrder.price(v, at);
    command.isNodeMade = ReplaceOrder.nodeMade(v, at);
    command.roomToTake = ReplaceOrder.roomToTake(v, at);
    command.roomToRest = ReplaceOrder.roomToRest(v, at);
    command.isComplete = ReplaceOrder.isComplete(v, at);
    command.triggerKind = ReplaceOrder.triggerKind(v, at) as TriggerKind;
    command.triggerPrice = ReplaceOrder.triggerPrice(v, at);
    return command;
  }

  /** An amend is a replace that leaves price and trigger. */
  readAmend(v: Views, at: number): ReplaceCommand {
    const command = this.#amend;
    fillChange(command, AmendOrder, v, at);
    command.expectedHigh = AmendOrder.expectedNsHigh(v, at);
    command.expectedLow = AmendOrder.expectedNsLow(v, at);
    command.expectsRevision = AmendOrder.expectsRevision(v, at);
    return command;
  }

  readCancel(v: Views, at: number): CancelCommand {
    const command = this.#cancel;
    fillKey(command, CancelOrder, v, at);
    command.idHash = CancelOrder.idHash(v, at);
    fillReceived(command, CancelOrder, v, at);
    command.mayPark = CancelOrder.hold(v, at);
    command.end = CancelOrder.end(v, at) as OrderEnd;
    return command;
  }

  readCancelAll(v: Views, at: number): CancelAllCommand {
    const command = this.#cancelAll;
    fillReceived(command, CancelAllOrders, v, at);
    command.words = v.i32;
    command.userAt = (at + CancelAllOrders.userAt) >>> 2;
    command.beforeHigh = CancelAllOrders.beforeNsHigh(v, at);
    command.beforeLow = CancelAllOrders.beforeNsLow(v, at);
    command.end = CancelAllOrders.end(v, at) as OrderEnd;
    command.sideOnly = CancelAllOrders.sideOnly(v, at);
    command.protectionGroup = CancelAllOrders.protectionGroup(v, at);
    return command;
  }

  readQuoteSet(v: Views, at: number): QuoteSetCommand {
    const command = this.#quoteSet;
    fillReceived(command, ApplyQuoteSet, v, at);
    command.words = v.i32;
    command.userAt = (at + ApplyQuoteSet.userAt) >>> 2;
    command.nameAt = (at + ApplyQuoteSet.setIdAt) >>> 2;
    command.nameBytes = ApplyQuoteSet.setIdBytes(v, at);
    command.revisionHigh = ApplyQuoteSet.revisionNsHigh(v, at);
    command.revisionLow = ApplyQuoteSet.revisionNsLow(v, at);
    command.goodUntilHigh = ApplyQuoteSet.goodUntilNsHigh(v, at);
    command.goodUntilLow = ApplyQuoteSet.goodUntilNsLow(v, at);
    command.boughtSeen = ApplyQuoteSet.boughtSeen(v, at);
    command.soldSeen = ApplyQuoteSet.soldSeen(v, at);
    command.maxFeeRate = ApplyQuoteSet.maxFeeRate(v, at);
    command.subAccount = ApplyQuoteSet.subAccount(v, at);
    command.flags = ApplyQuoteSet.flags(v, at);
    command.protectionGroup = ApplyQuoteSet.protectionGroup(v, at);
    command.onlyTakes = ApplyQuoteSet.onlyTakes(v, at);
    command.bids = ApplyQuoteSet.bids(v, at);
    command.asks = ApplyQuoteSet.asks(v, at);
    let entry = at + ApplyQuoteSet.bytes;
    for (let place = 0; place < command.bids + command.asks; place += 1, entry += QuoteSetEntry.bytes) {
      command.prices[place] = QuoteSetEntry.price(v, entry);
      command.quantities[place] = QuoteSetEntry.quantity(v, entry);
    }
    return command;
  }

  readEndQuoteSet(v: Views, at: number): EndQuoteSetCommand {
    const command = this.#endQuoteSet;
    fillReceived(command, EndQuoteSet, v, at);
    command.words = v.i32;
    command.userAt = (at + EndQuoteSet.userAt) >>> 2;
    command.nameAt = (at + EndQuoteSet.setIdAt) >>> 2;
    command.nameBytes = EndQuoteSet.setIdBytes(v, at);
    command.subAccount = EndQuoteSet.subAccount(v, at);
    command.anyAccount = EndQuoteSet.anyAccount(v, at);
    command.end = EndQuoteSet.end(v, at) as OrderEnd;
    command.beforeHigh = EndQuoteSet.beforeNsHigh(v, at);
    command.beforeLow = EndQuoteSet.beforeNsLow(v, at);
    command.sideOnly = EndQuoteSet.sideOnly(v, at);
    command.protectionGroup = EndQuoteSet.protectionGroup(v, at);
    return command;
  }

  readRelease(v: Views, at: number): ReleaseCommand {
    const command = this.#release;
    command.receivedNs = ReleaseOrder.receivedNs(v, at) as TimestampNs;
    command.order = ReleaseOrder.order(v, at);
    command.triggered = ReleaseOrder.triggered(v, at);
    command.quantity = ReleaseOrder.quantity(v, at);
    command.budget = ReleaseOrder.budget(v, at);
    command.roomToTake = ReleaseOrder.roomToTake(v, at);
    command.roomToRest = ReleaseOrder.roomToRest(v, at);
    command.bound = ReleaseOrder.bound(v, at);
    command.end = ReleaseOrder.end(v, at) as OrderEnd | 0;
    return command;
  }

  readRollback(v: Views, at: number, nowNs: TimestampNs): RollbackCommand {
    const command = this.#rollback;
    command.receivedNs = nowNs;
    command.tradeId = FillRolledBack.tradeId(v, at);
    command.makerOrder = FillRolledBack.makerOrder(v, at);
    command.takerOrder = FillRolledBack.takerOrder(v, at);
    command.quantity = FillRolledBack.quantity(v, at);
    command.makerReason = FillRolledBack.makerReason(v, at) as RollbackReason;
    command.takerReason = FillRolledBack.takerReason(v, at) as RollbackReason;
    return command;
  }
}

export function readRememberedId(v: Views, at: number): RememberedId {
  const id: RememberedId = {
    ...emptyKey(),
    creationNs: OrderIdRemembered.creationNs(v, at) as TimestampNs,
    wasCancelled: OrderIdRemembered.wasCancelled(v, at),
  };
  fillKey(id, OrderIdRemembered, v, at);
  return id;
}

export function readRestoredQuoteSet(v: Views, at: number): RestoredQuoteSet {
  return {
    words: v.i32,
    userAt: (at + QuoteSetRestored.userAt) >>> 2,
    nameAt: (at + QuoteSetRestored.setIdAt) >>> 2,
    nameBytes: QuoteSetRestored.setIdBytes(v, at),
    slot: QuoteSetRestored.slot(v, at),
    subAccount: QuoteSetRestored.subAccount(v, at),
    flags: QuoteSetRestored.flags(v, at),
    protectionGroup: QuoteSetRestored.protectionGroup(v, at),
    maxFeeRate: QuoteSetRestored.maxFeeRate(v, at),
    revisionNs: QuoteSetRestored.revisionNs(v, at),
    markNs: QuoteSetRestored.markNs(v, at),
    goodUntilNs: QuoteSetRestored.goodUntilNs(v, at),
    markFloorNs: QuoteSetRestored.markFloorNs(v, at),
    lastNumber: QuoteSetRestored.lastNumber(v, at),
    numberFloor: QuoteSetRestored.numberFloor(v, at),
    isOver: QuoteSetRestored.isOver(v, at),
  };
}

/** Reads restored orders for an engine into one object, refilled for each: a start reads a million of them. */
export class RestoredCommandReader {
  readonly #command: RestoredOrder = {
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
    quoteSet: 0,
    creationHigh: 0,
    creationLow: 0,
    timestampHigh: 0,
    timestampLow: 0,
    expiryHigh: 0,
    expiryLow: 0,
    protectionGroup: 0,
  };

  /**
   * @param moneyUnit the engine's unit of money, with 18 decimals.
   * @returns valid until the next call, and while the message lies where it is.
   */
  read(v: Views, at: number, moneyUnit: bigint): RestoredOrder {
    const command = this.#command;
    const record = at + OrderRestoredAtBoot.orderAt;
    const kind = OrderRecord.kind(v, record);
    fillKey(command, OrderRecord, v, record);
    command.order = OrderRecord.orderSequence(v, record);
    command.prioritySequence = OrderRecord.prioritySequence(v, record);
    command.subAccount = OrderRecord.subAccount(v, record);
    command.side = OrderRecord.side(v, record);
    command.kind = kind;
    command.tif = OrderRecord.tif(v, record);
    // That a fill of it was rolled back means nothing to a market.
    command.flags = OrderRecord.flags(v, record) & ~ORDER_FLAG.rolledBack;
    command.price = OrderRecord.price(v, record);
    command.quantity = OrderRecord.quantity(v, record);
    command.amount = OrderRecord.amount(v, record);
    command.budget = OrderRecord.budget(v, record);
    command.filledQuantity = OrderRecord.filledQuantity(v, record);
    command.inForce = OrderRestoredAtBoot.inForce(v, at);
    // A limit order is bound by lots alone.
    command.spent = kind === ORDER_KIND.limit ? 0n : OrderRecord.filledNotional(v, record) / moneyUnit;
    command.triggerState = OrderRecord.triggerState(v, record);
    command.triggerKind = OrderRecord.triggerKind(v, record);
    command.triggerPrice = OrderRecord.triggerPrice(v, record);
    command.parent = OrderRestoredAtBoot.parent(v, at);
    command.quoteSet = OrderRecord.quoteSet(v, record);
    command.creationHigh = OrderRecord.creationNsHigh(v, record);
    command.creationLow = OrderRecord.creationNsLow(v, record);
    command.timestampHigh = OrderRecord.timestampNsHigh(v, record);
    command.timestampLow = OrderRecord.timestampNsLow(v, record);
    fillExpiry(command, v, record);
    command.protectionGroup = OrderRecord.protectionGroup(v, record);
    return command;
  }
}

/** The key of an order that a test hook names, as the engine reads it. */
export function keyOf({ user, orderId }: OrderToFill): OrderKey {
  const bytes = Buffer.alloc(OrderRecord.userLength + OrderRecord.orderIdLength);
  bytes.write(user, 'hex');
  bytes.write(orderId, OrderRecord.userLength, 'latin1');
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  return { words, userAt: 0, orderIdAt: OrderRecord.userLength >>> 2, orderIdBytes: orderId.length };
}
