/**
 * What the order manager emits: events of `/orders` (wire.md 9.4) and fills (wire.md 7.10). Values only; the edge writes
 * the frames, and only for users with a reader.
 */
import type { OrderEventView, ProtectionTriggeredView } from '../../../codec/order-events.ts';
import type { UserTradeView } from '../../../codec/user-trade.ts';
import type { AssetId, OrderId, UserId } from '../../../core/ids.ts';
import type { FillStatus, OrderEnd, RollbackReason, Side, TriggerKind } from '../../../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../../core/units.ts';
import type { Room } from '../../../order/order-codec.ts';
import type { LiveQuoteSet } from './quote-sets.ts';

export interface OrderName {
  readonly orderId: OrderId;
  readonly assetId: AssetId;
}

type WithoutName<View> = View extends unknown ? Omit<View, keyof OrderName> : never;

/** What happened to an order. */
type OrderChange = WithoutName<Exclude<OrderEventView, ProtectionTriggeredView>>;
export type BookEvent = OrderName & OrderChange;

/** One side of a trade, as its user sees it (FIL-01, AMB-35). */
export interface UserTradeEvent extends UserTradeView {
  readonly orderId: OrderId;
  /** USD: projected, then final, then zero; negative is a rebate. */
  readonly fee: Amount18;
}

/** The answer to a fired trigger: the order holds what `quantity` lots need, or it ends (AMB-28). */
export interface ReleaseEvent {
  readonly marketIndex: number;
  readonly order: number;
  /** Sequence of the trigger event that it answers; 0 for an order that had fired before a restart. */
  readonly triggered: number;
  /** The quantity of the trigger event. */
  readonly quantity: number;
  /** What an order that names no bound of its own may use, as in NewOrder; else 0 (AMB-39). */
  readonly budget: number;
  /** The bound of a reduce-only order (MON-09); for every other order no bound. */
  readonly room: Readonly<Room>;
  /** Raw price beyond which a market order of a margin account is not matched; else 0 (MON-07). */
  readonly bound: number;
  readonly end: OrderEnd | 0;
}

/** The node's own command on an order: its new total, or its end (MON-09, AMB-61). */
export interface ReduceCommand extends OrderName {
  readonly requestId: number;
  readonly marketIndex: number;
  readonly user: UserId;
  /** 0: the order is cancelled. */
  readonly total: number;
  readonly end: OrderEnd;
}

/** A fill was rolled back, and this party of it was at fault (FIL-14). */
export interface OrderFault {
  readonly user: UserId;
  readonly subAccount: number;
  /** Whose fill was undone with it. */
  readonly other: UserId;
  readonly reason: RollbackReason;
  readonly asset: AssetId;
  readonly side: Side;
  readonly matchedNs: TimestampNs;
  /** No fill of the order was undone for its fault before. */
  readonly isNewOrder: boolean;
  /** Since it was taken a fill of its account was undone, not for its own fault. */
  readonly wasUndone: boolean;
  /** It broke a cap, and would not have with what others had, prices and limits when the order was taken. */
  readonly isForOthers: boolean;
}

/** Nothing of the account lives, and everything of it up to these sequences is decided. */
export interface ClearedAccount {
  readonly user: UserId;
  readonly subAccount: number;
  readonly through: readonly { readonly marketIndex: number; readonly sequence: Sequence }[];
}

/** Receives what the order manager emits; calls come in the order of the events. */
export interface OrderSink {
  /** Ends a quote set for the node's own reason, and raises its mark. @returns false: the ring is full, nothing was sent. */
  endQuoteSet(set: LiveQuoteSet, done: () => void): boolean;
  orderEvent(user: UserId, event: BookEvent): void;
  /** A protection group of the user has tripped; counted, and published where it is read. */
  protectionTriggered(user: UserId, event: ProtectionTriggeredView): void;
  /** Whether an order event of this user has a reader; without one none need be made. */
  isOrderRead(user: UserId): boolean;
  userTrade(user: UserId, trade: UserTradeEvent): void;
  /** As `isOrderRead`, for one side of a trade. */
  isTradeRead(user: UserId): boolean;
  /** One side of a trade has this status, read or not. */
  countFill(status: FillStatus, rollbackReason: string | null): void;
  /** After the rolled-back trade was published; of the node's own orders never. */
  fault(fault: OrderFault): void;
  /** To the market; never lost, so it may wait while the ring is full. */
  release(command: ReleaseEvent): void;
  /** To clearing; never lost (LIQ-04). */
  accountCleared(account: ClearedAccount): void;
  /** To the market, by a request that has its number. @returns false: the ring is full, nothing was sent. */
  reduce(command: ReduceCommand): boolean;
}

// What the order manager receives: from the market about orders, from the clearing engine about fills. The two send over
// rings of their own; the messages of each come in its own order.
//
// Not here: balances, users and the registry, which come as clearing's rows.

// ---- the market

/**
 * The answer to a request. Of a create that was accepted, its sequence identifies the order in all later events, and its
 * code is 0, or WOULD_CROSS: a crossing post-only, which leaves a record (AMB-16).
 */
export interface MarketAckEvent {
  readonly requestId: number;
  readonly marketIndex: number;
  /** The market sequence that the answer rests on; 0 when nothing changed. */
  readonly sequence: number;
  readonly timeNs: TimestampNs;
  /** 0, or a reject code. */
  readonly rejectCode: number;
}

export interface MarketEvent {
  readonly marketIndex: number;
  /** Market sequence of this event. */
  readonly sequence: number;
  /** Sequence of the order's admission, which identifies it. */
  readonly order: number;
  readonly timeNs: TimestampNs;
}

export interface ReplacedEvent extends MarketEvent {
  /** The values now in force. */
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** Of an entry of a quote set: the quantity is what rests. */
  readonly isCut?: boolean;
  /** In force while the order waits for it, else none and 0. */
  readonly triggerKind: TriggerKind;
  readonly triggerPrice: RawPrice;
  /** In force: of the replace, or still the order's where the node made it. */
  readonly timestampNs: TimestampNs;
  /** The id of the client's request; 0 if there is none. */
  readonly requestId: number;
}

export interface EndedEvent extends MarketEvent {
  readonly end: OrderEnd;
  /** 0 unless the end is `atFault`. */
  readonly faultReason: RollbackReason;
}

/**
 * The condition holds. `quantity` lots altogether wait for their release; 0 for none yet, or for an order sized in
 * quote.
 */
export interface TriggeredEvent extends MarketEvent {
  readonly triggerPrice: RawPrice;
  readonly quantity: number;
}

/** `quantity` lots altogether are in the main book, or about to match. */
export interface ActivatedEvent extends MarketEvent {
  readonly quantity: number;
}

// ---- clearing

interface OfTrade {
  readonly marketIndex: number;
  readonly tradeId: number;
  /** The time of its arrival at the gateway. */
  readonly timeNs: TimestampNs;
}

export interface FillConfirmedEvent extends OfTrade {
  readonly makerFee: Amount18;
  readonly takerFee: Amount18;
}

export interface FillRolledBackEvent extends OfTrade {
  readonly makerReason: RollbackReason;
  readonly takerReason: RollbackReason;
}

export type FillOutcome =
  | { readonly kind: 'confirmed'; readonly event: FillConfirmedEvent; readonly receivedAt: number }
  | { readonly kind: 'rolledBack'; readonly event: FillRolledBackEvent };
