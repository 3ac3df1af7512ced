/**
 * Reads of users as market data offers them (wire-additions.md 8.2 to 8.5). The gateway answers them, whichever listener
 * received them: below `/market-data` on the order listener, and at the root and below `/market-data` on the market-data
 * listener (passed-requests.ts). At the root of the order listener a filter selects this form (order-read-routes.ts).
 */
import { subAccountNames } from '../codec/account-bodies.ts';
import { type BasisView, basisReply } from '../codec/margin-replies.ts';
import { pageEnvelope } from '../codec/pages.ts';
import type { AssetId } from '../core/ids.ts';
import { ACTION_BYTES_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { ORDER_STATUSES, type OrderStatus, SIDE, type Side } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { Amount18 } from '../core/units.ts';
import type { RowFilter } from '../gateway/orders/history/history-ask.ts';
import { averagePrice, type BasisRow, magnitude, unrealizedPnl } from '../gateway/orders/history/position-basis.ts';
import { answer, noShape, type RouteKit } from './oms-kit.ts';
import type { Session } from './oms-session.ts';
import { marketIn, pageOf } from './path-values.ts';
import { PAGE_MEMBERS, type Page, type Query, type QueryMembers } from './query.ts';
import type { HttpCall, HttpRoute } from './uws-http.ts';

/** The path below which both listeners have the market-data form of a path. */
export const MARKET_DATA_PATH = '/market-data';

/** At the root of the order listener each of these selects the market-data form of a page of orders. */
export const ORDER_FILTERS: QueryMembers = { start_time: 'once', end_time: 'once', side: 'once', status: 'once' };
/** The same of trades. */
export const TRADE_FILTERS: QueryMembers = { ...ORDER_FILTERS, sub_account: 'once' };
const ONE_ACCOUNT: QueryMembers = { sub_account: 'once' };
const MEMBERS: QueryMembers = { ...PAGE_MEMBERS, ...TRADE_FILTERS };

/** What the market-data listener passes to the gateway, which has each of them below MARKET_DATA_PATH. */
export const PASSED_TO_GATEWAY: readonly Omit<HttpRoute, 'handler'>[] = [
  { method: 'GET', pattern: '/nonce/:user_id' },
  { method: 'POST', pattern: '/auth', bodyBytesMax: ACTION_BYTES_MAX },
  { method: 'GET', pattern: '/trades/user/:user_id', query: MEMBERS },
  { method: 'GET', pattern: '/trades/user/:user_id/:asset_id', query: MEMBERS },
  { method: 'GET', pattern: '/orders/user/:user_id', query: MEMBERS },
  { method: 'GET', pattern: '/orders/user/:user_id/:asset_id', query: MEMBERS },
  { method: 'GET', pattern: '/positions/user/:user_id/basis', query: ONE_ACCOUNT },
  { method: 'GET', pattern: '/positions/user/:user_id/basis/:asset_id', query: ONE_ACCOUNT },
  { method: 'GET', pattern: '/sub-accounts/user/:user_id' },
];

/** A page of orders or trades in the market-data form. */
export interface FilteredPage extends Page {
  readonly filter: RowFilter;
  readonly subAccounts: readonly number[] | null;
  /** Trades that are not confirmed are in no history: the page is empty. */
  readonly isEmpty: boolean;
}

const OWN = { method: 'GET', isChange: false, namesUser: true, isMarketData: () => true, isListed: false } as const;
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
const SUB_ACCOUNT_FORM = /^(?:0|[1-9][0-9]{0,2})$/;

export function addUserReadRoutes(kit: RouteKit): void {
  for (const isOneMarket of [false, true]) {
    const market = isOneMarket ? '/:asset_id' : '';
    kit.addSession({
      ...OWN,
      pattern: `${MARKET_DATA_PATH}/trades/user/:user_id${market}`,
      query: MEMBERS,
      cost: 'historyPage',
      shape: ({ query }) => tradePageOf(query),
      serve: (call, session, page) => answerTrades(kit, call, session, page, isOneMarket),
    });
    kit.addSession({
      ...OWN,
      pattern: `${MARKET_DATA_PATH}/orders/user/:user_id${market}`,
      query: MEMBERS,
      cost: 'historyPage',
      shape: ({ query }) => orderPageOf(query),
      serve: (call, session, page) => answerOrders(kit, call, session, page, isOneMarket),
    });
  }
  addBasisRoutes(kit);
  // Without a namesake of the order service it is at the root too.
  for (const pattern of ['/sub-accounts/user/:user_id', `${MARKET_DATA_PATH}/sub-accounts/user/:user_id`]) {
    kit.addSession({
      ...OWN,
      pattern,
      cost: 'action',
      shape: noShape,
      serve: (call, { user }) => call.reply(subAccountNames(kit.services.queries.accountNames(user))),
    });
  }
}

/** At the root too: the order service has no namesake. */
function addBasisRoutes(kit: RouteKit): void {
  for (const below of ['', MARKET_DATA_PATH]) {
    for (const isOneMarket of [false, true]) {
      kit.addSession({
        ...OWN,
        pattern: `${below}/positions/user/:user_id/basis${isOneMarket ? '/:asset_id' : ''}`,
        query: ONE_ACCOUNT,
        cost: 'action',
        shape: ({ query }) => oneAccountOf(query),
        serve: (call, session, subAccounts) => answerBasis(kit, call, session, subAccounts, isOneMarket),
      });
    }
  }
}

async function answerBasis(
  { services }: RouteKit,
  call: HttpCall,
  { user }: Session,
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
  const size = magnitude(quantity) as Amount18;
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
  { user }: Session,
  query: FilteredPage,
  isOneMarket: boolean,
): Promise<void> {
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const { page, limit, subAccounts, filter, isEmpty } = query;
  const request = { user, assetId: market.value, subAccounts, filter };
  // Of an empty page the market is looked for all the same.
  const found = await services.queries.tradePage({ ...request, page: isEmpty ? 0 : page, limit: isEmpty ? 1 : limit });
  answer(call, found, ({ rows, total }) =>
    pageEnvelope('trades', isEmpty ? { rows: [], page, limit, total: 0 } : { rows, page, limit, total }),
  );
}

export async function answerOrders(
  { services }: RouteKit,
  call: HttpCall,
  { user }: Session,
  { page, limit, subAccounts, filter }: FilteredPage,
  isOneMarket: boolean,
): Promise<void> {
  const market = marketOf(call, isOneMarket);
  if (!market.ok) return call.refuse(market.reject);
  const request = { user, assetId: market.value, subAccounts, filter, page, limit, openOnly: false };
  const found = await services.queries.orderPage(request);
  answer(call, found, ({ rows, total }) => pageEnvelope('orders', { rows, page, limit, total }));
}

function marketOf(call: HttpCall, isOneMarket: boolean): Outcome<AssetId | null> {
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
  const page = pageOf(query);
  if (!page.ok) return page;
  const from = query.time('start_time');
  if (!from.ok) return from;
  const to = query.time('end_time');
  if (!to.ok) return to;
  if (from.value !== null && to.value !== null && from.value > to.value) {
    return rejected(reject('INVALID_REQUEST', 'start_time is above end_time', 'start_time'));
  }
  const side = wordOf(query, 'side', SIDES);
  if (!side.ok) return side;
  const subAccounts = oneAccountOf(query);
  if (!subAccounts.ok) return subAccounts;
  const filter = { fromNs: from.value, toNs: to.value, side: side.value, statuses };
  return accepted({ ...page.value, filter, subAccounts: subAccounts.value, isEmpty });
}

/** @returns null for all. */
function oneAccountOf(query: Query): Outcome<readonly number[] | null> {
  const given = query.one('sub_account');
  if (!given.ok) return given;
  if (given.value === null) return accepted(null);
  if (isSubAccount(given.value)) return accepted([Number(given.value)]);
  return rejected(reject('INVALID_REQUEST', 'sub_account is a number from 0 to 255', 'sub_account'));
}

function isSubAccount(text: string): boolean {
  return SUB_ACCOUNT_FORM.test(text) && Number(text) < SUB_ACCOUNTS_MAX;
}

/** A member that is one of these words, in any case; null without it. */
function wordOf<T>(query: Query, name: string, words: ReadonlyMap<string, T>): Outcome<T | null> {
  const given = query.one(name);
  if (!given.ok || given.value === null) return given.ok ? accepted(null) : given;
  const value = words.get(given.value.toLowerCase());
  if (value !== undefined) return accepted(value);
  return rejected(reject('INVALID_REQUEST', `${name} is one of ${[...words.keys()].join(', ')}`, name));
}
