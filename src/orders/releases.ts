/**
 * Triggers that fired: the normal checks come when an order is released, and their outcome goes back to the market
 * (AMB-28, AMB-29).
 *
 *   market ──triggered(quantity)──▶ hold for it ──release──▶ market ──activated──▶ the order lives
 *                                    └──too little──▶ short ──clearing has passed the word──▶ hold, or
 *                                                              release(marginInsufficient) ──▶ ended
 *
 * The market may be heard on a trigger before clearing is heard on the balances of the very fills that it follows from,
 * such as what its parent bought for a child to sell. So an order that is short waits: clearing speaks in order, and once
 * it has passed the market's word, all that came before that word is in the balances. Bounded by the orders that wait.
 *
 * A word about no lots yet (a child whose parent has not filled) is not answered; it comes again when there are some. At
 * a restart the hold of an order that had fired is taken when its market opens, as if it had fired then.
 */
import { ORDER_END, ORDER_KIND, type OrderEnd, TRIGGER_STATE } from '../core/order-terms.ts';
import type { RawPrice } from '../core/units.ts';
import { availableOf } from './holds.ts';
import { enabledOf, isChild, LET_THROUGH_WHOLE, type LiveOrder } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import { boundAt, holdOf, isOver } from './needs.ts';
import type { OrderBookView } from './order-book-view.ts';
import type { OrderSink } from './order-events.ts';
import type { TriggeredWord } from './words.ts';

/** What the market told. */
interface Told {
  /** Sequence of the word; 0 at a restart. */
  readonly sequence: number;
  readonly quantity: number;
}

export class Releases {
  readonly #book: OrderBookView;
  readonly #sink: OrderSink;
  /** Told and not answered, as what is available does not cover them yet; oldest first. */
  readonly #short = new Map<LiveOrder, Told>();

  constructor(book: OrderBookView, sink: OrderSink) {
    this.#book = book;
    this.#sink = sink;
  }

  /** Orders that wait for what would cover them. */
  get shortCount(): number {
    return this.#short.size;
  }

  triggered(market: MarketSlot, word: TriggeredWord): void {
    this.#answer(this.#book.triggered(market, word), word);
  }

  /** Clearing has passed more of a market, or an order has ended: what was short may be covered, or never will be. */
  retry(): void {
    if (this.#short.size === 0) return;
    for (const [order, told] of [...this.#short]) {
      if (isOver(order)) this.#short.delete(order);
      else this.#answer(order, told);
    }
  }

  /** The market takes commands again: what had fired before the restart is released, in the order of admission. */
  marketOpened(market: MarketSlot): void {
    this.#book.linkParents(market);
    for (const order of market.orders.values()) {
      if (order.triggerState === TRIGGER_STATE.fired && order.end === 0) {
        this.#answer(order, { sequence: 0, quantity: enabledOf(order) });
      }
    }
  }

  #answer(order: LiveOrder, told: Told): void {
    const isSizedInQuote = order.terms.kind === ORDER_KIND.marketQuote;
    if (told.quantity === 0 && !isSizedInQuote) return;
    const isCovered = this.#letThrough(order, told.quantity);
    if (!isCovered && order.market.decidedSequence < told.sequence) {
      this.#short.set(order, told);
      return;
    }
    this.#short.delete(order);
    this.#release(order, told.quantity, isCovered ? 0 : ORDER_END.marginInsufficient);
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
