/**
 * The gateway: the services behind the public sockets, on one thread, and the links between them.
 *
 *   src/http ── entry, sessions, queries, … ─▶ messages ─▶ markets, clearing
 *   src/http ◀── answers, streams ──────────── gateway-actor.ts ◀── messages of markets and clearing
 *
 * The services are members; routes and sockets call them directly. Here is what concerns several of them: a changed
 * market, user or setting, and what the order manager emits.
 *
 * Not here: sockets and frames (src/http), rings (gateway-actor.ts).
 */

import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import { riskTermsOf } from '../clearing/registry/registry-assets.ts';
import { readMarkBandAge } from '../clearing/registry/stored-settings.ts';
import type { AssetRow, ConfigRow, ProtectionRow } from '../clearing/rows.ts';
import { ActionHops, type ActionMeter, type HopLog } from '../codec/hop-times.ts';
import type { ProtectionTriggeredView } from '../codec/order-events.ts';
import { HOP } from '../core/hops.ts';
import { type AssetId, hasOracle, type UserId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import { DISK_RESERVE_MIB, MARK_BAND_AGE_NS } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { AtRiskFigures } from '../core/market-figures.ts';
import { ORDER_END } from '../core/order-terms.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Clock, msUntil, type TimestampNs } from '../core/units.ts';
import type { Publication } from '../runtime/publication.ts';
import { AccountActions } from './actions/account-actions.ts';
import { AutomaticCancels } from './actions/automatic-cancels.ts';
import { FaultCooldowns, type FaultCounters } from './actions/fault-cooldowns.ts';
import { Liquidations } from './actions/liquidations.ts';
import { OrderCancels } from './actions/order-cancels.ts';
import { OrderEntry, type RefusedAction } from './actions/order-entry.ts';
import { ProtectionActions } from './actions/protection-actions.ts';
import { ReleaseQueue } from './actions/release-queue.ts';
import { RequestSignatures } from './actions/request-signatures.ts';
import type { SignatureVerifier } from './actions/signature-verifier.ts';
import { TimerMarks } from './actions/timer-marks.ts';
import type { ClearingClient } from './clearing-client.ts';
import { readGatewaySettings } from './gateway-settings.ts';
import { MarginPublisher } from './margin-publisher.ts';
import type {
  BookEvent,
  ClearedAccount,
  OrderSink,
  ReduceCommand,
  ReleaseEvent,
  UserTradeEvent,
} from './orders/book/order-events.ts';
import type { LiveQuoteSet } from './orders/book/quote-sets.ts';
import type { OrderHistory } from './orders/history/order-history.ts';
import type { AssetMarks } from './orders/margin/asset-risks.ts';
import { OrderManager } from './orders/order-manager.ts';
import { DEFAULT_ORDER_SETTINGS, type OrderSettings } from './orders/settings.ts';
import type { ProofReader } from './queries/evidence-thread.ts';
import type { PageReader } from './queries/history-thread.ts';
import { MarginQueries } from './queries/margin-queries.ts';
import { OrderQueries } from './queries/order-queries.ts';
import { RegistryCache } from './queries/registry-cache.ts';
import { NO_CHAINS, type SettlementChains, SettlementRows } from './queries/settlements.ts';
import { SignerQueries } from './queries/signers.ts';
import { WithdrawalRows } from './queries/withdrawals.ts';
import type { TimerHolder } from './sessions/dead-man-timers.ts';
import type { UserLimits } from './sessions/user-limits.ts';
import { UserSessions } from './user-sessions.ts';
import { NO_STREAMS, type UserEventStreams } from './user-streams.ts';

interface GatewayParts {
  readonly clock: Clock;
  /** In force until an operator has set it. */
  readonly acks: OrderSettings['acks'];
  /** Keeps what is refused before the journal; absent: nothing does. */
  readonly refused?: ((action: RefusedAction) => void) | null;
  /** Whether the node leads with a lease that is over; by default never. */
  readonly isStalled?: () => boolean;
  /** Users with a private key that is public: their signature proves nothing. */
  readonly refusedUsers: ReadonlySet<string>;
  readonly history: OrderHistory;
  /** The same tables, read on another thread: a page never holds up this one. */
  readonly pages: PageReader;
  readonly limits: UserLimits;
  /** Sessions of users without funds from one address; no limit unless given. */
  readonly sessionsPerAddress?: number;
  readonly verifier: Pick<SignatureVerifier, 'verify' | 'inFlight'>;
  readonly shards: readonly Publication[];
  /** The key of the hashes of ids, the same as that of the markets. */
  readonly idKey: HashKey;
  /** Requests a flush at the end of this turn of the event loop. */
  readonly wakeUp: () => void;
  /** Commands to clearing; answered after the flush. */
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  /** Queries to clearing about its applied state. */
  readonly ask: ClearingClient['ask'];
  readonly counted: GatewayCounters;
  /** The trace of this thread; without it nothing is recorded. */
  readonly trace?: HopLog | null;
  /** Whether another node may take over: orders and users are marked for it (cluster.md 8). False unless given. */
  readonly isCluster?: boolean;
}

/** What operators count; hot, so plain functions. */
export interface GatewayCounters extends FaultCounters {
  /** @param elapsedMs from the decoded create to its answer. */
  readonly order: (isReceived: boolean, elapsedMs: number) => void;
  readonly fill: (status: UserTradeEvent['status'], rollbackReason: string | null) => void;
  /** A protection group has tripped. */
  readonly protectionTrip?: () => void;
  /** Counts every action; without it none are counted. */
  readonly actions?: ActionMeter;
}

/** The services that routes and sockets call, as they use them. */
export interface GatewayServices extends Pick<Gateway, 'newHops' | 'nowNs' | 'isFunded' | 'isMarketMaker' | 'atRisk'> {
  readonly entry: Pick<
    OrderEntry,
    'admit' | 'isStalled' | 'isStopping' | 'newConnection' | 'onlyTakes' | 'stop' | 'submit' | 'submitBatch'
  >;
  readonly cancels: Pick<OrderCancels, 'cancelAll' | 'cancelBatch'>;
  readonly automaticCancels: Pick<AutomaticCancels, 'cancelAllAfter' | 'connectionEnded'>;
  readonly limits: Pick<UserLimits, 'charge' | 'chargeRead' | 'streamCap' | 'viewOf'>;
  readonly sessions: Pick<
    UserSessions,
    'coSignedLogin' | 'endById' | 'find' | 'isLive' | 'issueNonce' | 'listOf' | 'login' | 'logout'
  >;
  readonly queries: Pick<
    OrderQueries,
    'accountName' | 'accountNames' | 'inventory' | 'ledgerPage' | 'order' | 'orderPage' | 'positionBasis' | 'tradePage'
  >;
  readonly registry: Pick<
    RegistryCache,
    | 'assets'
    | 'createMarket'
    | 'decimals'
    | 'market'
    | 'markets'
    | 'nettingParameters'
    | 'riskParameters'
    | 'symbols'
    | 'vaults'
  >;
  readonly margin: Pick<MarginQueries, 'closePreview' | 'figures' | 'markPrice' | 'positions' | 'simulate'>;
  readonly accountActions: Omit<AccountActions, 'inFlight'>;
  readonly protections: Omit<ProtectionActions, 'inFlight'>;
  readonly withdrawals: Pick<WithdrawalRows, 'queueOf'>;
  readonly settlements: Pick<SettlementRows, 'signaturesOf'>;
  readonly signers: Pick<SignerQueries, 'accountsOf' | 'viewOf'>;
  /** Null where no evidence is kept. */
  readonly proofs: ProofReader | null;
}

const DISK_LOW: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'the disk of the node is nearly full: no new orders are taken, cancels are',
);

export class Gateway implements OrderSink {
  /** Setting; its default until clearing has published the settings. */
  diskReserveMib: number = DISK_RESERVE_MIB;
  /** New orders are refused, cancels go on (MCH-04). */
  isDiskLow = false;
  /** Set before the listeners open. */
  proofs: ProofReader | null = null;
  readonly orders: OrderManager;
  readonly limits: UserLimits;
  readonly sessions: UserSessions;
  readonly entry: OrderEntry;
  readonly cancels: OrderCancels;
  readonly automaticCancels: AutomaticCancels;
  readonly liquidations: Liquidations;
  readonly queries: OrderQueries;
  readonly registry: RegistryCache;
  readonly margin: MarginQueries;
  readonly marginPublisher: MarginPublisher;
  readonly accountActions: AccountActions;
  readonly protections: ProtectionActions;
  readonly withdrawals: WithdrawalRows = new WithdrawalRows();
  readonly settlements: SettlementRows;
  readonly signers: SignerQueries = new SignerQueries();
  /** Markets that have been restored and take orders. */
  readonly openMarkets: Set<number> = new Set();
  /** The public listener's, once it is open. */
  streams: UserEventStreams = NO_STREAMS;
  /** The chains', once they have started. */
  settlementChains: SettlementChains = NO_CHAINS;

  readonly #parts: GatewayParts;
  readonly #faults: FaultCooldowns;
  #markBandAgeNs = MARK_BAND_AGE_NS;
  readonly #releases: ReleaseQueue;
  /** Users with a row in clearing: funds and orders make one, a session does not (AMB-139). */
  readonly #known = new Set<UserId>();
  #atRisk: AtRiskFigures | null = null;
  #lastTraced = 0;

  constructor(parts: GatewayParts) {
    const { command, counted, verifier, shards, wakeUp, idKey, limits, refusedUsers } = parts;
    const { sessionsPerAddress: perAddressMax = Number.POSITIVE_INFINITY } = parts;
    const nowNs = (): TimestampNs => this.nowNs();
    const isFunded = (user: UserId): boolean => this.isFunded(user);
    const streams = (): UserEventStreams => this.streams;
    const { openMarkets } = this;
    this.#parts = parts;
    const orders = new OrderManager({ sink: this, history: parts.history, idKey });
    this.orders = orders;
    orders.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, acks: parts.acks });
    if (parts.isStalled !== undefined) orders.requests.isStalled = parts.isStalled;
    limits.isFunded = isFunded;
    this.limits = limits;
    const { signers } = this;
    this.sessions = new UserSessions({
      ...{ nowNs, isFunded, refusedUsers, perAddressMax, streams, signers },
      // A login needs no session: each client may try one for each user.
      signatures: new RequestSignatures({ verifier, wakeUp, partOf: () => 'public' }),
    });
    this.#releases = new ReleaseQueue(shards, nowNs);
    this.entry = new OrderEntry({
      isCluster: parts.isCluster === true,
      refused: parts.refused ?? null,
      ...{
        requests: orders.requests,
        signers: this.signers,
        verifier,
        limits,
        shards,
        idKey,
        nowNs,
        openMarkets,
        wakeUp,
        counted,
      },
      releases: this.#releases,
      createRefusal: (user) => (this.isDiskLow ? DISK_LOW : this.#faults.refusalOf(user)),
    });
    this.cancels = new OrderCancels({ requests: orders.requests, shards, idKey, nowNs, openMarkets, wakeUp });
    const { entry, cancels } = this;
    const holderOf = (user: UserId): TimerHolder | null => this.#holderOf(user);
    const markTimer = (user: UserId, runs: boolean): Promise<ActionReply> => command({ kind: 'markTimer', user, runs });
    const marks = parts.isCluster === true ? new TimerMarks(markTimer, wakeUp) : null;
    this.automaticCancels = new AutomaticCancels({ cancels, holderOf, nowNs, wakeUp, marks });
    this.liquidations = new Liquidations({ orders, entry, command, wakeUp });
    this.#faults = new FaultCooldowns({ nowNs, limits, cancels, accounts: orders.margin.accounts, counted });
    this.registry = new RegistryCache({ command, refusedUsers, isOpen: (index) => openMarkets.has(index) });
    const { registry } = this;
    this.queries = new OrderQueries({ orders, registry, isFunded, pages: parts.pages });
    this.margin = new MarginQueries(orders, nowNs, (asset) => registry.definitions.has(asset));
    this.marginPublisher = new MarginPublisher({ orders, streams, nowNs, nowMs: () => performance.now() });
    this.settlements = new SettlementRows((event) => this.streams.pendingSettlement(event), nowNs);
    this.accountActions = new AccountActions({
      ...{ nowNs, command, ask: parts.ask, setAsides: orders.setAsides, withdrawals: this.withdrawals },
      ...{ signers, sessions: this.sessions },
      signatures: new RequestSignatures({ verifier, wakeUp, partOf: (user) => limits.partOf(user, 'action') }),
      charge: (user, cost) => limits.charge(user, cost, nowNs()),
      settlements: this.settlements,
      chains: (chainId) => this.settlementChains(chainId),
      registry: () => registry,
      assetOfToken: (token) => registry.assetOfToken(token),
      isKnown: (user) => this.#known.has(user),
      hasAccount: (user, index) => orders.margin.hasAccount(user, index),
    });
    this.protections = new ProtectionActions({
      ...{ nowNs, command, groups: orders.protections },
      marketIndexOf: (asset) => registry.definitions.get(asset)?.marketIndex ?? null,
      isOpen: (index) => openMarkets.has(index),
      settled: (index) => orders.settled(index),
      isKnown: (user) => this.#known.has(user),
    });
  }

  nowNs(): TimestampNs {
    return this.#parts.clock.nowNs();
  }

  /**
   * Begins to record the hops of an action that was read now.
   *
   * @param isTimed whether the client requested its hop times.
   * @param sinceMs since when its bytes may have waited, real milliseconds; null where that is unknown.
   */
  newHops(isTimed: boolean, sinceMs: number | null = null): ActionHops {
    const { trace = null, counted } = this.#parts;
    this.#lastTraced += 1;
    const hops = new ActionHops(this.#lastTraced, trace, isTimed ? () => this.nowNs() : null, counted.actions ?? null);
    hops.pass(HOP.read, trace === null || sinceMs === null ? 0 : (performance.now() - sinceMs) * 1_000);
    return hops;
  }

  /** Whether the user has a balance or a position: places of shared tables are kept for these. */
  isFunded(user: UserId): boolean {
    return this.orders.funded.has(user);
  }

  isMarketMaker(user: UserId): boolean {
    return this.limits.tierOf(user) === 'marketMaker';
  }

  /** What is at risk over all accounts, as clearing published it last; null before the first time (STR-06). */
  atRisk(): AtRiskFigures | null {
    return this.#atRisk;
  }

  /** Signed actions between their first check and their answer, reductions, and messages that wait. */
  get actionsInFlight(): number {
    const { accountActions, orders, automaticCancels, liquidations, settlements, protections } = this;
    const requests =
      accountActions.inFlight +
      protections.inFlight +
      settlements.waiting +
      orders.requests.unanswered +
      this.#parts.verifier.inFlight;
    const { onTheWay } = orders.margin.reductions;
    const waiting = this.#releases.size + automaticCancels.size + this.#faults.size + liquidations.size;
    return requests + onTheWay + orders.shortReleases + waiting;
  }

  // ---- published by clearing

  userKnown(user: UserId, isMarketMaker: boolean): void {
    this.#known.add(user);
    this.limits.setMarketMaker(user, isMarketMaker);
  }

  assetChanged(row: AssetRow): void {
    this.registry.assetChanged(row);
    this.orders.margin.onRiskChanged(row.assetId, riskTermsOf(row, this.#markBandAgeNs));
  }

  /** @param sequence where clearing stands; matters until the market opens. */
  marketChanged(definition: MarketDefinition, sequence: number): void {
    if (this.registry.definitions.has(definition.assetId)) this.orders.onMarketChanged(definition);
    if (!this.openMarkets.has(definition.marketIndex)) this.orders.restoreMarket(definition, sequence);
    this.registry.marketChanged(definition);
  }

  /** A market is told of it on the ring of its orders, in front of those that name the group; at a start by clearing. */
  protectionChanged(row: ProtectionRow): void {
    this.orders.protections.changed(row);
    if (this.openMarkets.has(row.marketIndex)) this.#releases.addProtection(row);
  }

  configChanged(row: ConfigRow): void {
    this.registry.configChanged(row);
    if (row.kind !== 'settings') return;
    const { settings, faults, amountText, diskReserveMib } = readGatewaySettings(row.json);
    this.diskReserveMib = diskReserveMib;
    this.#markBandAgeChanged(readMarkBandAge(row.json));
    this.#faults.settings = faults;
    this.withdrawals.form = amountText;
    this.orders.onSettingsChanged(settings);
  }

  /** The terms of assets follow from a setting too (MON-06). */
  #markBandAgeChanged(ageNs: bigint): void {
    if (ageNs === this.#markBandAgeNs) return;
    this.#markBandAgeNs = ageNs;
    for (const row of this.registry.assetRows.values()) {
      this.orders.margin.onRiskChanged(row.assetId, riskTermsOf(row, ageNs));
    }
  }

  atRiskChanged(view: AtRiskFigures): void {
    this.#atRisk = view;
    this.streams.atRisk(view);
  }

  /** The market takes orders from now on. */
  marketOpened(marketIndex: number): void {
    this.openMarkets.add(marketIndex);
    this.orders.onMarketOpened(marketIndex);
    this.registry.marketOpened(marketIndex);
  }

  /** Every asset that has an oracle, with its prices as pre-flight has them. */
  *prices(): Iterable<readonly [AssetId, Pick<AssetMarks, 'oracle' | 'mark'>]> {
    for (const asset of this.registry.assetRows.keys()) {
      if (hasOracle(asset)) yield [asset, this.orders.margin.assets.marks(asset)];
    }
  }

  // ---- emitted by the order manager

  orderEvent(user: UserId, event: BookEvent): void {
    this.streams.orderEvent(user, event, this.nowNs());
  }

  protectionTriggered(user: UserId, event: ProtectionTriggeredView): void {
    this.#parts.counted.protectionTrip?.();
    this.streams.protectionTriggered(user, event);
  }

  isOrderRead(user: UserId): boolean {
    return this.streams.isRead(user, 'orders');
  }

  userTrade(user: UserId, trade: UserTradeEvent): void {
    this.streams.userTrade(user, trade, this.nowNs());
  }

  isTradeRead(user: UserId): boolean {
    return this.streams.isRead(user, 'trades') || this.streams.isRead(user, 'confirmed-trades');
  }

  countFill(status: UserTradeEvent['status'], rollbackReason: string | null): void {
    this.#parts.counted.fill(status, rollbackReason);
  }

  fault(fault: Parameters<OrderSink['fault']>[0]): void {
    this.#faults.rolledBack(fault);
  }

  endQuoteSet(set: LiveQuoteSet, done: () => void): boolean {
    return this.cancels.endQuoteSet(set, ORDER_END.liquidation, done);
  }

  accountCleared(account: ClearedAccount): void {
    this.liquidations.accountCleared(account);
  }

  reduce(command: ReduceCommand): boolean {
    return this.cancels.reduce(command);
  }

  release(command: ReleaseEvent): void {
    this.#releases.add(command);
  }

  // ---- at every turn

  /** Sends messages that waited for a full ring. */
  sendWaiting(): void {
    this.#releases.sendAll();
    this.automaticCancels.sendWaiting();
    this.#faults.sendWaiting();
    this.liquidations.sendWaiting();
  }

  /** Milliseconds until `sendWaiting` or `publishStats` has work; 0 when it waits already. */
  nextTickMs(nowNs: bigint): number {
    const waiting = this.#releases.size + this.automaticCancels.size + this.#faults.size + this.liquidations.size;
    if (waiting > 0) return 0;
    return Math.min(this.marginPublisher.nextRoundMs, msUntil(this.automaticCancels.nextTimerNs, nowNs));
  }

  /** Reduces or cancels orders that an account can no longer bear, or that hold more than it owns. */
  reduceOrders(): void {
    const hasMore = this.orders.margin.reduceOrders(this.nowNs());
    if (this.orders.cancelUncovered() || hasMore) this.#parts.wakeUp();
  }

  /** The user's share of the dead-man timers. */
  #holderOf(user: UserId): TimerHolder | null {
    if (!this.isFunded(user) && this.orders.openMarketsOf(user).length === 0) return null;
    return this.limits.tierOf(user) === 'marketMaker' ? 'maker' : 'user';
  }
}
