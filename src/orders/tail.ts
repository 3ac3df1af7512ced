/**
 * The tail: finished orders and confirmed trades that no checkpoint holds yet, kept for reads (design: reads miss
 * nothing that was confirmed).
 *
 *   told ──decided by clearing──▶ undated ──journal flushed──▶ dated ──checkpoint reaches the date──▶ dropped
 *
 * The date is the number of the first journal flush that clearing announces after it decided the thing; the flush that
 * really held it may be earlier, so the tail lets go late, never early. What both the tail and the tables hold is
 * sorted out when it is read (pages.ts).
 *
 * Bounded by what clearing can decide between two checkpoints, which are spaced by time and by journal length.
 */
import type { UserId } from '../core/ids.ts';
import type { LiveOrder } from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type { UserTrade } from './order-events.ts';

/** One side of a confirmed trade. */
export interface TailTrade {
  readonly marketIndex: number;
  readonly trade: UserTrade;
  /** Infinity until dated. */
  journal: number;
}

interface DatedOrder {
  readonly order: LiveOrder;
  readonly journal: number;
}

export class Tail {
  readonly #orders: LiveOrders;
  readonly #ended = new Map<MarketSlot, LiveOrder[]>();
  #undatedOrders: LiveOrder[] = [];
  #datedOrders: DatedOrder[] = [];
  #undatedTrades: TailTrade[] = [];
  readonly #trades = new Map<UserId, TailTrade[]>();
  #checkpoint = 0;

  constructor(orders: LiveOrders) {
    this.#orders = orders;
  }

  /** Confirmed trades of the user since the last checkpoint, in the order of their confirmation. */
  tradesOf(user: UserId): readonly TailTrade[] {
    return this.#trades.get(user) ?? [];
  }

  /** Sides of trades in the tail. */
  get tradeCount(): number {
    let count = 0;
    for (const entries of this.#trades.values()) count += entries.length;
    return count;
  }

  tradeConfirmed(user: UserId, marketIndex: number, trade: UserTrade): void {
    const entry: TailTrade = { marketIndex, trade, journal: Number.POSITIVE_INFINITY };
    const own = this.#trades.get(user);
    if (own === undefined) this.#trades.set(user, [entry]);
    else own.push(entry);
    this.#undatedTrades.push(entry);
  }

  /** The order is finished; it stays in memory until a checkpoint holds it. */
  orderFinished(order: LiveOrder): void {
    if (order.lastSequence <= order.market.decidedSequence) {
      this.#undatedOrders.push(order);
      return;
    }
    const ended = this.#ended.get(order.market);
    if (ended === undefined) this.#ended.set(order.market, [order]);
    else ended.push(order);
  }

  /** Clearing has decided this market up to `market.decidedSequence`. */
  marketDecided(market: MarketSlot): void {
    const ended = this.#ended.get(market);
    if (ended === undefined) return;
    const isDecided = (order: LiveOrder) => order.lastSequence <= market.decidedSequence;
    this.#undatedOrders.push(...ended.filter(isDecided));
    this.#ended.set(
      market,
      ended.filter((order) => !isDecided(order)),
    );
  }

  /**
   * Dates what was decided, then drops what the checkpoint holds.
   *
   * @param journal the journal is flushed through this sequence.
   * @param checkpoint the last sequence that the tables reflect.
   */
  journalFlushed(journal: number, checkpoint: number): void {
    for (const order of this.#undatedOrders) this.#datedOrders.push({ order, journal });
    for (const entry of this.#undatedTrades) entry.journal = journal;
    this.#undatedOrders = [];
    this.#undatedTrades = [];
    const oldest = this.#datedOrders[0]?.journal ?? Number.POSITIVE_INFINITY;
    if (oldest <= checkpoint) this.#dropOrders(checkpoint);
    if (this.#checkpoint < checkpoint) this.#dropTrades(checkpoint);
    this.#checkpoint = checkpoint;
  }

  #dropOrders(checkpoint: number): void {
    const kept: DatedOrder[] = [];
    for (const dated of this.#datedOrders) {
      if (dated.journal > checkpoint) kept.push(dated);
      else this.#orders.remove(dated.order);
    }
    this.#datedOrders = kept;
  }

  #dropTrades(checkpoint: number): void {
    for (const [user, entries] of this.#trades) {
      const kept = entries.filter((entry) => entry.journal > checkpoint);
      if (kept.length === 0) this.#trades.delete(user);
      else this.#trades.set(user, kept);
    }
  }
}
