/**
 * Reads of users as market data offers them (wire-additions.md 8.2 to 8.5). The gateway answers them, whichever listener
 * received them: below `/market-data` on the order listener, and at the root and below `/market-data` on the market-data
 * listener (passed-requests.ts). At the root of the order listener a filter selects this form (order-read-routes.ts).
 */
import { subAccountNames } from '../codec/account-bodies.ts';
import { type BasisView, basisReply } from '../codec/margin-replies.ts';
import { pageEnvelope } from '../codec/pages.ts';
import { ACCOUNT_NAMES, POSITION_BASIS } from '../codec/shapes/account-shapes.ts';
import { USER_ORDER_PAGE, USER_TRADE_PAGE } from '../codec/shapes/order-reply-shapes.ts';
import type { AssetId } from '../core/ids.ts';
import { ORDER_STATUSES, type OrderStatus, SIDE, type Side } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { Amount18 } from '../core/units.ts';
import type { RowFilter } from '../gateway/orders/history/history-request.ts';
import { averagePrice, type BasisRow, positionSize, unrealizedPnl } from '../gateway/orders/history/position-basis.ts';
import { ONE_ACCOUNT_QUERY, USER_PAGE_QUERIES } from './api/query-docs.ts';
import { loginRoutes } from './login-routes.ts';
import { answer, type GatewayRoute, nothing, type RouteKit, sessionRoute } from './oms-kit.ts';
import type { OmsSession } from './oms-session.ts';
import { marketIn, oneAccountOf, pageAt, timesOf } from './path-values.ts';
import type { PageWindow, Query } from './query.ts';
import type { HttpCall } from './uws-http.ts';

/** The path below which both listeners have the market-data form of a path. */
export const MARKET_DATA_PATH = '/market-data';

export const RECORD_EXAMPLE: string =
  '{"order_id":"demo-order-1","base_asset":"1","side":"Sell","limit_price":"61100","quantity":"0.02","amount":null,' +
  '"max_sellable_amount":null,"max_sellable_quantity":null,"confirmed_filled_quantity":"0","pending_filled_quantity":"0",' +
  '"confirmed_filled_amount":"0","pending_filled_amount":"0","confirmed_trading_fees_amount":"0",' +
  '"pending_trading_fees_amount":"0","good_until_timestamp_ns":null,"timestamp_ns":1770000000000000001,' +
  '"in_flight":false,"canceled":true,"status":"Canceled","trigger_above_price":null,"trigger_below_price":null,' +
  '"trigger_touched":null,"parent_id":null,"last_update_timestamp_ns":1770000004000000000,' +
  '"is_immediate_or_cancel":false,"is_fill_or_kill":false,"is_liquidation":false,"is_auto_deleverage":false,' +
  '"is_reduce_only":false,"trigger_enabled_quantity":null}';
export const USER_TRADE_EXAMPLE: string =
  '{"asset_id":"1","trade_id":88017,"order_id":"demo-order-1","price":"61000","quantity":"0.02",' +
  '"timestamp_ns":1770000004000000000,"is_maker":true,"is_buyer":false,"status":"Confirmed","rollback_reason":null,' +
  '"is_liquidation":false,"is_auto_deleverage":false,"sub_account":1,"trading_fee":"0.122"}';

export function pageExample(list: string, total: string, row: string): string {
  return `{"${list}":[${row}],"page":0,"limit":100,"${total}":1,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`;
}

/** A page of orders or trades in the market-data form. */
export interface FilteredPage extends PageWindow {
  readonly filter: RowFilter;
  readonly subAccounts: readonly number[] | null;
  /** Trades that are not confirmed are in no history: the page is empty. */
  readonly isEmpty: boolean;
}

const OWN = { method: 'GET', area: 'Own history', auth: 'session', isMarketData: () => true } as const;
const BASIS_EXAMPLE =
  '[{"sub_account":1,"asset_id":"1","domain":"margin","side":"long","quantity":"2.5","cost":"7875.6","entry_price":"3150.24","avg_acquisition_price":null,"mark_price":"3151","unrealized_pnl":"1.9"}]';
const SIDES: ReadonlyMap<string, Side> = new Map([
  ['buy', SIDE.buy],
  ['sell', SIDE.sell],
]);
const STATUSES: ReadonlyMap<string, readonly OrderStatus[]> = new Map([
  ...ORDER_STATUSES.map((status): [string, readonly OrderStatus[]] => [status.toLowerCase(), [status]]),
  ['pending', ['Untriggered']],
  ['partial', ['PartiallyFilled']],
  ['cancelled', ['Canceled']],
  ['completed', ['Filled']],
  ['closed', ['Filled', 'Canceled', 'Expired', 'Rejected']],
]);
const TRADE_STATUSES: ReadonlyMap<string, boolean> = new Map([
  ['confirmed', true],
  ['pending', false],
  ['rollbacked', false],
]);

/** Your orders and trades, of all markets or of one. */
function userPages(isOneMarket: boolean): readonly GatewayRoute[] {
  const market = isOneMarket ? '/{asset_id}' : '';
  const where = isOneMarket ? ' in one market' : '';
  const common = {
    ...OWN,
    cost: 'historyPage',
    ...(isOneMarket ? { errors: ['MARKET_NOT_FOUND'] as const } : {}),
  } as const;
  const path = isOneMarket ? { path: { asset_id: '1' } } : {};
  const order = RECORD_EXAMPLE.replace(/\}$/, ',"account_index":1,"is_spot":true,"authorization_revision":null}');
  return [
    sessionRoute({
      ...common,
      path: `/orders/user/{user_id}${market}`,
      summary: `Your orders${where}`,
      description: 'Newest first. Filters are judged before the page and its total; times are those of the creation.',
      query: USER_PAGE_QUERIES.orders,
      reply: USER_ORDER_PAGE,
      example: { ...path, query: 'limit=100', reply: pageExample('orders', 'total_orders', order) },
      read: ({ query }) => orderPageOf(query),
      serve: (kit, call, session, page) => answerOrders(kit, call, session, page, isOneMarket),
    }),
    sessionRoute({
      ...common,
      path: `/trades/user/{user_id}${market}`,
      summary: `Your confirmed trades${where}`,
      description: 'Newest first. Filters are judged before the page and its total; times are those of the match.',
      query: USER_PAGE_QUERIES.trades,
      reply: USER_TRADE_PAGE,
      example: { ...path, query: 'limit=40', reply: pageExample('trades', 'total_trades', USER_TRADE_EXAMPLE) },
      read: ({ query }) => tradePageOf(query),
      serve: (kit, call, session, page) => answerTrades(kit, call, session, page, isOneMarket),
    }),
  ];
}

/** What positions cost, of all markets or of one. */
function basisRoute(isOneMarket: boolean): GatewayRoute {
  return sessionRoute({
    ...OWN,
    path: `/positions/user/{user_id}/basis${isOneMarket ? '/{asset_id}' : ''}`,
    cost: 'action',
    summary: `What your positions${isOneMarket ? ' in one market' : ''} cost`,
    description: [
      'Average cost of your confirmed trades, without fees, transfers, deposits and withdrawals: an estimate, not inventory. A',
      'trade counts as spot or margin like its order; when the record of its order is gone (30 days), like its account.',
    ].join(' '),
    query: [ONE_ACCOUNT_QUERY],
    reply: POSITION_BASIS,
    errors: [...(isOneMarket ? (['MARKET_NOT_FOUND'] as const) : []), 'SERVICE_UNAVAILABLE'],
    example: { ...(isOneMarket ? { path: { asset_id: '1' } } : {}), reply: BASIS_EXAMPLE },
    read: ({ query }) => oneAccountOf(query),
    serve: (kit, call, session, subAccounts) => answerBasis(kit, call, session, subAccounts, isOneMarket),
  });
}

/** The gateway's part of the documents of market data: the login of that listener, and reads of users. */
export const MARKET_DATA_USER_ROUTES: readonly GatewayRoute[] = [
  ...loginRoutes('market-data'),
  ...[false, true].flatMap(userPages),
  ...[false, true].map(basisRoute),
  sessionRoute({
    ...OWN,
    path: '/sub-accounts/user/{user_id}',
    cost: 'action',
    summary: 'Names that you gave to sub-accounts',
    reply: ACCOUNT_NAMES,
    example: { reply: '{"names":[{"account_index":2,"name":"Hedge book"}]}' },
    read: nothing,
    serve: ({ services }, call, { user }) => call.reply(subAccountNames(services.queries.accountNames(user))),
  }),
];

async function answerBasis(
  { services }: RouteKit,
  call: HttpCall,
  { user }: OmsSession,
  subAccounts: readonly number[] | null,
  isOneMarket: boolean,
): Promise<void> {
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const found = await services.queries.positionBasis({ user, assetId: market.value, subAccounts });
  answer(call, found, (rows) => basisReply(rows.map((row) => basisView(row, services.margin.markPrice(row.assetId)))));
}

function basisView(row: BasisRow, markPrice: Amount18 | null): BasisView {
  const { subAccount, assetId, isSpot, quantity, cost } = row;
  const size = positionSize(quantity) as Amount18;
  return {
    ...{ subAccount, assetId, isSpot, isLong: quantity > 0n, quantity: size, cost: cost as Amount18 },
    average: averagePrice(cost, size),
    markPrice,
    unrealizedPnl: markPrice === null ? null : unrealizedPnl(row, markPrice),
  };
}

export async function answerTrades(
  { services }: RouteKit,
  call: HttpCall,
  { user }: OmsSession,
  query: FilteredPage,
  isOneMarket: boolean,
): Promise<void> {
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const { page, limit, subAccounts, filter, isEmpty } = query;
  const request = { user, assetId: market.value, subAccounts, filter };
  // The market is looked up even for an empty page.
  const found = await services.queries.tradePage({ ...request, page: isEmpty ? 0 : page, limit: isEmpty ? 1 : limit });
  answer(call, found, ({ rows, total }) =>
    pageEnvelope('trades', isEmpty ? { rows: [], page, limit, total: 0 } : { rows, page, limit, total }),
  );
}

export async function answerOrders(
  { services }: RouteKit,
  call: HttpCall,
  { user }: OmsSession,
  { page, limit, subAccounts, filter }: FilteredPage,
  isOneMarket: boolean,
): Promise<void> {
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const request = { user, assetId: market.value, subAccounts, filter, page, limit, openOnly: false };
  const found = await services.queries.orderPage(request);
  answer(call, found, ({ rows, total }) => pageEnvelope('orders', { rows, page, limit, total }));
}

export function marketOf(call: HttpCall, isOneMarket: boolean): Outcome<AssetId | null> {
  return isOneMarket ? marketIn(call.head, 1) : accepted(null);
}

export function orderPageOf(query: Query): Outcome<FilteredPage> {
  const statuses = wordOf(query, 'status', STATUSES);
  return statuses.ok ? filteredPageOf(query, statuses.value, false) : statuses;
}

export function tradePageOf(query: Query): Outcome<FilteredPage> {
  const isConfirmed = wordOf(query, 'status', TRADE_STATUSES);
  return isConfirmed.ok ? filteredPageOf(query, null, isConfirmed.value === false) : isConfirmed;
}

function filteredPageOf(
  query: Query,
  statuses: readonly OrderStatus[] | null,
  isEmpty: boolean,
): Outcome<FilteredPage> {
  const page = pageAt(query);
  if (!page.ok) return page;
  const times = timesOf(query);
  if (!times.ok) return times;
  const side = wordOf(query, 'side', SIDES);
  if (!side.ok) return side;
  const subAccounts = oneAccountOf(query);
  if (!subAccounts.ok) return subAccounts;
  const filter = { ...times.value, side: side.value, statuses };
  return accepted({ ...page.value, filter, subAccounts: subAccounts.value, isEmpty });
}

/** A member that is one of these words, in any case; null without it. */
function wordOf<T>(query: Query, name: string, words: ReadonlyMap<string, T>): Outcome<T | null> {
  const given = query.one(name);
  if (!given.ok || given.value === null) return given.ok ? accepted(null) : given;
  const value = words.get(given.value.toLowerCase());
  if (value !== undefined) return accepted(value);
  return rejected(reject('INVALID_REQUEST', `${name} is one of ${[...words.keys()].join(', ')}`, name));
}
