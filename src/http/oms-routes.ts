/** The REST routes of the order service, by area (wire.md 3, 7), and those of users that market data has too. */

import { sessionsReply } from '../codec/account-bodies.ts';
import { EMPTY, SESSIONS } from '../codec/shapes/account-shapes.ts';
import { LIMITS, SYSTEM_STATUS, SYSTEM_TIME } from '../codec/shapes/system-shapes.ts';
import { limitsReply, statusReply, timeReply } from '../codec/system-replies.ts';
import { must } from '../core/assert.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { VERSION } from '../runtime/version.ts';
import { ACCOUNT_ROUTES } from './account-routes.ts';
import { ACTION_ROUTES } from './action-routes.ts';
import { TRADE_PAGE_PATTERNS } from './api/api-documents.ts';
import { DOCUMENT_FILES, DOCUMENT_ROUTES } from './api/document-routes.ts';
import { EVIDENCE_ROUTES } from './evidence-routes.ts';
import { LEADER_ROUTE, leaderText } from './leader-route.ts';
import { LEDGER_ROUTE } from './ledger-route.ts';
import { loginRoutes } from './login-routes.ts';
import { MARGIN_ROUTES } from './margin-routes.ts';
import { type GatewayRoute, nothing, publicRoute, type RouteKit, sessionRoute } from './oms-kit.ts';
import { ORDER_READ_ROUTES } from './order-read-routes.ts';
import { PROTECTION_ROUTES } from './protection-routes.ts';
import { MARKET_ROUTES, REGISTRY_ROUTES } from './registry-routes.ts';
import { CANCEL_ROUTES } from './unsigned-cancels.ts';
import { MARKET_DATA_PATH, MARKET_DATA_USER_ROUTES } from './user-read-routes.ts';

// The service's clock, whether it takes orders, and the limits of a user.

const SYSTEM_ROUTES: readonly GatewayRoute[] = [
  publicRoute({
    ...LEADER_ROUTE,
    read: nothing,
    serve: ({ place }, call) => call.reply(leaderText(place)),
  }),
  publicRoute({
    method: 'GET',
    path: '/system/time',
    area: 'System',
    auth: 'public',
    cost: 'publicRead',
    summary: 'The clock of the service',
    description: 'Compare it with your clock before you sign: `post_sign_timestamp` may be 60 s old and 5 s ahead.',
    reply: SYSTEM_TIME,
    example: { reply: '{"now_ns":1770000000000000000}' },
    read: nothing,
    serve: ({ services }, call) => call.reply(timeReply(services.nowNs())),
  }),
  publicRoute({
    method: 'GET',
    path: '/system/status',
    area: 'System',
    auth: 'public',
    cost: 'publicRead',
    summary: 'The running version, and whether orders are accepted',
    reply: SYSTEM_STATUS,
    example: {
      reply:
        '{"name":"ringbook","version":"0.1.0","protocol_version":1,"takes_orders":true,"markets":{"1":"Active","2":"CancelOnly"}}',
    },
    read: nothing,
    serve: ({ services }, call) => {
      const takesOrders = !services.entry.isStopping;
      call.reply(statusReply({ version: VERSION, takesOrders, markets: services.registry.markets() }));
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/limits/{user_id}',
    area: 'System',
    auth: 'session',
    cost: 'action',
    summary: 'Your remaining budget',
    description:
      'Your budget after this request, the costs of requests, and your open streams. The budget shared by all users is not shown.',
    reply: LIMITS,
    example: {
      reply:
        '{"tier":"default","units":"198","capacity":200,"units_per_second":200,"costs":{"action":2,"cancel":1,"cancel_all":50,"bulk_item":1.5,"bulk_minimum":2,"history_page":25,"public_read":2},"streams":{"open":1,"cap":10}}',
    },
    read: nothing,
    serve: ({ services, openStreams }, call, session) =>
      call.reply(limitsReply(services.limits.viewOf(session.user, services.nowNs()), openStreams(session))),
  }),
];

const NO_SESSION = reject('NOT_FOUND', 'no session of yours has this id');

const LOGOUT_ROUTE: GatewayRoute = sessionRoute({
  method: 'POST',
  path: '/logout',
  area: 'Session',
  auth: 'session',
  cost: 'action',
  summary: 'Revoke every token of the caller',
  description:
    'Streams of the user end with `unauthorized` and close 1000. A session that only reads ends itself and its streams alone.',
  reply: EMPTY,
  example: { reply: '{}' },
  isForReaders: true,
  read: nothing,
  serve: ({ services }, call, session) => {
    services.sessions.logout(session.user, session);
    call.reply('{}');
  },
});

const SESSION_ID_FORM = /^[A-Za-z0-9_-]{1,64}$/;
const SESSION_ROUTES: readonly GatewayRoute[] = [
  LOGOUT_ROUTE,
  sessionRoute({
    method: 'GET',
    path: '/sessions',
    area: 'Session',
    auth: 'session',
    cost: 'action',
    summary: 'Your sessions',
    description: 'Oldest first, this one among them. A use is a request, and a check of an open stream.',
    reply: SESSIONS,
    example: {
      reply:
        '[{"id":"b1Jx0mQ2n7sVdK4tRz9cYw","scope":"full","created_ns":1770000000000000000,"last_used_ns":1770000004000000000,"address":"203.0.113.7"}]',
    },
    read: nothing,
    serve: ({ services }, call, { user }) => call.reply(sessionsReply(services.sessions.listOf(user))),
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/sessions/{session_id}',
    area: 'Session',
    auth: 'session',
    cost: 'action',
    summary: 'End one of your sessions',
    description:
      'Its streams end with `unauthorized` and close 1000. A session that only reads ends none but itself, by a logout.',
    reply: EMPTY,
    errors: ['NOT_FOUND'],
    example: { path: { session_id: 'b1Jx0mQ2n7sVdK4tRz9cYw' }, reply: '{}' },
    read: ({ head }) => sessionIdIn(head.parameters[0] ?? ''),
    serve: ({ services }, call, { user }, id) => {
      if (services.sessions.endById(user, id)) call.reply('{}');
      else call.refuse(NO_SESSION);
    },
  }),
];

function sessionIdIn(text: string): Outcome<string> {
  return SESSION_ID_FORM.test(text)
    ? accepted(text)
    : rejected(reject('INVALID_REQUEST', 'an id of `GET /sessions`', 'session_id'));
}

const DOCUMENTS = DOCUMENT_ROUTES.map((route) =>
  publicRoute({
    ...route,
    anyOrigin: true,
    read: nothing,
    serve: ({ documents }, call) => documents.answer(call),
  }),
);

export const OMS_ROUTES: readonly GatewayRoute[] = [
  ...loginRoutes('orders'),
  ...SESSION_ROUTES,
  ...MARKET_ROUTES,
  ...ACTION_ROUTES,
  ...CANCEL_ROUTES,
  ...ORDER_READ_ROUTES,
  ...ACCOUNT_ROUTES,
  LEDGER_ROUTE,
  ...PROTECTION_ROUTES,
  ...MARGIN_ROUTES,
  ...REGISTRY_ROUTES,
  ...SYSTEM_ROUTES,
  ...EVIDENCE_ROUTES,
  ...DOCUMENTS,
];

export function addOmsRoutes(kit: RouteKit): void {
  for (const route of OMS_ROUTES) kit.add(route);
  for (const route of MARKET_DATA_USER_ROUTES) {
    kit.addUnlisted(route, MARKET_DATA_PATH);
    // At the root too, where the order service has no namesake.
    kit.addUnlisted(route, '');
  }
  const document = must(DOCUMENTS[0], 'a listener has documents');
  kit.addFiles(DOCUMENT_FILES, document, true);
  for (const pattern of TRADE_PAGE_PATTERNS) kit.addFiles(pattern, document, false);
  // A path without any method: every request is 405. A configuration is set up by a deposit, never by a request (MSG-40).
  kit.routes.addMethodless('/multisig/config');
}
