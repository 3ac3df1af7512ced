/**
 * The ringbook SDK: one object per user with all operations of a trader. Programs import it from `ringbook-client`, whose root is
 * sdk.ts.
 *
 *   const client = new RingbookClient({ oms, mds, key: loadKey('me.key') });
 *   const order = await client.order({ assetId: '2', side: 'Buy', price: '3000.25', quantity: '0.5' });
 *   const response = await client.create(order);
 *
 * REST calls throw RingbookError with the service's code; `/control` returns rejections as `Rejected` values. Streams
 * are async iterators or push to a listener. Numbers stay exact: decimals are strings, nanoseconds bigints.
 *
 * Keys are in keys.ts, the operator API in operator.ts.
 */

import type { SessionScope } from '../codec/action-types.ts';
import type { JsonValue } from '../codec/json-tree.ts';
import type { ProtectionState } from '../codec/reply-types.ts';
import type { Signatures } from '../codec/signatures.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { AccountClient } from './account.ts';
import type { AccountSigners, CoSignatures } from './action-signers.ts';
import { Addresses, isUnserved, type LeaderAddress, type Probe } from './addresses.ts';
import { AssetNames } from './asset-names.ts';
import type { LimitOrder, MarketOrder, Order, OrderTarget, QuotesToSign } from './canonical.ts';
import type { CoSigner } from './co-signers.ts';
import { BATCH_LIST, batchItems, type ControlConnecting, ControlConnection, type ControlOptions } from './control.ts';
import { invalidArgument, type RingbookError } from './errors.ts';
import { EventStream, type Reconnect, type ResumingReconnect } from './event-stream.ts';
import { evidenceFileText } from './evidence.ts';
import {
  baseAddress,
  type HttpExchange,
  type HttpMethod,
  HttpTransport,
  queryText,
  type SocketTarget,
} from './http-transport.ts';
import type { SigningKey } from './keys.ts';
import { type LedgerPage, type LedgerQuery, ledgerMembers, readLedgerPage } from './ledger.ts';
import { Lifetime } from './lifetime.ts';
import {
  type Limits,
  readLimits,
  readSession,
  readSystemStatus,
  readSystemTime,
  type SessionInfo,
  type SystemStatus,
} from './limits.ts';
import { LiveBook } from './live-book.ts';
import { MarginClient } from './margin.ts';
import { type FeedOptions, MarketFeed } from './market-feed.ts';
import { type OrderEvent, readOrderEvent } from './order-events.ts';
import {
  PrivateFeed,
  type PrivateFeedChannel,
  type PrivateFeedFrame,
  type PrivateFeedOptions,
} from './private-feed.ts';
import { type ProtectionTicket, protectionBody, readProtection, readProtections } from './protection.ts';
import { readArray } from './read-members.ts';
import { RegistryClient } from './registry.ts';
import {
  type BatchResult,
  type Depth,
  type Inventory,
  type Kline,
  type KlinePage,
  type Market,
  type OpenInterest,
  type OperationResponse,
  type OrderRecord,
  type Page,
  type PublicTrade,
  type PublicTradeEvent,
  type QuoteSetResponse,
  readBatchResults,
  readDepth,
  readFiresAt,
  readInventory,
  readKline,
  readKlinePage,
  readMarket,
  readOpenInterest,
  readOperationResponse,
  readOrderRecord,
  readPage,
  readPublicTrade,
  readPublicTradeEvent,
  readQuoteSetResponse,
  readTicker,
  readUserTrade,
  type Ticker,
  type UserTrade,
} from './replies.ts';
import { Session } from './session.ts';
import {
  amendAction,
  bodyOf,
  checkMembers,
  inProtectionGroup,
  limitOrder,
  type MarketReplace,
  type MarketTicket,
  marketOrder,
  type OrderAction,
  type OrderTicket,
  type QuoteSetTicket,
  quoteSet,
  rawOf,
  type SignedAction,
  type SignedQuotes,
  signCancel,
  signCreate,
  signQuotes,
  signReplace,
  type TriggerTicket,
  triggerOf,
  type UnsignedAction,
  WRAPPERS,
} from './signed-actions.ts';
import { type NowNs, systemClock } from './time.ts';
import { UserReads } from './user-reads.ts';

export interface ClientOptions {
  /** Base URL of the order service, e.g. `http://127.0.0.1:3032`; of a cluster those of its nodes: the leader is found. */
  readonly oms: string | readonly string[];
  /**
   * Base URL of the market-data service, e.g. `http://127.0.0.1:8011`; needed for depth, klines, trades, tickers. Of a cluster those
   * of its nodes and replicas.
   */
  readonly mds?: string | readonly string[];
  /** The master key of the account. It, or `account` with co-signers, is needed for everything except market data. */
  readonly key?: SigningKey;
  /** The account, where its master key is not here. */
  readonly account?: UserId;
  /** Co-signers of the account that are here: they sign logins and all actions. */
  readonly coSigners?: readonly CoSigner[];
  /**
   * What the session may do. `read`: it reads and streams; whatever changes something is refused with READ_ONLY_SESSION.
   * By default everything that its user may.
   */
  readonly scope?: SessionScope;
  /** Default: the system clock, strictly increasing. */
  readonly nowNs?: NowNs;
  /** With several addresses: another leader is used from now on, with a new login. Sockets report their own ends. */
  onReconnected?(leader: LeaderAddress): void;
}

/**
 * The changes of a replace, in human units; omitted members stay. `quantity` is the new total, including the filled
 * part.
 */
export interface ReplaceTicket {
  readonly assetId: string;
  readonly orderId: string;
  readonly price?: string;
  readonly quantity?: string;
  /** Only while the order waits for its trigger. */
  readonly trigger?: Omit<TriggerTicket, 'parentOrderId'>;
  /**
   * Signs complete terms, the market among them: price and quantity must be given, and an order that waits for a trigger keeps
   * none that is not given. Default false.
   */
  readonly isComplete?: boolean;
}

/** The new total of an order, in human units, the filled part included; below the total in force. */
export interface AmendTicket {
  readonly assetId: string;
  readonly orderId: string;
  readonly quantity: string;
  /** The timestamp of the order's last replace or amend; null if it was not changed since its create. */
  readonly expectedRevisionNs: bigint | null;
}

/** Options of one action over REST. */
export interface SendOptions {
  /** Idempotent retry: a create sent again, byte for byte, with this set both times gets the reply of the first. */
  readonly resend?: boolean;
  /** The reply includes the time at which the action passed each hop. */
  readonly timing?: boolean;
}

export interface PageQuery {
  readonly page?: number;
  readonly limit?: number;
}

export interface KlineQuery extends PageQuery {
  /** Like `1m`, `4h`, `1D`, `30S`. A bare number is a count of minutes. */
  readonly interval?: string;
  /** The newest row; default now. */
  readonly endNs?: bigint;
}

const REPLACE_MEMBERS: readonly string[] = ['assetId', 'orderId', 'price', 'quantity', 'trigger', 'isComplete'];
const AMEND_MEMBERS: readonly string[] = ['assetId', 'orderId', 'quantity', 'expectedRevisionNs'];

const ROUTE_OF: Readonly<Record<OrderAction, { readonly method: HttpMethod; readonly path: string }>> = {
  Create: WRAPPERS.create,
  Replace: WRAPPERS.replace,
  Cancel: WRAPPERS.cancel,
  Amend: { method: 'PATCH', path: '/orders/amend' },
};

/** An age from which a market is read again. */
const MARKET_AGE_MAX_MS = 60_000;

export class RingbookClient {
  readonly nowNs: NowNs;
  /** Transfers, position closes, names, account events. */
  readonly account: AccountClient;
  readonly registry: RegistryClient;
  /** Symbols of assets: wherever a call names an asset or market it takes `ETH` as well as `2`. */
  readonly assets: AssetNames;
  /** Positions, figures and simulations of the user's margin accounts. */
  readonly margin: MarginClient;
  /** Orders and trades with filters, names of sub-accounts, what positions cost. */
  readonly history: UserReads;
  readonly #lifetime = new Lifetime();
  readonly #omsAddresses: Addresses;
  readonly #mdsAddresses: Addresses | null;
  readonly #oms: HttpTransport;
  readonly #mds: HttpTransport | null;
  readonly #signers: AccountSigners | null;
  readonly #session: Session | null;
  readonly #scope: SessionScope;
  /**
   * A market's decimals are constant, its rates of fees change now and then: an older one is used once more, and read again behind
   * that.
   */
  readonly #markets = new Map<string, { readonly market: Promise<Market>; readonly readMs: number }>();
  /** Of the last quote set that was signed. */
  #lastRevisionNs = 0n;

  constructor(options: ClientOptions) {
    this.nowNs = options.nowNs ?? systemClock();
    const { oms, mds } = options;
    this.#omsAddresses = addressesOf(oms, 'oms', (base, path) => this.#oms.probe(base, path), this.#lifetime, options);
    this.#oms = new HttpTransport(this.#omsAddresses);
    this.#mdsAddresses =
      mds === undefined ? null : addressesOf(mds, 'mds', (base, path) => this.#oms.probe(base, path), this.#lifetime);
    this.#mds = this.#mdsAddresses === null ? null : new HttpTransport(this.#mdsAddresses);
    this.#signers = signersOf(options);
    this.#scope = options.scope ?? 'full';
    this.#session = this.#signers === null ? null : new Session(this.#oms, this.#signers, this.nowNs, this.#scope);
    this.account = new AccountClient({
      signers: () => this.#accountSigners(),
      nonce: () => this.#freshNonce(),
      exchange: (request) => this.#protected(request),
      exchangePublic: (request) => this.#oms.exchange(request),
      asset: (name) => this.assets.idOf(name),
      stream: (path, decode, reconnect) => this.#omsStream(path, decode, reconnect),
    });
    this.registry = new RegistryClient((request) => this.#oms.exchange(request));
    this.assets = new AssetNames(() => this.registry.symbols());
    this.margin = new MarginClient({
      userId: () => this.userId,
      asset: (name) => this.assets.idOf(name),
      exchange: (exchange) => this.#protected(exchange),
      stream: (path, decode, reconnect) => this.#omsStream(path, decode, reconnect),
    });
    this.history = this.#userReads();
  }

  /** With a session of its own at market data, where its address is known; in a cluster the leader alone has what is of users. */
  #userReads(): UserReads {
    const userId = (): UserId => this.userId;
    const asset = (name: string): Promise<AssetId> => this.assets.idOf(name);
    if (this.#mds === null || this.#signers === null || this.#omsAddresses.isCluster) {
      return new UserReads({
        userId,
        asset,
        login: () => this.login(),
        exchange: (exchange) => this.#protected({ ...exchange, path: `/market-data${exchange.path}` }),
      });
    }
    const session = new Session(this.#mds, this.#signers, this.nowNs, this.#scope);
    return new UserReads({
      userId,
      asset,
      login: async () => void (await session.headers()),
      exchange: (exchange) => session.exchange(exchange),
    });
  }

  get userId(): UserId {
    return this.#accountSigners().userId;
  }

  /**
   * Ends everything that the client has opened: streams, books, feeds, `/control`, and requests in flight, whose outcome is then
   * unknown. It keeps no program running, and what is called afterwards is refused with CLIENT_CLOSED.
   */
  close(): void {
    this.#lifetime.end();
    this.#oms.close();
    this.#mds?.close();
  }

  // Session

  /** Logs in now instead of with the first protected call; a login also registers the user with the node. */
  async login(): Promise<void> {
    await this.#sessionOf().headers();
  }

  /** Ends all sessions of the user; one that only reads ends itself alone. */
  logout(): Promise<void> {
    return this.#sessionOf().logout();
  }

  /** The user's sessions, oldest first, this one among them. */
  async sessions(): Promise<readonly SessionInfo[]> {
    return readArray(await this.#protected({ method: 'GET', path: '/sessions' }), 'sessions', readSession);
  }

  /** Ends one session of the user, and its streams. @throws RingbookError NOT_FOUND when there is none with this id. */
  async endSession(id: string): Promise<void> {
    await this.#protected({ method: 'DELETE', path: `/sessions/${encodeURIComponent(id)}` });
  }

  // Markets

  async markets(): Promise<readonly Market[]> {
    return readArray(await this.#oms.exchange({ method: 'GET', path: '/markets' }), 'markets', readMarket);
  }

  /** @throws RingbookError MARKET_NOT_FOUND. */
  async market(name: string): Promise<Market> {
    const assetId = await this.assets.idOf(name);
    const known = this.#markets.get(assetId);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.readMs < MARKET_AGE_MAX_MS) return known.market;
    const market = this.#readMarket(assetId);
    if (known === undefined) {
      this.#markets.set(assetId, { market, readMs: nowMs });
      market.catch(() => this.#markets.delete(assetId));
      return market;
    }
    this.#markets.set(assetId, { market: known.market, readMs: nowMs });
    void market.then(
      () => this.#markets.set(assetId, { market, readMs: nowMs }),
      () => undefined,
    );
    return known.market;
  }

  async #readMarket(assetId: AssetId): Promise<Market> {
    return readMarket(await this.#oms.exchange({ method: 'GET', path: `/market/${assetId}` }));
  }

  // The service

  /** The clock that the service compares timestamps with. */
  async systemTime(): Promise<bigint> {
    return readSystemTime(await this.#oms.exchange({ method: 'GET', path: '/system/time' }));
  }

  async systemStatus(): Promise<SystemStatus> {
    return readSystemStatus(await this.#oms.exchange({ method: 'GET', path: '/system/status' }));
  }

  /** Budget, prices and streams of this user; the call costs 2 units. */
  async limits(): Promise<Limits> {
    return readLimits(await this.#protected({ method: 'GET', path: `/limits/${this.userId}` }));
  }

  // Orders

  /** A complete limit order from human decimals; throws if they are not exact. */
  async order(ticket: OrderTicket): Promise<LimitOrder> {
    const { market, context } = await this.#orderContext(ticket.assetId);
    return limitOrder({ ...ticket, assetId: market.assetId }, context);
  }

  /** A complete market order from human decimals; throws if they are not exact. */
  async marketOrder(ticket: MarketTicket): Promise<MarketOrder> {
    const { market, context } = await this.#orderContext(ticket.assetId);
    return marketOrder({ ...ticket, assetId: market.assetId }, context);
  }

  async #orderContext(assetId: string): Promise<{ market: Market; context: Parameters<typeof limitOrder>[1] }> {
    const market = await this.market(assetId);
    const signer = this.#accountSigners().userId;
    return { market, context: { signer, decimals: market, rates: market, nowNs: this.nowNs() } };
  }

  /** @param also signatures of co-signers beside those that the client has. */
  signCreate(order: Order, also?: CoSignatures): SignedAction {
    return signCreate(this.#accountSigners(), order, this.nowNs(), also);
  }

  /** @param assetId its symbol only after a call that has read it. */
  signCancel(assetId: string, orderId: string, also?: CoSignatures): SignedAction {
    return signCancel(this.#accountSigners(), { assetId: this.assets.known(assetId), orderId }, this.nowNs(), also);
  }

  async signReplace(ticket: ReplaceTicket, also?: CoSignatures): Promise<SignedAction> {
    checkMembers(ticket, REPLACE_MEMBERS);
    if (ticket.isComplete === true && ticket.price === undefined) throw missingTerm('price');
    if (ticket.isComplete === true && ticket.quantity === undefined) throw missingTerm('quantity');
    const { assetId, priceDecimals, quantityDecimals } = await this.market(ticket.assetId);
    const change = {
      assetId,
      orderId: ticket.orderId,
      newLimitPrice: ticket.price === undefined ? null : rawOf(ticket.price, priceDecimals, 'price'),
      newQuantity: ticket.quantity === undefined ? null : rawOf(ticket.quantity, quantityDecimals, 'quantity'),
      newTrigger: ticket.trigger === undefined ? null : triggerOf(ticket.trigger, priceDecimals),
      priceDecimals,
      quantityDecimals,
      isComplete: ticket.isComplete ?? false,
    };
    return this.signReplaceRaw(change, also);
  }

  /** A replace in raw book units, for callers that have the market's decimals. */
  signReplaceRaw(
    change: Omit<MarketReplace, 'timestampNs' | 'assetId'> & { readonly assetId: string },
    also?: CoSignatures,
  ): SignedAction {
    const request = { ...change, assetId: this.assets.known(change.assetId), timestampNs: this.nowNs() };
    return signReplace(this.#accountSigners(), request, this.nowNs(), also);
  }

  /**
   * An amend, for `send` and for `/control`: lowers the total of an order. It is not signed, so it can only reduce; it is refused
   * unless the order has the revision for which it is made.
   */
  async amendAction(ticket: AmendTicket): Promise<SignedAction> {
    checkMembers(ticket, AMEND_MEMBERS);
    const { orderId, quantity, expectedRevisionNs } = ticket;
    const assetId = await this.assets.idOf(ticket.assetId);
    const { quantityDecimals } = await this.market(assetId);
    const newQuantity = rawOf(quantity, quantityDecimals, 'quantity');
    const request = { assetId, orderId, newQuantity, quantityDecimals, expectedRevisionNs };
    return amendAction(this.#accountSigners().userId, { ...request, timestampNs: this.nowNs() });
  }

  /**
   * A signed quote set, for `sendQuotes` and for `/control`: what shall rest in its market in place of what the set has there, with one
   * signature. Its revision is above that of every set that this client has signed before.
   */
  async signQuotes(ticket: QuoteSetTicket, also?: CoSignatures): Promise<SignedQuotes> {
    const { market, context } = await this.#orderContext(ticket.assetId);
    return this.signQuotesRaw(quoteSet({ ...ticket, assetId: market.assetId }, context), also);
  }

  /** A quote set in raw book units, for callers that have the market's decimals; its revision is made here. */
  signQuotesRaw(request: Omit<QuotesToSign, 'revisionNs' | 'signer'>, also?: CoSignatures): SignedQuotes {
    const nowNs = this.nowNs();
    this.#lastRevisionNs = nowNs > this.#lastRevisionNs ? nowNs : this.#lastRevisionNs + 1n;
    const signers = this.#accountSigners();
    const set = { ...request, signer: signers.userId, revisionNs: this.#lastRevisionNs };
    return signQuotes(signers, set, nowNs, also);
  }

  /** Sends a signed quote set over REST. */
  async sendQuotes(quotes: SignedQuotes, options: Pick<SendOptions, 'timing'> = {}): Promise<QuoteSetResponse> {
    const headers = options.timing === true ? { 'x-ringbook-timing': 'true' } : {};
    const { method, path } = WRAPPERS.quotes;
    return readQuoteSetResponse(await this.#protected({ method, path, body: quotes.body, headers }));
  }

  /** Makes the quotes of a set those of the ticket. `Rejected` in the reply: what it adds was refused, what it takes away was applied. */
  async setQuotes(ticket: QuoteSetTicket): Promise<QuoteSetResponse> {
    return this.sendQuotes(await this.signQuotes(ticket));
  }

  /** Ends a set: all of its quotes are cancelled. */
  async endQuotes(assetId: string, setId: string, target?: OrderTarget): Promise<QuoteSetResponse> {
    const own = target === undefined ? {} : { target };
    return this.setQuotes({ assetId, setId, bids: [], asks: [], ...own });
  }

  async amend(ticket: AmendTicket): Promise<OperationResponse> {
    return this.send(await this.amendAction(ticket));
  }

  /** Sends a signed action over REST. `Received` means accepted; fills are published on `userTrades`. */
  async send(action: SignedAction, options: SendOptions = {}): Promise<OperationResponse> {
    const { method, path } = ROUTE_OF[action.action];
    const headers = {
      ...(options.resend === true ? { 'x-ringbook-resend': 'true' } : {}),
      ...(options.timing === true ? { 'x-ringbook-timing': 'true' } : {}),
    };
    return readOperationResponse(await this.#protected({ method, path, body: action.body, headers }));
  }

  /**
   * Sends an action with signatures that were collected on several machines, and no others.
   *
   * @returns the reply to an action on an order; null for any other, which was done.
   */
  async sendSigned(action: UnsignedAction, signatures: Signatures): Promise<OperationResponse | null> {
    const { member, method, path } = WRAPPERS[action.kind];
    const body = bodyOf(action, signatures, this.nowNs());
    if (member !== 'inner') return readOperationResponse(await this.#protected({ method, path, body }));
    await this.account.submitSigned(action, signatures);
    return null;
  }

  /** Sends 1 to 50 creates in one request. @returns the result of each, in their order. */
  batchCreate(actions: readonly SignedAction[]): Promise<readonly BatchResult[]> {
    return this.#batch('Create', 'POST', '/orders/batch-create', actions);
  }

  /** Sends 1 to 50 replaces in one request, of distinct orders. @returns the result of each, in their order. */
  batchReplace(actions: readonly SignedAction[]): Promise<readonly BatchResult[]> {
    return this.#batch('Replace', 'PATCH', '/orders/batch-replace', actions);
  }

  /**
   * Starts or restarts the dead-man timer: when it expires, every order of the user is cancelled.
   *
   * @param timeoutMs 1,000 to 86,400,000; 0 ends it. @returns when it expires, on the node's clock; null for never.
   */
  async cancelAllAfter(timeoutMs: number): Promise<bigint | null> {
    const body = `{"timeout_ms":${timeoutMs}}`;
    return readFiresAt(await this.#protected({ method: 'POST', path: '/orders/cancel-all-after', body }));
  }

  /** @param protectionGroup the group that protects the order; none unless given (MMP-02). */
  create(order: Order, also?: CoSignatures, protectionGroup?: string): Promise<OperationResponse> {
    const signed = this.signCreate(order, also);
    return this.send(protectionGroup === undefined ? signed : inProtectionGroup(signed, protectionGroup));
  }

  /** The user's protection groups in a market (MMP-01). */
  async protections(assetId: string): Promise<readonly ProtectionState[]> {
    const reply = await this.#protected({
      method: 'GET',
      path: `/account/protection/${await this.assets.idOf(assetId)}`,
    });
    return readProtections(reply);
  }

  /** Creates a protection group, or replaces its limits: what its orders may trade as makers within the window (MMP-01). */
  async protect(assetId: string, limits: ProtectionTicket): Promise<ProtectionState> {
    const path = `/account/protection/${await this.assets.idOf(assetId)}`;
    return readProtection(await this.#protected({ method: 'PUT', path, body: protectionBody(limits) }));
  }

  /** Ends the freeze of a protection group. */
  async resetProtection(assetId: string, group: string): Promise<ProtectionState> {
    const path = `${await this.#protectionPath(assetId, group)}/reset`;
    return readProtection(await this.#protected({ method: 'POST', path }));
  }

  /** @throws RingbookError MMP_FROZEN, PROTECTION_IN_USE. */
  async removeProtection(assetId: string, group: string): Promise<void> {
    await this.#protected({ method: 'DELETE', path: await this.#protectionPath(assetId, group) });
  }

  async #protectionPath(assetId: string, group: string): Promise<string> {
    return `/account/protection/${await this.assets.idOf(assetId)}/${encodeURIComponent(group)}`;
  }

  async cancel(assetId: string, orderId: string, also?: CoSignatures): Promise<OperationResponse> {
    return this.send(this.signCancel(await this.assets.idOf(assetId), orderId, also));
  }

  async replace(ticket: ReplaceTicket, also?: CoSignatures): Promise<OperationResponse> {
    return this.send(await this.signReplace(ticket, also));
  }

  /**
   * Dispatches a cancel of every order, or of those in one market or created before a time. The result for each order
   * is published on `orderEvents`.
   */
  async cancelAll(only: { readonly assetId?: string; readonly beforeNs?: bigint } = {}): Promise<void> {
    const market = only.assetId === undefined ? '' : `/${await this.assets.idOf(only.assetId)}`;
    const path = `/orders/cancel-all${market}${queryText({ max_ts: only.beforeNs })}`;
    await this.#protected({ method: 'DELETE', path });
  }

  /** Dispatches a cancel of up to 50 orders by their ids, in every market or in one; unknown ids are ignored. */
  async cancelBatch(orderIds: readonly string[], assetId?: string): Promise<void> {
    const market = assetId === undefined ? undefined : await this.assets.idOf(assetId);
    const body = JSON.stringify({ order_ids: orderIds, asset_id: market });
    await this.#protected({ method: 'DELETE', path: '/orders/cancel-batch', body });
  }

  /** @throws RingbookError ORDER_NOT_FOUND. */
  async orderRecord(assetId: string, orderId: string): Promise<OrderRecord> {
    const path = `/orders/user/${this.userId}/${await this.assets.idOf(assetId)}/${encodeURIComponent(orderId)}`;
    return readOrderRecord(await this.#protected({ method: 'GET', path }));
  }

  /**
   * The evidence of an order as the text of its file, for `ringbook evidence verify`.
   *
   * @param isComplete with all rows of the user between the first and the last of the order.
   * @throws RingbookError ORDER_NOT_FOUND, EVIDENCE_EXPIRED; SERVICE_UNAVAILABLE until a head covers the order, a second; NOT_FOUND
   *   where no evidence is kept.
   */
  async evidence(assetId: string, orderId: string, isComplete = false): Promise<string> {
    const path = `/evidence/order/${await this.assets.idOf(assetId)}/${encodeURIComponent(orderId)}${queryText({ complete: isComplete })}`;
    return evidenceFileText(await this.#protected({ method: 'GET', path }));
  }

  /**
   * What the venue states that it owes, and every part of it that it owes to this account, as the text of a file for
   * `ringbook proof verify`.
   *
   * @throws RingbookError NOT_FOUND where nothing is stated; SERVICE_UNAVAILABLE before the first head; EVIDENCE_EXPIRED.
   */
  async liabilities(): Promise<string> {
    return evidenceFileText(await this.#protected({ method: 'GET', path: `/proof/liabilities/${this.userId}` }));
  }

  async orders(query: PageQuery & { readonly openOnly?: boolean } = {}): Promise<Page<OrderRecord>> {
    const path = `/orders/user/${this.userId}${queryText({ page: query.page, limit: query.limit, open_only: query.openOnly })}`;
    return readPage(await this.#protected({ method: 'GET', path }), 'orders', readOrderRecord);
  }

  // Account

  /** Confirmed trades, newest first. */
  async trades(query: PageQuery = {}): Promise<Page<UserTrade>> {
    const path = `/trades/user/${this.userId}${queryText(query)}`;
    return readPage(await this.#protected({ method: 'GET', path }), 'trades', readUserTrade);
  }

  /**
   * Every change of the user's balances, newest first. Also in a session that only reads.
   *
   * @throws RingbookError NOT_FOUND where the venue keeps no row log.
   */
  async ledger(query: LedgerQuery = {}): Promise<LedgerPage> {
    const asset = query.asset === undefined ? undefined : await this.assets.idOf(query.asset);
    const path = `/account/ledger/${this.userId}${queryText(ledgerMembers(query, asset))}`;
    return readLedgerPage(await this.#protected({ method: 'GET', path }));
  }

  async inventory(): Promise<Inventory> {
    return readInventory(await this.#protected({ method: 'GET', path: `/inventory/user/${this.userId}` }));
  }

  // Market data

  async depth(assetId: string): Promise<Depth> {
    return readDepth(await this.#public(`/marketdepth/${await this.assets.idOf(assetId)}`));
  }

  /** Rows of an interval, like `4h` or `30S`; of seconds without one. Page 0 is the newest, rows ascend inside a page. */
  async klines(assetId: string, query: KlineQuery = {}): Promise<KlinePage> {
    const { page, limit, interval, endNs } = query;
    const path = `/klines/${await this.assets.idOf(assetId)}${queryText({ page, limit, interval, end_timestamp_ns: endNs })}`;
    return readKlinePage(await this.#public(path));
  }

  async publicTrades(assetId: string, query: PageQuery = {}): Promise<readonly PublicTrade[]> {
    return readArray(
      await this.#public(`/trades/${await this.assets.idOf(assetId)}${queryText(query)}`),
      'trades',
      readPublicTrade,
    );
  }

  async ticker(assetId: string): Promise<Ticker> {
    return readTicker(await this.#public(`/ticker/${await this.assets.idOf(assetId)}`));
  }

  async tickers(): Promise<readonly Ticker[]> {
    return readArray(await this.#public('/tickers'), 'tickers', readTicker);
  }

  /** @returns null for a market that never had a position. */
  async openInterest(assetId: string): Promise<OpenInterest | null> {
    return readOpenInterest(await this.#public(`/openinterest/${await this.assets.idOf(assetId)}`)).interest;
  }

  /** By asset id. */
  async openInterests(): Promise<ReadonlyMap<string, OpenInterest | null>> {
    const rows = readArray(await this.#public('/openinterest'), 'open interest', readOpenInterest);
    return new Map(rows.map(({ assetId, interest }) => [assetId, interest]));
  }

  /** The book of a market, updated until it is closed. While its connection is lost it is not current, and reading it throws. */
  async liveBook(market: string, onChange?: (book: LiveBook) => void): Promise<LiveBook> {
    const assetId = await this.assets.idOf(market);
    const source = {
      snapshot: () => this.depth(assetId),
      diffs: (connection: Reconnect) => this.depthDiffs(assetId, connection),
      lifetime: this.#lifetime,
    };
    return LiveBook.open(source, onChange);
  }

  /** One socket for any number of markets and channels, and for books with checksums. */
  marketFeed(options?: FeedOptions): Promise<MarketFeed> {
    const asset = (name: string): Promise<AssetId> => this.assets.idOf(name);
    return MarketFeed.open(this.#marketData(), options, asset, (assetId) => this.market(assetId));
  }

  // Streams

  /** Connects again after a loss until it is closed, unless `reconnect` is false. */
  control(options: ControlOptions = {}): Promise<ControlConnection> {
    const connecting: ControlConnecting = (opening) => this.#connect('/control', opening);
    return ControlConnection.open(connecting, { reconnect: true, ...options }, this.#lifetime);
  }

  /**
   * The private socket: any of the user's streams over one socket, each with a snapshot first. Connects again after a loss and
   * continues behind what was received.
   */
  privateFeed(
    channels: readonly PrivateFeedChannel[],
    listener: (frame: PrivateFeedFrame) => void,
    options?: PrivateFeedOptions,
  ): Promise<PrivateFeed> {
    const connecting = <S>(opening: (target: SocketTarget) => Promise<S>): Promise<S> =>
      this.#connect('/user/ws', opening);
    return PrivateFeed.open(connecting, channels, listener, options, this.#lifetime);
  }

  orderEvents(reconnect?: ResumingReconnect): Promise<EventStream<OrderEvent>> {
    return this.#omsStream('/orders', (frame, timeNs) => listOf(readOrderEvent(frame, timeNs)), reconnect);
  }

  /** The user's own fills in all three statuses: Pending, Confirmed, Rollbacked. */
  userTrades(reconnect?: ResumingReconnect): Promise<EventStream<UserTrade>> {
    return this.#omsStream(`/trades/user/events/${this.userId}`, (frame) => [readUserTrade(frame)], reconnect);
  }

  async depthDiffs(assetId: string, reconnect?: Reconnect): Promise<EventStream<Depth>> {
    return this.#mdsStream(
      `/marketdepth/diff/${await this.assets.idOf(assetId)}`,
      (frame) => [readDepth(frame)],
      reconnect,
    );
  }

  async tradeStream(assetId: string, reconnect?: Reconnect): Promise<EventStream<PublicTrade>> {
    return this.#mdsStream(
      `/trades/${await this.assets.idOf(assetId)}`,
      (frame) => [readPublicTrade(frame)],
      reconnect,
    );
  }

  /** Public trades of all markets as they are matched, confirmed and rolled back. */
  tradeEvents(reconnect?: Reconnect): Promise<EventStream<PublicTradeEvent>> {
    return this.#mdsStream('/trades/events', (frame) => listOf(readPublicTradeEvent(frame)), reconnect);
  }

  /** @param interval like `4h`; the rows of an interval are sent as they form. Seconds without one. */
  async klineStream(assetId: string, reconnect?: Reconnect, interval?: string): Promise<EventStream<Kline>> {
    const path = `/klines/diff/${await this.assets.idOf(assetId)}${queryText({ interval })}`;
    return this.#mdsStream(path, (frame) => readArray(frame, 'klines', readKline), reconnect);
  }

  async tickerStream(assetId: string, reconnect?: Reconnect): Promise<EventStream<Ticker>> {
    return this.#mdsStream(`/ticker/ws/${await this.assets.idOf(assetId)}`, (frame) => [readTicker(frame)], reconnect);
  }

  #omsStream<T>(
    path: string,
    decode: (frame: JsonValue, timestampNs: bigint) => readonly T[],
    reconnect?: ResumingReconnect,
  ): Promise<EventStream<T>> {
    const connect = <S>(opening: (target: SocketTarget) => Promise<S>): Promise<S> => this.#connect(path, opening);
    const options = reconnect === undefined ? {} : { reconnect };
    return EventStream.open({ connect, hasEnvelopes: true, decode, lifetime: this.#lifetime, ...options });
  }

  /** A socket of the order service with the session's headers, at the address that serves. */
  #connect<S>(path: string, opening: (target: SocketTarget) => Promise<S>): Promise<S> {
    const session = this.#sessionOf();
    const addresses = this.#omsAddresses;
    return addresses.serve(
      (base) => session.open((headers) => opening(addresses.target(base, path, headers))),
      isUnserved,
    );
  }

  #mdsStream<T>(
    path: string,
    decode: (frame: JsonValue) => readonly T[],
    reconnect?: Reconnect,
  ): Promise<EventStream<T>> {
    const addresses = this.#marketData();
    const connect = <S>(opening: (target: SocketTarget) => Promise<S>): Promise<S> =>
      addresses.serve((base) => opening(addresses.target(base, path, {})), isUnserved);
    const options = reconnect === undefined ? {} : { reconnect };
    return EventStream.open({ connect, hasEnvelopes: false, decode, lifetime: this.#lifetime, ...options });
  }

  #marketData(): Addresses {
    if (this.#mdsAddresses === null) throw invalidArgument('market data needs the `mds` address', 'mds');
    return this.#mdsAddresses;
  }

  #accountSigners(): AccountSigners {
    if (this.#signers === null) throw missingKey();
    return this.#signers;
  }

  /** A login consumes the nonce of before, so it is made first. */
  async #freshNonce(): Promise<string> {
    await this.login();
    return this.#sessionOf().nonce();
  }

  #sessionOf(): Session {
    if (this.#session === null) throw missingKey();
    return this.#session;
  }

  async #batch(
    kind: 'Create' | 'Replace',
    method: HttpMethod,
    path: string,
    actions: readonly SignedAction[],
  ): Promise<readonly BatchResult[]> {
    const body = `{"${BATCH_LIST[kind]}":[${batchItems(kind, actions)}]}`;
    return readBatchResults(await this.#protected({ method, path, body }));
  }

  #protected(exchange: HttpExchange): Promise<JsonValue> {
    return this.#sessionOf().exchange(exchange);
  }

  #public(path: string): Promise<JsonValue> {
    if (this.#mds === null) throw invalidArgument('market data needs the `mds` address', 'mds');
    return this.#mds.exchange({ method: 'GET', path });
  }
}

/** @returns null for a client of market data. @throws RingbookError INVALID_ARGUMENT. */
function signersOf({ key, account, coSigners = [] }: ClientOptions): AccountSigners | null {
  if (key !== undefined && account !== undefined && key.userId !== account) {
    throw invalidArgument('`key` is not the master key of `account`: give one of the two');
  }
  const userId = key?.userId ?? account;
  if (userId !== undefined) return { userId, master: key ?? null, coSigners };
  if (coSigners.length > 0) throw invalidArgument('co-signers sign for an account: give its user id as `account`');
  return null;
}

function addressesOf(
  given: string | readonly string[],
  member: 'oms' | 'mds',
  probe: Probe,
  lifetime: Lifetime,
  { onReconnected }: Pick<ClientOptions, 'onReconnected'> = {},
): Addresses {
  const all = (typeof given === 'string' ? [given] : given).map((address) => baseAddress(address, member));
  const served = member === 'oms' ? 'leader' : 'any';
  return new Addresses(all, served, probe, (leader) => onReconnected?.(leader), lifetime);
}

function missingKey(): RingbookError {
  return invalidArgument('this needs the `key` of the account, or its `account` with co-signers', 'key');
}

function missingTerm(member: 'price' | 'quantity'): RingbookError {
  return invalidArgument(`complete terms have a price and a quantity: ${member} is missing`, member);
}

function listOf<T>(event: T | null): readonly T[] {
  return event === null ? [] : [event];
}
