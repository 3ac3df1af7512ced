/**
 * The order record of the order queries (wire.md 7.9, AMB-17). Every key is written, null where it does not apply:
 * clients silently drop a record that lacks one. Amounts are decimal strings in human units (AMB-133). A member is listed
 * twice, in the type and in the shape, which the compiler holds to each other; the writer follows from the shape.
 */
import { ORDER_STATUSES, type OrderStatus } from '../../core/order-terms.ts';
import type { OrderRecord, UserOrder } from '../reply-types.ts';
import {
  ASSET_ID,
  before,
  DECIMAL,
  described,
  FLAG,
  inside,
  NANOSECONDS,
  named,
  nullable,
  ORDER_ID,
  open,
  openWord,
  optional,
  type Shape,
  SIDE_WORDS,
  SUB_ACCOUNT,
  unread,
  words,
} from './shape-kit.ts';

/** The record with the names it has on the wire. */
export interface OrderReply {
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
  /** Of an entry of a quote set alone: the id of the set. */
  readonly quote_set_id?: string;
}

const STATUS: Shape<OrderStatus> = words(...ORDER_STATUSES);

const RECORD_MEMBERS = {
  order_id: ORDER_ID,
  base_asset: inside('assetId', ASSET_ID),
  side: SIDE_WORDS,
  limit_price: nullable(DECIMAL),
  quantity: nullable(DECIMAL),
  amount: nullable(DECIMAL),
  max_sellable_amount: unread(nullable(DECIMAL)),
  max_sellable_quantity: unread(nullable(DECIMAL)),
  confirmed_filled_quantity: DECIMAL,
  pending_filled_quantity: DECIMAL,
  confirmed_filled_amount: DECIMAL,
  pending_filled_amount: DECIMAL,
  confirmed_trading_fees_amount: inside('confirmedTradingFees', DECIMAL),
  pending_trading_fees_amount: inside('pendingTradingFees', DECIMAL),
  good_until_timestamp_ns: inside('goodUntilNs', nullable(NANOSECONDS)),
  timestamp_ns: NANOSECONDS,
  in_flight: unread(FLAG),
  canceled: unread(FLAG),
  status: openWord(STATUS),
  trigger_above_price: nullable(DECIMAL),
  trigger_below_price: nullable(DECIMAL),
  trigger_touched: unread(nullable(FLAG)),
  parent_id: nullable(ORDER_ID),
  last_update_timestamp_ns: unread(nullable(NANOSECONDS)),
  is_immediate_or_cancel: unread(FLAG),
  is_fill_or_kill: unread(FLAG),
  is_liquidation: unread(FLAG),
  is_auto_deleverage: unread(FLAG),
  is_reduce_only: before(false, FLAG),
  trigger_enabled_quantity: unread(nullable(DECIMAL)),
} as const;

const QUOTE_SET_ID = {
  quote_set_id: optional(described(ORDER_ID, 'the quote set that the order is an entry of; only there for entries')),
} as const;

export const ORDER_RECORD: Shape<OrderReply, OrderRecord> = named(
  'OrderRecord',
  'An order as it stands, in human units. Limit: `limit_price`, `quantity`; market in base: `quantity`; market in quote: `amount`',
  open({ ...RECORD_MEMBERS, ...QUOTE_SET_ID }),
);

export interface UserOrderRecordView extends OrderReply {
  readonly account_index: number;
  readonly is_spot: boolean;
  readonly authorization_revision: bigint | null;
}

export const USER_ORDER_RECORD: Shape<UserOrderRecordView, UserOrder> = named(
  'UserOrderRecord',
  'An order as market data shows it: the record of the order service, its account, and its revision',
  open({
    ...RECORD_MEMBERS,
    last_update_timestamp_ns: inside('lastUpdateNs', NANOSECONDS),
    account_index: inside('subAccount', SUB_ACCOUNT),
    is_spot: FLAG,
    authorization_revision: inside('revisionNs', nullable(NANOSECONDS)),
    ...QUOTE_SET_ID,
  }),
);
