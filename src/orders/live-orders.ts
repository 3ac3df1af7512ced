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
 *       Others on their way with the same id are its `twins`: the market will admit one of them at most.
 *   (3) order.held = holdOf(order) (needs.ts), and it is part of order.balance.held.
 *   (4) An order whose trigger has not released it has let nothing through: it holds nothing (AMB-28).
 *
 * The market is the authority on what rests; clearing on what is filled. Both are heard over their own rings, in either
 * order, so what remains is derived: quantity in force − pending − confirmed, nothing after an end.
 *
 * Not here: what changes an order (order-book-view.ts), what it holds (needs.ts), which words it ends with
 * (order-life.ts).
 */
import { assert, must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import {
  type OrderEnd,
  type OrderKind,
  type RollbackReason,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
  type TriggerState,
} from '../core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { Balance } from './holds.ts';
import type { MarketSlot } from './markets.ts';

/** What never changes about an order. */
export interface OrderTerms {
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  /** Quote integer of scale 10^-quantity decimals: the cap of a base-sized buy or the target; 0 for none (AMB-05). */
  readonly amount: number;
  /** As signed; a replace may turn it while the order waits. */
  readonly triggerKind: TriggerKind;
  /** Of a child, else ''. */
  readonly parentId: OrderId | '';
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
  /** In force; 0 for a market order. */
  price: RawPrice;
  /** In force; 0 for one that is sized in quote and has no base cap. */
  quantity: RawQuantity;
  /** What a market order without quantity or amount on its spending side may spend: quote, or lots; 0 for none (AMB-39). */
  bound: number;
  /** In force while it waits; what was released keeps the one that released it. */
  triggerKind: TriggerKind;
  triggerPrice: RawPrice;
  triggerState: TriggerState;
  /** Lots that may match, as far as this door has let them: none while it waits, of a child what was activated. */
  letThrough: number;
  /** Lots that the market has said to be in force, of an order with a trigger; of a child they may come in parts. */
  activated: number;
  /** Lots of a child that never rests that were let through and found no match: they are gone (AMB-29). */
  dropped: number;
  /** Such a child has matched what it could of what was let through, and waits for more. */
  isIdle: boolean;
  /** Of a child; null where the parent is over and has left memory. */
  parent: LiveOrder | null;
  /** Lots of such a child that are activated. */
  enabledWithoutParent: number;
  timestampNs: TimestampNs;
  lastUpdateNs: TimestampNs;
  readonly confirmed: Filled;
  readonly pending: Filled;
  pendingFills: number;
  /** At least one fill was rolled back. */
  wasRolledBack: boolean;
  /** It never rests and its quantity was matched: a rollback does not bring it back (AMB-32 c). */
  isSpent: boolean;
  /** A cancel came while all of it was pending: nothing of it comes back (AMB-23). */
  isCovered: boolean;
  /** Why the market took it off; 0 while it may rest. `filled` only for a market order whose target or cap was met. */
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

/** Let through as a whole, whatever its quantity becomes. */
export const LET_THROUGH_WHOLE: number = Number.MAX_SAFE_INTEGER;
const NO_REPLACES: readonly ReplaceOnItsWay[] = [];

export type NewLiveOrder = Pick<
  LiveOrder,
  'terms' | 'market' | 'balance' | 'price' | 'quantity' | 'bound' | 'triggerPrice'
>;

/** Members one by one, and no list until there is a replace: this is on the way of every create. */
export function newLiveOrder(order: NewLiveOrder, now: TimestampNs): LiveOrder {
  const { terms } = order;
  const waits = terms.triggerKind !== TRIGGER.none;
  return {
    terms,
    market: order.market,
    balance: order.balance,
    price: order.price,
    quantity: order.quantity,
    bound: order.bound,
    triggerKind: terms.triggerKind,
    triggerPrice: order.triggerPrice,
    triggerState: waits ? TRIGGER_STATE.dormant : TRIGGER_STATE.live,
    letThrough: waits ? 0 : LET_THROUGH_WHOLE,
    activated: 0,
    dropped: 0,
    isIdle: false,
    parent: null,
    enabledWithoutParent: 0,
    sequence: 0,
    lastSequence: 0,
    timestampNs: terms.creationNs,
    lastUpdateNs: now,
    confirmed: { quantity: 0, notional: 0n, fees: 0n },
    pending: { quantity: 0, notional: 0n, fees: 0n },
    pendingFills: 0,
    wasRolledBack: false,
    isSpent: false,
    isCovered: false,
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

export function isChild(order: Pick<LiveOrder, 'terms'>): boolean {
  return order.terms.parentId !== '';
}

/** Lots of a child that its parent's confirmed fills have activated; of every other order its quantity (AMB-29). */
export function enabledOf(order: LiveOrder): number {
  if (!isChild(order)) return order.quantity;
  return Math.min(order.quantity, order.parent?.confirmed.quantity ?? order.enabledWithoutParent);
}

export function neverRests({ terms }: Pick<LiveOrder, 'terms'>): boolean {
  return terms.tif === TIF.ioc || terms.tif === TIF.fok;
}

/** All of it was let through, and with it what a replace adds; a child of which more is to come is not (AMB-29). */
export function isWhole(order: Pick<LiveOrder, 'letThrough' | 'quantity'>): boolean {
  return order.letThrough > 0 && order.letThrough >= order.quantity;
}

/** Whether `filled` lots are all of a quantity; an order without one is never full. */
export function isFull(quantity: number, filled: number): boolean {
  return quantity > 0 && filled >= quantity;
}

/** Nothing of it lives and nothing about it is undecided. */
export function isFinished(order: LiveOrder): boolean {
  return (
    order.isTold && order.pendingFills === 0 && (order.end !== 0 || isFull(order.quantity, order.confirmed.quantity))
  );
}

interface OrdersOfUser {
  readonly byId: Map<string, LiveOrder>;
  /** Further orders on their way with an id that `byId` has, oldest first. */
  readonly twins: Map<string, readonly LiveOrder[]>;
  /** Unfinished orders by market, then by sub-account. */
  readonly open: Map<number, Map<number, number>>;
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

  /** Whether nobody knows yet which order this id will name: several creates with it are on their way. */
  isContested({ user, orderId }: Pick<OrderTerms, 'user' | 'orderId'>, marketIndex: number): boolean {
    const own = this.#byUser.get(user);
    const key = idKey(marketIndex, orderId);
    return own?.byId.get(key)?.sequence === 0 && own.twins.has(key);
  }

  /** Orders of a sub-account in a market that count against the cap (AMB-124). */
  openCount(user: UserId, subAccount: number, marketIndex: number): number {
    return this.#byUser.get(user)?.open.get(marketIndex)?.get(subAccount) ?? 0;
  }

  /** Markets in which the user has an unfinished order, those on their way included. */
  openMarkets(user: UserId): readonly number[] {
    return [...(this.#byUser.get(user)?.open.keys() ?? [])].sort((a, b) => a - b);
  }

  add(order: LiveOrder): void {
    const own = this.#byUser.get(order.terms.user) ?? { byId: new Map(), twins: new Map(), open: new Map() };
    this.#byUser.set(order.terms.user, own);
    const key = keyOf(order);
    if (own.byId.has(key)) own.twins.set(key, [...(own.twins.get(key) ?? []), order]);
    else own.byId.set(key, order);
    this.#count += 1;
    this.#countOpen(own, order, 1);
  }

  /** The market admitted it: its id and its sequence name it from here on. */
  admit(order: LiveOrder, sequence: number): void {
    assert(order.sequence === 0 && !order.market.orders.has(sequence), 'an order is admitted once');
    order.sequence = sequence;
    order.lastSequence = sequence;
    order.market.orders.set(sequence, order);
    const { byId, twins } = this.#of(order);
    const key = keyOf(order);
    const first = byId.get(key);
    byId.set(key, order);
    if (first !== undefined && first !== order) twins.set(key, [first, ...without(twins.get(key), order)]);
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
    this.#forgetId(own, order);
    order.market.orders.delete(order.sequence);
    if (own.byId.size === 0 && own.open.size === 0) this.#byUser.delete(order.terms.user);
  }

  /** Its id names the next one on its way, if there is one. */
  #forgetId({ byId, twins }: OrdersOfUser, order: LiveOrder): void {
    const key = keyOf(order);
    const others = without(twins.get(key), order);
    if (byId.get(key) === order) {
      const next = others.shift();
      if (next === undefined) byId.delete(key);
      else byId.set(key, next);
    }
    if (others.length === 0) twins.delete(key);
    else twins.set(key, others);
  }

  #of(order: LiveOrder): OrdersOfUser {
    return must(this.#byUser.get(order.terms.user), 'the user of an order in memory is known');
  }

  #countOpen(own: OrdersOfUser, order: LiveOrder, change: number): void {
    const { marketIndex } = order.market.definition;
    const inMarket = own.open.get(marketIndex) ?? new Map<number, number>();
    const count = (inMarket.get(order.terms.subAccount) ?? 0) + change;
    assert(count >= 0, 'open orders are never negative');
    if (count === 0) inMarket.delete(order.terms.subAccount);
    else inMarket.set(order.terms.subAccount, count);
    if (inMarket.size === 0) own.open.delete(marketIndex);
    else own.open.set(marketIndex, inMarket);
  }
}

function idKey(marketIndex: number, orderId: OrderId): string {
  return `${marketIndex}/${orderId}`;
}

function keyOf({ market, terms }: LiveOrder): string {
  return idKey(market.definition.marketIndex, terms.orderId);
}

function without(orders: readonly LiveOrder[] | undefined, order: LiveOrder): LiveOrder[] {
  return orders?.filter((other) => other !== order) ?? [];
}
