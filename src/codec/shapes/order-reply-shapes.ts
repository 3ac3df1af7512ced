/**
 * Replies of the order routes: operation responses, order records, user trades and their pages (wire.md 6.2, 7.4 to
 * 7.10).
 */
import { FILL_STATUS, ROLLBACK_WORDS } from '../../core/order-terms.ts';
import type {
  ActionTiming,
  BatchResult,
  OperationReply,
  QuoteSetReply,
  RejectionDetail,
  UserTrade,
} from '../reply-types.ts';
import { ORDER_RECORD, USER_ORDER_RECORD } from './order-record-shapes.ts';
import {
  ASSET_ID,
  before,
  COUNT,
  DECIMAL,
  described,
  FLAG,
  inside,
  listOf,
  NANOSECONDS,
  named,
  nullable,
  ORDER_ID,
  open,
  optional,
  RAW,
  type Shape,
  SIDE_WORDS,
  SUB_ACCOUNT,
  TEXT,
  unread,
  words,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

const HOP = nullable(NANOSECONDS);

export const ACTION_TIMING: Shape<unknown, ActionTiming> = named(
  'ActionTiming',
  "When the action passed each hop, on the node's clock; null for one that it did not reach",
  open({
    received_ns: NANOSECONDS,
    verified_ns: described(HOP, 'its signature was looked at'),
    sent_ns: HOP,
    matched_ns: described(HOP, 'its market began with it'),
    answered_ns: NANOSECONDS,
  }),
);

export const REJECTION_DETAIL: Shape<unknown, Required<RejectionDetail>> = named(
  'RejectionDetail',
  'The error envelope of REST for the same rejection',
  open({
    code: described(TEXT, 'an error code'),
    field: nullable(described(TEXT, 'the member at fault')),
    message: described(TEXT, 'for people; may change'),
    authorization_revision: optional(
      nullable(described(NANOSECONDS, 'of `ORDER_REVISION_MISMATCH` alone: the revision of the order')),
    ),
  }),
);

export const OPERATION_RESPONSE: Shape<unknown, OperationReply> = named(
  'OperationResponse',
  '`Received`: the market has decided, the order rests or its fills are on their way. `Rejected` only in batches and on `/control`',
  open({
    order_id: described(TEXT, 'as received'),
    status: words('Received', 'Rejected'),
    reason: nullable(described(TEXT, 'an error code in PascalCase')),
    processed_at_ns: optional(nullable(NANOSECONDS)),
    timing: optional(described(ACTION_TIMING, 'only for who asked for it')),
    detail: unread(optional(described(REJECTION_DETAIL, 'why, in rejections on `/control`; beyond the wire contract'))),
  }),
);

export const QUOTE_SET_RESPONSE: Shape<unknown, QuoteSetReply> = named(
  'QuoteSetResponse',
  '`Received`: the market has applied the set. `Rejected` with a reason: what it adds was refused as a whole, what it takes away was applied. The counts are of entries',
  open({
    set_id: described(TEXT, 'as received'),
    revision: inside('revisionNs', described(nullable(NANOSECONDS), 'as received; null where it could not be read')),
    status: words('Received', 'Rejected'),
    reason: nullable(described(TEXT, 'an error code in PascalCase')),
    created: described(COUNT, 'new prices'),
    changed: described(COUNT, 'other quantities at prices that stay'),
    kept: COUNT,
    cancelled: described(COUNT, 'prices that left'),
    refused: described(
      listOf(
        open({
          side: SIDE_WORDS,
          price: RAW,
          reason: described(TEXT, 'PostOnlyWouldCross, or an error code in PascalCase'),
        }),
      ),
      'entries that were left out',
    ),
    superseded: described(
      FLAG,
      'it waited, and was skipped for a newer set of this id that has passed every check and gone to its market',
    ),
    processed_at_ns: NANOSECONDS,
    timing: optional(described(ACTION_TIMING, 'only for who asked for it')),
    detail: unread(optional(described(REJECTION_DETAIL, 'why, in rejections on `/control`; beyond the wire contract'))),
  }),
);

export const BATCH_RESPONSE: Shape<unknown, { readonly results: readonly BatchResult[] }> = named(
  'BatchResponse',
  'One result an item, in the order of the request',
  open({
    results: listOf(
      open({
        order_id: TEXT,
        status: words('Received', 'Rejected'),
        reason: nullable(described(TEXT, 'an error code in PascalCase')),
        timing: unread(optional(described(ACTION_TIMING, 'only for who asked for it'))),
      }),
    ),
  }),
);

export const CANCEL_ALL_AFTER_RESPONSE: Shape<unknown, { readonly firesAtNs: bigint | null }> = named(
  'CancelAllAfterResponse',
  'The timer as it runs now',
  open({
    timeout_ms: unread(COUNT),
    fires_at_ns: described(nullable(NANOSECONDS), "on the node's clock; null when no timer runs"),
  }),
);

export const ACCEPTED: Shape = named(
  'Accepted',
  'Dispatched: the streams publish the result',
  Type.Object({ status: words('accepted') }),
);

export const USER_TRADE: Shape<unknown, UserTrade> = named(
  'UserTrade',
  'One side of a trade. `Pending` at its match, then `Confirmed` once durable, or `Rollbacked`',
  open({
    asset_id: ASSET_ID,
    trade_id: COUNT,
    order_id: ORDER_ID,
    price: DECIMAL,
    quantity: DECIMAL,
    timestamp_ns: described(NANOSECONDS, 'time of the match'),
    is_maker: FLAG,
    is_buyer: FLAG,
    status: words(...Object.values(FILL_STATUS)),
    rollback_reason: nullable(described(TEXT, `of \`Rollbacked\`: one of ${ROLLBACK_WORDS.join(', ')}`)),
    is_liquidation: before(false, FLAG),
    is_auto_deleverage: before(false, FLAG),
    sub_account: before(0, SUB_ACCOUNT),
    trading_fee: optional(described(DECIMAL, 'USD; negative is a rebate')),
  }),
);

const PAGE_COUNTERS = {
  page: COUNT,
  limit: described(COUNT, 'as applied'),
  total_pages: COUNT,
  cursor_size: described(COUNT, 'rows on this page'),
  has_next_page: FLAG,
  next_page: nullable(COUNT),
};

/** An envelope of wire.md 6.2. @param total the name of its total; null for none. @param further members at its end. */
export function pageOf(
  title: string,
  list: string,
  total: string | null,
  item: Shape,
  further: Readonly<Record<string, Shape>> = {},
): Shape {
  const totals = total === null ? {} : { [total]: described(COUNT, 'rows on all pages') };
  return named(
    title,
    'A page; the first is 0',
    Type.Object({ [list]: listOf(item), ...totals, ...PAGE_COUNTERS, ...further }),
  );
}

export const ORDER_PAGE: Shape = pageOf('OrderPage', 'orders', 'total_orders', ORDER_RECORD);
export const USER_ORDER_PAGE: Shape = pageOf('UserOrderPage', 'orders', 'total_orders', USER_ORDER_RECORD);
export const USER_TRADE_PAGE: Shape = pageOf('UserTradePage', 'trades', 'total_trades', USER_TRADE);
