/**
 * Reads of users as market data offers them (wire-additions.md 8.2 to 8.5). The gateway answers them, whichever listener
 * received them: below `/market-data` on the order listener, and at the root and below `/market-data` on the market-data
 * listener (passed-requests.ts).
 *
 * Not here: the forms of the order service at the same paths (order-read-routes.ts).
 */

import { subAccountNames } from '../codec/account-bodies.ts';
import { ACTION_BYTES_MAX } from '../core/limits.ts';
import { noShape, type RouteKit } from './oms-kit.ts';
import type { HttpRoute } from './uws-http.ts';

/** The path below which both listeners have the market-data form of a path. */
export const MARKET_DATA_PATH = '/market-data';

/** What the market-data listener passes to the gateway, which has each of them below MARKET_DATA_PATH. */
export const PASSED_TO_GATEWAY: readonly Omit<HttpRoute, 'handler'>[] = [
  { method: 'GET', pattern: '/nonce/:user_id' },
  { method: 'POST', pattern: '/auth', bodyBytesMax: ACTION_BYTES_MAX },
  { method: 'GET', pattern: '/sub-accounts/user/:user_id' },
];

const OWN = { method: 'GET', isChange: false, namesUser: true, isMarketData: () => true } as const;

export function addUserReadRoutes(kit: RouteKit): void {
  for (const pattern of bothPaths('/sub-accounts/user/:user_id')) {
    kit.addSession({
      ...OWN,
      pattern,
      isListed: false,
      cost: 'action',
      shape: noShape,
      serve: (call, { user }) => call.reply(subAccountNames(kit.services.queries.accountNames(user))),
    });
  }
}

/** A path without a namesake of the order service is there at the root too. */
function bothPaths(pattern: string): readonly string[] {
  return [pattern, `${MARKET_DATA_PATH}${pattern}`];
}
