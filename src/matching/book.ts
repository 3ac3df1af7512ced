/**
 * The book of one market: two sides, their orders, the trades that clearing has not decided, and the numbering.
 *
 * Its methods are the steps of commands (market-engine.ts, placement.ts, rollback.ts, uncross.ts, restore.ts): match,
 * rest, take off, end. Each step publishes its event immediately, so steps and sequences have the same order.
 *
 * Invariants, between commands
 *   (1) The best bid is below the best ask, unless the book is being uncrossed.
 *   (2) `pending` of an order counts the undecided trades that contain it; an order that is neither live nor pending leaves
 *       the pool.
 */
import { assert } from '../core/assert.ts';
import type { HashKey } from '../core/key-words.ts';
import { RAW_MAX } from '../core/limits.ts';
import {
  FILL_GROUP,
  type FillGroup,
  isCancel,
  ORDER_END,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
} from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Sequence } from '../core/units.ts';
import { BookSide } from './book-side.ts';
import type { MarketEvents } from './commands.ts';
import { ExpiryWatch } from './expiry-watch.ts';
import type { OrderIds } from './order-ids.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { PriceHash } from './price-hash.ts';
import { Protection, type ProtectionGroup } from './protection.ts';
import { type MarketQuoteSet, QuoteSetTable, type QuoteSide } from './quote-set.ts';
import { UndecidedTrades } from './undecided-trades.ts';

/** Initial ratio; leaves grow independently. */
const ORDERS_PER_LEAF = 16;
/** The compiler folds constants of the same file but loads imported ones. */
const IS_MEMBER: number = MARK.isMember;

/** Callbacks for events of orders and trades; implemented by the triggers (triggers.ts). */
export interface BookWatcher {
  /** A trade is confirmed: first its price, then its lots for each of the two orders that has children. */
  confirmed(price: number): void;
  parentFilled(index: number, lots: number): void;
  /** An order with children is over and all its fills are decided. */
  parentOver(index: number): void;
  /** A waiting order has no released remainder. @returns whether more of it may be activated. */
  awaitsMore(index: number): boolean;
  /** A waiting order ends. @returns its total, activated or not. */
  leave(index: number): number;
}

interface BookParts {
  readonly orders: OrderPool;
  readonly ids: OrderIds;
  readonly events: MarketEvents;
  readonly watcher: BookWatcher;
  /** Key of the hash of prices. */
  readonly key: HashKey;
}

export class Book {
  readonly orders: OrderPool;
  readonly buys: BookSide;
  readonly sells: BookSide;
  readonly expiries: ExpiryWatch;
  readonly trades: UndecidedTrades;
  readonly protection: Protection;
  readonly quoteSets: QuoteSetTable;
  /** The last assigned sequence. */
  sequence = 0;
  /** Limits of fill prices (AMB-39). */
  lowest = 1;
  highest: number = RAW_MAX;
  preventsSelfTrades = false;
  /** While true, changed levels are not published; they are published in one step afterwards (BAT-07). */
  isDepthDeferred = false;
  /** A rollback returned crossing orders: levels are published after uncrossing (uncross.ts, AMB-32). */
  isUncrossing = false;
  readonly #ids: OrderIds;
  readonly #events: MarketEvents;
  readonly #watcher: BookWatcher;
  /** Groups that tripped in the match in hand: their orders are off the book, and their ends are published behind its fills. */
  #tripped: ProtectionGroup[] = [];

  constructor(parts: BookParts, capacity: number) {
    const { events, watcher } = parts;
    this.#ids = parts.ids;
    this.#events = events;
    this.#watcher = watcher;
    this.orders = parts.orders;
    const levels = { leaves: Math.max(capacity / ORDERS_PER_LEAF, 1), hash: new PriceHash(parts.key) };
    this.buys = new BookSide(SIDE.buy, this.orders, levels);
    this.sells = new BookSide(SIDE.sell, this.orders, levels);
    this.expiries = new ExpiryWatch(this.orders);
    this.trades = new UndecidedTrades(this.orders, capacity);
    this.protection = new Protection(this.orders);
    this.quoteSets = new QuoteSetTable(this.orders);
  }

  nextSequence(): Sequence {
    return ++this.sequence as Sequence;
  }

  /** The side on which an order of `side` rests. */
  ownSide(side: Side): BookSide {
    return side === SIDE.buy ? this.buys : this.sells;
  }

  /** The side against which an order of `side` matches. */
  otherSide(side: Side): BookSide {
    return side === SIDE.buy ? this.sells : this.buys;
  }

  /** The worst price at which the order may match: its limit or bound, if it has one, and the collar. */
  boundOf(index: number): number {
    const { orders } = this;
    return this.boundAt(orders.sideOf(index), orders.priceOf(index));
  }

  /** The same of an order with this price; 0: it has none. */
  boundAt(side: Side, price: number): number {
    if (side === SIDE.buy) return price === 0 ? this.highest : Math.min(price, this.highest);
    return Math.max(price, this.lowest);
  }

  /** Whether both orders have the same owner: signer and sub-account (STP-02, STP-05). */
  isSameOwner(a: number, b: number): boolean {
    const { orders } = this;
    return orders.subAccountOf(a) === orders.subAccountOf(b) && orders.userOf(a) === orders.userOf(b);
  }

  /**
   * Matches `wanted` lots of an order that is on no side, at prices up to `bound`: best price first, then time
   * priority, at the maker's price. With self-trade prevention it cancels the owner's resting orders that it reaches
   * (STP-02, STP-03). A fill by which a protected maker reaches its limit takes all orders of that group off the book before
   * the next one (MMP-03); the caller publishes their ends (`endTripped`), so that fills of one taker stay together.
   *
   * @returns the unmatched lots.
   */
  match(taker: number, bound: number, wanted: number): number {
    const orders = this.orders;
    const makers = this.otherSide(orders.sideOf(taker));
    const isFok = orders.tifOf(taker) === TIF.fok;
    let left = wanted;
    while (left > 0 && makers.crosses(bound)) {
      const maker = makers.bestOrder;
      // mutant: self-trade
      if (this.preventsSelfTrades && this.isSameOwner(maker, taker)) {
        this.takeOff(maker);
        this.end(maker, ORDER_END.selfTradePrevented);
        continue;
      }
      const makerLeft = orders.remaining(maker);
      // mutant: maker-quantity
      const lots = Math.min(left, makerLeft);
      left -= lots;
      const group = isFok ? (left === 0 ? FILL_GROUP.last : FILL_GROUP.more) : FILL_GROUP.alone;
      const price = makers.bestPrice;
      this.#fill(maker, taker, lots, price, group);
      if (lots === makerLeft) {
        makers.remove(maker, lots);
        this.exhaust(maker);
      } else makers.adjust(maker, -lots);
      if (orders.hasMark(maker, IS_MEMBER)) this.#protect(maker, taker, lots, price);
    }
    return left;
  }

  /** Matches two crossing resting orders: the younger one takes at the older one's price (AMB-32). */
  matchResting(maker: number, taker: number): void {
    const { orders } = this;
    const lots = Math.min(orders.remaining(maker), orders.remaining(taker));
    const price = orders.priceOf(maker);
    this.#fill(maker, taker, lots, price, FILL_GROUP.alone);
    for (const index of [maker, taker]) {
      const side = this.ownSide(orders.sideOf(index));
      if (orders.remaining(index) > 0) side.adjust(index, -lots);
      else {
        side.remove(index, lots);
        this.exhaust(index);
      }
    }
    if (!orders.hasMark(maker, IS_MEMBER)) return;
    this.#protect(maker, taker, lots, price);
    this.endTripped();
  }

  /**
   * Whether the order would match at `price`, which a post-only order must not (TIF-07). With self-trade prevention the
   * owner's orders do not count (STP-04).
   */
  wouldTake(index: number, price: number): boolean {
    const { orders } = this;
    return this.wouldTakeOf(orders.sideOf(index), price, orders.userOf(index), orders.subAccountOf(index));
  }

  /** The same of an order that is not there yet. */
  wouldTakeOf(side: Side, price: number, user: number, subAccount: number): boolean {
    const { orders } = this;
    const makers = this.otherSide(side);
    if (!makers.crosses(price)) return false;
    if (!this.preventsSelfTrades) return true;
    for (let level = makers.bestLevel; level !== NONE && makers.isWithin(level, price); level = makers.worse(level))
      for (let maker = makers.levelHead(level); maker !== NONE; maker = makers.behind(level, maker))
        if (orders.userOf(maker) !== user || orders.subAccountOf(maker) !== subAccount) return true;
    return false;
  }

  /**
   * Cancels the owner's resting orders that a post-only order would cross, when it crosses no other owner's (STP-04).
   */
  cancelOwn(index: number, price: number): void {
    this.cancelCrossing(this.orders.sideOf(index), price);
  }

  /** The same for an order of `side` that is not there yet. */
  cancelCrossing(side: Side, price: number): void {
    const makers = this.otherSide(side);
    while (makers.crosses(price)) {
      const own = makers.bestOrder;
      this.takeOff(own);
      this.end(own, ORDER_END.selfTradePrevented);
    }
  }

  /** Adds the order at the back of its price. The caller sets its priority sequence. */
  rest(index: number): void {
    const { orders } = this;
    this.ownSide(orders.sideOf(index)).append(index);
    orders.setState(index, ORDER_STATE.resting);
    this.expiries.add(index);
  }

  /** Inserts the order by priority: it rested before, or was restored among resting orders. */
  restByPriority(index: number): void {
    const { orders } = this;
    this.ownSide(orders.sideOf(index)).insert(index);
    orders.setState(index, ORDER_STATE.resting);
    this.expiries.add(index);
  }

  /** Takes a resting order off the book; the caller decides its further state. */
  takeOff(index: number): void {
    const { orders } = this;
    assert(orders.stateOf(index) === ORDER_STATE.resting, 'only a resting order is taken off the book');
    this.ownSide(orders.sideOf(index)).remove(index, orders.remaining(index));
  }

  /** Marks an order without a released remainder. Publishes nothing: the fills imply it. */
  exhaust(index: number): void {
    const { orders } = this;
    const waits = orders.hasMark(index, MARK.waits) && this.#watcher.awaitsMore(index);
    orders.setState(index, waits ? ORDER_STATE.dormant : ORDER_STATE.filled);
  }

  /** Ends an order that is on no side: publishes the end and frees the order once it has no pending fills. */
  end(index: number, end: OrderEnd, faultReason: RollbackReason = 0, requestId = 0): void {
    const { orders } = this;
    if (orders.hasMark(index, MARK.waits))
      orders.setPriceAndQuantity(index, orders.priceOf(index), this.#watcher.leave(index));
    orders.setEnded(index, end);
    const remaining = orders.quantityOf(index) === UNSIZED ? 0 : orders.remaining(index);
    this.#events.ended(this.nextSequence(), orders.sequenceOf(index), end, faultReason, remaining, requestId);
    const set = end === ORDER_END.expired ? this.quoteSets.of(index) : null;
    this.releaseIfDone(index);
    if (set !== null) this.#entryExpired(set);
  }

  /** A set whose last entry has expired is over (QTE-09). */
  #entryExpired(set: MarketQuoteSet): void {
    if (set.isOver || this.quoteSets.countResting(set) > 0) return;
    this.endSet(set, this.expiries.lastHigh, this.expiries.lastLow, ORDER_END.expired);
  }

  /**
   * Raises the mark of a set to that time, and ends it where an end is given: none of its entries rests. Publishes it, unless nothing is
   * changed by it.
   */
  endSet(set: MarketQuoteSet, high: number, low: number, end: OrderEnd | 0): void {
    // mutant: mark-after-cancel-all
    const isRaised = set.raiseMark(high, low);
    const isEnded = end !== 0 && !set.isOver;
    if (!isRaised && !isEnded) return;
    if (isEnded) {
      set.isOver = true;
      set.appliedTrade = this.trades.lastTradeId;
      for (const side of [set.bids, set.asks]) this.dropEntries(side, null);
    }
    this.#events.quoteSetEnded(this.nextSequence(), set, isEnded ? end : 0);
  }

  /**
   * Takes the entries off a list that do not rest. What was filled never returns: its fills are of a revision before (QTE-07).
   *
   * @param dropped called with those that may have come back.
   */
  dropEntries(side: QuoteSide, dropped: ((index: number) => void) | null): void {
    const { orders, quoteSets } = this;
    const { indexes, sequences, count } = side;
    let kept = 0;
    for (let at = 0; at < count; at += 1) {
      const index = indexes[at] as number;
      if (quoteSets.resting(side, at) !== NONE) {
        indexes[kept] = index;
        sequences[kept] = sequences[at] as number;
        kept += 1;
        continue;
      }
      const state = orders.stateOf(index);
      const isWanted = state === ORDER_STATE.filled || state === ORDER_STATE.filledCancelPending;
      if (orders.sequenceOf(index) !== sequences[at] || !isWanted) continue;
      // mutant: out-entry
      quoteSets.setOut(index);
      // One with a pending cancel ends with it; that was published.
      if (state === ORDER_STATE.filled) dropped?.(index);
    }
    side.count = kept;
  }

  /**
   * Ends an entry that is on no side and publishes nothing: the event of its quote set has it. Of one that never traded not even the id
   * is remembered: its set gives no number twice.
   */
  leaveSet(index: number): void {
    const { orders } = this;
    orders.setEnded(index, ORDER_END.userRequested);
    const hasTraded = orders.filledOf(index) !== 0 || orders.pendingOf(index) !== 0;
    if (hasTraded || orders.hasMark(index, MARK.hasChildren)) {
      this.releaseIfDone(index);
      return;
    }
    if (orders.hasMark(index, IS_MEMBER)) this.protection.leave(index);
    this.#ids.dismiss(index);
  }

  /** Frees an order that is neither live nor in undecided trades; only its id is remembered (AMB-08, AMB-23). */
  releaseIfDone(index: number): void {
    const { orders } = this;
    const state = orders.stateOf(index);
    if (orders.pendingOf(index) !== 0 || state === ORDER_STATE.resting || state === ORDER_STATE.dormant) return;
    const isParent = orders.hasMark(index, MARK.hasChildren);
    if (orders.hasMark(index, IS_MEMBER)) this.protection.leave(index);
    this.#ids.retire(index, state === ORDER_STATE.ended && isCancel(orders.endOf(index)));
    if (isParent) this.#watcher.parentOver(index);
  }

  /** Every trade up to `tradeId` is decided: confirmed, unless it was rolled back. */
  settle(tradeId: number): void {
    const { trades } = this;
    assert(tradeId <= trades.lastTradeId, 'settled trades were matched before');
    while (trades.settledThrough < tradeId) {
      const at = trades.indexOf(++trades.settledThrough);
      const lots = trades.quantity[at] as number;
      if (lots === 0) continue;
      this.#watcher.confirmed(trades.price[at] as number);
      this.#confirm(trades.maker[at] as number, lots);
      this.#confirm(trades.taker[at] as number, lots);
    }
  }

  #confirm(index: number, lots: number): void {
    if (this.orders.hasMark(index, MARK.hasChildren)) this.#watcher.parentFilled(index, lots);
    this.decide(index);
  }

  /** One fill of the order is no longer pending. */
  decide(index: number): void {
    const { orders } = this;
    const pending = orders.pendingOf(index) - 1;
    assert(pending >= 0, 'a decided fill was pending');
    orders.setPending(index, pending);
    if (pending === 0) this.releaseIfDone(index);
  }

  /** Publishes the levels that changed since the last commit. */
  commitDepth(): void {
    if (this.isDepthDeferred || this.isUncrossing) return;
    const { buys, sells } = this;
    if (buys.isPublished && sells.isPublished) return;
    if (!buys.isPublished) buys.commit(this.#events);
    if (!sells.isPublished) sells.commit(this.#events);
    this.#events.depthCommitted(this.sequence as Sequence);
  }

  /** Discards level changes without publishing them: the caller publishes the whole book instead. */
  dropDepthChanges(): void {
    this.buys.dropChanges();
    this.sells.dropChanges();
  }

  isCrossed(): boolean {
    return this.buys.bestOrder !== NONE && this.sells.crosses(this.buys.bestPrice);
  }

  /** Counts the last fill for the group of its maker; if that reaches a limit, all members leave the book at once. */
  #protect(maker: number, taker: number, lots: number, price: number): void {
    const { orders, protection } = this;
    const limit = protection.filled(maker, taker, this.trades.lastTradeId, lots, price);
    if (limit === null) return;
    const group = protection.groupOf(maker);
    const sequence = this.nextSequence();
    const untilNs = protection.freeze(group, sequence);
    this.#events.protectionTriggered(sequence, group.key, group.slot, limit, untilNs);
    // mutant: protection-off-the-book
    for (const index of group.members) if (orders.stateOf(index) === ORDER_STATE.resting) this.takeOff(index);
    this.#tripped.push(group);
  }

  /** Ends what was live of the groups that have tripped in a match, by acceptance. What is filled is over too: rollback.ts. */
  endTripped(): void {
    if (this.#tripped.length === 0) return;
    const { orders } = this;
    const groups = this.#tripped;
    this.#tripped = [];
    for (const { members, user, slot } of groups) {
      for (const index of [...members].sort((a, b) => orders.sequenceOf(a) - orders.sequenceOf(b))) {
        const state = members.has(index) ? orders.stateOf(index) : ORDER_STATE.free;
        if (state === ORDER_STATE.resting || state === ORDER_STATE.dormant)
          this.end(index, ORDER_END.marketMakerProtection);
      }
      const { nowHigh, nowLow } = this.protection;
      for (const set of this.quoteSets.ofUser(user))
        if (set.protectionGroup === slot) this.endSet(set, nowHigh, nowLow, ORDER_END.marketMakerProtection);
    }
  }

  #fill(maker: number, taker: number, lots: number, price: number, group: FillGroup): void {
    const { orders } = this;
    const tradeId = this.trades.add(maker, taker, price, lots) as Sequence;
    orders.setFilled(maker, orders.filledOf(maker) + lots);
    orders.setFilled(taker, orders.filledOf(taker) + lots);
    this.quoteSets.traded(maker, lots);
    this.quoteSets.traded(taker, lots);
    this.#events.matched(
      this.nextSequence(),
      tradeId,
      orders.sequenceOf(maker),
      orders.sequenceOf(taker),
      price,
      lots,
      orders.sideOf(taker),
      group,
    );
  }
}

/** The pool quantity of an order that is sized in quote and has no cap. */
export const UNSIZED: number = Number.POSITIVE_INFINITY;
