/**
 * The orders that the gateway keeps in memory: on their way to the market, live, ended with fills undecided, and finished
 * but not yet in a checkpoint.
 *
 *   draft ──added──▶ on its way ──accepted──▶ live ──end, fills decided──▶ finished ──checkpoint──▶ gone ──▶ (index free)
 *     └──abandoned       └──refused──▶ gone
 *
 * Each is a record of the store with its optimistic figures, and is addressed by its index; what few of them have lies in
 * maps by index. One that is gone is found by no rule any more; its index is given back when no request about it is in
 * flight and no page is being read that was planned before.
 *
 * Invariants
 *   (1) An order with a sequence is found by (market, sequence).
 *   (2) `find` gives for (user, market, order id) the order that was accepted last, or else the first on its way. Others in
 *       memory with the same id are those on their way, of which the market will accept one at most, and finished ones
 *       whose id was free again (AMB-08). They come behind it in the id's chain of the store.
 *   (3) Pages show what `find` gives and others of its id that are closed.
 *   (4) What follows from all orders of a user (counts by group, the list that pages are made of) is made at its first
 *       use, or when the user has `COUNTED_ORDERS` orders, and kept up to date from then on. So no start and no
 *       user that reads nothing pays for it, and no use walks more orders than those. No order of a user without a list
 *       has a page word.
 *
 * Not here: what an order is (live-order.ts).
 */
import { protectionKey } from '../../../clearing/protections.ts';
import { assert, must } from '../../../core/assert.ts';
import { type OrderId, USD, type UserId } from '../../../core/ids.ts';
import type { HashKey } from '../../../core/key-words.ts';
import { ORDER_KIND, SIDE, type Side, TIF, TRIGGER, TRIGGER_STATE } from '../../../core/order-terms.ts';
import { NONE } from '../../../core/pools.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../../core/units.ts';
import type { Views } from '../../../core/views.ts';
import { OrderStore } from '../../../order/order-store.ts';
import { OrderRecord } from '../../../schema/generated/messages.ts';
import type { Balance } from '../balances/balance.ts';
import type { Holds } from '../balances/holds.ts';
import type { PreparedCreate } from '../entry/pending-requests.ts';
import { PageList } from '../history/page-list.ts';
import {
  LiveOrder,
  NOT_LISTED,
  OptimisticFigures,
  type OrderMembership,
  type OrderTables,
  type OrderTerms,
  type PendingFills,
  type PendingReplace,
  RELEASED_WHOLE,
} from './live-order.ts';
import type { MarketSlot, Markets } from './markets.ts';
import { OrderGroups } from './order-groups.ts';

/** Orders in memory at most: live ones are bounded by a setting far below (pre-flight.ts), finished ones by checkpoints. */
const ORDERS_MAX = 16_777_216;

/** From this number of orders in memory on, a user has counts and a list of them, whether or not they are needed. */
export const COUNTED_ORDERS = 1_024;

interface OrdersOfUser {
  readonly user: UserId;
  /** The number of the user in the store. */
  readonly number: number;
  /** Groups and counts of them; null: neither is needed yet. */
  groups: OrderGroups | null;
  /** What pages show of them; null before it is needed. */
  pages: PageList | null;
  /** What the last restored spot buy, and the last such sell, spends from: most orders of a user have one account. */
  buysFrom: Balance | null;
  sellsFrom: Balance | null;
}

/** What an entry of a quote set has. */
export interface EntryTerms {
  readonly user: UserId;
  readonly market: MarketSlot;
  readonly orderId: string;
  readonly subAccount: number;
  readonly side: Side;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  readonly price: number;
  readonly quantity: number;
  readonly maxFeeRate: number;
  /** Of its set, 1 to 4; 0 of a guard. */
  readonly slot: number;
  readonly protectionGroup: number;
  readonly creationNs: TimestampNs;
  /** 0n for none. */
  readonly goodUntilNs: TimestampNs;
  readonly timeNs: TimestampNs;
}

/** A list of orders that is being read in parts, as a page: what leaves memory after it was planned keeps its index. */
export interface Pin {
  readonly number: number;
}

interface LiveOrdersParts {
  readonly markets: Markets;
  readonly holds: Holds;
  /** The key of the store's hashes, as users choose their ids. */
  readonly key: HashKey;
}

/** Accessors that are kept: a power of two. */
const ACCESSORS = 4_096;
/** The largest value of the field in a record. */
const FEE_RATE_MAX = 0xffff_ffff;

/** Entries that quote sets on their way to their markets may bring: they count against the caps, and a cancel of all goes where they go. */
class ComingEntries {
  readonly #byUser = new Map<UserId, OrderGroups>();
  total = 0;

  of(user: UserId): OrderGroups | undefined {
    return this.#byUser.get(user);
  }

  /** A set is on its way (1), or was answered (-1). @param entries at least 1, so that its market is one of the user's. */
  change(user: UserId, group: { readonly marketIndex: number; readonly subAccount: number }, entries: number): void {
    let groups = this.#byUser.get(user);
    if (groups === undefined) {
      groups = new OrderGroups();
      this.#byUser.set(user, groups);
    }
    groups.changeOpen(group, entries);
    this.total += entries;
    if (groups.openTotal === 0) this.#byUser.delete(user);
  }
}

export class LiveOrders implements OrderTables {
  readonly store: OrderStore;
  readonly figures: OptimisticFigures = new OptimisticFigures();
  /** By index. */
  readonly pending: Map<number, PendingFills> = new Map();
  readonly replaces: Map<number, readonly PendingReplace[]> = new Map();
  readonly memberships: Map<number, readonly OrderMembership[]> = new Map();
  /** Entries that quote sets on their way may bring. */
  readonly coming: ComingEntries = new ComingEntries();
  /** Called with an order before it leaves memory. */
  readonly onLeaving: ((order: LiveOrder) => void)[] = [];
  /** Accessors by the low bits of their index: a few orders at a time are used again and again. */
  readonly #accessors: (LiveOrder | undefined)[] = new Array<LiveOrder | undefined>(ACCESSORS).fill(undefined);
  readonly #parentIds = new Map<number, OrderId>();
  readonly #markets: Markets;
  readonly #holds: Holds;
  /** By the store's number of the user, and by the user's text: requests name users by it. */
  readonly #users: (OrdersOfUser | undefined)[] = [];
  readonly #byUser = new Map<UserId, OrdersOfUser>();
  /** Pages that are being read, oldest first, and what is gone since with the youngest of them then. */
  readonly #pins = new Set<Pin>();
  #pinned: { readonly index: number; readonly pin: number }[] = [];
  #lastPin = 0;
  #count = 0;
  /** Unfinished orders. */
  #open = 0;
  /** Of those in a protection group, by `protectionKey`; none is left out. */
  readonly #members = new Map<string, number>();

  constructor({ markets, holds, key }: LiveOrdersParts) {
    this.#markets = markets;
    this.#holds = holds;
    this.store = new OrderStore({ ordersMax: ORDERS_MAX, key });
  }

  get count(): number {
    return this.#count;
  }

  // ---- one order

  /** The accessor that was made for the order, or another one. */
  at(index: number): LiveOrder {
    const known = this.#accessors[index & (ACCESSORS - 1)];
    return known?.index === index ? known : this.#accessorOf(index);
  }

  #accessorOf(index: number): LiveOrder {
    const order = new LiveOrder(this, index);
    this.#accessors[index & (ACCESSORS - 1)] = order;
    return order;
  }

  /** As `at`, for a record that now has another order: a kept accessor may have the market of the former one. */
  #drafted(index: number, market: MarketSlot): LiveOrder {
    const known = this.at(index);
    return known.market === market ? known : this.#accessorOf(index);
  }

  marketAt(marketIndex: number): MarketSlot {
    return this.#markets.at(marketIndex);
  }

  balanceAt(number: number): Balance {
    return this.#holds.balanceAt(number);
  }

  /** The user of an order that was added. */
  userOf(index: number): UserId {
    return this.#of(index).user;
  }

  parentIdOf(index: number): OrderId {
    return must(this.#parentIds.get(index), 'the parent of a child has an id');
  }

  find(user: UserId, marketIndex: number, orderId: OrderId): LiveOrder | undefined {
    if (!this.#byUser.has(user)) return undefined;
    const index = this.#present(this.store.findId(user, marketIndex, orderId));
    return index === NONE ? undefined : this.at(index);
  }

  /** An accepted order. */
  ofSequence(marketIndex: number, sequence: number): LiveOrder | undefined {
    const index = this.store.findSequence(marketIndex, sequence);
    if (index === NONE) return undefined;
    const order = this.at(index);
    return order.isGone ? undefined : order;
  }

  /** Whether it is open which order this id will name: one that is on its way is not the only one that it may be. */
  isContested({ user, orderId }: Pick<OrderTerms, 'user' | 'orderId'>, marketIndex: number): boolean {
    const named = this.find(user, marketIndex, orderId);
    if (named === undefined || (named.sequence !== 0 && !named.isClosed)) return false;
    for (let other = this.#nextPresent(named.index); other !== NONE; other = this.#nextPresent(other)) {
      if (!this.at(other).isClosed) return true;
    }
    return false;
  }

  /** Whether a command with its id reaches this order and no other, whatever its market does with those on their way. */
  isReachedById(order: LiveOrder): boolean {
    if (order.sequence !== 0) return true;
    for (let other = this.#named(order); other !== NONE; other = this.#nextPresent(other)) {
      if (other !== order.index && !this.at(other).isClosed) return false;
    }
    return true;
  }

  // ---- of a user

  /** The user's orders in memory, newest first; of those on their way the one that its id names. */
  *ofUser(user: UserId): Iterable<LiveOrder> {
    const all = this.pagesOf(user)?.freeze({ marketIndex: null, subAccounts: null, openOnly: false });
    for (const { order } of all?.from(0) ?? []) yield order;
  }

  /**
   * The user's orders in memory, all of them, the youngest first. It may be read in parts while a `pin` keeps what leaves
   * memory meanwhile; what is added meanwhile is not part of it.
   */
  *addedBy(user: UserId): Generator<LiveOrder, void, undefined> {
    const number = this.store.findUser(user);
    if (number === NONE) return;
    for (let index = this.store.newestOfUser(number); index !== NONE; index = this.store.olderOfUser(index)) {
      const order = this.at(index);
      if (!order.isGone) yield order;
    }
  }

  /** What pages show: the user's orders in memory, of those on their way the one that its id names; undefined: none. */
  pagesOf(user: UserId): PageList | undefined {
    const own = this.#byUser.get(user);
    return own === undefined ? undefined : (own.pages ?? this.#makePages(own));
  }

  /** Orders of a sub-account in a market that count against the cap, what quote sets may bring included (AMB-124). */
  openCount(user: UserId, subAccount: number, marketIndex: number): number {
    const coming = this.coming.of(user)?.openIn(marketIndex, subAccount) ?? 0;
    return (this.#groupsOf(user)?.openIn(marketIndex, subAccount) ?? 0) + coming;
  }

  /** Orders of a user that count against the cap (AMB-124). */
  openCountOf(user: UserId): number {
    return (this.#groupsOf(user)?.openTotal ?? 0) + (this.coming.of(user)?.openTotal ?? 0);
  }

  /** Orders of all users that count against the cap. */
  get openCountOfAll(): number {
    return this.#open + this.coming.total;
  }

  /** Markets in which the user has an unfinished order, those on their way included. */
  openMarkets(user: UserId): readonly number[] {
    const open = this.#groupsOf(user)?.openMarkets() ?? [];
    const coming = this.coming.of(user)?.openMarkets() ?? [];
    return coming.length === 0 ? open : [...new Set([...open, ...coming])].sort((a, b) => a - b);
  }

  #groupsOf(user: UserId): OrderGroups | undefined {
    const own = this.#byUser.get(user);
    return own === undefined ? undefined : (own.groups ?? this.#makeGroups(own));
  }

  // ---- into memory

  /**
   * The order of a create, outside of every list until it is added or abandoned.
   *
   * @param budget what it may use where it names no bound of its own; 0 for none (AMB-39).
   * @returns null: the store is full.
   */
  draft(prepared: PreparedCreate, budget: number, now: TimestampNs): LiveOrder | null {
    const index = this.store.claim();
    if (index === NONE) return null;
    const { market, terms, price, quantity, triggerPrice, maxFeeRate } = prepared;
    this.figures.clear(index);
    OrderRecord.setMarketIndex(this.store.viewsOf(index), this.store.at(index), market.definition.marketIndex);
    const order = this.#drafted(index, market);
    const isParked = terms.triggerKind !== TRIGGER.none;
    order.user = terms.user;
    order.orderId = terms.orderId;
    order.subAccount = terms.subAccount;
    order.side = terms.side;
    order.kind = terms.kind;
    order.tif = terms.tif;
    order.flags = terms.flags;
    order.amount = terms.amount;
    order.triggerKind = terms.triggerKind;
    order.creationNs = terms.creationNs;
    order.goodUntilNs = terms.goodUntilNs;
    order.timestampNs = terms.creationNs;
    order.lastUpdateNs = now;
    order.price = price;
    order.quantity = quantity;
    order.budget = budget;
    order.triggerPrice = triggerPrice;
    order.triggerState = isParked ? TRIGGER_STATE.dormant : TRIGGER_STATE.live;
    // A limit above every rate limits nothing, so saturating keeps its meaning.
    order.maxFeeRate = Math.min(maxFeeRate, FEE_RATE_MAX);
    order.parentIdBytes = terms.parentId.length;
    order.releasedQuantity = isParked ? 0 : RELEASED_WHOLE;
    order.pageWord = NOT_LISTED;
    if (terms.parentId !== '') this.#parentIds.set(index, terms.parentId);
    return order;
  }

  /**
   * An entry of a quote set, or the guard of one: outside of every list until it is added or abandoned.
   *
   * @returns null: the store is full.
   */
  draftEntry(entry: EntryTerms): LiveOrder | null {
    const index = this.store.claim();
    if (index === NONE) return null;
    const { market, goodUntilNs, maxFeeRate } = entry;
    this.figures.clear(index);
    OrderRecord.setMarketIndex(this.store.viewsOf(index), this.store.at(index), market.definition.marketIndex);
    const order = this.#drafted(index, market);
    order.user = entry.user;
    order.orderId = entry.orderId as OrderId;
    order.subAccount = entry.subAccount;
    order.side = entry.side;
    order.kind = ORDER_KIND.limit;
    order.tif = goodUntilNs === 0n ? TIF.gtc : TIF.gtd;
    order.flags = entry.flags;
    order.triggerKind = TRIGGER.none;
    order.triggerState = TRIGGER_STATE.live;
    order.creationNs = entry.creationNs;
    order.goodUntilNs = goodUntilNs;
    order.timestampNs = entry.creationNs;
    order.lastUpdateNs = entry.timeNs;
    order.price = entry.price as RawPrice;
    order.quantity = entry.quantity as RawQuantity;
    order.maxFeeRate = Math.min(maxFeeRate, FEE_RATE_MAX);
    order.quoteSet = entry.slot;
    order.protectionGroup = entry.protectionGroup;
    order.releasedQuantity = RELEASED_WHOLE;
    order.pageWord = NOT_LISTED;
    return order;
  }

  /** A draft that was refused. */
  abandon({ index }: LiveOrder): void {
    this.#parentIds.delete(index);
    this.figures.clear(index);
    this.store.abandon(index);
  }

  /** A draft is on its way to its market. */
  add(order: LiveOrder): void {
    this.store.add(order.index);
    order.isAdded = true;
    this.#enter(order);
  }

  /**
   * An order that was accepted before a restart, from its record.
   *
   * @param parentId of a child, else ''.
   */
  restore(v: Views, at: number, parentId: OrderId | ''): LiveOrder {
    const index = this.store.insertCopy(v, at);
    assert(index !== NONE, 'a node restores no more orders than it keeps');
    this.figures.clear(index);
    const order = this.#accessorOf(index);
    order.isAdded = true;
    order.pageWord = NOT_LISTED;
    order.lastSequence = order.sequence;
    if (parentId !== '') this.#parentIds.set(index, parentId);
    this.#enter(order);
    return order;
  }

  #enter(order: LiveOrder): void {
    const own = this.#users[this.store.userOf(order.index)] ?? this.#addUser(order);
    this.#count += 1;
    this.#open += 1;
    own.groups?.changeOpen(order, 1);
    if (order.protectionGroup !== 0) this.#countMember(order, 1);
    if (own.pages !== null) this.#list(own, order);
    else if (this.store.countOfUser(own.number) >= COUNTED_ORDERS) this.#makePages(own);
  }

  #addUser(order: LiveOrder): OrdersOfUser {
    const user = order.recordedUser;
    const number = this.store.userOf(order.index);
    const own: OrdersOfUser = { user, number, groups: null, pages: null, buysFrom: null, sellsFrom: null };
    this.#users[number] = own;
    this.#byUser.set(user, own);
    return own;
  }

  /** The balance that a restored spot order spends from. */
  balanceOf(order: LiveOrder): Balance {
    const own = this.#of(order.index);
    const { side, subAccount, market } = order;
    const isBuy = side === SIDE.buy;
    const asset = isBuy ? USD : market.definition.assetId;
    const last = isBuy ? own.buysFrom : own.sellsFrom;
    if (last !== null && last.subAccount === subAccount && last.asset === asset) return last;
    const balance = this.#holds.balance({ user: own.user, subAccount, asset });
    if (isBuy) own.buysFrom = balance;
    else own.sellsFrom = balance;
    return balance;
  }

  /** The market accepted it: its id and its sequence name it from here on. */
  accept(order: LiveOrder, sequence: number): void {
    const { index, market } = order;
    const { marketIndex } = market.definition;
    assert(
      order.sequence === 0 && this.store.findSequence(marketIndex, sequence) === NONE,
      'an order is accepted once',
    );
    const named = this.#named(order);
    this.store.setSequence(index, sequence as Sequence);
    order.lastSequence = sequence;
    const own = this.#of(index);
    if (named !== index) {
      this.store.putFirstOfId(index);
      this.#list(own, this.at(named));
    }
    this.#list(own, order);
    this.changed(order);
  }

  // ---- changes

  /** Something of the order has changed that its status may follow from. */
  changed(order: LiveOrder): void {
    if (order.pageWord !== NOT_LISTED) this.#of(order.index).pages?.update(order);
  }

  /** A replace gave it a later time (AMB-18). */
  retime(order: LiveOrder, timestampNs: TimestampNs): void {
    const isListed = order.pageWord !== NOT_LISTED;
    const { pages } = this.#of(order.index);
    if (isListed) pages?.remove(order);
    order.timestampNs = timestampNs;
    if (isListed) pages?.insert(order);
  }

  /** Its terminal event was published: it no longer counts against the cap, and no end of a connection cancels it. */
  close(order: LiveOrder): void {
    order.isClosed = true;
    const own = this.#of(order.index);
    this.#open -= 1;
    own.groups?.changeOpen(order, -1);
    if (order.protectionGroup !== 0) this.#countMember(order, -1);
    for (const membership of order.memberships) membership.leave();
    this.#list(own, order);
  }

  /** The order is in another protection group from now on; 0: in none. */
  regroup(order: LiveOrder, slot: number): void {
    if (order.protectionGroup === slot) return;
    const isCounted = order.isAdded && !order.isClosed;
    if (isCounted && order.protectionGroup !== 0) this.#countMember(order, -1);
    order.protectionGroup = slot;
    if (isCounted && slot !== 0) this.#countMember(order, 1);
  }

  /** Orders of a protection group that are not closed, by `protectionKey`. */
  membersOf(key: string): number {
    return this.#members.get(key) ?? 0;
  }

  #countMember(order: LiveOrder, change: 1 | -1): void {
    const { recordedUser: user, marketIndex, protectionGroup: slot } = order;
    const key = protectionKey({ user, marketIndex, slot });
    const count = this.membersOf(key) + change;
    if (count === 0) this.#members.delete(key);
    else this.#members.set(key, count);
  }

  /** The parent is the order's from now on; another one, if it had any, no more. */
  link(order: LiveOrder, parent: LiveOrder): void {
    const { store } = this;
    if (store.parentOf(order.index) !== NONE) store.unlinkChild(order.index);
    store.linkChild(order.index, parent.index);
    order.hadParent = true;
  }

  /** Whatever its parent does, so many lots of the order are activated. */
  unlink(order: LiveOrder, enabledQuantity: number): void {
    if (this.store.parentOf(order.index) !== NONE) this.store.unlinkChild(order.index);
    order.enabledQuantity = enabledQuantity;
  }

  // ---- out of memory

  /** Refused by the market, or finished and in a checkpoint. */
  remove(order: LiveOrder): void {
    assert(
      order.isClosed && order.spend === 0n && order.pendingFills === 0,
      'an order leaves memory without hold or fill',
    );
    for (const leaving of this.onLeaving) leaving(order);
    const { index, market } = order;
    const own = this.#of(index);
    if (order.pageWord !== NOT_LISTED) own.pages?.remove(order);
    market.bestSeen.forget(order);
    if (market.entering === index) market.entering = NONE;
    for (let child = this.store.firstChild(index); child !== NONE; child = this.store.firstChild(index)) {
      this.unlink(this.at(child), order.filledQuantity);
    }
    order.exposure = null;
    order.isGone = true;
    this.#count -= 1;
    const next = this.#named(order);
    if (next !== NONE) this.#list(own, this.at(next));
    this.#giveBack(order);
  }

  /** A request about it was answered. */
  answered(order: LiveOrder): void {
    order.requests -= 1;
    if (order.isGone) this.#giveBack(order);
  }

  /** A page is planned: orders that leave memory from now on keep their records until `unpin`. */
  pin(): Pin {
    this.#lastPin += 1;
    const pin = { number: this.#lastPin };
    this.#pins.add(pin);
    return pin;
  }

  /** The page was read. Further times do nothing. */
  unpin(pin: Pin): void {
    this.#pins.delete(pin);
    const [oldest] = this.#pins;
    const kept = this.#pinned.findIndex((gone) => oldest !== undefined && gone.pin >= oldest.number);
    const free = this.#pinned.splice(0, kept < 0 ? this.#pinned.length : kept);
    for (const { index } of free) this.#free(index);
  }

  /** The index of an order that is gone, as soon as nothing points at it. */
  #giveBack({ index, requests }: LiveOrder): void {
    if (requests > 0) return;
    if (this.#pins.size === 0) this.#free(index);
    else this.#pinned.push({ index, pin: this.#lastPin });
  }

  #free(index: number): void {
    const user = this.store.userOf(index);
    this.#parentIds.delete(index);
    this.replaces.delete(index);
    this.memberships.delete(index);
    this.store.remove(index);
    if (this.store.countOfUser(user) > 0) return;
    this.#byUser.delete(must(this.#users[user], 'the user of an order in memory is known').user);
    this.#users[user] = undefined;
  }

  // ---- helpers

  #of(index: number): OrdersOfUser {
    return must(this.#users[this.store.userOf(index)], 'the user of an order in memory is known');
  }

  /** What the id of an order names; NONE: nothing in memory. */
  #named({ index }: LiveOrder): number {
    return this.#present(this.store.firstOfId(index));
  }

  /** The first of an id's chain, from `index` on, that is not gone. */
  #present(index: number): number {
    return index === NONE || !this.at(index).isGone ? index : this.#nextPresent(index);
  }

  #nextPresent(index: number): number {
    let next = this.store.nextOfId(index);
    while (next !== NONE && this.at(next).isGone) next = this.store.nextOfId(next);
    return next;
  }

  /** Lists or unlists the order, by invariant (3). */
  #list({ pages }: OrdersOfUser, order: LiveOrder): void {
    if (pages === null) return;
    const isListed = order.pageWord !== NOT_LISTED;
    const isShown = this.#isShown(order);
    if (isShown && !isListed) pages.insert(order);
    else if (!isShown && isListed) pages.remove(order);
  }

  /** For an order that is not gone: whether pages show it. */
  #isShown(order: LiveOrder): boolean {
    return order.isClosed || this.#named(order) === order.index;
  }

  #makePages(own: OrdersOfUser): PageList {
    const shown = this.#inMemory(own).filter((order) => this.#isShown(order));
    const pages = new PageList(this, own.groups ?? this.#makeGroups(own));
    pages.fill(shown);
    own.pages = pages;
    return pages;
  }

  #makeGroups(own: OrdersOfUser): OrderGroups {
    const groups = new OrderGroups();
    for (const order of this.#inMemory(own)) if (!order.isClosed) groups.changeOpen(order, 1);
    own.groups = groups;
    return groups;
  }

  /** The user's orders that are not gone, in the order of their insertion. */
  #inMemory({ number }: OrdersOfUser): readonly LiveOrder[] {
    const orders: LiveOrder[] = [];
    for (let index = this.store.newestOfUser(number); index !== NONE; index = this.store.olderOfUser(index)) {
      const order = this.at(index);
      if (!order.isGone) orders.push(order);
    }
    return orders.reverse();
  }
}
