/**
 * The order record of the order queries (wire.md 7.9, AMB-17). Every key is written, null where it does not apply:
 * clients silently drop a record that lacks one. Amounts are decimal strings in human units (AMB-133).
 */
import type { OrderStatus } from '../core/order-terms.ts';
import { quote, quoteOrNull } from './json-writer.ts';

/** The record with the names it has on the wire. */
export interface OrderRecordView {
  readonly order_id: string;
  readonly base_asset: string;
  readonly side: 'Buy' | 'Sell';
  /** Null for market orders. */
  readonly limit_price: string | null;
  /** Base quantity; null for a quote-sized market order. */
  readonly quantity: string | null;
  /** Quote amount of a quote-sized market order. */
  readonly amount: string | null;
  readonly max_sellable_amount: string | null;
  readonly max_sellable_quantity: string | null;
  readonly confirmed_filled_quantity: string;
  readonly pending_filled_quantity: string;
  readonly confirmed_filled_amount: string;
  readonly pending_filled_amount: string;
  readonly confirmed_trading_fees_amount: string;
  readonly pending_trading_fees_amount: string;
  readonly good_until_timestamp_ns: bigint | null;
  readonly timestamp_ns: bigint;
  readonly in_flight: boolean;
  readonly canceled: boolean;
  readonly status: OrderStatus;
  readonly trigger_above_price: string | null;
  readonly trigger_below_price: string | null;
  readonly trigger_touched: boolean | null;
  readonly parent_id: string | null;
  readonly last_update_timestamp_ns: bigint | null;
  readonly is_immediate_or_cancel: boolean;
  readonly is_fill_or_kill: boolean;
  readonly is_liquidation: boolean;
  readonly is_auto_deleverage: boolean;
  readonly is_reduce_only: boolean;
  readonly trigger_enabled_quantity: string | null;
}

export function orderRecord(view: OrderRecordView): string {
  return (
    `{"order_id":${quote(view.order_id)},"base_asset":${quote(view.base_asset)},"side":"${view.side}",` +
    `"limit_price":${quoteOrNull(view.limit_price)},"quantity":${quoteOrNull(view.quantity)},` +
    `"amount":${quoteOrNull(view.amount)},"max_sellable_amount":${quoteOrNull(view.max_sellable_amount)},` +
    `"max_sellable_quantity":${quoteOrNull(view.max_sellable_quantity)},` +
    `"confirmed_filled_quantity":"${view.confirmed_filled_quantity}",` +
    `"pending_filled_quantity":"${view.pending_filled_quantity}",` +
    `"confirmed_filled_amount":"${view.confirmed_filled_amount}",` +
    `"pending_filled_amount":"${view.pending_filled_amount}",` +
    `"confirmed_trading_fees_amount":"${view.confirmed_trading_fees_amount}",` +
    `"pending_trading_fees_amount":"${view.pending_trading_fees_amount}",` +
    `"good_until_timestamp_ns":${view.good_until_timestamp_ns},"timestamp_ns":${view.timestamp_ns},` +
    `"in_flight":${view.in_flight},"canceled":${view.canceled},"status":"${view.status}",` +
    `"trigger_above_price":${quoteOrNull(view.trigger_above_price)},` +
    `"trigger_below_price":${quoteOrNull(view.trigger_below_price)},` +
    `"trigger_touched":${view.trigger_touched},"parent_id":${quoteOrNull(view.parent_id)},` +
    `"last_update_timestamp_ns":${view.last_update_timestamp_ns},` +
    `"is_immediate_or_cancel":${view.is_immediate_or_cancel},"is_fill_or_kill":${view.is_fill_or_kill},` +
    `"is_liquidation":${view.is_liquidation},"is_auto_deleverage":${view.is_auto_deleverage},` +
    `"is_reduce_only":${view.is_reduce_only},` +
    `"trigger_enabled_quantity":${quoteOrNull(view.trigger_enabled_quantity)}}`
  );
}
