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
import type { UserId } from '../core/ids.ts';
import type { SideWord } from './canonical.ts';
import { type HttpExchange, queryText } from './http-transport.ts';
import {
  choice,
  type OrderRecord,
  type Page,
  readArray,
  readObject,
  readOrderRecord,
  readPage,
  readUserTrade,
  stringOrNull,
  type UserTrade,
} from './replies.ts';
import { assetOf } from './signed-actions.ts';

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

/** An order as market data shows it. */
export interface UserOrder extends OrderRecord {
  readonly subAccount: number;
  /** Target spot, else margin. */
  readonly isSpot: boolean;
  readonly lastUpdateNs: bigint;
  /** Of an amend: the time of the last replace or amend; null if there was none. */
  readonly revisionNs: bigint | null;
}

/** A confirmed trade with its sub-account. */
export interface AccountTrade extends UserTrade {
  readonly subAccount: number;
}

/** A sub-account that the user named. */
export interface SubAccountName {
  readonly subAccount: number;
  readonly name: string;
}

/**
 * What a position cost: average cost of confirmed trades, without fees and transfers. An estimate, not inventory. Decimal strings,
 * truncated to 18 decimals.
 */
export interface PositionBasis {
  readonly subAccount: number;
  readonly assetId: string;
  /** The target of the orders. */
  readonly domain: 'margin' | 'spot';
  /** Null in spot. */
  readonly side: 'long' | 'short' | null;
  readonly quantity: string;
  /** USD. */
  readonly cost: string;
  /** USD per unit; null in spot. */
  readonly entryPrice: string | null;
  /** USD per unit; null in margin. */
  readonly averageAcquisitionPrice: string | null;
  /** Null without a stored price, and then so is what follows from it. */
  readonly markPrice: string | null;
  /** USD. */
  readonly unrealizedPnl: string | null;
}

/** The parts of the client that these reads use. */
export interface UserReadsLink {
  readonly userId: () => UserId;
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
    return readPage(await this.#get('trades', query.assetId, membersOf(query)), 'trades', readAccountTrade);
  }

  /** Those that the user named, ascending. */
  async subAccountNames(): Promise<readonly SubAccountName[]> {
    return readSubAccountNames(await this.#exchange(`/sub-accounts/user/${this.#link.userId()}`));
  }

  /** By sub-account, asset and domain. @throws RingbookError SERVICE_UNAVAILABLE, to be repeated, for very many trades. */
  async positionBasis(query: Pick<UserHistoryQuery, 'assetId' | 'subAccount'> = {}): Promise<readonly PositionBasis[]> {
    const market = query.assetId === undefined ? '' : `/${assetOf(query.assetId)}`;
    const path = `/positions/user/${this.#link.userId()}/basis${market}`;
    const reply = await this.#exchange(`${path}${queryText({ sub_account: query.subAccount })}`);
    return readArray(reply, 'position basis', readPositionBasis);
  }

  async #get(kind: 'orders' | 'trades', assetId: string | undefined, members: object): Promise<JsonValue> {
    const market = assetId === undefined ? '' : `/${assetOf(assetId)}`;
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

export function readUserOrder(value: JsonValue): UserOrder {
  const record = readOrderRecord(value);
  return readObject(value, 'order record', (reader) => ({
    ...record,
    subAccount: reader.integer('account_index', 0, 255),
    isSpot: reader.boolean('is_spot'),
    lastUpdateNs: reader.u64('last_update_timestamp_ns'),
    revisionNs: reader.has('authorization_revision') ? reader.u64('authorization_revision') : null,
  }));
}

export function readAccountTrade(value: JsonValue): AccountTrade {
  const trade = readUserTrade(value);
  return readObject(value, 'user trade', (reader) => ({ ...trade, subAccount: reader.integer('sub_account', 0, 255) }));
}

export function readSubAccountNames(value: JsonValue): readonly SubAccountName[] {
  return readObject(value, 'sub-account names', (reader) =>
    reader.array('names').map((row) =>
      readObject(row, 'sub-account name', (named) => ({
        subAccount: named.integer('account_index', 0, 255),
        name: named.string('name'),
      })),
    ),
  );
}

export function readPositionBasis(value: JsonValue): PositionBasis {
  return readObject(value, 'position basis', (reader) => ({
    subAccount: reader.integer('sub_account', 0, 255),
    assetId: reader.string('asset_id'),
    domain: choice(reader, 'domain', ['margin', 'spot']),
    side: reader.has('side') ? choice<'long' | 'short'>(reader, 'side', ['long', 'short']) : null,
    quantity: reader.string('quantity'),
    cost: reader.string('cost'),
    entryPrice: stringOrNull(reader, 'entry_price'),
    averageAcquisitionPrice: stringOrNull(reader, 'avg_acquisition_price'),
    markPrice: stringOrNull(reader, 'mark_price'),
    unrealizedPnl: stringOrNull(reader, 'unrealized_pnl'),
  }));
}
