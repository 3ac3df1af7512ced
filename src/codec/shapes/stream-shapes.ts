/** Frames of the private streams and of `/control`, and the error envelope (wire.md 5, 9, 10). */
import { CANCEL_WORDS, REMOVAL_WORDS, ROLLBACK_WORDS } from '../../core/order-terms.ts';
import { REJECT_CODE, type RejectName } from '../../core/reject.ts';
import { ACTION_TIMING, OPERATION_RESPONSE, QUOTE_SET_RESPONSE } from './order-reply-shapes.ts';
import {
  AMEND_REQUEST,
  BATCH_CREATE_REQUEST,
  BATCH_REPLACE_REQUEST,
  CANCEL_ALL_AFTER_REQUEST,
  CANCEL_ALL_REQUEST,
  CANCEL_BATCH_REQUEST,
  CANCEL_REQUEST,
  CREATE_REQUEST,
  ORDER,
  QUOTE_SET_REQUEST,
  REPLACE_REQUEST,
} from './order-shapes.ts';
import {
  ASSET_ID,
  ASSET_ID_GIVEN,
  before,
  byteList,
  COUNT,
  choice,
  closed,
  DECIMALS,
  described,
  either,
  FLAG,
  inside,
  listOf,
  NANOSECONDS,
  NULL,
  named,
  nullable,
  ORDER_ID,
  optional,
  readAs,
  type Shape,
  SUB_ACCOUNT,
  TEXT,
  U64,
  USER_ID,
  USER_ID_GIVEN,
  unread,
  words,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

// ---- errors

/** Codes of the public listeners in an envelope; 400 to 499 occur in 200 bodies, 500 and above in the operator API. */
const PUBLIC_CODES: readonly RejectName[] = (Object.keys(REJECT_CODE) as RejectName[]).filter(
  (name) => REJECT_CODE[name] < 400,
);

const DETAILS = Type.Object(
  {
    field: optional(described(TEXT, 'the member at fault')),
    order_id: optional(described(TEXT, 'the order it is about')),
  },
  { additionalProperties: true, description: 'details for programs; some codes have further members' },
);

function errorObject(code: Shape): Shape {
  return Type.Object({
    code,
    message: described(TEXT, 'for people; not part of the contract'),
    retryable: described(FLAG, 'the same request may succeed later'),
    details: optional(DETAILS),
  });
}

export const ERROR: Shape = named(
  'Error',
  'Every refusal. `trace_id` and `span_id` are those of your `traceparent` header, if you sent one',
  Type.Object({
    error: Type.Object({
      code: words(...PUBLIC_CODES),
      message: described(TEXT, 'for people; not part of the contract'),
      retryable: described(FLAG, 'the same request may succeed later'),
      details: optional(DETAILS),
      trace_id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
      span_id: Type.String({ pattern: '^[0-9a-f]{16}$' }),
    }),
  }),
);

// ---- one-way streams

const NAME = { order_id: ORDER_ID, asset_id: ASSET_ID, user_id: unread(USER_ID) };
const SET_NAME = { set_id: ORDER_ID, asset_id: ASSET_ID, user_id: unread(USER_ID) };
const FAILED = Type.Object({
  order_id: ORDER_ID,
  user_id: unread(USER_ID),
  reason: optional(nullable(described(TEXT, 'an error code in PascalCase'))),
});
const CANCEL_REASON = described(
  TEXT,
  `one of ${CANCEL_WORDS.join(', ')}; of an order that was at fault in a rollback the word of the rollback: ${ROLLBACK_WORDS.join(', ')}`,
);
const REMOVAL_REASON = described(TEXT, `one of ${REMOVAL_WORDS.join(', ')}`);

export const QUOTE_SET_EVENT: Shape = named(
  'QuoteSetEvent',
  'What became of a quote set as a whole; on `/orders` to readers with `quotes=sets`',
  choice({
    QuoteSetApplied: Type.Object({
      ...SET_NAME,
      revision: inside('revisionNs', NANOSECONDS),
      created: COUNT,
      changed: COUNT,
      cancelled: COUNT,
      timestamp_ns: NANOSECONDS,
    }),
    QuoteSetEnded: Type.Object({ ...SET_NAME, reason: CANCEL_REASON, timestamp_ns: NANOSECONDS }),
  }),
);

export const ORDER_EVENT: Shape = named(
  'OrderEvent',
  'One event, one tag. Every order ends with exactly one of `Canceled` and `Removed`. Quantities and prices are raw integers',
  choice({
    Created: Type.Object({
      user_order: unread(described(ORDER, 'as it was signed')),
      signature: unread(either(byteList(64), listOf(COUNT, { maxItems: 0 }))),
      book_timestamp_ns: inside('timestampNs', NANOSECONDS),
      limit_overrides: unread(NULL),
      limit_overrides_signature: unread(NULL),
    }),
    Replaced: Type.Object({ ...NAME, new_quantity: COUNT, new_price: COUNT }),
    Amended: Type.Object({
      ...NAME,
      new_quantity: COUNT,
      remaining_quantity: described(COUNT, 'the total less what is filled, pending fills included'),
      authorization_revision: inside(
        'revisionNs',
        described(NANOSECONDS, '`timestamp_ns` of the amend; what the next one is to expect'),
      ),
      book_quantity_decimals: unread(DECIMALS),
      timestamp_ns: NANOSECONDS,
      operator_pubkey: unread(NULL),
    }),
    Triggered: Type.Object({
      ...NAME,
      timestamp_ns: NANOSECONDS,
      trigger_price: COUNT,
      quantity: before(null, described(COUNT, 'what this release activates')),
      trigger_touched: unread(Type.Literal(true)),
    }),
    ProtectionTriggered: Type.Object({
      group: described(TEXT, 'the protection group whose orders were taken off the book; each gets its `Canceled`'),
      asset_id: ASSET_ID,
      user_id: unread(USER_ID),
      limit: words('max_fills', 'max_quantity', 'max_notional'),
      frozen_until_ns: nullable(described(NANOSECONDS, 'null: until the group is reset')),
      timestamp_ns: NANOSECONDS,
    }),
    Canceled: Type.Object({ ...NAME, timestamp_ns: NANOSECONDS, reason: optional(nullable(CANCEL_REASON)) }),
    Removed: Type.Object({
      ...NAME,
      timestamp_ns: NANOSECONDS,
      operator_pubkey: unread(nullable(TEXT)),
      reason: REMOVAL_REASON,
      filled_quantity: before(0, COUNT),
      confirmed_quantity: before(0, COUNT),
      filled_amount: unread(described(COUNT, 'USD as an integer of scale 10^-book_quantity_decimals, floored')),
      confirmed_amount: unread(COUNT),
      book_quantity_decimals: unread(DECIMALS),
    }),
    CreateFailed: FAILED,
    ReplaceFailed: FAILED,
    CancelFailed: FAILED,
    AmendFailed: FAILED,
  }),
);

/** Of 18-decimal units. */
const AMOUNT_HEX = inside(
  'amount18',
  readAs(
    'hex amount',
    Type.String({ pattern: '^0x(?:0|[1-9a-f][0-9a-f]*)$', description: '18-decimal units, 0x hex' }),
  ),
);
const CHAIN = Type.String({ pattern: '^[0-9a-f]{18}$' });

export const ACCOUNT_EVENT: Shape = named(
  'AccountEvent',
  'An event of an account, published once it is durable',
  choice({
    DepositLanded: Type.Object({
      user: unread(USER_ID),
      asset: ASSET_ID,
      amount: AMOUNT_HEX,
      chain_id: CHAIN,
      deposit_nonce: inside('nonce', readAs('u64', COUNT)),
      timestamp_ns: NANOSECONDS,
    }),
    WithdrawalCompleted: Type.Object({
      user: unread(USER_ID),
      asset: ASSET_ID,
      amount: AMOUNT_HEX,
      chain_id: CHAIN,
      withdrawal_nonce: inside('nonce', readAs('u64', COUNT)),
      timestamp_ns: NANOSECONDS,
    }),
    PositionCleared: Type.Object({
      user: unread(USER_ID),
      asset: ASSET_ID,
      sub_account_index: inside('subAccount', SUB_ACCOUNT),
      timestamp_ns: NANOSECONDS,
    }),
    SubAccountAssetTransferred: Type.Object({
      user: unread(USER_ID),
      asset: ASSET_ID,
      amount: AMOUNT_HEX,
      source_sub_account_index: inside('sourceIndex', SUB_ACCOUNT),
      target_sub_account_index: inside('targetIndex', SUB_ACCOUNT),
      timestamp_ns: NANOSECONDS,
    }),
  }),
);

const STREAM_ERROR = errorObject(TEXT);

/** The v1 envelope around a payload (wire.md 9.2). */
export function envelopeOf(title: string, payload: Shape): Shape {
  return named(
    title,
    'The v1 envelope (subprotocol `svc.ws.v1`, or another `*.ws.v1` offered first); `data` is exactly the v0 payload',
    Type.Object({
      type: words('event', 'response', 'error', 'pong', 'sequence', 'server_shutdown'),
      channel: TEXT,
      request_id: nullable(TEXT),
      timestamp_ns: NANOSECONDS,
      data: nullable(payload),
      error: nullable(STREAM_ERROR),
      sequence: optional(described(U64, 'to readers who asked for it')),
    }),
  );
}

/** The v0 frame before the close of a socket on another user's path, or with an expired session. */
export const STREAM_REFUSAL: Shape = named(
  'StreamRefusal',
  'v0 only: the path names another user, or the session is over; then close 1000',
  Type.Object({ type: words('error'), channel: TEXT, error: STREAM_ERROR }),
);
export const PONG: Shape = named(
  'Pong',
  'The answer to the text frame {"type":"ping"}',
  Type.Object({ type: words('pong') }),
);

// ---- the private socket

const PRIVATE_NAME = words('orders', 'trades', 'positions', 'account_stats', 'account_events', 'at_risk');
const FRAME_ID = Type.String({ minLength: 1, maxLength: 64 });
export const PRIVATE_REQUEST: Shape = named(
  'PrivateRequest',
  'One frame of a client',
  either(
    closed({ type: words('auth'), id: optional(FRAME_ID), user_id: USER_ID_GIVEN, token: TEXT }),
    closed({
      type: words('subscribe', 'unsubscribe'),
      id: optional(FRAME_ID),
      channels: listOf(closed({ name: PRIVATE_NAME, resume: optional(closed({ sequence: COUNT })) }), {
        minItems: 1,
        maxItems: 6,
      }),
    }),
    closed({ type: words('ping'), id: optional(FRAME_ID) }),
  ),
);
export const PRIVATE_FRAME: Shape = named(
  'PrivateFrame',
  'A `snapshot` has the reply of the REST read of its channel, an `update` the payload of its stream',
  Type.Object({
    type: words('snapshot', 'update'),
    channel: PRIVATE_NAME,
    sequence: COUNT,
    timestamp_ns: NANOSECONDS,
    data: described(Type.Unknown(), 'as on the stream of the same name, or null'),
  }),
);
export const PRIVATE_SUBSCRIPTIONS: Shape = named(
  'PrivateSubscriptions',
  'The channels that are subscribed now',
  Type.Object({
    type: words('subscriptions'),
    channels: listOf(Type.Object({ name: PRIVATE_NAME })),
    errors: listOf(Type.Object({ name: PRIVATE_NAME, code: TEXT, message: TEXT })),
    id: optional(nullable(TEXT)),
  }),
);
export const PRIVATE_ERROR: Shape = named(
  'PrivateError',
  'A request that was not taken, or why the socket ends',
  Type.Object({ type: words('error'), id: nullable(TEXT), error: STREAM_ERROR }),
);

// ---- control

export const CONTROL_REQUEST: Shape = named(
  'ControlRequest',
  'One tag, the body of the REST route of the same name',
  choice({
    CreateOrderRequest: CREATE_REQUEST,
    CancelOrderRequest: CANCEL_REQUEST,
    ReplaceOrderRequest: REPLACE_REQUEST,
    BatchCreateRequest: BATCH_CREATE_REQUEST,
    BatchReplaceRequest: BATCH_REPLACE_REQUEST,
    AmendOrderRequest: AMEND_REQUEST,
    QuoteSetRequest: QUOTE_SET_REQUEST,
    CancelAllRequest: CANCEL_ALL_REQUEST,
    CancelBatchRequest: CANCEL_BATCH_REQUEST,
    CancelAllAfterRequest: CANCEL_ALL_AFTER_REQUEST,
  }),
);
export const CONTROL_REQUEST_V1: Shape = named(
  'ControlRequestV1',
  'The same in an envelope; every answer carries the `request_id`',
  Type.Object({
    type: words('request'),
    channel: optional(words('control')),
    request_id: optional(nullable(Type.String({ maxLength: 256 }))),
    data: CONTROL_REQUEST,
  }),
);
export const SHORT_CONTROL_REQUEST: Shape = named(
  'ShortControlRequestV1',
  'The same without `type` and `channel`: refused before the rules of order, account and market it gets an error with the path of the member as `details.field`, a batch as a whole',
  closed({ request_id: Type.String({ minLength: 1, maxLength: 64 }), data: CONTROL_REQUEST }),
);
const ANSWER = Type.Object({
  response: OPERATION_RESPONSE,
  asset_id: described(ASSET_ID_GIVEN, 'as the request spelt it'),
});
const CANCELS_ACCEPTED = Type.Object({
  status: words('accepted'),
  timing: optional(described(ACTION_TIMING, 'only for who asked for it')),
});
export const CONTROL_ANSWER: Shape = named(
  'ControlAnswer',
  'One answer an order, found by tag, `asset_id` and `order_id`; a batch is first acknowledged as a whole; to an unsigned request the reply of its REST route',
  either(
    choice({
      CreateOrderResponse: ANSWER,
      CancelOrderResponse: ANSWER,
      ReplaceOrderResponse: ANSWER,
      AmendOrderResponse: ANSWER,
      QuoteSetResponse: Type.Object({
        response: QUOTE_SET_RESPONSE,
        asset_id: described(ASSET_ID_GIVEN, 'as the request spelt it'),
      }),
      CancelAllResponse: CANCELS_ACCEPTED,
      CancelBatchResponse: CANCELS_ACCEPTED,
      CancelAllAfterResponse: Type.Object({
        timeout_ms: COUNT,
        fires_at_ns: nullable(NANOSECONDS),
        timing: optional(described(ACTION_TIMING, 'only for who asked for it')),
      }),
    }),
    Type.Object({ request: Type.Object({ status: words('submitted') }) }),
    Type.Object({ error: STREAM_ERROR }),
  ),
);
