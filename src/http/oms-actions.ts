/** What signed actions have in common on `/control` and REST: the names in their answers, their market, and their price. */
import type { ControlAction, Correlation } from '../codec/control-frame.ts';
import type { SpelledAsset } from '../codec/signed-text.ts';
import { must } from '../core/assert.ts';
import type { AssetId } from '../core/ids.ts';
import type { SignedBatch, SignedEntry } from '../gateway/actions/order-entry.ts';
import type { Cost } from '../gateway/sessions/costs.ts';

/** What an answer repeats of its request, letter by letter (wire.md 10.2). */
export function correlationOf(action: SignedEntry): Correlation {
  const kind: ControlAction = action.kind;
  const named = { action: kind, orderId: orderIdOf(action), assetText: assetOfRequest(action).text };
  return action.kind === 'quotes' ? { ...named, revisionNs: action.request.quotes.revisionNs } : named;
}

/** The asset of its market. */
export function assetOfRequest(action: SignedEntry): SpelledAsset {
  switch (action.kind) {
    case 'create':
      return action.request.order.baseAsset;
    case 'replace':
      return action.request.asset;
    case 'cancel':
      return action.request.cancel.asset;
    case 'amend':
      return action.request.amend.asset;
    case 'quotes':
      return action.request.quotes.baseAsset;
  }
}

function orderIdOf(action: SignedEntry): string {
  switch (action.kind) {
    case 'create':
      return action.request.order.orderId;
    case 'replace':
      return action.request.request.orderId;
    case 'cancel':
      return action.request.cancel.orderId;
    case 'amend':
      return action.request.amend.orderId;
    case 'quotes':
      return action.request.quotes.setId;
  }
}

/** The same for each order of a batch, in order of submission. */
export function correlationsOf(batch: SignedBatch): readonly Correlation[] {
  if (batch.kind === 'batch-create') return batch.requests.map((request) => correlationOf({ kind: 'create', request }));
  return batch.requests.map((request) => correlationOf({ kind: 'replace', request }));
}

/** The asset of the market of one order of a batch. */
export function assetOfItem(batch: SignedBatch, index: number): AssetId {
  const asset = batch.kind === 'batch-create' ? batch.requests[index]?.order.baseAsset : batch.requests[index]?.asset;
  return must(asset, 'an order of the batch').id;
}

/** What a signed action costs (LIM-08, LIM-09), on `/control` as over REST (LIM-15). */
export function costOf(action: SignedEntry): Cost {
  if (action.kind === 'cancel') return 'cancel';
  return action.kind === 'quotes' ? 'quotes' : 'action';
}
