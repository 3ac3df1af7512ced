/**
 * `POST /dev/faucet`, only on a node with the dev seed: credits test funds to any key, so that a newcomer's key can trade
 * from the page.
 *
 * An account is filled up to fixed balances, so the route credits no user more than once before the funds are spent. Its
 * cost is that of a login, charged to the address (docs/reliability.md).
 */
import { parseJsonObject } from '../codec/json-tree.ts';
import {
  ASSET_ID,
  closed,
  DECIMAL,
  listOf,
  SUB_ACCOUNT as SUB_ACCOUNT_INDEX,
  USER_ID_GIVEN,
} from '../codec/shapes/shape-kit.ts';
import { format18, parseDecimal18 } from '../core/decimal.ts';
import { type AssetId, parseUserId, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { LOGIN_UNITS } from '../gateway/sessions/address-limits.ts';
import { answer, publicRoute, type RouteKit } from './oms-kit.ts';

/** The account that is filled up: the default target of orders (wire.md 4.3). */
const SUB_ACCOUNT = 1;
/** Balances after a credit, by asset id of the dev seed. */
const FILLED_UP_TO: readonly (readonly [AssetId, string])[] = [
  ['0' as AssetId, '100000'],
  ['1' as AssetId, '1'],
  ['2' as AssetId, '25'],
];

/** A credit to one account. `amount` is a decimal in human units, above zero. */
export interface TestCredit {
  readonly user: UserId;
  readonly subAccount: number;
  readonly assetId: AssetId;
  readonly amount: string;
}

export type Credit = (credit: TestCredit) => Promise<Outcome<unknown>>;

/** In no document: a production node does not have it. */
const FAUCET = {
  method: 'POST',
  path: '/dev/faucet',
  area: 'Account',
  auth: 'public',
  cost: 'publicRead',
  summary: 'Fill up a margin account with test funds',
  body: closed({ user_id: USER_ID_GIVEN }),
  reply: closed({ sub_account: SUB_ACCOUNT_INDEX, credited: listOf(closed({ asset_id: ASSET_ID, amount: DECIMAL })) }),
  example: {
    body: '{"user_id":"{user_id}"}',
    reply: '{"sub_account":1,"credited":[{"asset_id":"0","amount":"100000"}]}',
  },
} as const;
const BUSY = reject('RATE_LIMITED', 'test funds of this user are being credited');

export function addDevFaucet(kit: RouteKit, credit: Credit): void {
  /** Users with a credit that is not booked yet; at most the calls in progress of the listener. */
  const busy = new Set<UserId>();
  const route = publicRoute({
    ...FAUCET,
    addressUnits: LOGIN_UNITS,
    read: ({ body }) => userIn(body),
    serve: async (_, call, user) => {
      if (busy.has(user)) return call.refuse(BUSY);
      busy.add(user);
      const credited = await fillUp(kit, user, credit).finally(() => busy.delete(user));
      answer(call, credited, (rows) => `{"sub_account":${SUB_ACCOUNT},"credited":[${rows.join(',')}]}`);
    },
  });
  kit.addUnlisted(route, '');
}

async function fillUp(kit: RouteKit, user: UserId, credit: Credit): Promise<Outcome<readonly string[]>> {
  const credited: string[] = [];
  for (const [assetId, amount] of missing(kit, user)) {
    const reply = await credit({ user, subAccount: SUB_ACCOUNT, assetId, amount });
    if (!reply.ok) return reply;
    credited.push(`{"asset_id":"${assetId}","amount":"${amount}"}`);
  }
  return accepted(credited);
}

/** What a user lacks to the balances of FILLED_UP_TO. */
function missing(kit: RouteKit, user: UserId): readonly (readonly [AssetId, string])[] {
  const { accounts } = kit.services.queries.inventory(user, [SUB_ACCOUNT]);
  const spot = accounts.get(String(SUB_ACCOUNT))?.spot;
  return FILLED_UP_TO.flatMap(([assetId, wanted]) => {
    const lacks = (parseDecimal18(wanted) ?? 0n) - (parseDecimal18(spot?.get(assetId) ?? '0') ?? 0n);
    return lacks > 0n ? [[assetId, format18(lacks)] as const] : [];
  });
}

function userIn(body: Uint8Array): Outcome<UserId> {
  const object = parseJsonObject(body);
  if (!object.ok) return object;
  for (const name of object.value.keys()) {
    if (name !== 'user_id') return rejected(reject('INVALID_REQUEST', `${name}: no such member`, name));
  }
  const text = object.value.get('user_id');
  const user = typeof text === 'string' ? parseUserId(text) : null;
  return user === null ? rejected(reject('INVALID_REQUEST', 'a user id is 64 hex digits', 'user_id')) : accepted(user);
}
