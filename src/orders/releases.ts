/**
 * Triggers that fired: the normal checks come when an order is released, and their outcome goes back to the market
 * (AMB-28, AMB-29).
 *
 *   market ──triggered(quantity)──▶ hold for it ──release──▶ market ──activated──▶ the order lives
 *                                    └──nothing to hold──release(marginInsufficient)──▶ ended
 *
 * A word about no lots yet (a child whose parent has not filled) is not answered; it comes again when there are some. At
 * a restart the hold of an order that had fired is taken when its market opens, as if it had fired then.
 */
import { ORDER_END, ORDER_KIND, type OrderEnd, TRIGGER_STATE } from '../core/order-terms.ts';
import type { RawPrice } from '../core/units.ts';
import { availableOf } from './holds.ts';
import { enabledOf, isChild, LET_THROUGH_WHOLE, type LiveOrder } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import { boundAt, holdOf } from './needs.ts';
import type { OrderBookView } from './order-book-view.ts';
import type { OrderSink } from './order-events.ts';
import type { TriggeredWord } from './words.ts';

export class Releases {
  readonly #book: OrderBookView;
  readonly #sink: OrderSink;

  constructor(book: OrderBookView, sink: OrderSink) {
    this.#book = book;
    this.#sink = sink;
  }

  triggered(market: MarketSlot, word: TriggeredWord): void {
    this.#answer(this.#book.triggered(market, word), word.quantity);
  }

  /** The market takes commands again: what had fired before the restart is released, in the order of admission. */
  marketOpened(market: MarketSlot): void {
    this.#book.linkParents(market);
    for (const order of market.orders.values()) {
      if (order.triggerState === TRIGGER_STATE.fired && order.end === 0) this.#answer(order, enabledOf(order));
    }
  }

  #answer(order: LiveOrder, quantity: number): void {
    const isSizedInQuote = order.terms.kind === ORDER_KIND.marketQuote;
    if (quantity === 0 && !isSizedInQuote) return;
    const end = this.#letThrough(order, quantity) ? 0 : ORDER_END.marginInsufficient;
    this.#release(order, quantity, end);
  }

  /** Takes the hold. @returns false, the order unchanged, when what is available does not cover it. */
  #letThrough(order: LiveOrder, quantity: number): boolean {
    // A child that was let through further keeps that: its parent's fills are final.
    const letThrough = isChild(order) ? Math.max(order.letThrough, quantity) : LET_THROUGH_WHOLE;
    const price = order.market.lastPrice === 0 ? order.triggerPrice : order.market.lastPrice;
    const bound = boundAt(order, price as RawPrice, quantity);
    const more = holdOf({ ...order, letThrough, bound }) - order.held;
    if (more > 0n && more > availableOf(order.balance)) return false;
    order.letThrough = letThrough;
    order.bound = bound;
    this.#book.rehold(order);
    return true;
  }

  #release(order: LiveOrder, quantity: number, end: OrderEnd | 0): void {
    const { marketIndex } = order.market.definition;
    this.#sink.release({ marketIndex, order: order.sequence, quantity, end });
  }
}
