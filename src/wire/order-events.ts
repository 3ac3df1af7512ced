/**
 * Order events on `/orders`: one tag per frame (wire.md 9.4, AMB-93, AMB-128). Quantities and prices are raw book
 * integers; amounts are integers of scale 10^-book_quantity_decimals, floored (G16).
 */
import { mulDivFloor, powerOfTen } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import {
  isCancel,
  ORDER_END,
  ORDER_END_WORD,
  type OrderEnd,
  ROLLBACK_REASON_WORD,
  type RollbackReason,
} from '../core/order-terms.ts';
import { pascalCase, type RejectName } from '../core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import { quote } from './json-writer.ts';

interface OrderName {
  readonly orderId: string;
  readonly assetId: AssetId;
  readonly userId: UserId;
}

export interface CreatedView {
  readonly kind: 'created';
  /** Canonical signed text: the full signed order, exactly as signed. */
  readonly text: string;
  readonly signature: Uint8Array;
  readonly bookTimestampNs: TimestampNs;
}

export interface CanceledView extends OrderName {
  readonly kind: 'canceled';
  readonly timestampNs: TimestampNs;
  /** One of the cancels (G21). */
  readonly end: OrderEnd;
  /** The word when `end` is atFault, else 0. */
  readonly faultReason: RollbackReason;
}

export interface RemovedView extends OrderName {
  readonly kind: 'removed';
  readonly timestampNs: TimestampNs;
  /** One of the removals (G20). */
  readonly end: OrderEnd;
  /** Raw. */
  readonly filledQuantity: number;
  readonly confirmedQuantity: number;
  readonly filledAmount: Amount18;
  readonly confirmedAmount: Amount18;
  readonly bookQuantityDecimals: number;
}

export interface ReplacedView extends OrderName {
  readonly kind: 'replaced';
  /** The values in force, both, whatever changed. */
  readonly newQuantity: RawQuantity;
  readonly newPrice: RawPrice;
}

export interface TriggeredView extends OrderName {
  readonly kind: 'triggered';
  readonly timestampNs: TimestampNs;
  readonly triggerPrice: RawPrice;
}

/** A refusal behind the front door, never one by it. */
export interface FailedView {
  readonly kind: 'create-failed' | 'replace-failed' | 'cancel-failed';
  readonly orderId: string;
  readonly userId: UserId;
  readonly reason: RejectName | null;
}

export type OrderEventView = CreatedView | CanceledView | RemovedView | ReplacedView | TriggeredView | FailedView;

const FAILED_TAG: Readonly<Record<FailedView['kind'], string>> = {
  'create-failed': 'CreateFailed',
  'replace-failed': 'ReplaceFailed',
  'cancel-failed': 'CancelFailed',
};

/** The v0 payload of one event. */
export function orderEvent(view: OrderEventView): string {
  switch (view.kind) {
    case 'created':
      return (
        `{"Created":{"user_order":${view.text},"signature":[${view.signature.join(',')}],` +
        `"book_timestamp_ns":${view.bookTimestampNs},"limit_overrides":null,"limit_overrides_signature":null}}`
      );
    case 'canceled':
      return `{"Canceled":{${orderName(view)},"timestamp_ns":${view.timestampNs},"reason":"${cancelWord(view)}"}}`;
    case 'removed':
      return removedEvent(view);
    case 'replaced':
      return `{"Replaced":{${orderName(view)},"new_quantity":${view.newQuantity},"new_price":${view.newPrice}}}`;
    case 'triggered':
      return `{"Triggered":{${orderName(view)},"timestamp_ns":${view.timestampNs},"trigger_price":${view.triggerPrice}}}`;
    default: {
      const reason = view.reason === null ? 'null' : `"${pascalCase(view.reason)}"`;
      return `{"${FAILED_TAG[view.kind]}":{"order_id":${quote(view.orderId)},"user_id":"${view.userId}","reason":${reason}}}`;
    }
  }
}

function orderName(view: OrderName): string {
  return `"order_id":${quote(view.orderId)},"asset_id":"${view.assetId}","user_id":"${view.userId}"`;
}

function cancelWord(view: CanceledView): string {
  assert(isCancel(view.end), 'a Canceled event has a cancel for its end');
  if (view.end !== ORDER_END.atFault) return ORDER_END_WORD[view.end];
  return must(ROLLBACK_REASON_WORD[view.faultReason], 'an order at fault has a reason');
}

function removedEvent(view: RemovedView): string {
  assert(!isCancel(view.end), 'a Removed event has no cancel for its end');
  return (
    `{"Removed":{${orderName(view)},"timestamp_ns":${view.timestampNs},"operator_pubkey":null,` +
    `"reason":"${ORDER_END_WORD[view.end]}","filled_quantity":${view.filledQuantity},` +
    `"confirmed_quantity":${view.confirmedQuantity},` +
    `"filled_amount":${quoteInteger(view.filledAmount, view.bookQuantityDecimals)},` +
    `"confirmed_amount":${quoteInteger(view.confirmedAmount, view.bookQuantityDecimals)},` +
    `"book_quantity_decimals":${view.bookQuantityDecimals}}}`
  );
}

/** An exact amount as the integer that events report: scale 10^-book_quantity_decimals, floored (G16, AMB-05). */
export function quoteInteger(amount: Amount18, quantityDecimals: number): bigint {
  return mulDivFloor(amount, powerOfTen(quantityDecimals), powerOfTen(18));
}
