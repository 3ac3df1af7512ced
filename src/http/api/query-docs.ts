/** Query keys common to several routes (wire.md 6.1). */
import { COUNT, NANOSECONDS, type Shape, SUB_ACCOUNT, words } from '../../codec/shapes/shape-kit.ts';
import { Type } from '../../codec/shapes/type-builder.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../core/limits.ts';
import type { QueryDoc } from './route-doc.ts';

/** Spelling of a boolean in a query. */
export const BOOLEAN_WORD: Shape = words('true', 'false');

export const PAGE_QUERY: QueryDoc = { name: 'page', shape: COUNT, summary: 'from 0' };

/** `limit`, with the bounds by which it is read. */
interface LimitQuery extends QueryDoc {
  readonly bounds: { readonly limitDefault: number; readonly limitMax: number };
}

/** @param initial without `limit`. @param most what a higher one is reduced to. */
export function limitQuery(initial: number, most: number): LimitQuery {
  return {
    bounds: { limitDefault: initial, limitMax: most },
    name: 'limit',
    shape: Type.Integer({ minimum: 1, default: initial }),
    summary: `rows per page; by default ${initial}, at most ${most}`,
  };
}

export const LIMIT_QUERY: LimitQuery = limitQuery(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX);

const START_QUERY: QueryDoc = { name: 'start_time', shape: NANOSECONDS, summary: 'inclusive, in nanoseconds' };
const END_QUERY: QueryDoc = { name: 'end_time', shape: NANOSECONDS, summary: 'inclusive, in nanoseconds' };
export const TIME_QUERIES: readonly QueryDoc[] = [START_QUERY, END_QUERY];
const SIDE_QUERY: QueryDoc = { name: 'side', shape: words('buy', 'sell'), summary: 'your side, in any case' };
export const ONE_ACCOUNT_QUERY: QueryDoc = { name: 'sub_account', shape: SUB_ACCOUNT, summary: 'only this one' };

/** Filters of orders on market data, `sub_account` aside (wire-additions.md 8.3). */
export const ORDER_FILTER_QUERIES: readonly QueryDoc[] = [
  START_QUERY,
  END_QUERY,
  SIDE_QUERY,
  {
    name: 'status',
    shape: words('open', 'pending', 'partial', 'cancelled', 'completed', 'closed', 'expired', 'rejected'),
    summary: 'these words or those of the record, in any case',
  },
];
/** The same of trades. */
export const TRADE_FILTER_QUERIES: readonly QueryDoc[] = [
  START_QUERY,
  END_QUERY,
  SIDE_QUERY,
  {
    name: 'status',
    shape: words('confirmed', 'pending', 'rollbacked'),
    summary: 'in any case; history holds confirmed trades, so the others give an empty page',
  },
  ONE_ACCOUNT_QUERY,
];
export const USER_PAGE_QUERIES: Readonly<Record<'orders' | 'trades', readonly QueryDoc[]>> = {
  orders: [PAGE_QUERY, LIMIT_QUERY, ...ORDER_FILTER_QUERIES, ONE_ACCOUNT_QUERY],
  trades: [PAGE_QUERY, LIMIT_QUERY, ...TRADE_FILTER_QUERIES],
};

export const SUB_ACCOUNT_QUERY: QueryDoc = {
  name: 'sub_account',
  shape: SUB_ACCOUNT,
  summary: 'only these; by default all',
  repeats: true,
};
