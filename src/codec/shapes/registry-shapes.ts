/** Markets and the registry (wire.md 7.2, 7.3). */
import { DECIMALS_ASKED_MAX, DECIMALS_REFRESHED_MAX } from '../../core/limits.ts';
import { MARKET_STATUS_WORD } from '../../core/order-terms.ts';
import type { AssetName, Market, NettingParameter, RegistryReply } from '../reply-types.ts';
import type { SpelledAsset } from '../signed-text.ts';
import { pageOf } from './order-reply-shapes.ts';
import {
  ASSET_ID,
  ASSET_ID_GIVEN,
  COUNT,
  DECIMAL,
  DECIMALS,
  described,
  either,
  FLAG,
  inside,
  listOf,
  mapOf,
  named,
  nullable,
  open,
  openWord,
  optional,
  readAs,
  type Shape,
  TEXT,
  TOKEN_ID,
  unread,
  WHOLE,
  words,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

const INDEX_NAME = '^(?:0|[1-9][0-9]{0,4})$';
const MAKER_RATE = Type.Integer({ description: '1e-6 of notional; negative is a rebate' });
const TAKER_RATE = Type.Integer({ minimum: 0, description: '1e-6 of notional' });

export const MARKET: Shape<unknown, Market> = named(
  'Market',
  'A market has the id of its asset; prices and quantities of orders are integers: human × 10^decimals',
  open({
    asset_id: ASSET_ID,
    book_price_decimals: inside('priceDecimals', DECIMALS),
    book_quantity_decimals: inside('quantityDecimals', DECIMALS),
    max_leverage: unread(nullable(DECIMAL)),
    isolated_only: unread(FLAG),
    tick_size: DECIMAL,
    min_order_size: DECIMAL,
    fee_schedule: unread(Type.Object({ fee_account: TEXT, global: listOf(TEXT), per_asset: listOf(TEXT) })),
    maker_fee_rate: MAKER_RATE,
    taker_fee_rate: TAKER_RATE,
    status: openWord(words(...Object.values(MARKET_STATUS_WORD))),
    self_trade_prevention: unread(FLAG),
  }),
);
export const SYMBOL_MAP: Shape<unknown, ReadonlyMap<string, AssetName>> = mapOf(
  INDEX_NAME,
  open({
    index: COUNT,
    symbol: TEXT,
    name: described(TEXT, 'the symbol unless the operator gave a name'),
    asset_class: openWord(words('crypto', 'fiat', 'equity', 'commodity', 'index')),
    representations: described(listOf(TEXT), 'symbols of the tokens that deposit into this asset'),
  }),
);
/** All markets, or a page of them. */
export const MARKETS: Shape = either(
  listOf(MARKET),
  pageOf('MarketPage', 'markets', 'total_markets', MARKET, {
    symbol_map: optional(described(SYMBOL_MAP, 'every indexed asset that has a symbol')),
  }),
);
/** Without netting the list is empty. */
export const NETTING_PARAMETERS: Shape<unknown, readonly NettingParameter[]> = listOf(
  open({ asset: ASSET_ID, venue: TEXT, venue_asset: TEXT, cost: COUNT, residual: COUNT }),
);
export const MARKET_REQUEST: Shape<unknown, { readonly asset: SpelledAsset }> = named(
  'MarketRequest',
  'The asset of a market',
  open({ asset_id: inside('asset', ASSET_ID_GIVEN) }),
);

const TOKEN_ROW = open({
  address: unread(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  maxDeposits: unread(WHOLE),
  max1hrDeposits: unread(WHOLE),
  minWeight: unread(WHOLE),
  max_deposits: readAs('whole', WHOLE),
  max_1hr_deposits: readAs('whole', WHOLE),
  symbol: nullable(TEXT),
  decimals: Type.Integer({ minimum: 0, maximum: 255 }),
});

export const REGISTRY_ASSETS: Shape<unknown, RegistryReply> = named(
  'RegistryAssets',
  'Assets by index, their tokens by address and chain',
  mapOf(INDEX_NAME, mapOf(TOKEN_ID['pattern'] as string, TOKEN_ROW)),
);
export const VAULTS: Shape<unknown, readonly string[]> = named(
  'Vaults',
  'Vaults in the order of their registration',
  listOf(TOKEN_ID),
);

const FACTOR = Type.Integer();
const FACTORS = listOf(FACTOR);

export const RISK_PARAMETERS: Shape = named(
  'RiskParameters',
  'By asset index. Amounts are integers of 18-decimal units; factors and clamps are of 1e-6, and 999999 means 1',
  mapOf(
    INDEX_NAME,
    Type.Object({
      collateral_factor: described(FACTOR, 'whole percent'),
      liability_factor: described(FACTOR, 'whole percent'),
      max_collateral: WHOLE,
      max_total_open_interest_notional: WHOLE,
      max_spot_open_interest: WHOLE,
      max_utilization: WHOLE,
      isolated_only: FLAG,
      initial_margin_clamps: FACTORS,
      initial_margin_factors: FACTORS,
      max_funding_rate: FACTOR,
      max_utilization_rate: FACTOR,
      utilization_kinks: FACTORS,
      rate_at_kinks: FACTORS,
      quote_utilization_kinks: FACTORS,
      quote_rate_at_kinks: FACTORS,
      skew_factor: FACTOR,
      base_funding_rate: FACTOR,
      skew_cliff: FACTOR,
      premium_clamp: FACTOR,
      buffer_multiplier: FACTOR,
      min_sub_account_balance: WHOLE,
    }),
  ),
);

/** Assets of a request, in any spelling; the reply repeats it. */
export interface AssetList {
  readonly assets: readonly SpelledAsset[];
}

function assetList(title: string, countMax: number): Shape<unknown, AssetList> {
  return named(
    title,
    'Assets in any accepted spelling',
    open({ assets: listOf(ASSET_ID_GIVEN, { maxItems: countMax }) }),
  );
}

export const DECIMALS_REQUEST: Shape<unknown, AssetList> = assetList('DecimalsRequest', DECIMALS_ASKED_MAX);
export const DECIMALS_REFRESH: Shape<unknown, AssetList> = assetList('DecimalsRefresh', DECIMALS_REFRESHED_MAX);
export const TOKEN_DECIMALS: Shape<unknown, ReadonlyMap<string, number>> = named(
  'TokenDecimals',
  'Decimals by asset, as it was asked for; unknown ones are left out',
  mapOf(ASSET_ID_GIVEN['pattern'] as string, COUNT),
);
