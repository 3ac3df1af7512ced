/**
 * Assets, risk parameters and markets (operator-api.md 4.1 to 4.3). commands.ts parses the bodies; reads use the
 * gateway's copy of the registry.
 */
import type { Logger } from 'pino';
import { assetNotFound, assetRiskOf, assetView } from '../clearing/registry/registry-assets.ts';
import { marketView } from '../clearing/registry/registry-markets.ts';
import { riskView } from '../clearing/registry/risk-parameters.ts';
import type { AssetRow } from '../clearing/rows.ts';
import type { Shape } from '../codec/shapes/shape-kit.ts';
import { type AssetId, compareAssetIds, parseAssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type RejectName, reject } from '../core/reject.ts';
import { request } from './operator-change.ts';
import type { OpsCall, OpsReply, OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { publicAccounts } from './own-accounts.ts';
import { REGISTRY_BODIES } from './registry-bodies.ts';
import { ASSET_SHOWN, ASSETS_SHOWN, MARKET_SHOWN, MARKETS_SHOWN, RISK_SHOWN, RISKS_SHOWN } from './reply-shapes.ts';

const ASSET_DOC: ObjectDoc = {
  path: '/operator/assets/{asset_id}',
  area: 'Assets',
  what: 'Names, tokens and rates',
  body: REGISTRY_BODIES.asset,
  reply: ASSET_SHOWN,
  errors: ['ASSET_NOT_FOUND', 'IMMUTABLE_FIELD'],
  example: {
    body: '{"symbol":"ETH"}',
    reply:
      '{"asset_id":"2","symbol":"ETH","max_adl":null,"rebalancing":{"mode":"fixed","deposit_rate":"0","withdrawal_rate":"0"},"mark_band":null,"mark_min_notional":"0","tokens":[]}',
  },
};
const RISK_DOC: ObjectDoc = {
  path: '/operator/risk-parameters/{asset_id}',
  area: 'Risk parameters',
  what: 'Risk parameters',
  body: REGISTRY_BODIES.risk,
  reply: RISK_SHOWN,
  errors: ['ASSET_NOT_FOUND', 'IMMUTABLE_FIELD'],
  example: {
    body: '{"collateral_factor":90,"liability_factor":95,"max_collateral":"100000000000000000000000"}',
    reply:
      '{"collateral_factor":90,"liability_factor":95,"max_collateral":"100000000000000000000000","max_total_open_interest_notional":null,"max_spot_open_interest":null,"max_utilization":"900000000000000000","isolated_only":false,"initial_margin_clamps":[0,500000],"initial_margin_factors":[1000000,950000],"max_funding_rate":0,"max_utilization_rate":0,"utilization_kinks":[0,1000000],"rate_at_kinks":[0,0],"quote_utilization_kinks":[0,1000000],"quote_rate_at_kinks":[0,0],"skew_factor":0,"base_funding_rate":0,"skew_cliff":0,"premium_clamp":0,"buffer_multiplier":1000000,"min_sub_account_balance":"0"}',
  },
};
const MARKET_DOC: ObjectDoc = {
  path: '/operator/markets/{asset_id}',
  area: 'Markets',
  what: 'The market',
  body: REGISTRY_BODIES.market,
  reply: MARKET_SHOWN,
  errors: ['ASSET_NOT_FOUND', 'MARKET_NOT_FOUND', 'IMMUTABLE_FIELD'],
  example: {
    body: '{"book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","maker_fee_rate":100,"taker_fee_rate":450}',
    reply:
      '{"asset_id":"2","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","min_notional":"0.01","maker_fee_rate":100,"taker_fee_rate":450,"status":"Active","self_trade_prevention":false,"price_collar":null}',
  },
};

/** @param log receives a warning for each asset whose mark is bound by nothing. */
export function registryRoutes(parts: OpsParts, log: Logger): readonly OpsRoute[] {
  return [...assetRoutes(parts, log), ...riskRoutes(parts), ...marketRoutes(parts)];
}

/** The `{asset_id}` of a path, in its normal form. */
function assetParam(call: OpsCall): Outcome<AssetId> {
  const id = parseAssetId(call.param('asset_id'));
  return id === null ? rejected(reject('INVALID_REQUEST', 'an asset id is expected', 'asset_id')) : accepted(id);
}

/** What documents say of an object by asset. */
interface ObjectDoc extends Pick<OpsRoute, 'path' | 'area' | 'reply'> {
  readonly what: string;
  readonly body: Shape;
  readonly example: { readonly body: string; readonly reply: string };
  readonly errors: readonly RejectName[];
}

/** GET, PUT and PATCH of one object by asset. */
function objectRoutes(
  parts: OpsParts,
  doc: ObjectDoc,
  kind: 'putAsset' | 'putRisk' | 'putMarket',
  read: (assetId: AssetId) => OpsReply,
  changed: (view: Readonly<Record<string, unknown>>) => void = () => undefined,
): readonly OpsRoute[] {
  const put = (method: 'put' | 'patch') => async (call: OpsCall) => {
    const id = assetParam(call);
    const refused = kind === 'putMarket' ? withoutAccounts(parts) : null;
    if (refused !== null) return refused;
    if (!id.ok) return id;
    const reply = await request(parts, { kind, method, assetId: id.value, body: call.body }, call.by);
    if (reply.ok) changed(reply.value);
    return reply;
  };
  const get = (call: OpsCall): OpsReply => {
    const id = assetParam(call);
    return id.ok ? read(id.value) : id;
  };
  const { path, area, what, body, reply, example, errors } = doc;
  const common = { path, area, reply };
  const at = { path: { asset_id: '2' } };
  // An asset has its tokens, which say whose deposits are credited as what.
  const role = kind === 'putAsset' ? 'funds' : 'operate';
  const changes = { ...common, role, isJournaled: true, body, errors, example: { ...at, ...example } } as const;
  return [
    {
      ...common,
      method: 'GET',
      summary: `${what} of an asset`,
      errors: errors.filter((code) => code !== 'IMMUTABLE_FIELD'),
      example: { ...at, reply: example.reply },
      handler: get,
    },
    {
      ...changes,
      method: 'PUT',
      summary: `Set ${what.toLowerCase()} of an asset`,
      description: 'Replaces the whole object: members left out take their default.',
      handler: put('put'),
    },
    {
      ...changes,
      method: 'PATCH',
      summary: `Change ${what.toLowerCase()} of an asset`,
      description: 'Changes the members given.',
      handler: put('patch'),
    },
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
      path: '/operator/assets',
      area: 'Assets',
      summary: 'All assets',
      reply: ASSETS_SHOWN,
      example: { reply: `{"assets":[${ASSET_DOC.example.reply}]}` },
      handler: () => accepted({ assets: assetsInOrder(parts).map(assetView) }),
    },
    ...objectRoutes(parts, ASSET_DOC, 'putAsset', read, (view) => {
      if (view['mark_band'] !== 'none') return;
      log.warn({ asset: view['asset_id'] }, 'the mark of this asset is bound by no oracle: mark_band is none');
    }),
  ];
}

/** The list is keyed by asset, as the public one is (wire.md 7.3). */
function riskRoutes(parts: OpsParts): readonly OpsRoute[] {
  const read = (id: AssetId): OpsReply => {
    const row = assetOf(parts, id);
    return row.ok ? accepted(riskView(assetRiskOf(row.value))) : row;
  };
  return [
    {
      method: 'GET',
      path: '/operator/risk-parameters',
      area: 'Risk parameters',
      summary: 'Risk parameters of all assets',
      reply: RISKS_SHOWN,
      example: { reply: `{"2":${RISK_DOC.example.reply}}` },
      handler: () =>
        accepted(Object.fromEntries(assetsInOrder(parts).map((row) => [row.assetId, riskView(assetRiskOf(row))]))),
    },
    ...objectRoutes(parts, RISK_DOC, 'putRisk', read),
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
    {
      method: 'GET',
      path: '/operator/markets',
      area: 'Markets',
      summary: 'All markets',
      reply: MARKETS_SHOWN,
      example: { reply: `{"markets":[${MARKET_DOC.example.reply}]}` },
      handler: list,
    },
    ...objectRoutes(parts, MARKET_DOC, 'putMarket', read),
  ];
}
