/**
 * What one market is asked, and what it says (service spec 3.1, 3.2; requirements ORD-20 to 24, TIF, STP, TRG, RPL, CAN,
 * FIL).
 *
 * Commands are mutable records that the caller fills and uses again: the engine reads them during the call and keeps no
 * reference. User and order id are words where they lie, for example in a ring, so nothing is copied to look them up.
 * Times are two 32-bit words, because a bigint is an allocation: `High` and `Low`, both from 0 to 2^32−1.
 *
 * Ticks, lots, minimum, decimals, signature and the id's alphabet are the front door's: here prices and quantities are
 * safe integers of at least 1 that passed it.
 */
import type { OrderEnd, OrderKind, RollbackReason, Side, Tif, TriggerKind, TriggerState } from '../core/order-terms.ts';
import type { RejectCode } from '../core/reject.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';

/** Bytes of a user's key. */
export const USER_BYTES = 32;

/** (user, order id): an order's identity in its market, compared as bytes (AMB-07, AMB-08). */
export interface OrderKey {
  /** Little-endian words over the memory in which both lie. */
  words: Int32Array;
  /** Index in `words` of the 32-byte user key. */
  userAt: number;
  /** Index in `words` of the order id; what follows it in its last word may be anything. */
  orderIdAt: number;
  /** 1 … 64. */
  orderIdBytes: number;
}

/** Of a command: whoever sends it has hashed user and id (`hashId`), with the key of the market. */
export interface HashedKey extends OrderKey {
  idHash: number;
}

export interface Received {
  requestId: number;
  receivedHigh: number;
  receivedLow: number;
}

/**
 * A create.
 *
 *   kind          price  quantity           amount                      budget
 *   limit         limit  total              0                           0
 *   market base   0      total              quote cap of a buy, or 0    what a buy may spend, or 0
 *   market quote  0      base cap, or 0     quote target                what a sell may sell (base lots), or 0
 *
 * Quote integers have scale 10^-quantity decimals (AMB-05). A cap or target that is met completes the order, a budget
 * that is used up never does (AMB-37, AMB-39).
 */
export interface NewOrderCommand extends HashedKey, Received {
  creationHigh: number;
  creationLow: number;
  /** The earlier of good-until and creation + 30 days (ORD-20, AMB-127). */
  expiryHigh: number;
  expiryLow: number;
  subAccount: number;
  side: Side;
  kind: OrderKind;
  /** Market orders: ioc or fok. */
  tif: Tif;
  /** Bits of ORDER_FLAG. */
  flags: number;
  price: number;
  quantity: number;
  amount: number;
  budget: number;
  triggerKind: TriggerKind;
  triggerPrice: number;
  /** A child's parent: an order id of the same user. 0 bytes: no child. */
  parentIdBytes: number;
  /** The parent's id, filled up with zeros, where `parentIdBytes` is not 0. */
  parentWords: Int32Array;
}

/** For a resting limit order, or a limit order in the trigger book; 0 leaves price, quantity or trigger unchanged. */
export interface ReplaceCommand extends HashedKey, Received {
  timestampHigh: number;
  timestampLow: number;
  price: number;
  /** The new total, filled part included (AMB-19). */
  quantity: number;
  triggerKind: TriggerKind;
  triggerPrice: number;
  /** The node reduces the order: it has no age and the order keeps its own; a total that is no smaller changes nothing. */
  isNodeMade: boolean;
}

export interface CancelCommand extends HashedKey, Received {
  /** What the order ends with: userRequested, or the node's own reason. */
  end: OrderEnd;
  /** On the control channel a cancel may wait for its create (AMB-25). */
  hold: boolean;
}

/**
 * Every order of the user, the node's own orders aside (AMB-18). With another end than `userRequested` what is pending as a
 * whole is left alone: it does not rest.
 */
export interface CancelAllCommand extends Received {
  words: Int32Array;
  userAt: number;
  /** Only orders whose timestamp is strictly below it; both 0: all. */
  beforeHigh: number;
  beforeLow: number;
  /** What the orders end with: userRequested, or the node's own reason. */
  end: OrderEnd;
}

/** The front door's word on a `triggered` order: it holds what `quantity` lots need, or the order ends (AMB-28). */
export interface ReleaseCommand {
  receivedNs: TimestampNs;
  order: number;
  /** Sequence of the `triggered` that it answers; 0 for an order that was restored as fired. */
  triggered: number;
  /** As it was told by `triggered`. */
  quantity: number;
  /** What a market order may use of what is released now, as in NewOrderCommand; 0 for no such bound. */
  budget: number;
  /** 0: go on. Else marginInsufficient or reduceOnly. */
  end: OrderEnd | 0;
}

/** Clearing refused a fill. The fills of one fill-or-kill come as several of these, one after the other (AMB-34). */
export interface RollbackCommand {
  receivedNs: TimestampNs;
  tradeId: number;
  makerOrder: number;
  takerOrder: number;
  quantity: number;
  makerReason: RollbackReason;
  takerReason: RollbackReason;
}

/** What may change about a market while it runs (AMB-38, AMB-39, AMB-109). */
export interface MarketRules {
  readonly status: number;
  readonly selfTradePrevention: boolean;
}

/** A live order as clearing kept it: only confirmed fills are filled (AMB-110). */
export interface RestoredOrder extends OrderKey {
  order: number;
  prioritySequence: number;
  subAccount: number;
  side: Side;
  kind: OrderKind;
  tif: Tif;
  flags: number;
  /** In force. */
  price: number;
  quantity: number;
  amount: number;
  budget: number;
  filledQuantity: number;
  /** Lots that were released, or never kept back; of a child less than its quantity while more may be. */
  inForce: number;
  /** What a market order's fills cost or fetched, in the unit of 10^-(price decimals + quantity decimals). */
  spent: bigint;
  triggerState: TriggerState;
  /** In force, of an order that is dormant or fired. */
  triggerKind: TriggerKind;
  triggerPrice: number;
  /** The parent's name if it is live, else 0: then all of the order is activated. Parents come before their children. */
  parent: number;
  creationHigh: number;
  creationLow: number;
  timestampHigh: number;
  timestampLow: number;
  expiryHigh: number;
  expiryLow: number;
}

/** An id that is taken by a finished order (AMB-08). */
export interface RememberedId extends OrderKey {
  creationNs: TimestampNs;
  /** True when the order's end was told as `Canceled`: decides between 409 and 404 (AMB-23). */
  wasCancelled: boolean;
}

/** Where the market stood. Numbers given out after it are larger. */
export interface RestoredPosition {
  sequence: number;
  lastTradeId: number;
  nowNs: TimestampNs;
}

/** Where a fill stands in its all-or-nothing unit (AMB-34). */
export const FILL_UNIT = { none: 0, fokMoreFollow: 1, fokLast: 2 } as const;
export type FillUnit = (typeof FILL_UNIT)[keyof typeof FILL_UNIT];

/**
 * What happened, in order. Sequences are contiguous: every call that has `sequence` consumes exactly one. `order` is
 * the sequence of the order's admission, its name for ever. Command objects and arrays are valid during the call.
 */
export interface MarketEvents {
  /**
   * Admitted; the order's name is this sequence. What becomes of it follows: fills, its end, or nothing while it rests
   * in the book or waits for its trigger. `parent` is a child's parent, or 0.
   */
  accepted(sequence: Sequence, command: NewOrderCommand, parent: Sequence | 0): void;
  /**
   * WOULD_CROSS consumes the id and a sequence (AMB-16). DUPLICATE_ORDER, REQUEST_TOO_OLD, ALREADY_CANCELLED (by a
   * held cancel), MARKET_HALTED, ORDER_EXPIRED, ORDER_NOT_FOUND (no such parent) and INVALID_ORDER (no room at the
   * level; a parent of the same side, or with a trigger) consume neither: sequence 0.
   */
  createRefused(sequence: Sequence | 0, command: NewOrderCommand, code: RejectCode): void;
  matched(
    sequence: Sequence,
    tradeId: Sequence,
    makerOrder: Sequence,
    takerOrder: Sequence,
    price: number,
    quantity: number,
    takerSide: Side,
    unit: FillUnit,
  ): void;
  /**
   * The order is over, `remaining` lots unfilled (0 where it is sized in quote and has no cap). Nobody says so when the
   * last lot of a quantity is matched: that follows from the fills. `filled` comes from a replace to what is filled
   * already (AMB-19) and from a market order whose target or cap is met. `requestId` is that of the cancel or replace
   * that caused it, else 0. `faultReason` is 0 unless the end is `atFault`.
   */
  ended(
    sequence: Sequence,
    order: Sequence,
    end: OrderEnd,
    faultReason: RollbackReason,
    remaining: number,
    requestId: number,
  ): void;
  /** A cancel came while all of the order was pending: nothing of it ever comes back (AMB-23, AMB-32 d). */
  covered(sequence: Sequence, order: Sequence): void;
  /**
   * Applied. Fills at the new price follow. The priority is unchanged when the queue place is kept (AMB-19). The trigger
   * is the one in force while the order waits for it, else none and 0. `requestId` 0: nobody asked; a child lost what
   * its cancelled parent cannot activate any more (AMB-29).
   */
  replaced(
    sequence: Sequence,
    order: Sequence,
    prioritySequence: Sequence,
    price: number,
    quantityTotal: number,
    timestampHigh: number,
    timestampLow: number,
    requestId: number,
    triggerKind: TriggerKind,
    triggerPrice: number,
  ): void;
  /** The same replace once more: a success that changes nothing (AMB-21). */
  replaceUnchanged(requestId: number, order: Sequence): void;
  /** Untouched, except that WOULD_CROSS follows an `ended` with `postOnlyWouldCross` (AMB-19). */
  replaceRefused(command: ReplaceCommand, code: RejectCode): void;
  /** After `ended` or `covered`; order 0: held (AMB-25). */
  cancelAccepted(requestId: number, order: Sequence | 0): void;
  cancelRefused(command: CancelCommand, code: RejectCode): void;
  /** After the `ended` and `covered` of all that a cancel-all concerns. */
  allCancelled(requestId: number): void;
  /** A held cancel met no create in its time: `CancelFailed` `OrderNotFound` (AMB-25). */
  heldCancelExpired(
    user: Int32Array,
    userAt: number,
    orderId: Int32Array,
    orderIdAt: number,
    orderIdBytes: number,
  ): void;
  /** `quantity` more of the order is live again after a rollback (AMB-32 a, b). */
  restored(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void;
  /**
   * The condition holds: `quantity` lots may be released, of a child what its parent has activated, which can be 0. Told
   * again when more of a fired child is activated. A ReleaseCommand with this sequence answers, unless it is 0 lots.
   */
  triggered(sequence: Sequence, order: Sequence, triggerPrice: number, quantity: number): void;
  /** Released: `quantity` lots altogether are in force. Its fills, or its place in the book, follow. */
  activated(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void;
  /** The absolute quantity of a level that the command changed; 0: it is gone (AMB-98). */
  levelChanged(side: Side, price: number, quantity: number): void;
  /** All levels of the command have been told; `sequence` is the last one it consumed. */
  depthCommitted(sequence: Sequence): void;
}
