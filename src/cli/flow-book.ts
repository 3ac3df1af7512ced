/**
 * A plain price-time book for flows: arrays and maps, simple rather than fast. It computes the expected books of a
 * synthetic flow (synthetic-flow.ts) and the filled quantity of each order (replay-flow.ts).
 *
 * It rejects an event that violates the rules of the format: an `add` that would cross, a `take` that does not fill, an
 * order that does not exist.
 */
import {
  BOOK_LEVELS,
  type FlowBookRow,
  type FlowEvent,
  FlowFormatError,
  type FlowLevel,
  type FlowSide,
} from './flow-format.ts';

export interface RestingOrder {
  readonly id: string;
  readonly side: FlowSide;
  readonly price: number;
  remaining: number;
  filled: number;
}

/** What a `take` traded; zero for every other event. */
interface Traded {
  readonly quantity: bigint;
  /** Price × quantity, in the flow's raw units. */
  readonly notional: bigint;
}

/** The orders of one side by price, each level oldest first. */
type Side = Map<number, RestingOrder[]>;

export class FlowBook {
  readonly #sides: Readonly<Record<FlowSide, Side>> = { buy: new Map(), sell: new Map() };
  readonly #orders = new Map<string, RestingOrder>();

  order(id: string): RestingOrder | undefined {
    return this.#orders.get(id);
  }

  /** Every resting order, oldest first. */
  orders(): IterableIterator<RestingOrder> {
    return this.#orders.values();
  }

  /** The best price of a side; undefined when it is empty. */
  best(side: FlowSide): number | undefined {
    return this.#prices(side)[0];
  }

  /** The resting quantity at a price. */
  quantityAt(side: FlowSide, price: number): number {
    return (this.#sides[side].get(price) ?? []).reduce((sum, order) => sum + order.remaining, 0);
  }

  /** @throws FlowFormatError when the event violates a rule of the format; the book is then unchanged. */
  apply(event: FlowEvent): Traded {
    switch (event.action) {
      case 'seed':
      case 'add':
        this.#add(event);
        break;
      case 'cancel':
        this.#remove(this.#known(event));
        break;
      case 'reduce':
      case 'trim':
        this.#reduce(event);
        break;
      case 'take':
        return this.#take(event);
    }
    return { quantity: 0n, notional: 0n };
  }

  row(afterSeq: number): FlowBookRow {
    return { afterSeq, asks: this.#levels('sell'), bids: this.#levels('buy') };
  }

  #add(event: FlowEvent): void {
    if (this.#orders.has(event.id)) refuse(event, 'the id is taken');
    const opposite = this.best(oppositeOf(event.side));
    if (opposite !== undefined && crosses(event, opposite)) refuse(event, 'it would cross');
    const order = { id: event.id, side: event.side, price: event.price, remaining: event.quantity, filled: 0 };
    this.#orders.set(order.id, order);
    const level = this.#sides[order.side].get(order.price);
    if (level === undefined) this.#sides[order.side].set(order.price, [order]);
    else level.push(order);
  }

  #reduce(event: FlowEvent): void {
    const order = this.#known(event);
    if (event.quantity >= order.remaining) refuse(event, `it keeps ${event.quantity} of ${order.remaining}`);
    order.remaining = event.quantity;
  }

  #take(event: FlowEvent): Traded {
    const makers = this.#makersFor(event);
    let left = event.quantity;
    let notional = 0n;
    for (const maker of makers) {
      const quantity = Math.min(left, maker.remaining);
      left -= quantity;
      notional += BigInt(quantity) * BigInt(maker.price);
      maker.remaining -= quantity;
      maker.filled += quantity;
      if (maker.remaining === 0) this.#remove(maker);
    }
    return { quantity: BigInt(event.quantity), notional };
  }

  /** The makers that fill a take completely, in price-time order. */
  #makersFor(event: FlowEvent): readonly RestingOrder[] {
    const side = oppositeOf(event.side);
    const makers: RestingOrder[] = [];
    let left = event.quantity;
    for (const price of this.#prices(side)) {
      if (left <= 0 || !crosses(event, price)) break;
      for (const maker of this.#sides[side].get(price) ?? []) {
        if (left <= 0) break;
        makers.push(maker);
        left -= maker.remaining;
      }
    }
    if (left > 0) refuse(event, `${left} of ${event.quantity} would not fill`);
    return makers;
  }

  #known(event: FlowEvent): RestingOrder {
    return this.#orders.get(event.id) ?? refuse(event, 'no such order rests');
  }

  #remove(order: RestingOrder): void {
    this.#orders.delete(order.id);
    const side = this.#sides[order.side];
    const level = (side.get(order.price) ?? []).filter((other) => other !== order);
    if (level.length === 0) side.delete(order.price);
    else side.set(order.price, level);
  }

  /** Best first. */
  #prices(side: FlowSide): readonly number[] {
    const direction = side === 'sell' ? 1 : -1;
    return [...this.#sides[side].keys()].sort((a, b) => direction * (a - b));
  }

  #levels(side: FlowSide): readonly FlowLevel[] {
    return this.#prices(side)
      .slice(0, BOOK_LEVELS)
      .map((price) => ({ price, quantity: this.quantityAt(side, price) }));
  }
}

export function oppositeOf(side: FlowSide): FlowSide {
  return side === 'buy' ? 'sell' : 'buy';
}

function crosses(event: FlowEvent, oppositePrice: number): boolean {
  return event.side === 'buy' ? event.price >= oppositePrice : event.price <= oppositePrice;
}

function refuse(event: FlowEvent, reason: string): never {
  throw new FlowFormatError(`event ${event.seq}, ${event.action} of ${event.id}: ${reason}`);
}
