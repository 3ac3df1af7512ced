/** A user's own orders and trades (wire.md 6, 7.9, 7.10). */

import { orderRecord } from '../codec/order-record.ts';
import { bareArray, pageEnvelope } from '../codec/pages.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { answer, noShape, type RouteKit } from './oms-kit.ts';
import { marketIn, pageOf, storedOrderId, subAccountsOf } from './path-values.ts';
import { PAGE_MEMBERS, type Page as PageQuery, type Query, type QueryMembers } from './query.ts';
import {
  answerOrders,
  answerTrades,
  type FilteredPage,
  ORDER_FILTERS,
  orderPageOf,
  TRADE_FILTERS,
  tradePageOf,
} from './user-read-routes.ts';

const OPEN_AND_FILTER: Reject = reject(
  'INVALID_REQUEST',
  'open_only does not go with start_time, end_time, side or status',
  'open_only',
);
const NO_ORDER: Reject = reject('ORDER_NOT_FOUND', 'there is no such order');

const ORDER_MEMBERS: QueryMembers = { ...PAGE_MEMBERS, open_only: 'once', sub_account: 'repeats' };

/** Reads of a session's own user. */
const OWN = { method: 'GET', isChange: false, namesUser: true } as const;

export function addOrderReadRoutes(kit: RouteKit): void {
  addOrders(kit);
  addTrades(kit);
}

function addOrders(kit: RouteKit): void {
  const { services } = kit;
  for (const isOneMarket of [false, true]) {
    kit.addSession<OrderQuery | FilteredPage>({
      ...OWN,
      pattern: `/orders/user/:user_id${isOneMarket ? '/:asset_id' : ''}`,
      query: { ...ORDER_MEMBERS, ...ORDER_FILTERS },
      cost: 'historyPage',
      isMarketData: (query) => isFiltered(query),
      shape: ({ query }): Outcome<OrderQuery | FilteredPage> =>
        hasAny(query, ORDER_FILTERS) ? filteredOrdersOf(query) : orderQueryOf(query),
      serve: async (call, session, query) => {
        if (isFiltered(query)) return answerOrders(kit, call, session, query, isOneMarket);
        const market = isOneMarket ? marketIn(call.head, 1) : accepted(null);
        if (!market.ok) return call.refuse(market.reject);
        const orders = await services.queries.orderPage({ user: session.user, assetId: market.value, ...query });
        const { page, limit } = query;
        answer(call, orders, ({ rows, total }) =>
          isOneMarket ? bareArray(rows) : pageEnvelope('orders', { rows, page, limit, total }),
        );
      },
    });
  }
  kit.addSession({
    ...OWN,
    pattern: '/orders/user/:user_id/:asset_id/:order_id',
    cost: 'action',
    shape: noShape,
    serve: (call, { user }) => {
      const market = marketIn(call.head, 1);
      const orderId = storedOrderId(call.head.parameters[2] ?? '');
      if (!market.ok) return call.refuse(market.reject);
      answer(
        call,
        orderId === null ? rejected(NO_ORDER) : services.queries.order(user, market.value, orderId),
        orderRecord,
      );
    },
  });
}

function addTrades(kit: RouteKit): void {
  const { services } = kit;
  for (const isOneMarket of [false, true]) {
    kit.addSession<PageQuery | FilteredPage>({
      ...OWN,
      pattern: `/trades/user/:user_id${isOneMarket ? '/:asset_id' : ''}`,
      query: { ...PAGE_MEMBERS, ...TRADE_FILTERS },
      cost: 'historyPage',
      isMarketData: (query) => isFiltered(query),
      shape: ({ query }): Outcome<PageQuery | FilteredPage> =>
        hasAny(query, TRADE_FILTERS) ? tradePageOf(query) : pageOf(query),
      serve: async (call, session, query) => {
        if (isFiltered(query)) return answerTrades(kit, call, session, query, isOneMarket);
        const market = isOneMarket ? marketIn(call.head, 1) : accepted(null);
        if (!market.ok) return call.refuse(market.reject);
        const request = { user: session.user, assetId: market.value, subAccounts: null, ...query };
        const trades = await services.queries.tradePage(request);
        answer(call, trades, ({ rows, total }) => pageEnvelope('trades', { rows, ...query, total }));
      },
    });
  }
}

/** Whether a member selects the market-data form of the page (wire-additions.md 8.2). */
function hasAny(query: Query, members: QueryMembers): boolean {
  return Object.keys(members).some((name) => query.has(name));
}

function isFiltered(query: PageQuery | FilteredPage): query is FilteredPage {
  return 'filter' in query;
}

function filteredOrdersOf(query: Query): Outcome<FilteredPage> {
  return query.has('open_only') ? rejected(OPEN_AND_FILTER) : orderPageOf(query);
}

interface OrderQuery extends PageQuery {
  readonly openOnly: boolean;
  readonly subAccounts: readonly number[] | null;
}

/** `page`, `limit`, `open_only`, `sub_account` (QRY-01). */
function orderQueryOf(query: Query): Outcome<OrderQuery> {
  const page = pageOf(query);
  if (!page.ok) return page;
  const openOnly = query.flag('open_only');
  if (!openOnly.ok) return openOnly;
  const subAccounts = subAccountsOf(query);
  if (!subAccounts.ok) return subAccounts;
  return accepted({ ...page.value, openOnly: openOnly.value, subAccounts: subAccounts.value });
}
