/**
 * What a session authorizes without a signature, over REST and on `/control` alike (wire.md 7.8, CAN-05 to CAN-11, UNS-01,
 * UNS-02): its price, and its way into order entry.
 */
import type { ActionHops } from '../codec/hop-times.ts';
import type { UnsignedRequest } from '../codec/unsigned-cancels.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import type { Cost } from '../gateway/sessions/costs.ts';

/** The answer: of a timer as it runs now, of cancels that they are on their way. */
export type UnsignedDone =
  | { readonly kind: 'cancel-all' | 'cancel-batch' }
  | { readonly kind: 'cancel-all-after'; readonly timeoutMs: number; readonly firesAtNs: TimestampNs | null };

const UNSIGNED_KINDS: ReadonlySet<string> = new Set<UnsignedRequest['kind']>([
  'cancel-all',
  'cancel-batch',
  'cancel-all-after',
]);

export function isUnsignedRequest<Other extends { readonly kind: string }>(
  request: Other | UnsignedRequest,
): request is UnsignedRequest & Extract<Other, { readonly kind: UnsignedRequest['kind'] }> {
  return UNSIGNED_KINDS.has(request.kind);
}

export function costOfUnsigned(request: UnsignedRequest): Cost {
  if (request.kind === 'cancel-all') return 'cancelAll';
  return request.kind === 'cancel-batch' ? { bulkCancel: request.batch.asked } : 'deadMan';
}

/** The market that it names; null for none. */
export function assetOfUnsigned(request: UnsignedRequest): AssetId | null {
  if (request.kind === 'cancel-all') return request.scope.assetId;
  return request.kind === 'cancel-batch' ? request.batch.assetId : null;
}

/**
 * Carries out a request that was paid for.
 *
 * @param answer called once, at once or later: of a stalled leader when what was done is stored. Rejects MARKET_NOT_FOUND,
 *   SERVICE_UNAVAILABLE, INSUFFICIENT_INVENTORY.
 * @returns whether it is under way.
 */
export function carryOut(
  services: Pick<GatewayServices, 'entry' | 'cancels' | 'automaticCancels'>,
  user: UserId,
  request: UnsignedRequest,
  hops: ActionHops,
  answer: (done: Outcome<UnsignedDone>) => void,
): boolean {
  if (request.kind === 'cancel-all-after') return startTimer(services, user, request.timeoutMs, hops, answer);
  const { entry, cancels } = services;
  const { kind } = request;
  const done = (): void => answer(accepted({ kind }));
  // mutant: stalled-cancel-all
  const { isStalled } = entry;
  const stored = isStalled ? done : null;
  let refusal: Reject | null;
  if (kind === 'cancel-batch') {
    const { orderIds, assetId } = request.batch;
    refusal = cancels.cancelBatch({ user, orderIds, assetId }, hops, stored);
  } else refusal = cancels.cancelAll({ user, ...request.scope }, hops, stored);
  if (refusal !== null) answer(rejected(refusal));
  else if (!isStalled) done();
  return refusal === null;
}

/** What a takeover finds is whether a timer runs: a stalled leader waits for that alone. */
function startTimer(
  { entry, automaticCancels }: Pick<GatewayServices, 'entry' | 'automaticCancels'>,
  user: UserId,
  timeoutMs: number,
  hops: ActionHops,
  answer: (done: Outcome<UnsignedDone>) => void,
): boolean {
  let replyWhenStored: (() => void) | null = null;
  let isStored = !entry.isStalled;
  const firesAtNs = automaticCancels.cancelAllAfter(user, timeoutMs, () => {
    isStored = true;
    replyWhenStored?.();
  });
  if (!firesAtNs.ok) {
    answer(firesAtNs);
    return false;
  }
  hops.sent(0);
  const reply = accepted({ kind: 'cancel-all-after' as const, timeoutMs, firesAtNs: firesAtNs.value });
  if (isStored) answer(reply);
  else replyWhenStored = () => answer(reply);
  return true;
}
