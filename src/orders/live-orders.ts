/**
 * The orders that the front door keeps in memory: on their way to the market, live, ended with fills undecided, and
 * finished but not yet in a checkpoint.
 *
 *   reserved ──admitted──▶ live ──end, fills decided──▶ finished ──checkpoint──▶ (gone)
 *       └──refused──▶ (gone)
 *
 * Invariants
 *   (1) An order with a sequence is found by (market, sequence).
 *   (2) `byId` of a user names for every (market, order id) the order that was admitted, or else the first on its way.
 *       Another create on its way with the same id is known to its request only: the market will refuse one of them.
 *   (3) order.held = holdOf(order), and it is part of order.balance.held.
 *
 * The market is the authority on what rests; clearing on what is filled. Both are heard over their own rings, in either
 * order, so what remains is derived: quantity in force − pending − confirmed, nothing after an end.
 *
 * Not here: what changes an order (order-book-view.ts), which words it ends with (order-life.ts).
 */
import { add18, notional18, quantity18, tradingFee18 } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { type OrderEnd, type RollbackReason, SIDE, type Side, type Tif } from '../core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { Balance } from './holds.ts';
import type { MarketSlot } from './markets.ts';

/** What never changes about an order. */
export interface OrderTerms {
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly side: Side;
  readonly tif: Tif;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  readonly creationNs: TimestampNs;
  /** 0n unless GTD. */
  readonly goodUntilNs: TimestampNs;
}

/** Fills in one state of decision. */
export interface Filled {
  quantity: number;
  notional: bigint;
  fees: bigint;
}

/** Terms that a replace on its way asks for. */
export interface ReplaceOnItsWay {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
}

export interface LiveOrder {
  readonly terms: OrderTerms;
  readonly market: MarketSlot;
  /** Where the hold lies: USD for a buy, the base asset for a sell. */
  readonly balance: Balance;
  /** Market sequence of its admission; 0 before. */
  sequence: number;
  /** Market sequence of the last word on it: when clearing has passed it, the tables have the order as it is here. */
  lastSequence: number;
  /** In force. */
  price: RawPrice;
  quantity: RawQuantity;
  timestampNs: TimestampNs;
  lastUpdateNs: TimestampNs;
  readonly confirmed: Filled;
  readonly pending: Filled;
  pendingFills: number;
  /** At least one fill was rolled back. */
  wasRolledBack: boolean;
  /** It never rests and its quantity was matched: a rollback does not bring it back (AMB-32 c). */
  isSpent: boolean;
  /** Why the market took it off; 0 while it may rest. */
  end: OrderEnd | 0;
  /** Its own fault in a rollback, or 0: nothing of it lives any more. */
  faultReason: RollbackReason;
  /** Its one terminal event has been told, or its refusal: nothing of it needs a hold. */
  isTold: boolean;
  /** It is finished, and the tail knows. */
  isInTail: boolean;
  /** Requests about it that the market has not answered. */
  requests: number;
  replaces: readonly ReplaceOnItsWay[];
  held: Amount18;
}

const NO_REPLACES: readonly ReplaceOnItsWay[] = [];

export type NewLiveOrder = Pick<LiveOrder, 'terms' | 'market' | 'balance' | 'price' | 'quantity'>;

/** Members one by one, and no list until there is a replace: this is on the way of every create. */
export function newLiveOrder(order: NewLiveOrder, now: TimestampNs): LiveOrder {
  return {
    terms: order.terms,
    market: order.market,
    balance: order.balance,
    price: order.price,
    quantity: order.quantity,
    sequence: 0,
    lastSequence: 0,
    timestampNs: order.terms.creationNs,
    lastUpdateNs: now,
    confirmed: { quantity: 0, notional: 0n, fees: 0n },
    pending: { quantity: 0, notional: 0n, fees: 0n },
    pendingFills: 0,
    wasRolledBack: false,
    isSpent: false,
    end: 0,
    faultReason: 0,
    isTold: false,
    isInTail: false,
    requests: 0,
    replaces: NO_REPLACES,
    held: ZERO_18,
  };
}

/** The optimistic filled quantity: pending and confirmed (ORD-23). */
export function filledOf(order: LiveOrder): number {
  return order.pending.quantity + order.confirmed.quantity;
}

/** What may still be matched. */
export function remainingOf(order: LiveOrder): number {
  return remainderAt(order, order.quantity);
}

function remainderAt(order: LiveOrder, quantity: number): number {
  const isOver = order.end !== 0 || order.faultReason !== 0 || order.isSpent || order.isTold;
  return isOver ? 0 : Math.max(0, quantity - filledOf(order));
}

/** Nothing of it lives and nothing about it is undecided. */
export function isFinished(order: LiveOrder): boolean {
  return order.isTold && order.pendingFills === 0 && (order.end !== 0 || order.quantity <= order.confirmed.quantity);
}

/** What `remaining` lots at `price` need: USD with the taker's fee for a buy, base for a sell (AMB-52, EX-27). */
export function needOf(order: Pick<LiveOrder, 'terms' | 'market'>, price: RawPrice, remaining: number): Amount18 {
  if (remaining === 0) return ZERO_18;
  const { definition } = order.market;
  if (order.terms.side === SIDE.sell) return quantity18(remaining as RawQuantity, definition.quantityDecimals);
  const notional = notional18(price, remaining as RawQuantity, definition);
  return add18(notional, tradingFee18(notional, definition.takerFeeRate));
}

/** What the order would need with the terms of a replace. */
export function needWith(order: LiveOrder, replace: ReplaceOnItsWay): Amount18 {
  return needOf(order, replace.price, remainderAt(order, replace.quantity));
}

/** The order's hold: the largest of what its terms in force and its replaces on the way need (RPL-07, AMB-112). */
export function holdOf(order: LiveOrder): Amount18 {
  let hold = needOf(order, order.price, remainingOf(order));
  for (const replace of order.replaces) {
    const need = needWith(order, replace);
    if (need > hold) hold = need;
  }
  return hold;
}

interface OrdersOfUser {
  readonly byId: Map<string, LiveOrder>;
  /** Unfinished orders by sub-account and market. */
  readonly open: Map<string, number>;
}

export class LiveOrders {
  readonly #byUser = new Map<UserId, OrdersOfUser>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The user's orders in memory, one per market and id. */
  ofUser(user: UserId): Iterable<LiveOrder> {
    return this.#byUser.get(user)?.byId.values() ?? [];
  }

  find(user: UserId, marketIndex: number, orderId: OrderId): LiveOrder | undefined {
    return this.#byUser.get(user)?.byId.get(idKey(marketIndex, orderId));
  }

  /** Orders of a sub-account in a market that count against the cap (AMB-124). */
  openCount(user: UserId, subAccount: number, marketIndex: number): number {
    return this.#byUser.get(user)?.open.get(`${subAccount}/${marketIndex}`) ?? 0;
  }

  add(order: LiveOrder): void {
    const own = this.#byUser.get(order.terms.user) ?? { byId: new Map(), open: new Map() };
    this.#byUser.set(order.terms.user, own);
    const key = idKey(order.market.definition.marketIndex, order.terms.orderId);
    if (!own.byId.has(key)) own.byId.set(key, order);
    this.#count += 1;
    this.#countOpen(own, order, 1);
  }

  /** The market admitted it: its id and its sequence name it from here on. */
  admit(order: LiveOrder, sequence: number): void {
    assert(order.sequence === 0 && !order.market.orders.has(sequence), 'an order is admitted once');
    order.sequence = sequence;
    order.lastSequence = sequence;
    order.market.orders.set(sequence, order);
    this.#of(order).byId.set(idKey(order.market.definition.marketIndex, order.terms.orderId), order);
  }

  /** It no longer counts against the cap: its terminal event was told. */
  closeOne(order: LiveOrder): void {
    this.#countOpen(this.#of(order), order, -1);
  }

  /** Out of memory: refused by the market, or finished and in a checkpoint. */
  remove(order: LiveOrder): void {
    assert(order.held === 0n && order.pendingFills === 0, 'an order leaves memory without hold or pending fill');
    const own = this.#of(order);
    if (!order.isTold) this.#countOpen(own, order, -1);
    this.#count -= 1;
    const key = idKey(order.market.definition.marketIndex, order.terms.orderId);
    if (own.byId.get(key) === order) own.byId.delete(key);
    order.market.orders.delete(order.sequence);
    if (own.byId.size === 0 && own.open.size === 0) this.#byUser.delete(order.terms.user);
  }

  #of(order: LiveOrder): OrdersOfUser {
    return must(this.#byUser.get(order.terms.user), 'the user of an order in memory is known');
  }

  #countOpen(own: OrdersOfUser, order: LiveOrder, change: number): void {
    const key = `${order.terms.subAccount}/${order.market.definition.marketIndex}`;
    const count = (own.open.get(key) ?? 0) + change;
    assert(count >= 0, 'open orders are never negative');
    if (count === 0) own.open.delete(key);
    else own.open.set(key, count);
  }
}

function idKey(marketIndex: number, orderId: OrderId): string {
  return `${marketIndex}/${orderId}`;
}
