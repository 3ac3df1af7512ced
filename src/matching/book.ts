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
  isCancel,
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
} from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Sequence } from '../core/units.ts';
import { BookSide } from './book-side.ts';
import { FILL_UNIT, type FillUnit, type MarketEvents } from './commands.ts';
import { ExpiryWatch } from './expiry-watch.ts';
import type { OrderIds } from './order-ids.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { PriceHash } from './price-hash.ts';
import { UndecidedTrades } from './undecided-trades.ts';

/** Initial ratio; leaves grow independently. */
const ORDERS_PER_LEAF = 16;

/** Callbacks for events of orders and trades; implemented by the triggers (triggers.ts). */
export interface BookWatcher {
  /** A trade is confirmed: first its price, then its lots for each of the two orders that has children. */
  confirmed(price: number): void;
  parentFilled(slot: number, lots: number): void;
  /** An order with children is over and all its fills are decided. */
  parentOver(slot: number): void;
  /** A waiting order has no released remainder. @returns whether more of it may be activated. */
  waitsForMore(slot: number): boolean;
  /** A waiting order ends. @returns its total, activated or not. */
  leave(slot: number): number;
}

export interface BookParts {
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
  /** The last assigned sequence. */
  sequence = 0;
  /** Limits of fill prices (AMB-39). */
  lowest = 1;
  highest: number = RAW_MAX;
  preventsSelfTrades = false;
  /** While true, changed levels are not published; they are published in one step afterwards (BAT-07). */
  isDepthHeld = false;
  /** A rollback returned crossing orders: levels are published after uncrossing (uncross.ts, AMB-32). */
  isUncrossing = false;
  readonly #ids: OrderIds;
  readonly #events: MarketEvents;
  readonly #watcher: BookWatcher;

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

  /** The worst price at which the order may match: its limit, if it has one, and the collar. */
  boundOf(slot: number): number {
    const { orders } = this;
    const isLimit = orders.kindOf(slot) === ORDER_KIND.limit;
    const price = orders.priceOf(slot);
    if (orders.sideOf(slot) === SIDE.buy) return isLimit && price < this.highest ? price : this.highest;
    return isLimit && price > this.lowest ? price : this.lowest;
  }

  /** Whether both orders have the same owner: signer and sub-account (STP-02, STP-05). */
  isSameOwner(a: number, b: number): boolean {
    const { orders } = this;
    return orders.subAccountOf(a) === orders.subAccountOf(b) && orders.userOf(a) === orders.userOf(b);
  }

  /**
   * Matches `wanted` lots of an order that is on no side, at prices up to `bound`: best price first, then time
   * priority, at the maker's price. With self-trade prevention it cancels the owner's resting orders that it reaches
   * (STP-02, STP-03).
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
      const unit = isFok ? (left === 0 ? FILL_UNIT.fokLast : FILL_UNIT.fokMoreFollow) : FILL_UNIT.none;
      this.#fill(maker, taker, lots, makers.bestPrice, unit);
      if (lots === makerLeft) {
        makers.remove(maker, lots);
        this.exhaust(maker);
      } else makers.adjust(maker, -lots);
    }
    return left;
  }

  /** Matches two crossing resting orders: the younger one takes at the older one's price (AMB-32). */
  matchResting(maker: number, taker: number): void {
    const { orders } = this;
    const lots = Math.min(orders.remaining(maker), orders.remaining(taker));
    this.#fill(maker, taker, lots, orders.priceOf(maker), FILL_UNIT.none);
    for (const slot of [maker, taker]) {
      const side = this.ownSide(orders.sideOf(slot));
      if (orders.remaining(slot) > 0) side.adjust(slot, -lots);
      else {
        side.remove(slot, lots);
        this.exhaust(slot);
      }
    }
  }

  /**
   * Whether the order would match at `price`, which a post-only order must not (TIF-07). With self-trade prevention the
   * owner's orders do not count (STP-04).
   */
  wouldTake(slot: number, price: number): boolean {
    const makers = this.otherSide(this.orders.sideOf(slot));
    if (!makers.crosses(price)) return false;
    if (!this.preventsSelfTrades) return true;
    for (let level = makers.bestLevel; level !== NONE && makers.isWithin(level, price); level = makers.worse(level))
      for (let maker = makers.levelHead(level); maker !== NONE; maker = makers.behind(level, maker))
        if (!this.isSameOwner(maker, slot)) return true;
    return false;
  }

  /**
   * Cancels the owner's resting orders that a post-only order would cross, when it crosses no other owner's (STP-04).
   */
  cancelOwn(slot: number, price: number): void {
    const makers = this.otherSide(this.orders.sideOf(slot));
    while (makers.crosses(price)) {
      const own = makers.bestOrder;
      this.takeOff(own);
      this.end(own, ORDER_END.selfTradePrevented);
    }
  }

  /** Adds the order at the back of its price. The caller sets its priority sequence. */
  rest(slot: number): void {
    const { orders } = this;
    this.ownSide(orders.sideOf(slot)).append(slot);
    orders.setState(slot, ORDER_STATE.resting);
    this.expiries.add(slot);
  }

  /** Inserts the order by priority: it rested before, or was restored among resting orders. */
  restByPriority(slot: number): void {
    const { orders } = this;
    this.ownSide(orders.sideOf(slot)).insert(slot);
    orders.setState(slot, ORDER_STATE.resting);
    this.expiries.add(slot);
  }

  /** Takes a resting order off the book; the caller decides its further state. */
  takeOff(slot: number): void {
    const { orders } = this;
    assert(orders.stateOf(slot) === ORDER_STATE.resting, 'only a resting order is taken off the book');
    this.ownSide(orders.sideOf(slot)).remove(slot, orders.remaining(slot));
  }

  /** Marks an order without a released remainder. Publishes nothing: the fills imply it. */
  exhaust(slot: number): void {
    const { orders } = this;
    const waits = orders.hasMark(slot, MARK.waits) && this.#watcher.waitsForMore(slot);
    orders.setState(slot, waits ? ORDER_STATE.dormant : ORDER_STATE.filled);
  }

  /** Ends an order that is on no side: publishes the end and frees the order once it has no pending fills. */
  end(slot: number, end: OrderEnd, faultReason: RollbackReason = 0, requestId = 0): void {
    const { orders } = this;
    if (orders.hasMark(slot, MARK.waits))
      orders.setPriceAndQuantity(slot, orders.priceOf(slot), this.#watcher.leave(slot));
    orders.setEnded(slot, end);
    const remaining = orders.quantityOf(slot) === UNSIZED ? 0 : orders.remaining(slot);
    this.#events.ended(this.nextSequence(), orders.sequenceOf(slot), end, faultReason, remaining, requestId);
    this.forgetIfDone(slot);
  }

  /** Frees an order that is neither live nor in undecided trades; only its id is remembered (AMB-08, AMB-23). */
  forgetIfDone(slot: number): void {
    const { orders } = this;
    const state = orders.stateOf(slot);
    if (orders.pendingOf(slot) !== 0 || state === ORDER_STATE.resting || state === ORDER_STATE.dormant) return;
    const isParent = orders.hasMark(slot, MARK.hasChildren);
    this.#ids.retire(slot, state === ORDER_STATE.ended && isCancel(orders.endOf(slot)));
    if (isParent) this.#watcher.parentOver(slot);
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

  #confirm(slot: number, lots: number): void {
    if (this.orders.hasMark(slot, MARK.hasChildren)) this.#watcher.parentFilled(slot, lots);
    this.decide(slot);
  }

  /** One fill of the order is no longer pending. */
  decide(slot: number): void {
    const { orders } = this;
    const pending = orders.pendingOf(slot) - 1;
    assert(pending >= 0, 'a decided fill was pending');
    orders.setPending(slot, pending);
    if (pending === 0) this.forgetIfDone(slot);
  }

  /** Publishes the levels that changed since the last commit. */
  commitDepth(): void {
    if (this.isDepthHeld || this.isUncrossing) return;
    const { buys, sells } = this;
    if (buys.isTold && sells.isTold) return;
    if (!buys.isTold) buys.commit(this.#events);
    if (!sells.isTold) sells.commit(this.#events);
    this.#events.depthCommitted(this.sequence as Sequence);
  }

  /** Discards level changes without publishing them: the caller publishes the whole book instead. */
  forgetDepthChanges(): void {
    this.buys.forgetChanges();
    this.sells.forgetChanges();
  }

  isCrossed(): boolean {
    return this.buys.bestOrder !== NONE && this.sells.crosses(this.buys.bestPrice);
  }

  #fill(maker: number, taker: number, lots: number, price: number, unit: FillUnit): void {
    const { orders } = this;
    const tradeId = this.trades.add(maker, taker, price, lots) as Sequence;
    orders.setFilled(maker, orders.filledOf(maker) + lots);
    orders.setFilled(taker, orders.filledOf(taker) + lots);
    this.#events.matched(
      this.nextSequence(),
      tradeId,
      orders.sequenceOf(maker),
      orders.sequenceOf(taker),
      price,
      lots,
      orders.sideOf(taker),
      unit,
    );
  }
}

/** The pool quantity of an order that is sized in quote and has no cap. */
export const UNSIZED: number = Number.POSITIVE_INFINITY;
