/** Public market definitions (wire.md 7.2). */

import { marketObject } from '../codec/market-reply.ts';
import { bareArray } from '../codec/pages.ts';
import { parseAssetId } from '../core/ids.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { answer, noShape, type RouteKit } from './oms-kit.ts';
import { NO_MARKET } from './path-values.ts';

export function addMarketRoutes(kit: RouteKit): void {
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
