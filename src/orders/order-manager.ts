/**
 * The order manager: the front door's side of every order, on one thread (design: the road of an order).
 *
 *   request ─check─▶ (caller verifies the signature) ─reserve: hold, request id─▶ market ─ack─▶ answer
 *                                                            market, clearing ─words─▶ order events, fills
 *
 * Between check and reserve time passes; what may have changed meanwhile is checked again when the hold is taken. The
 * caller makes sure that the market's ring has room before it reserves, so nothing is ever taken back.
 *
 * Invariants
 *   (1) No request goes to a market without its hold (AMB-112); a refused replace leaves the order untouched (RPL-07).
 *   (2) Every reserved request is answered once.
 *   (3) A refusal by this file sends no event; one that comes after it does (AMB-128).
 *
 * Not here: JSON, signatures, rates, rings.
 */

import type { BalanceRow, OrderRow, SubAccountRow, UserRow } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import { type OrderId, USD, type UserId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { MARKET_STATUS, SIDE } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { pascalCase, type Reject, type RejectName, reject, rejectName } from '../core/reject.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { OrderRecordView } from '../wire/order-record.ts';
import type { CancelRequest } from '../wire/signed-cancel.ts';
import type { CreateRequest } from '../wire/signed-order.ts';
import type { ReplaceRequest } from '../wire/signed-replace.ts';
import { Accounts } from './accounts.ts';
import { availableOf, type BalanceKey, Holds } from './holds.ts';
import { type InventoryBody, inventoryOf } from './inventory.ts';
import { type LiveOrder, LiveOrders, needOf, needWith, newLiveOrder, type ReplaceOnItsWay } from './live-orders.ts';
import { type MarketSlot, Markets } from './markets.ts';
import {
  type EndedWord,
  type FillConfirmed,
  type FillRolledBack,
  OrderBookView,
  type OrderWord,
  type ReplacedWord,
} from './order-book-view.ts';
import type { OrderSink, UserTrade } from './order-events.ts';
import type { OrderHistory } from './order-history.ts';
import { statusOf, statusOfLive } from './order-life.ts';
import {
  type OrderPageQuery,
  orderById,
  orderPage,
  type Page,
  type PageQuery,
  type PageSources,
  tradePage,
} from './pages.ts';
import {
  checkCancel,
  checkCreate,
  checkNewQuantity,
  checkOpenOrders,
  checkReplace,
  marketHalted,
  type PreFlightView,
  type PreparedCreate,
} from './pre-flight.ts';
import { type Request, Requests } from './requests.ts';
import { DEFAULT_SETTINGS, type OrderSettings } from './settings.ts';
import { Tail } from './tail.ts';
import type { Match } from './trade-view.ts';

/** A replace that passed; null members stay as they are. */
export interface PreparedReplace {
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly timestampNs: TimestampNs;
  readonly newPrice: RawPrice | null;
  readonly newQuantity: RawQuantity | null;
}

export interface PreparedCancel {
  readonly market: MarketSlot;
  readonly user: UserId;
  readonly orderId: OrderId;
}

/** Who asks, when, and whether the order is looked up first: on REST, not on the control channel (AMB-92, CTL-04). */
export interface Caller {
  readonly user: UserId;
  readonly now: TimestampNs;
  readonly looksUp: boolean;
}

/** The market's word on a create. */
export interface AdmittedWord {
  readonly requestId: number;
  readonly marketIndex: number;
  /** The order's name from here on. */
  readonly sequence: number;
  readonly timeNs: TimestampNs;
  /** 0, or WOULD_CROSS: a crossing post-only, which leaves a record (AMB-16). */
  readonly refusal: number;
}

/** The market's answer to a request. */
export interface MarketAck {
  readonly requestId: number;
  readonly marketIndex: number;
  /** The market sequence that the answer rests on; 0 when nothing changed. */
  readonly sequence: number;
  readonly timeNs: TimestampNs;
  /** 0, or a reject code. */
  readonly rejectCode: number;
}

/** A live order as clearing kept it at a restart. */
export type RestoredOrder = Omit<OrderRow, 'end' | 'faultReason' | 'verdict' | 'text' | 'signature'>;

/** All in 10^-18 units of the asset; available = owned − the others. */
export interface Funds {
  readonly owned: bigint;
  readonly held: bigint;
  readonly pending: bigint;
  readonly settling: bigint;
  readonly available: bigint;
}

const NO_FUNDS = { owned: 0n, held: 0n, pending: 0n, settling: 0n };

interface CreateOnItsWay {
  readonly order: LiveOrder;
  readonly text: Uint8Array;
  readonly signature: Uint8Array;
}

export interface OrderManagerParts {
  readonly sink: OrderSink;
  readonly history: OrderHistory;
}

export class OrderManager {
  readonly #markets = new Markets();
  readonly #accounts = new Accounts();
  readonly #holds = new Holds();
  readonly #orders = new LiveOrders();
  readonly #tail = new Tail(this.#orders);
  readonly #creates = new Map<number, CreateOnItsWay>();
  readonly #sink: OrderSink;
  readonly #requests: Requests;
  readonly #book: OrderBookView;
  readonly #pages: PageSources;
  #settings: OrderSettings = DEFAULT_SETTINGS;

  constructor(parts: OrderManagerParts) {
    this.#sink = parts.sink;
    this.#requests = new Requests(parts.sink);
    const shared = { orders: this.#orders, tail: this.#tail };
    this.#book = new OrderBookView({ ...shared, holds: this.#holds, sink: parts.sink });
    this.#pages = { ...shared, markets: this.#markets, history: parts.history };
  }

  // ---- create

  /** Everything before the signature. The order of checks and the rejects: pre-flight.ts. */
  checkCreate(request: CreateRequest, caller: Caller): Outcome<PreparedCreate> {
    return checkCreate(this.#view(), request, caller.user, caller.now);
  }

  /**
   * Takes the hold, after the signature was verified and while the market's ring has room.
   *
   * @returns the request id; rejects MARKET_HALTED, TOO_MANY_OPEN_ORDERS, DUPLICATE_ORDER, SERVICE_UNAVAILABLE,
   *   INSUFFICIENT_INVENTORY.
   */
  reserveCreate(prepared: PreparedCreate, now: TimestampNs): Outcome<number> {
    const { market, terms, price, quantity, text, signature } = prepared;
    const { marketIndex, assetId, status } = market.definition;
    if (status !== MARKET_STATUS.active) return marketHalted();
    const cap = checkOpenOrders(this.#view(), terms.user, terms.subAccount, market);
    if (!cap.ok) return cap;
    const known = this.#orders.find(terms.user, marketIndex, terms.orderId);
    // An id on its way may still be refused; then the next create with it may pass. The market decides.
    if (known !== undefined && known.sequence !== 0) return rejected(duplicateOrder());
    if (!this.#requests.hasRoomFor('create')) return rejected(busy());
    const asset = terms.side === SIDE.buy ? USD : assetId;
    const key = { user: terms.user, subAccount: terms.subAccount, asset };
    if (needOf({ terms, market }, price, quantity) > this.#holds.available(key)) return rejected(insufficient());

    // After this point the command must succeed.
    const order = newLiveOrder({ terms, market, balance: this.#holds.balance(key), price, quantity }, now);
    order.requests = 1;
    this.#book.add(order);
    const { user, orderId } = terms;
    const requestId = this.#requests.add({ kind: 'create', user, orderId, market, order, replace: null });
    this.#creates.set(requestId, { order, text, signature });
    return accepted(requestId);
  }

  // ---- replace

  /** Everything before the signature, the look-up included (RPL-11, AMB-23). */
  checkReplace(request: ReplaceRequest, caller: Caller): Outcome<PreparedReplace> {
    const checked = checkReplace(this.#view(), request, caller.user, caller.now);
    if (!checked.ok) return checked;
    const market = checked.value;
    const { orderId, timestampNs, newPriceLimit, newQuantity } = request.request;
    const order = this.#orders.find(caller.user, market.definition.marketIndex, orderId);
    const figures = checkNewQuantity(market, request, order);
    if (!figures.ok) return figures;
    const missing = caller.looksUp ? this.#missing(market, caller.user, orderId) : null;
    if (missing !== null) return rejected(missing);
    return accepted({ market, user: caller.user, orderId, timestampNs, newPrice: newPriceLimit, newQuantity });
  }

  /**
   * Takes what the replaced order would need beyond what the order holds.
   *
   * @returns the request id; rejects MARKET_HALTED, SERVICE_UNAVAILABLE, INSUFFICIENT_INVENTORY, the order untouched.
   */
  reserveReplace(prepared: PreparedReplace): Outcome<number> {
    const { market, user, orderId, newPrice, newQuantity } = prepared;
    if (market.definition.status !== MARKET_STATUS.active) return marketHalted();
    if (!this.#requests.hasRoomFor('replace')) return rejected(busy());
    const order = this.#orders.find(user, market.definition.marketIndex, orderId) ?? null;
    if (order === null) {
      return accepted(this.#requests.add({ kind: 'replace', user, orderId, market, order, replace: null }));
    }
    const replace: ReplaceOnItsWay = { price: newPrice ?? order.price, quantity: newQuantity ?? order.quantity };
    const more = needWith(order, replace) - order.held;
    if (more > 0n && more > availableOf(order.balance)) return rejected(insufficient());

    // After this point the command must succeed.
    order.replaces = [...order.replaces, replace];
    order.requests += 1;
    this.#book.rehold(order);
    return accepted(this.#requests.add({ kind: 'replace', user, orderId, market, order, replace }));
  }

  // ---- cancel

  /** Everything before the signature, the look-up included (CAN-03, AMB-23). */
  checkCancel(request: CancelRequest, caller: Caller): Outcome<PreparedCancel> {
    const checked = checkCancel(this.#view(), request, caller.user, caller.now);
    if (!checked.ok) return checked;
    const { orderId } = request.cancel;
    const missing = caller.looksUp ? this.#missing(checked.value, caller.user, orderId) : null;
    return missing === null ? accepted({ market: checked.value, user: caller.user, orderId }) : rejected(missing);
  }

  /** @returns the request id; rejects SERVICE_UNAVAILABLE. */
  reserveCancel(prepared: PreparedCancel): Outcome<number> {
    const { market, user, orderId } = prepared;
    if (!this.#requests.hasRoomFor('cancel')) return rejected(busy());
    const order = this.#orders.find(user, market.definition.marketIndex, orderId) ?? null;
    if (order !== null) order.requests += 1;
    return accepted(this.#requests.add({ kind: 'cancel', user, orderId, market, order, replace: null }));
  }

  // ---- the market's word

  /** Comes before or after the answer to the create. */
  onAdmitted(word: AdmittedWord): void {
    this.#heard(word);
    const { order, text, signature } = must(this.#creates.get(word.requestId), 'an admitted order was on its way');
    this.#creates.delete(word.requestId);
    if (word.refusal === 0) this.#book.admitted(order, word.sequence, word.timeNs, { text, signature });
    else this.#book.admittedAndCancelled(order, word.sequence, word.timeNs);
  }

  onMatched(match: Match): void {
    this.#book.matched(this.#heard(match), match);
  }

  onReplaced(word: ReplacedWord): void {
    this.#book.replaced(this.#heard(word), word);
  }

  onRestored(word: OrderWord): void {
    this.#book.restored(this.#heard(word), word);
  }

  onEnded(word: EndedWord): void {
    this.#book.ended(this.#heard(word), word);
  }

  /** Every request gets one; the words it caused come before it, except that a create's admission may come after. */
  onAck(ack: MarketAck): void {
    const request = this.#requests.take(ack.requestId);
    const { order, replace, market, orderId } = request;
    if (order !== null) order.requests -= 1;
    if (order !== null && replace !== null) {
      order.replaces = order.replaces.filter((other) => other !== replace);
      this.#book.rehold(order);
    }
    const code = ack.rejectCode === 0 ? null : must(rejectName(ack.rejectCode), 'the market refuses with a known code');
    if (code !== null) this.#refused(request, ack.requestId, code);
    const refusal = code === null ? null : reject(code, REFUSAL_TEXT[code] ?? 'refused by the market');
    const { assetId } = market.definition;
    const result = { orderId, assetId, reject: refusal, processedNs: ack.timeNs };
    if (this.#settings.acks === 'optimistic') this.#sink.ack(ack.requestId, result);
    else this.#requests.tellWhenDecided(market, { requestId: ack.requestId, sequence: ack.sequence, result });
  }

  /** A held cancel met no create in its time (AMB-25). */
  onHeldCancelExpired(word: { readonly marketIndex: number; readonly user: UserId; readonly orderId: OrderId }): void {
    const { assetId } = this.#markets.at(word.marketIndex).definition;
    const reason = pascalCase('ORDER_NOT_FOUND');
    this.#sink.orderEvent(word.user, { kind: 'CancelFailed', orderId: word.orderId, assetId, reason });
  }

  // ---- clearing's word, all of it flushed

  onFillConfirmed(word: FillConfirmed): void {
    this.#book.confirmed(this.#markets.at(word.marketIndex), word);
  }

  onFillRolledBack(word: FillRolledBack): void {
    this.#book.rolledBack(this.#markets.at(word.marketIndex), word);
  }

  /** Absolute; it contains every fill confirmed before it, and comes after those that changed it. */
  onBalanceChanged(row: BalanceRow): void {
    this.#holds.setOwned(row, row.owned);
  }

  /** Everything of the market up to `sequence` is decided and flushed. */
  onMarketDecided(word: { readonly marketIndex: number; readonly sequence: number }): void {
    const market = this.#markets.at(word.marketIndex);
    if (word.sequence <= market.decidedSequence) return;
    market.decidedSequence = word.sequence;
    this.#requests.marketDecided(market);
    this.#tail.marketDecided(market);
  }

  /**
   * @param flushed.sequence the journal is flushed through it, and everything it decided has been told.
   * @param flushed.checkpoint the last sequence that the tables reflect.
   */
  onJournalFlushed(flushed: { readonly sequence: number; readonly checkpoint: number }): void {
    this.#tail.journalFlushed(flushed.sequence, flushed.checkpoint);
  }

  onUserChanged(row: Pick<UserRow, 'user' | 'isMarketMaker'>): void {
    this.#accounts.setUser(row);
  }

  onSubAccountChanged(row: SubAccountRow): void {
    this.#accounts.setSubAccount(row);
  }

  /** A market appeared or changed; holds follow its taker rate. */
  onMarketChanged(definition: MarketDefinition): void {
    const market = this.#markets.set(definition);
    for (const order of market.orders.values()) this.#book.rehold(order);
    for (const { order } of this.#creates.values()) this.#book.rehold(order);
  }

  onSettingsChanged(settings: OrderSettings): void {
    this.#settings = settings;
    if (settings.acks === 'optimistic') this.#requests.tellAll();
  }

  /** At a restart: a live order with its confirmed fills. Its market and balances are known; no event is owed. */
  restoreOrder(row: RestoredOrder): void {
    const market = this.#markets.at(row.marketIndex);
    const { user, subAccount, orderId, side, tif, flags, creationNs, goodUntilNs, price, quantity } = row;
    const asset = side === SIDE.buy ? USD : market.definition.assetId;
    const balance = this.#holds.balance({ user, subAccount, asset });
    const terms = { user, subAccount, orderId, side, tif, flags, creationNs, goodUntilNs };
    const order = newLiveOrder({ terms, market, balance, price, quantity }, row.lastUpdateNs);
    order.timestampNs = row.timestampNs;
    order.confirmed.quantity = row.filledQuantity;
    order.confirmed.notional = row.filledNotional;
    order.confirmed.fees = row.fees;
    this.#book.add(order);
    this.#orders.admit(order, row.orderSequence);
  }

  /** At a restart: where the market stood, all of it flushed. */
  restoreMarket(definition: MarketDefinition, sequence: number): void {
    const market = this.#markets.set(definition);
    market.seenSequence = sequence;
    market.decidedSequence = sequence;
  }

  // ---- reads

  orderPage(query: OrderPageQuery): Page<OrderRecordView> {
    return orderPage(this.#pages, query);
  }

  order(key: {
    readonly user: UserId;
    readonly marketIndex: number;
    readonly orderId: OrderId;
  }): OrderRecordView | undefined {
    return orderById(this.#pages, key);
  }

  tradePage(query: PageQuery): Page<UserTrade> {
    return tradePage(this.#pages, query);
  }

  inventory(user: UserId, subAccounts: readonly number[] | null): InventoryBody {
    return inventoryOf({ accounts: this.#accounts, holds: this.#holds }, user, subAccounts);
  }

  /** A spot balance with what is set aside from it, as pre-flight sees it. */
  funds(key: BalanceKey): Funds {
    const { owned, held, pending, settling } = this.#holds.find(key) ?? NO_FUNDS;
    return { owned, held, pending, settling, available: owned - held - pending - settling };
  }

  /** For metrics. */
  get requestsOnTheWay(): number {
    return this.#requests.count;
  }

  /** For metrics: orders on their way, live, and finished ones that no announced checkpoint holds. */
  get ordersInMemory(): number {
    return this.#orders.count;
  }

  /** For metrics: sides of confirmed trades that no announced checkpoint holds. */
  get tailTrades(): number {
    return this.#tail.tradeCount;
  }

  // ---- helpers

  #view(): PreFlightView {
    return {
      markets: this.#markets,
      accounts: this.#accounts,
      settings: this.#settings,
      openCount: (user, subAccount, marketIndex) => this.#orders.openCount(user, subAccount, marketIndex),
    };
  }

  #heard(word: { readonly marketIndex: number; readonly sequence: number }): MarketSlot {
    const market = this.#markets.at(word.marketIndex);
    if (word.sequence > market.seenSequence) market.seenSequence = word.sequence;
    return market;
  }

  /** Why a REST request about this order cannot go on: cancelled 409, otherwise finished or unknown 404 (AMB-23). */
  #missing(market: MarketSlot, user: UserId, orderId: OrderId): Reject | null {
    const { marketIndex } = market.definition;
    const order = this.#orders.find(user, marketIndex, orderId);
    if (order !== undefined && !order.isTold) return null;
    const row = order ?? this.#pages.history.read((snapshot) => snapshot.findOrder(user, marketIndex, orderId));
    if (row === undefined) return reject('ORDER_NOT_FOUND', 'there is no such order');
    const status = 'isTold' in row ? statusOfLive(row) : statusOf(row);
    return status === 'Canceled'
      ? reject('ALREADY_CANCELLED', 'the order has been cancelled')
      : reject('ORDER_NOT_FOUND', 'the order is finished');
  }

  /** What passed this door and was refused behind it. A crossing post-only tells its own `Canceled` (AMB-16, AMB-19). */
  #refused(request: Request, requestId: number, code: RejectName): void {
    if (code === 'WOULD_CROSS') return;
    const { kind, user, orderId, order, market } = request;
    if (kind === 'create') {
      this.#creates.delete(requestId);
      this.#book.drop(must(order, 'a create has its order'));
    }
    const { assetId } = market.definition;
    const reason = pascalCase(code);
    this.#sink.orderEvent(user, { kind: FAILED[kind], orderId, assetId, reason });
  }
}

const FAILED = { create: 'CreateFailed', replace: 'ReplaceFailed', cancel: 'CancelFailed' } as const;

const REFUSAL_TEXT: Readonly<Partial<Record<RejectName, string>>> = {
  WOULD_CROSS: 'a post-only order would have matched',
  DUPLICATE_ORDER: 'the order id is taken',
  ORDER_NOT_FOUND: 'there is no such order',
  ALREADY_CANCELLED: 'the order has been cancelled',
  REQUEST_TOO_OLD: 'a newer request was applied',
  ORDER_EXPIRED: 'the order has expired',
  MARKET_HALTED: 'the market takes no new orders',
};

function duplicateOrder(): Reject {
  return reject('DUPLICATE_ORDER', 'the order id is taken', 'order_id');
}

function insufficient(): Reject {
  return reject('INSUFFICIENT_INVENTORY', 'the available balance does not cover the order');
}

function busy(): Reject {
  return reject('SERVICE_UNAVAILABLE', 'too many requests are on their way');
}
