/** Assets, vaults, risk parameters and decimals, and creation of markets by users (wire.md 7.2, 7.3). */

import { marketObject } from '../codec/market-reply.ts';
import { bareArray } from '../codec/pages.ts';
import { decimalsReply } from '../codec/registry-reply.ts';
import { decodeAssetList, decodeMarketAsset } from '../codec/registry-requests.ts';
import { DECIMALS_REFRESH, DECIMALS_REQUEST } from '../codec/shapes/registry-shapes.ts';
import { parseAssetId } from '../core/ids.ts';
import { ASSETS_BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { answer, noShape, type RouteKit } from './oms-kit.ts';
import { NO_MARKET } from './path-values.ts';

export function addRegistryRoutes(kit: RouteKit): void {
  addMarkets(kit);
  const { registry } = kit.services;
  addPrinted(kit, '/registry/assets', () => registry.assets());
  addPrinted(kit, '/registry/vaults', () => registry.vaults());
  addPrinted(kit, '/registry/risk-parameters', () => registry.riskParameters());
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

function addMarkets(kit: RouteKit): void {
  const { services } = kit;
  kit.addPublic({
    method: 'GET',
    pattern: '/markets',
    shape: noShape,
    serve: (call) => call.reply(bareArray(services.registry.markets().map(marketObject))),
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
