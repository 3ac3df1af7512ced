/**
 * Trades that clearing has not decided: a ring by trade id, from the one after the settlement watermark to the last.
 *
 * It maps a trade id to its two orders by index arithmetic: trade ids are dense, and every fill is decided within
 * minutes (FIL-16), so the ring is as short as clearing's lag. Each undecided trade is counted once in `pending` of
 * both orders; a rolled-back trade stays in the ring with quantity 0 until the watermark passes it.
 */
import { assert } from '../core/assert.ts';
import type { OrderPool } from './order-pool.ts';
import { PENDING } from './order-records.ts';

export class UndecidedTrades {
  /** Trades up to this one are decided. */
  settledThrough = 0;
  lastTradeId = 0;
  maker: Int32Array;
  taker: Int32Array;
  price: Float64Array;
  quantity: Float64Array;
  readonly #orders: OrderPool;

  /** @param capacity a power of two. */
  constructor(orders: OrderPool, capacity: number) {
    this.#orders = orders;
    this.maker = new Int32Array(capacity);
    this.taker = new Int32Array(capacity);
    this.price = new Float64Array(capacity);
    this.quantity = new Float64Array(capacity);
  }

  /** Continues numbering after `lastTradeId`, with no undecided trade. */
  startAfter(lastTradeId: number): void {
    assert(this.lastTradeId === this.settledThrough, 'numbering starts with nothing undecided');
    assert(lastTradeId >= this.lastTradeId, 'trade ids never go back');
    this.settledThrough = lastTradeId;
    this.lastTradeId = lastTradeId;
  }

  /** @returns the id of the new trade. */
  add(maker: number, taker: number, price: number, quantity: number): number {
    if (this.lastTradeId - this.settledThrough === this.maker.length) this.#grow();
    const tradeId = ++this.lastTradeId;
    const at = this.indexOf(tradeId);
    this.maker[at] = maker;
    this.taker[at] = taker;
    this.price[at] = price;
    this.quantity[at] = quantity;
    const { words } = this.#orders;
    words[maker + PENDING] = (words[maker + PENDING] as number) + 1;
    words[taker + PENDING] = (words[taker + PENDING] as number) + 1;
    return tradeId;
  }

  /** A trade without orders and lots, a test hook's or clearing's own: it uses an id and is skipped. @returns the id. */
  addVoid(price: number): number {
    if (this.lastTradeId - this.settledThrough === this.maker.length) this.#grow();
    const tradeId = ++this.lastTradeId;
    const at = this.indexOf(tradeId);
    this.price[at] = price;
    this.quantity[at] = 0;
    return tradeId;
  }

  /** Array index of an undecided trade. */
  indexOf(tradeId: number): number {
    return tradeId & (this.maker.length - 1);
  }

  /** The order's lots in undecided trades. Scans all of them. */
  pendingLots(index: number): number {
    let lots = 0;
    for (let tradeId = this.settledThrough + 1; tradeId <= this.lastTradeId; tradeId++) {
      const at = this.indexOf(tradeId);
      if (this.maker[at] === index || this.taker[at] === index) lots += this.quantity[at] as number;
    }
    return lots;
  }

  #grow(): void {
    const { maker, taker, price, quantity } = this;
    const capacity = maker.length * 2;
    this.maker = new Int32Array(capacity);
    this.taker = new Int32Array(capacity);
    this.price = new Float64Array(capacity);
    this.quantity = new Float64Array(capacity);
    for (let tradeId = this.settledThrough + 1; tradeId <= this.lastTradeId; tradeId++) {
      const from = tradeId & (maker.length - 1);
      const to = this.indexOf(tradeId);
      this.maker[to] = maker[from] as number;
      this.taker[to] = taker[from] as number;
      this.price[to] = price[from] as number;
      this.quantity[to] = quantity[from] as number;
    }
  }
}
