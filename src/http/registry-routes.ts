/** Assets, vaults, risk parameters and decimals, and creation of markets by users (wire.md 7.2, 7.3). */

import { type MarketView, marketObject } from '../codec/market-reply.ts';
import { bareArray, pageEnvelope } from '../codec/pages.ts';
import { decimalsReply } from '../codec/registry-reply.ts';
import { decodeAssetList, decodeMarketAsset } from '../codec/registry-requests.ts';
import { DECIMALS_REFRESH, DECIMALS_REQUEST } from '../codec/shapes/registry-shapes.ts';
import { rowsBefore } from '../core/arithmetic.ts';
import { parseAssetId } from '../core/ids.ts';
import { ASSETS_BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { answer, noShape, type RequestParts, type RouteKit } from './oms-kit.ts';
import { NO_MARKET, pageOf } from './path-values.ts';
import { PAGE_MEMBERS, type Page } from './query.ts';

const SYMBOLS_WITHOUT_PAGE: Reject = reject(
  'INVALID_REQUEST',
  'include_symbol_map needs page or limit',
  'include_symbol_map',
);

export function addRegistryRoutes(kit: RouteKit): void {
  addMarkets(kit);
  const { registry } = kit.services;
  addPrinted(kit, '/registry/assets', () => registry.assets());
  addPrinted(kit, '/registry/vaults', () => registry.vaults());
  addPrinted(kit, '/registry/risk-parameters', () => registry.riskParameters());
  addPrinted(kit, '/registry/netting-parameters', () => registry.nettingParameters());
  kit.addPublic({
    method: 'POST',
    pattern: '/registry/decimals',
    bodyBytesMax: ASSETS_BODY_BYTES_MAX,
    shape: ({ body }) => decodeAssetList(body, DECIMALS_REQUEST),
    serve: (call, assets) => answer(call, registry.decimals(assets), decimalsReply),
  });
  kit.addSession({
    method: 'POST',
    pattern: '/registry/decimals/update',
    cost: 'action',
    isChange: false,
    bodyBytesMax: ASSETS_BODY_BYTES_MAX,
    shape: ({ body }) => decodeAssetList(body, DECIMALS_REFRESH),
    // Decimals are constant once a token is registered, and the registry here follows clearing, so it is always
    // current.
    serve: (call) => call.reply('{}'),
  });
  kit.addPublic({
    method: 'POST',
    pattern: '/market/create',
    shape: ({ body }) => decodeMarketAsset(body),
    serve: async (call, assetId) => answer(call, await registry.createMarket(assetId), marketObject),
  });
}

function addPrinted(kit: RouteKit, pattern: string, read: () => Outcome<string>): void {
  kit.addPublic({
    method: 'GET',
    pattern,
    shape: noShape,
    serve: (call) => answer(call, read(), (text) => text),
  });
}

interface MarketsQuery {
  /** Null: all markets, as a bare array. */
  readonly page: Page | null;
  readonly withSymbols: boolean;
}

/** `page` or `limit` makes a page of it; `include_symbol_map` needs one of them (wire-additions.md 5). */
function marketsQueryOf({ query }: RequestParts): Outcome<MarketsQuery> {
  const page = pageOf(query);
  if (!page.ok) return page;
  const withSymbols = query.flag('include_symbol_map');
  if (!withSymbols.ok) return withSymbols;
  const isPage = query.has('page') || query.has('limit');
  if (!isPage && query.has('include_symbol_map')) return rejected(SYMBOLS_WITHOUT_PAGE);
  return accepted({ page: isPage ? page.value : null, withSymbols: withSymbols.value });
}

/** @param symbols the JSON of `symbol_map`, null to leave it out. */
function marketsPage(views: readonly MarketView[], { page, limit }: Page, symbols: string | null): string {
  const start = rowsBefore({ page, limit });
  const rows = views.slice(start, start + limit).map(marketObject);
  const text = pageEnvelope('markets', { rows, page, limit, total: views.length });
  return symbols === null ? text : `${text.slice(0, -1)},"symbol_map":${symbols}}`;
}

function addMarkets(kit: RouteKit): void {
  const { services } = kit;
  kit.addPublic({
    method: 'GET',
    pattern: '/markets',
    query: { ...PAGE_MEMBERS, include_symbol_map: 'once' },
    shape: marketsQueryOf,
    serve: (call, { page, withSymbols }) => {
      const views = services.registry.markets();
      if (page === null) return call.reply(bareArray(views.map(marketObject)));
      const symbols = withSymbols ? services.registry.symbols() : null;
      if (symbols?.ok === false) return call.refuse(symbols.reject);
      call.reply(marketsPage(views, page, symbols?.value ?? null));
    },
  });
  kit.addPublic({
    method: 'GET',
    pattern: '/market/:asset_id',
    shape: ({ head }) => accepted(parseAssetId(head.parameters[0] ?? '')),
    serve: (call, assetId) => {
      const view = assetId === null ? null : services.registry.market(assetId);
      answer(call, view === null ? rejected(NO_MARKET) : accepted(view), marketObject);
    },
  });
}
