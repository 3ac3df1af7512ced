/**
 * Order records as reads show them (wire.md 7.9): from memory the optimistic view, from the tables what was final
 * (AMB-128, AMB-142). Amounts are human decimals; the keys are the wire's.
 */
import type { OrderRow } from '../clearing/rows.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_FLAG, type OrderStatus, SIDE_WORD, TIF } from '../core/order-terms.ts';
import type { OrderRecordView } from '../wire/order-record.ts';
import type { Filled, LiveOrder } from './live-orders.ts';
import { statusOf, statusOfLive } from './order-life.ts';

type Named = Pick<OrderRow, 'orderId' | 'side' | 'tif' | 'flags' | 'goodUntilNs'>;

interface Figures {
  readonly terms: Named;
  readonly price: number;
  readonly quantity: number;
  readonly confirmed: Readonly<Filled>;
  readonly pending: Readonly<Filled>;
  readonly status: OrderStatus;
  readonly timestampNs: bigint;
  readonly lastUpdateNs: bigint;
  readonly isInFlight: boolean;
}

const NOTHING: Readonly<Filled> = { quantity: 0, notional: 0n, fees: 0n };

/** The optimistic view of an order in memory. */
export function recordOfLive(order: LiveOrder): OrderRecordView {
  const { price, quantity, confirmed, pending, timestampNs, lastUpdateNs } = order;
  return record(order.market.definition, {
    terms: order.terms,
    price,
    quantity,
    confirmed,
    pending,
    status: statusOfLive(order),
    timestampNs,
    lastUpdateNs,
    isInFlight: order.requests > 0,
  });
}

/** A finished order from the tables. */
export function recordOfRow(row: OrderRow, definition: MarketDefinition): OrderRecordView {
  return record(definition, {
    terms: row,
    price: row.price,
    quantity: row.quantity,
    confirmed: { quantity: row.filledQuantity, notional: row.filledNotional, fees: row.fees },
    pending: NOTHING,
    status: statusOf(row),
    timestampNs: row.timestampNs,
    lastUpdateNs: row.lastUpdateNs,
    isInFlight: false,
  });
}

function record(definition: MarketDefinition, figures: Figures): OrderRecordView {
  const { terms, confirmed, pending, status } = figures;
  const { priceDecimals, quantityDecimals, assetId } = definition;
  return {
    order_id: terms.orderId,
    base_asset: assetId,
    side: SIDE_WORD[terms.side],
    limit_price: formatRaw(figures.price, priceDecimals),
    quantity: formatRaw(figures.quantity, quantityDecimals),
    amount: null,
    max_sellable_amount: null,
    max_sellable_quantity: null,
    confirmed_filled_quantity: formatRaw(confirmed.quantity, quantityDecimals),
    pending_filled_quantity: formatRaw(pending.quantity, quantityDecimals),
    confirmed_filled_amount: format18(confirmed.notional),
    pending_filled_amount: format18(pending.notional),
    confirmed_trading_fees_amount: format18(confirmed.fees),
    pending_trading_fees_amount: format18(pending.fees),
    good_until_timestamp_ns: terms.tif === TIF.gtd ? terms.goodUntilNs : null,
    timestamp_ns: figures.timestampNs,
    in_flight: figures.isInFlight,
    canceled: status === 'Canceled',
    status,
    trigger_above_price: null,
    trigger_below_price: null,
    trigger_touched: null,
    parent_id: null,
    last_update_timestamp_ns: figures.lastUpdateNs,
    is_immediate_or_cancel: terms.tif === TIF.ioc || terms.tif === TIF.fok,
    is_fill_or_kill: terms.tif === TIF.fok,
    is_liquidation: false,
    is_auto_deleverage: false,
    is_reduce_only: (terms.flags & ORDER_FLAG.reduceOnly) !== 0,
    trigger_enabled_quantity: null,
  };
}
