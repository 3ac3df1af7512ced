/** The bodies that ask about the registry: lists of assets (wire.md 7.3) and a market by its asset (wire.md 7.2). */
import type { AssetId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import { decodeText } from './decode-text.ts';
import type { JsonCursor } from './json-cursor.ts';
import { objectShape } from './json-shape.ts';
import { readAsset, type SpelledAsset } from './signed-text.ts';

const ASSET_LIST = objectShape('skip', ['assets']);
const MARKET = objectShape('skip', ['asset_id']);

/**
 * `{"assets":[…]}` of `POST /registry/decimals` and its update: asset ids in any accepted spelling, kept as they were
 * spelt, because the reply repeats them.
 *
 * @returns INVALID_REQUEST for more than `countMax`, or a text that is no asset id.
 */
export function decodeAssetList(bytes: Uint8Array, countMax: number): Outcome<readonly SpelledAsset[]> {
  return decodeText(bytes, 0, bytes.length, (cursor) => {
    let assets: readonly SpelledAsset[] = [];
    cursor.enterObject();
    while (cursor.nextMember(ASSET_LIST) !== null) assets = readAssets(cursor, countMax);
    return cursor.hasFailed ? null : assets;
  });
}

function readAssets(cursor: JsonCursor, countMax: number): readonly SpelledAsset[] {
  const assets: SpelledAsset[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) {
    assets.push(readAsset(cursor));
    if (assets.length > countMax) cursor.fail(`at most ${countMax} assets`, 'assets');
  }
  return assets;
}

/** `{"asset_id":"12"}` of `POST /market/create`. */
export function decodeMarketAsset(bytes: Uint8Array): Outcome<AssetId> {
  return decodeText(bytes, 0, bytes.length, (cursor) => {
    let asset: AssetId | null = null;
    cursor.enterObject();
    while (cursor.nextMember(MARKET) !== null) asset = readAsset(cursor).id;
    return cursor.hasFailed ? null : asset;
  });
}
