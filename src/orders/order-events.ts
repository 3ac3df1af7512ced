/**
 * What the order manager says: events of `/orders` (wire.md 9.4), fills (wire.md 7.10), answers to requests. Values
 * only; the edge writes the frames, and only for users who listen.
 */
import type { AssetId, OrderId, UserId } from '../core/ids.ts';
import type { FillStatus } from '../core/order-terms.ts';
import type { Reject } from '../core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';

export interface OrderName {
  readonly orderId: OrderId;
  readonly assetId: AssetId;
}

export interface OrderCreated {
  readonly kind: 'Created';
  /** The bytes that were signed: the JSON of `user_order`. */
  readonly text: Uint8Array;
  readonly signature: Uint8Array;
  readonly bookTimestampNs: TimestampNs;
}

/** Effective values, whichever of them changed. */
export interface OrderReplaced {
  readonly kind: 'Replaced';
  readonly newPrice: RawPrice;
  readonly newQuantity: RawQuantity;
}

export interface OrderCanceled {
  readonly kind: 'Canceled';
  readonly timestampNs: TimestampNs;
  readonly reason: string;
}

/** Final numbers: nothing is live, no fill is pending. */
export interface OrderRemoved {
  readonly kind: 'Removed';
  readonly timestampNs: TimestampNs;
  readonly reason: string;
  readonly filledQuantity: number;
  /** Scale 10^-`quantityDecimals`, floored (G16). */
  readonly filledAmount: bigint;
  readonly quantityDecimals: number;
}

/** What passed the front door and was refused later. */
export interface RequestFailed {
  readonly kind: 'CreateFailed' | 'ReplaceFailed' | 'CancelFailed';
  /** PascalCase reject code. */
  readonly reason: string;
}

/** What happened to an order. */
export type OrderNews = OrderCreated | OrderReplaced | OrderCanceled | OrderRemoved | RequestFailed;
export type OrderEvent = OrderName & OrderNews;

/** One side of a trade, as its user sees it (FIL-01, AMB-35). */
export interface UserTrade {
  readonly assetId: AssetId;
  readonly tradeId: number;
  readonly orderId: OrderId;
  readonly subAccount: number;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  /** Match time, in all three states. */
  readonly timestampNs: TimestampNs;
  readonly isMaker: boolean;
  readonly isBuyer: boolean;
  readonly status: FillStatus;
  /** Null unless rolled back. */
  readonly rollbackReason: string | null;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
  /** USD: projected, then final, then zero; negative is a rebate. */
  readonly fee: Amount18;
}

/** The market's answer to a request, `Received` when `reject` is null. */
export interface RequestResult extends OrderName {
  readonly reject: Reject | null;
  readonly processedNs: TimestampNs;
}

/** Where the order manager speaks to; calls come in the order in which things happened. */
export interface OrderSink {
  orderEvent(user: UserId, event: OrderEvent): void;
  userTrade(user: UserId, trade: UserTrade): void;
  ack(requestId: number, result: RequestResult): void;
}
