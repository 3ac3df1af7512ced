/** The REST routes of the order service, by area (wire.md 3, 7). */

import { decodeAuth } from '../codec/auth-request.ts';
import { authReply, nonceReply } from '../codec/operation-replies.ts';
import { limitsReply, statusReply, timeReply } from '../codec/system-replies.ts';
import type { UserId } from '../core/ids.ts';
import { ACTION_BYTES_MAX } from '../core/limits.ts';
import { LOGIN_UNITS } from '../gateway/sessions/address-limits.ts';
import type { LoginPlace } from '../gateway/user-sessions.ts';
import { VERSION } from '../runtime/version.ts';
import { addAccountRoutes } from './account-routes.ts';
import { addActionRoutes } from './action-routes.ts';
import { type ApiDocuments, DOCUMENT_PATTERNS, TRADE_PAGE_PATTERNS } from './api/api-documents.ts';
import { addMarginRoutes } from './margin-routes.ts';
import { answer, noShape, type RouteKit, userOf } from './oms-kit.ts';
import { addOrderReadRoutes } from './order-read-routes.ts';
import { addRegistryRoutes } from './registry-routes.ts';
import { addUnsignedCancels } from './unsigned-cancels.ts';
import { addUserReadRoutes, MARKET_DATA_PATH } from './user-read-routes.ts';

// The service's clock, whether it takes orders, and the limits of a user.

/** @param openStreams number of a user's open streams. */
function addSystemRoutes(kit: RouteKit, openStreams: (user: UserId) => number): void {
  const { services } = kit;
  kit.addPublic({
    method: 'GET',
    pattern: '/system/time',
    shape: noShape,
    serve: (call) => call.reply(timeReply(services.nowNs())),
  });
  kit.addPublic({
    method: 'GET',
    pattern: '/system/status',
    shape: noShape,
    serve: (call) => {
      const takesOrders = !services.entry.isStopping;
      call.reply(statusReply({ version: VERSION, takesOrders, markets: services.registry.markets() }));
    },
  });
  kit.addSession({
    method: 'GET',
    pattern: '/limits/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) =>
      call.reply(limitsReply(services.limits.viewOf(user, services.nowNs()), openStreams(user))),
  });
}

// Nonce, login, logout (wire.md 3).

function addSessionRoutes(kit: RouteKit): void {
  const { services } = kit;
  addLogin(kit, 'orders');
  addLogin(kit, 'market-data');
  kit.addSession({
    method: 'POST',
    pattern: '/logout',
    shape: noShape,
    cost: 'action',
    isChange: false,
    serve: (call, session) => {
      services.sessions.logout(session.user, session);
      call.reply('{}');
    },
  });
}

/** The login of a place; that of market data is below its path. It costs no budget: the address is charged (wire-additions.md 12). */
function addLogin(kit: RouteKit, place: LoginPlace): void {
  const { sessions } = kit.services;
  const isMarketData = place === 'market-data';
  const below = isMarketData ? MARKET_DATA_PATH : '';
  kit.addPublic({
    method: 'GET',
    pattern: `${below}/nonce/:user_id`,
    shape: ({ head }) => userOf(head),
    isFree: true,
    isListed: !isMarketData,
    serve: (call, user) => {
      const { value, ceNonce } = sessions.issueNonce(user, place);
      call.reply(nonceReply(value, ceNonce));
    },
  });
  kit.addPublic({
    method: 'POST',
    pattern: `${below}/auth`,
    shape: ({ body }) => decodeAuth(body, 0, body.length),
    addressUnits: ({ additionalSigners }) => LOGIN_UNITS * BigInt(Math.max(1, additionalSigners.length)),
    isFree: true,
    isListed: !isMarketData,
    bodyBytesMax: ACTION_BYTES_MAX,
    serve: async (call, request) => {
      const isOwn = request.additionalSigners.length === 0;
      const { address } = call;
      const login = isOwn
        ? sessions.login(request, address, place)
        : await sessions.coSignedLogin(request, address, place);
      answer(call, login, ({ token, expiryNs }) => authReply(token, expiryNs));
    },
  });
}

/** @param documents the API documents. @param openStreams number of a user's open streams. */
export function addOmsRoutes(kit: RouteKit, documents: ApiDocuments, openStreams: (user: UserId) => number): void {
  addSessionRoutes(kit);
  addRegistryRoutes(kit);
  addActionRoutes(kit);
  addUnsignedCancels(kit);
  addOrderReadRoutes(kit);
  addUserReadRoutes(kit);
  addAccountRoutes(kit);
  addMarginRoutes(kit);
  addSystemRoutes(kit, openStreams);
  addDocuments(kit, documents);
}

function addDocuments(kit: RouteKit, documents: ApiDocuments): void {
  const add = (pattern: string, anyOrigin: boolean): void => {
    kit.addPublic({ method: 'GET', pattern, anyOrigin, shape: noShape, serve: (call) => documents.answer(call) });
  };
  for (const pattern of DOCUMENT_PATTERNS) add(pattern, true);
  for (const pattern of TRADE_PAGE_PATTERNS) add(pattern, false);
}
