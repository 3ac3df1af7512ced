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
import { must } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import type { LiveOrder } from './live-order.ts';
import type { UserTrade } from './order-events.ts';

/** One side of a confirmed trade. */
export interface TailTrade {
  readonly marketIndex: number;
  readonly trade: UserTrade;
  /** Infinity until dated. */
  journal: number;
}

/** What the tail needs of an order: the last event of it, and how far clearing has decided its market. */
export interface FinishedOrder {
  readonly lastSequence: number;
  readonly market: { readonly decidedSequence: number };
}

interface Dated<Order> {
  readonly order: Order;
  readonly journal: number;
}

interface DatedTrade {
  readonly user: UserId;
  readonly entry: TailTrade;
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

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** All of them, to be read at once. */
  items(): readonly T[] {
    if (this.#head > 0) this.#letGo();
    return this.#items;
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
  #undatedTrades: DatedTrade[] = [];
  readonly #datedTrades = new Line<DatedTrade>();
  readonly #trades = new Map<UserId, Line<TailTrade>>();
  #tradeCount = 0;

  /** @param orders where finished ones are until they are dropped. */
  constructor(orders: { remove(order: Order): void }) {
    this.#orders = orders;
  }

  /** Confirmed trades of the user since the last checkpoint, in the order of their confirmation. */
  tradesOf(user: UserId): readonly TailTrade[] {
    return this.#trades.get(user)?.items() ?? [];
  }

  /** Sides of trades in the tail. */
  get tradeCount(): number {
    return this.#tradeCount;
  }

  tradeConfirmed(user: UserId, marketIndex: number, trade: UserTrade): void {
    const entry: TailTrade = { marketIndex, trade, journal: Number.POSITIVE_INFINITY };
    let own = this.#trades.get(user);
    if (own === undefined) {
      own = new Line();
      this.#trades.set(user, own);
    }
    own.push(entry);
    this.#undatedTrades.push({ user, entry });
    this.#tradeCount += 1;
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
    const [orders, trades] = [this.#undatedOrders, this.#undatedTrades];
    for (const order of orders) this.#datedOrders.push({ order, journal });
    for (const dated of trades) {
      dated.entry.journal = journal;
      this.#datedTrades.push(dated);
    }
    this.#undatedOrders = [];
    this.#undatedTrades = [];
    this.#dropOrders(checkpoint, DROPPED_PER_FLUSH + 2 * orders.length);
    this.#dropTrades(checkpoint, DROPPED_PER_FLUSH + 2 * trades.length);
  }

  #dropOrders(checkpoint: number, most: number): void {
    for (let dropped = 0; dropped < most; dropped += 1) {
      const dated = this.#datedOrders.first;
      if (dated === undefined || dated.journal > checkpoint) return;
      this.#orders.remove(dated.order);
      this.#datedOrders.drop();
    }
  }

  #dropTrades(checkpoint: number, most: number): void {
    for (let dropped = 0; dropped < most; dropped += 1) {
      const dated = this.#datedTrades.first;
      if (dated === undefined || dated.entry.journal > checkpoint) return;
      this.#dropOldest(dated.user);
      this.#datedTrades.drop();
    }
  }

  #dropOldest(user: UserId): void {
    const own = must(this.#trades.get(user), "a trade of the tail is its user's");
    own.drop();
    if (own.isEmpty) this.#trades.delete(user);
    this.#tradeCount -= 1;
  }
}
