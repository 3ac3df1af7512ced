/** Requests that passed every check before the signature: the hold and the market's message are made of them. */
import type { OrderId, UserId } from '../../../core/ids.ts';
import type { TriggerKind } from '../../../core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import type { Room } from '../../../order/order-codec.ts';
import type { OrderTerms } from '../book/live-order.ts';
import type { MarketSlot } from '../book/markets.ts';

/** Checks that an injected order may pass by (operator-api.md 7.3). Spot orders meet no check of margin or reduce-only. */
export const SKIPPED_CHECKS = ['signature', 'multisig', 'margin', 'reduce_only', 'fees', 'inventory'] as const;
export type SkippedCheck = (typeof SKIPPED_CHECKS)[number];

/** Every check is made. */
export const NO_SKIPS: ReadonlySet<never> = new Set<never>();

/** Price, quantity and the amount of the terms by kind: the table in schemas/messages.fbs. */
export interface PreparedCreate {
  readonly kind: 'create';
  readonly market: MarketSlot;
  readonly terms: OrderTerms;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** 0 without a trigger. */
  readonly triggerPrice: RawPrice;
  readonly maxFeeRate: number;
  readonly text: Uint8Array;
  /** The master's, 64 bytes, or none. */
  readonly signature: Uint8Array;
  /** All signatures as they travel with the order (codec/stored-signatures.ts); `signature` where the master alone signed. */
  readonly signatures: Uint8Array;
  /** Checks that are left out, now and when the hold is taken; none but in an operator's test. */
  readonly skips: ReadonlySet<string>;
  /** Of a reduce-only order that takes effect at once, when it is reserved (MON-09); else without bound. */
  room: Readonly<Room>;
}

/** Null members stay as they are; in the complete form (wire-additions.md 3) a null trigger means that the order has none. */
export interface PreparedReplace {
  readonly kind: 'replace';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly timestampNs: TimestampNs;
  readonly newPrice: RawPrice | null;
  readonly newQuantity: RawQuantity | null;
  /** As requested; when the replace is reserved, what the market is to set. */
  newTrigger: { readonly kind: TriggerKind; readonly price: RawPrice } | null;
  readonly isComplete: boolean;
  /** Of a reduce-only order that has been released, when the replace is reserved (MON-09); else without bound. */
  room: Readonly<Room>;
}

/** Lowers the total (wire-additions.md 4). */
export interface PreparedAmend {
  readonly kind: 'amend';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly timestampNs: TimestampNs;
  /** Null: the order has no revision. */
  readonly expectedRevisionNs: TimestampNs | null;
  readonly newQuantity: RawQuantity;
}

export interface PreparedCancel {
  readonly kind: 'cancel';
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
}

export type PreparedRequest = PreparedCreate | PreparedReplace | PreparedCancel | PreparedAmend;
