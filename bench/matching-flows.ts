/**
 * Seeded order flows for one market, valid for every engine: a cancel always refers to a live order.
 *
 *   mix           1,000 orders a side near the touch; 10% takers, else passive creates and cancels
 *   deep          100,000 orders on 10,000 levels; creates and cancels anywhere, 10% takers
 *   market maker  40 orders a side; 96% cancel and quote again within ten ticks, 4% takers
 *   wall          5,000 orders a side at one price; orders join it, leave it anywhere, 2% take from its front
 *
 * A book keeps its size within a tenth: random numbers choose between create and cancel, except where that would leave
 * the range. Otherwise a flow drifts: mix grew to 60,000 orders in a million commands, market maker shrank to ten.
 *
 * Only plain limit orders and cancels, because all contenders have those. Prices are ticks around 100,000.
 */
import { mixChecksum } from './bench-kit.ts';

export const CREATE = 1;
export const CANCEL = 2;
const MID = 100_000;

export interface Flow {
  readonly name: string;
  readonly kind: Uint8Array;
  /** The order's number; creates count up from 0. */
  readonly order: Uint32Array;
  /** For creates. 0 buys, 1 sells. */
  readonly side: Uint8Array;
  readonly price: Uint32Array;
  readonly quantity: Uint32Array;
  /** The first commands only fill the book and are not timed. */
  readonly preload: number;
  readonly length: number;
  readonly orders: number;
  readonly checksum: number;
}

interface Shape {
  readonly name: string;
  readonly seed: number;
  readonly preload: number;
  /** Levels a side on which passive orders lie, from the touch on; evenly, or most of them near the touch. */
  readonly levels: number;
  readonly even: boolean;
  /** Of 100 commands. */
  readonly takers: number;
  readonly cancels: number;
}

const SHAPES: readonly Shape[] = [
  { name: 'mix', seed: 1, preload: 2_000, levels: 200, even: false, takers: 10, cancels: 40 },
  { name: 'deep', seed: 2, preload: 100_000, levels: 5_000, even: true, takers: 10, cancels: 42 },
  { name: 'market maker', seed: 3, preload: 80, levels: 10, even: true, takers: 4, cancels: 48 },
  { name: 'wall', seed: 4, preload: 10_000, levels: 1, even: true, takers: 2, cancels: 48 },
];

export function makeFlows(timed: number): Flow[] {
  return SHAPES.map((shape) => makeFlow(shape, timed));
}

/** The generator's own small book of live orders: enough to determine the makers of a taker. */
class Live {
  readonly queues: Map<number, number[]>[] = [new Map(), new Map()];
  readonly left: Map<number, number> = new Map();
  readonly list: number[] = [];
  readonly #place: Map<number, number> = new Map();
  readonly #where: Map<number, { side: number; price: number }> = new Map();
  readonly best: number[] = [MID - 1, MID];

  add(order: number, side: number, price: number, quantity: number): void {
    const queue = this.queues[side]?.get(price);
    if (queue === undefined) this.queues[side]?.set(price, [order]);
    else queue.push(order);
    this.left.set(order, quantity);
    this.#where.set(order, { side, price });
    this.#place.set(order, this.list.length);
    this.list.push(order);
    this.best[side] = side === 0 ? Math.max(this.best[0] ?? 0, price) : Math.min(this.best[1] ?? 0, price);
  }

  /** Takes up to `quantity` from a side, no worse than `limit`. */
  take(side: number, limit: number, quantity: number): number {
    let wanted = quantity;
    const step = side === 0 ? -1 : 1;
    for (let price = this.best[side] ?? 0; wanted > 0 && (limit - price) * step >= 0; price += step) {
      this.best[side] = price;
      const queue = this.queues[side]?.get(price) ?? [];
      while (wanted > 0 && queue.length > 0) {
        const order = queue[0] as number;
        const offered = this.left.get(order) ?? 0;
        const filled = Math.min(offered, wanted);
        wanted -= filled;
        if (filled === offered) this.remove(order);
        else this.left.set(order, offered - filled);
      }
    }
    return wanted;
  }

  remove(order: number): void {
    const { side, price } = this.#where.get(order) ?? { side: 0, price: 0 };
    const queue = this.queues[side]?.get(price) ?? [];
    queue.splice(queue.indexOf(order), 1);
    const place = this.#place.get(order) ?? 0;
    const last = this.list.pop() as number;
    if (last !== order) {
      this.list[place] = last;
      this.#place.set(last, place);
    }
    this.left.delete(order);
    this.#where.delete(order);
    this.#place.delete(order);
  }
}

function makeFlow(shape: Shape, timed: number): Flow {
  const length = shape.preload + timed;
  const columns = {
    kind: new Uint8Array(length),
    order: new Uint32Array(length),
    side: new Uint8Array(length),
    price: new Uint32Array(length),
    quantity: new Uint32Array(length),
  };
  let state = shape.seed;
  const below = (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 4_294_967_296) * count);
  };
  const distance = (): number =>
    shape.even ? below(shape.levels) : Math.min(below(shape.levels), below(shape.levels), below(40));
  const live = new Live();
  let orders = 0;
  let checksum = 0;
  for (let at = 0; at < length; at++) {
    const dice = below(100);
    const isPreload = at < shape.preload;
    const surplus = live.list.length - shape.preload;
    const isNear = Math.abs(surplus) <= shape.preload / 10;
    const isCancel = dice < 100 - shape.takers && (isNear ? dice < shape.cancels : surplus > 0);
    if (!isPreload && isCancel) {
      const order = live.list[below(live.list.length)] as number;
      live.remove(order);
      columns.kind[at] = CANCEL;
      columns.order[at] = order;
    } else {
      const isTaker = !isPreload && dice >= 100 - shape.takers;
      const side = isPreload ? at & 1 : below(2);
      const reach = isTaker ? -below(3) - 1 : distance();
      const price = side === 0 ? MID - 1 - reach : MID + reach;
      const quantity = 1 + below(isTaker ? 250 : 100);
      const order = orders++;
      const left = live.take(1 - side, price, quantity);
      if (left > 0) live.add(order, side, price, left);
      columns.kind[at] = CREATE;
      columns.order[at] = order;
      columns.side[at] = side;
      columns.price[at] = price;
      columns.quantity[at] = quantity;
    }
    checksum = mixChecksum(checksum, (columns.order[at] as number) * 4 + (columns.kind[at] as number));
  }
  return { ...columns, name: shape.name, preload: shape.preload, length, orders, checksum };
}
