/**
 * Which orders a user may have in this market: what a cancel-all goes through (CAN-05, CAN-08).
 *
 * A list per user to which every order is added and from which none is taken out: that would cost each order two more
 * visits to memory. When a list is full, those that live no more are dropped, or it doubles. A slot that was given out
 * anew to the same user stands in its list twice; whoever reads the list sees it once.
 *
 * Invariant: every live order of a user is in its list.
 */
import { must } from '../core/assert.ts';
import { ORDER_STATE, type OrderPool } from './order-pool.ts';
import { grown } from './pools.ts';

const FIRST_LENGTH = 8;

export class UserOrders {
  readonly #orders: OrderPool;
  readonly #userOf: (slot: number) => number;
  readonly #lists: Int32Array<ArrayBuffer>[] = [];
  #lengths: Int32Array<ArrayBuffer>;

  /** @param userOf the user of a slot that is not free. */
  constructor(orders: OrderPool, userOf: (slot: number) => number, capacity: number) {
    this.#orders = orders;
    this.#userOf = userOf;
    this.#lengths = new Int32Array(capacity);
  }

  add(user: number, slot: number): void {
    while (user >= this.#lists.length) this.#addUser();
    let list = this.#lists[user] as Int32Array<ArrayBuffer>;
    let length = this.#lengths[user] as number;
    if (length === list.length) {
      const kept = this.of(user);
      // Half of it free again, so that the next visit to every entry is paid for by as many orders.
      if (kept.length * 2 > list.length) {
        list = grown(list, list.length * 2);
        this.#lists[user] = list;
      }
      list.set(kept);
      length = kept.length;
    }
    list[length] = slot;
    this.#lengths[user] = length + 1;
  }

  /** The user's orders that are not free, each once, by admission. */
  of(user: number): number[] {
    const list = this.#lists[user];
    if (list === undefined) return [];
    const orders = this.#orders;
    const seen = new Set<number>();
    for (const slot of list.subarray(0, this.#lengths[user]))
      if (orders.stateOf(slot) !== ORDER_STATE.free && this.#userOf(slot) === user) seen.add(slot);
    return [...seen].sort((a, b) => orders.sequenceOf(a) - orders.sequenceOf(b));
  }

  /** The user's order of that name. @throws InvariantError when there is none. */
  named(user: number, order: number): number {
    return must(
      this.of(user).find((slot) => this.#orders.sequenceOf(slot) === order),
      'a parent is restored before its children',
    );
  }

  #addUser(): void {
    if (this.#lists.length === this.#lengths.length) this.#lengths = grown(this.#lengths, this.#lengths.length * 2);
    this.#lists.push(new Int32Array(FIRST_LENGTH));
  }
}
