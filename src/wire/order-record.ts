/** The order record of the order queries (wire.md 7.9, AMB-17). Every key is written, null where it says nothing. */
import type { BookDecimals } from '../core/arithmetic.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import { type OrderStatus, SIDE_WORD, type Side } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import { quote, quoteOrNull } from './json-writer.ts';

export interface OrderRecordView {
  readonly orderId: string;
  readonly baseAsset: AssetId;
  readonly decimals: BookDecimals;
  readonly side: Side;
  /** Null for market orders. */
  readonly limitPrice: RawPrice | null;
  /** Base quantity; null for a quote-sized market order. */
  readonly quantity: RawQuantity | null;
  /** Quote amount of a quote-sized market order. */
  readonly amount: Amount18 | null;
  readonly maxSellableAmount: Amount18 | null;
  readonly maxSellableQuantity: RawQuantity | null;
  /** Raw, from 0. Pending figures do not include confirmed ones. */
  readonly confirmedFilledQuantity: number;
  readonly pendingFilledQuantity: number;
  readonly confirmedFilledAmount: Amount18;
  readonly pendingFilledAmount: Amount18;
  /** Negative is a rebate. */
  readonly confirmedFees: Amount18;
  readonly pendingFees: Amount18;
  /** Set for GTD. */
  readonly goodUntilNs: TimestampNs | null;
  readonly timestampNs: TimestampNs;
  readonly inFlight: boolean;
  readonly canceled: boolean;
  readonly status: OrderStatus;
  readonly triggerAbovePrice: RawPrice | null;
  readonly triggerBelowPrice: RawPrice | null;
  /** Null for an order without trigger. */
  readonly triggerTouched: boolean | null;
  readonly parentId: string | null;
  readonly lastUpdateNs: TimestampNs | null;
  readonly isImmediateOrCancel: boolean;
  readonly isFillOrKill: boolean;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
  readonly isReduceOnly: boolean;
  readonly triggerEnabledQuantity: RawQuantity | null;
}

export function orderRecord(view: OrderRecordView): string {
  const { priceDecimals, quantityDecimals } = view.decimals;
  return (
    `{"order_id":${quote(view.orderId)},"base_asset":"${view.baseAsset}","side":"${SIDE_WORD[view.side]}",` +
    `"limit_price":${rawOrNull(view.limitPrice, priceDecimals)},"quantity":${rawOrNull(view.quantity, quantityDecimals)},` +
    `"amount":${amountOrNull(view.amount)},"max_sellable_amount":${amountOrNull(view.maxSellableAmount)},` +
    `"max_sellable_quantity":${rawOrNull(view.maxSellableQuantity, quantityDecimals)},` +
    `"confirmed_filled_quantity":"${formatRaw(view.confirmedFilledQuantity, quantityDecimals)}",` +
    `"pending_filled_quantity":"${formatRaw(view.pendingFilledQuantity, quantityDecimals)}",` +
    `"confirmed_filled_amount":"${format18(view.confirmedFilledAmount)}",` +
    `"pending_filled_amount":"${format18(view.pendingFilledAmount)}",` +
    `"confirmed_trading_fees_amount":"${format18(view.confirmedFees)}",` +
    `"pending_trading_fees_amount":"${format18(view.pendingFees)}",` +
    `"good_until_timestamp_ns":${view.goodUntilNs},"timestamp_ns":${view.timestampNs},` +
    `"in_flight":${view.inFlight},"canceled":${view.canceled},"status":"${view.status}",` +
    `"trigger_above_price":${rawOrNull(view.triggerAbovePrice, priceDecimals)},` +
    `"trigger_below_price":${rawOrNull(view.triggerBelowPrice, priceDecimals)},` +
    `"trigger_touched":${view.triggerTouched},"parent_id":${quoteOrNull(view.parentId)},` +
    `"last_update_timestamp_ns":${view.lastUpdateNs},"is_immediate_or_cancel":${view.isImmediateOrCancel},` +
    `"is_fill_or_kill":${view.isFillOrKill},"is_liquidation":${view.isLiquidation},` +
    `"is_auto_deleverage":${view.isAutoDeleverage},"is_reduce_only":${view.isReduceOnly},` +
    `"trigger_enabled_quantity":${rawOrNull(view.triggerEnabledQuantity, quantityDecimals)}}`
  );
}

function rawOrNull(raw: number | null, decimals: number): string {
  return raw === null ? 'null' : `"${formatRaw(raw, decimals)}"`;
}

function amountOrNull(amount: Amount18 | null): string {
  return amount === null ? 'null' : `"${format18(amount)}"`;
}
