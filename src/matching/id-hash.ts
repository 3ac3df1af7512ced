/**
 * A hash of order-id records: pairs of hash and record, linear probing, at most five eighths full, no tombstones.
 *
 * The records are compared by the caller's own eyes: a probe gives the records with the same 32-bit hash, one after the
 * other.
 */
import { assert } from '../core/assert.ts';
import { NONE } from './pools.ts';

export class IdHash {
  /** Pairs; a record of 0 is an empty place. */
  pairs: Int32Array<ArrayBuffer>;
  #count = 0;

  constructor(capacity: number) {
    this.pairs = new Int32Array(capacity * 2);
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.pairs.byteLength;
  }

  /** Index in `pairs` of the first record with this hash from `place` on, or NONE. Start with `placeOf`. */
  probe(hash: number, from: number): number {
    const { pairs } = this;
    const mask = pairs.length - 1;
    for (let place = from; ; place = (place + 2) & mask) {
      if (pairs[place + 1] === 0) return NONE;
      if (pairs[place] === hash) return place;
    }
  }

  placeOf(hash: number): number {
    return (hash << 1) & (this.pairs.length - 1);
  }

  /** The place after this one. */
  next(place: number): number {
    return (place + 2) & (this.pairs.length - 1);
  }

  add(hash: number, record: number): void {
    if ((this.#count + 1) * 16 > this.pairs.length * 5) this.#grow();
    this.#count++;
    this.#enter(hash, record);
  }

  /** Later records of the run move back into the gap. */
  remove(hash: number, record: number): void {
    const { pairs } = this;
    const mask = pairs.length - 1;
    let gap = (hash << 1) & mask;
    while (pairs[gap + 1] !== record) {
      assert(pairs[gap + 1] !== 0, 'a record to take out is in the hash');
      gap = (gap + 2) & mask;
    }
    for (let place = (gap + 2) & mask; pairs[place + 1] !== 0; place = (place + 2) & mask) {
      const home = ((pairs[place] as number) << 1) & mask;
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      pairs[gap] = pairs[place] as number;
      pairs[gap + 1] = pairs[place + 1] as number;
      gap = place;
    }
    pairs[gap + 1] = 0;
    this.#count--;
  }

  #enter(hash: number, record: number): void {
    const { pairs } = this;
    const mask = pairs.length - 1;
    let place = (hash << 1) & mask;
    while (pairs[place + 1] !== 0) place = (place + 2) & mask;
    pairs[place] = hash;
    pairs[place + 1] = record;
  }

  #grow(): void {
    const old = this.pairs;
    this.pairs = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2)
      if (old[at + 1] !== 0) this.#enter(old[at] as number, old[at + 1] as number);
  }
}
