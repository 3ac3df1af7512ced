/** What the routes of the registry ask of the node (wire.md 7.2, 7.3). Replies come printed: they change rarely. */

import type { MarketView } from '../codec/market-reply.ts';
import type { SpelledAsset } from '../codec/signed-text.ts';
import type { AssetId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';

/** Every read is SERVICE_UNAVAILABLE until clearing has told the registry once (REG-06). */
export interface RegistryBackend {
  /** The JSON of `GET /registry/assets`. */
  assets(): Outcome<string>;
  /** The JSON of `GET /registry/vaults`. */
  vaults(): Outcome<string>;
  /** The JSON of `GET /registry/risk-parameters`. */
  riskParameters(): Outcome<string>;
  /** Decimals of those assets that are registered tokens, by the text that asked. */
  decimals(assets: readonly SpelledAsset[]): Outcome<ReadonlyMap<string, number>>;
  /**
   * The market of an asset; where self-service is on and the asset has risk parameters it is made first, and open when
   * this answers (AMB-130). MARKET_NOT_FOUND otherwise.
   */
  createMarket(assetId: AssetId): Promise<Outcome<MarketView>>;
}
