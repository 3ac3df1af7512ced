/**
 * Ids of finished orders and of held cancels: many, written once, seldom asked for. Finding that one is unknown touches
 * one word of a filter, which stays in the processor's caches; writing one down touches that word and a line of a table
 * that is in no cache, which is why callers write several at a time.
 */
import type { IdRecords } from './id-records.ts';
import { IdTable } from './id-table.ts';
import { NONE } from './pools.ts';

export class PastIds {
  readonly #records: IdRecords;
  readonly #table: IdTable;

  constructor(records: IdRecords, capacity: number) {
    this.#records = records;
    this.#table = new IdTable(capacity, true);
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** The record of this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const places = this.#table.placesOf(hash);
    if (!places.mayHave(hash)) return NONE;
    const { pairs } = places;
    for (let place = places.placeOf(hash) << 1; pairs[place + 1] !== 0; place += 2) {
      const record = (pairs[place + 1] as number) - 1;
      if (pairs[place] === hash && this.#records.equals(record, user, words, at, bytes)) return record;
    }
    return NONE;
  }

  add(hash: number, record: number): void {
    this.#table.add(hash, record);
  }

  /** Reads what `add` will touch. */
  touch(hash: number): number {
    return this.#table.touch(hash);
  }

  /** An id that is here. */
  remove(hash: number, record: number): void {
    this.#table.remove(hash, record);
  }
}
