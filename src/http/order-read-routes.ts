/** A user's own orders and trades (wire.md 6, 7.9, 7.10). */

import { orderRecord } from '../codec/order-record.ts';
import { bareArray, pageEnvelope } from '../codec/pages.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Page } from '../gateway/orders/pages.ts';
import { answer, noShape, type RequestParts, type RouteKit } from './oms-kit.ts';
import { marketIn, pageOf, storedOrderId, subAccountsOf } from './path-values.ts';
import { PAGE_MEMBERS, type Page as PageQuery, type Query, type QueryMembers } from './query.ts';
import type { HttpCall } from './uws-http.ts';

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
  kit.addSession({
    ...OWN,
    pattern: '/orders/user/:user_id',
    query: ORDER_MEMBERS,
    cost: 'historyPage',
    shape: ({ query }) => orderQueryOf(query),
    serve: async (call, { user }, query) => {
      const { page, limit } = query;
      const orders = await services.queries.orderPage({ user, assetId: null, ...query });
      answer(call, orders, ({ rows, total }) => pageEnvelope('orders', { rows, page, limit, total }));
    },
  });
  kit.addSession({
    ...OWN,
    pattern: '/orders/user/:user_id/:asset_id',
    query: ORDER_MEMBERS,
    cost: 'historyPage',
    shape: ({ query }) => orderQueryOf(query),
    serve: async (call, { user }, query) => {
      const market = marketIn(call.head, 1);
      const page = market.ok ? await services.queries.orderPage({ user, assetId: market.value, ...query }) : market;
      answer(call, page, ({ rows }) => bareArray(rows));
    },
  });
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
  const shape = ({ query }: RequestParts): Outcome<PageQuery> => pageOf(query);
  const reply = (call: HttpCall, query: PageQuery, trades: Outcome<Page<string>>): void =>
    answer(call, trades, ({ rows, total }) => pageEnvelope('trades', { rows, ...query, total }));
  kit.addSession({
    ...OWN,
    pattern: '/trades/user/:user_id',
    query: PAGE_MEMBERS,
    cost: 'historyPage',
    shape,
    serve: async (call, { user }, query) =>
      reply(call, query, await services.queries.tradePage({ user, assetId: null, subAccounts: null, ...query })),
  });
  kit.addSession({
    ...OWN,
    pattern: '/trades/user/:user_id/:asset_id',
    query: PAGE_MEMBERS,
    cost: 'historyPage',
    shape,
    serve: async (call, { user }, query) => {
      const market = marketIn(call.head, 1);
      const request = { user, subAccounts: null, ...query };
      reply(call, query, market.ok ? await services.queries.tradePage({ ...request, assetId: market.value }) : market);
    },
  });
}

/** `page`, `limit`, `open_only`, `sub_account` (QRY-01). */
function orderQueryOf(
  query: Query,
): Outcome<PageQuery & { readonly openOnly: boolean; readonly subAccounts: readonly number[] | null }> {
  const page = pageOf(query);
  if (!page.ok) return page;
  const openOnly = query.flag('open_only');
  if (!openOnly.ok) return openOnly;
  const subAccounts = subAccountsOf(query);
  if (!subAccounts.ok) return subAccounts;
  return accepted({ ...page.value, openOnly: openOnly.value, subAccounts: subAccounts.value });
}
