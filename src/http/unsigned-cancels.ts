/**
 * Cancels authorized by a session without a signature (wire.md 7.8, CAN-05 to CAN-11): all orders, those of one market,
 * or those listed in a body; now, or when a timer expires that the client has not restarted in time.
 *
 * 202 means dispatched; the `/orders` stream publishes the result for each order.
 */

import type { ActionHops } from '../codec/hop-times.ts';
import { cancelAllAfterReply, decodeCancelAllAfter, decodeCancelBatch } from '../codec/unsigned-cancels.ts';
import type { Action } from '../core/hops.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { RequestParts, RouteKit } from './oms-kit.ts';
import { marketIn } from './path-values.ts';
import { type Query, U64_TIME_MAX } from './query.ts';
import type { HttpRoute } from './uws-http.ts';

const DISPATCHED = '{"status":"accepted"}';

interface CancelRoute<Asked> extends Pick<HttpRoute, 'method' | 'pattern' | 'query'> {
  /** 202 by default. */
  readonly status?: number;
  readonly cost: (asked: Asked) => Cost;
  readonly shape: (parts: RequestParts) => Outcome<Asked>;
  /** The market that it names; null for none. */
  readonly assetOf?: (asked: Asked) => AssetId | null;
  /** @returns the reply. */
  readonly carryOut: (user: UserId, asked: Asked, hops: ActionHops) => Outcome<string>;
}

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

export function addUnsignedCancels(kit: RouteKit): void {
  const { entry, automaticCancels } = kit.services;
  for (const isOneMarket of [false, true]) {
    addCancel<MarketWide>(kit, 'cancel-all', {
      method: 'DELETE',
      pattern: `/orders/cancel-all${isOneMarket ? '/:asset_id' : ''}`,
      query: { max_ts: 'once' },
      cost: () => 'cancelAll',
      shape: ({ head, query }) => {
        const beforeNs = beforeOf(query);
        if (!beforeNs.ok) return beforeNs;
        return accepted({ beforeNs: beforeNs.value, market: isOneMarket ? marketIn(head, 0) : accepted(null) });
      },
      assetOf: ({ market }) => (market.ok ? market.value : null),
      carryOut: (user, { beforeNs, market }, hops) =>
        market.ok ? dispatched(entry.cancelAll({ user, assetId: market.value, beforeNs }, hops)) : market,
    });
  }
  addCancel(kit, 'cancel-batch', {
    method: 'DELETE',
    pattern: '/orders/cancel-batch',
    shape: ({ body }) => decodeCancelBatch(body),
    cost: ({ asked }) => ({ bulkCancel: asked }),
    assetOf: ({ assetId }) => assetId,
    carryOut: (user, { orderIds, assetId }, hops) => dispatched(entry.cancelBatch({ user, orderIds, assetId }, hops)),
  });
  addCancel(kit, 'cancel-all-after', {
    method: 'POST',
    pattern: '/orders/cancel-all-after',
    status: 200,
    shape: ({ body }) => decodeCancelAllAfter(body),
    cost: () => 'deadMan',
    carryOut: (user, timeoutMs, hops) => {
      const firesAtNs = automaticCancels.cancelAllAfter(user, timeoutMs);
      if (firesAtNs.ok) hops.sent(0);
      return firesAtNs.ok ? accepted(cancelAllAfterReply(timeoutMs, firesAtNs.value)) : firesAtNs;
    },
  });
}

function addCancel<Asked>(
  kit: RouteKit,
  action: Action,
  { status = 202, cost, shape, assetOf, carryOut, ...route }: CancelRoute<Asked>,
): void {
  kit.addSession<Timed<Asked>>({
    ...route,
    urgency: 'cancel',
    isChange: true,
    cost: ({ asked }) => cost(asked),
    shape: (parts) => {
      const hops = kit.services.newHops(false);
      const asked = shape(parts);
      if (!asked.ok) return asked;
      hops.parsed(action, assetOf?.(asked.value) ?? null);
      return accepted({ asked: asked.value, hops });
    },
    refusing: (refusal, { hops }) => hops.answered(refusal),
    serve: (call, { user }, { asked, hops }) => {
      const reply = carryOut(user, asked, hops);
      if (reply.ok) call.reply(reply.value, status);
      else call.refuse(reply.reject);
      hops.answered(reply.ok ? null : reply.reject);
    },
  });
}

function dispatched(refusal: Reject | null): Outcome<string> {
  return refusal === null ? accepted(DISPATCHED) : rejected(refusal);
}

/** `max_ts`: cancels strictly older orders; by default all (AMB-18). */
function beforeOf(query: Query): Outcome<TimestampNs | null> {
  const given = query.time('max_ts', U64_TIME_MAX);
  if (!given.ok || given.value === null) return given;
  // Internally 0 means all orders. No order has a timestamp below 1, so before 0 and before 1 select the same orders.
  return accepted((given.value === 0n ? 1n : given.value) as TimestampNs);
}
