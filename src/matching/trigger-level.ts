/** Triggers at one price, by acceptance. A removal leaves a hole; holes are compacted when they are the majority. */
import { assert } from '../core/assert.ts';

interface Trigger {
  /** The order sequence, which sorts the triggers of one price. */
  readonly order: number;
}

const FEW = 32;

export class TriggerLevel<T extends Trigger> {
  readonly price: number;
  /** Ascending; the sequences of holes remain. */
  #orders: number[] = [];
  #triggers: (T | null)[] = [];
  /** All entries before it are holes. */
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

  /** Adds at the sorted position: usually the end, unless the trigger was moved to this price or is restored. */
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

  /** Removes and returns the first trigger, or null. */
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

  /** The position of a sequence, or its insertion position. */
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
