/**
 * Generates an order flow from a seed, in the format and mix of a recorded one, with the ten best levels after every
 * event: for use without a recording. The same seed gives the same flow on every machine.
 */
import { must } from '../core/assert.ts';
import { FlowBook, oppositeOf, type RestingOrder } from './flow-book.ts';
import type { FlowBookRow, FlowEvent, FlowSide } from './flow-format.ts';

interface SyntheticFlow {
  readonly events: readonly FlowEvent[];
  /** One row per event. */
  readonly book: readonly FlowBookRow[];
}

/** Prices stay within this band around the middle, in raw units. */
const MIDDLE = 5_850_000;
const TICK = 100;
const BAND_TICKS = 200;
const SEEDS = 20;
const FIRST_NS = 34_200_000_000_000n;
/** Shares in percent, similar to those of a recorded morning. */
const SHARE = { cancel: 38, take: 10, reduce: 2, trim: 1 } as const;
const ORDERS_MIN = 10;

/** Mulberry32: 32 bits of state, good enough to choose orders, the same everywhere. */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from 0 to `limit` − 1. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
}

type Draft = Omit<FlowEvent, 'seq' | 'timeNs'>;

/** @param seed 0 … 2^32−1. @param count at least 1 event, seeds included. */
export function syntheticFlow(seed: number, count: number): SyntheticFlow {
  const chance = new Chance(seed);
  const flowBook = new FlowBook();
  const events: FlowEvent[] = [];
  const book: FlowBookRow[] = [];
  let timeNs = FIRST_NS;
  for (let seq = 1; seq <= count; seq += 1) {
    if (seq > SEEDS) timeNs += BigInt(1_000 + chance.below(5_000_000));
    const event: FlowEvent = { seq, timeNs, ...draft(chance, flowBook, seq) };
    flowBook.apply(event);
    events.push(event);
    book.push(flowBook.row(seq));
  }
  return { events, book };
}

function draft(chance: Chance, book: FlowBook, seq: number): Draft {
  if (seq <= SEEDS) return newOrder('seed', `s${seq}`, chance, book);
  const resting = [...book.orders()];
  const die = chance.below(100);
  const { cancel, take, reduce, trim } = SHARE;
  if (resting.length > ORDERS_MIN) {
    const order = must(resting[chance.below(resting.length)], 'an order rests');
    if (die < cancel) return { ...identity(order), action: 'cancel', quantity: order.remaining };
    if (die < cancel + take) return takeOrder(`t${seq}`, chance, book);
    if (die < cancel + take + reduce + trim && order.remaining > 1) {
      const action = die < cancel + take + reduce ? 'reduce' : 'trim';
      return { ...identity(order), action, quantity: 1 + chance.below(order.remaining - 1) };
    }
  }
  return newOrder('add', `o${seq}`, chance, book);
}

function identity(order: RestingOrder): Pick<Draft, 'id' | 'side' | 'price'> {
  return { id: order.id, side: order.side, price: order.price };
}

/** An order on its own side of the best opposite price, or of the middle if there is none. */
function newOrder(action: 'seed' | 'add', id: string, chance: Chance, book: FlowBook): Draft {
  const side: FlowSide = chance.below(2) === 0 ? 'buy' : 'sell';
  const away = side === 'buy' ? -TICK : TICK;
  const nearest = (book.best(oppositeOf(side)) ?? MIDDLE) + away;
  const price = within(nearest + away * Math.floor(chance.below(30) ** 2 / 30), nearest, side);
  return { action, id, side, price, quantity: 1 + chance.below(500) };
}

/** Limits a price to the band, unless that would make it cross. */
function within(price: number, nearest: number, side: FlowSide): number {
  const edge = BAND_TICKS * TICK;
  const kept = Math.min(MIDDLE + edge, Math.max(MIDDLE - edge, price));
  return side === 'buy' ? Math.min(kept, nearest) : Math.max(kept, nearest);
}

/** At the best price, for at most the quantity that rests there. */
function takeOrder(id: string, chance: Chance, book: FlowBook): Draft {
  const wanted: FlowSide = chance.below(2) === 0 ? 'buy' : 'sell';
  const side = book.best(oppositeOf(wanted)) === undefined ? oppositeOf(wanted) : wanted;
  const price = must(book.best(oppositeOf(side)), 'one side of the book has an order');
  const quantity = 1 + chance.below(book.quantityAt(oppositeOf(side), price));
  return { action: 'take', id, side, price, quantity };
}
