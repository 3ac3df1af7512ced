/** The order service's sockets (wire.md 9, 10). Examples are v0; on v1 they are the `data` of an envelope. */
import { AT_RISK, MARGIN, PENDING_SETTLEMENT, POSITIONS } from '../../codec/shapes/account-shapes.ts';
import { USER_TRADE } from '../../codec/shapes/order-reply-shapes.ts';
import { U64, words } from '../../codec/shapes/shape-kit.ts';
import {
  ACCOUNT_EVENT,
  CONTROL_ANSWER,
  CONTROL_REQUEST,
  CONTROL_REQUEST_V1,
  ORDER_EVENT,
  PONG,
  PRIVATE_ERROR,
  PRIVATE_FRAME,
  PRIVATE_REQUEST,
  PRIVATE_SUBSCRIPTIONS,
  QUOTE_SET_EVENT,
  SHORT_CONTROL_REQUEST,
  STREAM_REFUSAL,
} from '../../codec/shapes/stream-shapes.ts';
import type { OmsStreamName } from '../oms-streams.ts';
import { BOOLEAN_WORD } from './query-docs.ts';
import type { MessageDoc, QueryDoc, StreamDoc } from './route-doc.ts';

const USER = '{user_id}';
const ORDER =
  `{"signer":"${USER}","order_id":"demo-order-1","base_asset":"1","book_price_decimals":1,"book_quantity_decimals":5,` +
  '"details":{"Limit":{"limit_price":610000,"quantity":2000,"time_in_force":{"GTC":{"post_only":false}}}},"side":"Sell",' +
  '"trigger":null,"creation_timestamp_ns":1770000000000000001,"target":{"account":1,"is_spot":true},' +
  '"reduce_only":false,"max_trading_fees_rate":50000,"protocol_version":1}';
const NAME = `"order_id":"demo-order-1","asset_id":"1","user_id":"${USER}"`;
const SET = `"set_id":"demo-quotes","asset_id":"1","user_id":"${USER}"`;
const TRADE = (status: string, reason: string): string =>
  '{"asset_id":"1","trade_id":88017,"order_id":"demo-order-1","price":"61000","quantity":"0.02",' +
  `"timestamp_ns":1770000004000000000,"is_maker":true,"is_buyer":false,"status":"${status}","rollback_reason":${reason},` +
  '"is_liquidation":false,"is_auto_deleverage":false,"sub_account":1,"trading_fee":"0.122"}';

const COMMON: readonly MessageDoc[] = [
  { name: 'Pong', summary: 'The answer to the text frame {"type":"ping"}', shape: PONG, example: '{"type":"pong"}' },
];
const REFUSAL: MessageDoc = {
  name: 'StreamRefusal',
  summary: 'The path contains another user, or the session has ended; then close 1000',
  shape: STREAM_REFUSAL,
  example:
    '{"type":"error","channel":"trades","error":{"code":"unauthorized","message":"the path names another user","retryable":false}}',
};

function event(name: string, summary: string, example: string): MessageDoc {
  return { name, summary, shape: ORDER_EVENT, example };
}

function ofSet(name: string, summary: string, example: string): MessageDoc {
  return { name, summary, shape: QUOTE_SET_EVENT, example };
}

function account(name: string, summary: string, example: string): MessageDoc {
  return { name, summary, shape: ACCOUNT_EVENT, example };
}

const TRADES: readonly MessageDoc[] = [
  { name: 'Pending', summary: 'Matched, not yet durable', shape: USER_TRADE, example: TRADE('Pending', 'null') },
  { name: 'Confirmed', summary: 'On disk', shape: USER_TRADE, example: TRADE('Confirmed', 'null') },
  {
    name: 'Rollbacked',
    summary: 'Rolled back; the reason identifies the user at fault',
    shape: USER_TRADE,
    example: TRADE('Rollbacked', '"CounterpartyAtFault"'),
  },
];

/** Optional sequence numbers and replay; without them streams are unchanged. */
const SEQUENCES: readonly QueryDoc[] = [
  { name: 'sequence', shape: BOOLEAN_WORD, summary: 'v1 only: every envelope has an increasing `sequence`' },
  {
    name: 'from_sequence',
    shape: U64,
    summary: 'v1 only: starts with this number if it is still available; else RESYNC_REQUIRED and close 1013',
  },
];

/** A stream: what documents say of it, and what the listener sends on it. */
interface OmsStream extends StreamDoc {
  readonly stream: OmsStreamName;
}

export const OMS_STREAMS: readonly OmsStream[] = [
  {
    path: '/orders',
    stream: 'orders',
    area: 'Orders',
    auth: 'session',
    channel: 'orders',
    summary: 'Events of your orders',
    query: [
      ...SEQUENCES,
      {
        name: 'quotes',
        shape: words('sets'),
        summary:
          'v1 only: one `QuoteSetApplied` in place of `Created`, `Replaced` and `Canceled` of entries of quote sets',
      },
    ],
    resync: '/orders/user/{user_id}, and per market',
    sends: [
      event(
        'Created',
        'Accepted by the market; the first event of an order',
        `{"Created":{"user_order":${ORDER},"signature":[],"book_timestamp_ns":1770000000001200000,"limit_overrides":null,"limit_overrides_signature":null}}`,
      ),
      ofSet(
        'QuoteSetApplied',
        'With `quotes=sets`: a quote set is in force',
        `{"QuoteSetApplied":{${SET},"revision":1770000000500000002,"created":3,"changed":1,"cancelled":2,"timestamp_ns":1770000000501200000}}`,
      ),
      ofSet(
        'QuoteSetEnded',
        'With `quotes=sets`: nothing of the set rests any more',
        `{"QuoteSetEnded":{${SET},"reason":"UserRequested","timestamp_ns":1770000000501200000}}`,
      ),
      event('Replaced', 'The values now in force', `{"Replaced":{${NAME},"new_quantity":2000,"new_price":611000}}`),
      event(
        'Amended',
        'v1 only: the total was lowered by an amend; `Replaced` on v0',
        `{"Amended":{${NAME},"new_quantity":1500,"remaining_quantity":1000,"authorization_revision":1770000000700000000,"book_quantity_decimals":5,"timestamp_ns":1770000000700800000,"operator_pubkey":null}}`,
      ),
      event(
        'Triggered',
        'A trigger fired',
        `{"Triggered":{${NAME},"timestamp_ns":1770000008000000000,"trigger_price":605000,"quantity":20000,"trigger_touched":true}}`,
      ),
      event(
        'Canceled',
        'Its end by a cancel',
        `{"Canceled":{${NAME},"timestamp_ns":1770000009000000000,"reason":"UserRequested"}}`,
      ),
      event(
        'Removed',
        'Its end, with final figures: no fill is pending',
        `{"Removed":{${NAME},"timestamp_ns":1770000009000000000,"operator_pubkey":null,"reason":"Filled","filled_quantity":2000,"confirmed_quantity":2000,"filled_amount":122000000,"confirmed_amount":122000000,"book_quantity_decimals":5}}`,
      ),
      event(
        'CreateFailed',
        'A rejection after the gateway had accepted the request; likewise ReplaceFailed and CancelFailed',
        `{"CreateFailed":{"order_id":"demo-order-1","user_id":"${USER}","reason":"WouldCross"}}`,
      ),
      ...COMMON,
    ],
  },
  {
    path: '/trades/user/events/{user_id}',
    stream: 'trades',
    area: 'Trades',
    auth: 'session',
    channel: 'trades',
    summary: 'Your trades as they are matched, confirmed or rolled back',
    query: SEQUENCES,
    resync: '/trades/user/{user_id}: confirmed rows only; pending and rolled-back fills are available on sockets only',
    sends: [...TRADES, ...COMMON, REFUSAL],
  },
  {
    path: '/trades/user/{user_id}',
    stream: 'confirmed-trades',
    area: 'Trades',
    auth: 'session',
    channel: 'trades',
    summary: 'Your confirmed trades',
    resync: '/trades/user/{user_id}',
    sends: [...TRADES.filter(({ name }) => name === 'Confirmed'), ...COMMON, REFUSAL],
  },
  {
    path: '/account/events/{user_id}',
    stream: 'account-events',
    area: 'Account',
    auth: 'session',
    channel: 'account_events',
    summary: 'Deposits, transfers and cleared positions, once durable',
    query: SEQUENCES,
    resync: 'the affected state: inventory, positions',
    sends: [
      account(
        'DepositLanded',
        'A deposit was credited to the account',
        `{"DepositLanded":{"user":"${USER}","asset":"0","amount":"0x8ac7230489e80000","chain_id":"000000000000007a69","deposit_nonce":0,"timestamp_ns":1770000020000000000}}`,
      ),
      account(
        'SubAccountAssetTransferred',
        'A transfer between sub-accounts was booked',
        `{"SubAccountAssetTransferred":{"user":"${USER}","asset":"0","amount":"0x22b1c8c1227a0000","source_sub_account_index":0,"target_sub_account_index":2,"timestamp_ns":1770000020000000000}}`,
      ),
      account(
        'PositionCleared',
        'The quote leg of a flat position was moved into the balance',
        `{"PositionCleared":{"user":"${USER}","asset":"1","sub_account_index":1,"timestamp_ns":1770000020000000000}}`,
      ),
      ...COMMON,
      REFUSAL,
    ],
  },
  {
    path: '/positions/ws/{user_id}',
    stream: 'positions',
    area: 'Margin',
    auth: 'session',
    channel: 'positions',
    summary: 'Positions that changed',
    description:
      'Published once the change is durable; an array of what changed. Under a `*.ws.v1` name other than `svc.ws.v1` an object `user_id`, `positions`, `timestamp_ns` with every position.',
    resync: '/positions/{user_id}, and per market',
    sends: [
      {
        name: 'Positions',
        summary: 'Changed positions with their current values',
        shape: POSITIONS,
        example:
          '[{"asset_id":"1","name":"Margin","sub_account_index":1,"side":"long","size":"0.5","base_credits":"0.5","base_liabilities":"0","quote_credits":"0","quote_liabilities":"30013.5","entry_price":"60000","mark_price":"60100","unrealized_pnl":"50","margin":"1502.5","leverage":"20","liquidation_price":"58210.4"}]',
      },
      ...COMMON,
      REFUSAL,
    ],
  },
  {
    path: '/account/stats/{user_id}',
    stream: 'account-stats',
    area: 'Margin',
    auth: 'session',
    channel: 'account_stats',
    summary: 'Equity and margin as they change',
    description:
      'One margin account per frame, the first soon after the start, then after every change, at most ten per second and account.',
    resync: '/margin/user/{user_id} and /inventory/user/{user_id}',
    sends: [
      {
        name: 'Margin',
        summary: 'The reply of /margin/user/{user_id}, of one account, without positions',
        shape: MARGIN,
        example:
          '{"accounts":{"1":{"account_equity":"8100.2","available_margin":"5400","utilized_margin":"2300","maintenance_margin_surplus":"6100.4","account_leverage":"0.97","is_solvent":true,"is_liquidatable":false,"im_surplus":"5600","unrealized_pnl":"12.4","total_upnl":"12.4","mm_requirement":"1999.8","net_apy":null,"margin_calls":[],"netting":null}},"warnings":[]}',
      },
      ...COMMON,
      REFUSAL,
    ],
  },
  {
    path: '/liquidation/at_risk/ws',
    stream: 'at-risk',
    area: 'Margin',
    auth: 'session',
    channel: 'at_risk',
    summary: 'Positions of all accounts close to liquidation, per asset and side',
    description:
      'The same frames for all users, without user ids. The first when you connect, if anything is at risk, then after a change, at most one ' +
      'per second. An account is counted while it borrows and its maintenance surplus is below a tenth of its maintenance requirement, also ' +
      'below zero; the backstop account is not. A frame without assets means that nothing is at risk any more.',
    resync: 'nothing: the next frame is complete',
    sends: [
      {
        name: 'AtRisk',
        summary: 'Everything at risk; assets without any are left out',
        shape: AT_RISK,
        example:
          '{"timestamp_ns":1770000004000000000,"assets":{"2":{"long":{"quantity":"4","liquidation_price":"2900"},"short":{"quantity":"0","liquidation_price":null}}}}',
      },
      ...COMMON,
    ],
  },
  {
    path: '/sync/pending_settlements',
    stream: 'pending-settlements',
    area: 'Account',
    auth: 'session',
    channel: 'pending_settlements',
    summary: 'Settlements of all users, once approved; for market makers',
    description:
      'Other users get a frame with the code `unauthorized`, then close 1000, and so does a market maker that is none any more. ' +
      'No frame is kept: a reader that is 256 frames behind has to connect again.',
    resync: 'nothing: what was missed is not kept',
    sends: [
      {
        name: 'PendingSettlement',
        summary: 'One approved settlement',
        shape: PENDING_SETTLEMENT,
        example: `{"settlement_id":"000000000000007a69:${USER}:1:0","asset_id":"2","side":"Buy","quantity":"1","price":"3150","user":"${USER}","sub_account":1,"timestamp_ns":1770000004000000000}`,
      },
      ...COMMON,
      REFUSAL,
    ],
  },
  {
    path: '/user/ws',
    stream: 'user',
    area: 'Account',
    auth: 'session',
    channel: 'user',
    summary: 'All of your streams over one socket',
    description:
      'Frames as of `GET /ws`: `subscribe`, `unsubscribe`, `ping`. A subscription begins with a snapshot, the reply of the REST read of its channel, or with `resume` behind a `sequence` that is still kept. ' +
      'The socket counts once against your streams. A client that can set no headers sends `auth` as the first frame, within five seconds. Each subscription costs what the read of its state costs.',
    resync: 'nothing: subscribe again, with `resume`',
    receives: [
      {
        name: 'PrivateRequest',
        summary: 'The first frame of a socket without credentials',
        shape: PRIVATE_REQUEST,
        example: `{"type":"auth","user_id":"${USER}","token":"kPq3Xo2bR7sLw9TzVn4yHc1eJd6mUf8gQa0iBxC5vKE"}`,
      },
      {
        name: 'PrivateSubscribe',
        summary: 'Subscribe',
        shape: PRIVATE_REQUEST,
        example:
          '{"type":"subscribe","id":"s-1","channels":[{"name":"orders","resume":{"sequence":41}},{"name":"positions"}]}',
      },
    ],
    sends: [
      {
        name: 'PrivateFrame',
        summary: 'A state, or an update',
        shape: PRIVATE_FRAME,
        example:
          '{"type":"update","channel":"account_stats","sequence":42,"timestamp_ns":1770000004000000000,"data":{"accounts":{},"warnings":[]}}',
      },
      {
        name: 'PrivateSubscriptions',
        summary: 'The first frame with a session, and the answer to a request',
        shape: PRIVATE_SUBSCRIPTIONS,
        example:
          '{"type":"subscriptions","channels":[{"name":"orders"}],"errors":[{"name":"positions","code":"RATE_LIMITED","message":"the budget of requests is used up; it refills all the time"}],"id":"s-1"}',
      },
      {
        name: 'PrivateError',
        summary: 'A request that was not taken, or the end of the socket',
        shape: PRIVATE_ERROR,
        example:
          '{"type":"error","id":null,"error":{"code":"UNAUTHORIZED","message":"the session is over","retryable":false}}',
      },
      ...COMMON,
    ],
  },
  {
    path: '/control',
    stream: 'control',
    area: 'Orders',
    auth: 'session',
    channel: 'control',
    summary: 'Signed orders, replaces and cancels over one socket',
    description:
      'The fastest way to trade. Messages of one connection to one market keep their order; every order gets one reply, identified by tag, ' +
      '`asset_id` and `order_id`. A cancel that arrives before its create is parked for it, for at most five seconds. Charged like REST. ' +
      'Cancels of all orders, of a list, and the dead-man timer need no signature; a cancel of all orders takes with it what it overtakes of its connection. ' +
      'The subprotocol `ringbook.fbs.v1` selects FlatBuffers of `schemas/control.fbs` instead of JSON, with the same requests and replies.',
    query: [
      {
        name: 'cancel_on_disconnect',
        shape: BOOLEAN_WORD,
        summary: 'when this connection ends, the orders created or replaced over it are cancelled',
      },
      {
        name: 'resend',
        shape: BOOLEAN_WORD,
        summary: 'idempotent retry: a create that is sent again gets the reply of the first',
      },
      { name: 'timing', shape: BOOLEAN_WORD, summary: 'replies contain the time at which the action passed each hop' },
    ],
    resync: 'orders and trades',
    receives: [
      {
        name: 'ControlRequest',
        summary: 'One action',
        shape: CONTROL_REQUEST,
        example: `{"CancelOrderRequest":{"cancel":{"order_id":"demo-order-2","asset_id":"1","signer":"${USER}","protocol_version":1},"signature":[],"post_sign_timestamp":1770000000600000000}}`,
      },
      {
        name: 'ControlRequestV1',
        summary: 'The same with a request id, on a v1 socket',
        shape: CONTROL_REQUEST_V1,
        example: `{"type":"request","channel":"control","request_id":"r-1","data":{"CancelOrderRequest":{"cancel":{"order_id":"demo-order-2","asset_id":"1","signer":"${USER}","protocol_version":1},"signature":[],"post_sign_timestamp":1770000000600000000}}}`,
      },
      {
        name: 'ShortControlRequestV1',
        summary: 'The same without type and channel, on a v1 socket',
        shape: SHORT_CONTROL_REQUEST,
        example: `{"request_id":"r-1","data":{"CancelOrderRequest":{"cancel":{"order_id":"demo-order-2","asset_id":"1","signer":"${USER}","protocol_version":1},"signature":[],"post_sign_timestamp":1770000000600000000}}}`,
      },
    ],
    sends: [
      {
        name: 'ControlAnswer',
        summary: 'The operation response of one order',
        shape: CONTROL_ANSWER,
        example:
          '{"CancelOrderResponse":{"response":{"order_id":"demo-order-2","status":"Received","reason":null,"processed_at_ns":1770000000001200000},"asset_id":"1"}}',
      },
      {
        name: 'ControlAnswer',
        summary: 'A rejection has its reason in `detail`',
        shape: CONTROL_ANSWER,
        example:
          '{"CancelOrderResponse":{"response":{"order_id":"demo-order-2","status":"Rejected","reason":"AlreadyCancelled","processed_at_ns":1770000000001200000,"detail":{"code":"ALREADY_CANCELLED","field":null,"message":"the order has been cancelled"}},"asset_id":"1"}}',
      },
      {
        name: 'ControlAnswer',
        summary: 'Cancels of all orders, or of a list, are on their way',
        shape: CONTROL_ANSWER,
        example: '{"CancelAllResponse":{"status":"accepted"}}',
      },
      {
        name: 'ControlError',
        summary: 'The reply to a frame without an identifiable order',
        shape: CONTROL_ANSWER,
        example: '{"error":{"code":"INVALID_REQUEST","message":"expected exactly one request","retryable":false}}',
      },
    ],
  },
];
