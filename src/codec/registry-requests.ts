/** Request bodies of the registry: lists of assets (wire.md 7.3) and a market by its asset (wire.md 7.2). */
import { must } from '../core/assert.ts';
import { type AssetId, parseAssetId } from '../core/ids.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { readShape } from './shapes/read-shape.ts';
import { type AssetList, MARKET_REQUEST } from './shapes/registry-shapes.ts';
import type { Shape } from './shapes/shape-kit.ts';
import type { SpelledAsset } from './signed-text.ts';

/**
 * `{"assets":[…]}` of `POST /registry/decimals` and its update: asset ids in any accepted spelling, kept as received,
 * because the reply repeats them.
 */
export function decodeAssetList(body: Uint8Array, shape: Shape<AssetList>): Outcome<readonly SpelledAsset[]> {
  const list = readShape(shape, body);
  return list.ok ? accepted(list.value.assets.map((text) => ({ id: assetOf(text), text }))) : list;
}

/** `{"asset_id":"12"}` of `POST /market/create`. */
export function decodeMarketAsset(body: Uint8Array): Outcome<AssetId> {
  const request = readShape(MARKET_REQUEST, body);
  return request.ok ? accepted(assetOf(request.value.asset_id)) : request;
}

function assetOf(text: string): AssetId {
  return must(parseAssetId(text), 'the shape admits nothing but asset ids');
}
