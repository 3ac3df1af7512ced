/** Admitted orders of one market in memory, by the sequence of their admission; what sleeps is woken by its name. */
import type { LiveOrder } from './live-order.ts';
import type { Sleepers } from './sleepers.ts';

export class MarketOrders {
  readonly #marketIndex: number;
  readonly #sleepers: Sleepers;
  readonly #bySequence = new Map<number, LiveOrder>();

  constructor(marketIndex: number, sleepers: Sleepers) {
    this.#marketIndex = marketIndex;
    this.#sleepers = sleepers;
  }

  get(sequence: number): LiveOrder | undefined {
    const known = this.#bySequence.get(sequence);
    if (known !== undefined) return known;
    return this.#sleepers.wakeOrder(this.#marketIndex, sequence) ? this.#bySequence.get(sequence) : undefined;
  }

  /** Those that are awake, in the order in which they came into memory. */
  awake(): Iterable<LiveOrder> {
    return this.#bySequence.values();
  }

  /** @returns false, nothing changed, when an order of that name is in memory. */
  add(sequence: number, order: LiveOrder): boolean {
    if (this.#bySequence.has(sequence)) return false;
    this.#bySequence.set(sequence, order);
    return true;
  }

  delete(sequence: number): void {
    this.#bySequence.delete(sequence);
  }
}
