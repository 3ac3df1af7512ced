/**
 * Cancels that a session alone authorizes (wire.md 7.8, CAN-05 to CAN-11): all orders, those of one market, or those
 * named in a body.
 *
 * 202 means dispatched; what becomes of each order is told by the `/orders` stream. Order of checks as everywhere: shape,
 * session, then what the node says (AMB-91).
 */
import { type AssetId, parseAssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { decodeCancelBatch } from '../wire/cancel-batch.ts';
import { type ActionDoor, STOPPING } from './oms-actions.ts';
import type { OmsBackend } from './oms-backend.ts';
import { type Session, sessionOf } from './oms-session.ts';
import { Query } from './query.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall, HttpRoutes } from './uws-http.ts';

const DISPATCHED = '{"status":"accepted"}';
const TIME_LIMIT = 1n << 64n;
const BAD_TIME = reject('INVALID_REQUEST', 'max_ts is an integer from 0 to 2^64-1', 'max_ts');
const NO_MARKET = reject('MARKET_NOT_FOUND', 'there is no such market');

export interface UnsignedCancelParts {
  readonly routes: HttpRoutes;
  readonly backend: OmsBackend;
  readonly door: ActionDoor;
}

export function addUnsignedCancels(parts: UnsignedCancelParts): void {
  const { routes, backend } = parts;
  routes.add({
    method: 'DELETE',
    pattern: '/orders/cancel-all',
    handler: (call) => cancelAll(parts, call, () => accepted(null)),
  });
  routes.add({
    method: 'DELETE',
    pattern: '/orders/cancel-all/:asset_id',
    handler: (call) => cancelAll(parts, call, marketOf),
  });
  routes.add({
    method: 'DELETE',
    pattern: '/orders/cancel-batch',
    handler: (call, body) => {
      const batch = decodeCancelBatch(body, 0, body.length);
      if (!batch.ok) return call.refuse(batch.reject);
      dispatch(parts, call, ({ user }) => backend.cancelBatch({ user, ...batch.value }));
    },
  });
}

function cancelAll(
  parts: UnsignedCancelParts,
  call: HttpCall,
  marketOfCall: (head: RequestHead) => Outcome<AssetId | null>,
): void {
  const beforeNs = beforeOf(new Query(call.head.query));
  if (!beforeNs.ok) {
    call.refuse(beforeNs.reject);
    return;
  }
  dispatch(parts, call, ({ user }) => {
    const assetId = marketOfCall(call.head);
    if (!assetId.ok) return assetId.reject;
    return parts.backend.cancelAll({ user, assetId: assetId.value, beforeNs: beforeNs.value });
  });
}

/** `max_ts`: cancels what is strictly older; left out, everything (AMB-18). */
function beforeOf(query: Query): Outcome<TimestampNs | null> {
  const given = query.whole('max_ts');
  if (!given.ok || given.value === null) return given as Outcome<null>;
  if (given.value >= TIME_LIMIT) return rejected(BAD_TIME);
  // Behind this door 0 means everything. No order has a timestamp below 1, so before 0 and before 1 are the same orders.
  return accepted((given.value === 0n ? 1n : given.value) as TimestampNs);
}

function marketOf(head: RequestHead): Outcome<AssetId> {
  const assetId = parseAssetId(head.parameters[0] ?? '');
  return assetId === null ? rejected(NO_MARKET) : accepted(assetId);
}

function dispatch(parts: UnsignedCancelParts, call: HttpCall, run: (session: Session) => Reject | null): void {
  const session = sessionOf(parts.backend, call.head);
  const refusal = session.ok ? admit(parts.door, () => run(session.value)) : session.reject;
  if (refusal === null) call.reply(DISPATCHED, 202);
  else call.refuse(refusal);
}

function admit(door: ActionDoor, run: () => Reject | null): Reject | null {
  return door.isClosed ? STOPPING : run();
}
