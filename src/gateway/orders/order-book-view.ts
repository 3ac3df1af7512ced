/**
 * The front door's optimistic view of orders: what the market says, applied to orders and holds.
 *
 *   admitted, replaced, restored, covered, triggered, activated, ended        (fills: fill-view.ts)
 *
 * Every change ends in `settle`: the hold is made to follow from the order, then the order's terminal event is told
 * if it is due. Holds are changed before anything is said (AMB-32).
 *
 * Invariants
 *   (1) Holds equal the sum over the orders in memory (holds.ts, spending.ts).
 *   (2) An order is told exactly one terminal event, after its `Created`; a crossing post-only has no `Created`.
 *
 * Not here: requests and their answers (order-manager.ts), what a release needs (releases.ts).
 */
import { powerOfTen } from '../../core/arithmetic.ts';
import { assert, must } from '../../core/assert.ts';
import { ORDER_END, ORDER_KIND, type OrderEnd, TRIGGER, TRIGGER_STATE } from '../../core/order-terms.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import type { Holds } from './holds.ts';
import {
  enabledOf,
  filledOf,
  isChild,
  isFinished,
  isFull,
  isOfAge,
  isReduceOnly,
  type LiveOrder,
  neverRests,
} from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderNews, OrderSink } from './order-events.ts';
import { exposureOf, type OrderExposure } from './order-exposure.ts';
import { terminalEventOf } from './order-life.ts';
import { isOver, spendOf } from './spending.ts';
import type { Tail } from './tail.ts';
import type { ActivatedWord, EndedWord, OrderWord, ReplacedWord, TriggeredWord } from './words.ts';

/** With what an order ends whose release was refused; every other end of one that waits is no release. */
const RELEASE_ENDS: ReadonlySet<OrderEnd> = new Set([
  ORDER_END.postOnlyWouldCross,
  ORDER_END.marginInsufficient,
  ORDER_END.reduceOnly,
]);

export interface OrderBookParts {
  readonly orders: LiveOrders;
  readonly holds: Holds;
  readonly tail: Tail;
  readonly sink: OrderSink;
}

export class OrderBookView {
  readonly #orders: LiveOrders;
  readonly #holds: Holds;
  readonly #tail: Tail;
  readonly #sink: OrderSink;

  constructor(parts: OrderBookParts) {
    this.#orders = parts.orders;
    this.#holds = parts.holds;
    this.#tail = parts.tail;
    this.#sink = parts.sink;
  }

  // ---- on the way

  /**
   * A new order with its hold; there is room for it. A child holds on to its parent from here on: the two lanes may bring
   * word of the parent's last fill, and let it leave memory, before the market's word that it admitted the child.
   */
  add(order: LiveOrder): void {
    order.parent = this.#parentOf(order);
    this.#orders.add(order);
    this.rehold(order);
  }

  /** One that was admitted before a restart; parents are linked when all of the user's are there. */
  restore(order: LiveOrder, sequence: number): void {
    this.#orders.restore(order, sequence);
    this.rehold(order);
    order.market.bestSeen.see(order);
    order.exposure?.queue.admit(order.exposure.entry, sequence);
  }

  /** The market refused it: it leaves no trace. A replace that was sent after it may still be on its way. */
  drop(order: LiveOrder): void {
    assert(order.sequence === 0, 'an admitted order is not dropped');
    this.#setSpend(order, ZERO_18);
    this.#orders.remove(order);
    order.isTold = true;
    this.rehold(order);
  }

  /** A request about it has been answered: it is in flight no more, or less. */
  landed(order: LiveOrder): void {
    order.requests -= 1;
    order.exposure?.position.account.exposureChanged();
  }

  /** Hold, weight and what pages count follow from the order again. */
  rehold(order: LiveOrder): void {
    this.#setSpend(order, spendOf(order));
    if (order.exposure !== null) this.#setExposure(order, order.exposure);
    this.#orders.changed(order);
  }

  // ---- the market's word

  /** It has its name, and with it its slot. */
  enter(order: LiveOrder, sequence: number): void {
    this.#orders.admit(order, sequence);
    order.exposure?.queue.admit(order.exposure.entry, sequence);
  }

  admitted(
    order: LiveOrder,
    sequence: number,
    timeNs: TimestampNs,
    signed: { text: Uint8Array; signature: Uint8Array },
  ): void {
    this.enter(order, sequence);
    order.lastUpdateNs = timeNs;
    order.parent = this.#parentOf(order) ?? order.parent;
    // The parent was filled, flushed and let go before the market heard of it. The market has the last word on the rest.
    if (order.parent === null && isChild(order)) order.enabledWithoutParent = order.quantity;
    order.market.bestSeen.see(order);
    this.#tell(order, { kind: 'Created', ...signed, bookTimestampNs: timeNs });
  }

  /** After a restart: a parent that is not in memory is over, and what it activated is final. */
  linkParents(orders: Iterable<LiveOrder>): void {
    for (const order of orders) order.parent = this.#parentOf(order);
  }

  #parentOf({ terms, market }: LiveOrder): LiveOrder | null {
    if (terms.parentId === '') return null;
    return this.#orders.find(terms.user, market.definition.marketIndex, terms.parentId) ?? null;
  }

  /** A crossing post-only: a record and one `Canceled`, nothing live (AMB-16). */
  admittedAndCancelled(order: LiveOrder, sequence: number, timeNs: TimestampNs): void {
    this.enter(order, sequence);
    order.end = ORDER_END.postOnlyWouldCross;
    this.settle(order, timeNs);
  }

  replaced(market: MarketSlot, word: ReplacedWord): void {
    const order = must(market.orders.get(word.order), 'a replaced order is in memory');
    this.#growWith(order, word.quantity);
    order.price = word.price;
    order.quantity = word.quantity;
    if (word.triggerKind !== TRIGGER.none) {
      order.triggerKind = word.triggerKind;
      order.triggerPrice = word.triggerPrice;
    }
    if (word.timestampNs > order.timestampNs) this.#orders.retime(order, word.timestampNs);
    // A replace to what is filled already is two words: the market's `filled` has the next sequence (AMB-19).
    order.lastSequence = word.quantity <= filledOf(order) ? word.sequence + 1 : word.sequence;
    this.rehold(order);
    market.bestSeen.see(order);
    this.#tell(order, { kind: 'Replaced', newPrice: word.price, newQuantity: word.quantity });
    this.settle(order, word.timeNs);
  }

  /**
   * A child that is in force whole is replaced like any order; of another only what is told to be released counts. Where
   * its parent is over and has activated all of it, nobody is left to activate what a replace adds: that is (AMB-29).
   */
  #growWith(order: LiveOrder, quantity: number): void {
    if (!isChild(order)) return;
    if (isOfAge(order)) {
      order.activated = Math.max(order.activated, quantity);
      order.letThrough = Math.max(order.letThrough, quantity);
    } else if (isParentOver(order) && enabledOf(order) === order.quantity) {
      order.parent = null;
      order.enabledWithoutParent = quantity;
    }
  }

  /** Quantity is in the book again after a rollback; how much follows from the fills. */
  restored(market: MarketSlot, word: OrderWord): void {
    const order = must(market.orders.get(word.order), 'a restored order is in memory');
    this.#changed(order, word);
    market.bestSeen.see(order);
  }

  /**
   * All of it was pending when it was cancelled: its end is told when its fills are decided (AMB-23). They are before
   * this word in the market's sequence, so clearing may have filled it before and leave its row as it was: the last
   * word on it stays what it is, and it may have left memory.
   */
  covered(market: MarketSlot, word: OrderWord): void {
    const order = market.orders.get(word.order);
    if (order === undefined) return;
    order.isCovered = true;
    this.rehold(order);
  }

  /** @returns the order, which waits for this door's word from now on (AMB-28). */
  triggered(market: MarketSlot, word: TriggeredWord): LiveOrder {
    const order = must(market.orders.get(word.order), 'a triggered order is in memory');
    // A child that is released in parts stays live while more of it is activated (AMB-29).
    if (order.triggerState === TRIGGER_STATE.dormant) order.triggerState = TRIGGER_STATE.fired;
    order.triggerPrice = word.triggerPrice;
    this.#changed(order, word);
    return order;
  }

  /** The first release is told as `Triggered`; later parts of a child are not (TRG-08). */
  activated(market: MarketSlot, word: ActivatedWord): void {
    const order = must(market.orders.get(word.order), 'an activated order is in memory');
    const isFirst = order.triggerState !== TRIGGER_STATE.live;
    order.triggerState = TRIGGER_STATE.live;
    order.activated = word.quantity;
    if (isChild(order) && neverRests(order) && word.quantity < order.quantity) market.entering = order;
    this.#changed(order, word);
    market.bestSeen.see(order);
    if (isFirst) this.#tellTriggered(order, word.timeNs);
  }

  #tellTriggered(order: LiveOrder, timestampNs: TimestampNs): void {
    this.#tell(order, { kind: 'Triggered', timestampNs, triggerPrice: order.triggerPrice });
  }

  /** A part of a child that never rests has met all that it could: what it did not get is gone. */
  entered(market: MarketSlot): void {
    const order = market.entering;
    market.entering = null;
    if (order === null) return;
    order.isIdle = true;
    this.rehold(order);
  }

  /**
   * The order is off the book. `filled` of a limit order (a replace to what is filled already) says nothing that the
   * fills do not say, and a rollback may still undo it (AMB-32 e); of a market order it says that its target or cap is
   * met (AMB-37).
   */
  ended(market: MarketSlot, word: EndedWord): void {
    const order = market.orders.get(word.order);
    // One that was filled to its end may have left memory with a checkpoint already.
    if (order === undefined) return;
    order.lastSequence = word.sequence;
    // It was released, and failed one of the checks of a new order (TRG-08, AMB-28).
    // mutant: failed-release-triggered
    if (order.triggerState === TRIGGER_STATE.fired && RELEASE_ENDS.has(word.end))
      this.#tellTriggered(order, word.timeNs);
    if (word.end !== ORDER_END.filled || order.terms.kind !== ORDER_KIND.limit) order.end = word.end;
    if (word.end === ORDER_END.atFault) order.faultReason = word.faultReason;
    this.settle(order, word.timeNs);
  }

  // ---- after every change

  settle(order: LiveOrder, timeNs: TimestampNs): void {
    order.lastUpdateNs = timeNs;
    const wasTold = order.isTold;
    const terminal = terminalEventOf(order);
    if (terminal !== null) {
      order.isTold = true;
      this.#orders.closeOne(order);
    }
    this.rehold(order);
    if (terminal?.kind === 'Canceled')
      this.#tell(order, { kind: 'Canceled', reason: terminal.reason, timestampNs: timeNs });
    if (terminal?.kind === 'Removed') this.#tell(order, this.#removed(order, terminal.reason, timeNs));
    if (isFinished(order) && !order.isInTail) {
      order.isInTail = true;
      this.#tail.orderFinished(order);
    }
    assert(!wasTold || terminal === null, 'an order has one terminal event');
  }

  #changed(order: LiveOrder, word: OrderWord): void {
    order.lastSequence = word.sequence;
    order.lastUpdateNs = word.timeNs;
  }

  #removed(order: LiveOrder, reason: string, timestampNs: TimestampNs): OrderNews {
    const { quantityDecimals } = order.market.definition;
    return {
      kind: 'Removed',
      timestampNs,
      reason,
      filledQuantity: order.confirmed.quantity,
      filledAmount: order.confirmed.notional / powerOfTen(18 - quantityDecimals),
      quantityDecimals,
    };
  }

  #setSpend(order: LiveOrder, spend: Amount18): void {
    if (order.balance === null) return;
    this.#holds.respend(order.balance, order, spend);
    order.spend = spend;
  }

  #setExposure(order: LiveOrder, { position, queue, entry, marketPrice }: OrderExposure): void {
    if (isReduceOnly(order.terms)) {
      if (isOver(order)) position.reduceOnly?.live.delete(order);
      else position.reduceOnly?.live.add(order);
    }
    queue.set(entry, exposureOf(order, marketPrice));
    position.account.exposureChanged();
  }

  #tell(order: LiveOrder, event: OrderNews): void {
    const { user, orderId } = order.terms;
    this.#sink.orderEvent(user, { ...event, orderId, assetId: order.market.definition.assetId });
  }
}

/** As clearing sees it: its fills are confirmed, or the market has ended it. */
function isParentOver({ parent }: LiveOrder): boolean {
  return parent === null || parent.end !== 0 || isFull(parent.quantity, parent.confirmed.quantity);
}
