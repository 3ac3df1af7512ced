/** Request bodies of the registry: lists of assets (wire.md 7.3) and a market by its asset (wire.md 7.2). */
import type { AssetId } from '../core/ids.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { decodeShape } from './shape-reader.ts';
import { type AssetList, MARKET_REQUEST } from './shapes/registry-shapes.ts';
import type { Shape } from './shapes/shape-kit.ts';
import type { SpelledAsset } from './signed-text.ts';

/**
 * `{"assets":[…]}` of `POST /registry/decimals` and its update: asset ids in any accepted spelling, kept as received,
 * because the reply repeats them.
 */
export function decodeAssetList(body: Uint8Array, shape: Shape<unknown, AssetList>): Outcome<readonly SpelledAsset[]> {
  const list = decodeShape(shape, body);
  return list.ok ? accepted(list.value.assets) : list;
}

/** `{"asset_id":"12"}` of `POST /market/create`. */
export function decodeMarketAsset(body: Uint8Array): Outcome<AssetId> {
  const request = decodeShape(MARKET_REQUEST, body);
  return request.ok ? accepted(request.value.asset.id) : request;
}
