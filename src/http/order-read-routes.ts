/** A user's own orders and trades (wire.md 6, 7.9, 7.10). */

import { orderRecord } from '../codec/order-record.ts';
import { bareArray, pageEnvelope } from '../codec/pages.ts';
import { ORDER_RECORD } from '../codec/shapes/order-record-shapes.ts';
import { ORDER_PAGE, USER_ORDER_PAGE, USER_TRADE_PAGE } from '../codec/shapes/order-reply-shapes.ts';
import { either, listOf } from '../codec/shapes/shape-kit.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import {
  BOOLEAN_WORD,
  LIMIT_QUERY,
  ORDER_FILTER_QUERIES,
  PAGE_QUERY,
  SUB_ACCOUNT_QUERY,
  TRADE_FILTER_QUERIES,
  USER_PAGE_QUERIES,
} from './api/query-docs.ts';
import type { QueryDoc } from './api/route-doc.ts';
import { answer, type GatewayRoute, nothing, type RouteKit, sessionRoute } from './oms-kit.ts';
import type { OmsSession } from './oms-session.ts';
import { marketIn, pageAt, storedOrderId, subAccountsOf } from './path-values.ts';
import type { PageWindow as PageQuery, Query } from './query.ts';
import {
  answerOrders,
  answerTrades,
  type FilteredPage,
  marketOf,
  orderPageOf,
  pageExample,
  RECORD_EXAMPLE,
  tradePageOf,
  USER_TRADE_EXAMPLE,
} from './user-read-routes.ts';

import type { HttpCall } from './uws-http.ts';

const OPEN_AND_FILTER: Reject = reject(
  'INVALID_REQUEST',
  'open_only does not go with start_time, end_time, side or status',
  'open_only',
);
const NO_ORDER: Reject = reject('ORDER_NOT_FOUND', 'there is no such order');

const OPEN_ONLY: QueryDoc = { name: 'open_only', shape: BOOLEAN_WORD, summary: 'only orders that are not finished' };
const OWN = { method: 'GET', auth: 'session', cost: 'historyPage' } as const;
const ORDERS_QUERY = [PAGE_QUERY, LIMIT_QUERY, OPEN_ONLY, SUB_ACCOUNT_QUERY, ...ORDER_FILTER_QUERIES];
/** wire-additions.md 8.2. */
const FILTERED_ORDERS =
  'With `start_time`, `end_time`, `side` or `status` it is the read of `/market-data/orders/user/…`: an envelope, also of one market, whose records have more members; then `sub_account` is given at most once, and `open_only` not at all.';

export const ORDER_READ_ROUTES: readonly GatewayRoute[] = [
  sessionRoute({
    ...OWN,
    path: '/orders/user/{user_id}',
    area: 'Orders',
    summary: 'Your orders',
    description: `Newest first, by \`timestamp_ns\`, then by \`order_id\`. Finished ones stay for 30 days. ${FILTERED_ORDERS}`,
    query: ORDERS_QUERY,
    reply: either(ORDER_PAGE, USER_ORDER_PAGE),
    example: { query: 'limit=100&open_only=false', reply: pageExample('orders', 'total_orders', RECORD_EXAMPLE) },
    isMarketData: isFiltered,
    read: ({ query }) => ordersAskedOf(query),
    serve: (kit, call, session, asked) => answerOwnOrders(kit, call, session, asked, false),
  }),
  sessionRoute({
    ...OWN,
    path: '/orders/user/{user_id}/{asset_id}',
    area: 'Orders',
    summary: 'Your orders in one market',
    description: `A bare array; a page with fewer rows than \`limit\` is the last one. ${FILTERED_ORDERS}`,
    query: ORDERS_QUERY,
    reply: either(listOf(ORDER_RECORD), USER_ORDER_PAGE),
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, query: 'limit=1000', reply: `[${RECORD_EXAMPLE}]` },
    isMarketData: isFiltered,
    read: ({ query }) => ordersAskedOf(query),
    serve: (kit, call, session, asked) => answerOwnOrders(kit, call, session, asked, true),
  }),
  sessionRoute({
    method: 'GET',
    path: '/orders/user/{user_id}/{asset_id}/{order_id}',
    area: 'Orders',
    auth: 'session',
    cost: 'action',
    summary: 'One order, live or finished',
    description: 'The id is percent-encoded: it may contain `/`.',
    reply: ORDER_RECORD,
    errors: ['MARKET_NOT_FOUND', 'ORDER_NOT_FOUND'],
    example: { path: { asset_id: '1', order_id: 'demo-order-1' }, reply: RECORD_EXAMPLE },
    read: nothing,
    serve: ({ services }, call, { user }) => {
      const market = marketIn(call.head, 1);
      const orderId = storedOrderId(call.head.parameters[2] ?? '');
      if (!market.ok) return call.refuse(market.reject);
      answer(
        call,
        orderId === null ? rejected(NO_ORDER) : services.queries.order(user, market.value, orderId),
        orderRecord,
      );
    },
  }),
  sessionRoute({
    ...OWN,
    path: '/trades/user/{user_id}',
    area: 'Trades',
    summary: 'Your trades',
    description: 'Confirmed trades only, newest first. The stream publishes pending fills and their results.',
    query: USER_PAGE_QUERIES.trades,
    reply: USER_TRADE_PAGE,
    example: { query: 'limit=40', reply: pageExample('trades', 'total_trades', USER_TRADE_EXAMPLE) },
    isMarketData: isFiltered,
    read: ({ query }) => tradesAskedOf(query),
    serve: (kit, call, session, asked) => answerOwnTrades(kit, call, session, asked, false),
  }),
  sessionRoute({
    ...OWN,
    path: '/trades/user/{user_id}/{asset_id}',
    area: 'Trades',
    summary: 'Your trades in one market',
    query: USER_PAGE_QUERIES.trades,
    reply: USER_TRADE_PAGE,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: pageExample('trades', 'total_trades', USER_TRADE_EXAMPLE) },
    isMarketData: isFiltered,
    read: ({ query }) => tradesAskedOf(query),
    serve: (kit, call, session, asked) => answerOwnTrades(kit, call, session, asked, true),
  }),
];

/** The market-data form where a filter selects it (wire-additions.md 8.2). */
function ordersAskedOf(query: Query): Outcome<OrderQuery | FilteredPage> {
  if (!hasAny(query, ORDER_FILTER_QUERIES)) return orderQueryOf(query);
  return query.has('open_only') ? rejected(OPEN_AND_FILTER) : orderPageOf(query);
}

function tradesAskedOf(query: Query): Outcome<PageQuery | FilteredPage> {
  return hasAny(query, TRADE_FILTER_QUERIES) ? tradePageOf(query) : pageAt(query);
}

function hasAny(query: Query, members: readonly QueryDoc[]): boolean {
  return members.some(({ name }) => query.has(name));
}

function isFiltered(query: PageQuery | FilteredPage): query is FilteredPage {
  return 'filter' in query;
}

async function answerOwnOrders(
  kit: RouteKit,
  call: HttpCall,
  session: OmsSession,
  query: OrderQuery | FilteredPage,
  isOneMarket: boolean,
): Promise<void> {
  if (isFiltered(query)) return answerOrders(kit, call, session, query, isOneMarket);
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const orders = await kit.services.queries.orderPage({ user: session.user, assetId: market.value, ...query });
  const { page, limit } = query;
  answer(call, orders, ({ rows, total }) =>
    isOneMarket ? bareArray(rows) : pageEnvelope('orders', { rows, page, limit, total }),
  );
}

async function answerOwnTrades(
  kit: RouteKit,
  call: HttpCall,
  session: OmsSession,
  query: PageQuery | FilteredPage,
  isOneMarket: boolean,
): Promise<void> {
  if (isFiltered(query)) return answerTrades(kit, call, session, query, isOneMarket);
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const request = { user: session.user, assetId: market.value, subAccounts: null, ...query };
  const trades = await kit.services.queries.tradePage(request);
  answer(call, trades, ({ rows, total }) => pageEnvelope('trades', { rows, ...query, total }));
}

interface OrderQuery extends PageQuery {
  readonly openOnly: boolean;
  readonly subAccounts: readonly number[] | null;
}

/** `page`, `limit`, `open_only`, `sub_account` (QRY-01). */
function orderQueryOf(query: Query): Outcome<OrderQuery> {
  const page = pageAt(query);
  if (!page.ok) return page;
  const openOnly = query.flag('open_only');
  if (!openOnly.ok) return openOnly;
  const subAccounts = subAccountsOf(query);
  if (!subAccounts.ok) return subAccounts;
  return accepted({ ...page.value, openOnly: openOnly.value, subAccounts: subAccounts.value });
}
