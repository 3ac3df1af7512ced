/**
 * Orders with a trigger, and child orders, from acceptance to the main book (TRG-01 to TRG-08, AMB-28, AMB-29).
 *
 *   accepted ─▶ waits ──confirmed price──▶ fired ─▶ queue ──poll: `triggered`──▶ the gateway reserves balance
 *                                                                                   │ release
 *      main book ◀──poll: `activated`── queue ◀───────────────────────────────────┘
 *
 * A plain trigger order is released fully, once, and is then an order like any other. A child is released by the
 * quantity that its parent's confirmed fills have activated, and again whenever they activate more:
 *
 *   filled ≤ released ≤ enabled = min(total, parent's confirmed fill) ≤ total
 *
 * A GTC or GTD child that grows moves to the back of its queue. An IOC, FOK or market child matches the added quantity
 * and drops what it does not get. When no more can be activated, a child ends or continues like any other order.
 *
 * A release of a reduce-only order is cut to its room, each activation of a child by itself (MON-09): what exceeds the room is
 * taken off the total, or dropped of a child that never rests; an order with no lots left ends. A start does not know
 * which lots of a child were cut: what it then enables is within the total that was left.
 *
 * Both queues are processed a few entries at a time between commands, so that a burst of triggers does not delay
 * cancels. These orders are few compared to the book: plain objects suffice.
 *
 * Prices and what they fire are in trigger-book.ts, placement in the main book in placement.ts.
 */
import { assert, must } from '../core/assert.ts';
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  SIDE,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
} from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { NO_BOUND } from '../order/order-codec.ts';
import { type Book, type BookWatcher, UNSIZED } from './book.ts';
import type { MarketEvents, ReleaseCommand } from './commands.ts';
import { boundOf, endExpiredWithin, endIfDue } from './expired-orders.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { exhausted, matchSized, moneyLeft, place } from './placement.ts';
import { isReducing, lotsInRoom, publishCut } from './room.ts';
import { sizeOf } from './sizing.ts';
import { ReachedTriggers, TriggerBook } from './trigger-book.ts';
import type { Beginning, Parent, Waiting } from './waiting.ts';

export class Triggers implements BookWatcher {
  readonly #events: MarketEvents;
  readonly #quoteUnit: bigint;
  readonly #byIndex = new Map<number, Waiting>();
  readonly #byOrder = new Map<number, Waiting>();
  readonly #parents = new Map<number, Parent>();
  readonly #waiting: TriggerBook<Waiting> = new TriggerBook();
  /**
   * To be published, and to be placed: first in, first out, each order once. All triggers reached by one price are one
   * entry.
   */
  readonly #fired: Set<Waiting | ReachedTriggers<Waiting>> = new Set();
  readonly #granted: Set<Waiting> = new Set();
  /** The order that is entering the book in this call. */
  #entering: Waiting | null = null;
  #book: Book | null = null;

  /** @param quoteUnit one raw quote unit in the engine's money scale. */
  constructor(events: MarketEvents, quoteUnit: bigint) {
    this.#events = events;
    this.#quoteUnit = quoteUnit;
  }

  /** Sets the book that these orders enter; called once, first. */
  attach(book: Book): void {
    this.#book = book;
  }

  /** Whether a poll has work. */
  get isBusy(): boolean {
    return this.#granted.size > 0 || this.#hasToPublish();
  }

  #hasToPublish(): boolean {
    for (const next of this.#fired) {
      if (!(next instanceof ReachedTriggers) || !next.isEmpty) return true;
      this.#fired.delete(next);
    }
    return false;
  }

  /** Whether a price has reached its trigger. */
  hasFired(waiting: Waiting): boolean {
    return !this.#waiting.isDormant(waiting);
  }

  /** Number of children that wait for the order's fills. */
  childrenOf(index: number): number {
    return this.#parents.get(index)?.children.size ?? 0;
  }

  /**
   * Whether an order may have a child of so many lots. An order without a remainder activates no more than it has
   * filled: clearing may have confirmed all of it and dropped it, and counts a child that arrives later as activated.
   */
  mayActivate(parent: number, lots: number): boolean {
    const { orders } = this.#theBook;
    const state = orders.stateOf(parent);
    if (state === ORDER_STATE.resting) return true;
    // mutant: child-wants-activatable
    return state !== ORDER_STATE.ended && lots <= orders.filledOf(parent);
  }

  of(index: number): Waiting {
    return must(this.#byIndex.get(index), 'a marked order has a trigger');
  }

  /** Adds an accepted order, on no side, to the waiting orders. */
  accept(index: number, beginning: Beginning): void {
    const { orders, expiries } = this.#theBook;
    const parent = beginning.parent === null ? null : this.#parentAt(beginning.parent);
    const total = orders.quantityOf(index);
    const waiting: Waiting = {
      index,
      order: orders.sequenceOf(index),
      kind: beginning.kind,
      price: beginning.price,
      money: beginning.money,
      parent,
      total,
      // mutant: child-waits-for-fills
      enabled: parent === null ? total : Math.min(total, parent.confirmed),
      released: 0,
      level: null,
      published: -1,
      publishedAt: 0,
      isAnswerPending: false,
      granted: 0,
      grantedBudget: 0,
      grantedRoom: NO_BOUND,
      lost: 0,
      grantedBound: 0,
      isOver: false,
    };
    parent?.children.add(waiting);
    this.#byIndex.set(index, waiting);
    this.#byOrder.set(waiting.order, waiting);
    orders.mark(index, MARK.waits | MARK.wasConditional);
    orders.setState(index, ORDER_STATE.dormant);
    expiries.add(index);
    if (beginning.state === TRIGGER_STATE.dormant) this.#waiting.add(waiting);
    else this.#resume(waiting, beginning);
  }

  /**
   * At boot. A fired order is fully published; of a released child, what is enabled beyond the release is published
   * again.
   */
  #resume(waiting: Waiting, { state, released }: Beginning): void {
    const { orders } = this.#theBook;
    const { index, enabled, total } = waiting;
    waiting.published = enabled;
    if (state === TRIGGER_STATE.fired) {
      waiting.isAnswerPending = enabled > 0;
      return;
    }
    waiting.released = released;
    const quantity = restsLater(this.#theBook, index) ? released : orders.filledOf(index);
    orders.setPriceAndQuantity(index, orders.priceOf(index), quantity);
    if (released === total) this.#remove(waiting);
    else if (enabled > released) this.#fired.add(waiting);
  }

  /** Replaces the trigger of an order whose old trigger has not fired (AMB-20). */
  move(waiting: Waiting, kind: TriggerKind, price: number): void {
    this.#waiting.remove(waiting);
    waiting.kind = kind;
    waiting.price = price;
    this.#waiting.add(waiting);
  }

  /** Sets the total of an order without released quantity (AMB-19, AMB-20). */
  resize(waiting: Waiting, total: number): void {
    waiting.total = total;
    waiting.enabled = waiting.parent === null ? total : Math.min(total, waiting.parent.confirmed - waiting.lost);
  }

  /** Takes released lots that have not matched off a child that may be released further (MON-09). */
  takeBack(waiting: Waiting, lots: number): void {
    waiting.released -= lots;
    this.#cut(waiting, lots);
  }

  /** After a change of terms: voids the published and granted quantity and publishes it again. */
  reconsider(waiting: Waiting): void {
    // An order still at its trigger price, reached or not, has no published quantity.
    if (waiting.level !== null || waiting.enabled <= waiting.released) return;
    this.#granted.delete(waiting);
    waiting.granted = 0;
    waiting.isAnswerPending = false;
    this.#fired.add(waiting);
  }

  // ---- events of the book

  confirmed(price: number): void {
    const reached = this.#waiting.reach(price);
    if (reached !== null) this.#fired.add(reached);
  }

  parentFilled(index: number, lots: number): void {
    const parent = must(this.#parents.get(index), 'an order that is marked has children');
    parent.confirmed += lots;
    for (const child of parent.children) {
      child.enabled = Math.min(child.total, parent.confirmed - child.lost);
      if (child.level === null && child.enabled > child.published) this.#fired.add(child);
    }
  }

  parentOver(index: number): void {
    const parent = must(this.#parents.get(index), 'an order that is marked has children');
    this.#parents.delete(index);
    for (const child of [...parent.children].sort((a, b) => a.order - b.order)) if (!child.isOver) this.#orphan(child);
  }

  awaitsMore(index: number): boolean {
    const { released, total } = this.of(index);
    return released < total;
  }

  leave(index: number): number {
    const waiting = this.of(index);
    this.#remove(waiting);
    return waiting.total;
  }

  /** The activated quantity of a child is final (AMB-29). */
  #orphan(child: Waiting): void {
    const book = this.#theBook;
    child.parent = null;
    if (child.enabled === 0) {
      book.end(child.index, ORDER_END.parentCanceled);
      return;
    }
    if (child.enabled === child.total) return;
    child.total = child.enabled;
    this.#publishReduced(child);
    if (child.released === child.total && child !== this.#entering) this.#finish(child);
  }

  #publishReduced(waiting: Waiting): void {
    const { index, total, kind, price } = waiting;
    const book = this.#theBook;
    const hasFired = this.hasFired(waiting);
    const { orders } = book;
    this.#events.replaced(
      book.nextSequence(),
      orders.sequenceOf(index),
      orders.priorityOf(index),
      orders.priceOf(index),
      total,
      orders.timestampHigh(index),
      orders.timestampLow(index),
      0,
      hasFired ? TRIGGER.none : kind,
      hasFired ? 0 : price,
      false,
    );
  }

  // ---- release

  /** The gateway's answer to the last `triggered`; an answer to an older one is ignored (AMB-28). */
  release({ order, triggered, quantity, budget, bound, end, roomToTake, roomToRest }: ReleaseCommand): void {
    const waiting = this.#byOrder.get(order);
    if (waiting === undefined || !waiting.isAnswerPending || endIfDue(this.#theBook, waiting.index)) return;
    if (waiting.publishedAt !== triggered || publishedLots(waiting.published) !== quantity) return;
    waiting.isAnswerPending = false;
    if (end === 0) {
      waiting.granted = waiting.published;
      waiting.grantedBudget = budget;
      waiting.grantedRoom = { roomToTake, roomToRest };
      waiting.grantedBound = bound;
      this.#granted.add(waiting);
    } else this.#endWaiting(waiting, end);
  }

  #endWaiting({ index }: Waiting, end: OrderEnd): void {
    const book = this.#theBook;
    if (book.orders.stateOf(index) === ORDER_STATE.resting) book.takeOff(index);
    book.end(index, end);
  }

  /** Processes up to `budget` entries of each queue. @returns whether work remains. */
  poll(budget: number): boolean {
    this.#publishSome(budget);
    let remaining = budget;
    for (const waiting of this.#granted) {
      if (remaining-- === 0) break;
      this.#granted.delete(waiting);
      if (this.#mayEnter(waiting)) {
        this.#entering = waiting;
        this.#enter(waiting, waiting.granted);
        this.#entering = null;
      }
      this.#theBook.commitDepth();
    }
    return this.isBusy;
  }

  #publishSome(budget: number): void {
    let remaining = budget;
    for (const next of this.#fired) {
      if (remaining === 0) return;
      if (!(next instanceof ReachedTriggers)) {
        remaining--;
        this.#fired.delete(next);
        this.#publishTriggered(next);
        continue;
      }
      for (let waiting = next.take(); waiting !== null; waiting = next.take()) {
        this.#publishTriggered(waiting);
        if (--remaining === 0) return;
      }
      this.#fired.delete(next);
    }
  }

  /** Ends the order if it is expired, and the expired orders that it could match. @returns whether it may enter. */
  #mayEnter(waiting: Waiting): boolean {
    const book = this.#theBook;
    const { orders } = book;
    const { index } = waiting;
    if (!book.expiries.isBehind) return true;
    if (endIfDue(book, index)) return false;
    const side = orders.sideOf(index);
    // A market order gets its price with the release.
    const price = waiting.grantedBound === 0 ? orders.priceOf(index) : waiting.grantedBound;
    const owner = { user: orders.userOf(index), subAccount: orders.subAccountOf(index) };
    endExpiredWithin(book, {
      ...owner,
      side,
      bound: boundOf(book, { side, price }),
      lots: waiting.granted,
      target: null,
    });
    return !waiting.isOver;
  }

  #publishTriggered(waiting: Waiting): void {
    if (endIfDue(this.#theBook, waiting.index)) return;
    waiting.published = waiting.enabled;
    waiting.isAnswerPending = waiting.enabled > waiting.released;
    const sequence = this.#theBook.nextSequence();
    waiting.publishedAt = sequence;
    this.#events.triggered(sequence, waiting.order as Sequence, waiting.price, publishedLots(waiting.published));
  }

  #enter(waiting: Waiting, lots: number): void {
    const book = this.#theBook;
    const { orders } = book;
    const { index, released } = waiting;
    const rests = orders.stateOf(index) === ORDER_STATE.resting;
    const isPostOnly = !rests && (orders.flagsOf(index) & ORDER_FLAG.postOnly) !== 0;
    if (isPostOnly && book.wouldTake(index, orders.priceOf(index))) {
      book.end(index, ORDER_END.postOnlyWouldCross);
      return;
    }
    const added = this.#addedLots(waiting, lots - released, rests, isPostOnly);
    if (added === 0 && !rests) {
      book.end(index, ORDER_END.reduceOnly);
      return;
    }
    const isAtOnce = restsLater(book, index) || (lots === waiting.total && released === 0);
    const isCut = isAtOnce && added < lots - released && orders.kindOf(index) !== ORDER_KIND.marketQuote;
    const inForce = isCut ? released + added : lots;
    if (isCut) {
      this.#cut(waiting, lots - inForce);
      publishCut(book, this.#events, index, waiting.total);
    }
    waiting.released = inForce;
    this.#bound(waiting);
    if (added > 0) {
      const sequence = book.nextSequence();
      orders.setPriority(index, sequence);
      this.#events.activated(sequence, waiting.order as Sequence, sequence, publishedLots(inForce));
    }
    if (isPostOnly) book.cancelOwn(index, orders.priceOf(index));
    if (inForce === waiting.total && (released === 0 || restsLater(book, index))) this.#remove(waiting);
    if (rests) {
      if (added > 0) this.#grow(index, inForce);
    } else if (isAtOnce) {
      orders.setPriceAndQuantity(index, orders.priceOf(index), Math.min(inForce, released + added));
      place(book, index, waiting.money);
    } else this.#matchMore(waiting, added);
    if (waiting.isOver) return;
    if (waiting.released === waiting.total) this.#finish(waiting);
    else if (isCut) this.reconsider(waiting);
  }

  /** The part of newly released lots that a reduce-only order has room for (MON-09). */
  #addedLots({ index, grantedRoom: room }: Waiting, more: number, rests: boolean, isPostOnly: boolean): number {
    const book = this.#theBook;
    const { orders } = book;
    if (!isReducing(orders.flagsOf(index))) return more;
    // mutant: room-of-a-release
    if (rests) return Math.min(more, Math.max(0, room.roomToRest - orders.remaining(index)));
    return lotsInRoom(book, index, more, room, isPostOnly ? null : book.boundOf(index));
  }

  /** Takes lots for which there is no room off the total; what else is enabled is published again. */
  #cut(waiting: Waiting, lots: number): void {
    waiting.total -= lots;
    waiting.enabled -= lots;
    waiting.lost += lots;
    waiting.published = waiting.enabled;
  }

  /** Limits a market order to the balance that the gateway reserved for this release, and to the price for which it did. */
  #bound(waiting: Waiting): void {
    const { orders } = this.#theBook;
    const { index, grantedBudget, grantedBound } = waiting;
    if (orders.kindOf(index) === ORDER_KIND.limit) return;
    orders.setPriceAndQuantity(index, grantedBound, orders.quantityOf(index));
    if (grantedBudget === 0) return;
    const unit = orders.sideOf(index) === SIDE.buy ? this.#quoteUnit : 1n;
    waiting.money = { target: waiting.money.target, budget: BigInt(grantedBudget) * unit };
  }

  #grow(index: number, lots: number): void {
    const book = this.#theBook;
    const { orders } = book;
    const side = book.ownSide(orders.sideOf(index));
    const more = lots - orders.quantityOf(index);
    if (!side.fits(orders.priceOf(index), more)) {
      book.takeOff(index);
      orders.setPriceAndQuantity(index, orders.priceOf(index), lots);
      book.end(index, ORDER_END.immediateOrCancel);
      return;
    }
    orders.setPriceAndQuantity(index, orders.priceOf(index), lots);
    side.adjust(index, more);
    side.moveToBack(index);
  }

  /** Matches the added quantity of a child that does not rest, and drops the unmatched lots. */
  #matchMore(waiting: Waiting, more: number): void {
    const book = this.#theBook;
    const { orders } = book;
    const { index } = waiting;
    const size = sizeOf(book, index, { price: book.boundOf(index), lots: more, ...waiting.money });
    if (!size.isComplete && orders.tifOf(index) === TIF.fok) {
      book.end(index, ORDER_END.fillOrKill);
      return;
    }
    waiting.money = moneyLeft(waiting.money, size, orders.sideOf(index));
    orders.setPriceAndQuantity(index, orders.priceOf(index), orders.filledOf(index) + size.lots);
    matchSized(book, index, size, { lots: more, ...waiting.money });
    const isPaidUp = size.isComplete && (size.lots < more || waiting.money.target === 0n);
    if (isPaidUp && orders.filledOf(index) < waiting.total) book.end(index, ORDER_END.filled);
  }

  /**
   * The child is fully released, and no more can be activated. While it enters, its fills imply that it is filled.
   * Later an end must be published: final for a market order, whereas a limit order may return after a rollback
   * (AMB-19, AMB-128).
   */
  #finish(child: Waiting): void {
    const book = this.#theBook;
    const { orders } = book;
    const { index, total } = child;
    if (orders.stateOf(index) === ORDER_STATE.resting) this.#remove(child);
    else if (orders.filledOf(index) < total) book.end(index, ORDER_END.immediateOrCancel);
    else if (child === this.#entering) {
      this.#remove(child);
      exhausted(book, index);
    } else if (orders.kindOf(index) !== ORDER_KIND.limit) book.end(index, ORDER_END.filled);
    else {
      this.#remove(child);
      this.#events.ended(book.nextSequence(), child.order as Sequence, ORDER_END.filled, 0, 0, 0);
      exhausted(book, index);
    }
  }

  /** Reverses an innocent fill of a waiting order that never rests: its lots are dropped (AMB-32 c). */
  drop(index: number, lots: number, price: number): void {
    const { orders } = this.#theBook;
    const waiting = this.of(index);
    const returned = { lots: -lots, money: -(BigInt(lots) * BigInt(price)) };
    waiting.money = moneyLeft(waiting.money, returned, orders.sideOf(index));
    orders.setPriceAndQuantity(index, orders.priceOf(index), orders.quantityOf(index) - lots);
  }

  /** Visits all waiting orders, by acceptance. */
  forEach(visit: (waiting: Waiting) => void): void {
    for (const waiting of [...this.#byIndex.values()].sort((a, b) => a.order - b.order)) visit(waiting);
  }

  /** Checks every invariant. @throws InvariantError */
  check(): void {
    for (const [index, waiting] of this.#byIndex) this.#checkWaiting(index, waiting);
    assert(this.#byOrder.size === this.#byIndex.size, 'triggers: both maps contain the same orders');
    for (const waiting of [...this.#fired, ...this.#granted])
      if (!(waiting instanceof ReachedTriggers))
        assert(this.#byOrder.get(waiting.order) === waiting, 'triggers: a queue contains only waiting orders');
    const dormant = [...this.#byIndex.values()].filter((waiting) => !this.hasFired(waiting));
    assert(this.#waiting.check() === dormant.length, 'triggers: an order that has not fired is in the trigger book');
    for (const [index, { children }] of this.#parents) {
      assert(this.#theBook.orders.hasMark(index, MARK.hasChildren), 'triggers: a parent is marked');
      for (const child of children) assert(!child.isOver, 'triggers: the children of a parent wait');
    }
  }

  #checkWaiting(index: number, { order, released, enabled, total, isOver, parent }: Waiting): void {
    const { orders } = this.#theBook;
    const state = orders.stateOf(index);
    assert(!isOver && orders.hasMark(index, MARK.waits), 'triggers: a waiting order is marked and not over');
    assert(orders.sequenceOf(index) === order, 'triggers: a waiting order keeps its index');
    assert(state === ORDER_STATE.resting || state === ORDER_STATE.dormant, 'triggers: a waiting order is live');
    assert(released <= enabled && enabled <= total, 'triggers: released ≤ enabled ≤ total');
    assert(orders.filledOf(index) <= released, 'triggers: filled ≤ released');
    assert(parent !== null || enabled === total, 'triggers: without a parent all is enabled');
  }

  // ---- helpers

  get #theBook(): Book {
    return must(this.#book, 'triggers are attached to their book');
  }

  #parentAt(index: number): Parent {
    const known = this.#parents.get(index);
    if (known !== undefined) return known;
    const { orders, trades } = this.#theBook;
    const confirmed = orders.filledOf(index) - trades.pendingLots(index);
    const parent = { index, order: orders.sequenceOf(index), confirmed, children: new Set<Waiting>() };
    this.#parents.set(index, parent);
    orders.mark(index, MARK.hasChildren);
    return parent;
  }

  /** Stops tracking the order: it is an order like any other from now on, or over. */
  #remove(waiting: Waiting): void {
    waiting.isOver = true;
    this.#byIndex.delete(waiting.index);
    this.#byOrder.delete(waiting.order);
    waiting.parent?.children.delete(waiting);
    this.#fired.delete(waiting);
    this.#granted.delete(waiting);
    if (waiting.level !== null) this.#waiting.remove(waiting);
    this.#theBook.orders.unmark(waiting.index, MARK.waits);
  }
}

/** GTC and GTD orders rest the remainder. */
function restsLater(book: Book, index: number): boolean {
  const tif = book.orders.tifOf(index);
  return tif === TIF.gtc || tif === TIF.gtd;
}

function publishedLots(lots: number): number {
  return lots === UNSIZED ? 0 : lots;
}
