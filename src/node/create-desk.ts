/**
 * Creates on their way in: counted, and, where their sender asked for it, taken once however often they come
 * (src/sessions/resent-creates.ts).
 */
import type { TimestampNs } from '../core/units.ts';
import type { ActionAnswer, ActionOrigin, Answer, ItemAnswer } from '../edge/oms-backend.ts';
import { ResentCreates } from '../sessions/resent-creates.ts';
import type { CreateRequest } from '../wire/signed-order.ts';
import type { ActionRoad } from './action-road.ts';
import type { BatchRoad } from './batch-road.ts';
import { RESENT_TOO_OFTEN } from './door-refusals.ts';

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
  private readonly resent = new ResentCreates<ActionAnswer>();

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

  /** The same again hears what the first was told, once that is known; only what left its id free may begin anew. */
  private createOnce(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    const { resent } = this;
    const now = this.parts.nowNs();
    const identity = { user: origin.user, signature: request.signature, text: request.text };
    const known = resent.find(identity, now);
    if (known !== null) {
      if (!resent.join(known, answer)) answer({ refusal: RESENT_TOO_OFTEN, processedAtNs: now });
      return;
    }
    const sent = resent.begin(identity, now);
    this.createNow(request, origin, (told) => {
      answer(told);
      resent.settle(sent, told, told.refusal === null || told.refusal.code === 'WOULD_CROSS');
    });
  }
}
