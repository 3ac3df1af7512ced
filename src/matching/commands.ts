/**
 * What one market is asked, and what it says (service spec 3.1, 3.2; requirements ORD-20 to 24, TIF, RPL, CAN, FIL).
 *
 * Commands are mutable records that the caller fills and uses again: the engine reads them during the call and keeps no
 * reference. User and order id are bytes where they lie, for example in a ring: `bytes` with two offsets. The engine
 * keeps a view of the last `bytes` it saw, so a caller that always points into the same array causes no allocation.
 *
 * Ticks, lots, minimum, decimals, signature and the id's alphabet are the front door's: here prices and quantities are
 * safe integers of at least 1 that passed it.
 */
import type { OrderEnd, RollbackReason, Side, Tif } from '../core/order-terms.ts';
import type { RejectCode } from '../core/reject.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';

/** Bytes of a user's key. */
export const USER_BYTES = 32;

/** (user, order id): an order's identity in its market, compared as bytes (AMB-07, AMB-08). */
export interface OrderKey {
  bytes: Uint8Array;
  /** Offset of the 32-byte user key. */
  userAt: number;
  /** Offset and length, 1 … 64, of the order id. */
  orderIdAt: number;
  orderIdBytes: number;
}

export interface NewOrderCommand extends OrderKey {
  requestId: number;
  receivedNs: TimestampNs;
  creationNs: TimestampNs;
  /** The earlier of good-until and creation + 30 days (ORD-20, AMB-127). */
  expiryNs: TimestampNs;
  side: Side;
  tif: Tif;
  /** Bits of ORDER_FLAG. */
  flags: number;
  price: number;
  quantity: number;
}

export interface ReplaceCommand extends OrderKey {
  requestId: number;
  receivedNs: TimestampNs;
  timestampNs: TimestampNs;
  /** 0 leaves it unchanged. */
  price: number;
  /** The new total, filled part included (AMB-19); 0 leaves it unchanged. */
  quantity: number;
}

export interface CancelCommand extends OrderKey {
  requestId: number;
  receivedNs: TimestampNs;
  /** On the control channel a cancel may wait for its create (AMB-25). */
  hold: boolean;
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

/** A live order as clearing kept it: only confirmed fills are filled (AMB-110). */
export interface RestoredOrder extends OrderKey {
  order: number;
  prioritySequence: number;
  side: Side;
  tif: Tif;
  flags: number;
  price: number;
  quantity: number;
  filledQuantity: number;
  creationNs: TimestampNs;
  timestampNs: TimestampNs;
  expiryNs: TimestampNs;
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
 * the sequence of the order's admission, its name for ever. Command objects and byte arrays are valid during the call.
 */
export interface MarketEvents {
  /** Admitted for matching; the order's name is this sequence. Its fills and its end follow. */
  accepted(sequence: Sequence, command: NewOrderCommand): void;
  /**
   * WOULD_CROSS consumes the id and a sequence (AMB-16). DUPLICATE_ORDER, REQUEST_TOO_OLD, ALREADY_CANCELLED (by a
   * held cancel), MARKET_HALTED, ORDER_EXPIRED and INVALID_ORDER (no room at the level) consume neither: sequence 0.
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
   * The order is off the book for good, `remaining` unfilled. Nobody says so when its last lot is matched: that
   * follows from the fills. `filled` comes only from a replace to what is filled already (AMB-19). `requestId` is that
   * of the cancel or replace that caused it, else 0. `faultReason` is 0 unless the end is `atFault`.
   */
  ended(
    sequence: Sequence,
    order: Sequence,
    end: OrderEnd,
    faultReason: RollbackReason,
    remaining: number,
    requestId: number,
  ): void;
  /** Applied. Fills at the new price follow. The priority is unchanged when the queue place is kept (AMB-19). */
  replaced(
    sequence: Sequence,
    order: Sequence,
    prioritySequence: Sequence,
    price: number,
    quantityTotal: number,
    timestampNs: TimestampNs,
    requestId: number,
  ): void;
  /** The same replace once more: a success that changes nothing (AMB-21). */
  replaceUnchanged(requestId: number, order: Sequence): void;
  /** Untouched, except that WOULD_CROSS follows an `ended` with `postOnlyWouldCross` (AMB-19). */
  replaceRefused(command: ReplaceCommand, code: RejectCode): void;
  /** After `ended`, if the order still rested; without it if all of it is pending (AMB-23). 0: held (AMB-25). */
  cancelAccepted(requestId: number, order: Sequence | 0): void;
  cancelRefused(command: CancelCommand, code: RejectCode): void;
  /** A held cancel met no create in its time: `CancelFailed` `OrderNotFound` (AMB-25). */
  heldCancelExpired(
    user: Uint8Array,
    userAt: number,
    orderId: Uint8Array,
    orderIdAt: number,
    orderIdBytes: number,
  ): void;
  /** `quantity` more of the order is live again after a rollback (AMB-32 a, b). */
  restored(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void;
  /** The absolute quantity of a level that the command changed; 0: it is gone (AMB-98). */
  levelChanged(side: Side, price: number, quantity: number): void;
  /** All levels of the command have been told; `sequence` is the last one it consumed. */
  depthCommitted(sequence: Sequence): void;
}
