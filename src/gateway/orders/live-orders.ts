/**
 * The orders that the front door keeps in memory: on their way to the market, live, ended with fills undecided, and
 * finished but not yet in a checkpoint.
 *
 *   reserved ──admitted──▶ live ──end, fills decided──▶ finished ──checkpoint──▶ (gone)
 *       └──refused──▶ (gone)
 *
 * Invariants
 *   (1) An order with a sequence is found by (market, sequence).
 *   (2) `byId` of a user names for every (market, order id) the order that was admitted last, or else the first on its
 *       way. Others in memory with the same id are its `twins`: those on their way, of which the market will admit one at
 *       most, and finished ones whose id was free again (AMB-08).
 *   (3) A user that is found here does not sleep (sleepers.ts).
 *   (4) Pages show what `byId` names and twins that were told (page-list.ts).
 *
 * Not here: what an order is (live-order.ts).
 */
import { assert, must } from '../../core/assert.ts';
import type { OrderId, UserId } from '../../core/ids.ts';
import type { TimestampNs } from '../../core/units.ts';
import { type LiveOrder, NOT_LISTED, type OrderTerms } from './live-order.ts';
import { PageList } from './page-list.ts';
import { Sleepers } from './sleepers.ts';

interface OrdersOfUser {
  /** The one text that all of the user's orders share. */
  readonly user: UserId;
  readonly byId: Map<string, LiveOrder>;
  /** Further orders with an id that `byId` has, oldest first; null: none. */
  twins: Map<string, readonly LiveOrder[]> | null;
  /** Unfinished orders by market and sub-account (openKey). */
  readonly open: Map<number, number>;
  /** Unfinished orders in all. */
  openTotal: number;
  /** What pages show of them. */
  readonly pages: PageList;
}

const SUB_ACCOUNTS = 65_536;

export class LiveOrders {
  readonly #sleepers: Sleepers;
  readonly #byUser = new Map<UserId, OrdersOfUser>();
  #count = 0;
  /** Unfinished orders that are awake. */
  #open = 0;

  constructor(sleepers: Sleepers = new Sleepers()) {
    this.#sleepers = sleepers;
  }

  /** Those that sleep included. */
  get count(): number {
    return this.#count + this.#sleepers.count;
  }

  /** The user's orders in memory, newest first; of those on their way the one that its id names. */
  *ofUser(user: UserId): Iterable<LiveOrder> {
    const all = this.pagesOf(user)?.freeze({ marketIndex: null, subAccounts: null, openOnly: false });
    for (const { order } of all?.from(0) ?? []) yield order;
  }

  /** What pages show: the user's orders in memory, of those on their way the one that its id names; undefined: none. */
  pagesOf(user: UserId): PageList | undefined {
    return this.#find(user)?.pages;
  }

  /** Something of the order has changed that its status may follow from. */
  changed(order: LiveOrder): void {
    if (order.pageWord !== NOT_LISTED) this.#of(order).pages.update(order);
  }

  /** A replace gave it a later time (AMB-18). */
  retime(order: LiveOrder, timestampNs: TimestampNs): void {
    const isListed = order.pageWord !== NOT_LISTED;
    const own = this.#of(order);
    if (isListed) own.pages.remove(order);
    order.timestampNs = timestampNs;
    if (isListed) own.pages.insert(order);
  }

  find(user: UserId, marketIndex: number, orderId: OrderId): LiveOrder | undefined {
    return this.#find(user)?.byId.get(idKey(marketIndex, orderId));
  }

  /** Whether nobody knows yet which order this id will name: one that is on its way is not the only one it may be. */
  isContested({ user, orderId }: Pick<OrderTerms, 'user' | 'orderId'>, marketIndex: number): boolean {
    const own = this.#find(user);
    const key = idKey(marketIndex, orderId);
    const named = own?.byId.get(key);
    if (named === undefined || (named.sequence !== 0 && !named.isTold)) return false;
    return own?.twins?.get(key)?.some((twin) => !twin.isTold) === true;
  }

  /** Orders of a sub-account in a market that count against the cap (AMB-124). */
  openCount(user: UserId, subAccount: number, marketIndex: number): number {
    return this.#find(user)?.open.get(openKey(marketIndex, subAccount)) ?? 0;
  }

  /** Orders of a user that count against the cap (AMB-124). */
  openCountOf(user: UserId): number {
    return this.#find(user)?.openTotal ?? 0;
  }

  /** Orders of all users that count against the cap; those that sleep are live. */
  get openCountOfAll(): number {
    return this.#open + this.#sleepers.count;
  }

  /** Markets in which the user has an unfinished order, those on their way included. */
  openMarkets(user: UserId): readonly number[] {
    const keys = this.#find(user)?.open.keys() ?? [];
    return [...new Set(Array.from(keys, (key) => Math.floor(key / SUB_ACCOUNTS)))].sort((a, b) => a - b);
  }

  add(order: LiveOrder): void {
    const own = this.#ensure(order.terms.user);
    const key = keyOf(order);
    if (own.byId.has(key)) twinsOf(own).set(key, [...(own.twins?.get(key) ?? []), order]);
    else own.byId.set(key, order);
    this.#list(own, order);
    this.#count += 1;
    this.#countOpen(own, order, 1);
  }

  /** Whether orders of the user are in memory; nobody is woken. */
  has(user: UserId): boolean {
    return this.#byUser.has(user);
  }

  /** The text of the user's id that the user's orders share: a start makes a million of them, and keeps one a user. */
  sharedName(user: UserId): UserId {
    return this.#byUser.get(user)?.user ?? user;
  }

  /** An order that was admitted before a restart. */
  restore(order: LiveOrder, sequence: number): void {
    const own = this.#ensure(order.terms.user);
    const ids = own.byId.size;
    order.sequence = sequence;
    order.lastSequence = sequence;
    const isNew = order.market.orders.add(sequence, order);
    own.byId.set(keyOf(order), order);
    assert(isNew && own.byId.size > ids, 'an order is restored once');
    this.#list(own, order);
    this.#count += 1;
    this.#countOpen(own, order, 1);
  }

  /** The market admitted it: its id and its sequence name it from here on. */
  admit(order: LiveOrder, sequence: number): void {
    const isNew = order.sequence === 0 && order.market.orders.add(sequence, order);
    assert(isNew, 'an order is admitted once');
    order.sequence = sequence;
    order.lastSequence = sequence;
    const own = this.#of(order);
    const key = keyOf(order);
    const first = own.byId.get(key);
    own.byId.set(key, order);
    if (first !== undefined && first !== order) {
      twinsOf(own).set(key, [first, ...without(own.twins?.get(key), order)]);
      this.#list(own, first);
    }
    this.#list(own, order);
    this.changed(order);
  }

  /** Its terminal event was told: it no longer counts against the cap, and goes with no connection. */
  closeOne(order: LiveOrder): void {
    const own = this.#of(order);
    this.#close(own, order);
    this.#list(own, order);
  }

  /** Out of memory: refused by the market, or finished and in a checkpoint. */
  remove(order: LiveOrder): void {
    assert(order.spend === 0n && order.pendingFills === 0, 'an order leaves memory without hold or pending fill');
    const own = this.#of(order);
    if (!order.isTold) this.#close(own, order);
    if (order.pageWord !== NOT_LISTED) own.pages.remove(order);
    this.#count -= 1;
    this.#forgetId(own, order);
    order.market.orders.delete(order.sequence);
    if (own.byId.size === 0 && own.open.size === 0) this.#byUser.delete(order.terms.user);
  }

  /** Its id names the next one on its way, if there is one. */
  #forgetId(own: OrdersOfUser, order: LiveOrder): void {
    const { byId } = own;
    const key = keyOf(order);
    const others = without(own.twins?.get(key), order);
    if (byId.get(key) === order) {
      const next = others.shift();
      if (next === undefined) byId.delete(key);
      else {
        byId.set(key, next);
        this.#list(own, next);
      }
    }
    if (others.length === 0) own.twins?.delete(key);
    else twinsOf(own).set(key, others);
  }

  /** Who is found does not sleep; who is not may. */
  #find(user: UserId): OrdersOfUser | undefined {
    const known = this.#byUser.get(user);
    if (known !== undefined) return known;
    this.#sleepers.wake(user);
    return this.#byUser.get(user);
  }

  #ensure(user: UserId): OrdersOfUser {
    const known = this.#find(user);
    if (known !== undefined) return known;
    const fresh: OrdersOfUser = {
      user,
      byId: new Map(),
      twins: null,
      open: new Map(),
      openTotal: 0,
      pages: new PageList(),
    };
    this.#byUser.set(user, fresh);
    return fresh;
  }

  #of(order: LiveOrder): OrdersOfUser {
    return must(this.#byUser.get(order.terms.user), 'the user of an order in memory is known');
  }

  /** Pages show it, or do not, as its id and its state say. */
  #list(own: OrdersOfUser, order: LiveOrder): void {
    const isMeant = order.isTold || own.byId.get(keyOf(order)) === order;
    const isListed = order.pageWord !== NOT_LISTED;
    if (isMeant && !isListed) own.pages.insert(order);
    else if (!isMeant && isListed) own.pages.remove(order);
  }

  #close(own: OrdersOfUser, order: LiveOrder): void {
    this.#countOpen(own, order, -1);
    for (const tie of order.ties) tie.loosen();
  }

  #countOpen(own: OrdersOfUser, order: LiveOrder, change: number): void {
    const key = openKey(order.market.definition.marketIndex, order.terms.subAccount);
    const count = (own.open.get(key) ?? 0) + change;
    assert(count >= 0, 'open orders are never negative');
    own.openTotal += change;
    this.#open += change;
    if (count === 0) own.open.delete(key);
    else own.open.set(key, count);
  }
}

function twinsOf(own: OrdersOfUser): Map<string, readonly LiveOrder[]> {
  own.twins ??= new Map();
  return own.twins;
}

function openKey(marketIndex: number, subAccount: number): number {
  return marketIndex * SUB_ACCOUNTS + subAccount;
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
