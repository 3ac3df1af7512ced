/**
 * What the order manager receives: from the market about orders, from the clearing engine about fills. The two send over rings
 * of their own; the messages of each come in its own order.
 *
 * Not here: balances, users and the registry, which come as clearing's rows.
 */
import type { OrderEnd, RollbackReason, TriggerKind } from '../../../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';

// ---- the market

/**
 * The answer to a request. Of a create that was accepted, its sequence identifies the order in all later events, and its
 * code is 0, or WOULD_CROSS: a crossing post-only, which leaves a record (AMB-16).
 */
export interface MarketAck {
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
  /** In force while the order waits for it, else none and 0. */
  readonly triggerKind: TriggerKind;
  readonly triggerPrice: RawPrice;
  /** In force: of the replace, or still the order's where the node made it. */
  readonly timestampNs: TimestampNs;
  /** Of the client's request; 0 without one. */
  readonly requestId: number;
}

export interface EndedEvent extends MarketEvent {
  readonly end: OrderEnd;
  /** 0 unless the end is `atFault`. */
  readonly faultReason: RollbackReason;
}

/** The condition holds. `quantity` lots altogether wait for their release; 0 for none yet, or for an order sized in quote. */
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

export interface FillConfirmed extends OfTrade {
  readonly makerFee: Amount18;
  readonly takerFee: Amount18;
}

export interface FillRolledBack extends OfTrade {
  readonly makerReason: RollbackReason;
  readonly takerReason: RollbackReason;
}

export type FillOutcome =
  | { readonly kind: 'confirmed'; readonly event: FillConfirmed; readonly receivedAt: number }
  | { readonly kind: 'rolledBack'; readonly event: FillRolledBack };
