/** Nonce and login (wire.md 3), which each listener has. */

import { decodeAuth } from '../codec/account-requests.ts';
import { authReply, nonceReply } from '../codec/operation-replies.ts';
import { AUTH_REQUEST, NONCE, TOKEN } from '../codec/shapes/account-shapes.ts';
import { ACTION_BYTES_MAX } from '../core/limits.ts';
import { LOGIN_UNITS } from '../gateway/sessions/address-limits.ts';
import type { LoginPlace } from '../gateway/user-sessions.ts';
import { answer, type GatewayRoute, publicRoute, userOf } from './oms-kit.ts';

/** What documents of market data say of its login. */
const AT_THIS_LISTENER =
  ' Each listener has a nonce of its own; tokens of either are valid on both. Below `/market-data` the order listener has this login too.';

/** The login of a place. It costs no budget: the address is charged (wire-additions.md 12). */
export function loginRoutes(place: LoginPlace): readonly GatewayRoute[] {
  const about = place === 'market-data' ? AT_THIS_LISTENER : '';
  return [
    publicRoute({
      method: 'GET',
      path: '/nonce/{user_id}',
      area: 'Session',
      auth: 'public',
      cost: 'free',
      summary: 'Get a nonce to sign',
      description:
        'Your user id is your Ed25519 public key; there is no registration. The nonce is valid for five minutes and the same for every request until it is used. ' +
        'Never sign a nonce that is not 43 characters of `A-Z a-z 0-9 _ -`: it could be an order.' +
        about,
      reply: NONCE,
      example: { reply: '{"value":"7mYt0nV3bq1dX9kzJ2rWcA5uLhE8sGfPo6iTQy4vKxM","ce_nonce":0}' },
      read: ({ head }) => userOf(head),
      serve: ({ services }, call, user) => {
        const { value, ceNonce } = services.sessions.issueNonce(user, place);
        call.reply(nonceReply(value, ceNonce));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/auth',
      area: 'Session',
      auth: 'public',
      cost: 'free',
      summary: 'Log in',
      description:
        'The signature goes over the UTF-8 bytes of the nonce, no hash, no quotes; with `"scope":"read"` over `read:` and the nonce, and the session only reads. Co-signers sign the same bytes; then `signature` may be empty, and their weight must reach the threshold `low`. There is no refresh and no rotation of keys: log in again when the token has expired.' +
        about,
      body: AUTH_REQUEST,
      bodyBytesMax: ACTION_BYTES_MAX,
      reply: TOKEN,
      errors: [
        'NONCE_NOT_FOUND',
        'NONCE_EXPIRED',
        'INVALID_NONCE',
        'INVALID_SIGNATURE',
        'INSUFFICIENT_SIGNER_WEIGHT',
        'SIGNER_UNKNOWN',
        'SIGNER_EXPIRED',
        'SIGNER_DUPLICATE',
      ],
      example: {
        body: '{"user_id":"{user_id}","nonce":"7mYt0nV3bq1dX9kzJ2rWcA5uLhE8sGfPo6iTQy4vKxM","signature":[]}',
        reply: '{"token":"kPq3Xo2bR7sLw9TzVn4yHc1eJd6mUf8gQa0iBxC5vKE","expiry_ns":1770086400000000000}',
      },
      read: ({ body }) => decodeAuth(body, 0, body.length),
      addressUnits: ({ additionalSigners }) => LOGIN_UNITS * BigInt(Math.max(1, additionalSigners.length)),
      serve: async ({ services: { sessions } }, call, request) => {
        const isOwn = request.additionalSigners.length === 0;
        const { address } = call;
        const login = isOwn
          ? sessions.login(request, address, place)
          : await sessions.coSignedLogin(request, address, place);
        answer(call, login, ({ token, expiryNs }) => authReply(token, expiryNs));
      },
    }),
  ];
}
