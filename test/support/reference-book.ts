/**
 * The judge of the market engine: its commands, over the steps of reference-state.ts. Slow and plain on purpose; nothing
 * is remembered that can be worked out. How it is restarted from what clearing keeps is reference-restart.ts.
 */
import { CHILDREN_PER_PARENT_MAX } from '../../src/core/limits.ts';
import {
  isAtFault,
  isCancel,
  MARKET_STATUS,
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  TRIGGER,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import type { Terms } from './market-recorder.ts';
import {
  canRest,
  enabled,
  isAlive,
  isPostOnly,
  isUnsized,
  left,
  mayActivate,
  orderOf,
  type ReferenceOrder,
  type ReferenceTrade,
} from './reference-order.ts';
import { passGroup, type ReferenceGroup } from './reference-protection.ts';
import {
  applyQuotes,
  endSet,
  entriesOf,
  isGiven,
  isOldFill,
  lastEntriesOf,
  type ReferenceQuoteCommand,
  type ReferenceQuoteSet,
} from './reference-quotes.ts';
import { isNamed, type Name, RAW_MAX, ReferenceUncrossing, type Remembered } from './reference-state.ts';

interface Change extends Name {
  readonly requestId: number;
  readonly receivedNs: bigint;
}

export interface ReferenceReplace extends Change {
  readonly timestampNs: bigint;
  readonly price: number;
  readonly quantity: number;
  readonly triggerKind: TriggerKind;
  readonly triggerPrice: number;
  /** Complete terms: price and quantity are given, and no trigger means that the order does not wait for one. */
  readonly isComplete?: boolean;
}

export interface ReferenceAmend extends Change {
  readonly timestampNs: bigint;
  readonly quantity: number;
  /** The revision that the order must have. */
  readonly expectedNs: bigint | null;
}

export interface ReferenceRelease {
  readonly order: number;
  readonly triggered: number;
  readonly quantity: number;
  readonly budget: number;
  readonly bound: number;
  readonly end: OrderEnd | 0;
  readonly receivedNs: bigint;
}

export class ReferenceBook extends ReferenceUncrossing {
  /** Another book in the same state, that shares nothing which changes. */
  clone(): ReferenceBook {
    const clone = new ReferenceBook(this.limits);
    this.copyTo(clone);
    return clone;
  }

  create(terms: Terms): void {
    this.uncross();
    this.passTo(terms.receivedNs);
    this.#beforeCreate(terms);
    const refusal = this.#refusalOf(terms);
    if (refusal !== null) {
      this.told.push(['createRefused', 0, terms.requestId, refusal]);
      return;
    }
    const parent = this.#parentOf(terms) ?? null;
    this.ids.take(terms);
    const group = this.groupOf(terms.user, terms.protectionGroup ?? 0) ?? null;
    const order = orderOf(terms, ++this.sequence, parent, group);
    if (order.state === 'placing' && isPostOnly(order) && this.wouldTake(order)) {
      this.ids.remember({ ...order, wasCancelled: true });
      this.told.push(['createRefused', order.sequence, terms.requestId, 'WOULD_CROSS']);
      return;
    }
    this.orders.push(order);
    this.told.push(['accepted', order.sequence, order.user, order.orderId, parent?.sequence ?? 0]);
    if (order.state === 'placing') this.enter(order, order.quantity === 0n ? null : order.quantity);
    this.tellLevels();
  }

  #beforeCreate(terms: Terms): void {
    const { user, subAccount, side, kind, quantity, amount, parentId } = terms;
    this.#beforeCommand(terms);
    if (parentId !== '') this.#beforeCommand({ user, orderId: parentId });
    else if (terms.triggerKind === TRIGGER.none) {
      const lots = kind === ORDER_KIND.marketQuote && quantity === 0 ? null : BigInt(quantity);
      const hasMoney = kind !== ORDER_KIND.limit && amount > 0;
      const money = hasMoney ? BigInt(amount) * 10n ** BigInt(this.limits.priceDecimals) : null;
      this.endExpiredWithin({ side, price: this.wayPrice(terms), owner: { user, subAccount }, lots, money });
    }
  }

  #beforeCommand(name: Name): void {
    const order = this.#known(name);
    if (order !== undefined) this.meet(order);
  }

  #beforeReplace(terms: ReferenceReplace): void {
    this.#beforeCommand(terms);
    const order = this.#known(terms);
    if (order?.state !== 'resting' || terms.price === 0) return;
    const [has, asks] = [left(order), BigInt(terms.quantity)];
    this.endExpiredWithin({
      side: order.side,
      price: terms.price,
      owner: order,
      lots: has > asks ? has : asks,
      money: null,
    });
  }

  replace(terms: ReferenceReplace): void {
    this.uncross();
    this.passTo(terms.receivedNs);
    this.#beforeReplace(terms);
    const order = this.#known(terms);
    const refusal = this.#refusalOfReplace(order, terms);
    if (refusal !== null) this.told.push(['replaceRefused', terms.requestId, refusal]);
    else this.#replace(order as ReferenceOrder, terms);
    this.tellLevels();
  }

  /** A replace of the total alone, in every status (wire-additions.md 4). */
  amend(terms: ReferenceAmend): void {
    this.uncross();
    this.passTo(terms.receivedNs);
    this.#beforeCommand(terms);
    const order = this.#known(terms);
    const refusal = order !== undefined && isAlive(order) ? refusalOfAmend(order, terms) : this.#whyNot(terms);
    const unchanged = { price: 0, triggerKind: TRIGGER.none, triggerPrice: 0 };
    if (refusal !== null) this.told.push(['replaceRefused', terms.requestId, refusal]);
    else this.#replace(order as ReferenceOrder, { ...terms, ...unchanged });
    this.tellLevels();
  }

  #refusalOfReplace(order: ReferenceOrder | undefined, terms: ReferenceReplace): string | null {
    if (this.status !== MARKET_STATUS.active) return 'MARKET_HALTED';
    if (order === undefined || !isAlive(order)) return this.#whyNot(terms);
    if (order.set !== null) return 'QUOTE_ENTRY';
    if (order.kind !== ORDER_KIND.limit) return 'INVALID_ORDER';
    const age = terms.timestampNs - order.timestampNs;
    if (age < 0n || (age === 0n && !this.#isSame(order, terms))) return 'REQUEST_TOO_OLD';
    if (age > 0n && !mayHaveTrigger(order, terms)) return 'INVALID_ORDER';
    const quantity = terms.quantity === 0 ? order.quantity : BigInt(terms.quantity);
    if (mayGrow(order) && quantity !== order.quantity) return 'INVALID_ORDER';
    const isTooMuch = quantity > order.quantity && order.parent !== null && !mayActivate(order.parent, quantity);
    return isTooMuch ? 'INVALID_ORDER' : null;
  }

  applyQuotes(command: ReferenceQuoteCommand): void {
    this.uncross();
    this.passTo(command.receivedNs);
    applyQuotes(this, command);
    this.tellLevels();
  }

  /** @param terms name '': every set of the user. */
  /** With bounds what is within them is cancelled, and no set ends; the mark of the whole set rises. */
  endQuotes(terms: {
    user: string;
    name: string;
    requestId: number;
    receivedNs: bigint;
    end: OrderEnd;
    beforeNs?: bigint;
    sideOnly?: number;
  }): void {
    this.uncross();
    this.passTo(terms.receivedNs);
    const { user, name, requestId, receivedNs, end, beforeNs = 0n, sideOnly = 0 } = terms;
    const isWhole = beforeNs === 0n && sideOnly === 0;
    const meant = this.sets.filter((set) => set.user === user && (name === '' || name === set.name));
    const isMeant = ({ side, timestampNs }: ReferenceOrder): boolean =>
      (sideOnly === 0 || sideOnly === side + 1) && (beforeNs === 0n || timestampNs < beforeNs);
    for (const set of meant) {
      const entries = isWhole ? entriesOf(this, set) : lastEntriesOf(this, set);
      for (const order of entries.filter(isMeant)) if (!this.meet(order)) this.#cancel(order, requestId, end);
      endSet(this, set, beforeNs === 0n ? receivedNs : beforeNs - 1n, isWhole ? end : 0);
    }
    this.told.push(['quoteSetsEnded', requestId, name !== '' && meant.length === 0 ? 'ORDER_NOT_FOUND' : '']);
    this.tellLevels();
  }

  #isSame(order: ReferenceOrder, terms: ReferenceReplace): boolean {
    const { price, quantity, triggerKind } = terms;
    return (
      (price === 0 || price === order.price) &&
      (quantity === 0 || BigInt(quantity) === order.quantity) &&
      (triggerKind === TRIGGER.none || hasTrigger(order, terms))
    );
  }

  #replace(order: ReferenceOrder, terms: ReferenceReplace): void {
    const { requestId } = terms;
    const price = terms.price === 0 ? order.price : terms.price;
    const total = terms.quantity === 0 ? order.quantity : BigInt(terms.quantity);
    const after = { ...order, price, quantity: total, activated: isWhole(order) ? total : order.activated };
    if (terms.timestampNs === order.timestampNs) this.told.push(['replaceUnchanged', requestId, order.sequence]);
    else if (order.state === 'resting' && left(after) > 0n && isPostOnly(order) && this.#movesInto(order, price)) {
      this.end(order, ORDER_END.postOnlyWouldCross, { requestId });
      this.told.push(['replaceRefused', requestId, 'WOULD_CROSS']);
    } else if (order.state === 'resting' && this.levelOf(order.side, price, order) + left(after) > RAW_MAX)
      this.told.push(['replaceRefused', requestId, 'INVALID_ORDER']);
    else this.#applyReplace(order, after, terms);
  }

  #movesInto(order: ReferenceOrder, price: number): boolean {
    return price !== order.price && this.wouldTake({ ...order, price });
  }

  #applyReplace(
    order: ReferenceOrder,
    after: ReferenceOrder,
    { requestId, timestampNs, ...terms }: ReferenceReplace,
  ): void {
    const { price, quantity, activated } = after;
    const sequence = ++this.sequence;
    const moves = price !== order.price;
    const losesPlace = moves || quantity - order.filled > order.quantity - order.filled;
    if (order.state === 'resting' && losesPlace && quantity > order.filled) order.priority = sequence;
    Object.assign(order, { price, quantity, activated, timestampNs, revisionNs: timestampNs });
    if (terms.triggerKind !== TRIGGER.none && order.state === 'dormant') {
      order.triggerKind = terms.triggerKind;
      order.triggerPrice = terms.triggerPrice;
    }
    this.tellReplaced(order, sequence, requestId);
    if (quantity <= order.filled) this.complete(order, requestId);
    else if (order.state !== 'dormant' && order.triggerKind !== TRIGGER.none && enabled(order) > activated)
      this.#tellAgain(order);
    if (order.state === 'resting' && moves) this.enter(order, left(order));
  }

  /** Earlier events and releases of it had other terms. */
  #tellAgain(order: ReferenceOrder): void {
    order.isAnswerPending = false;
    order.granted = null;
    order.told = null;
    this.placeQueue = this.placeQueue.filter((each) => each !== order);
    this.queueToTell(order);
  }

  cancel(terms: Change & { mayPark: boolean; end?: OrderEnd }): void {
    this.uncross();
    this.passTo(terms.receivedNs);
    this.#beforeCommand(terms);
    const { user, orderId, requestId } = terms;
    const order = this.#known(terms);
    const isHeld = this.ids.holds.some(isNamed(terms));
    const isKnown =
      order !== undefined ||
      this.ids.rememberedOf(terms, this.nowNs) !== undefined ||
      (!isHeld && isGiven(this, user, orderId));
    if (order !== undefined && this.#canBeCancelled(order)) {
      this.#cancel(order, requestId, terms.end);
      this.told.push(['cancelAccepted', requestId, order.sequence]);
    } else if (isKnown || !terms.mayPark) this.told.push(['cancelRefused', requestId, this.#whyNot(terms)]);
    else if (isHeld) this.told.push(['cancelAccepted', requestId, 0]);
    else if (this.ids.holds.filter((hold) => hold.user === user).length >= this.limits.parkedCancelsPerUserMax)
      this.told.push(['cancelRefused', requestId, 'ORDER_NOT_FOUND']);
    else {
      this.ids.take(terms);
      this.ids.holds.push({ user, orderId, untilNs: terms.receivedNs + this.limits.parkedCancelNs });
      this.told.push(['cancelAccepted', requestId, 0]);
    }
    this.tellLevels();
  }

  /** Trades of clearing get the next ids. */
  reserveTradeIds(count: number): void {
    this.told.push(['tradeIdsReserved', ++this.sequence, this.lastTradeId + 1, count]);
    this.lastTradeId += count;
  }

  /** @param terms beforeNs 0: whatever its timestamp (AMB-18). */
  cancelAll(terms: { user: string; requestId: number; receivedNs: bigint; beforeNs: bigint; end: OrderEnd }): void {
    this.uncross();
    this.passTo(terms.receivedNs);
    for (const order of this.orders.filter(({ user }) => user === terms.user)) {
      const isOld = terms.beforeNs === 0n || order.timestampNs < terms.beforeNs;
      const isNodeMade = (order.flags & ORDER_FLAG.nodeMade) !== 0;
      const isMeant = terms.end === ORDER_END.userRequested || isAlive(order);
      if (isOld && isMeant && !isNodeMade && this.#canBeCancelled(order) && !this.meet(order))
        this.#cancel(order, terms.requestId, terms.end);
    }
    const isAll = terms.beforeNs === 0n;
    for (const set of this.sets.filter(({ user }) => user === terms.user)) {
      const isOver = isAll && entriesOf(this, set).length === 0;
      endSet(this, set, isAll ? terms.receivedNs : terms.beforeNs - 1n, isOver ? terms.end : 0);
    }
    this.told.push(['allCancelled', terms.requestId]);
    this.tellLevels();
  }

  /** The end of its parent may have been the end of a child too. */
  #canBeCancelled(order: ReferenceOrder): boolean {
    return this.orders.includes(order) && (isAlive(order) || order.state === 'filled');
  }

  #cancel(order: ReferenceOrder, requestId: number, end: OrderEnd = ORDER_END.userRequested): void {
    if (isAlive(order)) this.end(order, end, { requestId });
    else {
      order.state = 'cancelPending';
      order.cancelEnd = end;
      this.told.push(['cancelPending', ++this.sequence, order.sequence]);
    }
  }

  tick(nowNs: bigint): void {
    this.uncross();
    this.passTo(nowNs);
  }

  /** Everything that is over at `nowNs` goes. */
  passTo(nowNs: bigint): void {
    this.nowNs = nowNs;
    this.expire(this.limits.expiredPerPoll);
    this.tellLevels();
    for (const group of this.groups) passGroup(group, nowNs);
    for (const { user, orderId } of this.ids.holds.filter((hold) => hold.untilNs <= nowNs))
      this.told.push(['parkedCancelExpired', user, orderId]);
    this.ids.holds = this.ids.holds.filter((hold) => hold.untilNs > nowNs);
  }

  expire(most: number): void {
    const due = this.orders.filter((order) => this.isDue(order));
    due.sort((a, b) => (a.expiryNs === b.expiryNs ? a.sequence - b.sequence : a.expiryNs < b.expiryNs ? -1 : 1));
    for (const order of due.slice(0, most)) if (this.isDue(order)) this.end(order, ORDER_END.expired);
  }

  #isBehind(): boolean {
    return this.orders.some((order) => this.isDue(order));
  }

  release(command: ReferenceRelease): void {
    this.uncross();
    this.passTo(command.receivedNs);
    const order = this.orders.find(({ sequence }) => sequence === command.order);
    if (order === undefined || !order.isAnswerPending) return;
    if (this.meet(order)) return;
    if (order.publishedAt !== command.triggered || order.told !== BigInt(command.quantity)) return;
    order.isAnswerPending = false;
    if (command.end !== 0) this.end(order, command.end);
    else {
      order.granted = order.told;
      order.grantedBudget = BigInt(command.budget);
      order.grantedBound = command.bound;
      if (!this.placeQueue.includes(order)) this.placeQueue.push(order);
    }
    this.tellLevels();
  }

  poll(nowNs: bigint, budget: number): boolean {
    this.uncross();
    const isActive = this.status === MARKET_STATUS.active;
    if (!this.#isBehind() && !(isActive && this.#waits())) return false;
    this.passTo(nowNs);
    for (let some = budget; isActive && some > 0; some--) {
      const order = this.tellQueue.shift();
      if (order !== undefined && !this.meet(order)) this.tell(order);
    }
    for (let some = budget; isActive && some > 0; some--) {
      const order = this.placeQueue.shift();
      if (order !== undefined && this.#mayEnter(order)) this.activate(order);
      this.tellLevels();
    }
    this.tellLevels();
    return this.#isBehind() || (isActive && this.#waits());
  }

  #waits(): boolean {
    return this.tellQueue.length + this.placeQueue.length > 0;
  }

  #mayEnter(order: ReferenceOrder): boolean {
    if (this.meet(order)) return false;
    const lots = isUnsized(order) ? null : order.granted;
    this.endExpiredWithin({ side: order.side, price: this.wayPrice(order), owner: order, lots, money: null });
    return isAlive(order);
  }

  settled(tradeId: number): void {
    for (const trade of this.undecided.filter((each) => each.tradeId <= tradeId)) {
      this.#fire(trade.price);
      for (const order of [trade.maker, trade.taker]) {
        order.confirmed += trade.quantity;
        order.paid += trade.quantity * BigInt(trade.price);
        for (const child of this.childrenOf(order))
          if (isAlive(child) && child.told !== null && enabled(child) > child.told) this.queueToTell(child);
        this.#decide(trade, order);
      }
    }
  }

  #fire(price: number): void {
    const behind = (order: ReferenceOrder): number =>
      order.triggerKind === TRIGGER.above ? price - order.triggerPrice : order.triggerPrice - price;
    const fired = this.orders.filter((order) => order.state === 'dormant' && behind(order) >= 0);
    for (const order of fired.sort((a, b) => behind(b) - behind(a) || a.sequence - b.sequence)) {
      order.state = 'fired';
      this.queueToTell(order);
    }
  }

  #decide(trade: ReferenceTrade, order: ReferenceOrder): void {
    trade.legs = trade.legs.filter((leg) => leg !== order);
    if (trade.legs.length === 0) this.undecided = this.undecided.filter((each) => each !== trade);
    this.releaseIfDone(order);
  }

  rollback(tradeId: number, reasons: { maker: RollbackReason; taker: RollbackReason }, nowNs: bigint): void {
    this.passTo(nowNs);
    const trade = this.undecided.find((each) => each.tradeId === tradeId);
    if (trade === undefined) throw new Error(`no undecided trade ${tradeId}`);
    const sides = [
      { order: trade.maker, reason: reasons.maker },
      { order: trade.taker, reason: reasons.taker },
    ];
    for (const { order } of sides) this.meet(order);
    if (isAtFault(reasons.taker) && !isAtFault(reasons.maker)) sides.reverse();
    for (const { order, reason } of sides) {
      if (isAtFault(reason) && !this.faults.has(order.user)) this.faults.set(order.user, reason);
      this.#reverse(order, trade, reason, nowNs);
      this.#decide(trade, order);
    }
    const { group } = trade.maker;
    if (group !== null && !isAtFault(reasons.maker)) this.uncount(group, tradeId);
    this.beginUncrossing();
    this.tellLevels();
  }

  #reverse(order: ReferenceOrder, trade: ReferenceTrade, reason: RollbackReason, nowNs: bigint): void {
    const { state } = order;
    const wasResting = state === 'resting';
    const level = this.levelOf(order.side, order.price);
    const isOld = isOldFill(order, trade.tradeId);
    order.filled -= trade.quantity;
    order.spent -= trade.quantity * BigInt(trade.price);
    const fault = isAtFault(order.fault) ? order.fault : reason;
    if (isOld) {
      // What its set in force wants has nothing to do with it, unless the owner is at fault.
      order.quantity -= trade.quantity;
      order.activated -= trade.quantity;
      if (state === 'filled') order.fault = fault;
      else if (wasResting && isAtFault(reason)) this.end(order, ORDER_END.atFault, { faultReason: reason });
    } else if (state === 'ended') {
      // Its end was published.
    } else if (!wasResting && left(order) === 0n) {
      // It wants no more, yet.
      if (state === 'filled') order.fault = fault;
    } else if (state === 'cancelPending') {
      if (left(order) > 0n) this.end(order, order.cancelEnd);
    } else if (isAtFault(fault)) this.end(order, ORDER_END.atFault, { faultReason: fault });
    else if (!canRest(order)) {
      if (state === 'filled') this.end(order, ORDER_END.rolledBack);
    } else if (order.isOut) this.end(order, ORDER_END.rolledBack);
    else if (!wasResting && this.isOver(order)) this.end(order, ORDER_END.marketMakerProtection);
    else if (!wasResting && order.expiryNs <= nowNs) this.end(order, ORDER_END.expired);
    else {
      const back = wasResting ? trade.quantity : left(order);
      if (level + back > RAW_MAX) this.end(order, ORDER_END.rolledBack);
      else this.#bringBack(order, back);
    }
  }

  #bringBack(order: ReferenceOrder, quantity: bigint): void {
    order.state = 'resting';
    this.told.push(['restored', ++this.sequence, order.sequence, order.priority, Number(quantity)]);
  }

  #refusalOf(terms: Terms): string | null {
    const isNodes = (terms.flags & ORDER_FLAG.nodeMade) !== 0;
    const isOpen = this.status === MARKET_STATUS.active || (isNodes && this.status === MARKET_STATUS.cancelOnly);
    if (!isOpen) return 'MARKET_HALTED';
    if (this.#known(terms) !== undefined || this.ids.rememberedOf(terms, this.nowNs) !== undefined)
      return 'DUPLICATE_ORDER';
    if (this.ids.spendHold(terms)) return 'ALREADY_CANCELLED';
    if (isGiven(this, terms.user, terms.orderId)) return 'DUPLICATE_ORDER';
    if (terms.expiryNs <= terms.receivedNs) return 'ORDER_EXPIRED';
    if (!isNodes && terms.creationNs <= (this.ids.watermarks.get(terms.user) ?? -1n)) return 'REQUEST_TOO_OLD';
    const restsAtOnce = canRest(terms) && terms.triggerKind === TRIGGER.none;
    const level = this.levelOf(terms.side, terms.price);
    if (restsAtOnce && level + BigInt(terms.quantity) > RAW_MAX) return 'INVALID_ORDER';
    const slot = terms.protectionGroup ?? 0;
    const group = this.groupOf(terms.user, slot);
    if (slot !== 0 && group === undefined) return 'INVALID_ORDER';
    if (group !== undefined && group.freeze !== null) return 'MMP_FROZEN';
    return terms.parentId === '' ? null : this.#refusalOfChild(terms);
  }

  #refusalOfChild(terms: Terms): string | null {
    const parent = this.#parentOf(terms);
    if (parent === undefined || !this.#canBeCancelled(parent)) return 'ORDER_NOT_FOUND';
    const { kind, triggerKind, side, subAccount } = parent;
    const canBe = kind === ORDER_KIND.limit && triggerKind === TRIGGER.none;
    if (!canBe || side === terms.side || subAccount !== terms.subAccount) return 'INVALID_ORDER';
    if (!mayActivate(parent, BigInt(terms.quantity))) return 'INVALID_ORDER';
    return this.childrenOf(parent).filter(isAlive).length >= CHILDREN_PER_PARENT_MAX ? 'TOO_MANY_OPEN_ORDERS' : null;
  }

  #parentOf({ user, parentId }: Terms): ReferenceOrder | undefined {
    return this.#known({ user, orderId: parentId });
  }

  #whyNot(terms: Name): string {
    const order = this.#known(terms);
    const past = this.ids.rememberedOf(terms, this.nowNs);
    const isGone = order === undefined && past === undefined && isGiven(this, terms.user, terms.orderId);
    const wasCancelled = isGone || past?.wasCancelled === true;
    const ended = order?.state === 'ended' && isCancel(order.end as OrderEnd);
    return order?.state === 'cancelPending' || ended || wasCancelled ? 'ALREADY_CANCELLED' : 'ORDER_NOT_FOUND';
  }

  #known(name: Name): ReferenceOrder | undefined {
    return this.orders.find(isNamed(name));
  }
}

/** Released as a whole, or without a trigger: an order like any other. */
function isWhole({ state, activated, quantity }: ReferenceOrder): boolean {
  return state === 'resting' && activated === quantity;
}

/** Whether the terms name the trigger that the order waits for, or waited for and is not released from as a whole. */
function hasTrigger(order: ReferenceOrder, { triggerKind, triggerPrice }: ReferenceReplace): boolean {
  return !isWhole(order) && triggerKind === order.triggerKind && triggerPrice === order.triggerPrice;
}

/**
 * A trigger changes only while the order waits for it (AMB-20). Complete terms do not take it away then, and name it without
 * an effect once it has fired (wire-additions.md 3.3).
 */
function mayHaveTrigger(order: ReferenceOrder, terms: ReferenceReplace): boolean {
  const { triggerKind, isComplete = false } = terms;
  if (order.state === 'dormant') return !isComplete || triggerKind !== TRIGGER.none;
  return triggerKind === TRIGGER.none || (isComplete && hasTrigger(order, terms));
}

/** An amend lowers the total of a limit order, for the revision that it expects (wire-additions.md 4.3). */
function refusalOfAmend(order: ReferenceOrder, { timestampNs, quantity, expectedNs }: ReferenceAmend): string | null {
  if (order.set !== null) return 'QUOTE_ENTRY';
  if (order.revisionNs !== expectedNs) return 'ORDER_REVISION_MISMATCH';
  if (timestampNs <= order.timestampNs) return 'REQUEST_TOO_OLD';
  if (order.kind !== ORDER_KIND.limit || BigInt(quantity) >= order.quantity) return 'INVALID_ORDER';
  // As for a replace: the total of a child changes before any of it is released, or when all of it is.
  return mayGrow(order) ? 'INVALID_ORDER' : null;
}

// A restart of the reference book from what clearing keeps: undecided fills never happened (AMB-110).

export interface Durable {
  /** In order of admission, so that parents come before their children. */
  readonly orders: ReferenceOrder[];
  /** In the order in which they ended. */
  readonly remembered: Remembered[];
  /** As rows have them: without the fills. */
  readonly groups: ReferenceGroup[];
  /** What is counted from the start on begins anew. */
  readonly sets: ReferenceQuoteSet[];
}

/** What clearing would hand back after a crash. */
export function durable(book: ReferenceBook): Durable {
  const restored = new Map<ReferenceOrder, ReferenceOrder>();
  const groups = new Map(book.groups.map((group) => [group, { ...group, fills: [] }]));
  const sets = new Map(book.sets.map((set) => [set, { ...set, traded: { 0: 0, 1: 0 }, termsNs: null }]));
  const remembered = [...book.ids.remembered];
  for (const order of book.orders) {
    const lostParent = order.parent !== null && !restored.has(order.parent);
    const parent = order.parent === null ? null : (restored.get(order.parent) ?? null);
    const quantity = lostParent ? enabled(order) : order.quantity - oldLots(book, order);
    const activated = order.activated - oldLots(book, order);
    const set = order.set && (sets.get(order.set) as ReferenceQuoteSet);
    const group = (order.group && groups.get(order.group)) ?? null;
    const after = asKept({
      ...order,
      quantity,
      activated,
      parent,
      group,
      set,
      filled: order.confirmed,
      spent: order.paid,
    });
    const isOrphan = lostParent && quantity === 0n;
    const isOver = book.isOver(order) && (order.quantity === 0n || order.confirmed < order.quantity);
    if (!isOrphan && !isOver && !order.isOut && livesOn(after)) restored.set(order, after);
    else
      remembered.push({
        ...order,
        wasCancelled: wasCancelled(order) || isOver || order.isOut || (isOrphan && isAlive(order)),
      });
  }
  return { orders: [...restored.values()], remembered, groups: [...groups.values()], sets: [...sets.values()] };
}

/** Undecided lots of an entry that are from before the revision in force: it rests what was signed without them. */
function oldLots(book: ReferenceBook, order: ReferenceOrder): bigint {
  return book.undecided
    .filter(({ tradeId, legs }) => legs.includes(order) && isOldFill(order, tradeId))
    .reduce((sum, { quantity }) => sum + quantity, 0n);
}

function wasCancelled({ state, end }: ReferenceOrder): boolean {
  return state === 'cancelPending' || (state === 'ended' && isCancel(end as OrderEnd));
}

/** As the row has it: a fired order that was published, or one that was released as far as its market reported. */
function asKept(order: ReferenceOrder): ReferenceOrder {
  if (order.state === 'ended' || order.state === 'cancelPending') return order;
  const told = enabled(order);
  const kept = { ...order, granted: null, grantedBudget: 0n, isAnswerPending: false, told: null, publishedAt: 0 };
  if (order.state === 'dormant' || (order.state === 'fired' && !order.wasTold)) return { ...kept, state: 'dormant' };
  const isReleased = order.activated > 0n;
  if (!isReleased) return { ...kept, told, isAnswerPending: told > 0n || isUnsized(order) };
  const { filled, spent, activated, quantity } = order;
  const live = { ...kept, told, budgetFrom: { filled, spent }, parent: activated === quantity ? null : order.parent };
  const rests = canRest(live) && left(live) > 0n;
  return { ...live, state: rests ? 'resting' : filled < quantity ? 'fired' : 'filled' };
}

function livesOn(order: ReferenceOrder): boolean {
  const waits = order.activated === 0n && (order.state === 'dormant' || order.state === 'fired');
  return waits || (isAlive(order) && (canRest(order) || mayGrow(order)));
}

/** A child that is released in part. What was in force of one that never rests has met all that it could. */
export function mayGrow({ activated, quantity }: ReferenceOrder): boolean {
  return activated > 0n && activated < quantity;
}

/** Every order is there again, and what crosses is uncrossed. Levels: silence. */
export function restart(book: ReferenceBook, nowNs: bigint, gap: number): void {
  const { orders, remembered, groups, sets } = durable(book);
  book.groups = groups;
  book.sets = sets;
  book.sequence += gap;
  book.lastTradeId += gap;
  for (const set of sets) set.appliedTrade = book.lastTradeId;
  book.undecided = [];
  book.tellQueue = orders.filter((order) => mayGrow(order) && enabled(order) > order.activated);
  book.placeQueue = [];
  book.ids.holds = [];
  book.ids.remembered = [];
  for (const id of remembered) book.ids.remember(id);
  book.orders = orders;
  const resting = orders.filter((order) => order.state === 'resting');
  for (const order of resting) order.state = 'placing';
  // The order with priority gets the space of a level that is too full.
  resting.sort((a, b) => a.priority - b.priority);
  const misfits = resting.filter((order) => {
    const fits = book.levelOf(order.side, order.price) + left(order) <= RAW_MAX;
    if (fits) order.state = 'resting';
    return !fits;
  });
  for (const order of misfits) book.end(order, ORDER_END.rolledBack);
  book.nowNs = nowNs;
  book.expire(orders.length);
  book.isUncrossing = false;
  book.faults.clear();
  book.beginUncrossing();
  book.uncross();
  book.told = book.told.filter(([name]) => name !== 'levelChanged' && name !== 'depthCommitted');
  book.levelsTold = book.levels();
}
