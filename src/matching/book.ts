/**
 * The book of one market: two sides, their orders, the trades that clearing has not decided, and the numbering.
 *
 * Its methods are the steps of which commands are made (market-engine.ts, rollback.ts, restore.ts): match, rest, take
 * off, end. Each says what it did to `events` at once, so the order of steps is the order of sequences.
 *
 * Invariants, between commands
 *   (1) The best bid is below the best ask.
 *   (2) An order is in the expiry buckets if and only if it rests.
 *   (3) An order has as many `pending` as undecided trades name it; one that neither rests nor has any is forgotten.
 */
import { assert } from '../core/assert.ts';
import { isCancel, type OrderEnd, type RollbackReason, SIDE, type Side, TIF } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { BookSide } from './book-side.ts';
import { FILL_UNIT, type FillUnit, type MarketEvents } from './commands.ts';
import { ExpiryBuckets } from './expiry-buckets.ts';
import type { OrderIdTable } from './order-id-table.ts';
import { ORDER_STATE, OrderPool } from './order-pool.ts';
import { NONE } from './pools.ts';
import { UndecidedTrades } from './undecided-trades.ts';

/** To begin with; leaves grow by themselves. */
const ORDERS_PER_LEAF = 16;

export class Book {
  readonly orders: OrderPool;
  readonly buys: BookSide;
  readonly sells: BookSide;
  readonly expiries: ExpiryBuckets;
  readonly trades: UndecidedTrades;
  /** The last one given out. */
  sequence = 0;
  readonly #ids: OrderIdTable;
  readonly #events: MarketEvents;

  constructor(ids: OrderIdTable, events: MarketEvents, capacity: number) {
    this.#ids = ids;
    this.#events = events;
    this.orders = new OrderPool(capacity);
    const leaves = Math.max(capacity / ORDERS_PER_LEAF, 1);
    this.buys = new BookSide(SIDE.buy, this.orders, leaves);
    this.sells = new BookSide(SIDE.sell, this.orders, leaves);
    this.expiries = new ExpiryBuckets(this.orders);
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

  /** Matches an order that is on no side: best price first, then first in first out, at the maker's price. */
  match(taker: number): void {
    const orders = this.orders;
    const side = orders.sideOf(taker);
    const makers = this.otherSide(side);
    const limit = orders.priceOf(taker);
    const isFok = orders.tifOf(taker) === TIF.fok;
    let remaining = orders.remaining(taker);
    while (remaining > 0 && makers.crosses(limit)) {
      const maker = makers.bestOrder;
      const makerRemaining = orders.remaining(maker);
      const quantity = Math.min(remaining, makerRemaining);
      remaining -= quantity;
      const unit = isFok ? (remaining === 0 ? FILL_UNIT.fokLast : FILL_UNIT.fokMoreFollow) : FILL_UNIT.none;
      this.#fill(maker, taker, quantity, makers.bestPrice, unit);
      if (quantity === makerRemaining) {
        makers.remove(maker, quantity);
        this.expiries.remove(maker);
        orders.setState(maker, ORDER_STATE.filled);
      } else makers.adjust(maker, -quantity);
    }
  }

  /** At the back of its price. Its priority sequence is set by the caller. */
  rest(slot: number): void {
    this.orders.setState(slot, ORDER_STATE.resting);
    this.ownSide(this.orders.sideOf(slot)).append(slot);
    this.expiries.add(slot);
  }

  /** Takes a resting order off the book; what is to become of it is the caller's. */
  takeOff(slot: number): void {
    const { orders } = this;
    assert(orders.stateOf(slot) === ORDER_STATE.resting, 'only what rests is taken off');
    this.ownSide(orders.sideOf(slot)).remove(slot, orders.remaining(slot));
    this.expiries.remove(slot);
  }

  /** The end of an order that is on no side: told, and forgotten as soon as nothing of it is pending. */
  end(slot: number, end: OrderEnd, faultReason: RollbackReason = 0, requestId = 0): void {
    const { orders } = this;
    orders.setEnded(slot, end);
    const remaining = orders.remaining(slot);
    this.#events.ended(this.nextSequence(), orders.sequenceOf(slot), end, faultReason, remaining, requestId);
    this.forgetIfDone(slot);
  }

  /** Nothing left to match and nothing to tell: fills say it. */
  becomeFilled(slot: number): void {
    assert(this.orders.remaining(slot) === 0, 'a filled order has nothing left');
    this.orders.setState(slot, ORDER_STATE.filled);
    this.forgetIfDone(slot);
  }

  /** Once it neither rests nor has undecided fills, only the id is remembered (AMB-08, AMB-23). */
  forgetIfDone(slot: number): void {
    const { orders } = this;
    if (orders.pendingOf(slot) !== 0 || orders.stateOf(slot) === ORDER_STATE.resting) return;
    const wasCancelled = orders.stateOf(slot) === ORDER_STATE.ended && isCancel(orders.endOf(slot));
    this.#ids.remember(orders.idOf(slot), wasCancelled);
    orders.release(slot);
  }

  /** Every trade up to `tradeId` is decided: confirmed, unless it was rolled back. */
  settle(tradeId: number): void {
    const { trades } = this;
    assert(tradeId <= trades.lastTradeId, 'only trades that were made are settled');
    while (trades.settledThrough < tradeId) {
      const at = trades.indexOf(++trades.settledThrough);
      if (trades.quantity[at] === 0) continue;
      this.decide(trades.maker[at] as number);
      this.decide(trades.taker[at] as number);
    }
  }

  /** One fill of the order is no longer pending. */
  decide(slot: number): void {
    const { orders } = this;
    const pending = orders.pendingOf(slot) - 1;
    assert(pending >= 0, 'a decided fill was pending');
    orders.setPending(slot, pending);
    if (pending === 0) this.forgetIfDone(slot);
  }

  /** Tells the levels that changed since the last commit. */
  commitDepth(): void {
    const buys = this.buys.commit(this.#events);
    const sells = this.sells.commit(this.#events);
    if (buys || sells) this.#events.depthCommitted(this.sequence as Sequence);
  }

  /** Nobody needs to hear of single levels: the whole book will be told. */
  forgetDepthChanges(): void {
    this.buys.forgetChanges();
    this.sells.forgetChanges();
  }

  /** Whether an expiry is over; the buckets may have seen a later time than this command. */
  hasPassed(expiryNs: bigint, nowNs: bigint): boolean {
    return expiryNs <= nowNs || expiryNs <= this.expiries.lastNs;
  }

  isCrossed(): boolean {
    return this.buys.bestOrder !== NONE && this.sells.crosses(this.buys.bestPrice);
  }

  #fill(maker: number, taker: number, quantity: number, price: number, unit: FillUnit): void {
    const { orders } = this;
    const tradeId = this.trades.add(maker, taker, quantity) as Sequence;
    orders.setFilled(maker, orders.filledOf(maker) + quantity);
    orders.setFilled(taker, orders.filledOf(taker) + quantity);
    this.#events.matched(
      this.nextSequence(),
      tradeId,
      orders.sequenceOf(maker),
      orders.sequenceOf(taker),
      price,
      quantity,
      orders.sideOf(taker),
      unit,
    );
  }
}
