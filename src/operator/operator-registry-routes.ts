/**
 * Assets, risk parameters and markets (operator-api.md 4.1 to 4.3). commands.ts parses the bodies; reads use the
 * gateway's copy of the registry.
 */
import type { Logger } from 'pino';
import { assetNotFound, assetView, riskOf } from '../clearing/registry/registry-assets.ts';
import { marketView } from '../clearing/registry/registry-markets.ts';
import { riskView } from '../clearing/registry/risk-parameters.ts';
import type { AssetRow } from '../clearing/rows.ts';
import { type AssetId, compareAssetIds, parseAssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { request } from './operator-change.ts';
import type { OpsCall, OpsReply, OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { publicAccounts } from './own-accounts.ts';

/** @param log receives a warning for each asset whose mark is bound by nothing. */
export function registryRoutes(parts: OpsParts, log: Logger): readonly OpsRoute[] {
  return [...assetRoutes(parts, log), ...riskRoutes(parts), ...marketRoutes(parts)];
}

/** The `{asset_id}` of a path, in its normal form. */
function assetParam(call: OpsCall): Outcome<AssetId> {
  const id = parseAssetId(call.param('asset_id'));
  return id === null ? rejected(reject('INVALID_REQUEST', 'an asset id is expected', 'asset_id')) : accepted(id);
}

/** GET, PUT and PATCH of one object by asset. */
function objectRoutes(
  parts: OpsParts,
  pattern: string,
  kind: 'putAsset' | 'putRisk' | 'putMarket',
  read: (assetId: AssetId) => OpsReply,
  changed: (view: Readonly<Record<string, unknown>>) => void = () => undefined,
): readonly OpsRoute[] {
  const put = (method: 'put' | 'patch') => async (call: OpsCall) => {
    const id = assetParam(call);
    const refused = kind === 'putMarket' ? withoutAccounts(parts) : null;
    if (refused !== null) return refused;
    if (!id.ok) return id;
    const reply = await request(parts, { kind, method, assetId: id.value, body: call.body });
    if (reply.ok) changed(reply.value);
    return reply;
  };
  const get = (call: OpsCall): OpsReply => {
    const id = assetParam(call);
    return id.ok ? read(id.value) : id;
  };
  return [
    { method: 'GET', pattern, handler: get },
    { method: 'PUT', pattern, handler: put('put') },
    { method: 'PATCH', pattern, handler: put('patch') },
  ];
}

/** A market of a production node must not pay fees to a publicly known key. @returns the reject, or null. */
function withoutAccounts(parts: OpsParts): OpsReply | null {
  const [member] = parts.config.profile === 'production' ? publicAccounts(parts.gateway.registry.rows()) : [];
  if (member === undefined) return null;
  return rejected(
    reject('INVALID_REQUEST', `before there is a market, PATCH /operator/settings with ${member}`, member),
  );
}

function assetsInOrder(parts: OpsParts): readonly AssetRow[] {
  return [...parts.gateway.registry.rows().assets.values()].sort((a, b) => compareAssetIds(a.assetId, b.assetId));
}

function assetOf(parts: OpsParts, id: AssetId): Outcome<AssetRow> {
  const row = parts.gateway.registry.rows().assets.get(id);
  return row === undefined ? rejected(assetNotFound(id)) : accepted(row);
}

function assetRoutes(parts: OpsParts, log: Logger): readonly OpsRoute[] {
  const read = (id: AssetId): OpsReply => {
    const row = assetOf(parts, id);
    return row.ok ? accepted(assetView(row.value)) : row;
  };
  return [
    {
      method: 'GET',
      pattern: '/operator/assets',
      handler: () => accepted({ assets: assetsInOrder(parts).map(assetView) }),
    },
    ...objectRoutes(parts, '/operator/assets/{asset_id}', 'putAsset', read, (view) => {
      if (view['mark_band'] !== 'none') return;
      log.warn({ asset: view['asset_id'] }, 'the mark of this asset is bound by no oracle: mark_band is none');
    }),
  ];
}

/** The list is keyed by asset, as the public one is (wire.md 7.3). */
function riskRoutes(parts: OpsParts): readonly OpsRoute[] {
  const read = (id: AssetId): OpsReply => {
    const row = assetOf(parts, id);
    return row.ok ? accepted(riskView(riskOf(row.value))) : row;
  };
  return [
    {
      method: 'GET',
      pattern: '/operator/risk-parameters',
      handler: () =>
        accepted(Object.fromEntries(assetsInOrder(parts).map((row) => [row.assetId, riskView(riskOf(row))]))),
    },
    ...objectRoutes(parts, '/operator/risk-parameters/{asset_id}', 'putRisk', read),
  ];
}

function marketRoutes(parts: OpsParts): readonly OpsRoute[] {
  const read = (id: AssetId): OpsReply => {
    const definition = parts.gateway.registry.rows().definitions.get(id);
    return definition === undefined
      ? rejected(reject('MARKET_NOT_FOUND', `there is no market of asset ${id}`))
      : accepted(marketView(definition));
  };
  const list = (): OpsReply => {
    const definitions = [...parts.gateway.registry.rows().definitions.values()];
    definitions.sort((a, b) => compareAssetIds(a.assetId, b.assetId));
    return accepted({ markets: definitions.map(marketView) });
  };
  return [
    { method: 'GET', pattern: '/operator/markets', handler: list },
    ...objectRoutes(parts, '/operator/markets/{asset_id}', 'putMarket', read),
  ];
}
