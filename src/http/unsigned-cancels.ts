/**
 * Cancels authorized by a session without a signature (wire.md 7.8, CAN-05 to CAN-11): all orders, those of one market,
 * or those listed in a body; now, or when a timer expires that the client has not restarted in time.
 *
 * 202 means dispatched; the `/orders` stream publishes the result for each order.
 */

import { cancelAllAfterReply, decodeCancelAllAfter, decodeCancelBatch } from '../codec/unsigned-cancels.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { answer, type RouteKit } from './oms-kit.ts';
import { marketIn } from './path-values.ts';
import type { Query } from './query.ts';
import type { HttpCall } from './uws-http.ts';

const DISPATCHED = '{"status":"accepted"}';
const TIME_LIMIT = 1n << 64n;
const BAD_TIME = reject('INVALID_REQUEST', 'max_ts is an integer from 0 to 2^64-1', 'max_ts');

export function addUnsignedCancels(kit: RouteKit): void {
  const { services } = kit;
  kit.addSession({
    method: 'DELETE',
    pattern: '/orders/cancel-all',
    query: { max_ts: 'once' },
    urgency: 'cancel',
    cost: 'cancelAll',
    isChange: true,
    shape: ({ query }) => beforeOf(query),
    serve: (call, { user }, beforeNs) => told(call, services.entry.cancelAll({ user, assetId: null, beforeNs })),
  });
  kit.addSession({
    method: 'DELETE',
    pattern: '/orders/cancel-all/:asset_id',
    query: { max_ts: 'once' },
    urgency: 'cancel',
    cost: 'cancelAll',
    isChange: true,
    shape: ({ query }) => beforeOf(query),
    serve: (call, { user }, beforeNs) => {
      const market = marketIn(call.head, 0);
      told(call, market.ok ? services.entry.cancelAll({ user, assetId: market.value, beforeNs }) : market.reject);
    },
  });
  kit.addSession({
    method: 'DELETE',
    pattern: '/orders/cancel-batch',
    urgency: 'cancel',
    shape: ({ body }) => decodeCancelBatch(body),
    cost: ({ asked }) => ({ bulkCancel: asked }),
    isChange: true,
    serve: (call, { user }, { orderIds, assetId }) =>
      told(call, services.entry.cancelBatch({ user, orderIds, assetId })),
  });
  kit.addSession({
    method: 'POST',
    pattern: '/orders/cancel-all-after',
    urgency: 'cancel',
    shape: ({ body }) => decodeCancelAllAfter(body),
    cost: 'deadMan',
    isChange: true,
    serve: (call, { user }, timeoutMs) =>
      answer(call, services.automaticCancels.cancelAllAfter(user, timeoutMs), (firesAtNs) =>
        cancelAllAfterReply(timeoutMs, firesAtNs),
      ),
  });
}

/** `max_ts`: cancels strictly older orders; by default all (AMB-18). */
function beforeOf(query: Query): Outcome<TimestampNs | null> {
  const given = query.whole('max_ts');
  if (!given.ok || given.value === null) return given as Outcome<null>;
  if (given.value >= TIME_LIMIT) return rejected(BAD_TIME);
  // Internally 0 means all orders. No order has a timestamp below 1, so before 0 and before 1 select the same orders.
  return accepted((given.value === 0n ? 1n : given.value) as TimestampNs);
}

function told(call: HttpCall, refusal: Reject | null): void {
  if (refusal === null) call.reply(DISPATCHED, 202);
  else call.refuse(refusal);
}
