/** Parsing of path parameters and queries common to several routes (wire.md 2.1, 6.1, 7.1). */
import { type AssetId, NODE_ORDER_PREFIX, type OrderId, parseAssetId, parseOrderId } from '../core/ids.ts';
import { ORDER_ID_BYTES_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { LIMIT_QUERY } from './api/query-docs.ts';
import type { PageWindow, Query } from './query.ts';
import type { RequestHead } from './request-head.ts';

export const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market');
const BAD_SUB_ACCOUNT: Reject = reject('INVALID_REQUEST', 'a sub-account is a number from 0 to 255', 'sub_account');
const SUB_ACCOUNT_FORM = /^(?:0|[1-9][0-9]{0,2})$/;

/** The market of a path parameter; MARKET_NOT_FOUND also for an invalid asset id. */
export function marketIn(head: RequestHead, parameter: number): Outcome<AssetId> {
  const assetId = parseAssetId(head.parameters[parameter] ?? '');
  return assetId === null ? rejected(NO_MARKET) : accepted(assetId);
}

/** The sub-account of a path parameter. */
export function subAccountIn(head: RequestHead, parameter: number): Outcome<number> {
  const text = head.parameters[parameter] ?? '';
  return isSubAccount(text) ? accepted(Number(text)) : rejected(BAD_SUB_ACCOUNT);
}

function isSubAccount(text: string): boolean {
  return SUB_ACCOUNT_FORM.test(text) && Number(text) < SUB_ACCOUNTS_MAX;
}

/** An id that a stored order can have: a client's, or one of the node; null for any other text. */
export function storedOrderId(text: string): OrderId | null {
  const bare = text.startsWith(NODE_ORDER_PREFIX) ? text.slice(NODE_ORDER_PREFIX.length) : text;
  return text.length <= ORDER_ID_BYTES_MAX && parseOrderId(bare) !== null ? (text as OrderId) : null;
}

/** `page` and `limit` with the caps of wire.md 6.1. */
export function pageAt(query: Query): Outcome<PageWindow> {
  return query.page(LIMIT_QUERY.bounds);
}

/** Repeated `sub_account` keys; null for all of them. */
export function subAccountsOf(query: Query): Outcome<readonly number[] | null> {
  const texts = query.all('sub_account');
  if (texts.length > SUB_ACCOUNTS_MAX || !texts.every(isSubAccount)) return rejected(BAD_SUB_ACCOUNT);
  return accepted(texts.length === 0 ? null : [...new Set(texts.map(Number))]);
}

/** One `sub_account`; null for all. */
export function oneAccountOf(query: Query): Outcome<readonly number[] | null> {
  const given = query.one('sub_account');
  if (!given.ok) return given;
  if (given.value === null) return accepted(null);
  if (isSubAccount(given.value)) return accepted([Number(given.value)]);
  return rejected(reject('INVALID_REQUEST', 'sub_account is a number from 0 to 255', 'sub_account'));
}

/** `start_time` and `end_time`, inclusive; each null for any. */
export function timesOf(query: Query): Outcome<{ readonly fromNs: bigint | null; readonly toNs: bigint | null }> {
  const from = query.time('start_time');
  if (!from.ok) return from;
  const to = query.time('end_time');
  if (!to.ok) return to;
  if (from.value !== null && to.value !== null && from.value > to.value) {
    return rejected(reject('INVALID_REQUEST', 'start_time is above end_time', 'start_time'));
  }
  return accepted({ fromNs: from.value, toNs: to.value });
}
