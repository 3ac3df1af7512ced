/**
 * The accounts with borrows that hold an asset, each with the prices at which it has to be judged again: dense arrays, so
 * that a price is compared with a hundred thousand accounts in a fraction of a millisecond.
 *
 *   index    account   below: weighed price of a credit      above: weighed price of a borrow
 *            (an account's credit is judged when the price falls below, its borrow when it rises above)
 *
 * An entry that goes is replaced by the last one.
 */
import { must } from '../../core/assert.ts';
import type { SubAccountSlot } from '../state.ts';

const CAPACITY_MIN = 16;

/** Judged with every price: a threshold that each price crosses. */
export const ALWAYS_BELOW: number = Number.POSITIVE_INFINITY;
export const ALWAYS_ABOVE: number = Number.NEGATIVE_INFINITY;
/** No price crosses these: the account has no credit, or no borrow, in the asset. */
export const NEVER_BELOW: number = Number.NEGATIVE_INFINITY;
export const NEVER_ABOVE: number = Number.POSITIVE_INFINITY;

export class WatchList {
  readonly #accounts: SubAccountSlot[] = [];
  #below = new Float64Array(CAPACITY_MIN);
  #above = new Float64Array(CAPACITY_MIN);

  get size(): number {
    return this.#accounts.length;
  }

  /** For checks. */
  accountAt(index: number): SubAccountSlot | undefined {
    return this.#accounts[index];
  }

  /** @returns its index. */
  add(account: SubAccountSlot): number {
    const index = this.#accounts.length;
    if (index >= this.#below.length) this.#grow();
    this.#accounts.push(account);
    return index;
  }

  /** Sets when the account at the index is to be judged. */
  set(index: number, below: number, above: number): void {
    this.#below[index] = below;
    this.#above[index] = above;
  }

  /** Every account is to be judged with the next price. */
  invalidate(): void {
    this.#below.fill(ALWAYS_BELOW);
  }

  /** @returns the account that has the index from here on, or null when it was the last one. */
  remove(index: number): SubAccountSlot | null {
    const last = must(this.#accounts.pop(), 'an entry that goes is there');
    const from = this.#accounts.length;
    if (index === from) return null;
    this.#accounts[index] = last;
    this.#below[index] = this.#below[from] as number;
    this.#above[index] = this.#above[from] as number;
    return last;
  }

  /**
   * Looks at the entries from `from` on, `count` of them at most.
   *
   * @param credit @param borrow the weighed prices of now. @param found called with each account that they concern.
   * @returns where to go on; the size when all were looked at.
   */
  scan(from: number, count: number, credit: number, borrow: number, found: (account: SubAccountSlot) => void): number {
    const below = this.#below;
    const above = this.#above;
    const end = Math.min(from + count, this.#accounts.length);
    for (let index = from; index < end; index += 1) {
      if (credit < (below[index] as number) || borrow > (above[index] as number)) {
        found(this.#accounts[index] as SubAccountSlot);
      }
    }
    return end;
  }

  #grow(): void {
    const [below, above] = [this.#below, this.#above];
    this.#below = new Float64Array(2 * below.length);
    this.#above = new Float64Array(2 * above.length);
    this.#below.set(below);
    this.#above.set(above);
  }
}
