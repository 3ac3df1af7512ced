/**
 * The margin side of the order manager: clearing's events of positions, prices and risk, and their consequences for orders
 * and reads.
 *
 *   clearing ── position, oracle price, market risk, risk row ─▶ asset-risks.ts, margin-accounts.ts
 *   orders ── margin-check.ts ─▶ admitted or refused            turns ── reductions.ts ─▶ reductions
 *   reads ── margin-view.ts, simulation.ts
 *
 * Every check and read at a time brings the prices up to it first.
 */
import type { SimulationView } from '../../../codec/margin-replies.ts';
import type { AssetId, UserId } from '../../../core/ids.ts';
import { ORDER_END, type OrderEnd } from '../../../core/order-terms.ts';
import type { Outcome } from '../../../core/outcome.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../../core/units.ts';
import type { PriceSource } from '../../../risk/prices.ts';
import type { RiskTerms } from '../../../risk/risk-terms.ts';
import type { Accounts } from '../balances/accounts.ts';
import type { Holds, UpdateCount } from '../balances/holds.ts';
import type { LiveOrder } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { Markets } from '../book/markets.ts';
import type { OrderSink } from '../book/order-events.ts';
import type { PendingRequests, ReduceRequest } from '../entry/pending-requests.ts';
import { DEFAULT_ORDER_SETTINGS, type OrderSettings } from '../settings.ts';
import { type AssetMarks, AssetRisks } from './asset-risks.ts';
import type { Requirements } from './margin-account.ts';
import { type PositionUpdate, UserMarginAccounts } from './margin-accounts.ts';
import { MarginCheck } from './margin-check.ts';
import { type MarginSources, MarginView } from './margin-view.ts';
import { AutoReduce, type Cut, ReduceOnlyExcess, type Reduction } from './reductions.ts';
import { simulate, type Trial } from './simulation.ts';

// Orders that the node itself reduces or cancels: requests like a user's, without a sender. While one is pending the
// order is in flight, so nothing else of the node touches it (AR-04).

class Reductions {
  readonly #pending: PendingRequests;
  readonly #sink: OrderSink;
  #onTheWay = 0;

  constructor(pending: PendingRequests, sink: OrderSink) {
    this.#pending = pending;
    this.#sink = sink;
  }

  /** Sent, and not answered by their market. */
  get onTheWay(): number {
    return this.#onTheWay;
  }

  /** @returns false: the ring or the table of requests is full now. */
  reduce({ order, total }: Reduction): boolean {
    return this.#send(order, total, ORDER_END.autoReduced);
  }

  /** @returns false: the ring or the table of requests is full now. */
  cutReduceOnly({ order, total }: Cut): boolean {
    return this.#send(order, total, ORDER_END.reduceOnly);
  }

  /** @returns false: the ring or the table of requests is full now. */
  cancelUncovered(order: LiveOrder): boolean {
    return this.#send(order, 0, ORDER_END.marginInsufficient);
  }

  /**
   * @param clearing counts the answer.
   * @returns false: the ring or the table of requests is full now.
   */
  cancelLiquidated(order: LiveOrder, clearing: ReduceRequest['clearing']): boolean {
    return this.#send(order, 0, ORDER_END.liquidation, clearing);
  }

  answered(): void {
    this.#onTheWay -= 1;
  }

  #send(order: LiveOrder, total: number, end: OrderEnd, clearing: ReduceRequest['clearing'] = null): boolean {
    if (!this.#pending.hasRoomFor('reduce')) return false;
    const { user, orderId } = order;
    const { marketIndex, assetId } = order.market.definition;
    const requestId = this.#pending.nextId;
    if (!this.#sink.reduce({ requestId, marketIndex, assetId, user, orderId, total, end })) return false;
    this.#pending.add({ kind: 'reduce', order, clearing });
    order.requests += 1;
    this.#onTheWay += 1;
    return true;
  }
}

interface MarginSideParts {
  readonly accounts: Accounts;
  readonly markets: Markets;
  readonly holds: Holds;
  readonly updates: UpdateCount;
  readonly pending: PendingRequests;
  readonly sink: OrderSink;
  readonly orders: LiveOrders;
}

export class MarginSide {
  readonly assets: AssetRisks = new AssetRisks(DEFAULT_ORDER_SETTINGS.marketOrderBand);
  readonly accounts: UserMarginAccounts;
  readonly check: MarginCheck;
  readonly reductions: Reductions;
  readonly #kinds: Accounts;
  readonly #markets: Markets;
  readonly #autoReduce: AutoReduce;
  readonly #excess: ReduceOnlyExcess;
  readonly #sources: MarginSources;
  readonly #view: MarginView;
  #settings: OrderSettings = DEFAULT_ORDER_SETTINGS;
  /** Orders of a start are still coming: what an account has is not all there. */
  #isRestoring = false;

  constructor({ accounts, markets, holds, updates, pending, sink, orders }: MarginSideParts) {
    const { assets } = this;
    this.#kinds = accounts;
    this.#markets = markets;
    this.accounts = new UserMarginAccounts({ holds, assets, updates });
    this.check = new MarginCheck(accounts, this.accounts);
    this.reductions = new Reductions(pending, sink);
    this.#autoReduce = new AutoReduce(accounts, this.accounts, {
      orders,
      reduce: (reduction) => this.reductions.reduce(reduction),
    });
    this.#excess = new ReduceOnlyExcess(orders, this.accounts, (cut) => this.reductions.cutReduceOnly(cut));
    this.#sources = { accounts, margins: this.accounts, markets, assets };
    this.#view = new MarginView(this.#sources);
  }

  // ---- events of clearing, all of them flushed

  /** Absolute, like a balance. */
  onPositionChanged(word: PositionUpdate): void {
    this.accounts.setPosition(word);
  }

  /** The position of this account has shrunk without its user (MON-09). */
  onForced(user: UserId, subAccount: number, asset: AssetId): void {
    const position = this.accounts.find(user, subAccount)?.find(asset);
    if (position === undefined || position.reduceOnly === null) return;
    position.forcedThrough = Number.POSITIVE_INFINITY;
    position.account.reduceOnlyChanged(position);
  }

  /** The market has answered a reduction or a cancel of the node. */
  reduceAnswered(order: LiveOrder): void {
    this.reductions.answered();
    this.#excess.answered(order);
  }

  onOraclePrice(asset: AssetId, price: PriceSource): void {
    this.assets.setOracle(asset, price);
  }

  /** A market's last confirmed price, and what all users have open in its asset. */
  onMarketRisk(word: { readonly marketIndex: number } & Pick<AssetMarks, 'mark' | 'interest' | 'holdings'>): void {
    this.assets.setTrading(this.#markets.at(word.marketIndex).definition.assetId, word);
  }

  onRiskChanged(asset: AssetId, risk: RiskTerms): void {
    this.assets.setRisk(asset, risk);
  }

  onSettingsChanged(settings: OrderSettings): void {
    this.#settings = settings;
    this.check.minimum = settings.preflightMinimum;
    this.assets.marketOrderBand = settings.marketOrderBand;
  }

  /** An order of a start has come; `onRestored` follows the last. */
  onOrderRestored(): void {
    this.#isRestoring = true;
  }

  /** Every order of a start has come. Restored prices may be old: no order is reduced for them. */
  onRestored(): void {
    this.#isRestoring = false;
    this.assets.awaitPrices();
  }

  // ---- at every turn

  /**
   * Every turn: orders of accounts with a negative capacity are reduced (AR-01), and reduce-only ones that exceed their
   * position (MON-09).
   *
   * @returns whether there is more to look at: the next turn should not wait for something to happen.
   */
  reduceOrders(now: TimestampNs): boolean {
    if (this.#isRestoring) return false;
    this.assets.refresh(now);
    const isCut = this.#autoReduce.look(this.#settings, now);
    const isCutting = this.#excess.look();
    return isCut || isCutting;
  }

  // ---- reads

  hasAccount(user: UserId, subAccount: number): boolean {
    return this.#kinds.find(user, subAccount) !== undefined;
  }

  isMarginAccount(user: UserId, subAccount: number): boolean {
    return this.#kinds.isMargin(user, subAccount);
  }

  /** What is left for more risk in a margin-type account (MRG-16); 0 in any other. */
  capacity(user: UserId, subAccount: number, now: TimestampNs): Amount18 {
    if (!this.isMarginAccount(user, subAccount)) return ZERO_18;
    this.assets.refresh(now);
    return this.accounts.peek(user, subAccount).capacity();
  }

  /** The margin requirement of the orders of a margin-type account by side (AMB-47). */
  requirements(user: UserId, subAccount: number, now: TimestampNs): Requirements {
    this.assets.refresh(now);
    return this.accounts.peek(user, subAccount).requirements();
  }

  /** Margin-type accounts as they are read at `now`. */
  view(now: TimestampNs): MarginView {
    this.assets.refresh(now);
    return this.#view;
  }

  /** A simulated trade (SIM-01). @returns INVALID_REQUEST, MARKET_NOT_FOUND. */
  simulate(trial: Trial, now: TimestampNs): Outcome<SimulationView> {
    this.assets.refresh(now);
    return simulate(this.#sources, this.#settings.preflightMinimum, trial);
  }
}
