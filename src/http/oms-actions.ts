/**
 * Signed actions on their way from a request or a control frame to the node: one union for both roads, the names their
 * answers carry, and the door that closes when the service stops.
 */

import type { ControlAction, Correlation } from '../codec/control-frame.ts';
import type { CancelRequest } from '../codec/signed-cancel.ts';
import type { CreateRequest } from '../codec/signed-order.ts';
import type { ReplaceRequest } from '../codec/signed-replace.ts';
import type { UserId } from '../core/ids.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Answer } from '../gateway/orders/requests.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { ActionBackend, ActionOrigin, ChargeBackend, ItemAnswer } from './oms-backend.ts';

export type SignedAction =
  | { readonly kind: 'create'; readonly request: CreateRequest }
  | { readonly kind: 'replace'; readonly request: ReplaceRequest }
  | { readonly kind: 'cancel'; readonly request: CancelRequest };

/** Several of one kind in one request. */
export type SignedBatch =
  | { readonly kind: 'batch-create'; readonly requests: readonly CreateRequest[] }
  | { readonly kind: 'batch-replace'; readonly requests: readonly ReplaceRequest[] };

export const STOPPING: Reject = reject('SERVICE_UNAVAILABLE', 'the service is stopping');

/** What an answer repeats of its request, letter by letter (wire.md 10.2). */
export function correlationOf(action: SignedAction): Correlation {
  const kind: ControlAction = action.kind;
  switch (action.kind) {
    case 'create': {
      const { orderId, baseAsset } = action.request.order;
      return { action: kind, orderId, assetText: baseAsset.text };
    }
    case 'replace':
      return { action: kind, orderId: action.request.request.orderId, assetText: action.request.asset.text };
    case 'cancel': {
      const { orderId, asset } = action.request.cancel;
      return { action: kind, orderId, assetText: asset.text };
    }
  }
}

/** The same for each order of a batch, in order of submission. */
export function correlationsOf(batch: SignedBatch): readonly Correlation[] {
  if (batch.kind === 'batch-create') return batch.requests.map((request) => correlationOf({ kind: 'create', request }));
  return batch.requests.map((request) => correlationOf({ kind: 'replace', request }));
}

/** What a signed action costs (LIM-08, LIM-09), on `/control` as over REST (LIM-15). */
export function costOf(action: SignedAction): Cost {
  return action.kind === 'cancel' ? 'cancel' : 'action';
}

export class ActionDoor {
  readonly #backend: ActionBackend & ChargeBackend;
  #lastConnection = 0;
  #isClosed = false;

  constructor(backend: ActionBackend & ChargeBackend) {
    this.#backend = backend;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** From now on every action is refused with SERVICE_UNAVAILABLE; those under way are still answered. */
  close(): void {
    this.#isClosed = true;
  }

  /** A number for one `/control` connection or one REST request. */
  newConnection(): number {
    this.#lastConnection += 1;
    return this.#lastConnection;
  }

  /**
   * Whether one more change of this user's may begin; charges it.
   *
   * @returns SERVICE_UNAVAILABLE once the door is closed, RATE_LIMITED, or null: it has been paid for.
   */
  admit(user: UserId, cost: Cost): Reject | null {
    return this.#isClosed ? STOPPING : this.#backend.charge(user, cost);
  }

  /** Sends an action on that has been admitted in the same turn. */
  take(action: SignedAction, origin: ActionOrigin, answer: Answer): void {
    switch (action.kind) {
      case 'create':
        this.#backend.create(action.request, origin, answer);
        break;
      case 'replace':
        this.#backend.replace(action.request, origin, answer);
        break;
      case 'cancel':
        this.#backend.cancel(action.request, origin, answer);
        break;
    }
  }

  /** As `take`, for every order of a batch; the answers come one by one, in any order. */
  takeBatch(batch: SignedBatch, origin: ActionOrigin, answer: ItemAnswer): void {
    if (batch.kind === 'batch-create') this.#backend.createBatch(batch.requests, origin, answer);
    else this.#backend.replaceBatch(batch.requests, origin, answer);
  }
}
