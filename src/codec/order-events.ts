/**
 * Order events on `/orders`: one tag per frame (wire.md 9.4, AMB-93, AMB-128). Quantities and prices are raw book
 * integers; amounts are integers of scale 10^-book_quantity_decimals, floored (G16).
 */
import type { AssetId, UserId } from '../core/ids.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import { quote, quoteOrNull } from './json-writer.ts';

interface OrderName {
  readonly orderId: string;
  readonly assetId: AssetId;
}

/** What a quote set did to one of its entries: readers of `QuoteSetApplied` do not get it. */
interface OfQuoteSet {
  readonly isEntry?: boolean;
}

interface CreatedView extends OrderName, OfQuoteSet {
  readonly kind: 'Created';
  /** The signed bytes: the full signed order, exactly. */
  readonly text: Uint8Array;
  readonly signature: Uint8Array;
  readonly bookTimestampNs: TimestampNs;
}

interface CanceledView extends OrderName, OfQuoteSet {
  readonly kind: 'Canceled';
  readonly timestampNs: TimestampNs;
  /** A reason of G21. */
  readonly reason: string;
}

/** Final numbers: no fill is pending, so every fill is confirmed. */
interface RemovedView extends OrderName {
  readonly kind: 'Removed';
  readonly timestampNs: TimestampNs;
  /** A reason of G20. */
  readonly reason: string;
  /** Raw. */
  readonly filledQuantity: number;
  /** Of scale 10^-quantityDecimals, floored. */
  readonly filledAmount: bigint;
  readonly quantityDecimals: number;
}

interface ReplacedView extends OrderName, OfQuoteSet {
  readonly kind: 'Replaced';
  /** The values after the replace, both, even if only one changed. */
  readonly newQuantity: RawQuantity;
  readonly newPrice: RawPrice;
}

/** An amend was applied. */
interface AmendedView extends Omit<ReplacedView, 'kind'> {
  readonly kind: 'Amended';
  /** The total less the optimistic filled quantity; raw. */
  readonly remainingQuantity: number;
  /** The timestamp of the amend. */
  readonly revisionNs: TimestampNs;
  readonly quantityDecimals: number;
  readonly timestampNs: TimestampNs;
}

interface TriggeredView extends OrderName {
  readonly kind: 'Triggered';
  readonly timestampNs: TimestampNs;
  readonly triggerPrice: RawPrice;
  /** What this release activates, raw. */
  readonly quantity: number;
}

/** A rejection after the gateway had accepted the request. */
interface FailedView extends OrderName {
  readonly kind: 'CreateFailed' | 'ReplaceFailed' | 'CancelFailed' | 'AmendFailed';
  /** The code in PascalCase. */
  readonly reason: string | null;
}

/** A quote set was applied; its id stands for that of an order. */
interface QuoteSetAppliedView extends OrderName {
  readonly kind: 'QuoteSetApplied';
  readonly revisionNs: TimestampNs;
  readonly created: number;
  readonly changed: number;
  readonly cancelled: number;
  readonly timestampNs: TimestampNs;
}

/** A quote set is over. */
interface QuoteSetEndedView extends OrderName {
  readonly kind: 'QuoteSetEnded';
  readonly reason: string;
  readonly timestampNs: TimestampNs;
}

/** A protection group has tripped (MMP-04); it is about no single order. */
export interface ProtectionTriggeredView {
  readonly kind: 'ProtectionTriggered';
  readonly group: string;
  readonly assetId: AssetId;
  /** `max_fills`, `max_quantity` or `max_notional`. */
  readonly limit: string;
  /** null: until it is reset. */
  readonly frozenUntilNs: TimestampNs | null;
  readonly timestampNs: TimestampNs;
}

export type OrderEventView =
  | QuoteSetAppliedView
  | QuoteSetEndedView
  | CreatedView
  | CanceledView
  | RemovedView
  | ReplacedView
  | AmendedView
  | TriggeredView
  | FailedView
  | ProtectionTriggeredView;

/** The payload of one event of `user` on a v1 socket. */
export function orderEvent(user: UserId, view: OrderEventView): string {
  return `{"${view.kind}":{${members(user, view)}}}`;
}

/** As `orderEvent`, on a v0 socket, where an amend is a replace; null where both payloads are the same. */
export function plainOrderEvent(user: UserId, view: OrderEventView): string | null {
  if (view.kind === 'Amended') return orderEvent(user, { ...view, kind: 'Replaced' });
  return view.kind === 'AmendFailed' ? orderEvent(user, { ...view, kind: 'ReplaceFailed' }) : null;
}

function members(user: UserId, view: OrderEventView): string {
  if (view.kind === 'ProtectionTriggered') {
    return (
      `"group":${quote(view.group)},"asset_id":"${view.assetId}","user_id":"${user}","limit":"${view.limit}",` +
      `"frozen_until_ns":${view.frozenUntilNs},"timestamp_ns":${view.timestampNs}`
    );
  }
  const name = `"order_id":${quote(view.orderId)},"asset_id":"${view.assetId}","user_id":"${user}"`;
  switch (view.kind) {
    case 'Created':
      return (
        `"user_order":${latin1(view.text)},"signature":[${view.signature.join(',')}],` +
        `"book_timestamp_ns":${view.bookTimestampNs},"limit_overrides":null,"limit_overrides_signature":null`
      );
    case 'Canceled':
      return `${name},"timestamp_ns":${view.timestampNs},"reason":${quote(view.reason)}`;
    case 'Removed':
      return (
        `${name},"timestamp_ns":${view.timestampNs},"operator_pubkey":null,"reason":${quote(view.reason)},` +
        `"filled_quantity":${view.filledQuantity},"confirmed_quantity":${view.filledQuantity},` +
        `"filled_amount":${view.filledAmount},"confirmed_amount":${view.filledAmount},` +
        `"book_quantity_decimals":${view.quantityDecimals}`
      );
    case 'Replaced':
      return `${name},"new_quantity":${view.newQuantity},"new_price":${view.newPrice}`;
    case 'Amended':
      return (
        `${name},"new_quantity":${view.newQuantity},"remaining_quantity":${view.remainingQuantity},` +
        `"authorization_revision":${view.revisionNs},"book_quantity_decimals":${view.quantityDecimals},` +
        `"timestamp_ns":${view.timestampNs},"operator_pubkey":null`
      );
    case 'Triggered':
      return (
        `${name},"timestamp_ns":${view.timestampNs},"trigger_price":${view.triggerPrice},` +
        `"quantity":${view.quantity},"trigger_touched":true`
      );
    case 'QuoteSetApplied':
      return (
        `${setName(user, view)},"revision":${view.revisionNs},"created":${view.created},"changed":${view.changed},` +
        `"cancelled":${view.cancelled},"timestamp_ns":${view.timestampNs}`
      );
    case 'QuoteSetEnded':
      return `${setName(user, view)},"reason":${quote(view.reason)},"timestamp_ns":${view.timestampNs}`;
    case 'CreateFailed':
    case 'ReplaceFailed':
    case 'CancelFailed':
    case 'AmendFailed':
      return `"order_id":${quote(view.orderId)},"user_id":"${user}","reason":${quoteOrNull(view.reason)}`;
  }
}

function setName(user: UserId, { orderId, assetId }: OrderName): string {
  return `"set_id":${quote(orderId)},"asset_id":"${assetId}","user_id":"${user}"`;
}

/** Signed text is ASCII: a byte is a character. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
