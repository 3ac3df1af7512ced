/**
 * What the order service's listener asks of the node behind it, an interface an area. The edge knows sockets, headers
 * and frames; the node knows sessions, orders and rings (src/node/front-door.ts implements this).
 *
 * A new area gets an interface in a file of its own and one read-only member of OmsBackend.
 */

import type { AccountEvent } from '../codec/account-events.ts';
import type { AuthRequest } from '../codec/auth-request.ts';
import type { HopTimes } from '../codec/hop-times.ts';
import type { PositionView } from '../codec/margin-replies.ts';
import type { MarketView } from '../codec/market-reply.ts';
import type { OrderRecordView } from '../codec/order-record.ts';
import type { CancelRequest } from '../codec/signed-cancel.ts';
import type { CreateRequest } from '../codec/signed-order.ts';
import type { ReplaceRequest } from '../codec/signed-replace.ts';
import type { AssetId, OrderId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { InventoryBody } from '../gateway/orders/inventory.ts';
import type { Lifeline, Tie } from '../gateway/orders/lifeline.ts';
import type { OrderEvent, UserTrade } from '../gateway/orders/order-events.ts';
import type { Page } from '../gateway/orders/pages.ts';
import type { ActionAnswer, Answer } from '../gateway/orders/requests.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { AccountActionBackend, MultisigReads } from './account-backend.ts';
import type { MarginReads } from './margin-backend.ts';
import type { RegistryBackend } from './registry-backend.ts';
import type { SystemReads } from './system-routes.ts';

/** Who sends a signed action, and over what. */
export interface ActionOrigin {
  /** The session's user. */
  readonly user: UserId;
  /** Any number that stays the same for one connection: its actions keep their order. */
  readonly connection: number;
  /** True on `/control`: no look-up first, and a cancel may wait for its create (AMB-92). */
  readonly isControl: boolean;
  /** A create that equals an earlier one that was sent like this is answered as that was; no unless said so. */
  readonly isResent?: boolean;
  /** Where the times of a single action are noted on its way; nowhere unless given. */
  readonly hops?: HopTimes | null;
  /** The connection with whose end the order goes; it stays unless given. */
  readonly lifeline?: Lifeline | null;
  /** Of a create that may be sent again: what its order goes with, instead of `lifeline`. */
  readonly tie?: Tie;
}

/** The answer to the item of a batch at this index. */
export type ItemAnswer = (index: number, answer: ActionAnswer) => void;

export interface PageRequest {
  readonly user: UserId;
  /** Null for all markets. */
  readonly assetId: AssetId | null;
  readonly subAccounts: readonly number[] | null;
  readonly page: number;
  readonly limit: number;
}

export interface NodeTime {
  nowNs(): TimestampNs;
}

export interface ChargeBackend {
  /**
   * Takes what a request costs out of the budgets: of the user and of all, or of all alone when `user` is null
   * (LIM-06, LIM-07, LIM-14). Charge once, after shape and session, before anything is done.
   *
   * @returns RATE_LIMITED, and then nothing was taken; null when it has been paid.
   */
  charge(user: UserId | null, cost: Cost): Reject | null;
  /** As `charge` of a public read, for a nonce or a login of this user, who need not have sent it. */
  chargeLogin(user: UserId): Reject | null;
}

export interface SessionBackend extends NodeTime {
  issueNonce(user: UserId): { readonly value: string; readonly ceNonce: number };
  /** @param address where the client is; '' where nobody asks. */
  login(request: AuthRequest, address: string): Outcome<{ readonly token: string; readonly expiryNs: TimestampNs }>;
  logout(user: UserId): void;
  /** Whether this token is a live session of this user. */
  isSession(user: UserId, token: string): boolean;
  /** Whether the user has a balance or a position: what all share keeps places for them. */
  isFunded(user: UserId): boolean;
  /** Concurrent OMS streams this user may have (LIM-19, LIM-20). */
  streamCap(user: UserId): number;
}

/** Signed actions. Each answers once, now or later, never after a thrown error. */
export interface ActionBackend {
  create(request: CreateRequest, origin: ActionOrigin, answer: Answer): void;
  replace(request: ReplaceRequest, origin: ActionOrigin, answer: Answer): void;
  cancel(request: CancelRequest, origin: ActionOrigin, answer: Answer): void;
  /** Each item answers as a single action would, in any order (BAT-01 to BAT-10). */
  createBatch(requests: readonly CreateRequest[], origin: ActionOrigin, answer: ItemAnswer): void;
  replaceBatch(requests: readonly ReplaceRequest[], origin: ActionOrigin, answer: ItemAnswer): void;
  /** The connection has ended: every unfinished order that was created or replaced over it is cancelled. */
  cut(lifeline: Lifeline): void;
}

export interface BulkCancelBackend {
  /**
   * Every order of the user, or those of one market; `beforeNs` 1 or more: only what is strictly older (AMB-18).
   *
   * @returns null when all of it is dispatched; MARKET_NOT_FOUND, SERVICE_UNAVAILABLE before anything changed.
   */
  cancelAll(request: {
    readonly user: UserId;
    readonly assetId: AssetId | null;
    readonly beforeNs: TimestampNs | null;
  }): Reject | null;
  /** The user's unfinished orders with these ids, in every market or in one. Answers like `cancelAll`. */
  cancelBatch(request: {
    readonly user: UserId;
    readonly assetId: AssetId | null;
    readonly orderIds: readonly OrderId[];
  }): Reject | null;
  /** Cancels every order of the user when so much time is over, unless called again before; 0: not any more.
   *
   * @returns when, or null; SERVICE_UNAVAILABLE: nothing has changed.
   */
  cancelAllAfter(user: UserId, timeoutMs: number): Outcome<TimestampNs | null>;
}

export interface MarketReads {
  markets(): readonly MarketView[];
  market(assetId: AssetId): MarketView | null;
}

export interface OrderReads {
  /** Rows as JSON. MARKET_NOT_FOUND for an unknown market, SERVICE_UNAVAILABLE when too many pages are being read. */
  orderPage(request: PageRequest & { readonly openOnly: boolean }): Promise<Outcome<Page<string>>>;
  order(user: UserId, assetId: AssetId, orderId: OrderId): Outcome<OrderRecordView>;
  /** As `orderPage`. */
  tradePage(request: PageRequest): Promise<Outcome<Page<string>>>;
}

export interface AccountReads {
  inventory(user: UserId, subAccounts: readonly number[] | null): InventoryBody;
}

export interface OmsBackend
  extends SessionBackend,
    ChargeBackend,
    ActionBackend,
    BulkCancelBackend,
    MarketReads,
    OrderReads,
    AccountReads {
  readonly registry: RegistryBackend;
  readonly multisig: MultisigReads;
  readonly margin: MarginReads;
  readonly accountActions: AccountActionBackend;
  readonly system: SystemReads;
}

/** Streams of figures that are made only for those who listen. */
export type MarginStream = 'positions' | 'account-stats';

/** What the listener takes from the node: events for the streams of one user. */
export interface OmsStreams {
  orderEvent(user: UserId, event: OrderEvent, timestampNs: TimestampNs): void;
  userTrade(user: UserId, trade: UserTrade, timestampNs: TimestampNs): void;
  /** Told once it is flushed. */
  accountEvent(user: UserId, event: AccountEvent): void;
  /** Positions that changed, flushed (STR-03). */
  positions(user: UserId, views: readonly PositionView[], timestampNs: TimestampNs): void;
  /** Figures of one margin account that changed: the reply object of `/margin` (STR-04). */
  accountStats(user: UserId, reply: string, timestampNs: TimestampNs): void;
  listens(user: UserId, stream: MarginStream): boolean;
  listenersOf(stream: MarginStream): Iterable<UserId>;
  /** A logout or an expiry: sockets of this user end with `unauthorized` (AMB-88). */
  endSessions(user: UserId): void;
  /** Hands everything told since the last call to the sockets, in order. */
  flush(): void;
}
