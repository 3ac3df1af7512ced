/** Positions, margin, solvency and simulations (wire.md 7.11 to 7.16). */

import {
  CLOSE_ALL_PREVIEW,
  MARGIN,
  POSITION_PAGE,
  SIMULATE_REQUEST,
  SIMULATION,
  SOLVENCY,
} from '../../codec/shapes/account-shapes.ts';
import { SMALL_BODY_BYTES_MAX } from '../../core/limits.ts';
import type { RouteDoc } from './api-table.ts';
import { BOOLEAN_WORD, LIMIT_QUERY, PAGE_QUERY, SUB_ACCOUNT_QUERY } from './query-docs.ts';

const POSITION_EXAMPLE =
  '{"asset_id":"1","name":"Margin","sub_account_index":1,"side":"long","size":"0.5","base_credits":"0.5","base_liabilities":"0","quote_credits":"0","quote_liabilities":"30013.5","entry_price":"60000","mark_price":"60100","unrealized_pnl":"50","margin":"1502.5","leverage":"20","liquidation_price":"58210.4"}';
const PAGE_EXAMPLE = `{"positions":[${POSITION_EXAMPLE}],"page":0,"limit":100,"total_positions":1,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`;
const READ = { method: 'GET', area: 'Margin', auth: 'session', cost: 'action' } as const;
const QUERY = [PAGE_QUERY, LIMIT_QUERY, SUB_ACCOUNT_QUERY];

export const OMS_MARGIN_ROUTES: readonly RouteDoc[] = [
  {
    ...READ,
    path: '/positions/{user_id}',
    summary: 'Your positions',
    description:
      'By sub-account, then by asset. A position without base leg is `closed` until its quote leg is moved into the balance.',
    query: QUERY,
    reply: POSITION_PAGE,
    example: { reply: PAGE_EXAMPLE },
  },
  {
    ...READ,
    path: '/positions/{user_id}/{asset_id}',
    summary: 'Your positions in one market',
    query: QUERY,
    reply: POSITION_PAGE,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: PAGE_EXAMPLE },
  },
  {
    ...READ,
    path: '/positions/close-all/{user_id}/{sub_account}',
    summary: 'Orders that would close every position of a sub-account',
    description:
      'Sends nothing: these are orders for you to sign. An asset without a usable price is listed under `errors`.',
    reply: CLOSE_ALL_PREVIEW,
    example: {
      path: { sub_account: '1' },
      reply:
        '{"orders":[{"asset_id":"1","side":"Sell","quantity":50000,"suggested_max_sellable_amount":null,"oracle_price":"60100","book_price_decimals":1,"book_quantity_decimals":5,"sub_account_index":1,"reduce_only":true}],"errors":{"2":"no usable price"}}',
    },
  },
  {
    ...READ,
    path: '/margin/user/{user_id}',
    summary: 'Equity and margin of your margin accounts',
    description:
      'Equity at mark, surpluses at the worse of oracle and mark. `available_margin` is available to new orders: the initial surplus minus the exposure of open orders.',
    query: [
      SUB_ACCOUNT_QUERY,
      { name: 'include_positions', shape: BOOLEAN_WORD, summary: 'adds `positions` to every account' },
    ],
    reply: MARGIN,
    isDeprecated: true,
    errors: ['PRICING_UNAVAILABLE'],
    example: {
      query: 'include_positions=true',
      reply:
        '{"accounts":{"1":{"account_equity":"8100.2","available_margin":"5400","utilized_margin":"2300","maintenance_margin_surplus":"6100.4","account_leverage":"0.97","is_solvent":true,"is_liquidatable":false,"im_surplus":"5600","unrealized_pnl":"12.4","positions":[{"asset_id":"1","side":"Long","size":"0.5","notional_value":"30050","margin":"1502.5"}],"total_upnl":"12.4","mm_requirement":"1999.8","net_apy":null,"margin_calls":[],"netting":null}},"warnings":[]}',
    },
  },
  {
    ...READ,
    path: '/solvency/user/{user_id}',
    summary: 'Distance of your margin accounts from liquidation',
    reply: SOLVENCY,
    errors: ['PRICING_UNAVAILABLE'],
    example: { reply: '{"accounts":{"1":{"is_solvent":true,"distance_from_liquidation":"6100.4"}}}' },
  },
  {
    ...READ,
    method: 'POST',
    path: '/account/simulate/{user_id}',
    summary: 'Try a trade on',
    description:
      'Uses the functions that accept an order: `trade_accepted` is their result. Unsigned; changes nothing. `pending_transfers` are credited first; a negative amount leaves the account.',
    body: SIMULATE_REQUEST,
    bodyBytesMax: 2 * SMALL_BODY_BYTES_MAX,
    reply: SIMULATION,
    errors: ['MARKET_NOT_FOUND', 'PRICING_UNAVAILABLE'],
    example: {
      body: '{"sub_account":1,"trade":{"asset":"1","is_buy":true,"size":"100000000000000000","limit_price":"60000000000000000000000","trade_type":"margin"},"pending_transfers":[]}',
      reply:
        '{"account_equity":"8100.2","available_margin":"4900","mm_surplus":"5800","account_leverage":"1.55","utilized_margin":"2800","margin_required":"500","margin_impact":"-500","is_solvent":true,"trade_accepted":true,"liquidation_price":null,"positions":[{"asset_id":"1","side":"Long","size":"0.1","notional_value":"6000","margin":"300"}]}',
    },
  },
];
