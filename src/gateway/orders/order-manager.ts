/**
 * The order manager: the front door's side of every order, on one thread (design: the road of an order).
 *
 *   request ─check─▶ ─reserve─▶ market ─ack─▶ answer                  intake.ts, requests.ts
 *                    market, clearing ─words─▶ order events, fills    order-book-view.ts, fill-view.ts, releases.ts
 *                    memory and tables ─▶ reads                       pages.ts, inventory.ts
 *
 * Invariants
 *   (1) Every reserved request is answered once; a cancel-all, which was answered when it was dispatched, never (CAN-11).
 *   (2) A refusal behind this door sends an event to the order's user (AMB-128).
 *
 * Not here: JSON, signatures, rates, rings.
 */
import type { BalanceRow, SubAccountRow, UserRow } from '../../clearing/rows.ts';
import type { OrderRecordView } from '../../codec/order-record.ts';
import type { CancelRequest } from '../../codec/signed-cancel.ts';
import type { CreateRequest } from '../../codec/signed-order.ts';
import type { ReplaceRequest } from '../../codec/signed-replace.ts';
import { must } from '../../core/assert.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../core/ids.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { ORDER_END, SIDE } from '../../core/order-terms.ts';
import type { Outcome } from '../../core/outcome.ts';
import { pascalCase, type RejectName, rejectName } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import { Accounts } from './accounts.ts';
import { FillView } from './fill-view.ts';
import type { Show } from './history-ask.ts';
import { type BalanceKey, type Funds, Holds, WordCount } from './holds.ts';
import { type Caller, Intake } from './intake.ts';
import { type InventoryBody, inventoryOf } from './inventory.ts';
import type { Tie } from './lifeline.ts';
import { isSpot, type LiveOrder, settleTie } from './live-order.ts';
import { LiveOrders } from './live-orders.ts';
import { MarginRoom } from './margin-room.ts';
import { type MarketSlot, Markets } from './markets.ts';
import { OrderBookView } from './order-book-view.ts';
import type { OrderSink } from './order-events.ts';
import type { OrderHistory } from './order-history.ts';
import {
  type OrderPageQuery,
  orderById,
  type PagePlan,
  type PageQuery,
  type PageSources,
  planOrderPage,
  planTradePage,
} from './pages.ts';
import type { PreparedCancel, PreparedCreate, PreparedReplace } from './prepared.ts';
import { marketRefusal } from './refusals.ts';
import { Releases } from './releases.ts';
import { type OrderRequest, Requests } from './requests.ts';
import { restoredOrder } from './restored-order.ts';
import { SetAsides } from './set-asides.ts';
import type { OrderSettings } from './settings.ts';
import { type KeptOrders, Sleepers } from './sleepers.ts';
import { Tail } from './tail.ts';
import type { Match } from './trade-view.ts';
import { UncoveredHolds } from './uncovered-holds.ts';
import type {
  ActivatedWord,
  AdmittedWord,
  EndedWord,
  FillConfirmed,
  FillRolledBack,
  MarketAck,
  OrderWord,
  ReplacedWord,
  RestoredOrder,
  TriggeredWord,
} from './words.ts';

export interface OrderManagerParts {
  readonly sink: OrderSink;
  readonly history: OrderHistory;
  /** Orders of a restart as bytes; without it every restored order comes into memory at once. */
  readonly kept?: KeptOrders;
}

export class OrderManager {
  /** Positions, prices, pressure: the margin side. */
  readonly margin: MarginRoom;
  /** What actions on accounts take, beside what orders hold. */
  readonly setAsides: SetAsides;
  readonly #uncovered: UncoveredHolds;
  /** Who has a balance or a position; nobody is woken. */
  readonly funded: Holds['funded'];
  /** Markets in which a user has an unfinished order, those on their way included. */
  readonly openMarketsOf: LiveOrders['openMarkets'];
  readonly #sleepers: Sleepers;
  readonly #markets: Markets;
  readonly #accounts = new Accounts();
  readonly #words = new WordCount();
  readonly #holds: Holds;
  readonly #orders: LiveOrders;
  readonly #tail: Tail;
  readonly #sink: OrderSink;
  readonly #requests: Requests;
  readonly #book: OrderBookView;
  readonly #fills: FillView;
  readonly #releases: Releases;
  readonly #intake: Intake;
  readonly #pages: PageSources;

  constructor({ sink, history, kept }: OrderManagerParts) {
    const sleepers = new Sleepers(kept);
    const markets = new Markets(sleepers);
    const orders = new LiveOrders(sleepers);
    const holds = new Holds(this.#words, sleepers, this.#accounts);
    const tail = new Tail(orders);
    this.#sleepers = sleepers;
    this.#markets = markets;
    this.#orders = orders;
    this.#holds = holds;
    this.funded = holds.funded;
    this.openMarketsOf = (user) => orders.openMarkets(user);
    this.#tail = tail;
    const requests = new Requests(sink);
    const book = new OrderBookView({ orders, holds, tail, sink });
    this.#sink = sink;
    this.#requests = requests;
    this.#book = book;
    this.#fills = new FillView(book, this.#words, { holds, tail, sink });
    const accounts = this.#accounts;
    const room = new MarginRoom({ accounts, markets, holds, words: this.#words, requests, sink, sleepers });
    this.margin = room;
    const cancel = (order: LiveOrder): boolean => room.reductions.cancelUncovered(order);
    this.#uncovered = new UncoveredHolds((user) => orders.ofUser(user), cancel);
    this.setAsides = new SetAsides(accounts, holds, room.accounts);
    this.#releases = new Releases(book, room, sink);
    this.#intake = new Intake({ markets, accounts, holds, orders, requests, book, history, margin: room });
    this.#pages = { markets, orders, tail, history };
    sleepers.onWake((rows) => this.#awaken(rows));
  }

  // ---- requests (intake.ts)

  /** Everything before the signature. The order of checks and the rejects: pre-flight.ts. */
  checkCreate(request: CreateRequest, caller: Caller): Outcome<PreparedCreate> {
    return this.#intake.checkCreate(request, caller);
  }

  /**
   * Takes the hold, after the signature was verified and while the market's ring has room.
   *
   * @returns the request id, and what a market order without a bound of its own may spend (AMB-39); rejects
   *   MARKET_HALTED, TOO_MANY_OPEN_ORDERS, DUPLICATE_ORDER, SERVICE_UNAVAILABLE, INSUFFICIENT_INVENTORY,
   *   REDUCE_ONLY_WOULD_INCREASE, PRICING_UNAVAILABLE, INSUFFICIENT_MARGIN, PROTOCOL_CAP_EXCEEDED.
   */
  reserveCreate(
    prepared: PreparedCreate,
    now: TimestampNs,
  ): Outcome<{ readonly requestId: number; readonly budget: number }> {
    return this.#intake.reserveCreate(prepared, now);
  }

  /** Everything before the signature, the look-up included (RPL-11, AMB-23). */
  checkReplace(request: ReplaceRequest, caller: Caller): Outcome<PreparedReplace> {
    return this.#intake.checkReplace(request, caller);
  }

  /**
   * Takes what the replaced order would need beyond what the order holds.
   *
   * @returns the request id; rejects MARKET_HALTED, SERVICE_UNAVAILABLE, INSUFFICIENT_INVENTORY, PRICING_UNAVAILABLE,
   *   INSUFFICIENT_MARGIN, REDUCE_ONLY_WOULD_INCREASE, the order untouched.
   */
  reserveReplace(prepared: PreparedReplace): Outcome<number> {
    return this.#intake.reserveReplace(prepared);
  }

  /** Everything before the signature, the look-up included (CAN-03, AMB-23). */
  checkCancel(request: CancelRequest, caller: Caller): Outcome<PreparedCancel> {
    return this.#intake.checkCancel(request, caller);
  }

  /** @returns the request id; rejects SERVICE_UNAVAILABLE. */
  reserveCancel(prepared: PreparedCancel): Outcome<number> {
    return this.#intake.reserveCancel(prepared);
  }

  /**
   * The markets that a cancel-all concerns. What is reserved for each in the same turn is let through.
   * @returns MARKET_NOT_FOUND, SERVICE_UNAVAILABLE.
   */
  checkCancelAll(wish: { readonly user: UserId; readonly assetId: AssetId | null }): Outcome<readonly MarketSlot[]> {
    return this.#intake.checkCancelAll(wish);
  }

  /** For one market. @returns the request id; rejects SERVICE_UNAVAILABLE. Its answer is not told. */
  reserveCancelAll(): Outcome<number> {
    return this.#intake.reserveCancelAll();
  }

  /**
   * What a cancel-batch concerns: unknown, foreign and finished ids are left out (CAN-09). What is reserved for each in
   * the same turn is let through.
   *
   * @returns MARKET_NOT_FOUND, SERVICE_UNAVAILABLE.
   */
  ordersToCancel(wish: {
    readonly user: UserId;
    readonly assetId: AssetId | null;
    readonly orderIds: readonly OrderId[];
  }): Outcome<readonly PreparedCancel[]> {
    return this.#intake.ordersToCancel(wish);
  }

  /** Whether `reserveCancel` will pass. */
  hasRoomForCancel(): boolean {
    return this.#requests.hasRoomFor('cancel');
  }

  /** The order of this request, a create or a replace on its way, is cancelled when the connection ends (lifeline.ts). */
  tie(requestId: number, tie: Tie): void {
    this.#requests.tie(requestId, tie);
  }

  // ---- the market's word

  /** Comes before or after the answer to the create. */
  onAdmitted(word: AdmittedWord): void {
    this.#heard(word);
    const { creates } = this.#intake;
    const { order, text, signature } = must(creates.get(word.requestId), 'an admitted order was on its way');
    creates.delete(word.requestId);
    if (word.refusal === 0) this.#book.admitted(order, word.sequence, word.timeNs, { text, signature });
    else this.#book.admittedAndCancelled(order, word.sequence, word.timeNs);
  }

  onMatched(match: Match): void {
    const market = this.#heard(match, match.takerOrder);
    this.#fills.matched(market, match);
    this.#releases.heardOf(market, match.takerOrder);
  }

  onReplaced(word: ReplacedWord): void {
    this.#book.replaced(this.#heard(word), word);
  }

  onRestored(word: OrderWord): void {
    this.#book.restored(this.#heard(word), word);
  }

  onTriggered(word: TriggeredWord): void {
    this.#releases.triggered(this.#heard(word), word);
  }

  onActivated(word: ActivatedWord): void {
    this.#book.activated(this.#heard(word), word);
  }

  onCovered(word: OrderWord): void {
    this.#book.covered(this.#heard(word), word);
  }

  onEnded(word: EndedWord): void {
    // A taker that meets an order of its owner goes on after the end of that.
    const taker = word.end === ORDER_END.selfTradePrevented ? ANY_TAKER : 0;
    const market = this.#heard(word, taker);
    this.#book.ended(market, word);
    this.#releases.heardOf(market, word.order);
  }

  /** Every request gets one; the words it caused come before it, except that a create's admission may come after. */
  onAck(ack: MarketAck): void {
    const request = this.#requests.take(ack.requestId);
    if (request.kind === 'cancelAll') return;
    if (request.kind === 'reduce') {
      this.margin.reductions.answered();
      this.#book.landed(request.order);
      return;
    }
    const { kind, user, order, replace, tie, market, orderId } = request;
    const code = ack.rejectCode === 0 ? null : must(rejectName(ack.rejectCode), 'the market refuses with a known code');
    if (order !== null) this.#book.landed(order);
    if (order !== null && replace !== null) {
      order.replaces = order.replaces.filter((other) => other !== replace);
      if (tie !== null) settleTie(order, tie, code === null);
      this.#book.rehold(order);
    }
    if (code !== null) this.#refused(request, ack.requestId, code);
    const { assetId } = market.definition;
    const reject = code === null ? null : marketRefusal(kind, code);
    const result = { orderId, assetId, reject, processedNs: ack.timeNs };
    if (this.#intake.settings.acks === 'optimistic') {
      this.#requests.told(user);
      this.#sink.ack(ack.requestId, result);
    } else this.#requests.tellWhenDecided(market, { requestId: ack.requestId, user, sequence: ack.sequence, result });
  }

  /** A held cancel met no create in its time (AMB-25). */
  onHeldCancelExpired(word: { readonly marketIndex: number; readonly user: UserId; readonly orderId: OrderId }): void {
    const { assetId } = this.#markets.at(word.marketIndex).definition;
    const reason = pascalCase('ORDER_NOT_FOUND');
    this.#sink.orderEvent(word.user, { kind: 'CancelFailed', orderId: word.orderId, assetId, reason });
  }

  /** The market was restored and takes commands; comes after everything of it was restored here. */
  onMarketOpened(marketIndex: number): void {
    this.#releases.marketOpened(this.#markets.at(marketIndex));
  }

  // ---- clearing's word, all of it flushed

  onFillConfirmed(word: FillConfirmed): void {
    this.#fills.confirmed(this.#markets.at(word.marketIndex), word);
  }

  onFillRolledBack(word: FillRolledBack): void {
    this.#fills.rolledBack(this.#markets.at(word.marketIndex), word);
  }

  /** Absolute; it contains every fill confirmed before it, and comes after those that changed it. */
  onBalanceChanged(row: BalanceRow): void {
    this.#uncovered.booked(row.user, this.#holds.setOwned(row, row.owned));
  }

  /** Everything of the market up to `sequence` is decided and flushed. */
  onMarketDecided(word: { readonly marketIndex: number; readonly sequence: number }): void {
    const market = this.#markets.at(word.marketIndex);
    if (word.sequence <= market.decidedSequence) return;
    market.decidedSequence = word.sequence;
    this.#requests.marketDecided(market);
    this.#tail.marketDecided(market);
    this.#releases.retry();
  }

  /**
   * @param flushed.sequence the journal is flushed through it, and everything it decided has been told.
   * @param flushed.checkpoint the last sequence that the tables reflect.
   */
  onJournalFlushed(flushed: { readonly sequence: number; readonly checkpoint: number }): void {
    this.#tail.journalFlushed(flushed.sequence, flushed.checkpoint);
    this.#uncovered.flushed();
  }

  onUserChanged(row: Pick<UserRow, 'user' | 'isMarketMaker'>): void {
    this.#accounts.setUser(row);
  }

  onSubAccountChanged(row: SubAccountRow): void {
    this.#accounts.setSubAccount(row);
    this.#holds.subAccountKnown(row.user, row.subAccount);
  }

  /** A market appeared or changed; holds and pressure follow its taker rate, and no order is walked for it. */
  onMarketChanged(definition: MarketDefinition): void {
    const takerFeeRate = this.#markets.find(definition.assetId)?.definition.takerFeeRate;
    this.#markets.set(definition);
    if (definition.takerFeeRate === takerFeeRate) return;
    this.#holds.feeChanged();
    this.margin.desk.feeChanged();
  }

  onSettingsChanged(settings: OrderSettings): void {
    this.#intake.settings = settings;
    this.margin.onSettingsChanged(settings);
    if (settings.acks === 'optimistic') this.#requests.tellAll();
  }

  /** Every turn: cancels orders whose hold is not owned after a booking (AMB-112). @returns whether there is more to do. */
  cancelUncovered(): boolean {
    return !this.#uncovered.isEmpty && this.#markets.areDecided && this.#uncovered.look();
  }

  // ---- at a restart

  /** A live order with its confirmed fills. Its market and balances are known; no event is owed. */
  restoreOrder(row: RestoredOrder): void {
    this.#sleepers.wake(row.user);
    const market = this.#markets.at(row.marketIndex);
    const user = this.#orders.sharedName(row.user);
    const { subAccount } = row;
    const asset = row.side === SIDE.buy ? USD : market.definition.assetId;
    const balance = isSpot(row) ? this.#holds.balance({ user, subAccount, asset }) : null;
    const order = restoredOrder(row, { user, market, balance });
    this.margin.check.seat(order);
    this.#book.restore(order, row.orderSequence);
  }

  /** Whether orders of the user are in memory: then none of them may sleep. */
  isAwake(user: UserId): boolean {
    return this.#orders.has(user);
  }

  /** An order of the user in this account is kept as bytes. Who is in a margin-type account is looked at in rounds. */
  fellAsleep(user: UserId, subAccount: number): void {
    if (this.#accounts.isMargin(user, subAccount)) this.#sleepers.watch(user);
  }

  /** All orders of one user that slept. */
  #awaken(rows: readonly RestoredOrder[]): void {
    for (const row of rows) this.restoreOrder(row);
    for (const { marketIndex, orderSequence, parentId } of rows) {
      const order = this.#markets.at(marketIndex).orders.get(orderSequence);
      if (parentId !== '' && order !== undefined) this.#book.linkParents([order]);
    }
  }

  /** Where the market stood, all of it flushed. */
  restoreMarket(definition: MarketDefinition, sequence: number): void {
    const market = this.#markets.set(definition);
    market.seenSequence = sequence;
    market.decidedSequence = sequence;
  }

  // ---- reads

  /** A page whose part of the tables somebody else reads; rows as `show` makes them. */
  planOrderPage<T>(query: OrderPageQuery, show: Show<T>): PagePlan<T> {
    return planOrderPage(this.#pages, query, show);
  }

  planTradePage<T>(query: PageQuery, show: Show<T>): PagePlan<T> {
    return planTradePage(this.#pages, query, show);
  }

  order(key: Parameters<typeof orderById>[1]): OrderRecordView | undefined {
    return orderById(this.#pages, key);
  }

  inventory(user: UserId, subAccounts: readonly number[] | null): InventoryBody {
    const sources = { accounts: this.#accounts, holds: this.#holds, margins: this.margin.accounts };
    return inventoryOf(sources, user, subAccounts);
  }

  /** A spot balance with what is set aside from it, as pre-flight sees it. */
  funds(key: BalanceKey): Funds {
    return this.#holds.funds(key);
  }

  get settings(): OrderSettings {
    return this.#intake.settings;
  }

  /** For metrics. */
  get requestsOnTheWay(): number {
    return this.#requests.count;
  }

  /** Orders whose trigger fired and that wait for what would cover them. */
  get shortReleases(): number {
    return this.#releases.shortCount;
  }

  /** For metrics: orders on their way, live, and finished ones that no announced checkpoint holds. */
  get ordersInMemory(): number {
    return this.#orders.count;
  }

  /** Live orders that count against the bounds, of one user or of all (AMB-124). */
  openOrders(user: UserId | null): number {
    return user === null ? this.#orders.openCountOfAll : this.#orders.openCountOf(user);
  }

  /** Orders of a restart that slept and do no more, ever. */
  get ordersWoken(): number {
    return this.#sleepers.woken;
  }

  /** For metrics: sides of confirmed trades that no announced checkpoint holds. */
  get tailTrades(): number {
    return this.#tail.tradeCount;
  }

  // ---- helpers

  /** @param taker whose matching the word is a part of; 0: nobody's. */
  #heard(word: { readonly marketIndex: number; readonly sequence: number }, taker = 0): MarketSlot {
    const market = this.#markets.at(word.marketIndex);
    if (word.sequence > market.seenSequence) market.seenSequence = word.sequence;
    const { entering } = market;
    if (entering !== null && taker !== ANY_TAKER && taker !== entering.sequence) {
      this.#book.entered(market);
      this.#releases.heardOf(market, entering.sequence);
    }
    return market;
  }

  /** What passed this door and was refused behind it. A crossing post-only tells its own `Canceled` (AMB-16, AMB-19). */
  #refused(request: OrderRequest, requestId: number, code: RejectName): void {
    if (code === 'WOULD_CROSS') return;
    const { kind, user, orderId, order, market } = request;
    if (kind === 'create') {
      this.#intake.creates.delete(requestId);
      this.#book.drop(must(order, 'a create has its order'));
    }
    const { assetId } = market.definition;
    const reason = pascalCase(code);
    this.#sink.orderEvent(user, { kind: FAILED[kind], orderId, assetId, reason });
  }
}

const ANY_TAKER = -1;
const FAILED = { create: 'CreateFailed', replace: 'ReplaceFailed', cancel: 'CancelFailed' } as const;
