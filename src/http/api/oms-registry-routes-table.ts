/** The registry: assets, vaults, risk parameters, decimals (wire.md 7.2, 7.3). */

import { EMPTY } from '../../codec/shapes/account-shapes.ts';
import {
  DECIMALS_REFRESH,
  DECIMALS_REQUEST,
  MARKET,
  MARKET_REQUEST,
  NETTING_PARAMETERS,
  REGISTRY_ASSETS,
  RISK_PARAMETERS,
  TOKEN_DECIMALS,
  VAULTS,
} from '../../codec/shapes/registry-shapes.ts';
import { ASSETS_BODY_BYTES_MAX } from '../../core/limits.ts';
import type { RouteDoc } from './api-table.ts';

const TOKEN = `${'5a'.repeat(20)}${'0'.repeat(24)}`;
const TOKEN_ID = `${TOKEN}@000000000000007a69`;
const PUBLIC = { area: 'Registry', auth: 'public', cost: 'publicRead' } as const;

export const OMS_REGISTRY_ROUTES: readonly RouteDoc[] = [
  {
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
  },
  {
    ...PUBLIC,
    method: 'GET',
    path: '/registry/vaults',
    summary: 'Vaults in the order of their registration',
    reply: VAULTS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { reply: `["${'0d'.repeat(20)}${'0'.repeat(24)}@000000000000007a69"]` },
  },
  {
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
  },
  {
    ...PUBLIC,
    method: 'GET',
    path: '/registry/netting-parameters',
    summary: 'Parameters of netting',
    description: 'Netting is not offered: the list is empty.',
    reply: NETTING_PARAMETERS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { reply: '[]' },
  },
  {
    ...PUBLIC,
    method: 'POST',
    path: '/registry/decimals',
    summary: 'Decimals of tokens',
    body: DECIMALS_REQUEST,
    bodyBytesMax: ASSETS_BODY_BYTES_MAX,
    reply: TOKEN_DECIMALS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { body: `{"assets":["${TOKEN_ID}"]}`, reply: `{"${TOKEN_ID}":6}` },
  },
  {
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
  },
  {
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
  },
];
