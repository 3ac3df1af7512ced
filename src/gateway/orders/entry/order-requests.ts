/**
 * Order requests: validated before their signature, reserved after it, answered when their market has answered.
 *
 *   request ─check─▶ (signature verified by the caller) ─reserve: hold, request id─▶ market ─onAck─▶ sender
 *
 * Between check and reserve time passes; what may have changed meanwhile is checked again when the hold is taken. The
 * caller checks that the market's ring is not full before it reserves, so nothing is ever taken back.
 *
 * Invariants
 *   (1) No request goes to a market without its hold (AMB-112); a refused replace leaves the order untouched (RPL-07).
 *   (2) A refusal before the market sends no event, a refusal by the market does (AMB-128).
 *   (3) Every reserved request is answered once; a cancel-all, which was answered when it was sent, never (CAN-11).
 *
 * Not here: the rules on a request's own text (pre-flight.ts), signatures, rings.
 */

import type { ActionHops } from '../../../codec/hop-times.ts';
import type { QuoteOutcome } from '../../../codec/operation-replies.ts';
import type { AmendRequest, CancelRequest, CreateRequest, ReplaceRequest } from '../../../codec/order-actions.ts';
import { assert, must } from '../../../core/assert.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../../core/ids.ts';
import { ORDER_LIFE_NS } from '../../../core/limits.ts';
import { MARKET_STATUS, ORDER_FLAG, ORDER_KIND, revisionOf, SIDE, TRIGGER } from '../../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { pascalCase, type Reject, type RejectName, reject, rejectName } from '../../../core/reject.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import { NO_BOUND } from '../../../order/order-codec.ts';
import { budgetOf, isUnbounded, quote18, reservationOfNew } from '../../../risk/reservation.ts';
import type { Accounts } from '../balances/accounts.ts';
import { availableIn } from '../balances/balance.ts';
import type { Holds } from '../balances/holds.ts';
import { holdFor, spendWith } from '../balances/spending.ts';
import { filledOf, isSpot, type LiveOrder, type PendingReplace, settleMembership } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { MarketSlot, Markets } from '../book/markets.ts';
import type { OrderBookView } from '../book/order-book-view.ts';
import type { MarketAckEvent, OrderSink } from '../book/order-events.ts';
import { statusOf, statusOfLive } from '../book/order-life.ts';
import type { QuoteSetAppliedEvent } from '../book/quote-set-view.ts';
import type { LiveQuoteSet, LiveQuoteSets } from '../book/quote-sets.ts';
import type { OrderHistory } from '../history/order-history.ts';
import type { MarginSide } from '../margin/margin-side.ts';
import { DEFAULT_ORDER_SETTINGS, type OrderSettings } from '../settings.ts';
import { CancelMarks } from './cancel-marks.ts';
import type { Membership } from './disconnect-group.ts';
import {
  type ActionAnswer,
  type EntryReply,
  NO_SKIPS,
  type OrderRequest,
  type PendingRequests,
  type PreparedAmend,
  type PreparedCancel,
  type PreparedCreate,
  type PreparedReplace,
  type QuoteRequest,
  type Request,
  type SentRequest,
  UNANSWERED,
} from './pending-requests.ts';
import {
  checkAmend,
  checkAmended,
  checkCancel,
  checkCreate,
  checkNewFigures,
  checkNewTrigger,
  checkOpenOrders,
  checkReplace,
  marketHalted,
  type PreFlightView,
  protectionSlot,
  triggerKindOf,
} from './pre-flight.ts';
import type { ProtectionGroups } from './protection-groups.ts';
import { QuoteRequests } from './quote-requests.ts';

// What requests are refused with when they have passed the checks on their own text: here, or by the market.

const DUPLICATE_ORDER: Reject = reject('DUPLICATE_ORDER', 'the order id is taken', 'order_id');
const INSUFFICIENT: Reject = reject('INSUFFICIENT_INVENTORY', 'the available balance does not cover the order');
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many requests are on their way');
const TOO_MANY_OWN: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'too many requests of this user are on their way, try again',
);
const CONTESTED: Reject = reject('SERVICE_UNAVAILABLE', 'several orders with this id are on their way', 'order_id');
const QUOTE_ENTRY: Reject = reject('QUOTE_ENTRY', 'an entry of a quote set is changed by its set', 'order_id');
const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market');

const MARKET_TEXT: Readonly<Partial<Record<RejectName, string>>> = {
  WOULD_CROSS: 'a post-only order would have matched',
  DUPLICATE_ORDER: 'the order id is taken',
  ORDER_NOT_FOUND: 'there is no such order',
  ALREADY_CANCELLED: 'the order has been cancelled',
  REQUEST_TOO_OLD: 'a newer request was applied',
  ORDER_EXPIRED: 'the order has expired',
  MARKET_HALTED: 'the market takes no new orders',
  INVALID_ORDER: 'the order cannot be changed so',
  TOO_MANY_QUOTES: 'four quote sets of yours are in force in this market',
  QUOTE_ENTRY: 'an entry of a quote set is changed by its set',
  MMP_FROZEN: 'the protection group is frozen',
  REDUCE_ONLY_WOULD_INCREASE: 'there is nothing to take, and older orders have the whole position',
};

/**
 * Why a market refuses a create: the parent does not exist, may not have this child or has too many, or the price level
 * is full.
 */
const CREATE_TEXT: Readonly<Partial<Record<RejectName, string>>> = {
  ORDER_NOT_FOUND: 'there is no such parent order',
  INVALID_ORDER: 'the parent may not have this child, or the price level is full',
  TOO_MANY_OPEN_ORDERS: 'the parent has as many children as it may have',
};

const AMEND_TEXT: Readonly<Partial<Record<RejectName, string>>> = {
  ORDER_REVISION_MISMATCH: 'the order was changed since, or has another revision',
  REQUEST_TOO_OLD: 'the timestamp is not above the revision of the order',
};

/** The market's refusal of a request. */
function marketRefusal(kind: Request['kind'], code: RejectName, order: LiveOrder | null): Reject {
  if (kind === 'amend') return amendRefusal(code, order);
  const text = (kind === 'create' ? CREATE_TEXT[code] : undefined) ?? MARKET_TEXT[code] ?? 'refused by the market';
  // The market refuses for its room only an order that could rest with nothing (src/matching/room.ts).
  if (code === 'REDUCE_ONLY_WOULD_INCREASE')
    return { ...reject(code, text, 'reduce_only'), details: { max_quantity: 0 } };
  return reject(code, text, kind === 'create' && code === 'ORDER_NOT_FOUND' ? 'parent_order_id' : undefined);
}

/** @param order as it is at the market, which sends its changes before its answer; null where it is unknown. */
function amendRefusal(code: RejectName, order: LiveOrder | null): Reject {
  if (code === 'INVALID_ORDER')
    return reject(code, 'the total is not below the one in force, or may not change', 'new_quantity');
  const field = code === 'REQUEST_TOO_OLD' ? 'timestamp_ns' : undefined;
  const refusal = reject(code, AMEND_TEXT[code] ?? MARKET_TEXT[code] ?? 'refused by the market', field);
  if (code !== 'ORDER_REVISION_MISMATCH') return refusal;
  return { ...refusal, details: { authorization_revision: order === null ? null : revisionOf(order) } };
}

/** The session's user, the time, and whether the order is looked up first: on REST, not on `/control` (AMB-92, CTL-04). */
export interface Caller {
  readonly user: UserId;
  readonly now: TimestampNs;
  readonly looksUp: boolean;
}

const NO_MARGIN: Reject = reject('INSUFFICIENT_MARGIN', 'the user has neither a balance nor a position');

interface OrderRequestsParts {
  readonly markets: Markets;
  readonly accounts: Accounts;
  readonly holds: Holds;
  readonly orders: LiveOrders;
  readonly pending: PendingRequests;
  readonly book: OrderBookView;
  readonly history: OrderHistory;
  readonly margin: MarginSide;
  readonly sets: LiveQuoteSets;
  readonly protections: ProtectionGroups;
  readonly sink: OrderSink;
}

export class OrderRequests {
  settings: OrderSettings = DEFAULT_ORDER_SETTINGS;
  /** Whether this leader's lease is over: answers wait for the flush then, and so for the stream (cluster.md 7.4). */
  isStalled: () => boolean = () => false;
  /** Quote sets. */
  readonly quotes: QuoteRequests;
  readonly #parts: OrderRequestsParts;
  /** What the checks before the signature look at. */
  readonly #view: PreFlightView;
  readonly #cancelMarks = new CancelMarks();

  constructor(parts: OrderRequestsParts) {
    this.#parts = parts;
    this.#view = this.#viewOf(parts);
    this.quotes = new QuoteRequests({ ...parts, view: this.#view, cancelMarks: this.#cancelMarks });
  }

  #viewOf({ markets, accounts, holds, orders, margin, protections }: OrderRequestsParts): PreFlightView {
    const settings = (): OrderSettings => this.settings;
    return {
      markets,
      accounts,
      protections,
      assets: margin.assets,
      get settings() {
        return settings();
      },
      isFunded: (user) => holds.funded.has(user),
      isMarketMaker: (user) => accounts.isMarketMaker(user),
      openCountOf: (user) => orders.openCountOf(user),
      openCountOfAll: () => orders.openCountOfAll,
      openCount: (user, subAccount, marketIndex) => orders.openCount(user, subAccount, marketIndex),
      reducibleLots: (user, subAccount, market, side) => margin.accounts.reducibleLots(user, subAccount, market, side),
    };
  }

  /** Requests in the table. */
  get count(): number {
    return this.#parts.pending.count;
  }

  /** Unanswered requests of users. */
  get unanswered(): number {
    return this.#parts.pending.unanswered;
  }

  /** Whether the request has no answer of its market. */
  isAtMarket(requestId: number): boolean {
    return this.#parts.pending.isAtMarket(requestId);
  }

  // ---- create

  /**
   * Everything before the signature. The order of checks and the rejects: pre-flight.ts.
   *
   * @param skips checks that an operator's test leaves out, so that clearing meets what it must refuse (operator-api.md 7.3).
   */
  checkCreate(request: CreateRequest, caller: Caller, skips: ReadonlySet<string> = NO_SKIPS): Outcome<PreparedCreate> {
    this.#parts.margin.assets.refresh(caller.now);
    return checkCreate(this.#view, request, caller, skips);
  }

  /**
   * Takes the hold, after the signature was verified and while the market's ring is not full.
   *
   * @returns the request id and the order, with what a market order without a bound of its own may spend (AMB-39); rejects
   *   MARKET_HALTED, TOO_MANY_OPEN_ORDERS, INVALID_ORDER, MMP_FROZEN, DUPLICATE_ORDER, SERVICE_UNAVAILABLE, INSUFFICIENT_INVENTORY,
   *   REDUCE_ONLY_WOULD_INCREASE, PRICING_UNAVAILABLE, INSUFFICIENT_MARGIN, PROTOCOL_CAP_EXCEEDED.
   */
  reserveCreate(
    prepared: PreparedCreate,
    now: TimestampNs,
    reply: EntryReply = UNANSWERED,
  ): Outcome<{ readonly requestId: number; readonly order: LiveOrder }> {
    const { market, terms, text, signature } = prepared;
    const { orders, pending, holds, book } = this.#parts;
    const { marketIndex, assetId, status } = market.definition;
    if (status !== MARKET_STATUS.active) return marketHalted();
    const { user, subAccount, orderId } = terms;
    const isParked = terms.triggerKind !== TRIGGER.none;
    const cap = checkOpenOrders(this.#view, { user, subAccount, marketIndex, isParked });
    if (!cap.ok) return cap;
    const group = protectionSlot(this.#parts, { user, marketIndex, group: prepared.protectionGroup }, now);
    if (!group.ok) return group;
    const known = orders.find(user, marketIndex, orderId);
    // An id on its way may still be refused; then the next create with it may pass. The market decides.
    if (known !== undefined && known.sequence !== 0 && !isForgotten(known, now)) return rejected(DUPLICATE_ORDER);
    if (!pending.hasRoomFor('create')) return rejected(BUSY);
    if (!this.#isWithinShare('create', user)) return rejected(TOO_MANY_OWN);
    const key = { user, subAccount, asset: terms.side === SIDE.buy ? USD : assetId };
    const fitting = isSpot(terms) ? this.#fitting(prepared, holds.available(key)) : 0;
    if (fitting === null && !prepared.skips.has('inventory')) return rejected(INSUFFICIENT);
    const budget = fitting ?? 0;
    const balance = isSpot(terms) ? holds.balance(key) : null;
    const order = orders.draft(prepared, budget, now);
    if (order === null) return rejected(BUSY);
    order.balance = balance;
    const fault = this.#marginFault(order, prepared);
    if (fault !== null) {
      orders.abandon(order);
      return rejected(fault);
    }

    // After this point the command must succeed.
    order.requests = 1;
    order.protectionGroup = group.value;
    book.add(order);
    const signed = { text, signature };
    const request: OrderRequest = {
      kind: 'create',
      user,
      orderId,
      market,
      order,
      replace: null,
      signed,
      membership: null,
      reply,
    };
    const requestId = pending.add(request);
    return accepted({ requestId, order });
  }

  /**
   * Takes an order that the node makes, past the checks of clients' orders: what it spends is the account's to lose, and
   * clearing judges its fills.
   *
   * @returns null: the table of requests or of orders is full, nothing was taken.
   */
  reserveNodeOrder(
    prepared: PreparedCreate,
    now: TimestampNs,
    reply: EntryReply,
  ): { readonly requestId: number; readonly order: LiveOrder } | null {
    const { orders, pending, holds, book, margin } = this.#parts;
    const { market, terms, text, signature } = prepared;
    const { user, orderId } = terms;
    assert((terms.flags & ORDER_FLAG.nodeMade) !== 0, 'only orders of the node pass without a check');
    const order = pending.hasRoomFor('cancel') ? orders.draft(prepared, 0, now) : null;
    if (order === null) return null;

    // After this point the command must succeed.
    if (isSpot(terms)) {
      const asset = terms.side === SIDE.buy ? USD : market.definition.assetId;
      order.balance = holds.balance({ user, subAccount: terms.subAccount, asset });
    }
    margin.assets.refresh(now);
    margin.check.place(order);
    assert(isSpot(terms) || order.exposure !== null, 'an order of the node on a position is of a margin account');
    order.requests = 1;
    book.add(order);
    const signed = { text, signature };
    const kind = 'create';
    const requestId = pending.add({
      kind,
      user,
      orderId,
      market,
      order,
      replace: null,
      signed,
      membership: null,
      reply,
    });
    return { requestId, order };
  }

  /**
   * Gives an order of a margin-type account its place, and a reduce-only one its room. @returns why it may not be sent,
   * or null.
   */
  #marginFault(order: LiveOrder, prepared: PreparedCreate): Reject | null {
    const { skips } = prepared;
    const { accounts, holds } = this.#parts;
    const margin = this.#parts.margin.check;
    const { user } = order;
    // Nothing is made for users who have nothing, and what waits comes from others only.
    const hasNothing = !holds.funded.has(user) && !accounts.isMarketMaker(user);
    if (hasNothing && !isSpot(order) && !skips.has('margin')) return NO_MARGIN;
    margin.place(order);
    const isUnweighed = order.exposure === null || order.exposure.queue === null || order.triggerKind !== TRIGGER.none;
    const unweighed = isUnweighed && !skips.has('margin') ? margin.unweighedFault(order) : null;
    if (unweighed !== null || order.exposure === null || order.triggerKind !== TRIGGER.none) return unweighed;
    const lots = order.kind === ORDER_KIND.marketQuote ? null : order.quantity;
    const own = skips.has('reduce_only') ? null : margin.roomOf(order);
    const reduceOnly = own === null ? null : margin.reduceOnlyFault(order, own, lots);
    // Between check and market others may have come: it is reserved once.
    if (own !== null && reduceOnly === null) prepared.room = own;
    if (reduceOnly !== null || skips.has('margin')) return reduceOnly;
    const fault = margin.admissionFault(order);
    // The market matches it no further than it was weighed.
    if (fault === null && order.kind !== ORDER_KIND.limit) order.price = order.exposure.bound as RawPrice;
    return fault;
  }

  /** @returns the budget, 0 for an order that needs none; null when what is available does not cover the order. */
  #fitting({ market, terms, price, quantity }: PreparedCreate, available: bigint): number | null {
    // What waits for its trigger reserves nothing (AMB-28), but comes from users only who have something.
    if (terms.triggerKind !== TRIGGER.none) return this.#parts.holds.funded.has(terms.user) ? 0 : null;
    const { definition } = market;
    const { side, kind, amount } = terms;
    if (!isUnbounded(terms, quantity)) {
      return reservationOfNew({ side, kind, amount, price, budget: 0 }, quantity, definition) > available ? null : 0;
    }
    const worstPrice = this.#parts.margin.assets.worstPrice(terms.side, market);
    const wanted = { lots: quantity, target: quote18(terms.amount, definition) };
    const budget = budgetOf(terms, quantity, definition, { available, worstPrice, wanted });
    return budget === 0 ? null : budget;
  }

  // ---- replace

  /** Everything before the signature, the look-up included (RPL-11, AMB-23). */
  checkReplace(request: ReplaceRequest, caller: Caller): Outcome<PreparedReplace> {
    this.#parts.margin.assets.refresh(caller.now);
    const checked = checkReplace(this.#view, request, caller.user, caller.now);
    if (!checked.ok) return checked;
    const market = checked.value;
    const { orderId, baseAsset, timestampNs, newPriceLimit, newQuantity, newTrigger } = request.request;
    const order = this.#parts.orders.find(caller.user, market.definition.marketIndex, orderId);
    if (order !== undefined && order.quoteSet !== 0) return rejected(QUOTE_ENTRY);
    const figures = checkNewFigures(market, request.request, order, this.#roomToRest(order));
    if (!figures.ok) return figures;
    const missing = caller.looksUp ? this.#missing(market, caller.user, orderId) : null;
    if (missing !== null) return rejected(missing);
    const condition = newTrigger?.condition ?? null;
    const prepared: PreparedReplace = {
      kind: 'replace',
      market,
      user: caller.user,
      orderId,
      timestampNs,
      newPrice: newPriceLimit,
      newQuantity,
      newTrigger: condition === null ? null : { kind: triggerKindOf(condition), price: condition.price },
      isComplete: baseAsset !== null,
      room: NO_BOUND,
    };
    // An order unknown here is the market's to judge.
    const trigger = order === undefined ? accepted(null) : checkNewTrigger(prepared, order);
    return trigger.ok ? accepted(prepared) : trigger;
  }

  /**
   * Takes what the replaced order would need beyond what the order holds. Its trigger may have fired since the check.
   *
   * @returns the request id; rejects MARKET_HALTED, SERVICE_UNAVAILABLE, INVALID_ORDER, INSUFFICIENT_INVENTORY,
   *   PRICING_UNAVAILABLE, INSUFFICIENT_MARGIN, REDUCE_ONLY_WOULD_INCREASE, the order untouched.
   */
  reserveReplace(prepared: PreparedReplace, reply: EntryReply = UNANSWERED): Outcome<number> {
    const { market, user, orderId, newPrice, newQuantity } = prepared;
    const { orders, pending, book } = this.#parts;
    if (market.definition.status !== MARKET_STATUS.active) return marketHalted();
    if (!pending.hasRoomFor('replace')) return rejected(BUSY);
    if (!this.#isWithinShare('replace', user)) return rejected(TOO_MANY_OWN);
    if (orders.isContested({ user, orderId }, market.definition.marketIndex)) return rejected(CONTESTED);
    const order = orders.find(user, market.definition.marketIndex, orderId) ?? null;
    if (order === null) return accepted(pending.add(requestOf('replace', prepared, order, null, reply)));
    const trigger = checkNewTrigger(prepared, order);
    if (!trigger.ok) return trigger;
    const replace = {
      price: newPrice ?? largestPrice(order),
      quantity: newQuantity ?? largestQuantity(order),
    };
    const more = holdFor(order, spendWith(order, replace)) - holdFor(order, order.spend);
    if (more > 0n && order.balance !== null && more > availableIn(order.balance)) return rejected(INSUFFICIENT);
    const fault = this.#replaceFault(order, replace, prepared);
    if (fault !== null) return rejected(fault);

    // After this point the command must succeed.
    // mutant: trigger-of-the-check
    prepared.newTrigger = trigger.value;
    order.replaces = [...order.replaces, replace];
    this.#parts.margin.accounts.retaken(order);
    order.requests += 1;
    book.rehold(order);
    return accepted(pending.add(requestOf('replace', prepared, order, replace, reply)));
  }

  /** Lots that a reduce-only order may have at rest; 0 of every other one, and of one that is not known here. */
  #roomToRest(order: LiveOrder | undefined): number {
    const room = order === undefined ? null : this.#parts.margin.check.roomOf(order);
    return room?.roomToRest ?? 0;
  }

  /**
   * Gives the replace of a reduce-only order its room.
   *
   * @returns what a replace that is let through would leave the order to reduce, or to weigh beyond what it covers (RPL-07).
   */
  #replaceFault(order: LiveOrder, replace: PendingReplace, prepared: PreparedReplace): Reject | null {
    const { check } = this.#parts.margin;
    const isUnweighed = order.exposure === null || order.exposure.queue === null || order.releasedQuantity === 0;
    const unweighed = isUnweighed && replace.quantity > order.quantity ? check.unweighedFault(order) : null;
    if (unweighed !== null || order.exposure === null) return unweighed;
    const left = replace.quantity - filledOf(order);
    const room = order.releasedQuantity === 0 || left <= 0 ? null : check.roomOf(order);
    const fault = room === null ? null : check.reduceOnlyFault(order, room, left);
    if (fault !== null) return fault;
    if (room !== null) prepared.room = room;
    return check.exposureFault(order, { replaces: [...order.replaces, replace] });
  }

  // ---- amend

  /** Everything before the market, the look-up included (AMB-23). What it lowers is looked at there alone. */
  checkAmend(request: AmendRequest, caller: Caller): Outcome<PreparedAmend> {
    const checked = checkAmend(this.#view, request, caller.user, caller.now);
    if (!checked.ok) return checked;
    const market = checked.value;
    const { orderId, timestampNs, expectedRevisionNs, newQuantity } = request.amend;
    const order = this.#parts.orders.find(caller.user, market.definition.marketIndex, orderId);
    if (order !== undefined && order.quoteSet !== 0) return rejected(QUOTE_ENTRY);
    const figures = checkAmended(market, request, order, this.#roomToRest(order));
    if (!figures.ok) return figures;
    const missing = caller.looksUp ? this.#missing(market, caller.user, orderId) : null;
    if (missing !== null) return rejected(missing);
    return accepted({
      ...{ kind: 'amend', market, user: caller.user, orderId, timestampNs },
      ...{ expectedRevisionNs, newQuantity },
    });
  }

  /** What the order holds is released when it was applied. @returns the request id; rejects SERVICE_UNAVAILABLE. */
  reserveAmend(prepared: PreparedAmend, reply: EntryReply = UNANSWERED): Outcome<number> {
    const { market, user, orderId } = prepared;
    const { orders, pending } = this.#parts;
    if (!pending.hasRoomFor('amend')) return rejected(BUSY);
    if (!this.#isWithinShare('amend', user)) return rejected(TOO_MANY_OWN);
    const order = orders.find(user, market.definition.marketIndex, orderId) ?? null;
    if (order !== null) order.requests += 1;
    return accepted(pending.add(requestOf('amend', prepared, order, null, reply)));
  }

  // ---- quote sets

  /** A set is in force, and what it did is applied here: the answer to its request. */
  onQuoteSetApplied(event: QuoteSetAppliedEvent & { readonly addCode: number }, outcome: QuoteOutcome): void {
    const request = this.#parts.pending.take(event.requestId);
    assert(request.kind === 'quotes', 'a market applies sets that were sent');
    request.reply.hops?.acknowledged();
    this.quotes.answered(request.set, request.terms, true);
    const code = event.addCode === 0 ? null : must(rejectName(event.addCode), 'a known code');
    const refusal = request.addFault ?? (code === null ? null : marketRefusal('quotes', code, null));
    this.#answer(request, event.sequence, { refusal, processedAtNs: event.timeNs, quotes: outcome });
  }

  // ---- cancel

  /** Everything before the signature, the look-up included (CAN-03, AMB-23). */
  checkCancel(request: CancelRequest, caller: Caller): Outcome<PreparedCancel> {
    const checked = checkCancel(this.#view, request, caller.user, caller.now);
    if (!checked.ok) return checked;
    const { orderId } = request.cancel;
    if (!this.#isWithinShare('cancel', caller.user)) return rejected(TOO_MANY_OWN);
    // A cancel waits for its create in the market; of a user who has nothing none can come (AMB-25).
    const looksUp = caller.looksUp || !this.#mayHaveOrders(caller.user);
    const missing = looksUp ? this.#missing(checked.value, caller.user, orderId) : null;
    return missing === null
      ? accepted({ kind: 'cancel', market: checked.value, user: caller.user, orderId })
      : rejected(missing);
  }

  /** @returns the request id; rejects SERVICE_UNAVAILABLE. */
  reserveCancel(prepared: PreparedCancel, reply: EntryReply = UNANSWERED): Outcome<number> {
    const { market, user, orderId } = prepared;
    const { orders, pending } = this.#parts;
    if (!pending.hasRoomFor('cancel')) return rejected(BUSY);
    const order = orders.find(user, market.definition.marketIndex, orderId) ?? null;
    if (order !== null) order.requests += 1;
    return accepted(pending.add(requestOf('cancel', prepared, order, null, reply)));
  }

  /** Whether `reserveCancel` will pass. */
  hasRoomForCancel(): boolean {
    return this.#parts.pending.hasRoomFor('cancel');
  }

  /**
   * Markets in which the user has an unfinished order, pending ones included, or a quote set: also one of which nothing rests has
   * a mark to raise (QTE-09). What is reserved for each in the same turn
   * passes.
   * @returns MARKET_NOT_FOUND, SERVICE_UNAVAILABLE.
   */
  checkCancelAll(wish: { readonly user: UserId; readonly assetId: AssetId | null }): Outcome<readonly MarketSlot[]> {
    const { markets, orders, pending, sets } = this.#parts;
    const only = this.#marketsOf(wish.assetId);
    if (!only.ok) return only;
    const open = new Set([...orders.openMarkets(wish.user), ...sets.marketsOf(wish.user)]);
    const concerned = [...open]
      .map((marketIndex) => markets.at(marketIndex))
      .filter((market) => only.value.includes(market));
    return pending.hasRoomFor('cancelAll', concerned.length) ? accepted(concerned) : rejected(BUSY);
  }

  /** Of these markets those with a group of this name, with its slot; all with 0 where none is named (UNS-02). */
  slotsOf(user: UserId, markets: readonly MarketSlot[], group: string | undefined): ReadonlyMap<MarketSlot, number> {
    const slots = new Map<MarketSlot, number>();
    for (const market of markets) {
      const { marketIndex } = market.definition;
      const slot = group === undefined ? 0 : this.#parts.protections.slotOf(user, marketIndex, group);
      if (slot !== undefined) slots.set(market, slot);
    }
    return slots;
  }

  /** The sets of this id that these markets may have. */
  knownSets(user: UserId, markets: readonly MarketSlot[], setId: string): readonly LiveQuoteSet[] {
    const found = markets.map((market) => this.#parts.sets.find(user, market.definition.marketIndex, setId));
    return found.filter((set) => set?.isKnown === true) as LiveQuoteSet[];
  }

  /** A cancel of many orders is on its way: what it means of quote sets is older than `markNs`, also of those that no market knows. */
  noteCancel(
    {
      user,
      assetId,
      quoteSetId,
    }: { readonly user: UserId; readonly assetId: AssetId | null; readonly quoteSetId?: string },
    markNs: TimestampNs,
    nowNs: TimestampNs,
  ): void {
    const market = assetId === null ? undefined : this.#parts.markets.find(assetId);
    const sets = { user, marketIndex: market?.definition.marketIndex ?? null, setId: quoteSetId ?? null };
    this.#cancelMarks.raise(sets, markNs, nowNs, this.settings.postSignAgeMaxNs);
  }

  /**
   * Reserves a mass cancel in one market, which is never answered. @returns the request id; rejects SERVICE_UNAVAILABLE.
   * @param hops acknowledged by the market; none unless given.
   * @param done called when the market has cancelled; none unless given.
   */
  reserveCancelAll(hops: ActionHops | null = null, done: (() => void) | null = null): Outcome<number> {
    const { pending } = this.#parts;
    if (!pending.hasRoomFor('cancelAll')) return rejected(BUSY);
    return accepted(pending.add({ kind: 'cancelAll', hops, done }));
  }

  /** Why a mass cancel of this user cannot wait until it is stored, or null: it takes from the user's share as the cancels of orders do. */
  waitRefusal({ user, assetId }: { readonly user: UserId; readonly assetId: AssetId | null }): Reject | null {
    const undecided = this.#undecided(assetId).length;
    // mutant: stored-within-a-share
    if (!this.#isWithinShare('cancel', user, undecided)) return TOO_MANY_OWN;
    return this.#parts.pending.hasRoomFor('cancel', undecided) ? null : BUSY;
  }

  /**
   * For what a stalled leader has cancelled (cluster.md 7.4).
   *
   * @param stored called once, when all that these markets (one, or null for all) have sent up to now is flushed, and so stored.
   */
  whenStored(request: { readonly user: UserId; readonly assetId: AssetId | null }, stored: () => void): void {
    const markets = this.#undecided(request.assetId);
    let left = markets.length;
    if (left === 0) stored();
    for (const market of markets) {
      this.#parts.pending.whenDecidedFor(request.user, market, market.seenSequence, () => {
        left -= 1;
        if (left === 0) stored();
      });
    }
  }

  /** Markets, one or all, whose events clearing has not decided and flushed. */
  #undecided(assetId: AssetId | null): readonly MarketSlot[] {
    const among = this.#marketsOf(assetId);
    return among.ok ? among.value.filter(({ seenSequence, decidedSequence }) => seenSequence > decidedSequence) : [];
  }

  /**
   * The user's unfinished orders among these ids, in every market or in one (AMB-24); unknown, foreign and finished ids are
   * left out (CAN-09). What is reserved for each in the same turn passes.
   * @returns MARKET_NOT_FOUND, SERVICE_UNAVAILABLE.
   */
  ordersToCancel(wish: {
    readonly user: UserId;
    readonly assetId: AssetId | null;
    readonly orderIds: readonly OrderId[];
  }): Outcome<readonly PreparedCancel[]> {
    const { user, assetId, orderIds } = wish;
    const { orders, pending } = this.#parts;
    const among = this.#marketsOf(assetId);
    if (!among.ok) return among;
    const cancels: PreparedCancel[] = [];
    for (const orderId of new Set(orderIds)) {
      for (const market of among.value) {
        const order = orders.find(user, market.definition.marketIndex, orderId);
        if (order !== undefined && !order.isClosed) cancels.push({ kind: 'cancel', market, user, orderId });
      }
    }
    if (!this.#isWithinShare('cancel', user, cancels.length)) return rejected(TOO_MANY_OWN);
    return pending.hasRoomFor('cancel', cancels.length) ? accepted(cancels) : rejected(BUSY);
  }

  // ---- pending requests

  /** The order of this pending create or replace is cancelled when the connection ends (disconnect-group.ts). */
  join(requestId: number, membership: Membership): void {
    this.#parts.pending.join(requestId, membership);
  }

  /** The market has begun with a request; of those with recorded hop times. Comes before its answer. */
  taken(requestId: number, takenNs: TimestampNs): void {
    this.#parts.pending.taken(requestId, takenNs);
  }

  /** The market's answer. Every request gets one, after all that the request caused. */
  onAck(ack: MarketAckEvent): void {
    const { book, pending, margin } = this.#parts;
    const request = pending.take(ack.requestId);
    if (request.kind === 'cancelAll') {
      request.hops?.acknowledged();
      request.done?.();
      return;
    }
    if (request.kind === 'reduce') {
      book.landed(request.order);
      margin.reduceAnswered(request.order);
      request.clearing?.answered();
      return;
    }
    if (request.kind === 'quotes') {
      this.#onQuoteSetRefused(request, ack);
      return;
    }
    const { kind, order, replace, membership } = request;
    request.reply.hops?.acknowledged();
    const code = ack.rejectCode === 0 ? null : must(rejectName(ack.rejectCode), 'the market refuses with a known code');
    if (order !== null && replace !== null && !order.isGone) {
      order.replaces = order.replaces.filter((other) => other !== replace);
      if (membership !== null) settleMembership(order, membership, code === null);
      book.rehold(order);
    }
    if (order !== null) book.landed(order);
    // Before a refused create leaves memory: the refusal reads its group.
    // mutant: refused-while-in-memory
    const refusal = code === null ? null : this.#refusalOf(kind, code, order);
    if (code !== null) this.#refused(request, code);
    this.#answer(request, restsOn(ack, order), { refusal, processedAtNs: ack.timeNs });
  }

  #answer(request: SentRequest, sequence: number, answer: ActionAnswer): void {
    const { pending } = this.#parts;
    // mutant: stalled-answer
    if (this.settings.acks === 'optimistic' && !this.isStalled()) pending.answer(request, answer);
    else pending.answerWhenDecided(request, sequence, answer);
  }

  /** Its market has changed nothing. */
  #onQuoteSetRefused(request: QuoteRequest, ack: MarketAckEvent): void {
    request.reply.hops?.acknowledged();
    this.quotes.answered(request.set, request.terms, false);
    const code = must(rejectName(ack.rejectCode), 'the market refuses with a known code');
    const refusal = marketRefusal('quotes', code, null);
    this.#answer(request, ack.sequence, { refusal, processedAtNs: ack.timeNs });
  }

  /** A market may refuse a member before the trip of its group is seen here: then its events have come in front of this. */
  #refusalOf(kind: OrderRequest['kind'], code: RejectName, order: LiveOrder | null): Reject {
    if (code !== 'MMP_FROZEN' || order === null) return marketRefusal(kind, code, order);
    const { user, marketIndex, protectionGroup: slot } = order;
    return this.#parts.protections.refusalOf({ user, marketIndex, slot });
  }

  /** Refused by the market, after it passed here. A crossing post-only gets its own `Canceled` (AMB-16, AMB-19). */
  #refused({ kind, user, orderId, order, market }: OrderRequest, code: RejectName): void {
    if (code === 'WOULD_CROSS') return;
    const { book, sink } = this.#parts;
    if (kind === 'create') book.drop(must(order ?? undefined, 'a create has its order'));
    const { assetId } = market.definition;
    sink.orderEvent(user, { kind: FAILED[kind], orderId, assetId, reason: pascalCase(code) });
  }

  // ---- helpers

  /** Whether the user may have so many more requests that are unanswered. */
  #isWithinShare(kind: OrderRequest['kind'], user: UserId, count = 1): boolean {
    const { accounts, pending } = this.#parts;
    return pending.isWithinShare(kind, user, accounts.isMarketMaker(user), count);
  }

  #mayHaveOrders(user: UserId): boolean {
    const { holds, orders } = this.#parts;
    return holds.funded.has(user) || orders.openCountOf(user) > 0;
  }

  /** One market, or all of them. */
  #marketsOf(assetId: AssetId | null): Outcome<readonly MarketSlot[]> {
    const { markets } = this.#parts;
    if (assetId === null) return accepted([...markets.all()]);
    const market = markets.find(assetId);
    return market === undefined ? rejected(NO_MARKET) : accepted([market]);
  }

  /**
   * Why a REST request about this order cannot go on: cancelled 409, otherwise finished or unknown 404 (AMB-23). Where answers wait for
   * the flush, and the order's end is not flushed, the next start or leader may have the order open: then its market refuses, and that
   * answer waits as well (AMB-16, cluster.md 7.4).
   */
  #missing(market: MarketSlot, user: UserId, orderId: OrderId): Reject | null {
    const { orders, history } = this.#parts;
    const { marketIndex } = market.definition;
    const order = orders.find(user, marketIndex, orderId);
    if (order !== undefined && !order.isClosed) return null;
    const past = order ?? history.read((snapshot) => snapshot.findOrder(user, marketIndex, orderId));
    if (past === undefined) return reject('ORDER_NOT_FOUND', 'there is no such order');
    const status = order === undefined ? statusOf(past) : statusOfLive(order);
    const isStored = order === undefined || order.lastSequence <= market.decidedSequence;
    // mutant: refusal-before-the-flush
    if (!isStored && (this.settings.acks === 'durable' || this.isStalled())) return null;
    return status === 'Canceled'
      ? reject('ALREADY_CANCELLED', 'the order has been cancelled')
      : reject('ORDER_NOT_FOUND', 'the order is finished');
  }
}

/** The market sequence that an answer rests on: that an order is over, on what ended it. */
function restsOn({ rejectCode, sequence }: MarketAckEvent, order: LiveOrder | null): number {
  const isOver = rejectCode !== 0 && order?.isClosed === true;
  return isOver ? Math.max(sequence, order.lastSequence) : sequence;
}

/** A request about an order that may be known: one literal, so that all of them have one shape in memory. */
function requestOf(
  kind: 'replace' | 'cancel' | 'amend',
  { user, orderId, market }: PreparedReplace | PreparedCancel | PreparedAmend,
  order: LiveOrder | null,
  replace: PendingReplace | null,
  reply: EntryReply,
): OrderRequest {
  return { kind, user, orderId, market, order, replace, signed: null, membership: null, reply };
}

const FAILED = {
  create: 'CreateFailed',
  replace: 'ReplaceFailed',
  cancel: 'CancelFailed',
  amend: 'AmendFailed',
} as const;

/** Whether the id of an order is free again, though the order has not left memory yet (AMB-08). */
function isForgotten({ isClosed, creationNs }: LiveOrder, now: TimestampNs): boolean {
  return isClosed && now >= creationNs + ORDER_LIFE_NS;
}

/** What a replace that leaves the price may meet: which of those before it the market applies is not known (RPL-07). */
function largestPrice(order: LiveOrder): RawPrice {
  return Math.max(order.price, ...order.replaces.map(({ price }) => price)) as RawPrice;
}

function largestQuantity(order: LiveOrder): RawQuantity {
  return Math.max(order.quantity, ...order.replaces.map(({ quantity }) => quantity)) as RawQuantity;
}
