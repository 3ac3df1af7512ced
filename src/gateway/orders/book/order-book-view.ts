/**
 * The gateway's optimistic view of orders: events of markets, applied to orders and holds.
 *
 *   admitted, replaced, restored, cancel pending, triggered, activated, ended        (fills: fill-view.ts)
 *
 * Every change ends in `settle`: the hold is made to follow from the order, then the order's terminal event is published
 * if it is due. Holds are changed before any event (AMB-32).
 *
 * Invariants
 *   (1) Holds equal the sum over the orders in memory (holds.ts, spending.ts).
 *   (2) An order gets exactly one terminal event, after its `Created`; a crossing post-only has no `Created`.
 *
 * Not here: requests and their answers (order-requests.ts), what a release needs (releases.ts).
 */
import { NO_BYTES } from '../../../codec/text-writer.ts';
import { powerOfTen } from '../../../core/arithmetic.ts';
import { assert, must } from '../../../core/assert.ts';
import type { OrderId } from '../../../core/ids.ts';
import { ORDER_END, ORDER_KIND, type OrderEnd, TRIGGER, TRIGGER_STATE } from '../../../core/order-terms.ts';
import { NONE } from '../../../core/pools.ts';
import type { Amount18, RawQuantity, TimestampNs } from '../../../core/units.ts';
import type { Balance } from '../balances/balance.ts';
import type { Holds } from '../balances/holds.ts';
import { spendFor } from '../balances/spending.ts';
import type { UncheckpointedHistory } from '../history/uncheckpointed.ts';
import type { OrderExposure } from '../margin/margin-account.ts';
import { orderExposureOf, setLoss } from '../margin/order-exposure.ts';
import { entryText } from './entry-text.ts';
import {
  enabledOf,
  filledOf,
  isChild,
  isFinished,
  isFull,
  isFullyReleased,
  isReduceOnly,
  type LiveOrder,
  neverRests,
  RELEASED_WHOLE,
} from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type {
  ActivatedEvent,
  BookEvent,
  EndedEvent,
  MarketEvent,
  OrderName,
  OrderSink,
  ReplacedEvent,
  TriggeredEvent,
} from './order-events.ts';
import { type TerminalEvent, terminalEventOf } from './order-life.ts';

/** The ends of a refused release; every other end of a waiting order is no release. */
const RELEASE_ENDS: ReadonlySet<OrderEnd> = new Set([
  ORDER_END.postOnlyWouldCross,
  ORDER_END.marginInsufficient,
  ORDER_END.reduceOnly,
]);

export interface OrderBookParts {
  readonly orders: LiveOrders;
  readonly holds: Holds;
  readonly uncheckpointed: UncheckpointedHistory;
  readonly sink: OrderSink;
}

/** What clearing keeps of a restored order beside its record. */
export interface RestoredView {
  /** Lots that its market has released, or never kept back. */
  readonly inForce: number;
  /** Sequence of its parent; 0: none, or it is over. */
  readonly parent: number;
  /** The id of a child's parent; '' for every other order. */
  readonly parentId: OrderId | '';
}

/** What comes in a start before its market opens. */
interface RestoredOrders {
  /** By index, orders with a fired trigger. */
  readonly fired: number[];
  /** Children that came before their parents: index of the child, sequence of its parent. */
  readonly children: { readonly child: number; readonly parent: number }[];
}

export class OrderBookView {
  readonly #restored = new Map<MarketSlot, RestoredOrders>();
  readonly #orders: LiveOrders;
  readonly #holds: Holds;
  readonly #uncheckpointed: UncheckpointedHistory;
  readonly #sink: OrderSink;

  constructor(parts: OrderBookParts) {
    this.#orders = parts.orders;
    this.#holds = parts.holds;
    this.#uncheckpointed = parts.uncheckpointed;
    this.#sink = parts.sink;
  }

  // ---- on the way

  /**
   * A draft with its hold; the caller has checked the bound. A child is linked to its parent from here on: the two rings
   * may bring the parent's last fill, and let it leave memory, before the market's message that it accepted the child.
   */
  add(order: LiveOrder): void {
    const parent = this.#findParent(order);
    this.#orders.add(order);
    if (parent !== undefined) this.#orders.link(order, parent);
    this.rehold(order);
  }

  /** The market refused it: it leaves no trace. A replace that was sent after it may still be on its way. */
  drop(order: LiveOrder): void {
    assert(order.sequence === 0, 'an accepted order is not dropped');
    this.#orders.close(order);
    this.rehold(order);
    this.#orders.remove(order);
  }

  /** A request about it has been answered: it is in flight no more, or less. */
  landed(order: LiveOrder): void {
    const { exposure } = order;
    exposure?.position.account.exposureChanged();
    // While its create was on its way its position may have shrunk: it could not be cut then (MON-09).
    if (exposure !== null && isReduceOnly(order)) exposure.position.account.reduceOnlyChanged(exposure.position);
    this.#orders.answered(order);
  }

  // ---- a start

  /**
   * An order that was accepted before a restart, in memory as clearing kept it (AMB-110): only confirmed fills are filled.
   *
   * An order with a fired trigger and without an answer has nothing released yet; the hold is taken when its market opens
   * (releases.ts). One that was released in part is activated again by its market. Clearing ends orders with a pending
   * cancel and those that never rest at a restart, unless more of a child may be released, so neither of them comes here.
   *
   * @param balance from which it spends; null of a margin order. Its exposure is set.
   */
  restored(order: LiveOrder, balance: Balance | null, { inForce, parent }: RestoredView): void {
    const isReleased = order.triggerState === TRIGGER_STATE.live;
    order.activatedQuantity = inForce;
    order.droppedQuantity = 0;
    order.releasedQuantity = isReleased ? (isChild(order) ? inForce : RELEASED_WHOLE) : 0;
    // A part of a child that never rests has met all that it could.
    order.isIdle = isChild(order) && neverRests(order) && inForce > 0;
    order.faultReason = 0;
    if (balance !== null) {
      const spend = spendFor(order);
      order.balance = balance;
      order.spend = spend;
      this.#holds.spendRestored(balance, order, spend);
    }
    if (order.exposure !== null) this.#setExposure(order, order.exposure);
    this.#orders.changed(order);
    order.market.bestSeen.see(order);
    order.exposure?.queue?.admit(order.exposure.entry, order.sequence);
    if (order.triggerState === TRIGGER_STATE.fired) this.#restoredIn(order.market).fired.push(order.index);
    if (parent === 0) return;
    const found = this.#orders.ofSequence(order.marketIndex, parent);
    if (found !== undefined) this.#orders.link(order, found);
    else this.#restoredIn(order.market).children.push({ child: order.index, parent });
  }

  /**
   * Every order of the market was restored.
   *
   * @returns those that had fired, in the order of their acceptance.
   */
  restoredFired(market: MarketSlot): readonly LiveOrder[] {
    const { fired, children } = this.#restoredIn(market);
    this.#restored.delete(market);
    for (const { child, parent } of children) {
      const found = this.#orders.ofSequence(market.definition.marketIndex, parent);
      if (found !== undefined) this.#orders.link(this.#orders.at(child), found);
    }
    const orders = fired.map((index) => this.#orders.at(index));
    return orders.filter(({ end, isGone }) => end === 0 && !isGone).sort((a, b) => a.sequence - b.sequence);
  }

  #restoredIn(market: MarketSlot): RestoredOrders {
    let restored = this.#restored.get(market);
    if (restored === undefined) {
      restored = { fired: [], children: [] };
      this.#restored.set(market, restored);
    }
    return restored;
  }

  /** Hold, weight and what pages count follow from the order again. */
  rehold(order: LiveOrder): void {
    this.#setSpend(order, spendFor(order));
    if (order.exposure !== null) this.#setExposure(order, order.exposure);
    this.#orders.changed(order);
  }

  // ---- events of the market

  #enter(order: LiveOrder, sequence: number, timeNs: TimestampNs): void {
    this.#orders.accept(order, sequence);
    order.admittedNs = timeNs;
    order.exposure?.queue?.admit(order.exposure.entry, sequence);
  }

  accepted(
    order: LiveOrder,
    sequence: number,
    timeNs: TimestampNs,
    signed: { text: Uint8Array; signature: Uint8Array },
  ): void {
    this.#enter(order, sequence, timeNs);
    order.lastUpdateNs = timeNs;
    if (isChild(order)) {
      const parent = this.#findParent(order);
      if (parent !== undefined) this.#orders.link(order, parent);
      // The parent was filled, flushed and dropped before the market received the order, and the market accepted it.
      else if (!order.hadParent) order.enabledQuantity = order.quantity;
    }
    order.market.bestSeen.see(order);
    if (!this.#isRead(order)) return;
    const { text, signature } = signed;
    this.#publish(order, { kind: 'Created', ...nameOf(order), text, signature, bookTimestampNs: timeNs });
  }

  #findParent(order: LiveOrder): LiveOrder | undefined {
    return isChild(order) ? this.#orders.find(order.user, order.marketIndex, order.parentId as OrderId) : undefined;
  }

  /** The guard of a quote set spends so much, and counts as it is, from now on. */
  guard(order: LiveOrder, spend: Amount18): void {
    this.#setSpend(order, spend);
    if (order.exposure !== null) this.#setExposure(order, order.exposure);
  }

  /** The market has made an entry of a quote set. Its exposure and the balance that it spends from are set. */
  entryCreated(order: LiveOrder, sequence: number, timeNs: TimestampNs): void {
    this.#orders.add(order);
    this.rehold(order);
    this.#enter(order, sequence, timeNs);
    order.lastUpdateNs = timeNs;
    order.market.bestSeen.see(order);
    if (!this.#isRead(order)) return;
    this.#publish(order, {
      kind: 'Created',
      ...nameOf(order),
      isEntry: true,
      text: entryText(order),
      signature: NO_BYTES,
      bookTimestampNs: timeNs,
    });
  }

  /** An entry rests another quantity, or the same of which some fills are undecided; `priority` null. */
  entryRests(order: LiveOrder, rests: number, at: { readonly timeNs: TimestampNs; readonly sequence: number }): void {
    const quantity = (filledOf(order) + rests) as RawQuantity;
    const isChanged = quantity !== order.quantity;
    order.quantity = quantity;
    order.lastSequence = at.sequence;
    order.lastUpdateNs = at.timeNs;
    this.rehold(order);
    order.market.bestSeen.see(order);
    if (isChanged && this.#isRead(order)) {
      const now = { ...nameOf(order), newPrice: order.price, newQuantity: quantity };
      this.#publish(order, { kind: 'Replaced', isEntry: true, ...now });
    }
  }

  /** An entry left its set: `isOut`, all of it was filled, and no fill that rolls back brings it back. */
  entryLeft(order: LiveOrder, isOut: boolean, at: { readonly timeNs: TimestampNs; readonly sequence: number }): void {
    order.lastSequence = at.sequence;
    if (isOut) {
      order.isCancelPending = true;
      this.rehold(order);
      return;
    }
    order.end = ORDER_END.userRequested;
    this.settle(order, at.timeNs, true);
  }

  /** A crossing post-only: a record and one `Canceled`, nothing live (AMB-16). */
  acceptedAndCancelled(order: LiveOrder, sequence: number, timeNs: TimestampNs): void {
    this.#enter(order, sequence, timeNs);
    order.end = ORDER_END.postOnlyWouldCross;
    this.settle(order, timeNs);
  }

  replaced(market: MarketSlot, event: ReplacedEvent, isAmended = false): void {
    const order = must(this.#find(market, event), 'a replaced order is in memory');
    // Of an entry of a quote set the market publishes what it has taken off (QTE-06).
    const total = (event.isCut ? order.quantity - event.quantity : event.quantity) as RawQuantity;
    this.#growWith(order, total);
    order.price = event.price;
    order.quantity = total;
    if (event.triggerKind !== TRIGGER.none) {
      order.triggerKind = event.triggerKind;
      order.triggerPrice = event.triggerPrice;
    }
    if (event.timestampNs > order.timestampNs) this.#orders.retime(order, event.timestampNs);
    // A replace to the filled quantity is two events: the market's `filled` has the next sequence (AMB-19).
    order.lastSequence = total <= filledOf(order) ? event.sequence + 1 : event.sequence;
    this.rehold(order);
    market.bestSeen.see(order);
    if (this.#isRead(order)) {
      const now = { ...nameOf(order), newPrice: event.price, newQuantity: total };
      this.#publish(
        order,
        isAmended ? { kind: 'Amended', ...now, ...amendedOf(order, event) } : { kind: 'Replaced', ...now },
      );
    }
    this.settle(order, event.timeNs);
  }

  /**
   * A fully released child is replaced like any order; of another only released lots count. Where its parent has ended and
   * has activated all of it, no later event activates what a replace adds: that is released with it (AMB-29).
   */
  #growWith(order: LiveOrder, quantity: number): void {
    if (!isChild(order)) return;
    if (isFullyReleased(order)) {
      order.activatedQuantity = Math.max(order.activatedQuantity, quantity);
      order.releasedQuantity = Math.max(order.releasedQuantity, quantity);
    } else if (isParentOver(order) && enabledOf(order) === order.quantity) this.#orders.unlink(order, quantity);
  }

  /** Quantity is in the book again after a rollback; how much follows from the fills. */
  back(market: MarketSlot, event: MarketEvent): void {
    const order = must(this.#find(market, event), 'an order that is back in the book is in memory');
    this.#changed(order, event);
    market.bestSeen.see(order);
  }

  /**
   * All of it was pending when it was cancelled: its end is published when its fills are decided (AMB-23). They are before
   * this event in the market's sequence, so clearing may have filled it before and leave its row as it was: the last
   * event of it stays the same, and it may have left memory.
   */
  cancelPending(market: MarketSlot, event: MarketEvent): void {
    const order = this.#find(market, event);
    if (order === undefined) return;
    order.isCancelPending = true;
    this.rehold(order);
  }

  /** @returns the order, which waits for its release from now on (AMB-28). */
  triggered(market: MarketSlot, event: TriggeredEvent): LiveOrder {
    const order = must(this.#find(market, event), 'a triggered order is in memory');
    // A child that is released in parts stays live while more of it is activated (AMB-29).
    if (order.triggerState === TRIGGER_STATE.dormant) order.triggerState = TRIGGER_STATE.fired;
    order.triggerPrice = event.triggerPrice;
    this.#changed(order, event);
    return order;
  }

  /** The first release is published as `Triggered`; later parts of a child are not (TRG-08). */
  activated(market: MarketSlot, event: ActivatedEvent): void {
    const order = must(this.#find(market, event), 'an activated order is in memory');
    const isFirst = order.triggerState !== TRIGGER_STATE.live;
    order.triggerState = TRIGGER_STATE.live;
    order.activatedQuantity = event.quantity;
    // The market may have cut a part of what order entry has released (MON-09).
    if (isChild(order) && isReduceOnly(order) && order.releasedQuantity > event.quantity) {
      order.releasedQuantity = event.quantity;
      this.rehold(order);
    }
    if (isChild(order) && neverRests(order) && event.quantity < order.quantity) market.entering = order.index;
    this.#changed(order, event);
    market.bestSeen.see(order);
    if (isFirst) this.#publishTriggered(order, event.timeNs, event.quantity);
  }

  /** @param quantity what the release activates; of one that fails, what it was for. */
  #publishTriggered(order: LiveOrder, timestampNs: TimestampNs, quantity: number): void {
    if (!this.#isRead(order)) return;
    const { triggerPrice } = order;
    this.#publish(order, { kind: 'Triggered', ...nameOf(order), timestampNs, triggerPrice, quantity });
  }

  /** A part of a child that never rests has met all that it could: what it did not get is gone. */
  entered(market: MarketSlot): void {
    if (market.entering === NONE) return;
    const order = this.#orders.at(market.entering);
    market.entering = NONE;
    order.isIdle = true;
    this.rehold(order);
  }

  /**
   * The order is off the book. `filled` of a limit order (a replace to the filled quantity) adds nothing to its fills, and
   * a rollback may still undo it (AMB-32 e); of a market order it means that its target or cap is reached (AMB-37).
   */
  ended(market: MarketSlot, event: EndedEvent): void {
    const order = this.#find(market, event);
    // One that was filled to its end may have left memory with a checkpoint already.
    if (order === undefined) return;
    order.lastSequence = event.sequence;
    // It was released, and failed one of the checks of a new order (TRG-08, AMB-28).
    // mutant: failed-release-triggered
    if (order.triggerState === TRIGGER_STATE.fired && RELEASE_ENDS.has(event.end))
      this.#publishTriggered(order, event.timeNs, enabledOf(order));
    if (event.end !== ORDER_END.filled || order.kind !== ORDER_KIND.limit) order.end = event.end;
    if (event.end === ORDER_END.atFault) order.faultReason = event.faultReason;
    this.settle(order, event.timeNs);
  }

  // ---- after every change

  /** @param leftSet its price left its quote set. */
  settle(order: LiveOrder, timeNs: TimestampNs, leftSet = false): void {
    order.lastUpdateNs = timeNs;
    const terminal = terminalEventOf(order);
    assert(terminal === null || !order.isClosed, 'an order has one terminal event');
    if (terminal !== null) this.#orders.close(order);
    this.rehold(order);
    if (terminal !== null && this.#isRead(order)) this.#publishTerminal(order, terminal, timeNs, leftSet);
    if (leftSet && isForgotten(order, this.#orders)) {
      this.#orders.remove(order);
      return;
    }
    if (isFinished(order) && !order.isAwaitingCheckpoint) {
      order.isAwaitingCheckpoint = true;
      this.#uncheckpointed.orderFinished(order);
    }
  }

  #find(market: MarketSlot, { order }: MarketEvent): LiveOrder | undefined {
    return this.#orders.ofSequence(market.definition.marketIndex, order);
  }

  #changed(order: LiveOrder, event: MarketEvent): void {
    order.lastSequence = event.sequence;
    order.lastUpdateNs = event.timeNs;
  }

  #publishTerminal(
    order: LiveOrder,
    { kind, reason }: TerminalEvent,
    timestampNs: TimestampNs,
    leftSet: boolean,
  ): void {
    if (kind === 'Canceled') {
      const isEntry = leftSet ? { isEntry: true } : {};
      this.#publish(order, { kind, ...nameOf(order), ...isEntry, reason, timestampNs });
      return;
    }
    const { quantityDecimals } = order.market.definition;
    this.#publish(order, {
      kind,
      ...nameOf(order),
      timestampNs,
      reason,
      filledQuantity: order.filledQuantity,
      filledAmount: order.filledNotional / powerOfTen(18 - quantityDecimals),
      quantityDecimals,
    });
  }

  #setSpend(order: LiveOrder, spend: Amount18): void {
    const { balance } = order;
    if (balance === null) return;
    this.#holds.respend(balance, order, spend);
    order.spend = spend;
  }

  #setExposure(order: LiveOrder, exposure: OrderExposure): void {
    const { position, queue, entry, marketPrice } = exposure;
    queue?.set(entry, orderExposureOf(order, marketPrice));
    setLoss(order, exposure);
    position.account.exposureChanged();
    if (isReduceOnly(order)) position.account.reduceOnlyChanged(position);
  }

  #isRead(order: LiveOrder): boolean {
    return this.#sink.isOrderRead(order.user);
  }

  #publish(order: LiveOrder, event: BookEvent): void {
    this.#sink.orderEvent(order.user, event);
  }
}

function nameOf(order: LiveOrder): OrderName {
  return { orderId: order.orderId, assetId: order.market.definition.assetId };
}

function amendedOf(order: LiveOrder, { quantity, timestampNs, timeNs }: ReplacedEvent) {
  return {
    remainingQuantity: Math.max(0, quantity - filledOf(order)),
    revisionNs: timestampNs,
    quantityDecimals: order.market.definition.quantityDecimals,
    timestampNs: timeNs,
  };
}

/** Whether clearing keeps nothing of an entry that left its set: it never traded. */
function isForgotten({ index, filledQuantity, pendingFills }: LiveOrder, { store }: LiveOrders): boolean {
  return filledQuantity === 0 && pendingFills === 0 && store.firstChild(index) === NONE;
}

/** Whether the parent is over for clearing too: its fills are confirmed, or the market has ended it. */
function isParentOver({ parent }: LiveOrder): boolean {
  return parent === null || parent.end !== 0 || isFull(parent.quantity, parent.filledQuantity);
}
