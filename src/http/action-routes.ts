/** Signed actions, one order a request (wire.md 7.4 to 7.6) or several of one kind (wire.md 7.7). */

import { type ActionKind, previewBody } from '../codec/action-preview.ts';
import { decodeAmend } from '../codec/amend-request.ts';
import type { ActionHops } from '../codec/hop-times.ts';
import { batchReply, operationResponse } from '../codec/operation-replies.ts';
import { decodeBatchCreate, decodeBatchReplace } from '../codec/order-batches.ts';
import { decodeCancel } from '../codec/signed-cancel.ts';
import { decodeCreate } from '../codec/signed-order.ts';
import { decodeReplace } from '../codec/signed-replace.ts';
import { must } from '../core/assert.ts';
import { ACTION_BYTES_MAX, BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { SignedAction, SignedBatch } from '../gateway/actions/order-entry.ts';
import { actionOptionsOf } from './action-options.ts';
import { assetOf, assetOfItem, correlationOf, correlationsOf, costOf } from './oms-actions.ts';
import type { RouteKit } from './oms-kit.ts';
import { sessionOf } from './oms-session.ts';
import { WAITED_TOO_LONG } from './order-admission.ts';
import type { HttpCall, HttpRoute } from './uws-http.ts';

/** The answer to an action that was sent and not answered by its market in time. */
export const LATE_ACTION: Reject = reject(
  'TIMEOUT_UNKNOWN_STATE',
  'the market did not answer in time; the action may have happened',
);

export function addActionRoutes(kit: RouteKit): void {
  addAction(kit, 'create', { method: 'POST', pattern: '/orders/create' }, (body) =>
    actionOf('create', decodeCreate(body, 0, body.length)),
  );
  addAction(kit, 'replace', { method: 'PATCH', pattern: '/orders/replace' }, (body) =>
    actionOf('replace', decodeReplace(body, 0, body.length)),
  );
  addAction(kit, 'cancel', { method: 'DELETE', pattern: '/orders/cancel' }, (body) =>
    actionOf('cancel', decodeCancel(body, 0, body.length)),
  );
  addAction(kit, 'amend', { method: 'PATCH', pattern: '/orders/amend' }, (body) =>
    actionOf('amend', decodeAmend(body, 0, body.length)),
  );
  addBatch(kit, 'batch-create', { method: 'POST', pattern: '/orders/batch-create' }, (body) => {
    const decoded = decodeBatchCreate(body, 0, body.length);
    if (!decoded.ok) return decoded;
    const { items: requests, fault } = decoded.value;
    return accepted({ batch: { kind: 'batch-create', requests }, fault });
  });
  addBatch(kit, 'batch-replace', { method: 'PATCH', pattern: '/orders/batch-replace' }, (body) => {
    const decoded = decodeBatchReplace(body, 0, body.length);
    if (!decoded.ok) return decoded;
    const { items: requests, fault } = decoded.value;
    return accepted({ batch: { kind: 'batch-replace', requests }, fault });
  });
}

function actionOf<Kind extends SignedAction['kind'], Request>(
  kind: Kind,
  decoded: Outcome<Request>,
): Outcome<{ readonly kind: Kind; readonly request: Request }> {
  return decoded.ok ? accepted({ kind, request: decoded.value }) : decoded;
}

function addAction(
  kit: RouteKit,
  kind: SignedAction['kind'],
  route: Pick<HttpRoute, 'method' | 'pattern'>,
  decode: (body: Uint8Array) => Outcome<SignedAction>,
): void {
  const { services } = kit;
  const { entry } = services;
  kit.addSession({
    ...route,
    ...urgencyOf(kit, kind),
    late: LATE_ACTION,
    bodyBytesMax: ACTION_BYTES_MAX,
    cost: ({ action }: AskedAction) => costOf(action),
    isChange: true,
    shape: ({ head, body }): Outcome<AskedAction> => {
      const options = actionOptionsOf(head);
      if (!options.ok) return options;
      const hops = services.newHops(options.value.isTimed);
      const action = decode(body);
      if (!action.ok) return action;
      hops.parsed(kind, assetOf(action.value).id);
      return accepted({ action: action.value, mayRetry: options.value.mayRetry, hops });
    },
    refusing: (refusal, { hops }) => hops.answered(refusal),
    about: (refusal, { action }) => aboutOrder(refusal, correlationOf(action).orderId),
    serve: (call, { user, byCoSigners }, { action, mayRetry, hops }) => {
      const { orderId } = correlationOf(action);
      const origin = { user, byCoSigners, connection: entry.newConnection(), isControl: false, mayRetry, hops };
      entry.submit(action, origin, ({ refusal, processedAtNs: processedNs }) => {
        hops.answered(refusal);
        if (refusal !== null) call.refuse(aboutOrder(refusal, orderId));
        else call.reply(operationResponse({ orderId, reject: null, processedNs, hops }));
      });
    },
  });
}

/** An action with its sender's options. */
interface AskedAction {
  readonly action: SignedAction;
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
function addBatch(
  kit: RouteKit,
  kind: SignedBatch['kind'],
  route: Pick<HttpRoute, 'method' | 'pattern'>,
  decode: (body: Uint8Array) => Outcome<AskedBatch>,
): void {
  const { services } = kit;
  const { entry } = services;
  kit.addSession({
    ...route,
    ...urgencyOf(kit, kind),
    late: LATE_ACTION,
    bodyBytesMax: BODY_BYTES_MAX,
    // A rejected batch costs as much as an accepted one; of one that is too long at most fifty items count (AMB-104).
    cost: ({ batch }: TimedBatch) => ({ bulk: batch.requests.length }),
    isChange: true,
    shape: ({ body }): Outcome<TimedBatch> => {
      const hops = services.newHops(false);
      const asked = decode(body);
      if (!asked.ok) return asked;
      hops.parsedBatch(kind, asked.value.batch.requests.length);
      return accepted({ ...asked.value, hops });
    },
    refusing: (refusal, { hops }) => hops.answered(refusal),
    fault: ({ fault }) => fault,
    serve: (call, { user }, { batch, hops }) => {
      const origin = { user, connection: entry.newConnection(), isControl: false, hops };
      const results: { readonly orderId: string; reject: Reject | null }[] = correlationsOf(batch).map(
        ({ orderId }) => ({ orderId, reject: null }),
      );
      let left = results.length;
      entry.submitBatch(batch, origin, (index, { refusal }) => {
        must(results[index], 'an answer to an order of the batch').reject = refusal;
        if (refusal !== null) call.countRefusal(refusal);
        left -= 1;
        if (left === 0) call.reply(batchReply(results));
        hops.itemAnswered(refusal, assetOfItem(batch, index));
      });
    },
  });
}

/** When an action is read, and how an order is refused that waited too long: as a whole, charged like an accepted one. */
function urgencyOf(kit: RouteKit, kind: ActionKind): Pick<HttpRoute, 'urgency' | 'refused'> {
  if (kind === 'cancel') return { urgency: 'cancel' };
  const { services, orders } = kit;
  const refused = (call: HttpCall, body: Uint8Array): boolean => {
    const named = previewBody(kind, body);
    const session = sessionOf(services, call.head);
    // Malformed, or without a session: refused as ever.
    if (named === null || !session.ok) return false;
    const isBatch = kind === 'batch-create' || kind === 'batch-replace';
    const notPaid = services.entry.admit(session.value.user, isBatch ? { bulk: named.length } : 'action');
    if (notPaid === null) orders.refused(named.length);
    const refusal = notPaid ?? WAITED_TOO_LONG;
    call.refuse(isBatch ? refusal : aboutOrder(refusal, must(named[0], 'an action names an order').orderId));
    return true;
  };
  return { urgency: 'order', refused };
}

/** The error of a single action contains its order's id (wire.md 7.4, AMB-16). */
function aboutOrder(refusal: Reject, orderId: string): Reject {
  return { ...refusal, details: { ...refusal.details, order_id: orderId } };
}
