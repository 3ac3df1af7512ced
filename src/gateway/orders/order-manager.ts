/**
 * The order manager: the gateway's side of every order, on one thread.
 *
 *   request ─check─▶ ─reserve─▶ market ─ack─▶ answer                  order-requests.ts, pending-requests.ts
 *                    market, clearing ─▶ order events      , fills    order-book-view.ts, fill-view.ts, releases.ts
 *                    memory and tables ─▶ reads                       pages.ts, inventory.ts
 *
 * Not here: JSON, signatures, rates, rings.
 */
import type { BalanceRow, SubAccountRow, TradeRow, UserRow } from '../../clearing/rows.ts';
import type { OrderReply } from '../../codec/shapes/order-record-shapes.ts';
import type { AssetId, OrderId, UserId } from '../../core/ids.ts';
import type { HashKey } from '../../core/key-words.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { ORDER_END, PROTECTION_LIMIT_WORD } from '../../core/order-terms.ts';
import { NONE } from '../../core/pools.ts';
import { pascalCase } from '../../core/reject.ts';
import type { Views } from '../../core/views.ts';
import type { ProtectionEndedFields, ProtectionTriggeredFields } from '../../schema/generated/messages.ts';
import { Accounts } from './balances/accounts.ts';
import type { BalanceKey, Funds } from './balances/balance.ts';
import { Holds, UpdateCount } from './balances/holds.ts';
import { type InventoryBody, inventoryOf } from './balances/inventory.ts';
import { SetAsides } from './balances/set-asides.ts';
import { UncoveredHolds } from './balances/uncovered-holds.ts';
import { FillView } from './book/fill-view.ts';
import { isSpot, type LiveOrder } from './book/live-order.ts';
import { LiveOrders } from './book/live-orders.ts';
import { type MarketSlot, Markets } from './book/markets.ts';
import { OrderBookView, type RestoredView } from './book/order-book-view.ts';
import type {
  ActivatedEvent,
  EndedEvent,
  FillConfirmedEvent,
  FillRolledBackEvent,
  MarketAckEvent,
  MarketEvent,
  OrderSink,
  ReplacedEvent,
  TriggeredEvent,
} from './book/order-events.ts';
import {
  type QuoteSetAppliedEvent,
  type QuoteSetEndedEvent,
  type QuoteSetRestoredEvent,
  QuoteSetView,
} from './book/quote-set-view.ts';
import { LiveQuoteSets } from './book/quote-sets.ts';
import { Releases } from './book/releases.ts';
import { type Match, userTradeOfRow } from './book/trade-view.ts';
import { AccountCancels } from './entry/account-cancels.ts';
import { OrderRequests } from './entry/order-requests.ts';
import { PendingRequests } from './entry/pending-requests.ts';
import { ProtectionGroups } from './entry/protection-groups.ts';
import type { Show } from './history/history-request.ts';
import type { OrderHistory } from './history/order-history.ts';
import {
  type OrderPageQuery,
  orderById,
  type PagePlan,
  type PageSources,
  planOrderPage,
  planTradePage,
  type RowQuery,
} from './history/pages.ts';
import { BasisPlan } from './history/position-basis.ts';
import { UncheckpointedHistory } from './history/uncheckpointed.ts';
import { MarginSide } from './margin/margin-side.ts';
import type { OrderSettings } from './settings.ts';

interface OrderManagerParts {
  readonly sink: OrderSink;
  readonly history: OrderHistory;
  /** The key of the hashes of orders' ids, as users choose these. */
  readonly idKey: HashKey;
}

/** Figures of one market, as the gateway sees it. */
export interface MarketFigures {
  readonly market: AssetId;
  readonly marketIndex: number;
  /** The last number of its sequence of events. */
  readonly events: number;
  /** Events that clearing has not decided and flushed. */
  readonly undecided: number;
  /** Trades without a decision of clearing. */
  readonly pendingTrades: number;
}

export class OrderManager {
  /** Requests of users: validated, reserved, answered. */
  readonly requests: OrderRequests;
  /** Groups that protect market makers. */
  readonly protections: ProtectionGroups;
  /** Positions, prices, pressure: the margin side. */
  readonly margin: MarginSide;
  /** Accounts in liquidation that are being cleared of their orders. */
  readonly accountCancels: AccountCancels;
  /** The quote sets of all users. */
  readonly sets: LiveQuoteSets = new LiveQuoteSets();
  /** What actions on accounts take, beside what orders hold. */
  readonly setAsides: SetAsides;
  readonly #uncovered: UncoveredHolds;
  /** The users that have a balance or a position. */
  readonly funded: Holds['funded'];
  /** Markets in which a user has an unfinished order, those on their way included. */
  readonly openMarketsOf: LiveOrders['openMarkets'];
  readonly #markets: Markets;
  readonly #accounts = new Accounts();
  readonly #updates = new UpdateCount();
  readonly #holds: Holds;
  readonly #orders: LiveOrders;
  readonly #uncheckpointed: UncheckpointedHistory;
  readonly #sink: OrderSink;
  readonly #pending = new PendingRequests();
  readonly #book: OrderBookView;
  readonly #fills: FillView;
  readonly #releases: Releases;
  readonly #quotes: QuoteSetView;
  readonly #pages: PageSources;

  constructor({ sink, history, idKey: key }: OrderManagerParts) {
    const markets = new Markets();
    const holds = new Holds(this.#updates, this.#accounts);
    const orders = new LiveOrders({ markets, holds, key });
    const uncheckpointed = new UncheckpointedHistory(orders, (marketIndex) => markets.at(marketIndex));
    this.#markets = markets;
    this.#orders = orders;
    this.#holds = holds;
    this.funded = holds.funded;
    this.openMarketsOf = (user) => orders.openMarkets(user);
    this.#uncheckpointed = uncheckpointed;
    const book = new OrderBookView({ orders, holds, uncheckpointed, sink });
    this.#sink = sink;
    this.#book = book;
    const accounts = this.#accounts;
    const pending = this.#pending;
    const margin = new MarginSide({ accounts, markets, holds, updates: this.#updates, pending, sink, orders });
    this.margin = margin;
    const { accounts: margins } = margin;
    const { sets } = this;
    this.#fills = new FillView(book, this.#updates, { orders, holds, uncheckpointed, sink, margins, sets });
    this.#quotes = new QuoteSetView({ orders, holds, margin, book, sets, sink });
    const cancel = (order: LiveOrder): boolean => margin.reductions.cancelUncovered(order);
    this.#uncovered = new UncoveredHolds((user) => orders.ofUser(user), cancel);
    this.accountCancels = new AccountCancels({
      orders,
      cancel: (order, clearing) => margin.reductions.cancelLiquidated(order, clearing),
      inFlight: () => margin.reductions.onTheWay,
      cleared: (account) => sink.accountCleared(account),
      setsOf: ({ user, subAccount }) =>
        [...this.sets.ofUser(user)].filter((set) => set.isKnown && set.subAccount === subAccount),
      endSet: (set, clearing) => sink.endQuoteSet(set, () => clearing.answered()),
    });
    this.setAsides = new SetAsides(accounts, holds, margin.accounts);
    const { check, assets } = margin;
    this.#releases = new Releases(book, { orders, check, assets }, sink);
    this.protections = new ProtectionGroups((key) => orders.membersOf(key), this.sets);
    const { protections } = this;
    const parts = { markets, accounts, holds, orders, pending, book, history, margin, sets, protections, sink };
    this.requests = new OrderRequests(parts);
    this.#pages = { markets, orders, uncheckpointed, history };
    orders.onLeaving.push(
      (order) => this.#releases.leaving(order),
      (order) => this.#uncovered.leaving(order),
      (order) => this.sets.left(order),
    );
  }

  // ---- events of the market

  /** Comes before the answer to the create. */
  onAccepted(event: MarketAckEvent): void {
    this.#received(event);
    const { order, signed } = this.#pending.accepted(event.requestId);
    if (event.rejectCode === 0) this.#book.accepted(order, event.sequence, event.timeNs, signed);
    else this.#book.acceptedAndCancelled(order, event.sequence, event.timeNs);
  }

  /** The answer to a request; behind `onAccepted`. */
  onAck(event: MarketAckEvent): void {
    this.requests.onAck(event);
    if (event.rejectCode !== 0) this.#releases.refused();
  }

  onMatched(match: Match): void {
    const market = this.#received(match, match.takerOrder);
    this.#fills.matched(market, match);
    this.#releases.eventOn(market, match.takerOrder);
  }

  onReplaced(event: ReplacedEvent): void {
    this.#book.replaced(this.#received(event), event, this.#pending.isAmend(event.requestId));
  }

  onRestored(event: MarketEvent): void {
    this.#book.back(this.#received(event), event);
  }

  onTriggered(event: TriggeredEvent): void {
    this.#releases.triggered(this.#received(event), event);
  }

  onActivated(event: ActivatedEvent): void {
    this.#book.activated(this.#received(event), event);
  }

  onCancelPending(event: MarketEvent): void {
    this.#book.cancelPending(this.#received(event), event);
  }

  onEnded(event: EndedEvent): void {
    // A taker that matches an order of its owner goes on after the end of that.
    const taker = event.end === ORDER_END.selfTradePrevented ? ANY_TAKER : 0;
    const market = this.#received(event, taker);
    this.#book.ended(market, event);
    this.#releases.eventOn(market, event.order);
  }

  /** What the set did comes in one event, which is the answer to its request. */
  onQuoteSetApplied(event: QuoteSetAppliedEvent & { readonly addCode: number }): void {
    const outcome = this.#quotes.applied(this.#received(event), event);
    this.requests.onQuoteSetApplied(event, outcome);
  }

  onQuoteSetEnded(event: QuoteSetEndedEvent): void {
    this.#quotes.ended(this.#received(event), event);
  }

  /** A group has traded as much as it may: its orders are off the book, and their ends follow (MMP-03, MMP-04). */
  onProtectionTriggered(event: ProtectionTriggeredFields): void {
    // It stands among the fills of the taker that took it there.
    const market = this.#received(event, ANY_TAKER);
    const row = this.protections.triggered(event);
    if (row === undefined) return;
    const { user, limit, frozenUntilNs, timeNs: timestampNs } = event;
    const { assetId } = market.definition;
    this.#sink.protectionTriggered(user, {
      kind: 'ProtectionTriggered',
      ...{ group: row.group, assetId, limit: PROTECTION_LIMIT_WORD[limit], timestampNs },
      frozenUntilNs: frozenUntilNs === 0n ? null : frozenUntilNs,
    });
  }

  onProtectionEnded(event: ProtectionEndedFields): void {
    this.#received(event);
    this.protections.ended(event);
  }

  /** A parked cancel has expired without its create (AMB-25). */
  onParkedCancelExpired(event: {
    readonly marketIndex: number;
    readonly user: UserId;
    readonly orderId: OrderId;
  }): void {
    const { assetId } = this.#markets.at(event.marketIndex).definition;
    const reason = pascalCase('ORDER_NOT_FOUND');
    this.#sink.orderEvent(event.user, { kind: 'CancelFailed', orderId: event.orderId, assetId, reason });
  }

  /** The market was restored and takes commands; comes after everything of it was restored here. */
  onMarketOpened(marketIndex: number): void {
    this.#holds.settleRestored();
    this.#releases.marketOpened(this.#markets.at(marketIndex));
  }

  // ---- events of clearing, all of them flushed

  onFillConfirmed(event: FillConfirmedEvent): void {
    this.#fills.confirmed(this.#markets.at(event.marketIndex), event);
  }

  onFillRolledBack(event: FillRolledBackEvent): void {
    this.#fills.rolledBack(this.#markets.at(event.marketIndex), event);
  }

  /** Absolute; it contains every fill confirmed before it, and comes after those that changed it. */
  onBalanceChanged(row: BalanceRow): void {
    this.#uncovered.booked(row.user, this.#holds.setOwned(row, row.owned));
  }

  /** Everything of the market up to `sequence` is decided and flushed. */
  onMarketDecided(event: { readonly marketIndex: number; readonly sequence: number }): void {
    const market = this.#markets.at(event.marketIndex);
    if (event.sequence <= market.decidedSequence) return;
    market.decidedSequence = event.sequence;
    this.#pending.marketDecided(market);
    this.#uncheckpointed.marketDecided(market);
    this.#releases.retry();
  }

  /**
   * @param flushed.sequence the journal is flushed through it, and everything it decided has been published.
   * @param flushed.checkpoint the last sequence that the tables reflect.
   */
  onJournalFlushed(flushed: { readonly sequence: number; readonly checkpoint: number }): void {
    this.#uncheckpointed.journalFlushed(flushed.sequence, flushed.checkpoint);
    this.#uncovered.flushed();
  }

  onUserChanged(row: Pick<UserRow, 'user' | 'isMarketMaker'>): void {
    this.#accounts.setUser(row);
  }

  /** From now on, or no longer, the account takes no new risk (AMB-57). */
  onLiquidationChanged(account: { readonly user: UserId; readonly subAccount: number }, isBegun: boolean): void {
    this.#accounts.setInLiquidation(account.user, account.subAccount, isBegun);
  }

  /** An auto-deleveraging trade, booked and flushed: it was never pending, and no order is part of it (AMB-59). */
  onDeleveraged(row: TradeRow): void {
    const { definition } = this.#markets.at(row.marketIndex);
    for (const isMaker of [true, false]) {
      const { user } = isMaker ? row.maker : row.taker;
      const trade = userTradeOfRow(row, isMaker, definition);
      this.#sink.countFill(trade.status, trade.rollbackReason);
      this.#sink.userTrade(user, trade);
      this.#uncheckpointed.tradeConfirmed(user, row.marketIndex, { ...trade, isSpot: false });
      this.margin.onForced(user, trade.subAccount, definition.assetId);
    }
  }

  /** Trade ids of the market are clearing's: nothing about an order. */
  onTradeIdsReserved(event: { readonly marketIndex: number; readonly sequence: number }): void {
    this.#received(event);
  }

  onSubAccountChanged(row: SubAccountRow): void {
    this.#accounts.setSubAccount(row);
    this.#holds.subAccountKnown(row.user, row.subAccount);
  }

  /** The market of this index; undefined for one that is not known. */
  marketAt(marketIndex: number): MarketSlot | undefined {
    return this.#markets.withIndex(marketIndex);
  }

  /** A market appeared or changed; holds and pressure follow its taker rate, and no order is walked for it. */
  onMarketChanged(definition: MarketDefinition): void {
    const takerFeeRate = this.#markets.find(definition.assetId)?.definition.takerFeeRate;
    this.#markets.set(definition);
    if (definition.takerFeeRate === takerFeeRate) return;
    this.#holds.feeChanged();
    this.margin.assets.feeChanged();
  }

  onSettingsChanged(settings: OrderSettings): void {
    this.requests.settings = settings;
    this.margin.onSettingsChanged(settings);
    if (settings.acks === 'optimistic') this.#pending.answerAll();
  }

  /**
   * Every turn: cancels orders with a hold that is not owned after a booking (AMB-112). @returns whether there is more
   * to do.
   */
  cancelUncovered(): boolean {
    return !this.#uncovered.isEmpty && this.#markets.areDecided && this.#uncovered.look();
  }

  // ---- at a restart

  /**
   * A live order with its confirmed fills. Its market, its user's accounts and balances are known; no event is pending.
   *
   * @param at of its OrderRecord.
   */
  restoreOrder(v: Views, at: number, restored: RestoredView): void {
    this.margin.onOrderRestored();
    const order = this.#orders.restore(v, at, restored.parentId);
    this.margin.check.place(order);
    this.#book.restored(order, isSpot(order) ? this.#orders.balanceOf(order) : null, restored);
    this.#quotes.entryRestored(order);
  }

  /** A quote set of a start, before its entries. */
  restoreQuoteSet(event: QuoteSetRestoredEvent): void {
    this.#quotes.restored(this.#markets.at(event.marketIndex), event);
  }

  /**
   * @returns null: nothing is on its way to a market, and this one is decided; else when all that was sent until now is answered, and what
   *   came of it in this market decided and flushed.
   */
  settled(marketIndex: number): Promise<void> | null {
    const market = this.#markets.at(marketIndex);
    if (this.#pending.count === 0 && market.seenSequence <= market.decidedSequence) return null;
    return new Promise((resolve) => {
      this.#pending.whenAnswered(() => this.#pending.whenDecided(market, market.seenSequence, resolve));
    });
  }

  /** Every order of a start is in memory. */
  onAllRestored(): void {
    this.margin.onRestored();
    this.accountCancels.restored();
  }

  /** Where the market stood, all of it flushed. */
  restoreMarket(definition: MarketDefinition, sequence: number): void {
    const market = this.#markets.set(definition);
    market.seenSequence = sequence;
    market.decidedSequence = sequence;
  }

  // ---- reads

  /** A page whose part of the tables is read elsewhere; rows as `show` makes them. */
  planOrderPage<T>(query: OrderPageQuery, show: Show<T>): PagePlan<T> {
    return planOrderPage(this.#pages, query, show);
  }

  planTradePage<T>(query: RowQuery, show: Show<T>): PagePlan<T> {
    return planTradePage(this.#pages, query, show);
  }

  /** What positions cost, of those markets. */
  planBasis(user: UserId, marketIndexes: readonly number[]): BasisPlan {
    const spotAccounts = this.#accounts
      .of(user)
      .flatMap(([index]) => (this.#accounts.isMargin(user, index) ? [] : [index]));
    return new BasisPlan(this.#pages, { user, marketIndexes, spotAccounts });
  }

  order(key: Parameters<typeof orderById>[1]): OrderReply | undefined {
    return orderById(this.#pages, key);
  }

  /** Names that the user gave to sub-accounts, ascending by index. */
  accountNames(user: UserId): readonly (readonly [index: number, name: string])[] {
    return this.#accounts.givenNames(user);
  }

  /** The name of a sub-account; null for one that does not exist. */
  accountName(user: UserId, subAccount: number): string | null {
    return this.#accounts.find(user, subAccount)?.name ?? null;
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
    return this.requests.settings;
  }

  /** Orders with a fired trigger that wait for cover. */
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

  /** For metrics: how far each market is, and how many of its events clearing has not decided. */
  *marketFigures(): Generator<MarketFigures> {
    for (const { definition, seenSequence, decidedSequence } of this.#markets.all()) {
      const undecided = Math.max(seenSequence - decidedSequence, 0);
      const { assetId: market, marketIndex } = definition;
      yield {
        market,
        marketIndex,
        events: seenSequence,
        undecided,
        pendingTrades: this.#fills.pendingCount(marketIndex),
      };
    }
  }

  /** For metrics: sides of confirmed trades that no announced checkpoint holds. */
  get uncheckpointedTrades(): number {
    return this.#uncheckpointed.tradeCount;
  }

  // ---- helpers

  /** @param taker the order with whose matching the event belongs; 0: none. */
  #received(event: { readonly marketIndex: number; readonly sequence: number }, taker = 0): MarketSlot {
    const market = this.#markets.at(event.marketIndex);
    if (event.sequence > market.seenSequence) market.seenSequence = event.sequence;
    const { entering } = market;
    if (entering === NONE || taker === ANY_TAKER) return market;
    const { sequence } = this.#orders.at(entering);
    if (taker === sequence) return market;
    this.#book.entered(market);
    this.#releases.eventOn(market, sequence);
    return market;
  }
}

const ANY_TAKER = -1;
