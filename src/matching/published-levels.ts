/**
 * Ring of recently published levels with their last quantity, which the check at the end of a batch compares. It has a
 * fixed size; a new level replaces the oldest.
 */
import type { Side } from '../core/order-terms.ts';

const LEVELS_MAX = 8;

export class PublishedLevels {
  readonly #sides = new Uint8Array(LEVELS_MAX);
  readonly #prices = new Float64Array(LEVELS_MAX);
  readonly #quantities = new Float64Array(LEVELS_MAX);
  #count = 0;
  #next = 0;

  note(side: Side, price: number, quantity: number): void {
    const at = this.#placeOf(side, price);
    this.#sides[at] = side;
    this.#prices[at] = price;
    this.#quantities[at] = quantity;
  }

  /** The existing place of the level, or the place of the oldest one. */
  #placeOf(side: Side, price: number): number {
    for (let at = 0; at < this.#count; at++) if (this.#prices[at] === price && this.#sides[at] === side) return at;
    const place = this.#next;
    this.#next = (place + 1) % LEVELS_MAX;
    if (this.#count < LEVELS_MAX) this.#count += 1;
    return place;
  }

  /** Visits each level once and clears the ring. */
  take(visit: (side: Side, price: number, quantity: number) => void): void {
    for (let at = 0; at < this.#count; at++)
      visit(this.#sides[at] as Side, this.#prices[at] as number, this.#quantities[at] as number);
    this.#count = 0;
    this.#next = 0;
  }
}
