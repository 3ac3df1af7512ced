/**
 * Ring of recently published levels with their last quantity, which the check at the end of a batch compares. It has a
 * fixed size; a new level replaces the oldest.
 */
import type { Side } from '../core/order-terms.ts';

const LEVELS_MAX = 8;

export class PublishedLevels {
  readonly #sides: Side[] = [];
  readonly #prices: number[] = [];
  readonly #quantities: number[] = [];
  #next = 0;

  note(side: Side, price: number, quantity: number): void {
    const at = this.#placeOf(side, price);
    this.#sides[at] = side;
    this.#prices[at] = price;
    this.#quantities[at] = quantity;
  }

  /** Its existing place, or that of the oldest. */
  #placeOf(side: Side, price: number): number {
    for (let at = 0; at < this.#prices.length; at++)
      if (this.#prices[at] === price && this.#sides[at] === side) return at;
    const place = this.#next;
    this.#next = (place + 1) % LEVELS_MAX;
    return place;
  }

  /** Visits each level once and clears the ring. */
  take(visit: (side: Side, price: number, quantity: number) => void): void {
    for (let at = 0; at < this.#prices.length; at++)
      visit(this.#sides[at] as Side, this.#prices[at] as number, this.#quantities[at] as number);
    this.#sides.length = 0;
    this.#prices.length = 0;
    this.#quantities.length = 0;
    this.#next = 0;
  }
}
