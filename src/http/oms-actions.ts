/** What signed actions have in common on `/control` and REST: the names in their answers, and their price. */
import type { ControlAction, Correlation } from '../codec/control-frame.ts';
import type { SignedAction, SignedBatch } from '../gateway/order-entry.ts';
import type { Cost } from '../gateway/sessions/costs.ts';

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
    case 'amend': {
      const { orderId, asset } = action.request.amend;
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
