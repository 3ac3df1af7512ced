/**
 * Fills that a test hook publishes without a match in the book (operator-api.md 7.3 `inject_fill`, FIL-11).
 *
 * Such a trade has a sequence and a trade id like every other, and no lots: the filled quantities of both orders are
 * unchanged. When clearing rejects it, the order at fault ends; there is no quantity to return.
 */
import { FILL_GROUP, isAtFault, ORDER_END, type RollbackReason } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import type { Sequence } from '../core/units.ts';
import type { Book } from './book.ts';
import type { MarketEvents, OrderKey, RollbackCommand } from './commands.ts';
import { endIfDue } from './expired-orders.ts';
import type { OrderLookup } from './order-lookup.ts';
import { ORDER_STATE } from './order-records.ts';

export interface InjectedFill {
  readonly maker: OrderKey;
  readonly taker: OrderKey;
  readonly price: number;
  readonly quantity: number;
}

interface Party {
  readonly index: number;
  readonly order: number;
}

export class InjectedFills {
  readonly #book: Book;
  readonly #lookup: OrderLookup;
  readonly #events: MarketEvents;
  readonly #undecided = new Map<number, readonly [maker: Party, taker: Party]>();

  constructor(book: Book, lookup: OrderLookup, events: MarketEvents) {
    this.#book = book;
    this.#lookup = lookup;
    this.#events = events;
  }

  /** @returns false unless both are live orders, and distinct. */
  inject({ maker: makerKey, taker: takerKey, price, quantity }: InjectedFill): boolean {
    const { orders, trades } = this.#book;
    const maker = this.#lookup.findUnhashed(makerKey);
    const taker = this.#lookup.findUnhashed(takerKey);
    if (maker === NONE || taker === NONE || maker === taker) return false;
    for (const index of [maker, taker]) endIfDue(this.#book, index);
    if (!this.#lookup.isOpen(maker) || !this.#lookup.isOpen(taker)) return false;
    const tradeId = trades.addVoid(price);
    const party = (index: number): Party => ({ index, order: orders.sequenceOf(index) });
    this.#undecided.set(tradeId, [party(maker), party(taker)]);
    this.#events.matched(
      this.#book.nextSequence(),
      tradeId as Sequence,
      orders.sequenceOf(maker),
      orders.sequenceOf(taker),
      price,
      quantity,
      orders.sideOf(taker),
      FILL_GROUP.alone,
    );
    return true;
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

  #blame({ index, order }: Party, reason: RollbackReason): void {
    const book = this.#book;
    const { orders } = book;
    if (orders.sequenceOf(index) === order && endIfDue(book, index)) return;
    const state = orders.sequenceOf(index) === order ? orders.stateOf(index) : ORDER_STATE.free;
    if (!isAtFault(reason) || state === ORDER_STATE.free || state >= ORDER_STATE.ended) return;
    if (state === ORDER_STATE.resting) book.takeOff(index);
    book.end(index, ORDER_END.atFault, reason);
  }
}
