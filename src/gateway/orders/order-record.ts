/**
 * Order records as reads show them (wire.md 7.9): from memory the optimistic view, from the tables what was final
 * (AMB-128, AMB-142). Amounts are human decimals; the keys are the wire's.
 */
import type { OrderRow } from '../../clearing/rows.ts';
import type { OrderRecordView } from '../../codec/order-record.ts';
import { format18, formatRaw } from '../../core/decimal.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  type OrderStatus,
  SIDE_WORD,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../../core/order-terms.ts';
import { enabledOf, type Filled, type LiveOrder } from './live-order.ts';
import { statusOf, statusOfLive } from './order-life.ts';

type Named = Pick<OrderRow, 'orderId' | 'side' | 'kind' | 'tif' | 'flags' | 'amount' | 'parentId' | 'goodUntilNs'>;

interface Figures extends Pick<OrderRow, 'triggerKind' | 'triggerPrice' | 'triggerState' | 'enabledQuantity'> {
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
  const status = statusOfLive(order);
  return record(order.market.definition, {
    ...order,
    status,
    enabledQuantity: enabledOf(order),
    isInFlight: order.requests > 0,
  });
}

/** A finished order from the tables. */
export function recordOfRow(row: OrderRow, definition: MarketDefinition): OrderRecordView {
  return record(definition, {
    ...row,
    terms: row,
    confirmed: { quantity: row.filledQuantity, notional: row.filledNotional, fees: row.fees },
    pending: NOTHING,
    status: statusOf(row),
    isInFlight: false,
  });
}

function record(definition: MarketDefinition, figures: Figures): OrderRecordView {
  const { terms, confirmed, pending, status } = figures;
  const { quantityDecimals, assetId } = definition;
  return {
    order_id: terms.orderId,
    base_asset: assetId,
    side: SIDE_WORD[terms.side],
    ...sizeOf(definition, figures),
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
    ...triggerOf(definition, figures),
    last_update_timestamp_ns: figures.lastUpdateNs,
    is_immediate_or_cancel: terms.tif === TIF.ioc || terms.tif === TIF.fok,
    is_fill_or_kill: terms.tif === TIF.fok,
    is_liquidation: false,
    is_auto_deleverage: false,
    is_reduce_only: (terms.flags & ORDER_FLAG.reduceOnly) !== 0,
  };
}

type Size = Pick<
  OrderRecordView,
  'limit_price' | 'quantity' | 'amount' | 'max_sellable_amount' | 'max_sellable_quantity'
>;

/** Which figures are set follows from the kind; 0 stands for none (wire.md 7.9). */
function sizeOf({ priceDecimals, quantityDecimals }: MarketDefinition, figures: Figures): Size {
  const { kind, amount } = figures.terms;
  const isQuote = kind === ORDER_KIND.marketQuote;
  const quantity = figures.quantity === 0 ? null : formatRaw(figures.quantity, quantityDecimals);
  const quoteAmount = amount === 0 ? null : formatRaw(amount, quantityDecimals);
  return {
    limit_price: kind === ORDER_KIND.limit ? formatRaw(figures.price, priceDecimals) : null,
    quantity: isQuote ? null : quantity,
    amount: isQuote ? quoteAmount : null,
    max_sellable_amount: isQuote ? null : quoteAmount,
    max_sellable_quantity: isQuote ? quantity : null,
  };
}

type TriggerMembers = Pick<
  OrderRecordView,
  'trigger_above_price' | 'trigger_below_price' | 'trigger_touched' | 'parent_id' | 'trigger_enabled_quantity'
>;

/** All null without a trigger; the enabled quantity belongs to a child (AMB-29). */
function triggerOf({ priceDecimals, quantityDecimals }: MarketDefinition, figures: Figures): TriggerMembers {
  const { triggerKind, triggerState, terms } = figures;
  const price = formatRaw(figures.triggerPrice, priceDecimals);
  const isChild = terms.parentId !== '';
  return {
    trigger_above_price: triggerKind === TRIGGER.above ? price : null,
    trigger_below_price: triggerKind === TRIGGER.below ? price : null,
    trigger_touched: triggerKind === TRIGGER.none ? null : triggerState !== TRIGGER_STATE.dormant,
    parent_id: isChild ? terms.parentId : null,
    trigger_enabled_quantity: isChild ? formatRaw(figures.enabledQuantity, quantityDecimals) : null,
  };
}
