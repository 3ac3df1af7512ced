/**
 * The tail: finished orders and confirmed trades that no checkpoint holds yet, kept for reads (design: reads miss
 * nothing that was confirmed).
 *
 *   published ──decided by clearing──▶ undated ──journal flushed──▶ dated ──checkpoint reaches the date──▶ dropped
 *
 * The date is the number of the first journal flush that clearing announces after it decided the thing; the flush that
 * really held it may be earlier, so the tail drops late, never early. What both the tail and the tables hold is
 * sorted out when it is read (pages.ts).
 *
 * Bounded by what clearing can decide between two checkpoints, which are spaced by time and by journal length. What a
 * checkpoint holds goes some at a flush, and twice as much as the flush has dated: all of it at once would delay the
 * next request, and less would not keep up.
 */
import type { UserId } from '../../../core/ids.ts';
import type { LiveOrder } from '../book/live-order.ts';
import type { MarketSlot } from '../book/markets.ts';
import { type ConfirmedTrade, type TailTrade, TradeTail } from './trade-tail.ts';

/** What the tail needs of an order: the last event of it, and how far clearing has decided its market. */
export interface FinishedOrder {
  readonly lastSequence: number;
  readonly market: { readonly decidedSequence: number };
}

interface Dated<Order> {
  readonly order: Order;
  readonly journal: number;
}

/** Of orders, and of sides of trades: a fraction of a millisecond. */
export const DROPPED_PER_FLUSH = 512;

/** Places of what was dropped that are given up at once. */
const LET_GO_MIN = 64;

/** First in, first out. To shift an array of some 50,000 moves all of it, every time. */
class Line<T> {
  #items: T[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  drop(): void {
    this.#head += 1;
    const isMost = this.#head >= LET_GO_MIN && 2 * this.#head >= this.#items.length;
    if (isMost || this.#head === this.#items.length) this.#letGo();
  }

  #letGo(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

export class Tail<Order extends FinishedOrder = LiveOrder> {
  readonly #orders: { remove(order: Order): void };
  readonly #ended = new Map<FinishedOrder['market'], Line<Order>>();
  #undatedOrders: Order[] = [];
  readonly #datedOrders = new Line<Dated<Order>>();
  readonly #trades: TradeTail;

  /** @param orders where finished ones are until they are dropped. @param marketAt the market of an index. */
  constructor(orders: { remove(order: Order): void }, marketAt: (marketIndex: number) => MarketSlot) {
    this.#orders = orders;
    this.#trades = new TradeTail(marketAt);
  }

  /** Confirmed trades of the user since the last checkpoint, in the order of their confirmation. */
  tradesOf(user: UserId): readonly TailTrade[] {
    return this.#trades.of(user);
  }

  /** Sides of trades in the tail. */
  get tradeCount(): number {
    return this.#trades.count;
  }

  tradeConfirmed(user: UserId, marketIndex: number, trade: ConfirmedTrade): void {
    this.#trades.add(user, marketIndex, trade);
  }

  /** The order is finished; it stays in memory until a checkpoint holds it. */
  orderFinished(order: Order): void {
    if (order.lastSequence <= order.market.decidedSequence) {
      this.#undatedOrders.push(order);
      return;
    }
    let ended = this.#ended.get(order.market);
    if (ended === undefined) {
      ended = new Line();
      this.#ended.set(order.market, ended);
    }
    ended.push(order);
  }

  /** Clearing has decided this market up to `market.decidedSequence`. One that finished behind a later one waits for it. */
  marketDecided(market: FinishedOrder['market']): void {
    const ended = this.#ended.get(market);
    for (let order = ended?.first; order !== undefined; order = ended?.first) {
      if (order.lastSequence > market.decidedSequence) return;
      this.#undatedOrders.push(order);
      ended?.drop();
    }
  }

  /**
   * Dates what was decided, then drops some of what the checkpoint holds.
   *
   * @param journal the journal is flushed through this sequence.
   * @param checkpoint the last sequence that the tables reflect.
   */
  journalFlushed(journal: number, checkpoint: number): void {
    const orders = this.#undatedOrders;
    for (const order of orders) this.#datedOrders.push({ order, journal });
    this.#undatedOrders = [];
    this.#dropOrders(checkpoint, DROPPED_PER_FLUSH + 2 * orders.length);
    const { undated } = this.#trades;
    this.#trades.date(journal);
    this.#trades.drop(checkpoint, DROPPED_PER_FLUSH + 2 * undated);
  }

  #dropOrders(checkpoint: number, most: number): void {
    for (let dropped = 0; dropped < most; dropped += 1) {
      const dated = this.#datedOrders.first;
      if (dated === undefined || dated.journal > checkpoint) return;
      this.#orders.remove(dated.order);
      this.#datedOrders.drop();
    }
  }
}
