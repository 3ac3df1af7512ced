/**
 * Connections that take their orders with them when they end, and what ties an order to one (docs/trading.md, "When you
 * may go away").
 *
 *   sent over it ──▶ Tie ──its order is known──▶ among the ties of its lifeline ──┬─ the order's end is told ──▶ gone
 *                     │                                   ▲                       ├─ its replace was refused ──▶ gone
 *                     └───── another connection takes over ┘                      └─ cut ──▶ LeftBehind, to be cancelled
 *
 * So what a lost connection leaves behind is at hand, however much else its user has, and is taken some at a time. No
 * connection outlives a restart, and no tie does.
 *
 * Invariants
 *   (1) A lifeline has the ties that lead to it and have an order, and no others.
 *   (2) The order of a tie is in memory, and its end has not been told (live-orders.ts).
 *   (3) A lifeline that is cut gets no tie any more.
 */
import { assert, must } from '../../core/assert.ts';
import type { LiveOrder } from './live-order.ts';
import type { MarketSlot } from './markets.ts';

export class Lifeline {
  #isCut = false;
  /** By market, as one that has no room for cancels holds up no other. In the order in which they came. */
  readonly #ties = new Map<MarketSlot, Set<Tie>>();

  /** The connection has ended: what is still on its way to a market does not go there. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Ties of orders that go with it. */
  get size(): number {
    let size = 0;
    for (const ties of this.#ties.values()) size += ties.size;
    return size;
  }

  /** The connection has ended. @returns what goes with it, by market. */
  cut(): readonly LeftBehind[] {
    this.#isCut = true;
    const parts = Array.from(this.#ties, ([market, ties]) => new LeftBehind(this, market, ties));
    return parts.filter(({ size }) => size > 0);
  }

  /** For ties only. */
  add(tie: Tie, market: MarketSlot): void {
    assert(!this.#isCut, 'an order is tied to a connection that is there');
    const ties = this.#ties.get(market);
    if (ties === undefined) this.#ties.set(market, new Set([tie]));
    else ties.add(tie);
  }

  /** For ties only. */
  delete(tie: Tie, market: MarketSlot): void {
    this.#ties.get(market)?.delete(tie);
  }
}

/** Ties the order of one request to the connection with whose end it is cancelled. */
export class Tie {
  #lifeline: Lifeline | null;
  #order: LiveOrder | null = null;

  /** @param lifeline null: to none, until another connection takes over. */
  constructor(lifeline: Lifeline | null) {
    this.#lifeline = lifeline;
  }

  get lifeline(): Lifeline | null {
    return this.#lifeline;
  }

  get order(): LiveOrder | null {
    return this.#order;
  }

  /** Another connection takes over, which has not ended. Not what one that has ended leaves behind: that is cancelled. */
  moveTo(lifeline: Lifeline): void {
    const order = this.#order;
    if (order !== null && this.#lifeline?.isCut === true) return;
    if (order !== null) this.#lifeline?.delete(this, order.market);
    this.#lifeline = lifeline;
    if (order !== null) lifeline.add(this, order.market);
  }

  /** The request has its order. */
  bind(order: LiveOrder): void {
    assert(this.#order === null, 'a tie has one order');
    this.#order = order;
    this.#lifeline?.add(this, order.market);
  }

  /** The order is over, or goes no longer with this connection. Further times do nothing. */
  loosen(): void {
    const order = this.#order;
    if (order === null) return;
    this.#order = null;
    this.#lifeline?.delete(this, order.market);
  }
}

/** What a connection that has ended leaves in a market, oldest first. What ends meanwhile is no more among it. */
export class LeftBehind {
  readonly market: MarketSlot;
  readonly #lifeline: Lifeline;
  readonly #ties: ReadonlySet<Tie>;
  /** Goes on where it stopped, whatever leaves the set before it or behind it. */
  readonly #next: Iterator<Tie>;

  constructor(lifeline: Lifeline, market: MarketSlot, ties: ReadonlySet<Tie>) {
    this.#lifeline = lifeline;
    this.market = market;
    this.#ties = ties;
    this.#next = ties.values();
  }

  /** 0 when every order was taken, or ended before. */
  get size(): number {
    return this.#ties.size;
  }

  /** The next order, each once; to be called while there are any. */
  take(): LiveOrder {
    const { value: tie } = this.#next.next();
    const order = must(tie?.order ?? undefined, 'what is left behind is an order');
    // It may have been created and replaced over that connection.
    for (const other of order.ties) if (other.lifeline === this.#lifeline) other.loosen();
    return order;
  }
}
