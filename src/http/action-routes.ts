/** Signed actions, one order a request (wire.md 7.4 to 7.6) or several of one kind (wire.md 7.7). */

import { type PreviewKind, previewBody } from '../codec/action-preview.ts';
import type { ActionHops } from '../codec/hop-times.ts';
import { batchReply, operationResponse, quoteSetResponse } from '../codec/operation-replies.ts';
import { decodeAmend, decodeCancel, decodeCreate, decodeQuoteSet, decodeReplace } from '../codec/order-actions.ts';
import { decodeBatchCreate, decodeBatchReplace, type OrderBatch } from '../codec/order-batches.ts';
import { BATCH_RESPONSE, OPERATION_RESPONSE, QUOTE_SET_RESPONSE } from '../codec/shapes/order-reply-shapes.ts';
import {
  AMEND_REQUEST,
  BATCH_CREATE_REQUEST,
  BATCH_REPLACE_REQUEST,
  CANCEL_REQUEST,
  CREATE_REQUEST,
  QUOTE_SET_REQUEST,
  REPLACE_REQUEST,
} from '../codec/shapes/order-shapes.ts';
import { must } from '../core/assert.ts';
import { HOP } from '../core/hops.ts';
import { ACTION_BYTES_MAX, BODY_BYTES_MAX, PREVIEWED_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import type { Reject, RejectName } from '../core/reject.ts';
import type { SignedBatch, SignedEntry } from '../gateway/actions/order-entry.ts';
import { actionOptionsOf } from './action-options.ts';
import type { RouteDoc } from './api/route-doc.ts';
import { LATE_ACTION } from './late-answers.ts';
import { assetOfItem, assetOfRequest, correlationOf, correlationsOf } from './oms-actions.ts';
import { type GatewayRoute, type RouteKit, sessionRoute } from './oms-kit.ts';
import { sessionOf } from './oms-session.ts';
import { WAITED_TOO_LONG } from './order-admission.ts';
import type { HttpCall } from './uws-http.ts';

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
const QUOTES_EXAMPLE =
  '{"quotes":{"signer":"{user_id}","set_id":"demo-quotes","base_asset":"1","book_price_decimals":1,' +
  '"book_quantity_decimals":5,"revision":1770000000500000002,"bids":[[590000,2000],[589000,4000]],' +
  '"asks":[[611000,2000]],"target":{"account":1,"is_spot":true},"max_trading_fees_rate":50000,' +
  '"protection_group":null,"good_until_timestamp_ns":null,"protocol_version":1},' +
  '"signature":[],"post_sign_timestamp":1770000000500400000}';
const QUOTES_REPLY =
  '{"set_id":"demo-quotes","revision":1770000000500000002,"status":"Received","reason":null,"created":3,"changed":0,' +
  '"kept":0,"cancelled":0,"refused":[],"superseded":false,"processed_at_ns":1770000000501200000}';
const RECEIVED = '{"order_id":"demo-order-1","status":"Received","reason":null,"processed_at_ns":1770000000001200000}';

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
  'MMP_FROZEN',
];
const REPLACE_ERRORS: readonly RejectName[] = [
  ...ACTION_ERRORS,
  ...RISK_ERRORS,
  'ORDER_NOT_FOUND',
  'ALREADY_CANCELLED',
  'QUOTE_ENTRY',
];
const QUOTE_ERRORS: readonly RejectName[] = [
  ...ACTION_ERRORS,
  ...RISK_ERRORS,
  'ORDER_EXPIRED',
  'TOO_MANY_OPEN_ORDERS',
  'TOO_MANY_QUOTES',
  'MMP_FROZEN',
];
const ACTION = { area: 'Orders', cost: 'action' } as const;
const SIGNED = { ...ACTION, auth: 'signed' } as const;

export const ACTION_ROUTES: readonly GatewayRoute[] = [
  actionRoute('create', {
    ...SIGNED,
    method: 'POST',
    path: '/orders/create',
    summary: 'Create an order',
    description:
      'The signed bytes are the `order` object as compact JSON: members in the order shown, unset ones null, no white space. ' +
      '`Received` means that the market has processed it: the order rests, or its fills are published as `Pending`. After a 504 read the order by its id before you send it again, or send both with `X-Ringbook-Resend: true`: the second gets the reply of the first. `X-Ringbook-Timing: true` adds `timing`, on replace and cancel too.',
    body: CREATE_REQUEST,
    signs: 'order',
    errors: CREATE_ERRORS,
    example: { body: ORDER_EXAMPLE, reply: RECEIVED },
    decode: (body) => actionOf('create', decodeCreate(body, 0, body.length)),
  }),
  actionRoute('amend', {
    ...ACTION,
    auth: 'session',
    method: 'PATCH',
    path: '/orders/amend',
    summary: 'Lower the total of an order',
    description:
      'Not signed, so it can only reduce: no margin is checked, and it works whatever the status of the market is. The order keeps its place in the queue. ' +
      'It applies only to an order with the revision that it expects: the `timestamp_ns` of the last replace or amend, null after the create. ' +
      'A total that is not above what is filled ends the order.',
    body: AMEND_REQUEST,
    errors: [
      'SIGNER_MISMATCH',
      'INVALID_ORDER',
      'REQUEST_TOO_OLD',
      'MARKET_NOT_FOUND',
      'TIMEOUT_UNKNOWN_STATE',
      'ORDER_NOT_FOUND',
      'ALREADY_CANCELLED',
      'ORDER_REVISION_MISMATCH',
      'QUOTE_ENTRY',
    ],
    example: { body: AMEND_EXAMPLE, reply: RECEIVED },
    decode: (body) => actionOf('amend', decodeAmend(body, 0, body.length)),
  }),
  actionRoute('replace', {
    ...SIGNED,
    method: 'PATCH',
    path: '/orders/replace',
    summary: 'Change price or total quantity of an order',
    description:
      'Null leaves a member unchanged. The order keeps its id, and its place in the queue if the price is unchanged and the remainder does not grow. In the signed `request` quantity decimals precede price decimals. ' +
      'With `base_asset` as its second member the terms are complete: price and quantity are given, no trigger means that the order has none, ' +
      'and the wrapper has no `asset_id`.',
    body: REPLACE_REQUEST,
    signs: 'request',
    errors: REPLACE_ERRORS,
    example: { body: REPLACE_EXAMPLE, reply: RECEIVED },
    decode: (body) => actionOf('replace', decodeReplace(body, 0, body.length)),
  }),
  actionRoute('cancel', {
    ...SIGNED,
    method: 'DELETE',
    path: '/orders/cancel',
    cost: 'cancel',
    summary: 'Cancel an order',
    description: 'The body is part of the contract although the method is DELETE.',
    body: CANCEL_REQUEST,
    signs: 'cancel',
    errors: [...ACTION_ERRORS, 'ORDER_NOT_FOUND', 'ALREADY_CANCELLED'],
    example: { body: CANCEL_EXAMPLE, reply: RECEIVED },
    decode: (body) => actionOf('cancel', decodeCancel(body, 0, body.length)),
  }),
  actionRoute('quotes', {
    ...SIGNED,
    method: 'PUT',
    path: '/orders/quotes',
    cost: 'quotes',
    summary: 'Set all quotes of a set in a market',
    description:
      'One signature for up to 50 bids and 50 asks: what rests of the set becomes what is sent, in one step of the market. Entries are post-only limit orders with the ids `<set_id>:<n>`; a price that stays keeps its order, and its place while the quantity does not grow. ' +
      'What takes away applies in any case; what adds is applied whole or not at all: then `status` is `Rejected`, with the counts of what was taken away.',
    body: QUOTE_SET_REQUEST,
    signs: 'quotes',
    reply: QUOTE_SET_RESPONSE,
    errors: QUOTE_ERRORS,
    example: { body: QUOTES_EXAMPLE, reply: QUOTES_REPLY },
    decode: (body) => actionOf('quotes', decodeQuoteSet(body, 0, body.length)),
  }),
  batchRoute('batch-create', {
    ...SIGNED,
    method: 'POST',
    path: '/orders/batch-create',
    summary: 'Create up to 50 orders',
    description:
      'Every item is signed as a single create. An invalid shape anywhere rejects the whole batch; an order rejected for its own reason fails alone, with the reason in PascalCase. 200 even if every order fails.',
    body: BATCH_CREATE_REQUEST,
    signs: 'order',
    rejections: CREATE_ERRORS,
    example: {
      body: `{"orders":[${ORDER_EXAMPLE.replace('demo-order-1', 'demo-order-3')},${ORDER_EXAMPLE.replace('demo-order-1', 'demo-order-4')}]}`,
      reply:
        '{"results":[{"order_id":"demo-order-3","status":"Received","reason":null},{"order_id":"demo-order-4","status":"Rejected","reason":"InsufficientInventory"}]}',
    },
    decode: (body) => batchOf('batch-create', decodeBatchCreate(body, 0, body.length)),
  }),
  batchRoute('batch-replace', {
    ...SIGNED,
    method: 'PATCH',
    path: '/orders/batch-replace',
    summary: 'Change up to 50 orders',
    description: 'As batch-create. A repeated order id rejects the whole batch.',
    body: BATCH_REPLACE_REQUEST,
    signs: 'request',
    rejections: REPLACE_ERRORS,
    example: {
      body: `{"requests":[${REPLACE_EXAMPLE.replace('demo-order-1', 'demo-order-3')}]}`,
      reply: '{"results":[{"order_id":"demo-order-3","status":"Received","reason":null}]}',
    },
    decode: (body) => batchOf('batch-replace', decodeBatchReplace(body, 0, body.length)),
  }),
];

function actionOf<Kind extends SignedEntry['kind'], Request>(
  kind: Kind,
  decoded: Outcome<Request>,
): Outcome<{ readonly kind: Kind; readonly request: Request }> {
  return decoded.ok ? accepted({ kind, request: decoded.value }) : decoded;
}

/** A batch, or the reason why it is rejected as a whole. */
function batchOf<Kind extends SignedBatch['kind'], Request>(
  kind: Kind,
  decoded: Outcome<OrderBatch<Request>>,
): Outcome<{
  readonly batch: { readonly kind: Kind; readonly requests: readonly Request[] };
  readonly fault: Reject | null;
}> {
  if (!decoded.ok) return decoded;
  const { items: requests, fault } = decoded.value;
  return accepted({ batch: { kind, requests }, fault });
}

type ActionDoc = Omit<RouteDoc, 'bodyBytesMax' | 'reply'>;

interface Action extends ActionDoc {
  readonly auth: 'session' | 'signed';
  readonly cost: 'action' | 'cancel' | 'quotes';
  readonly reply?: NonNullable<RouteDoc['reply']>;
  readonly decode: (body: Uint8Array) => Outcome<SignedEntry>;
}

interface BatchAction extends Omit<ActionDoc, 'cost' | 'errors'> {
  readonly auth: 'signed';
  readonly decode: (body: Uint8Array) => Outcome<AskedBatch>;
}

function actionRoute(kind: SignedEntry['kind'], { decode, ...route }: Action): GatewayRoute {
  return sessionRoute({
    ...route,
    ...urgencyOf(kind),
    late: LATE_ACTION,
    bodyBytesMax: ACTION_BYTES_MAX,
    reply: route.reply ?? OPERATION_RESPONSE,
    isChange: true,
    read: ({ head, body }, { services }): Outcome<AskedAction> => {
      const options = actionOptionsOf(head);
      if (!options.ok) return options;
      const hops = services.newHops(options.value.isTimed);
      const action = decode(body);
      if (!action.ok) return action;
      hops.parsed(kind, assetOfRequest(action.value).id);
      return accepted({ action: action.value, mayRetry: options.value.mayRetry, hops });
    },
    refusing: (refusal, { hops }) => hops.answered(refusal),
    about: (refusal, { action }) => aboutOrder(refusal, correlationOf(action).orderId),
    serve: ({ services: { entry } }, call, { user, byCoSigners }, { action, mayRetry, hops }) => {
      const { orderId, revisionNs = null } = correlationOf(action);
      const plain = { user, byCoSigners, connection: entry.newConnection(), isControl: false, mayRetry, hops };
      const origin = action.kind === 'quotes' ? { ...plain, sinceMs: call.arrivedMs } : plain;
      entry.submit(action, origin, ({ refusal, processedAtNs: processedNs, quotes }) => {
        hops.answered(refusal);
        // A set of which something was applied is no error, as a batch is none.
        if (quotes !== undefined) {
          if (refusal !== null) call.countRefusal(refusal);
          call.reply(quoteSetResponse({ orderId, revisionNs, reject: refusal, processedNs, hops, quotes }));
        } else if (refusal !== null) call.refuse(aboutOrder(refusal, orderId));
        else call.reply(operationResponse({ orderId, reject: null, processedNs, hops }));
      });
    },
  });
}

/** An action with its sender's options. */
interface AskedAction {
  readonly action: SignedEntry;
  readonly mayRetry: boolean;
  readonly hops: ActionHops;
}

/** A batch, and the reason why it is rejected as a whole, or null. */
interface AskedBatch {
  readonly batch: SignedBatch;
  readonly fault: Reject | null;
}

interface TimedBatch extends AskedBatch {
  readonly hops: ActionHops;
}

/** Replies when all orders of the batch are decided, with 200 for any outcome (AMB-26). */
function batchRoute(kind: SignedBatch['kind'], { decode, ...route }: BatchAction): GatewayRoute {
  return sessionRoute({
    ...route,
    ...urgencyOf(kind),
    late: LATE_ACTION,
    bodyBytesMax: BODY_BYTES_MAX,
    reply: BATCH_RESPONSE,
    errors: ['TIMEOUT_UNKNOWN_STATE'],
    cost: 'bulk',
    read: ({ head, body }, { services }): Outcome<TimedBatch> => {
      const options = actionOptionsOf(head);
      if (!options.ok) return options;
      const hops = services.newHops(options.value.isTimed);
      const asked = decode(body);
      if (!asked.ok) return asked;
      hops.parsedBatch(kind, asked.value.batch.requests.length);
      return accepted({ ...asked.value, hops });
    },
    // A rejected batch costs as much as an accepted one; of one that is too long at most fifty items count (AMB-104).
    charge: ({ batch }) => ({ bulk: batch.requests.length }),
    refusing: (refusal, { hops }) => hops.answered(refusal),
    fault: ({ fault }) => fault,
    serve: ({ services: { entry } }, call, { user }, { batch, hops }) => {
      const origin = { user, connection: entry.newConnection(), isControl: false, hops };
      const results = correlationsOf(batch).map(({ orderId }, index): BatchItem => {
        return { orderId, reject: null, hops: hops.isTimed ? hops.ofItem(index) : null };
      });
      let left = results.length;
      entry.submitBatch(batch, origin, (index, { refusal }) => {
        must(results[index], 'an answer to an order of the batch').reject = refusal;
        hops.itemPassed(index, HOP.answered);
        if (refusal !== null) call.countRefusal(refusal);
        left -= 1;
        if (left === 0) call.reply(batchReply(results));
        hops.itemAnswered(refusal, assetOfItem(batch, index));
      });
    },
  });
}

interface BatchItem {
  readonly orderId: string;
  reject: Reject | null;
  readonly hops: ActionHops | null;
}

interface Urgency {
  readonly urgency: 'cancel' | 'order';
  readonly shed?: (kit: RouteKit, call: HttpCall, body: Uint8Array) => boolean;
  readonly overtakes?: (kit: RouteKit, call: HttpCall, body: Uint8Array) => boolean;
}

/** When an action is read, and how an order is refused that waited too long: as a whole, charged like an accepted one. */
function urgencyOf(kind: PreviewKind): Urgency {
  if (kind === 'cancel') return { urgency: 'cancel' };
  const shed = ({ services, orders }: RouteKit, call: HttpCall, body: Uint8Array): boolean => {
    const named = previewBody(kind, body);
    const session = sessionOf(services, call.head);
    // Malformed, or without a session that may: refused as ever.
    if (named === null || !session.ok || session.value.isReadOnly) return false;
    const isBatch = kind === 'batch-create' || kind === 'batch-replace';
    const price = kind === 'quotes' ? 'quotes' : 'action';
    const notPaid = services.entry.admit(session.value.user, isBatch ? { bulk: named.length } : price);
    if (notPaid === null) orders.refused(named.length);
    const refusal = notPaid ?? WAITED_TOO_LONG;
    call.refuse(isBatch ? refusal : aboutOrder(refusal, must(named[0], 'an action names an order').orderId));
    return true;
  };
  return kind === 'quotes' ? { urgency: 'order', shed, overtakes } : { urgency: 'order', shed };
}

/** A quote set that only takes away. */
function overtakes({ services }: RouteKit, { head }: HttpCall, body: Uint8Array): boolean {
  if (body.length > PREVIEWED_BYTES_MAX) return false;
  const session = sessionOf(services, head);
  if (!session.ok || session.value.isReadOnly) return false;
  const set = decodeQuoteSet(body, 0, body.length);
  return set.ok && services.entry.onlyTakes(set.value, session.value.user);
}

/** The error of a single action contains its order's id (wire.md 7.4, AMB-16). */
function aboutOrder(refusal: Reject, orderId: string): Reject {
  return { ...refusal, details: { ...refusal.details, order_id: orderId } };
}
