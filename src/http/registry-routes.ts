/** Markets, and their creation by users; assets, vaults, risk parameters and decimals (wire.md 7.2, 7.3). */

import { type MarketView, marketObject } from '../codec/market-reply.ts';
import { bareArray, pageEnvelope } from '../codec/pages.ts';
import { decimalsReply } from '../codec/registry-reply.ts';
import { decodeAssetList, decodeMarketAsset } from '../codec/registry-requests.ts';
import { EMPTY } from '../codec/shapes/account-shapes.ts';
import {
  DECIMALS_REFRESH,
  DECIMALS_REQUEST,
  MARKET,
  MARKET_REQUEST,
  MARKETS,
  NETTING_PARAMETERS,
  REGISTRY_ASSETS,
  RISK_PARAMETERS,
  TOKEN_DECIMALS,
  VAULTS,
} from '../codec/shapes/registry-shapes.ts';
import { rowsBefore } from '../core/arithmetic.ts';
import { parseAssetId } from '../core/ids.ts';
import { ASSETS_BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { BOOLEAN_WORD, LIMIT_QUERY, PAGE_QUERY } from './api/query-docs.ts';
import { answer, type GatewayRoute, nothing, publicRoute, type RequestParts, sessionRoute } from './oms-kit.ts';
import { NO_MARKET, pageAt } from './path-values.ts';
import type { PageWindow } from './query.ts';

const SYMBOLS_WITHOUT_PAGE: Reject = reject(
  'INVALID_REQUEST',
  'include_symbol_map needs page or limit',
  'include_symbol_map',
);

const MARKET_EXAMPLE =
  '{"asset_id":"1","book_price_decimals":1,"book_quantity_decimals":5,"max_leverage":"20","isolated_only":false,' +
  '"tick_size":"0.1","min_order_size":"0.0001","fee_schedule":{"fee_account":"9a9a","global":[],"per_asset":[]},' +
  '"maker_fee_rate":100,"taker_fee_rate":450,"status":"Active","self_trade_prevention":false}';

const TOKEN = `${'5a'.repeat(20)}${'0'.repeat(24)}`;
const TOKEN_ID = `${TOKEN}@000000000000007a69`;
const PUBLIC = { area: 'Registry', auth: 'public', cost: 'publicRead' } as const;

export const MARKET_ROUTES: readonly GatewayRoute[] = [
  publicRoute({
    method: 'GET',
    path: '/markets',
    area: 'Markets',
    auth: 'public',
    cost: 'publicRead',
    summary: 'All markets, or a page of them',
    description: 'With `page` or `limit` the reply is an object with a page of markets, without both an array of all.',
    query: [
      PAGE_QUERY,
      LIMIT_QUERY,
      {
        name: 'include_symbol_map',
        shape: BOOLEAN_WORD,
        summary: 'adds `symbol_map`: how every indexed asset is called; needs `page` or `limit`',
      },
    ],
    reply: MARKETS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { reply: `[${MARKET_EXAMPLE}]` },
    read: marketsQueryOf,
    serve: ({ services }, call, { page, withSymbols }) => {
      const views = services.registry.markets();
      if (page === null) return call.reply(bareArray(views.map(marketObject)));
      const symbols = withSymbols ? services.registry.symbols() : null;
      if (symbols?.ok === false) return call.refuse(symbols.reject);
      call.reply(marketsPage(views, page, symbols?.value ?? null));
    },
  }),
  publicRoute({
    method: 'GET',
    path: '/market/{asset_id}',
    area: 'Markets',
    auth: 'public',
    cost: 'publicRead',
    summary: 'One market',
    description: 'Decimals of a market never change: they may be cached permanently.',
    reply: MARKET,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: MARKET_EXAMPLE },
    read: ({ head }) => accepted(parseAssetId(head.parameters[0] ?? '')),
    serve: ({ services }, call, assetId) => {
      const view = assetId === null ? null : services.registry.market(assetId);
      answer(call, view === null ? rejected(NO_MARKET) : accepted(view), marketObject);
    },
  }),
];

export const REGISTRY_ROUTES: readonly GatewayRoute[] = [
  publicRoute({
    ...PUBLIC,
    method: 'GET',
    path: '/registry/assets',
    summary: 'Assets and their tokens on every chain',
    description: '503 until the first snapshot of the registry has arrived.',
    reply: REGISTRY_ASSETS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: {
      reply: `{"0":{"${TOKEN_ID}":{"address":"${TOKEN}","maxDeposits":"1000000000000000000000000","max1hrDeposits":"100000000000000000000000","minWeight":"1200000","max_deposits":"1000000000000000000000000","max_1hr_deposits":"100000000000000000000000","symbol":"USDT","decimals":6}}}`,
    },
    read: nothing,
    serve: ({ services }, call) => answer(call, services.registry.assets(), asIs),
  }),
  publicRoute({
    ...PUBLIC,
    method: 'GET',
    path: '/registry/vaults',
    summary: 'Vaults in the order of their registration',
    reply: VAULTS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { reply: `["${'0d'.repeat(20)}${'0'.repeat(24)}@000000000000007a69"]` },
    read: nothing,
    serve: ({ services }, call) => answer(call, services.registry.vaults(), asIs),
  }),
  publicRoute({
    ...PUBLIC,
    method: 'GET',
    path: '/registry/risk-parameters',
    summary: 'Risk parameters by asset',
    description: 'Funding and utilization figures are stored and shown, but not charged.',
    reply: RISK_PARAMETERS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: {
      reply:
        '{"1":{"collateral_factor":95,"liability_factor":105,"max_collateral":"1000000000000000000000","max_total_open_interest_notional":"100000000000000000000000000","max_spot_open_interest":"1000000000000000000000","max_utilization":"1000000000000000000","isolated_only":false,"initial_margin_clamps":[0],"initial_margin_factors":[999999],"max_funding_rate":0,"max_utilization_rate":0,"utilization_kinks":[],"rate_at_kinks":[],"quote_utilization_kinks":[],"quote_rate_at_kinks":[],"skew_factor":0,"base_funding_rate":0,"skew_cliff":0,"premium_clamp":0,"buffer_multiplier":0,"min_sub_account_balance":"0"}}',
    },
    read: nothing,
    serve: ({ services }, call) => answer(call, services.registry.riskParameters(), asIs),
  }),
  publicRoute({
    ...PUBLIC,
    method: 'GET',
    path: '/registry/netting-parameters',
    summary: 'Parameters of netting',
    description: 'Netting is not offered: the list is empty.',
    reply: NETTING_PARAMETERS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { reply: '[]' },
    read: nothing,
    serve: ({ services }, call) => answer(call, services.registry.nettingParameters(), asIs),
  }),
  publicRoute({
    ...PUBLIC,
    method: 'POST',
    path: '/registry/decimals',
    summary: 'Decimals of tokens',
    body: DECIMALS_REQUEST,
    bodyBytesMax: ASSETS_BODY_BYTES_MAX,
    reply: TOKEN_DECIMALS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { body: `{"assets":["${TOKEN_ID}"]}`, reply: `{"${TOKEN_ID}":6}` },
    read: ({ body }) => decodeAssetList(body, DECIMALS_REQUEST),
    serve: ({ services }, call, assets) => answer(call, services.registry.decimals(assets), decimalsReply),
  }),
  sessionRoute({
    method: 'POST',
    path: '/registry/decimals/update',
    area: 'Registry',
    auth: 'session',
    cost: 'action',
    summary: 'Request a refresh of decimals',
    description: 'At most 100 tokens. The refresh happens later.',
    body: DECIMALS_REFRESH,
    bodyBytesMax: ASSETS_BODY_BYTES_MAX,
    reply: EMPTY,
    example: { body: `{"assets":["${TOKEN_ID}"]}`, reply: '{}' },
    isForReaders: true,
    read: ({ body }) => decodeAssetList(body, DECIMALS_REFRESH),
    // Decimals are constant once a token is registered, and the registry here follows clearing, so it is always current.
    serve: (_, call) => call.reply('{}'),
  }),
  publicRoute({
    ...PUBLIC,
    method: 'POST',
    path: '/market/create',
    area: 'Markets',
    summary: 'Create a market, where self-service is enabled',
    description:
      'Returns the market if it exists. Creates it only in profiles with self-service, for an asset with risk parameters.',
    body: MARKET_REQUEST,
    reply: MARKET,
    errors: ['MARKET_NOT_FOUND', 'SERVICE_UNAVAILABLE', 'TIMEOUT_UNKNOWN_STATE'],
    example: {
      body: '{"asset_id":"1"}',
      reply:
        '{"asset_id":"1","book_price_decimals":1,"book_quantity_decimals":5,"max_leverage":"20","isolated_only":false,"tick_size":"0.1","min_order_size":"0.0001","fee_schedule":{"fee_account":"9a9a","global":[],"per_asset":[]},"maker_fee_rate":100,"taker_fee_rate":450,"status":"Active","self_trade_prevention":false}',
    },
    read: ({ body }) => decodeMarketAsset(body),
    serve: async ({ services }, call, assetId) =>
      answer(call, await services.registry.createMarket(assetId), marketObject),
  }),
];

/** A reply that the registry has printed. */
function asIs(text: string): string {
  return text;
}

interface MarketsQuery {
  /** Null: all markets, as a bare array. */
  readonly page: PageWindow | null;
  readonly withSymbols: boolean;
}

/** `page` or `limit` makes a page of it; `include_symbol_map` needs one of them (wire-additions.md 5). */
function marketsQueryOf({ query }: RequestParts): Outcome<MarketsQuery> {
  const page = pageAt(query);
  if (!page.ok) return page;
  const withSymbols = query.flag('include_symbol_map');
  if (!withSymbols.ok) return withSymbols;
  const isPage = query.has('page') || query.has('limit');
  if (!isPage && query.has('include_symbol_map')) return rejected(SYMBOLS_WITHOUT_PAGE);
  return accepted({ page: isPage ? page.value : null, withSymbols: withSymbols.value });
}

/** @param symbols the JSON of `symbol_map`, null to leave it out. */
function marketsPage(views: readonly MarketView[], { page, limit }: PageWindow, symbols: string | null): string {
  const start = rowsBefore({ page, limit });
  const rows = views.slice(start, start + limit).map(marketObject);
  const text = pageEnvelope('markets', { rows, page, limit, total: views.length });
  return symbols === null ? text : `${text.slice(0, -1)},"symbol_map":${symbols}}`;
}
