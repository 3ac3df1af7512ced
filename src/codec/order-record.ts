/**
 * The order record of the order queries (wire.md 7.9, AMB-17). Every key is written, null where it does not apply:
 * clients silently drop a record that lacks one. Amounts are decimal strings in human units (AMB-133). A member is listed
 * twice, in the type and in the shape, which the compiler holds to each other; the writer follows from the shape.
 */
import { ORDER_FLAG, ORDER_STATUSES, type OrderStatus, revisionOf } from '../core/order-terms.ts';
import type { OrderRecord, UserOrder } from './reply-types.ts';
import { replyWriter } from './reply-writer.ts';
import {
  ASSET_ID,
  before,
  DECIMAL,
  FLAG,
  inside,
  NANOSECONDS,
  named,
  nullable,
  ORDER_ID,
  open,
  openWord,
  type Shape,
  SIDE_WORDS,
  SUB_ACCOUNT,
  unread,
  words,
} from './shapes/shape-kit.ts';

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

export const ORDER_RECORD: Shape<OrderReply, OrderRecord> = named(
  'OrderRecord',
  'An order as it stands, in human units. Limit: `limit_price`, `quantity`; market in base: `quantity`; market in quote: `amount`',
  open(RECORD_MEMBERS),
);

/** What market data shows of an order beside its record (wire-additions.md 8.4). */
export interface ShownTerms {
  readonly subAccount: number;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  readonly creationNs: bigint;
  /** Creation, or the time of the last applied replace or amend. */
  readonly timestampNs: bigint;
}

interface UserOrderRecordView extends OrderReply {
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
  }),
);

const writeUserOrder: (view: UserOrderRecordView) => string = replyWriter(USER_ORDER_RECORD);

/** The JSON of a record on market data. */
export function userOrderRecord(view: OrderReply, terms: ShownTerms): string {
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
export const orderRecord: (view: OrderReply) => string = replyWriter(ORDER_RECORD);
