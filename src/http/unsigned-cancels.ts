/**
 * Cancels authorized by a session without a signature (wire.md 7.8, CAN-05 to CAN-11): all orders, those of one market,
 * or those listed in a body; now, or when a timer expires that the client has not restarted in time.
 *
 * 202 means dispatched; the `/orders` stream publishes the result for each order.
 */

import type { ActionHops } from '../codec/hop-times.ts';
import { unsignedReply } from '../codec/operation-replies.ts';
import { ACCEPTED, CANCEL_ALL_AFTER_RESPONSE } from '../codec/shapes/order-reply-shapes.ts';
import {
  CANCEL_ALL_AFTER_REQUEST,
  CANCEL_BATCH_REQUEST,
  PROTECTION_GROUP_NAME,
  QUOTE_SET_ID,
} from '../codec/shapes/order-shapes.ts';
import { NANOSECONDS, SIDE_WORDS } from '../codec/shapes/shape-kit.ts';
import {
  beforeOf,
  decodeCancelAllAfter,
  decodeCancelBatch,
  scopeIn,
  type UnsignedRequest,
} from '../codec/unsigned-cancels.ts';
import type { Action } from '../core/hops.ts';
import type { AssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { QueryDoc, RouteDoc } from './api/route-doc.ts';
import { LATE_ACTION } from './late-answers.ts';
import { type GatewayRoute, type RequestParts, sessionRoute } from './oms-kit.ts';
import { marketIn } from './path-values.ts';
import { type Query, U64_TIME_MAX } from './query.ts';
import { assetOfUnsigned, carryOut, costOfUnsigned, type UnsignedDone } from './unsigned-actions.ts';

const SESSION = { area: 'Orders', auth: 'session' } as const;
const DISPATCHED = { status: 202, reply: ACCEPTED } as const;

const MAX_TS: QueryDoc = {
  name: 'max_ts',
  shape: NANOSECONDS,
  summary: 'cancels orders strictly older than this; by default all orders up to now',
};

/** Further bounds of a cancel of all orders: those that are in every one which is given (UNS-02). */
const SCOPE: readonly QueryDoc[] = [
  { name: 'side', shape: SIDE_WORDS, summary: 'only orders of this side' },
  { name: 'protection_group', shape: PROTECTION_GROUP_NAME, summary: 'only members of this protection group' },
  { name: 'quote_set_id', shape: QUOTE_SET_ID, summary: 'only entries of this quote set' },
];

interface CancelRoute extends RouteDoc {
  readonly auth: 'session';
  readonly cost: 'cancelAll' | 'bulk' | 'action';
  readonly read: (parts: RequestParts) => Outcome<AskedCancel>;
}

interface AskedCancel {
  readonly request: UnsignedRequest;
  /** An unknown market is an error of a request with a session only; null: there is none. */
  readonly unknownMarket?: Reject | null;
}

interface Timed extends AskedCancel {
  readonly hops: ActionHops;
}

export const CANCEL_ROUTES: readonly GatewayRoute[] = [
  cancelRoute('cancel-all', {
    ...SESSION,
    method: 'DELETE',
    path: '/orders/cancel-all',
    cost: 'cancelAll',
    summary: 'Cancel all your orders',
    description: '202 means dispatched; the `/orders` stream publishes the result for each order.',
    query: [MAX_TS, ...SCOPE],
    ...DISPATCHED,
    example: { reply: '{"status":"accepted"}' },
    read: ({ query }) => marketWideOf(query, accepted(null)),
  }),
  cancelRoute('cancel-all', {
    ...SESSION,
    method: 'DELETE',
    path: '/orders/cancel-all/{asset_id}',
    cost: 'cancelAll',
    summary: 'Cancel all your orders in one market',
    query: [MAX_TS, ...SCOPE],
    ...DISPATCHED,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: '{"status":"accepted"}' },
    read: ({ head, query }) => marketWideOf(query, marketIn(head, 0)),
  }),
  cancelRoute('cancel-batch', {
    ...SESSION,
    method: 'DELETE',
    path: '/orders/cancel-batch',
    cost: 'bulk',
    summary: 'Cancel orders by their ids',
    description: 'Unknown ids and ids of other users are ignored.',
    body: CANCEL_BATCH_REQUEST,
    ...DISPATCHED,
    errors: ['MARKET_NOT_FOUND'],
    example: { body: '{"order_ids":["demo-order-1"],"asset_id":"1"}', reply: '{"status":"accepted"}' },
    read: ({ body }) => {
      const batch = decodeCancelBatch(body);
      return batch.ok ? accepted({ request: { kind: 'cancel-batch', batch: batch.value } }) : batch;
    },
  }),
  cancelRoute('cancel-all-after', {
    ...SESSION,
    method: 'POST',
    path: '/orders/cancel-all-after',
    cost: 'action',
    summary: 'Cancel all your orders unless you restart a timer in time',
    description:
      'A dead-man timer, one per user: every call restarts it, 0 ends it. When it expires, all your orders in all markets are cancelled, once. Kept in memory: a restart of the service ends it. For users with a balance, a position or an open order.',
    body: CANCEL_ALL_AFTER_REQUEST,
    reply: CANCEL_ALL_AFTER_RESPONSE,
    errors: ['INSUFFICIENT_INVENTORY'],
    example: { body: '{"timeout_ms":60000}', reply: '{"timeout_ms":60000,"fires_at_ns":1770000064000000000}' },
    read: ({ body }) => {
      const timeoutMs = decodeCancelAllAfter(body);
      return timeoutMs.ok ? accepted({ request: { kind: 'cancel-all-after', timeoutMs: timeoutMs.value } }) : timeoutMs;
    },
  }),
];

function cancelRoute(action: Action, { read, ...route }: CancelRoute): GatewayRoute {
  return sessionRoute<Timed>({
    ...route,
    urgency: 'cancel',
    late: LATE_ACTION,
    errors: [...(route.errors ?? []), 'TIMEOUT_UNKNOWN_STATE'],
    isChange: true,
    charge: ({ request }) => costOfUnsigned(request),
    read: (parts, { services }) => {
      const hops = services.newHops(false);
      const asked = read(parts);
      if (!asked.ok) return asked;
      hops.parsed(action, assetOfUnsigned(asked.value.request));
      return accepted({ ...asked.value, hops });
    },
    refusing: (refusal, { hops }) => hops.answered(refusal),
    serve: ({ services }, call, { user }, { request, unknownMarket = null, hops }) => {
      const answer = (done: Outcome<UnsignedDone>): void => {
        if (done.ok) call.reply(unsignedReply(done.value), route.status);
        else call.refuse(done.reject);
        hops.answered(done.ok ? null : done.reject);
      };
      if (unknownMarket === null) carryOut(services, user, request, hops, answer);
      else answer(rejected(unknownMarket));
    },
  });
}

/** @param market of the path; all unless given. */
function marketWideOf(query: Query, market: Outcome<AssetId | null>): Outcome<AskedCancel> {
  const maxNs = query.time('max_ts', U64_TIME_MAX);
  if (!maxNs.ok) return maxNs;
  const named = scopeIn((name) => query.one(name));
  if (!named.ok) return named;
  const scope = { ...named.value, assetId: market.ok ? market.value : null, beforeNs: beforeOf(maxNs.value) };
  return accepted({ request: { kind: 'cancel-all', scope }, unknownMarket: market.ok ? null : market.reject });
}
