/** Signed actions, one order a request (wire.md 7.4 to 7.6). */
import { accepted, type Outcome } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { operationResponse } from '../wire/operation-replies.ts';
import { decodeCancel } from '../wire/signed-cancel.ts';
import { decodeCreate } from '../wire/signed-order.ts';
import { decodeReplace } from '../wire/signed-replace.ts';
import { correlationOf, costOf, type SignedAction } from './oms-actions.ts';
import type { RouteKit } from './oms-kit.ts';
import type { HttpMethod } from './uws-http.ts';

/** What a client is told whose action was sent on and not answered in time. */
export const LATE_ACTION: Reject = reject(
  'TIMEOUT_UNKNOWN_STATE',
  'the market did not answer in time; the action may have happened',
);

export function addActionRoutes(kit: RouteKit): void {
  addAction(kit, 'POST', '/orders/create', (body) => actionOf('create', decodeCreate(body, 0, body.length)));
  addAction(kit, 'PATCH', '/orders/replace', (body) => actionOf('replace', decodeReplace(body, 0, body.length)));
  addAction(kit, 'DELETE', '/orders/cancel', (body) => actionOf('cancel', decodeCancel(body, 0, body.length)));
}

function actionOf<Kind extends SignedAction['kind'], Request>(
  kind: Kind,
  decoded: Outcome<Request>,
): Outcome<{ readonly kind: Kind; readonly request: Request }> {
  return decoded.ok ? accepted({ kind, request: decoded.value }) : decoded;
}

function addAction(
  kit: RouteKit,
  method: HttpMethod,
  pattern: string,
  decode: (body: Uint8Array) => Outcome<SignedAction>,
): void {
  const { door } = kit;
  kit.addSession({
    method,
    pattern,
    late: LATE_ACTION,
    cost: costOf,
    isChange: true,
    shape: ({ body }) => decode(body),
    about: (refusal, action) => aboutOrder(refusal, correlationOf(action).orderId),
    serve: (call, { user }, action) => {
      const { orderId } = correlationOf(action);
      const origin = { user, connection: door.newConnection(), isControl: false };
      door.take(action, origin, ({ refusal, processedAtNs }) => {
        if (refusal !== null) call.refuse(aboutOrder(refusal, orderId));
        else call.reply(operationResponse({ orderId, reject: null, processedNs: processedAtNs }));
      });
    },
  });
}

/** Refusals of single actions say which order they are about (wire.md 7.4, AMB-16). */
function aboutOrder(refusal: Reject, orderId: string): Reject {
  return { ...refusal, details: { ...refusal.details, order_id: orderId } };
}
