/**
 * The REST routes of the order service (wire.md 3, 7): parse, ask the node, print.
 *
 * Order of checks (AMB-91): the shape of path, query and body (400), then the session (401), then what the node says.
 * Public routes never look at credentials (AMB-89). A read of another user's data is 401 (G25).
 *
 * Not served yet, so 404: the registry, batches, positions, margin, transfers, withdrawals, settlements, multisig.
 */
import {
  type AssetId,
  NODE_ORDER_PREFIX,
  type OrderId,
  parseAssetId,
  parseOrderId,
  parseUserId,
  type UserId,
} from '../core/ids.ts';
import { ORDER_ID_BYTES_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Page } from '../orders/pages.ts';
import { decodeAuth } from '../wire/auth-request.ts';
import { inventoryReply } from '../wire/inventory-reply.ts';
import { marketObject } from '../wire/market-reply.ts';
import { authReply, nonceReply, operationResponse } from '../wire/operation-replies.ts';
import type { OrderRecordView } from '../wire/order-record.ts';
import { orderRecord } from '../wire/order-record.ts';
import { bareArray, pageEnvelope } from '../wire/pages.ts';
import { decodeCancel } from '../wire/signed-cancel.ts';
import { decodeCreate } from '../wire/signed-order.ts';
import { decodeReplace } from '../wire/signed-replace.ts';
import { userTrade } from '../wire/user-trade.ts';
import { type ActionDoor, correlationOf, type SignedAction } from './oms-actions.ts';
import type { OmsBackend, PageRequest } from './oms-backend.ts';
import { OTHER_USER, sessionOf } from './oms-session.ts';
import { type Page as PageQuery, Query } from './query.ts';
import type { RequestHead } from './request-head.ts';
import { addUnsignedCancels } from './unsigned-cancels.ts';
import type { HttpCall, HttpMethod, HttpRoutes } from './uws-http.ts';

const PAGE_BOUNDS = { limitDefault: PAGE_LIMIT_DEFAULT, limitMax: PAGE_LIMIT_MAX };
const BAD_USER = reject('INVALID_REQUEST', 'a user id is 64 hex digits', 'user_id');
const NO_MARKET = reject('MARKET_NOT_FOUND', 'there is no such market');
const NO_ORDER = reject('ORDER_NOT_FOUND', 'there is no such order');
const LATE_ACTION = reject('TIMEOUT_UNKNOWN_STATE', 'the market did not answer in time; the action may have happened');
const SUB_ACCOUNT_FORM = /^(?:0|[1-9][0-9]{0,2})$/;

export interface OmsRouteParts {
  readonly routes: HttpRoutes;
  readonly backend: OmsBackend;
  readonly door: ActionDoor;
}

export function addOmsRoutes(parts: OmsRouteParts): void {
  addSessions(parts);
  addMarkets(parts);
  addAction(parts, 'POST', '/orders/create', (body) => actionOf('create', decodeCreate(body, 0, body.length)));
  addAction(parts, 'PATCH', '/orders/replace', (body) => actionOf('replace', decodeReplace(body, 0, body.length)));
  addAction(parts, 'DELETE', '/orders/cancel', (body) => actionOf('cancel', decodeCancel(body, 0, body.length)));
  addUnsignedCancels(parts);
  addOrderReads(parts);
  addTradeReads(parts);
  addRead(parts, '/inventory/user/:user_id', subAccountsOf, (call, user, subAccounts) => {
    call.reply(inventoryReply(parts.backend.inventory(user, subAccounts)));
  });
}

// ---- public routes and sessions

function addSessions({ routes, backend }: OmsRouteParts): void {
  routes.add({
    method: 'GET',
    pattern: '/nonce/:user_id',
    handler: (call) => {
      const user = userOf(call.head);
      if (!user.ok) return call.refuse(user.reject);
      const { value, ceNonce } = backend.issueNonce(user.value);
      call.reply(nonceReply(value, ceNonce));
    },
  });
  routes.add({
    method: 'POST',
    pattern: '/auth',
    handler: (call, body) => {
      const request = decodeAuth(body, 0, body.length);
      const login = request.ok ? backend.login(request.value) : request;
      answer(call, login, ({ token, expiryNs }) => authReply(token, expiryNs));
    },
  });
  routes.add({
    method: 'POST',
    pattern: '/logout',
    handler: (call) => {
      const session = sessionOf(backend, call.head);
      if (session.ok) backend.logout(session.value.user);
      answer(call, session, () => '{}');
    },
  });
}

function addMarkets({ routes, backend }: OmsRouteParts): void {
  routes.add({
    method: 'GET',
    pattern: '/markets',
    handler: (call) => call.reply(bareArray(backend.markets().map(marketObject))),
  });
  routes.add({
    method: 'GET',
    pattern: '/market/:asset_id',
    handler: (call) => {
      const assetId = parseAssetId(call.head.parameters[0] ?? '');
      const view = assetId === null ? null : backend.market(assetId);
      answer(call, view === null ? rejected(NO_MARKET) : accepted(view), marketObject);
    },
  });
}

// ---- signed actions

function actionOf<Kind extends SignedAction['kind'], Request>(
  kind: Kind,
  decoded: Outcome<Request>,
): Outcome<{ readonly kind: Kind; readonly request: Request }> {
  return decoded.ok ? accepted({ kind, request: decoded.value }) : decoded;
}

function addAction(
  { routes, backend, door }: OmsRouteParts,
  method: HttpMethod,
  pattern: string,
  decode: (body: Uint8Array) => Outcome<SignedAction>,
): void {
  routes.add({
    method,
    pattern,
    late: LATE_ACTION,
    handler: (call, body) => {
      const action = decode(body);
      if (!action.ok) return call.refuse(action.reject);
      const { orderId } = correlationOf(action.value);
      const session = sessionOf(backend, call.head);
      if (!session.ok) return call.refuse(aboutOrder(session.reject, orderId));
      const origin = { user: session.value.user, connection: door.newConnection(), isControl: false };
      door.take(action.value, origin, ({ refusal, processedAtNs }) => {
        if (refusal !== null) call.refuse(aboutOrder(refusal, orderId));
        else call.reply(operationResponse({ orderId, reject: null, processedNs: processedAtNs }));
      });
    },
  });
}

/** Refusals of single actions say which order they are about (wire.md 7.4, AMB-16). */
function aboutOrder(refusal: Reject, orderId: string): Reject {
  return { ...refusal, details: { ...refusal.details, order_id: orderId } };
}

// ---- reads of one's own

function addOrderReads(parts: OmsRouteParts): void {
  const { backend } = parts;
  addRead(parts, '/orders/user/:user_id', orderQueryOf, (call, user, query) => {
    answer(call, backend.orderPage({ user, assetId: null, ...query }), (page) => orderEnvelope(page, query));
  });
  addRead(parts, '/orders/user/:user_id/:asset_id', orderQueryOf, (call, user, query) => {
    const page = inMarket(call.head, (assetId) => backend.orderPage({ user, assetId, ...query }));
    answer(call, page, ({ rows }) => bareArray(rows.map(orderRecord)));
  });
  addRead(parts, '/orders/user/:user_id/:asset_id/:order_id', nothingOf, (call, user) => {
    const orderId = storedOrderId(call.head.parameters[2] ?? '');
    const record = inMarket(call.head, (assetId) =>
      orderId === null ? rejected(NO_ORDER) : backend.order(user, assetId, orderId),
    );
    answer(call, record, orderRecord);
  });
}

function addTradeReads(parts: OmsRouteParts): void {
  const { backend } = parts;
  const reply = (call: HttpCall, query: PageQuery, trades: ReturnType<OmsBackend['tradePage']>): void =>
    answer(call, trades, ({ rows, total }) => pageEnvelope('trades', { rows: rows.map(userTrade), ...query, total }));
  const request = (user: UserId, assetId: AssetId | null, query: PageQuery): PageRequest => {
    return { user, assetId, subAccounts: null, ...query };
  };
  addRead(parts, '/trades/user/:user_id', pageOf, (call, user, query) => {
    reply(call, query, backend.tradePage(request(user, null, query)));
  });
  addRead(parts, '/trades/user/:user_id/:asset_id', pageOf, (call, user, query) => {
    reply(
      call,
      query,
      inMarket(call.head, (assetId) => backend.tradePage(request(user, assetId, query))),
    );
  });
}

/** A GET whose first path parameter names the user, who must be the session's. */
function addRead<T>(
  { routes, backend }: OmsRouteParts,
  pattern: string,
  parse: (query: Query) => Outcome<T>,
  read: (call: HttpCall, user: UserId, value: T) => void,
): void {
  routes.add({
    method: 'GET',
    pattern,
    handler: (call) => {
      const user = userOf(call.head);
      if (!user.ok) return call.refuse(user.reject);
      const query = parse(new Query(call.head.query));
      if (!query.ok) return call.refuse(query.reject);
      const session = sessionOf(backend, call.head);
      if (!session.ok) return call.refuse(session.reject);
      if (session.value.user !== user.value) return call.refuse(OTHER_USER);
      read(call, user.value, query.value);
    },
  });
}

function answer<T>(call: HttpCall, outcome: Outcome<T>, print: (value: T) => string): void {
  if (outcome.ok) call.reply(print(outcome.value));
  else call.refuse(outcome.reject);
}

function orderEnvelope({ rows, total }: Page<OrderRecordView>, { page, limit }: PageQuery): string {
  return pageEnvelope('orders', { rows: rows.map(orderRecord), page, limit, total });
}

// ---- paths and queries

/** The user whom the first path parameter names. */
export function userOf(head: RequestHead): Outcome<UserId> {
  const user = parseUserId(head.parameters[0] ?? '');
  return user === null ? rejected(BAD_USER) : accepted(user);
}

function inMarket<T>(head: RequestHead, read: (assetId: AssetId) => Outcome<T>): Outcome<T> {
  const assetId = parseAssetId(head.parameters[1] ?? '');
  return assetId === null ? rejected(NO_MARKET) : read(assetId);
}

/** An id under which an order can be on record: a client's, or one of the node's own. */
function storedOrderId(text: string): OrderId | null {
  const bare = text.startsWith(NODE_ORDER_PREFIX) ? text.slice(NODE_ORDER_PREFIX.length) : text;
  return text.length <= ORDER_ID_BYTES_MAX && parseOrderId(bare) !== null ? (text as OrderId) : null;
}

function nothingOf(): Outcome<null> {
  return accepted(null);
}

function pageOf(query: Query): Outcome<PageQuery> {
  return query.page(PAGE_BOUNDS);
}

/** `page`, `limit`, `open_only`, `sub_account` (QRY-01). */
function orderQueryOf(
  query: Query,
): Outcome<PageQuery & { readonly openOnly: boolean; readonly subAccounts: readonly number[] | null }> {
  const page = query.page(PAGE_BOUNDS);
  if (!page.ok) return page;
  const openOnly = query.one('open_only');
  if (!openOnly.ok) return openOnly;
  const word = openOnly.value ?? 'false';
  if (word !== 'true' && word !== 'false') {
    return rejected(reject('INVALID_REQUEST', 'open_only is true or false', 'open_only'));
  }
  const subAccounts = subAccountsOf(query);
  if (!subAccounts.ok) return subAccounts;
  return accepted({ ...page.value, openOnly: word === 'true', subAccounts: subAccounts.value });
}

/** Repeated `sub_account` keys; null for all of them. */
function subAccountsOf(query: Query): Outcome<readonly number[] | null> {
  const texts = query.all('sub_account');
  const isWrong = (text: string): boolean => !SUB_ACCOUNT_FORM.test(text) || Number(text) >= SUB_ACCOUNTS_MAX;
  if (texts.length > SUB_ACCOUNTS_MAX || texts.some(isWrong)) {
    return rejected(reject('INVALID_REQUEST', 'a sub-account is a number from 0 to 255', 'sub_account'));
  }
  return accepted(texts.length === 0 ? null : [...new Set(texts.map(Number))]);
}
