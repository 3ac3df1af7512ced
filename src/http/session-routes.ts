/** Nonce, login, logout (wire.md 3). */

import { decodeAuth } from '../codec/auth-request.ts';
import { authReply, nonceReply } from '../codec/operation-replies.ts';
import { LOGIN_UNITS } from '../gateway/sessions/address-limits.ts';
import { answer, noShape, type RouteKit, userOf } from './oms-kit.ts';

export function addSessionRoutes(kit: RouteKit): void {
  const { services } = kit;
  kit.addPublic({
    method: 'GET',
    pattern: '/nonce/:user_id',
    shape: ({ head }) => userOf(head),
    loginOf: (user) => user,
    serve: (call, user) => {
      const { value, ceNonce } = services.sessions.issueNonce(user);
      call.reply(nonceReply(value, ceNonce));
    },
  });
  kit.addPublic({
    method: 'POST',
    pattern: '/auth',
    shape: ({ body }) => decodeAuth(body, 0, body.length),
    addressUnits: LOGIN_UNITS,
    loginOf: ({ userId }) => userId,
    serve: (call, request) => {
      answer(call, services.sessions.login(request, call.address), ({ token, expiryNs }) => authReply(token, expiryNs));
    },
  });
  kit.addSession({
    method: 'POST',
    pattern: '/logout',
    shape: noShape,
    cost: 'action',
    isChange: false,
    serve: (call, { user }) => {
      services.sessions.logout(user);
      call.reply('{}');
    },
  });
}
