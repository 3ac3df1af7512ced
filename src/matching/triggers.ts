/**
 * Orders with a trigger, and children, from admission to the main book (TRG-01 to TRG-08, AMB-28, AMB-29).
 *
 *   admitted ─▶ waits ──confirmed price──▶ fired ─▶ queue ──pump: `triggered`──▶ the front door looks for the hold
 *                                                                                  │ release
 *      main book ◀──pump: `activated`── queue ◀───────────────────────────────────┘
 *
 * A plain trigger order is released whole, once, and is then an order like any other. A child is released by as much as
 * its parent's confirmed fills have activated, and again whenever they activate more:
 *
 *   filled ≤ inForce ≤ enabled = min(total, parent's confirmed fill) ≤ total
 *
 * A GTC or GTD child that grows goes to the back of its queue. An IOC, FOK or market child matches what was added and
 * drops what it does not get. When no more can come, a child ends or lives on like any other order.
 *
 * Both queues are worked off a few at a time between commands, so that a storm of triggers delays nobody's cancel. The
 * orders here are few beside those of the book: plain objects are good enough.
 *
 * Not here: which prices fire what (trigger-book.ts), what happens to an order in the main book (placement.ts).
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
import { type Book, type BookWatcher, UNSIZED } from './book.ts';
import type { MarketEvents, ReleaseCommand } from './commands.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { boundOf, clearWay, endIfDue } from './overdue.ts';
import { exhausted, matchSized, moneyLeft, place } from './placement.ts';
import { sizeOf } from './sizing.ts';
import { ReachedTriggers, TriggerBook } from './trigger-book.ts';
import type { Beginning, Parent, Waiting } from './waiting.ts';

export class Triggers implements BookWatcher {
  readonly #events: MarketEvents;
  readonly #quoteUnit: bigint;
  readonly #bySlot = new Map<number, Waiting>();
  readonly #byOrder = new Map<number, Waiting>();
  readonly #parents = new Map<number, Parent>();
  readonly #waiting: TriggerBook<Waiting> = new TriggerBook();
  /** To be told, and to be placed: first in, first out, each order once. What a price reached stands there as one. */
  readonly #fired: Set<Waiting | ReachedTriggers<Waiting>> = new Set();
  readonly #granted: Set<Waiting> = new Set();
  /** What is entering the book this moment. */
  #entering: Waiting | null = null;
  #book: Book | null = null;

  /** @param quoteUnit one raw quote unit in the engine's money. */
  constructor(events: MarketEvents, quoteUnit: bigint) {
    this.#events = events;
    this.#quoteUnit = quoteUnit;
  }

  /** The book that these orders enter; once, before anything else. */
  attach(book: Book): void {
    this.#book = book;
  }

  /** Whether a pump would do something. */
  get isBusy(): boolean {
    return this.#granted.size > 0 || this.#hasToTell();
  }

  #hasToTell(): boolean {
    for (const next of this.#fired) {
      if (!(next instanceof ReachedTriggers) || !next.isEmpty) return true;
      this.#fired.delete(next);
    }
    return false;
  }

  /** Whether a price has reached it. */
  hasFired(waiting: Waiting): boolean {
    return !this.#waiting.isDormant(waiting);
  }

  /** Children of an order that wait for its fills. */
  childrenOf(slot: number): number {
    return this.#parents.get(slot)?.children.size ?? 0;
  }

  /**
   * Whether an order may have a child of so many lots. What has nothing left in the book activates no more than it has
   * filled; clearing may have confirmed all of it and know it no more, and counts a child as activated that comes then.
   */
  mayActivate(parent: number, lots: number): boolean {
    const { orders } = this.#theBook;
    const state = orders.stateOf(parent);
    if (state === ORDER_STATE.resting) return true;
    return state !== ORDER_STATE.ended && lots <= orders.filledOf(parent);
  }

  of(slot: number): Waiting {
    return must(this.#bySlot.get(slot), 'an order that is marked has its trigger');
  }

  /** An admitted order, on no side, begins to wait. */
  admit(slot: number, beginning: Beginning): void {
    const { orders, expiries } = this.#theBook;
    const parent = beginning.parent === null ? null : this.#parentAt(beginning.parent);
    const total = orders.quantityOf(slot);
    const waiting: Waiting = {
      slot,
      order: orders.sequenceOf(slot),
      kind: beginning.kind,
      price: beginning.price,
      money: beginning.money,
      parent,
      total,
      enabled: parent === null ? total : Math.min(total, parent.confirmed),
      inForce: 0,
      level: null,
      told: -1,
      toldAt: 0,
      isAwaited: false,
      granted: 0,
      grantedBudget: 0,
      isOver: false,
    };
    parent?.children.add(waiting);
    this.#bySlot.set(slot, waiting);
    this.#byOrder.set(waiting.order, waiting);
    orders.mark(slot, MARK.waits | MARK.wasConditional);
    orders.setState(slot, ORDER_STATE.dormant);
    expiries.add(slot);
    if (beginning.state === TRIGGER_STATE.dormant) this.#waiting.add(waiting);
    else this.#resume(waiting, beginning);
  }

  /** At boot. Of a fired order all was told; of a child in force what is enabled beyond that is told anew. */
  #resume(waiting: Waiting, { state, inForce }: Beginning): void {
    const { orders } = this.#theBook;
    const { slot, enabled, total } = waiting;
    waiting.told = enabled;
    if (state === TRIGGER_STATE.fired) {
      waiting.isAwaited = enabled > 0;
      return;
    }
    waiting.inForce = inForce;
    const quantity = restsLater(this.#theBook, slot) ? inForce : orders.filledOf(slot);
    orders.setPriceAndQuantity(slot, orders.priceOf(slot), quantity);
    if (inForce === total) this.#forget(waiting);
    else if (enabled > inForce) this.#fired.add(waiting);
  }

  /** A new trigger for an order that still waits for its old one (AMB-20). */
  move(waiting: Waiting, kind: TriggerKind, price: number): void {
    this.#waiting.remove(waiting);
    waiting.kind = kind;
    waiting.price = price;
    this.#waiting.add(waiting);
  }

  /** A new total for an order of which nothing was released (AMB-19, AMB-20). */
  resize(waiting: Waiting, total: number): void {
    waiting.total = total;
    waiting.enabled = waiting.parent === null ? total : Math.min(total, waiting.parent.confirmed);
  }

  /** Its terms have changed: what was told or granted is void, and is told anew. */
  reconsider(waiting: Waiting): void {
    // One that still stands where it waits, reached or not, was told nothing.
    if (waiting.level !== null || waiting.enabled <= waiting.inForce) return;
    this.#granted.delete(waiting);
    waiting.granted = 0;
    waiting.isAwaited = false;
    this.#fired.add(waiting);
  }

  // ---- what happens in the book

  confirmed(price: number): void {
    const reached = this.#waiting.reach(price);
    if (reached !== null) this.#fired.add(reached);
  }

  parentFilled(slot: number, lots: number): void {
    const parent = must(this.#parents.get(slot), 'an order that is marked has children');
    parent.confirmed += lots;
    for (const child of parent.children) {
      child.enabled = Math.min(child.total, parent.confirmed);
      if (child.level === null && child.enabled > child.told) this.#fired.add(child);
    }
  }

  parentOver(slot: number): void {
    const parent = must(this.#parents.get(slot), 'an order that is marked has children');
    this.#parents.delete(slot);
    for (const child of [...parent.children].sort((a, b) => a.order - b.order)) if (!child.isOver) this.#orphan(child);
  }

  waitsForMore(slot: number): boolean {
    const { inForce, total } = this.of(slot);
    return inForce < total;
  }

  leave(slot: number): number {
    const waiting = this.of(slot);
    this.#forget(waiting);
    return waiting.total;
  }

  /** Nothing more will be activated than is (AMB-29). */
  #orphan(child: Waiting): void {
    const book = this.#theBook;
    child.parent = null;
    if (child.enabled === 0) {
      book.end(child.slot, ORDER_END.parentCanceled);
      return;
    }
    if (child.enabled === child.total) return;
    child.total = child.enabled;
    this.#tellReduced(child);
    if (child.inForce === child.total && child !== this.#entering) this.#finish(child);
  }

  #tellReduced(waiting: Waiting): void {
    const { slot, total, kind, price } = waiting;
    const book = this.#theBook;
    const hasFired = this.hasFired(waiting);
    const { orders } = book;
    this.#events.replaced(
      book.nextSequence(),
      orders.sequenceOf(slot),
      orders.priorityOf(slot),
      orders.priceOf(slot),
      total,
      orders.timestampHigh(slot),
      orders.timestampLow(slot),
      0,
      hasFired ? TRIGGER.none : kind,
      hasFired ? 0 : price,
    );
  }

  // ---- release

  /** The front door has spoken about what `triggered` told last; anything else has been overtaken (AMB-28). */
  release({ order, triggered, quantity, budget, end }: ReleaseCommand): void {
    const waiting = this.#byOrder.get(order);
    if (waiting === undefined || !waiting.isAwaited || endIfDue(this.#theBook, waiting.slot)) return;
    if (waiting.toldAt !== triggered || toldLots(waiting.told) !== quantity) return;
    waiting.isAwaited = false;
    if (end === 0) {
      waiting.granted = waiting.told;
      waiting.grantedBudget = budget;
      this.#granted.add(waiting);
    } else this.#endWaiting(waiting, end);
  }

  #endWaiting({ slot }: Waiting, end: OrderEnd): void {
    const book = this.#theBook;
    if (book.orders.stateOf(slot) === ORDER_STATE.resting) book.takeOff(slot);
    book.end(slot, end);
  }

  /** Works off up to `budget` of each queue. @returns whether more waits. */
  pump(budget: number): boolean {
    this.#tellSome(budget);
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

  #tellSome(budget: number): void {
    let remaining = budget;
    for (const next of this.#fired) {
      if (remaining === 0) return;
      if (!(next instanceof ReachedTriggers)) {
        remaining--;
        this.#fired.delete(next);
        this.#tell(next);
        continue;
      }
      for (let waiting = next.take(); waiting !== null; waiting = next.take()) {
        this.#tell(waiting);
        if (--remaining === 0) return;
      }
      this.#fired.delete(next);
    }
  }

  /** Nobody whose time is over enters, or stands in its way. */
  #mayEnter(waiting: Waiting): boolean {
    const book = this.#theBook;
    const { orders } = book;
    const { slot } = waiting;
    if (!book.expiries.isBehind) return true;
    if (endIfDue(book, slot)) return false;
    const [side, kind, price] = [orders.sideOf(slot), orders.kindOf(slot), orders.priceOf(slot)];
    const whose = { user: orders.userOf(slot), subAccount: orders.subAccountOf(slot) };
    clearWay(book, {
      ...whose,
      side,
      bound: boundOf(book, { kind, side, price }),
      lots: waiting.granted,
      target: null,
    });
    return !waiting.isOver;
  }

  #tell(waiting: Waiting): void {
    if (endIfDue(this.#theBook, waiting.slot)) return;
    waiting.told = waiting.enabled;
    waiting.isAwaited = waiting.enabled > waiting.inForce;
    const sequence = this.#theBook.nextSequence();
    waiting.toldAt = sequence;
    this.#events.triggered(sequence, waiting.order as Sequence, waiting.price, toldLots(waiting.told));
  }

  #enter(waiting: Waiting, lots: number): void {
    const book = this.#theBook;
    const { orders } = book;
    const { slot, inForce } = waiting;
    const rests = orders.stateOf(slot) === ORDER_STATE.resting;
    const isPostOnly = !rests && (orders.flagsOf(slot) & ORDER_FLAG.postOnly) !== 0;
    if (isPostOnly && book.wouldTake(slot, orders.priceOf(slot))) {
      book.end(slot, ORDER_END.postOnlyWouldCross);
      return;
    }
    waiting.inForce = lots;
    this.#bound(waiting);
    const sequence = book.nextSequence();
    orders.setPriority(slot, sequence);
    this.#events.activated(sequence, waiting.order as Sequence, sequence, toldLots(lots));
    if (isPostOnly) book.cancelOwn(slot, orders.priceOf(slot));
    if (lots === waiting.total && (inForce === 0 || restsLater(book, slot))) this.#forget(waiting);
    if (rests) this.#grow(slot, lots);
    else if (restsLater(book, slot) || waiting.isOver) {
      orders.setPriceAndQuantity(slot, orders.priceOf(slot), lots);
      place(book, slot, waiting.money);
    } else this.#matchMore(waiting, lots - inForce);
    if (!waiting.isOver && waiting.inForce === waiting.total) this.#finish(waiting);
  }

  /** A market order may use what the front door has set aside for this release, and no more. */
  #bound(waiting: Waiting): void {
    const { orders } = this.#theBook;
    const { slot, grantedBudget } = waiting;
    if (grantedBudget === 0 || orders.kindOf(slot) === ORDER_KIND.limit) return;
    const unit = orders.sideOf(slot) === SIDE.buy ? this.#quoteUnit : 1n;
    waiting.money = { target: waiting.money.target, budget: BigInt(grantedBudget) * unit };
  }

  #grow(slot: number, lots: number): void {
    const book = this.#theBook;
    const { orders } = book;
    const side = book.ownSide(orders.sideOf(slot));
    const more = lots - orders.quantityOf(slot);
    if (!side.fits(orders.priceOf(slot), more)) {
      book.takeOff(slot);
      orders.setPriceAndQuantity(slot, orders.priceOf(slot), lots);
      book.end(slot, ORDER_END.immediateOrCancel);
      return;
    }
    orders.setPriceAndQuantity(slot, orders.priceOf(slot), lots);
    side.adjust(slot, more);
    side.moveToBack(slot);
  }

  /** A child that does not rest takes what was added, and drops what it does not get. */
  #matchMore(waiting: Waiting, more: number): void {
    const book = this.#theBook;
    const { orders } = book;
    const { slot } = waiting;
    const size = sizeOf(book, slot, { price: book.boundOf(slot), lots: more, ...waiting.money });
    if (!size.isComplete && orders.tifOf(slot) === TIF.fok) {
      book.end(slot, ORDER_END.fillOrKill);
      return;
    }
    waiting.money = moneyLeft(waiting.money, size, orders.sideOf(slot));
    orders.setPriceAndQuantity(slot, orders.priceOf(slot), orders.filledOf(slot) + size.lots);
    matchSized(book, slot, size, { lots: more, ...waiting.money });
    const isPaidUp = size.isComplete && (size.lots < more || waiting.money.target === 0n);
    if (isPaidUp && orders.filledOf(slot) < waiting.total) book.end(slot, ORDER_END.filled);
  }

  /**
   * All of it was in force, and nothing more can come. While it enters, its fills say that it is filled. Later somebody
   * must: a market order is then over for good, a limit order may come back after a rollback (AMB-19, AMB-128).
   */
  #finish(child: Waiting): void {
    const book = this.#theBook;
    const { orders } = book;
    const { slot, total } = child;
    if (orders.stateOf(slot) === ORDER_STATE.resting) this.#forget(child);
    else if (orders.filledOf(slot) < total) book.end(slot, ORDER_END.immediateOrCancel);
    else if (child === this.#entering) {
      this.#forget(child);
      exhausted(book, slot);
    } else if (orders.kindOf(slot) !== ORDER_KIND.limit) book.end(slot, ORDER_END.filled);
    else {
      this.#forget(child);
      this.#events.ended(book.nextSequence(), child.order as Sequence, ORDER_END.filled, 0, 0, 0);
      exhausted(book, slot);
    }
  }

  /** An innocent fill of a waiting order that never rests is taken back: its lots are dropped (AMB-32 c). */
  drop(slot: number, lots: number, price: number): void {
    const { orders } = this.#theBook;
    const waiting = this.of(slot);
    const returned = { lots: -lots, money: -(BigInt(lots) * BigInt(price)) };
    waiting.money = moneyLeft(waiting.money, returned, orders.sideOf(slot));
    orders.setPriceAndQuantity(slot, orders.priceOf(slot), orders.quantityOf(slot) - lots);
  }

  /** All that wait, by admission. */
  forEach(visit: (waiting: Waiting) => void): void {
    for (const waiting of [...this.#bySlot.values()].sort((a, b) => a.order - b.order)) visit(waiting);
  }

  /** Walks everything. @throws InvariantError */
  check(): void {
    for (const [slot, waiting] of this.#bySlot) this.#checkWaiting(slot, waiting);
    assert(this.#byOrder.size === this.#bySlot.size, 'triggers: an order is known by its slot and by its name');
    for (const waiting of [...this.#fired, ...this.#granted])
      if (!(waiting instanceof ReachedTriggers))
        assert(this.#byOrder.get(waiting.order) === waiting, 'triggers: only what waits stands in a queue');
    const dormant = [...this.#bySlot.values()].filter((waiting) => !this.hasFired(waiting));
    assert(this.#waiting.check() === dormant.length, 'triggers: what has not fired stands in the trigger book');
    for (const [slot, { children }] of this.#parents) {
      assert(this.#theBook.orders.hasMark(slot, MARK.hasChildren), 'triggers: a parent is marked');
      for (const child of children) assert(!child.isOver, 'triggers: a parent knows children that wait');
    }
  }

  #checkWaiting(slot: number, { order, inForce, enabled, total, isOver, parent }: Waiting): void {
    const { orders } = this.#theBook;
    const state = orders.stateOf(slot);
    assert(!isOver && orders.hasMark(slot, MARK.waits), 'triggers: what waits is marked and not over');
    assert(orders.sequenceOf(slot) === order, 'triggers: an order that waits keeps its slot');
    assert(state === ORDER_STATE.resting || state === ORDER_STATE.dormant, 'triggers: what waits is live');
    assert(inForce <= enabled && enabled <= total, 'triggers: in force ≤ enabled ≤ total');
    assert(orders.filledOf(slot) <= inForce, 'triggers: filled ≤ in force');
    assert(parent !== null || enabled === total, 'triggers: without a parent all is enabled');
  }

  // ---- helpers

  get #theBook(): Book {
    return must(this.#book, 'triggers are attached to their book');
  }

  #parentAt(slot: number): Parent {
    const known = this.#parents.get(slot);
    if (known !== undefined) return known;
    const { orders, trades } = this.#theBook;
    const confirmed = orders.filledOf(slot) - trades.pendingLots(slot);
    const parent = { slot, order: orders.sequenceOf(slot), confirmed, children: new Set<Waiting>() };
    this.#parents.set(slot, parent);
    orders.mark(slot, MARK.hasChildren);
    return parent;
  }

  /** It is an order like any other from here on, or over. */
  #forget(waiting: Waiting): void {
    waiting.isOver = true;
    this.#bySlot.delete(waiting.slot);
    this.#byOrder.delete(waiting.order);
    waiting.parent?.children.delete(waiting);
    this.#fired.delete(waiting);
    this.#granted.delete(waiting);
    if (waiting.level !== null) this.#waiting.remove(waiting);
    this.#theBook.orders.unmark(waiting.slot, MARK.waits);
  }
}

/** GTC and GTD orders rest what they do not get at once. */
function restsLater(book: Book, slot: number): boolean {
  const tif = book.orders.tifOf(slot);
  return tif === TIF.gtc || tif === TIF.gtd;
}

function toldLots(lots: number): number {
  return lots === UNSIZED ? 0 : lots;
}
