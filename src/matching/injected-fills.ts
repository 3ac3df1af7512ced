/**
 * Fills that a test hook lets happen outside the book (operator-api.md 7.3 `inject_fill`, FIL-11): clearing hears of a
 * match between two orders of whom the book knows nothing of the kind.
 *
 * Such a trade has a sequence and an id like every other, and no lots: nothing of either order counts as filled. When
 * clearing refuses it, who is at fault ends; nobody has anything to get back.
 */
import { isAtFault, ORDER_END, type RollbackReason } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import type { Book } from './book.ts';
import { FILL_UNIT, type MarketEvents, type RollbackCommand } from './commands.ts';
import { ORDER_STATE } from './order-records.ts';

interface Party {
  readonly slot: number;
  readonly order: number;
}

export class InjectedFills {
  readonly #book: Book;
  readonly #events: MarketEvents;
  readonly #undecided = new Map<number, readonly [maker: Party, taker: Party]>();

  constructor(book: Book, events: MarketEvents) {
    this.#book = book;
    this.#events = events;
  }

  /** Two different live orders. */
  inject(maker: number, taker: number, price: number, quantity: number): void {
    const { orders, trades } = this.#book;
    const tradeId = trades.addVoid(price);
    const party = (slot: number): Party => ({ slot, order: orders.sequenceOf(slot) });
    this.#undecided.set(tradeId, [party(maker), party(taker)]);
    this.#events.matched(
      this.#book.nextSequence(),
      tradeId as Sequence,
      orders.sequenceOf(maker),
      orders.sequenceOf(taker),
      price,
      quantity,
      orders.sideOf(taker),
      FILL_UNIT.none,
    );
  }

  has(tradeId: number): boolean {
    return this.#undecided.has(tradeId);
  }

  rollBack({ tradeId, makerReason, takerReason }: RollbackCommand): void {
    const [maker, taker] = this.#undecided.get(tradeId) ?? [];
    this.#undecided.delete(tradeId);
    if (maker !== undefined) this.#blame(maker, makerReason);
    if (taker !== undefined) this.#blame(taker, takerReason);
  }

  settled(throughTradeId: number): void {
    for (const tradeId of this.#undecided.keys()) if (tradeId <= throughTradeId) this.#undecided.delete(tradeId);
  }

  #blame({ slot, order }: Party, reason: RollbackReason): void {
    const book = this.#book;
    const { orders } = book;
    const state = orders.sequenceOf(slot) === order ? orders.stateOf(slot) : ORDER_STATE.free;
    if (!isAtFault(reason) || state === ORDER_STATE.free || state >= ORDER_STATE.ended) return;
    if (state === ORDER_STATE.resting) book.takeOff(slot);
    book.end(slot, ORDER_END.atFault, reason);
  }
}
