/** What waits for one price, by admission. Who leaves, leaves a hole; holes are closed when they are the greater part. */
import { assert } from '../core/assert.ts';

export interface Trigger {
  /** The order's name: its place among those of one price. */
  readonly order: number;
}

const FEW = 32;

export class TriggerLevel<T extends Trigger> {
  readonly price: number;
  /** Ascending; names of holes stay. */
  #orders: number[] = [];
  #triggers: (T | null)[] = [];
  /** Before it there are only holes. */
  #head = 0;
  #count = 0;

  constructor(price: number) {
    this.price = price;
  }

  get count(): number {
    return this.#count;
  }

  get first(): T | null {
    while (this.#head < this.#triggers.length) {
      const trigger = this.#triggers[this.#head] ?? null;
      if (trigger !== null) return trigger;
      this.#head++;
    }
    return null;
  }

  /** At its place: at the end, unless it was moved here or is restored. */
  add(trigger: T): void {
    const { order } = trigger;
    this.#count++;
    const at = order > (this.#orders.at(-1) ?? 0) ? this.#orders.length : this.#placeOf(order);
    this.#head = Math.min(this.#head, at);
    if (this.#orders[at] === order) this.#triggers[at] = trigger;
    else {
      this.#orders.splice(at, 0, order);
      this.#triggers.splice(at, 0, trigger);
    }
  }

  /** Takes out the first one, if somebody is left. */
  take(): T | null {
    const { first } = this;
    if (first === null) return null;
    this.#triggers[this.#head++] = null;
    this.#count--;
    return first;
  }

  remove({ order }: T): void {
    const at = this.#placeOf(order);
    assert(this.#orders[at] === order && this.#triggers[at] !== null, 'a trigger stands at its price');
    this.#triggers[at] = null;
    this.#count--;
    if (this.#triggers.length > FEW + 2 * this.#count) this.#close();
  }

  #close(): void {
    this.#orders = this.#orders.filter((_, at) => this.#triggers[at] !== null);
    this.#triggers = this.#triggers.filter((trigger) => trigger !== null);
    this.#head = 0;
  }

  /** Where a name stands, or would. */
  #placeOf(order: number): number {
    let from = 0;
    let to = this.#orders.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#orders[middle] as number) < order) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
