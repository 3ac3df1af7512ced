/** Positions, margin, solvency and simulations of a session's own user (wire.md 7.11 to 7.16). */

import type { PositionView } from '../codec/margin-replies.ts';
import { closePreviewReply, marginReply, position, simulationReply, solvencyReply } from '../codec/margin-replies.ts';
import { pageEnvelope } from '../codec/pages.ts';
import {
  CLOSE_ALL_PREVIEW,
  MARGIN,
  POSITION_PAGE,
  SIMULATE_REQUEST,
  SIMULATION,
  SOLVENCY,
} from '../codec/shapes/account-shapes.ts';
import { decodeSimulateRequest } from '../codec/simulate-request.ts';
import { rowsBefore } from '../core/arithmetic.ts';
import { SMALL_BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { BOOLEAN_WORD, LIMIT_QUERY, PAGE_QUERY, SUB_ACCOUNT_QUERY } from './api/query-docs.ts';
import { answer, type GatewayRoute, nothing, type RequestParts, sessionRoute } from './oms-kit.ts';
import { marketIn, pageAt, subAccountIn, subAccountsOf } from './path-values.ts';
import type { PageWindow, Query } from './query.ts';
import type { HttpCall } from './uws-http.ts';

const POSITION_EXAMPLE =
  '{"asset_id":"1","name":"Margin","sub_account_index":1,"side":"long","size":"0.5","base_credits":"0.5","base_liabilities":"0","quote_credits":"0","quote_liabilities":"30013.5","entry_price":"60000","mark_price":"60100","unrealized_pnl":"50","margin":"1502.5","leverage":"20","liquidation_price":"58210.4"}';
const PAGE_EXAMPLE = `{"positions":[${POSITION_EXAMPLE}],"page":0,"limit":100,"total_positions":1,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`;
const OWN = { method: 'GET', area: 'Margin', auth: 'session', cost: 'action' } as const;
const POSITIONS_QUERY = [PAGE_QUERY, LIMIT_QUERY, SUB_ACCOUNT_QUERY];

export const MARGIN_ROUTES: readonly GatewayRoute[] = [
  sessionRoute({
    ...OWN,
    path: '/positions/{user_id}',
    summary: 'Your positions',
    description:
      'By sub-account, then by asset. A position without base leg is `closed` until its quote leg is moved into the balance.',
    query: POSITIONS_QUERY,
    reply: POSITION_PAGE,
    example: { reply: PAGE_EXAMPLE },
    read: ({ query }) => positionPageOf(query),
    serve: ({ services }, call, { user }, page) =>
      answerPositions(call, services.margin.positions(user, { assetId: null, subAccounts: page.subAccounts }), page),
  }),
  sessionRoute({
    ...OWN,
    path: '/positions/{user_id}/{asset_id}',
    summary: 'Your positions in one market',
    query: POSITIONS_QUERY,
    reply: POSITION_PAGE,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: PAGE_EXAMPLE },
    read: ({ query }) => positionPageOf(query),
    serve: ({ services }, call, { user }, page) => {
      const market = marketIn(call.head, 1);
      if (!market.ok) return call.refuse(market.reject);
      const found = services.margin.positions(user, { assetId: market.value, subAccounts: page.subAccounts });
      answerPositions(call, found, page);
    },
  }),
  sessionRoute({
    ...OWN,
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
    read: ({ head }) => subAccountIn(head, 1),
    serve: ({ services }, call, { user }, subAccount) =>
      call.reply(closePreviewReply(services.margin.closePreview(user, subAccount))),
  }),
  sessionRoute({
    ...OWN,
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
    read: marginQueryOf,
    serve: ({ services }, call, { user }, { subAccounts, withPositions }) =>
      call.replyDeprecated(marginReply(services.margin.figures(user, subAccounts), withPositions)),
  }),
  sessionRoute({
    ...OWN,
    path: '/solvency/user/{user_id}',
    summary: 'Distance of your margin accounts from liquidation',
    reply: SOLVENCY,
    errors: ['PRICING_UNAVAILABLE'],
    example: { reply: '{"accounts":{"1":{"is_solvent":true,"distance_from_liquidation":"6100.4"}}}' },
    read: nothing,
    serve: ({ services }, call, { user }) => call.reply(solvencyReply(services.margin.figures(user, null))),
  }),
  sessionRoute({
    ...OWN,
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
    isForReaders: true,
    read: ({ body }) => decodeSimulateRequest(body),
    serve: ({ services }, call, { user }, request) =>
      answer(call, services.margin.simulate(user, request), simulationReply),
  }),
];

interface PositionPage extends PageWindow {
  readonly subAccounts: readonly number[] | null;
}

function positionPageOf(query: Query): Outcome<PositionPage> {
  const page = pageAt(query);
  if (!page.ok) return page;
  const subAccounts = subAccountsOf(query);
  return subAccounts.ok ? accepted({ ...page.value, subAccounts: subAccounts.value }) : subAccounts;
}

/** One page of the positions that were found. */
function answerPositions(call: HttpCall, found: Outcome<readonly PositionView[]>, { page, limit }: PageWindow): void {
  answer(call, found, (views) => {
    const rows = views.map(position);
    const start = rowsBefore({ page, limit });
    return pageEnvelope('positions', { rows: rows.slice(start, start + limit), page, limit, total: rows.length });
  });
}

interface MarginQuery {
  readonly subAccounts: readonly number[] | null;
  readonly withPositions: boolean;
}

function marginQueryOf({ query }: RequestParts): Outcome<MarginQuery> {
  const subAccounts = subAccountsOf(query);
  if (!subAccounts.ok) return subAccounts;
  const withPositions = query.flag('include_positions');
  if (!withPositions.ok) return withPositions;
  return accepted({ subAccounts: subAccounts.value, withPositions: withPositions.value });
}
