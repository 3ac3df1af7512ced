/**
 * Ids of the orders in the pool: a hash of slots. The ids themselves lie in the pool.
 *
 * Neither a search nor a removal looks at the record of another order, unless their hashes are equal.
 */

import { lastWordMask } from '../core/key-words.ts';
import { IdTable } from './id-table.ts';
import type { OrderPool } from './order-pool.ts';
import { NONE } from './pools.ts';

export class LiveIds {
  readonly #orders: OrderPool;
  readonly #table: IdTable;

  constructor(orders: OrderPool, capacity: number) {
    this.#orders = orders;
    this.#table = new IdTable(capacity, false);
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** The slot of the order with this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const places = this.#table.placesOf(hash);
    const { pairs } = places;
    for (let place = places.placeOf(hash) << 1; pairs[place + 1] !== 0; place += 2) {
      const slot = (pairs[place + 1] as number) - 1;
      if (pairs[place] === hash && this.#equals(slot, user, words, at, bytes)) return slot;
    }
    return NONE;
  }

  /** The order's id from here on; its user is set. */
  add(slot: number, hash: number, words: Int32Array, at: number, bytes: number): void {
    this.#orders.setId(slot, hash, words, at, bytes);
    this.#table.add(hash, slot);
  }

  /** The id is an order's no more; it can be read until the slot is released. */
  remove(slot: number): void {
    this.#table.remove(this.#orders.idHashOf(slot), slot);
  }

  #equals(slot: number, user: number, words: Int32Array, at: number, bytes: number): boolean {
    const orders = this.#orders;
    if (orders.userOf(slot) !== user || orders.idBytesOf(slot) !== bytes) return false;
    const own = orders.idWordsOf(slot);
    const id = orders.idAt(slot);
    const last = (bytes - 1) >>> 2;
    for (let word = 0; word < last; word++) if (own[id + word] !== words[at + word]) return false;
    return own[id + last] === ((words[at + last] as number) & lastWordMask(bytes));
  }
}
