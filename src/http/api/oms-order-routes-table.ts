/** Orders: signed actions, unsigned cancels, and reads of the user's own (wire.md 7.4 to 7.10). */

import { ORDER_RECORD } from '../../codec/order-record.ts';
import {
  ACCEPTED,
  BATCH_RESPONSE,
  CANCEL_ALL_AFTER_RESPONSE,
  OPERATION_RESPONSE,
  ORDER_PAGE,
  USER_ORDER_PAGE,
  USER_TRADE_PAGE,
} from '../../codec/shapes/order-reply-shapes.ts';
import {
  AMEND_REQUEST,
  BATCH_CREATE_REQUEST,
  BATCH_REPLACE_REQUEST,
  CANCEL_ALL_AFTER_REQUEST,
  CANCEL_BATCH_REQUEST,
  CANCEL_REQUEST,
  CREATE_REQUEST,
  REPLACE_REQUEST,
} from '../../codec/shapes/order-shapes.ts';
import { either, listOf, NANOSECONDS } from '../../codec/shapes/shape-kit.ts';
import { ACTION_BYTES_MAX, BODY_BYTES_MAX } from '../../core/limits.ts';
import type { RejectName } from '../../core/reject.ts';
import type { QueryDoc, RouteDoc } from './api-table.ts';
import {
  BOOLEAN_WORD,
  LIMIT_QUERY,
  ORDER_FILTER_QUERIES,
  PAGE_QUERY,
  SUB_ACCOUNT_QUERY,
  TRADE_FILTER_QUERIES,
} from './query-docs.ts';

const ORDER_EXAMPLE =
  '{"order":{"signer":"{user_id}","order_id":"demo-order-1","base_asset":"1","book_price_decimals":1,' +
  '"book_quantity_decimals":5,"details":{"Limit":{"limit_price":610000,"quantity":2000,' +
  '"time_in_force":{"GTC":{"post_only":false}}}},"side":"Sell","trigger":null,' +
  '"creation_timestamp_ns":1770000000000000001,"target":{"account":1,"is_spot":true},"reduce_only":false,' +
  '"max_trading_fees_rate":50000,"protocol_version":1},"signature":[],"post_sign_timestamp":1770000000000400000}';
const REPLACE_EXAMPLE =
  '{"request":{"order_id":"demo-order-1","timestamp_ns":1770000000500000002,"new_price_limit":611000,' +
  '"new_quantity":null,"new_trigger":null,"book_quantity_decimals":5,"book_price_decimals":1,"protocol_version":1},' +
  '"signer":"{user_id}","asset_id":"1","signature":[],"post_sign_timestamp":1770000000500400000}';
const AMEND_EXAMPLE =
  '{"request":{"order_id":"demo-order-1","base_asset":"1","new_quantity":1500,"book_quantity_decimals":5,' +
  '"expected_authorization_revision":null,"timestamp_ns":1770000000300000000,"source":"User"},"user_id":"{user_id}"}';
const CANCEL_EXAMPLE =
  '{"cancel":{"order_id":"demo-order-1","asset_id":"1","signer":"{user_id}","protocol_version":1},' +
  '"signature":[],"post_sign_timestamp":1770000000600000000}';
const RECEIVED = '{"order_id":"demo-order-1","status":"Received","reason":null,"processed_at_ns":1770000000001200000}';
export const RECORD_EXAMPLE: string =
  '{"order_id":"demo-order-1","base_asset":"1","side":"Sell","limit_price":"61100","quantity":"0.02","amount":null,' +
  '"max_sellable_amount":null,"max_sellable_quantity":null,"confirmed_filled_quantity":"0","pending_filled_quantity":"0",' +
  '"confirmed_filled_amount":"0","pending_filled_amount":"0","confirmed_trading_fees_amount":"0",' +
  '"pending_trading_fees_amount":"0","good_until_timestamp_ns":null,"timestamp_ns":1770000000000000001,' +
  '"in_flight":false,"canceled":true,"status":"Canceled","trigger_above_price":null,"trigger_below_price":null,' +
  '"trigger_touched":null,"parent_id":null,"last_update_timestamp_ns":1770000004000000000,' +
  '"is_immediate_or_cancel":false,"is_fill_or_kill":false,"is_liquidation":false,"is_auto_deleverage":false,' +
  '"is_reduce_only":false,"trigger_enabled_quantity":null}';
export const USER_TRADE_EXAMPLE: string =
  '{"asset_id":"1","trade_id":88017,"order_id":"demo-order-1","price":"61000","quantity":"0.02",' +
  '"timestamp_ns":1770000004000000000,"is_maker":true,"is_buyer":false,"status":"Confirmed","rollback_reason":null,' +
  '"is_liquidation":false,"is_auto_deleverage":false,"sub_account":1,"trading_fee":"0.122"}';

export function pageExample(list: string, total: string, row: string): string {
  return `{"${list}":[${row}],"page":0,"limit":100,"${total}":1,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`;
}

const ACTION_ERRORS: readonly RejectName[] = [
  'SIGNER_MISMATCH',
  'INVALID_SIGNATURE',
  'INSUFFICIENT_SIGNER_WEIGHT',
  'SIGNER_UNKNOWN',
  'SIGNER_EXPIRED',
  'SIGNER_DUPLICATE',
  'INVALID_ORDER',
  'REQUEST_TOO_OLD',
  'MARKET_NOT_FOUND',
  'MARKET_HALTED',
  'TIMEOUT_UNKNOWN_STATE',
];
/** What an order can lack. */
const RISK_ERRORS: readonly RejectName[] = [
  'INSUFFICIENT_INVENTORY',
  'INSUFFICIENT_MARGIN',
  'PROTOCOL_CAP_EXCEEDED',
  'REDUCE_ONLY_WOULD_INCREASE',
  'PRICING_UNAVAILABLE',
  'WOULD_CROSS',
];
const CREATE_ERRORS: readonly RejectName[] = [
  ...ACTION_ERRORS,
  ...RISK_ERRORS,
  'DUPLICATE_ORDER',
  'ORDER_EXPIRED',
  'TOO_MANY_OPEN_ORDERS',
];
const REPLACE_ERRORS: readonly RejectName[] = [
  ...ACTION_ERRORS,
  ...RISK_ERRORS,
  'ORDER_NOT_FOUND',
  'ALREADY_CANCELLED',
];
const SIGNED = { area: 'Orders', auth: 'signed', cost: 'action' } as const;

const MAX_TS: QueryDoc = {
  name: 'max_ts',
  shape: NANOSECONDS,
  summary: 'cancels orders strictly older than this; by default all orders up to now',
};

export const OMS_ORDER_ROUTES: readonly RouteDoc[] = [
  {
    ...SIGNED,
    method: 'POST',
    path: '/orders/create',
    summary: 'Create an order',
    description:
      'The signed bytes are the `order` object as compact JSON: members in the order shown, unset ones null, no white space. ' +
      '`Received` means that the market has processed it: the order rests, or its fills are published as `Pending`. After a 504 read the order by its id before you send it again, or send both with `X-Ringbook-Resend: true`: the second gets the reply of the first. `X-Ringbook-Timing: true` adds `timing`, on replace and cancel too.',
    body: CREATE_REQUEST,
    bodyBytesMax: ACTION_BYTES_MAX,
    signs: 'order',
    reply: OPERATION_RESPONSE,
    errors: CREATE_ERRORS,
    example: { body: ORDER_EXAMPLE, reply: RECEIVED },
  },
  {
    area: 'Orders',
    auth: 'session',
    cost: 'action',
    method: 'PATCH',
    path: '/orders/amend',
    summary: 'Lower the total of an order',
    description:
      'Not signed, so it can only reduce: no margin is checked, and it works whatever the status of the market is. The order keeps its place in the queue. ' +
      'It applies only to an order with the revision that it expects: the `timestamp_ns` of the last replace or amend, null after the create. ' +
      'A total that is not above what is filled ends the order.',
    body: AMEND_REQUEST,
    bodyBytesMax: ACTION_BYTES_MAX,
    reply: OPERATION_RESPONSE,
    errors: [
      'SIGNER_MISMATCH',
      'INVALID_ORDER',
      'REQUEST_TOO_OLD',
      'MARKET_NOT_FOUND',
      'TIMEOUT_UNKNOWN_STATE',
      'ORDER_NOT_FOUND',
      'ALREADY_CANCELLED',
      'ORDER_REVISION_MISMATCH',
    ],
    example: { body: AMEND_EXAMPLE, reply: RECEIVED },
  },
  {
    ...SIGNED,
    method: 'PATCH',
    path: '/orders/replace',
    summary: 'Change price or total quantity of an order',
    description:
      'Null leaves a member unchanged. The order keeps its id, and its place in the queue if the price is unchanged and the remainder does not grow. In the signed `request` quantity decimals precede price decimals. ' +
      'With `base_asset` as its second member the terms are complete: price and quantity are given, no trigger means that the order has none, ' +
      'and the wrapper has no `asset_id`.',
    body: REPLACE_REQUEST,
    bodyBytesMax: ACTION_BYTES_MAX,
    signs: 'request',
    reply: OPERATION_RESPONSE,
    errors: REPLACE_ERRORS,
    example: { body: REPLACE_EXAMPLE, reply: RECEIVED },
  },
  {
    ...SIGNED,
    method: 'DELETE',
    path: '/orders/cancel',
    cost: 'cancel',
    summary: 'Cancel an order',
    description: 'The body is part of the contract although the method is DELETE.',
    body: CANCEL_REQUEST,
    bodyBytesMax: ACTION_BYTES_MAX,
    signs: 'cancel',
    reply: OPERATION_RESPONSE,
    errors: [...ACTION_ERRORS, 'ORDER_NOT_FOUND', 'ALREADY_CANCELLED'],
    example: { body: CANCEL_EXAMPLE, reply: RECEIVED },
  },
  {
    ...SIGNED,
    method: 'POST',
    path: '/orders/batch-create',
    cost: 'bulk',
    summary: 'Create up to 50 orders',
    description:
      'Every item is signed as a single create. An invalid shape anywhere rejects the whole batch; an order rejected for its own reason fails alone, with the reason in PascalCase. 200 even if every order fails.',
    body: BATCH_CREATE_REQUEST,
    bodyBytesMax: BODY_BYTES_MAX,
    signs: 'order',
    reply: BATCH_RESPONSE,
    errors: ['TIMEOUT_UNKNOWN_STATE'],
    rejections: CREATE_ERRORS,
    example: {
      body: `{"orders":[${ORDER_EXAMPLE.replace('demo-order-1', 'demo-order-3')},${ORDER_EXAMPLE.replace('demo-order-1', 'demo-order-4')}]}`,
      reply:
        '{"results":[{"order_id":"demo-order-3","status":"Received","reason":null},{"order_id":"demo-order-4","status":"Rejected","reason":"InsufficientInventory"}]}',
    },
  },
  {
    ...SIGNED,
    method: 'PATCH',
    path: '/orders/batch-replace',
    cost: 'bulk',
    summary: 'Change up to 50 orders',
    description: 'As batch-create. A repeated order id rejects the whole batch.',
    body: BATCH_REPLACE_REQUEST,
    bodyBytesMax: BODY_BYTES_MAX,
    signs: 'request',
    reply: BATCH_RESPONSE,
    errors: ['TIMEOUT_UNKNOWN_STATE'],
    rejections: REPLACE_ERRORS,
    example: {
      body: `{"requests":[${REPLACE_EXAMPLE.replace('demo-order-1', 'demo-order-3')}]}`,
      reply: '{"results":[{"order_id":"demo-order-3","status":"Received","reason":null}]}',
    },
  },
  {
    method: 'DELETE',
    path: '/orders/cancel-all',
    area: 'Orders',
    auth: 'session',
    cost: 'cancelAll',
    summary: 'Cancel all your orders',
    description: '202 means dispatched; the `/orders` stream publishes the result for each order.',
    query: [MAX_TS],
    status: 202,
    reply: ACCEPTED,
    example: { reply: '{"status":"accepted"}' },
  },
  {
    method: 'DELETE',
    path: '/orders/cancel-all/{asset_id}',
    area: 'Orders',
    auth: 'session',
    cost: 'cancelAll',
    summary: 'Cancel all your orders in one market',
    query: [MAX_TS],
    status: 202,
    reply: ACCEPTED,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: '{"status":"accepted"}' },
  },
  {
    method: 'DELETE',
    path: '/orders/cancel-batch',
    area: 'Orders',
    auth: 'session',
    cost: 'bulk',
    summary: 'Cancel orders by their ids',
    description: 'Unknown ids and ids of other users are ignored.',
    body: CANCEL_BATCH_REQUEST,
    status: 202,
    reply: ACCEPTED,
    errors: ['MARKET_NOT_FOUND'],
    example: { body: '{"order_ids":["demo-order-1"],"asset_id":"1"}', reply: '{"status":"accepted"}' },
  },
  {
    method: 'POST',
    path: '/orders/cancel-all-after',
    area: 'Orders',
    auth: 'session',
    cost: 'action',
    summary: 'Cancel all your orders unless you restart a timer in time',
    description:
      'A dead-man timer, one per user: every call restarts it, 0 ends it. When it expires, all your orders in all markets are cancelled, once. Kept in memory: a restart of the service ends it. For users with a balance, a position or an open order.',
    body: CANCEL_ALL_AFTER_REQUEST,
    reply: CANCEL_ALL_AFTER_RESPONSE,
    errors: ['INSUFFICIENT_INVENTORY'],
    example: { body: '{"timeout_ms":60000}', reply: '{"timeout_ms":60000,"fires_at_ns":1770000064000000000}' },
  },
];

const OPEN_ONLY: QueryDoc = { name: 'open_only', shape: BOOLEAN_WORD, summary: 'only orders that are not finished' };
const OWN = { auth: 'session', cost: 'historyPage' } as const;
/** wire-additions.md 8.2. */
const FILTERED_ORDERS =
  'With `start_time`, `end_time`, `side` or `status` it is the read of `/market-data/orders/user/…`: an envelope, also of one market, whose records have more members; then `sub_account` is given at most once, and `open_only` not at all.';

export const OMS_ORDER_READ_ROUTES: readonly RouteDoc[] = [
  {
    ...OWN,
    method: 'GET',
    path: '/orders/user/{user_id}',
    area: 'Orders',
    summary: 'Your orders',
    description: `Newest first, by \`timestamp_ns\`, then by \`order_id\`. Finished ones stay for 30 days. ${FILTERED_ORDERS}`,
    query: [PAGE_QUERY, LIMIT_QUERY, OPEN_ONLY, SUB_ACCOUNT_QUERY, ...ORDER_FILTER_QUERIES],
    reply: either(ORDER_PAGE, USER_ORDER_PAGE),
    example: { query: 'limit=100&open_only=false', reply: pageExample('orders', 'total_orders', RECORD_EXAMPLE) },
  },
  {
    ...OWN,
    method: 'GET',
    path: '/orders/user/{user_id}/{asset_id}',
    area: 'Orders',
    summary: 'Your orders in one market',
    description: `A bare array; a page with fewer rows than \`limit\` is the last one. ${FILTERED_ORDERS}`,
    query: [PAGE_QUERY, LIMIT_QUERY, OPEN_ONLY, SUB_ACCOUNT_QUERY, ...ORDER_FILTER_QUERIES],
    reply: either(listOf(ORDER_RECORD), USER_ORDER_PAGE),
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, query: 'limit=1000', reply: `[${RECORD_EXAMPLE}]` },
  },
  {
    method: 'GET',
    path: '/orders/user/{user_id}/{asset_id}/{order_id}',
    area: 'Orders',
    auth: 'session',
    cost: 'action',
    summary: 'One order, live or finished',
    description: 'The id is percent-encoded: it may contain `/`.',
    reply: ORDER_RECORD,
    errors: ['MARKET_NOT_FOUND', 'ORDER_NOT_FOUND'],
    example: { path: { asset_id: '1', order_id: 'demo-order-1' }, reply: RECORD_EXAMPLE },
  },
  {
    ...OWN,
    method: 'GET',
    path: '/trades/user/{user_id}',
    area: 'Trades',
    summary: 'Your trades',
    description: 'Confirmed trades only, newest first. The stream publishes pending fills and their results.',
    query: [PAGE_QUERY, LIMIT_QUERY, ...TRADE_FILTER_QUERIES],
    reply: USER_TRADE_PAGE,
    example: { query: 'limit=40', reply: pageExample('trades', 'total_trades', USER_TRADE_EXAMPLE) },
  },
  {
    ...OWN,
    method: 'GET',
    path: '/trades/user/{user_id}/{asset_id}',
    area: 'Trades',
    summary: 'Your trades in one market',
    query: [PAGE_QUERY, LIMIT_QUERY, ...TRADE_FILTER_QUERIES],
    reply: USER_TRADE_PAGE,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: pageExample('trades', 'total_trades', USER_TRADE_EXAMPLE) },
  },
];
