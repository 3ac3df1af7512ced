/**
 * The order record of the order queries (wire.md 7.9, AMB-17). Every key is written, null where it does not apply:
 * clients silently drop a record that lacks one. Amounts are decimal strings in human units (AMB-133). A member is listed
 * twice, in the type and in the shape, which the compiler holds to each other; the writer follows from the shape.
 */
import { ORDER_FLAG, ORDER_STATUSES, type OrderStatus, revisionOf } from '../core/order-terms.ts';
import {
  ASSET_ID,
  DECIMAL,
  FLAG,
  NANOSECONDS,
  named,
  nullable,
  ORDER_ID,
  objectWriter,
  type Shape,
  SIDE,
  SUB_ACCOUNT,
  words,
} from './shapes/shape-kit.ts';
import { Type } from './shapes/type-builder.ts';

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

const STATUS: Shape<OrderStatus> = words(...ORDER_STATUSES);

const RECORD_MEMBERS = {
  order_id: ORDER_ID,
  base_asset: ASSET_ID,
  side: SIDE,
  limit_price: nullable(DECIMAL),
  quantity: nullable(DECIMAL),
  amount: nullable(DECIMAL),
  max_sellable_amount: nullable(DECIMAL),
  max_sellable_quantity: nullable(DECIMAL),
  confirmed_filled_quantity: DECIMAL,
  pending_filled_quantity: DECIMAL,
  confirmed_filled_amount: DECIMAL,
  pending_filled_amount: DECIMAL,
  confirmed_trading_fees_amount: DECIMAL,
  pending_trading_fees_amount: DECIMAL,
  good_until_timestamp_ns: nullable(NANOSECONDS),
  timestamp_ns: NANOSECONDS,
  in_flight: FLAG,
  canceled: FLAG,
  status: STATUS,
  trigger_above_price: nullable(DECIMAL),
  trigger_below_price: nullable(DECIMAL),
  trigger_touched: nullable(FLAG),
  parent_id: nullable(ORDER_ID),
  last_update_timestamp_ns: nullable(NANOSECONDS),
  is_immediate_or_cancel: FLAG,
  is_fill_or_kill: FLAG,
  is_liquidation: FLAG,
  is_auto_deleverage: FLAG,
  is_reduce_only: FLAG,
  trigger_enabled_quantity: nullable(DECIMAL),
} as const;

export const ORDER_RECORD: Shape<OrderRecordView> = named(
  'OrderRecord',
  'An order as it stands, in human units. Limit: `limit_price`, `quantity`; market in base: `quantity`; market in quote: `amount`',
  Type.Object(RECORD_MEMBERS),
);

/** What market data shows of an order beside its record (wire-additions.md 8.4). */
export interface OrderTerms {
  readonly subAccount: number;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  readonly creationNs: bigint;
  /** Creation, or the time of the last applied replace or amend. */
  readonly timestampNs: bigint;
}

interface UserOrderRecordView extends OrderRecordView {
  readonly account_index: number;
  readonly is_spot: boolean;
  readonly authorization_revision: bigint | null;
}

export const USER_ORDER_RECORD: Shape<UserOrderRecordView> = named(
  'UserOrderRecord',
  'An order as market data shows it: the record of the order service, its account, and its revision',
  Type.Object({
    ...RECORD_MEMBERS,
    last_update_timestamp_ns: NANOSECONDS,
    account_index: SUB_ACCOUNT,
    is_spot: FLAG,
    authorization_revision: nullable(NANOSECONDS),
  }),
);

const writeUserOrder: (view: UserOrderRecordView) => string = objectWriter(USER_ORDER_RECORD);

/** The JSON of a record on market data. */
export function userOrderRecord(view: OrderRecordView, terms: OrderTerms): string {
  const { subAccount, flags, creationNs } = terms;
  return writeUserOrder({
    ...view,
    last_update_timestamp_ns: view.last_update_timestamp_ns ?? creationNs,
    account_index: subAccount,
    is_spot: (flags & ORDER_FLAG.isSpot) !== 0,
    authorization_revision: revisionOf(terms),
  });
}

/** The JSON of a record. */
export const orderRecord: (view: OrderRecordView) => string = objectWriter(ORDER_RECORD);
