/**
 * Price and match time of a market's last confirmed trade (AMB-43), from events of its own shard: matches, rollbacks
 * and clearing's progress.
 *
 *   … decided │ undecided, a ring by trade id │ next
 *
 * After a start there is no price until a trade is confirmed: marks are stale until then (AMB-110).
 */
import { fromWords } from '../core/time-words.ts';
import type { TimestampNs } from '../core/units.ts';

const FIRST_CAPACITY = 64;
/** Marks a trade that was rolled back, or never was a match. */
const ROLLED_BACK = 0;

export class ConfirmedPrice {
  /** Raw, 0 before the first. */
  price = 0;
  #high = 0;
  #low = 0;
  #decided = 0;
  #last = 0;
  #prices = new Float64Array(FIRST_CAPACITY);
  #times = new Uint32Array(2 * FIRST_CAPACITY);

  /** When it was matched. */
  get matchedNs(): TimestampNs {
    return fromWords(this.#high, this.#low);
  }

  /** No trade up to this one is undecided. */
  startAfter(tradeId: number): void {
    this.#decided = tradeId;
    this.#last = tradeId;
  }

  matched(tradeId: number, price: number, high: number, low: number): void {
    if (tradeId - this.#decided > this.#prices.length) this.#grow();
    const at = tradeId % this.#prices.length;
    this.#prices[at] = price;
    this.#times[2 * at] = high;
    this.#times[2 * at + 1] = low;
    this.#last = tradeId;
  }

  /** An id without a match: it confirms no price. */
  skipped(tradeId: number): void {
    this.matched(tradeId, ROLLED_BACK, 0, 0);
  }

  rolledBack(tradeId: number): void {
    this.#prices[tradeId % this.#prices.length] = ROLLED_BACK;
  }

  /** Everything up to this trade is decided; trades without rollback are confirmed. */
  decidedThrough(tradeId: number): void {
    for (let id = tradeId; id > this.#decided; id -= 1) {
      const at = id % this.#prices.length;
      const price = this.#prices[at] as number;
      if (price === ROLLED_BACK) continue;
      this.price = price;
      this.#high = this.#times[2 * at] as number;
      this.#low = this.#times[2 * at + 1] as number;
      break;
    }
    this.#decided = Math.max(this.#decided, tradeId);
  }

  #grow(): void {
    const prices = this.#prices;
    const times = this.#times;
    const capacity = 2 * prices.length;
    this.#prices = new Float64Array(capacity);
    this.#times = new Uint32Array(2 * capacity);
    for (let id = this.#decided + 1; id <= this.#last; id += 1) {
      const from = id % prices.length;
      const to = id % capacity;
      this.#prices[to] = prices[from] as number;
      this.#times[2 * to] = times[2 * from] as number;
      this.#times[2 * to + 1] = times[2 * from + 1] as number;
    }
  }
}
