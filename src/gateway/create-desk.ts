/**
 * Creates on their way in: counted, and, where their sender asked for it, taken once however often they come
 * (src/gateway/sessions/resent-creates.ts).
 */

import type { CreateRequest } from '../codec/signed-order.ts';
import type { TimestampNs } from '../core/units.ts';
import type { ActionOrigin, ItemAnswer } from '../http/oms-backend.ts';
import type { ActionRoad } from './action-road.ts';
import type { BatchRoad } from './batch-road.ts';
import { CONNECTION_ENDED, RESENT_TOO_OFTEN } from './door-refusals.ts';
import { Tie } from './orders/lifeline.ts';
import type { ActionAnswer, Answer } from './orders/requests.ts';
import { ResentCreates } from './sessions/resent-creates.ts';

export interface CreateDeskParts {
  readonly road: Pick<ActionRoad, 'create'>;
  readonly batches: Pick<BatchRoad, 'create'>;
  readonly nowNs: () => TimestampNs;
  readonly counted: {
    /** @param elapsedMs from the decoded create to its answer. */
    order(isReceived: boolean, elapsedMs: number): void;
  };
}

export class CreateDesk {
  private readonly parts: CreateDeskParts;
  private readonly resent = new ResentCreates<ActionAnswer, Tie>();

  constructor(parts: CreateDeskParts) {
    this.parts = parts;
  }

  create(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    if (origin.isResent === true && request.fault === null) this.createOnce(request, origin, answer);
    else this.createNow(request, origin, answer);
  }

  createBatch(requests: readonly CreateRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    const startedMs = performance.now();
    this.parts.batches.create(requests, origin, (index, told) => {
      this.parts.counted.order(told.refusal === null, performance.now() - startedMs);
      answer(index, told);
    });
  }

  private createNow(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    const startedMs = performance.now();
    this.parts.road.create(request, origin, (told) => {
      this.parts.counted.order(told.refusal === null, performance.now() - startedMs);
      answer(told);
    });
  }

  /**
   * The same again hears what the first was told, once that is known; only what left its id free may begin anew. The
   * order goes with the connection of the latest that asked for that.
   */
  private createOnce(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    const { resent } = this;
    const { user, lifeline = null } = origin;
    const now = this.parts.nowNs();
    const identity = { user, signature: request.signature, text: request.text };
    const told = (first: ActionAnswer): void => this.tell(first, request, origin, answer);
    const known = resent.find(identity, now);
    if (known === null) {
      const tie = new Tie(lifeline);
      const sent = resent.begin(identity, tie, now, told);
      this.createNow(request, { ...origin, tie }, (first) => {
        resent.settle(sent, first, first.refusal === null || first.refusal.code === 'WOULD_CROSS');
      });
    } else if (!resent.join(known, told)) answer({ refusal: RESENT_TOO_OFTEN, processedAtNs: now });
    else if (lifeline?.isCut === false) known.way.moveTo(lifeline);
  }

  /** The end of a connection stops nobody else: whoever is left begins anew. */
  private tell(first: ActionAnswer, request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    const isOthers = first.refusal === CONNECTION_ENDED && origin.lifeline?.isCut !== true;
    if (isOthers) this.createOnce(request, origin, answer);
    else answer(first);
  }
}
