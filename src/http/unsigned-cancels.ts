/**
 * Cancels authorized by a session without a signature (wire.md 7.8, CAN-05 to CAN-11): all orders, those of one market,
 * or those listed in a body; now, or when a timer expires that the client has not restarted in time.
 *
 * 202 means dispatched; the `/orders` stream publishes the result for each order. A leader of a cluster whose lease is over answers when
 * it is stored, else with 504 (cluster.md 7.4).
 */

import type { ActionHops } from '../codec/hop-times.ts';
import { ACCEPTED, CANCEL_ALL_AFTER_RESPONSE } from '../codec/shapes/order-reply-shapes.ts';
import { CANCEL_ALL_AFTER_REQUEST, CANCEL_BATCH_REQUEST } from '../codec/shapes/order-shapes.ts';
import { NANOSECONDS } from '../codec/shapes/shape-kit.ts';
import { cancelAllAfterReply, decodeCancelAllAfter, decodeCancelBatch } from '../codec/unsigned-cancels.ts';
import type { Action } from '../core/hops.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { QueryDoc, RouteDoc } from './api/route-doc.ts';
import { LATE_ACTION } from './late-answers.ts';
import { type GatewayRoute, type RequestParts, type RouteKit, sessionRoute } from './oms-kit.ts';
import { marketIn } from './path-values.ts';
import { type Query, U64_TIME_MAX } from './query.ts';

const SESSION = { area: 'Orders', auth: 'session' } as const;
const DISPATCHED = { status: 202, reply: ACCEPTED } as const;
const ACCEPTED_REPLY = '{"status":"accepted"}';

const MAX_TS: QueryDoc = {
  name: 'max_ts',
  shape: NANOSECONDS,
  summary: 'cancels orders strictly older than this; by default all orders up to now',
};

interface CancelRoute<Asked> extends RouteDoc {
  readonly auth: 'session';
  readonly cost: 'cancelAll' | 'bulk' | 'action';
  readonly read: (parts: RequestParts) => Outcome<Asked>;
  /** What is charged, where `cost` is not its name. */
  readonly charge?: (asked: Asked) => Cost;
  /** The market that it names; null for none. */
  readonly assetOf?: (asked: Asked) => AssetId | null;
  /** @param answer called once with the reply, at once or later. */
  readonly carryOut: (kit: RouteKit, user: UserId, asked: Asked, hops: ActionHops, answer: CancelAnswer) => void;
}

type CancelAnswer = (reply: Outcome<string>) => void;

interface Timed<Asked> {
  readonly asked: Asked;
  readonly hops: ActionHops;
}

/** Of orders of all markets, or of one. */
interface MarketWide {
  readonly beforeNs: TimestampNs | null;
  /** An unknown market is an error of a request with a session only. */
  readonly market: Outcome<AssetId | null>;
}

const MARKET_WIDE = {
  assetOf: ({ market }: MarketWide): AssetId | null => (market.ok ? market.value : null),
  carryOut: (
    { services }: RouteKit,
    user: UserId,
    { beforeNs, market }: MarketWide,
    hops: ActionHops,
    answer: CancelAnswer,
  ): void => {
    if (!market.ok) answer(market);
    else {
      const request = { user, assetId: market.value, beforeNs };
      dispatch(services, (stored) => services.entry.cancelAll(request, hops, stored), answer);
    }
  },
} as const;

export const CANCEL_ROUTES: readonly GatewayRoute[] = [
  cancelRoute('cancel-all', {
    ...SESSION,
    method: 'DELETE',
    path: '/orders/cancel-all',
    cost: 'cancelAll',
    summary: 'Cancel all your orders',
    description: '202 means dispatched; the `/orders` stream publishes the result for each order.',
    query: [MAX_TS],
    ...DISPATCHED,
    example: { reply: '{"status":"accepted"}' },
    read: ({ query }) => marketWideOf(query, accepted(null)),
    ...MARKET_WIDE,
  }),
  cancelRoute('cancel-all', {
    ...SESSION,
    method: 'DELETE',
    path: '/orders/cancel-all/{asset_id}',
    cost: 'cancelAll',
    summary: 'Cancel all your orders in one market',
    query: [MAX_TS],
    ...DISPATCHED,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: '{"status":"accepted"}' },
    read: ({ head, query }) => marketWideOf(query, marketIn(head, 0)),
    ...MARKET_WIDE,
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
    read: ({ body }) => decodeCancelBatch(body),
    charge: ({ asked }) => ({ bulkCancel: asked }),
    assetOf: ({ assetId }) => assetId,
    carryOut: ({ services }, user, { orderIds, assetId }, hops, answer) =>
      dispatch(services, (stored) => services.entry.cancelBatch({ user, orderIds, assetId }, hops, stored), answer),
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
    charge: () => 'deadMan',
    read: ({ body }) => decodeCancelAllAfter(body),
    carryOut: ({ services }, user, timeoutMs, hops, answer) => {
      // What a takeover finds is whether a timer runs: a stalled leader waits for that alone.
      let replyWhenStored: (() => void) | null = null;
      let isStored = !services.entry.isStalled;
      const firesAtNs = services.automaticCancels.cancelAllAfter(user, timeoutMs, () => {
        isStored = true;
        replyWhenStored?.();
      });
      if (!firesAtNs.ok) {
        answer(firesAtNs);
        return;
      }
      hops.sent(0);
      const reply = accepted(cancelAllAfterReply(timeoutMs, firesAtNs.value));
      if (isStored) answer(reply);
      else replyWhenStored = () => answer(reply);
    },
  }),
];

function cancelRoute<Asked>(
  action: Action,
  { read, charge, assetOf, carryOut, ...route }: CancelRoute<Asked>,
): GatewayRoute {
  return sessionRoute<Timed<Asked>>({
    ...route,
    urgency: 'cancel',
    late: LATE_ACTION,
    errors: [...(route.errors ?? []), 'TIMEOUT_UNKNOWN_STATE'],
    isChange: true,
    ...(charge === undefined ? {} : { charge: ({ asked }) => charge(asked) }),
    read: (parts, { services }) => {
      const hops = services.newHops(false);
      const asked = read(parts);
      if (!asked.ok) return asked;
      hops.parsed(action, assetOf?.(asked.value) ?? null);
      return accepted({ asked: asked.value, hops });
    },
    refusing: (refusal, { hops }) => hops.answered(refusal),
    serve: (kit, call, { user }, { asked, hops }) => {
      carryOut(kit, user, asked, hops, (reply) => {
        if (reply.ok) call.reply(reply.value, route.status);
        else call.refuse(reply.reject);
        hops.answered(reply.ok ? null : reply.reject);
      });
    },
  });
}

function marketWideOf(query: Query, market: MarketWide['market']): Outcome<MarketWide> {
  const beforeNs = beforeOf(query);
  return beforeNs.ok ? accepted({ beforeNs: beforeNs.value, market }) : beforeNs;
}

/** @param send with what is called when all of it is stored, null where nothing has to be; returns why nothing was sent, or null. */
function dispatch(
  { entry }: RouteKit['services'],
  send: (stored: (() => void) | null) => Reject | null,
  answer: CancelAnswer,
): void {
  const done = (): void => answer(accepted(ACCEPTED_REPLY));
  // mutant: stalled-cancel-all
  const { isStalled } = entry;
  const refusal = send(isStalled ? done : null);
  if (refusal !== null) answer(rejected(refusal));
  else if (!isStalled) done();
}

/** `max_ts`: cancels strictly older orders; by default all (AMB-18). */
function beforeOf(query: Query): Outcome<TimestampNs | null> {
  const given = query.time('max_ts', U64_TIME_MAX);
  if (!given.ok || given.value === null) return given;
  // Internally 0 means all orders. No order has a timestamp below 1, so before 0 and before 1 select the same orders.
  return accepted((given.value === 0n ? 1n : given.value) as TimestampNs);
}
