/**
 * The reference book's state and the steps of which its commands are made: match, rest, end, drop, release. Lists and
 * bigint, searched from the front; it shares the vocabulary of the engine and no code.
 */
import {
  isCancel,
  MARKET_STATUS,
  type MarketStatus,
  ORDER_END,
  ORDER_END_WORD,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  TRIGGER,
} from '../../src/core/order-terms.ts';
import { compareLevels, type Told } from './market-recorder.ts';
import {
  allowedAt,
  canRest,
  enabled,
  isAlive,
  isPostOnly,
  isSameOwner,
  isUnsized,
  least,
  left,
  type ReferenceOrder,
  type ReferenceTrade,
  type Size,
  sizeOf,
  type Walk,
} from './reference-order.ts';

import {
  endFreeze,
  fillOf,
  limitReached,
  metBy,
  newGroup,
  passGroup,
  type ReferenceGroup,
  type ReferenceProtection,
} from './reference-protection.ts';
import { endSet, entriesOf, type ReferenceQuoteSet } from './reference-quotes.ts';

// The ids of the reference book that no live order has: remembered ones, watermarks and held cancels (AMB-08, AMB-25).

const LIFE_NS = 30n * 86_400n * 1_000_000_000n;

export interface Name {
  readonly user: string;
  readonly orderId: string;
}

export interface Remembered extends Name {
  readonly creationNs: bigint;
  readonly wasCancelled: boolean;
}

export function isNamed(a: Name): (b: Name) => boolean {
  return (b) => a.user === b.user && a.orderId === b.orderId;
}

class ReferenceIds {
  remembered: Remembered[] = [];
  watermarks: Map<string, bigint> = new Map();
  holds: (Name & { readonly untilNs: bigint })[] = [];
  readonly #rememberedMax: number;

  constructor(rememberedPerUserMax: number) {
    this.#rememberedMax = rememberedPerUserMax;
  }

  copyFrom({ remembered, watermarks, holds }: ReferenceIds): void {
    this.remembered = [...remembered];
    this.watermarks = new Map(watermarks);
    this.holds = [...holds];
  }

  remember({ user, orderId, creationNs, wasCancelled }: Remembered): void {
    this.remembered.push({ user, orderId, creationNs, wasCancelled });
    const own = this.remembered.filter((id) => id.user === user);
    const first = own[0];
    if (own.length <= this.#rememberedMax || first === undefined) return;
    this.remembered = this.remembered.filter((id) => id !== first);
    const before = this.watermarks.get(user) ?? -1n;
    this.watermarks.set(user, before > first.creationNs ? before : first.creationNs);
  }

  /** An id counts for 30 days; until it is used again it keeps its place in the bounded memory. */
  rememberedOf(name: Name, nowNs: bigint): Remembered | undefined {
    const id = this.remembered.find(isNamed(name));
    return id !== undefined && id.creationNs + LIFE_NS > nowNs ? id : undefined;
  }

  /** It is used again. */
  take(name: Name): void {
    const isIt = isNamed(name);
    this.remembered = this.remembered.filter((id) => !isIt(id));
  }

  /** @returns whether a cancel was waiting for this create; it waits no more. */
  spendHold(name: Name): boolean {
    const at = this.holds.findIndex(isNamed(name));
    if (at >= 0) this.holds.splice(at, 1);
    return at >= 0;
  }
}

export const RAW_MAX: bigint = 2n ** 53n - 1n;

export interface ReferenceLimits {
  readonly priceDecimals: number;
  readonly parkedCancelNs: bigint;
  readonly parkedCancelsPerUserMax: number;
  readonly rememberedIdsPerUserMax: number;
  /** Orders that one command ends at most because their time is over. */
  readonly expiredPerPoll: number;
}

/** What an order is about to look for on the other side; null: without a bound, none. */
export interface ReferenceWay {
  readonly side: Side;
  readonly price: number;
  readonly owner: { readonly user: string; readonly subAccount: number } | null;
  readonly lots: bigint | null;
  readonly money: bigint | null;
}

export class ReferenceState {
  told: Told[] = [];
  status: MarketStatus = MARKET_STATUS.active;
  selfTradePrevention = false;
  /** No fill below the first for a sell, above the second for a buy. */
  collar: readonly [number, number] = [1, Number(RAW_MAX)];
  nowNs = 0n;
  sequence = 0;
  lastTradeId = 0;
  /** Orders that live and those with undecided fills, in order of admission. */
  orders: ReferenceOrder[] = [];
  undecided: ReferenceTrade[] = [];
  tellQueue: ReferenceOrder[] = [];
  placeQueue: ReferenceOrder[] = [];
  /** Groups of protection, those that were removed left out. */
  groups: ReferenceGroup[] = [];
  /** Quote sets, in the order of their slots of each user. */
  sets: ReferenceQuoteSet[] = [];
  /** Those that tripped in the match in hand. */
  #tripped: ReferenceGroup[] = [];
  /** Users at fault in rollbacks since the book was whole last, with the reason of the first (AMB-32). */
  faults: Map<string, RollbackReason> = new Map();
  /** What came back crosses: no level is published until it is uncrossed. */
  isUncrossing = false;
  /** Crossing orders of users at fault; null: they are to be looked for. */
  leaving: ReferenceOrder[] | null = null;
  readonly ids: ReferenceIds;
  readonly limits: ReferenceLimits;
  levelsTold: Map<string, bigint> = new Map();

  constructor(limits: ReferenceLimits) {
    this.limits = limits;
    this.ids = new ReferenceIds(limits.rememberedIdsPerUserMax);
  }

  copyTo(clone: ReferenceState): void {
    const copies = new Map(this.orders.map((order) => [order, { ...order }]));
    const copyOf = (order: ReferenceOrder): ReferenceOrder => copies.get(order) as ReferenceOrder;
    for (const copy of copies.values()) if (copy.parent !== null) copy.parent = copyOf(copy.parent);
    const { status, selfTradePrevention, collar, nowNs, sequence, lastTradeId, levelsTold } = this;
    Object.assign(clone, { status, selfTradePrevention, collar, nowNs, sequence, lastTradeId, levelsTold });
    const groups = new Map(
      [...this.groups, ...this.orders.map(({ group }) => group)].map((group) => [group, group && { ...group }]),
    );
    for (const copy of copies.values()) copy.group = groups.get(copy.group) ?? null;
    const sets = new Map(this.sets.map((set) => [set, { ...set }]));
    for (const copy of copies.values()) copy.set = copy.set && (sets.get(copy.set) as ReferenceQuoteSet);
    clone.sets = [...sets.values()];
    clone.groups = this.groups.map((group) => groups.get(group) as ReferenceGroup);
    clone.orders = [...copies.values()];
    clone.undecided = this.undecided.map((trade) => ({
      ...trade,
      maker: copyOf(trade.maker),
      taker: copyOf(trade.taker),
      legs: trade.legs.map(copyOf),
    }));
    clone.faults = new Map(this.faults);
    clone.isUncrossing = this.isUncrossing;
    clone.leaving = this.leaving?.map((order) => copies.get(order) ?? { ...order }) ?? null;
    clone.tellQueue = this.tellQueue.map(copyOf);
    clone.placeQueue = this.placeQueue.map(copyOf);
    clone.ids.copyFrom(this.ids);
  }

  take(): Told[] {
    const told = this.told;
    this.told = [];
    return told;
  }

  /** An order enters the book. A post-only one takes nothing, so its own are out of its way whatever the collar (STP-04). */
  enter(order: ReferenceOrder, wanted: bigint | null): void {
    order.state = 'placing';
    if (isPostOnly(order)) for (const own of this.crossedBy(order)) this.end(own, ORDER_END.selfTradePrevented);
    this.place(order, wanted);
  }

  /** Places an order that is on no side; `wanted` lots of it are to be matched, null: as its money allows. */
  place(order: ReferenceOrder, wanted: bigint | null): void {
    order.state = 'placing';
    const walk = { wanted, unit: 10n ** BigInt(this.limits.priceDecimals) };
    const size = sizeOf(order, this.#offeredTo(order), walk);
    const isComplete = (size.reached === 'money' || size.reached === 'quantity') && order.filled + size.lots > 0n;
    if (order.tif === TIF.fok && !isComplete) {
      this.end(order, ORDER_END.fillOrKill);
      return;
    }
    this.#match(order, size.lots);
    this.#cancelOwn(order, { ...walk, wanted: wanted === null ? null : wanted - size.lots });
    this.endTripped();
    this.#settleDown(order, size);
  }

  /** Own orders with which it would have gone on are reached too (STP-03, AMB-38). */
  #cancelOwn(order: ReferenceOrder, walk: Walk): void {
    for (;;) {
      const next = this.#reachableBy(order)[0];
      if (next === undefined || !this.isOwn(order, next)) return;
      if (allowedAt(order, BigInt(next.price), walk, { lots: 0n, money: 0n }) <= 0n) return;
      this.end(next, ORDER_END.selfTradePrevented);
    }
  }

  #settleDown(order: ReferenceOrder, { reached }: Size): void {
    const { kind, activated, quantity, filled } = order;
    if (kind !== ORDER_KIND.marketQuote && filled >= quantity) this.#becomeFilled(order);
    else if (filled > 0n && (reached === 'money' || (reached === 'quantity' && kind === ORDER_KIND.marketQuote)))
      this.end(order, ORDER_END.filled);
    else if (canRest(order) && left(order) > 0n) this.#rest(order);
    else if (activated < quantity) order.state = 'fired';
    else this.end(order, ORDER_END.immediateOrCancel);
  }

  #rest(order: ReferenceOrder): void {
    const fits = this.levelOf(order.side, order.price) + left(order) <= RAW_MAX;
    if (this.crossedBy(order).length > 0 || !fits) this.end(order, ORDER_END.immediateOrCancel);
    else order.state = 'resting';
  }

  #becomeFilled(order: ReferenceOrder): void {
    order.state = 'filled';
    this.releaseIfDone(order);
  }

  #match(taker: ReferenceOrder, lots: bigint): void {
    let wanted = lots;
    while (wanted > 0n) {
      const maker = this.#reachableBy(taker)[0] as ReferenceOrder;
      if (this.isOwn(taker, maker)) {
        this.end(maker, ORDER_END.selfTradePrevented);
        continue;
      }
      const quantity = least([wanted, left(maker)]);
      wanted -= quantity;
      this.trade(maker, taker, quantity, taker.tif !== TIF.fok ? 0 : wanted === 0n ? 2 : 1);
      this.exhaust(maker);
      this.protect(maker, taker, quantity);
    }
  }

  // ---- protection

  /** @param terms null: the group is removed. @param resetTrip freezes of trips up to this one are over; 0 for none. */
  setProtection(user: string, slot: number, terms: ReferenceProtection | null, resetTrip = 0): void {
    const known = this.groupOf(user, slot);
    const group = known ?? newGroup(user, slot);
    group.terms = terms;
    if (terms === null) {
      endFreeze(group);
      this.groups = this.groups.filter((each) => each !== group);
    } else {
      if (known === undefined) this.groups.push(group);
      if (group.freeze !== null && group.freeze.trip <= resetTrip) endFreeze(group);
    }
  }

  groupOf(user: string, slot: number): ReferenceGroup | undefined {
    return this.groups.find((group) => group.user === user && group.slot === slot);
  }

  /** Counts the last trade for its maker; all members are off the book before the next one if it reaches a limit. */
  protect(maker: ReferenceOrder, taker: ReferenceOrder, lots: bigint): void {
    const { group, price } = maker;
    if (group === null || group.terms === null || group.user === taker.user) return;
    passGroup(group, this.nowNs);
    group.fills = [...group.fills, fillOf(group, { tradeId: this.lastTradeId, ns: this.nowNs, lots, price })];
    const limit = limitReached(group, group.fills);
    if (group.freeze !== null || limit === 0) return;
    const trip = ++this.sequence;
    const untilNs = group.terms.frozenNs === 0n ? 0n : this.nowNs + group.terms.frozenNs;
    group.freeze = { untilNs, trip };
    group.trip = trip;
    this.told.push(['protectionTriggered', trip, group.user, group.slot, limit, untilNs]);
    for (const order of this.orders) if (order.group === group && order.state === 'resting') order.state = 'placing';
    this.#tripped.push(group);
  }

  endTripped(): void {
    for (const group of this.#tripped.splice(0)) {
      for (const order of this.orders.filter((each) => each.group === group))
        if (this.orders.includes(order) && isAlive(order)) this.end(order, ORDER_END.marketMakerProtection);
      for (const set of this.sets)
        if (set.user === group.user && set.terms.protectionGroup === group.slot)
          endSet(this, set, this.nowNs, ORDER_END.marketMakerProtection);
    }
  }

  /** It was a member at the last trip. */
  isOver({ group, joinedAt }: ReferenceOrder): boolean {
    return group !== null && joinedAt < group.trip;
  }

  /** A fill of the group's was undone by no fault of its own. */
  uncount(group: ReferenceGroup, tradeId: number): void {
    passGroup(group, this.nowNs);
    const left = group.fills.filter((fill) => fill.tradeId !== tradeId);
    const isIn = left.length < group.fills.length;
    group.fills = left;
    if (!isIn || group.freeze === null || limitReached(group, left) !== 0) return;
    group.freeze = null;
    this.told.push(['protectionEnded', ++this.sequence, group.user, group.slot, group.trip]);
  }

  /** At the maker's price. */
  trade(maker: ReferenceOrder, taker: ReferenceOrder, quantity: bigint, unit: number): void {
    for (const order of [maker, taker]) {
      order.filled += quantity;
      order.spent += quantity * BigInt(maker.price);
      const { set, side } = order;
      if (set !== null && !order.isOut) set.traded = { ...set.traded, [side]: set.traded[side] + Number(quantity) };
    }
    const tradeId = ++this.lastTradeId;
    this.undecided.push({ tradeId, price: maker.price, quantity, maker, taker, legs: [maker, taker] });
    const numbers = [++this.sequence, tradeId, maker.sequence, taker.sequence, maker.price];
    this.told.push(['matched', ...numbers, Number(quantity), taker.side, unit]);
  }

  /** A resting order of which nothing is left in force: a child may wait for more. */
  exhaust(order: ReferenceOrder): void {
    if (left(order) === 0n) order.state = order.filled < order.quantity ? 'fired' : 'filled';
  }

  isOwn(taker: ReferenceOrder, maker: ReferenceOrder): boolean {
    return this.selfTradePrevention && isSameOwner(taker, maker);
  }

  /** Resting orders of the other side at this price or better, best first. */
  #within(side: Side, bound: number): ReferenceOrder[] {
    const sign = side === SIDE.buy ? 1 : -1;
    return this.orders
      .filter((maker) => maker.state === 'resting' && maker.side !== side && sign * (bound - maker.price) >= 0)
      .sort((a, b) => sign * (a.price - b.price) || a.priority - b.priority);
  }

  isDue(order: ReferenceOrder): boolean {
    return isAlive(order) && order.expiryNs <= this.nowNs;
  }

  /** An order is met: if its time is over, it goes. @returns whether it does. */
  meet(order: ReferenceOrder): boolean {
    const isDue = this.isDue(order);
    if (isDue) this.end(order, ORDER_END.expired);
    if (isDue) this.tellLevels();
    return isDue;
  }

  /** What is due on the way of an order that is about to enter goes, until its lots or its money are offered. */
  endExpiredWithin({ side, price, owner, lots, money }: ReferenceWay): void {
    let offered = 0n;
    let worth = 0n;
    const due: ReferenceOrder[] = [];
    for (const maker of this.#within(side, price)) {
      const isEnough = (lots !== null && offered >= lots) || (money !== null && worth >= money);
      if (isEnough) break;
      if (this.isDue(maker)) due.push(maker);
      const isOwn = owner !== null && owner.user === maker.user && owner.subAccount === maker.subAccount;
      // A protected order may be gone before it is reached.
      if (this.isDue(maker) || maker.group !== null || (this.selfTradePrevention && isOwn)) continue;
      offered += left(maker);
      worth += left(maker) * BigInt(maker.price);
    }
    for (const order of due) this.end(order, ORDER_END.expired);
    if (due.length > 0) this.tellLevels();
  }

  /** The worst price that matters to an order: the collar where it names none. */
  wayPrice({ side, price }: { side: Side; price: number }): number {
    return price !== 0 ? price : this.collar[side === SIDE.buy ? 1 : 0];
  }

  /** What the order would cross if it rested. */
  crossedBy({ side, price }: { side: Side; price: number }): ReferenceOrder[] {
    return this.#within(side, price);
  }

  /** What a post-only order may not cross: with self-trade prevention its own orders give way (STP-04, AMB-38). */
  wouldTake(order: ReferenceOrder): boolean {
    return this.crossedBy(order).some((maker) => !this.isOwn(order, maker));
  }

  /** What it may match: within its limit and the collar. */
  #reachableBy(order: ReferenceOrder): ReferenceOrder[] {
    const [lowest, highest] = this.collar;
    const collar = order.side === SIDE.buy ? highest : lowest;
    const isInside = order.side === SIDE.buy ? order.price <= highest : order.price >= lowest;
    // Of a market order it is its bound, 0 for none.
    const usesLimit = order.price !== 0 && isInside;
    return this.#within(order.side, usesLimit ? order.price : collar);
  }

  #offeredTo(order: ReferenceOrder): ReferenceOrder[] {
    for (const group of this.groups) passGroup(group, this.nowNs);
    const makers = this.#reachableBy(order).filter((maker) => !this.isOwn(order, maker));
    return metBy(order, makers, left);
  }

  end(
    order: ReferenceOrder,
    end: OrderEnd,
    { faultReason = 0, requestId = 0 }: { faultReason?: RollbackReason; requestId?: number } = {},
  ): void {
    order.state = 'ended';
    order.end = end;
    this.leaveQueues(order);
    const remaining = order.quantity > order.filled ? Number(order.quantity - order.filled) : 0;
    this.told.push(['ended', ++this.sequence, order.sequence, ORDER_END_WORD[end], faultReason, remaining, requestId]);
    this.releaseIfDone(order);
    const { set } = order;
    const isLast = end === ORDER_END.expired && set !== null && !order.isOut && entriesOf(this, set).length === 0;
    if (isLast && !set.isOver) endSet(this, set, this.nowNs, ORDER_END.expired);
  }

  /** It wants no more than is filled; a rollback may free it again (AMB-19, AMB-32 e). */
  complete(order: ReferenceOrder, requestId: number): void {
    // A market order is what its event states (AMB-128).
    if (order.kind !== ORDER_KIND.limit) {
      this.end(order, ORDER_END.filled);
      return;
    }
    order.state = 'filled';
    this.leaveQueues(order);
    this.told.push(['ended', ++this.sequence, order.sequence, 'Filled', 0, 0, requestId]);
    this.releaseIfDone(order);
  }

  /** @param isForgotten it left its quote set and never traded: its id is not remembered. */
  releaseIfDone(order: ReferenceOrder, isForgotten = false): void {
    const isPending = this.undecided.some(({ legs }) => legs.includes(order));
    if (isPending || isAlive(order) || !this.orders.includes(order)) return;
    this.orders = this.orders.filter((each) => each !== order);
    if (!isForgotten)
      this.ids.remember({ ...order, wasCancelled: order.state === 'ended' && isCancel(order.end as OrderEnd) });
    for (const child of this.childrenOf(order)) this.#loseParent(child);
  }

  childrenOf(parent: ReferenceOrder): ReferenceOrder[] {
    return this.orders.filter((order) => order.parent === parent);
  }

  /** The parent is over: what it has not activated will never be (AMB-29). */
  #loseParent(child: ReferenceOrder): void {
    const total = enabled(child);
    child.parent = null;
    if (!isAlive(child) || total === child.quantity) return;
    if (total === 0n) {
      this.end(child, ORDER_END.parentCanceled);
      return;
    }
    child.quantity = total;
    this.tellReplaced(child, ++this.sequence, 0);
    if (child.state !== 'fired' || child.activated < total) return;
    if (child.filled >= total) this.complete(child, 0);
    else this.end(child, ORDER_END.immediateOrCancel);
  }

  tellReplaced(order: ReferenceOrder, sequence: number, requestId: number): void {
    const { priority, price, quantity, timestampNs } = order;
    const trigger = order.state === 'dormant' ? [order.triggerKind, order.triggerPrice] : [TRIGGER.none, 0];
    const values = [sequence, order.sequence, priority, price, Number(quantity)];
    this.told.push(['replaced', ...values, timestampNs, requestId, ...trigger]);
  }

  leaveQueues(order: ReferenceOrder): void {
    this.tellQueue = this.tellQueue.filter((each) => each !== order);
    this.placeQueue = this.placeQueue.filter((each) => each !== order);
    order.isAnswerPending = false;
    order.granted = null;
  }

  queueToTell(order: ReferenceOrder): void {
    if (!this.tellQueue.includes(order)) this.tellQueue.push(order);
  }

  /** Its condition holds, or more of it is activated (AMB-28, AMB-29). */
  tell(order: ReferenceOrder): void {
    const quantity = enabled(order);
    order.told = quantity;
    order.wasTold = true;
    order.isAnswerPending = quantity > order.activated || isUnsized(order);
    order.publishedAt = ++this.sequence;
    this.told.push(['triggered', order.publishedAt, order.sequence, order.triggerPrice, Number(quantity)]);
  }

  /** Puts what was granted in force. */
  activate(order: ReferenceOrder): void {
    const granted = order.granted as bigint;
    const growth = granted - order.activated;
    const rested = order.state === 'resting';
    order.granted = null;
    if (!rested && isPostOnly(order) && this.wouldTake(order)) {
      this.end(order, ORDER_END.postOnlyWouldCross);
      return;
    }
    if (order.kind !== ORDER_KIND.limit) order.price = order.grantedBound;
    if (order.grantedBudget > 0n && order.kind !== ORDER_KIND.limit) {
      order.budget = order.grantedBudget;
      order.budgetFrom = { filled: order.filled, spent: order.spent };
    }
    const sequence = ++this.sequence;
    order.activated = granted;
    order.priority = sequence;
    // Wholly in force it is an order like any other.
    if (granted === order.quantity) order.parent = null;
    this.told.push(['activated', sequence, order.sequence, sequence, Number(granted)]);
    if (rested) {
      order.state = 'placing';
      this.#rest(order);
    } else this.enter(order, isUnsized(order) ? null : canRest(order) ? left(order) : growth);
  }

  levels(): Map<string, bigint> {
    const levels = new Map<string, bigint>();
    for (const order of this.orders)
      if (order.state === 'resting') {
        const key = `${order.side} ${order.price}`;
        levels.set(key, (levels.get(key) ?? 0n) + left(order));
      }
    return levels;
  }

  /** What rests at a price, without `except`. */
  levelOf(side: Side, price: number, except: ReferenceOrder | null = null): bigint {
    return this.orders
      .filter((order) => order.state === 'resting' && order.side === side && order.price === price && order !== except)
      .reduce((sum, order) => sum + left(order), 0n);
  }

  tellLevels(): void {
    if (this.isUncrossing) return;
    const now = this.levels();
    const changed: Told[] = [];
    for (const key of new Set([...now.keys(), ...this.levelsTold.keys()])) {
      const quantity = now.get(key) ?? 0n;
      if (quantity === (this.levelsTold.get(key) ?? 0n)) continue;
      const [side, price] = key.split(' ').map(Number) as [number, number];
      changed.push(['levelChanged', side, price, Number(quantity)]);
    }
    this.levelsTold = now;
    if (changed.length > 0) this.told.push(...changed.sort(compareLevels), ['depthCommitted', this.sequence]);
  }
}

// How the reference book is uncrossed after orders came back to it (AMB-32, AMB-110).

export class ReferenceUncrossing extends ReferenceState {
  /** Orders may have come back, and cross. */
  beginUncrossing(): void {
    this.leaving = null;
    if (this.#crossing().length > 0) this.isUncrossing = true;
  }

  /** @returns whether more is left after so many steps. */
  uncross(budget: number = Number.POSITIVE_INFINITY): boolean {
    if (this.isUncrossing) {
      this.leaving ??= this.#crossing().filter(({ user }) => this.faults.has(user));
      for (let left = budget; ; left--) {
        if (left === 0) return true;
        if (!this.#step()) break;
      }
    }
    this.isUncrossing = false;
    this.leaving = null;
    this.faults.clear();
    this.tellLevels();
    return false;
  }

  /** Resting orders of a side, best first. */
  #queue(side: Side): ReferenceOrder[] {
    const sign = side === SIDE.buy ? -1 : 1;
    return this.orders
      .filter((order) => order.state === 'resting' && order.side === side)
      .sort((a, b) => sign * (a.price - b.price) || a.priority - b.priority);
  }

  /** All that cross something, bids first. */
  #crossing(): ReferenceOrder[] {
    const [bids, asks] = [this.#queue(SIDE.buy), this.#queue(SIDE.sell)];
    return [
      ...bids.filter((bid) => asks.some((ask) => ask.price <= bid.price)),
      ...asks.filter((ask) => bids.some((bid) => ask.price <= bid.price)),
    ];
  }

  #step(): boolean {
    for (;;) {
      const order = this.leaving?.shift();
      if (order === undefined) break;
      if (order.state !== 'resting' || !this.orders.includes(order)) continue;
      if (!this.meet(order)) {
        const faultReason = this.faults.get(order.user);
        this.end(order, ORDER_END.atFault, faultReason === undefined ? {} : { faultReason });
      }
      return true;
    }
    const [bid] = this.#queue(SIDE.buy);
    const [ask] = this.#queue(SIDE.sell);
    if (bid === undefined || ask === undefined || bid.price < ask.price) return false;
    if (!this.meet(bid) && !this.meet(ask)) {
      if (bid.priority < ask.priority) this.#meetOlder(ask, bid);
      else this.#meetOlder(bid, ask);
    }
    return true;
  }

  /** The younger one comes upon the older one as if it came now. */
  #meetOlder(younger: ReferenceOrder, older: ReferenceOrder): void {
    const [lowest, highest] = this.collar;
    const isOwn = this.isOwn(younger, older);
    if (isPostOnly(younger) && (!isOwn || this.#crossesOlderForeign(younger)))
      this.end(younger, ORDER_END.postOnlyWouldCross);
    else if (isOwn) this.end(older, ORDER_END.selfTradePrevented);
    else if (younger.side === SIDE.buy ? older.price > highest : older.price < lowest)
      this.end(younger, ORDER_END.immediateOrCancel);
    else {
      this.trade(older, younger, least([left(older), left(younger)]), 0);
      for (const order of [older, younger]) this.exhaust(order);
      this.protect(older, younger, this.undecided.at(-1)?.quantity ?? 0n);
      this.endTripped();
    }
  }

  #crossesOlderForeign(order: ReferenceOrder): boolean {
    return this.crossedBy(order).some((other) => other.priority < order.priority && !isSameOwner(other, order));
  }
}
