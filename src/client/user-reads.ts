/**
 * A user's own reads of the market-data service (wire-additions.md 8): orders and trades with filters, names of sub-accounts, and
 * what positions cost.
 *
 *   const sells = await client.history.trades({ assetId: '2', side: 'Sell', startNs });
 *   const [row] = await client.history.positionBasis({ subAccount: 1 });
 *
 * With the address of market data the client logs in there, with the nonce of that listener; else it reads the same below
 * `/market-data` of the order service, in its session.
 */

import type { JsonValue } from '../codec/json-tree.ts';
import type { PositionBasis, SubAccountName, UserOrder } from '../codec/reply-types.ts';
import { ACCOUNT_NAMES, POSITION_BASIS } from '../codec/shapes/account-shapes.ts';
import { USER_ORDER_RECORD } from '../codec/shapes/order-record-shapes.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { SideWord } from './canonical.ts';
import { type HttpExchange, queryText } from './http-transport.ts';
import { type Page, readPage, readUserTrade, type UserTrade } from './replies.ts';
import { replyReader } from './reply-reader.ts';

export type { PositionBasis, SubAccountName, UserOrder } from '../codec/reply-types.ts';

/** All that are given must hold. */
export interface UserHistoryQuery {
  /** Default: all markets. */
  readonly assetId?: string;
  /** From 0. */
  readonly page?: number;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  /** Inclusive: the creation of an order, the match of a trade. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly side?: SideWord;
  /** 0 to 255. */
  readonly subAccount?: number;
}

export interface UserOrderQuery extends UserHistoryQuery {
  /** `closed` is filled, cancelled, expired or rejected; `pending` waits for its trigger. */
  readonly status?: 'open' | 'pending' | 'partial' | 'cancelled' | 'completed' | 'closed' | 'expired' | 'rejected';
}

/** A confirmed trade with its sub-account. */
export interface AccountTrade extends UserTrade {
  readonly subAccount: number;
}

/** The parts of the client that these reads use. */
export interface UserReadsLink {
  readonly userId: () => UserId;
  readonly asset: (name: string) => Promise<AssetId>;
  /** A login now, if there is none. */
  readonly login: () => Promise<void>;
  /** @param exchange its path is the one of market data. */
  readonly exchange: (exchange: HttpExchange) => Promise<JsonValue>;
}

export class UserReads {
  readonly #link: UserReadsLink;

  constructor(link: UserReadsLink) {
    this.#link = link;
  }

  /** Logs in now instead of with the first read. */
  login(): Promise<void> {
    return this.#link.login();
  }

  /** Newest first. @throws RingbookError INVALID_REQUEST where a filter would look at more than 100,000 rows. */
  async orders(query: UserOrderQuery = {}): Promise<Page<UserOrder>> {
    const { status } = query;
    return readPage(await this.#get('orders', query.assetId, { ...membersOf(query), status }), 'orders', readUserOrder);
  }

  /** Confirmed trades, newest first. @throws RingbookError as `orders`. */
  async trades(query: UserHistoryQuery = {}): Promise<Page<AccountTrade>> {
    return readPage(await this.#get('trades', query.assetId, membersOf(query)), 'trades', readUserTrade);
  }

  /** Those that the user named, ascending. */
  async subAccountNames(): Promise<readonly SubAccountName[]> {
    return readSubAccountNames(await this.#exchange(`/sub-accounts/user/${this.#link.userId()}`));
  }

  /** By sub-account, asset and domain. @throws RingbookError SERVICE_UNAVAILABLE, to be repeated, for very many trades. */
  async positionBasis(query: Pick<UserHistoryQuery, 'assetId' | 'subAccount'> = {}): Promise<readonly PositionBasis[]> {
    const market = query.assetId === undefined ? '' : `/${await this.#link.asset(query.assetId)}`;
    const path = `/positions/user/${this.#link.userId()}/basis${market}`;
    const reply = await this.#exchange(`${path}${queryText({ sub_account: query.subAccount })}`);
    return readPositionBasis(reply);
  }

  async #get(kind: 'orders' | 'trades', assetId: string | undefined, members: object): Promise<JsonValue> {
    const market = assetId === undefined ? '' : `/${await this.#link.asset(assetId)}`;
    return this.#exchange(`/${kind}/user/${this.#link.userId()}${market}${queryText(members)}`);
  }

  #exchange(path: string): Promise<JsonValue> {
    return this.#link.exchange({ method: 'GET', path });
  }
}

function membersOf({ page, limit, startNs, endNs, side, subAccount }: UserHistoryQuery): object {
  const times = { start_time: startNs, end_time: endNs };
  return { page, limit, ...times, side: side?.toLowerCase(), sub_account: subAccount };
}

const readNames = replyReader('sub-account names', ACCOUNT_NAMES);

export const readUserOrder: (value: JsonValue) => UserOrder = replyReader('order record', USER_ORDER_RECORD);
export const readPositionBasis: (value: JsonValue) => readonly PositionBasis[] = replyReader(
  'position basis',
  POSITION_BASIS,
);

export function readSubAccountNames(value: JsonValue): readonly SubAccountName[] {
  return readNames(value).names;
}
