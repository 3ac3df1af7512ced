/**
 * The front door behind its sockets: sessions, signed actions, the order manager, and what users are told.
 *
 *   edge ──requests──▶ FrontDoor ──messages──▶ markets, clearing
 *   edge ◀──answers, events── FrontDoor ◀──words── markets, clearing    (front-door-actor.ts reads the rings)
 *
 * Not here: sockets and frames (src/http), checks and holds (src/gateway/orders), rings (front-door-actor.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import type { OperatorCommand, Reply } from '../clearing/inputs.ts';
import type { AssetRow, ConfigRow } from '../clearing/rows.ts';
import type { AuthRequest } from '../codec/auth-request.ts';
import type { MarketView } from '../codec/market-reply.ts';
import { DEFAULT_MULTISIG } from '../codec/multisig.ts';
import type { OrderRecordView } from '../codec/order-record.ts';
import type { CancelRequest } from '../codec/signed-cancel.ts';
import type { CreateRequest } from '../codec/signed-order.ts';
import type { ReplaceRequest } from '../codec/signed-replace.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import { type AssetId, hasOracle, type OrderId, type UserId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import { NONCES_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Clock, TimestampNs } from '../core/units.ts';
import { verify } from '../crypto/ed25519.ts';
import type { MultisigReads } from '../http/account-backend.ts';
import type { ActionOrigin, ItemAnswer, OmsBackend, OmsStreams, PageRequest } from '../http/oms-backend.ts';
import type { SkippedCheck } from '../operator/operator-inject-hooks.ts';
import { type InjectedFill, writeInjectedFill } from '../order/fill-injection.ts';
import { type RiskRow, termsOfRow } from '../risk/risk-terms.ts';
import type { Outlet } from '../runtime/outlet.ts';
import { AccountActions } from './account-actions.ts';
import { ActionRoad } from './action-road.ts';
import { BatchRoad } from './batch-road.ts';
import { BulkCancels } from './bulk-cancels.ts';
import { CreateDesk } from './create-desk.ts';
import { MARKET_BUSY } from './door-refusals.ts';
import { DoorRestore } from './door-restore.ts';
import { readSettings } from './door-settings.ts';
import { Errands } from './errands.ts';
import { FaultCooldowns, type FaultCounters } from './fault-cooldowns.ts';
import type { PageReader } from './history-thread.ts';
import { KeptOrderBytes } from './kept-orders.ts';
import { MarginDesk } from './margin-desk.ts';
import { MarginNews } from './margin-news.ts';
import { NodeReductions } from './node-reductions.ts';
import type { AssetMarks } from './orders/asset-risks.ts';
import { AS_JSON } from './orders/history-ask.ts';
import type { InventoryBody } from './orders/inventory.ts';
import type { Lifeline } from './orders/lifeline.ts';
import type { OrderEvent, OrderSink, ReduceWord, ReleaseWord, UserTrade } from './orders/order-events.ts';
import type { OrderHistory } from './orders/order-history.ts';
import { OrderManager } from './orders/order-manager.ts';
import type { Page, PageQuery } from './orders/pages.ts';
import type { Answer } from './orders/requests.ts';
import { DEFAULT_SETTINGS, type OrderSettings } from './orders/settings.ts';
import { PageDesk } from './page-desk.ts';
import { RegistryDesk } from './registry-desk.ts';
import { ReleaseQueue } from './release-queue.ts';
import { SafetyCancels } from './safety-cancels.ts';
import type { Cost } from './sessions/costs.ts';
import type { TimerHolder } from './sessions/dead-man-timers.ts';
import { checkNonce, completeLogin } from './sessions/login.ts';
import { Nonces } from './sessions/nonces.ts';
import type { Part } from './sessions/shared-budget.ts';
import { Tokens } from './sessions/tokens.ts';
import type { UserLimits } from './sessions/user-limits.ts';
import { SystemDesk } from './system-desk.ts';
import type { SignatureDesk } from './verify-desk.ts';

export interface FrontDoorParts {
  readonly clock: Clock;
  /** In force until an operator has set it. */
  readonly acks: OrderSettings['acks'];
  /** Whether users may open positions and borrow; absent: yes. No settings of an operator change it. */
  readonly servesMargin?: boolean;
  /** Whose signature under a login proves nothing, because everybody can make it. */
  readonly refusedUsers: ReadonlySet<string>;
  readonly history: OrderHistory;
  /** The same tables, read elsewhere: a page never holds up this thread. */
  readonly pages: PageReader;
  readonly limits: UserLimits;
  /** Sessions of users without funds from one address; no limit unless given. */
  readonly sessionsPerAddress?: number;
  readonly desk: SignatureDesk;
  readonly shards: readonly Outlet[];
  /** Of the hashes of ids, as the markets have it. */
  readonly idKey: HashKey;
  readonly poke: () => void;
  /** Commands to clearing; answered after the flush. */
  readonly command: (command: OperatorCommand) => Promise<Reply>;
  readonly counted: FrontDoorCounters;
}

/** What operators count; hot, so plain functions. */
export interface FrontDoorCounters extends FaultCounters {
  /** @param elapsedMs from the decoded create to its answer. */
  readonly order: (isReceived: boolean, elapsedMs: number) => void;
  readonly fill: (status: UserTrade['status'], rollbackReason: string | null) => void;
}

const NONCE_BYTES = 32;
const TOKEN_BYTES = 32;
const NO_STREAMS: OmsStreams = {
  orderEvent: () => undefined,
  userTrade: () => undefined,
  accountEvent: () => undefined,
  positions: () => undefined,
  accountStats: () => undefined,
  listens: () => false,
  listenersOf: () => [],
  endSessions: () => undefined,
  flush: () => undefined,
};

/** Nobody has set up signers of their own. */
const DEFAULT_MULTISIG_ONLY: MultisigReads = { multisigConfig: () => DEFAULT_MULTISIG, accountsOfSigner: () => [] };

export class FrontDoor implements OmsBackend, OrderSink {
  readonly orders: OrderManager;
  readonly restore: DoorRestore;
  readonly limits: UserLimits;
  readonly registry: RegistryDesk;
  readonly margin: MarginDesk;
  readonly marginNews: MarginNews;
  readonly accountActions: AccountActions;
  readonly system: SystemDesk;
  readonly multisig: MultisigReads = DEFAULT_MULTISIG_ONLY;
  /** Markets that have been restored and take orders. */
  readonly openMarkets: Set<number> = new Set();
  /** The public listener; until it opens nobody listens. */
  streams: OmsStreams = NO_STREAMS;

  private readonly parts: FrontDoorParts;
  private readonly road: ActionRoad;
  private readonly batches: BatchRoad;
  private readonly bulk: BulkCancels;
  private readonly safety: SafetyCancels;
  private readonly faults: FaultCooldowns;
  readonly fault: OrderSink['fault'] = (fault) => this.faults.rolledBack(fault);
  private readonly creates: CreateDesk;
  private readonly pages: PageDesk;
  private readonly releases: ReleaseQueue;
  private readonly reductions: NodeReductions;
  private readonly nonces: Nonces;
  private readonly tokens: Tokens;
  /** Users of whom clearing has a row: a session makes none, funds and orders do (AMB-139). */
  private readonly known = new Set<UserId>();

  constructor(parts: FrontDoorParts) {
    this.parts = parts;
    this.limits = parts.limits;
    this.pages = new PageDesk(parts.pages);
    const kept = new KeptOrderBytes(randomBytes(8).readBigUInt64LE());
    this.orders = new OrderManager({ sink: this, history: parts.history, kept });
    this.restore = new DoorRestore(this.orders, kept);
    const { servesMargin = true } = parts;
    this.orders.onSettingsChanged({ ...DEFAULT_SETTINGS, acks: parts.acks, servesMargin });
    const isFunded = (user: UserId): boolean => this.isFunded(user);
    const { sessionsPerAddress: perAddressMax = Number.POSITIVE_INFINITY } = parts;
    this.limits.isFunded = isFunded;
    this.nonces = new Nonces(NONCES_MAX, isFunded);
    this.tokens = new Tokens({ isFunded, perAddressMax });
    const { command, counted, desk, shards, poke, idKey } = parts;
    const partOf = (user: UserId, cost: Cost): Part => this.limits.partOf(user, cost);
    this.accountActions = new AccountActions({
      desk,
      partOf,
      setAsides: this.orders.setAsides,
      isKnown: (user) => this.known.has(user),
      hasAccount: (user, index) => this.orders.margin.hasAccount(user, index),
      nowNs: () => this.nowNs(),
      isServed: (user, index, made) => servesMargin || !this.orders.margin.isOrBecomes(user, index, made),
      command,
      poke,
    });
    this.registry = new RegistryDesk({
      command,
      refusedUsers: parts.refusedUsers,
      isOpen: (marketIndex) => this.openMarkets.has(marketIndex),
    });
    const nowNs = (): TimestampNs => this.nowNs();
    const streams = (): OmsStreams => this.streams;
    this.marginNews = new MarginNews({ orders: this.orders, streams, nowNs, nowMs: () => performance.now() });
    this.system = new SystemDesk(this.limits, nowNs);
    this.margin = new MarginDesk(this.orders, nowNs, (asset) => this.registry.definitions.has(asset));
    this.releases = new ReleaseQueue(parts.shards, nowNs);
    this.reductions = new NodeReductions(parts.shards, this.openMarkets, nowNs, parts.idKey);
    const { orders, openMarkets, releases, limits } = this;
    const errands = new Errands(orders, nowNs, (user) => this.faults.refusalOf(user));
    const lanes = { errands, shards, nowNs, idKey, openMarkets, releases, partOf, poke };
    this.road = new ActionRoad({ ...lanes, desk });
    this.batches = new BatchRoad(lanes, this.road);
    this.creates = new CreateDesk({ road: this.road, batches: this.batches, nowNs, counted });
    this.bulk = new BulkCancels({ orders, shards, idKey, nowNs, openMarkets, poke });
    this.safety = new SafetyCancels({ bulk: this.bulk, holderOf: (user) => this.holderOf(user), nowNs, poke });
    this.faults = new FaultCooldowns({ nowNs, limits, bulk: this.bulk, accounts: orders.margin.accounts, counted });
  }

  nowNs(): TimestampNs {
    return this.parts.clock.nowNs();
  }

  /** Signed actions between their first check and their answer, reductions, and releases that wait for cover or room. */
  get actionsInFlight(): number {
    const { accountActions, orders, releases, safety } = this;
    const inDoor = accountActions.inFlight + orders.requests.unanswered + this.parts.desk.inFlight;
    const { onTheWay } = orders.margin.reductions;
    return inDoor + onTheWay + orders.shortReleases + releases.size + safety.size + this.faults.size;
  }

  // ---- sessions

  issueNonce(user: UserId): { readonly value: string; readonly ceNonce: number } {
    const { value } = this.nonces.issue(user, this.nowNs(), randomBytes(NONCE_BYTES).toString('base64url'));
    return { value, ceNonce: 0 };
  }

  login(request: AuthRequest, address: string): Outcome<{ readonly token: string; readonly expiryNs: TimestampNs }> {
    const claim = { user: request.userId, nonce: request.nonce };
    const now = this.nowNs();
    // The nonce is looked at first: a stranger without one cannot make the node verify.
    const nonce = checkNonce(this.nonces, claim, now);
    if (!nonce.ok) return nonce;
    const key = must(parseHex(request.userId, 32), 'a user id is 32 bytes of hex');
    const isProof = !this.parts.refusedUsers.has(request.userId);
    const signatureIsValid = isProof && verify(request.signature, Buffer.from(request.nonce, 'utf8'), key);
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const proof = { signatureIsValid, tokenHash: hashToken(token), address, now };
    const expiry = completeLogin({ nonces: this.nonces, tokens: this.tokens }, claim, proof);
    if (!expiry.ok) return expiry;
    return accepted({ token, expiryNs: expiry.value });
  }

  logout(user: UserId): void {
    this.tokens.revokeAll(user);
    this.streams.endSessions(user);
  }

  isSession(user: UserId, token: string): boolean {
    return this.tokens.isValid(user, hashToken(token), this.nowNs());
  }

  /** Valid tokens of a user. */
  sessionsOf(user: UserId): number {
    return this.tokens.countOf(user, this.nowNs());
  }

  isFunded(user: UserId): boolean {
    return this.orders.funded.has(user);
  }

  streamCap(user: UserId): number {
    return this.limits.streamCap(user);
  }

  charge(user: UserId | null, cost: Cost): Reject | null {
    return this.limits.charge(user, cost, this.nowNs());
  }

  chargeLogin(user: UserId): Reject | null {
    return this.limits.chargeLogin(user, this.nowNs());
  }

  // ---- signed actions

  create(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    this.creates.create(request, origin, answer);
  }

  replace(request: ReplaceRequest, origin: ActionOrigin, answer: Answer): void {
    this.road.replace(request, origin, answer);
  }

  cancel(request: CancelRequest, origin: ActionOrigin, answer: Answer): void {
    this.road.cancel(request, origin, answer);
  }

  createBatch(requests: readonly CreateRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    this.creates.createBatch(requests, origin, answer);
  }

  replaceBatch(requests: readonly ReplaceRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    this.batches.replace(requests, origin, answer);
  }

  cut(lifeline: Lifeline): void {
    this.safety.cut(lifeline);
  }

  // ---- test hooks (operator-api.md 7.3)

  /** A create as its signer might have sent it, past some of the checks. */
  inject(request: CreateRequest, skips: ReadonlySet<SkippedCheck>, answer: Answer): void {
    const origin = { user: request.order.signer.id, connection: 0, isControl: false };
    this.road.inject(request, skips, origin, answer);
  }

  /** A fill as if the market had matched it. @returns why not, or null. */
  injectFill(fill: InjectedFill): Reject | null {
    const { shards, poke } = this.parts;
    const outlet = must(shards[fill.marketIndex % shards.length], 'a shard for every market');
    const isSent = writeInjectedFill(outlet, fill);
    poke();
    return isSent ? null : MARKET_BUSY;
  }

  /** The registry as if clearing had never told it, or as it is. */
  dropSnapshot(isDropped: boolean): void {
    this.registry.isDropped = isDropped;
  }

  // ---- cancels of a session

  cancelAll(request: Parameters<OmsBackend['cancelAll']>[0]): Reject | null {
    return this.bulk.cancelAll(request);
  }

  cancelBatch(request: Parameters<OmsBackend['cancelBatch']>[0]): Reject | null {
    return this.bulk.cancelBatch(request);
  }

  cancelAllAfter(user: UserId, timeoutMs: number): Outcome<TimestampNs | null> {
    return this.safety.cancelAllAfter(user, timeoutMs);
  }

  // ---- reads

  markets(): readonly MarketView[] {
    return this.registry.markets();
  }

  market(assetId: AssetId): MarketView | null {
    return this.registry.market(assetId);
  }

  inventory(user: UserId, subAccounts: readonly number[] | null): InventoryBody {
    return this.orders.inventory(user, subAccounts);
  }

  async orderPage(request: PageRequest & { readonly openOnly: boolean }): Promise<Outcome<Page<string>>> {
    const query = this.pageQuery(request);
    if (!query.ok) return query;
    const { openOnly } = request;
    return this.pages.page(
      request.user,
      () => this.orders.planOrderPage({ ...query.value, openOnly }, AS_JSON),
      !this.isFunded(request.user),
    );
  }

  order(user: UserId, assetId: AssetId, orderId: OrderId): Outcome<OrderRecordView> {
    const definition = this.registry.definitions.get(assetId);
    if (definition === undefined) return rejected(reject('MARKET_NOT_FOUND', 'there is no such market'));
    const record = this.orders.order({ user, marketIndex: definition.marketIndex, orderId });
    return record === undefined ? rejected(reject('ORDER_NOT_FOUND', 'there is no such order')) : accepted(record);
  }

  async tradePage(request: PageRequest): Promise<Outcome<Page<string>>> {
    const query = this.pageQuery(request);
    if (!query.ok) return query;
    return this.pages.page(
      request.user,
      () => this.orders.planTradePage(query.value, AS_JSON),
      !this.isFunded(request.user),
    );
  }

  // ---- what clearing says about the registry

  userKnown(user: UserId, isMarketMaker: boolean): void {
    this.known.add(user);
    this.limits.setMarketMaker(user, isMarketMaker);
  }

  assetChanged(row: AssetRow): void {
    this.registry.assetChanged(row);
    const risk = row.riskJson === null ? null : (JSON.parse(row.riskJson) as RiskRow);
    this.orders.margin.onRiskChanged(row.assetId, termsOfRow(row.assetId, risk));
  }

  /** @param sequence where clearing stands; matters until the market opens. */
  marketChanged(definition: MarketDefinition, sequence: number): void {
    if (this.registry.definitions.has(definition.assetId)) this.orders.onMarketChanged(definition);
    if (!this.openMarkets.has(definition.marketIndex)) this.orders.restoreMarket(definition, sequence);
    this.registry.marketChanged(definition);
  }

  knowsMarket(marketIndex: number): boolean {
    for (const definition of this.registry.definitions.values())
      if (definition.marketIndex === marketIndex) return true;
    return false;
  }

  configChanged(row: ConfigRow): void {
    this.registry.configChanged(row);
    if (row.kind !== 'settings') return;
    const { settings, faults } = readSettings(row.json);
    this.faults.settings = faults;
    this.orders.onSettingsChanged({ ...settings, servesMargin: this.parts.servesMargin ?? true });
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

  registryRows(): {
    readonly assets: ReadonlyMap<AssetId, AssetRow>;
    readonly configs: ReadonlyMap<string, ConfigRow>;
    readonly definitions: ReadonlyMap<AssetId, MarketDefinition>;
  } {
    const { assetRows, configs, definitions } = this.registry;
    return { assets: assetRows, configs, definitions };
  }

  // ---- what the order manager says

  orderEvent(user: UserId, event: OrderEvent): void {
    this.streams.orderEvent(user, event, this.nowNs());
  }

  userTrade(user: UserId, trade: UserTrade): void {
    this.parts.counted.fill(trade.status, trade.rollbackReason);
    this.streams.userTrade(user, trade, this.nowNs());
  }

  reduce(word: ReduceWord): boolean {
    return this.reductions.send(word);
  }

  release(word: ReleaseWord): void {
    this.releases.add(word);
  }

  /** Every turn: what waited for room in a ring. */
  sendWaiting(): void {
    this.releases.sendAll();
    this.safety.sendWaiting();
    this.faults.sendWaiting();
  }

  /** Every turn: orders give way that an account can no longer bear, or whose holds it does not own. */
  reduceOrders(): void {
    const hasMore = this.orders.margin.reduceOrders(this.nowNs());
    if (this.orders.cancelUncovered() || hasMore) this.parts.poke();
  }

  /** Forgets sessions that are over. */
  sweep(): void {
    this.tokens.sweep(this.nowNs());
  }

  /** What a user may hold of the places for dead-man timers. */
  private holderOf(user: UserId): TimerHolder | null {
    if (!this.isFunded(user) && this.orders.openMarketsOf(user).length === 0) return null;
    return this.limits.tierOf(user) === 'marketMaker' ? 'maker' : 'user';
  }

  private pageQuery(request: PageRequest): Outcome<PageQuery> {
    const { user, assetId, subAccounts, page, limit } = request;
    const definition = assetId === null ? null : this.registry.definitions.get(assetId);
    if (definition === undefined) return rejected(reject('MARKET_NOT_FOUND', 'there is no such market'));
    return accepted({ user, marketIndex: definition?.marketIndex ?? null, subAccounts, page, limit });
  }
}

/** Only the hash of a token is kept. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
