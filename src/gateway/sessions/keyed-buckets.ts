/**
 * Buckets of one size, one for each recently charged key (bucket.ts); a key without an entry has a full one.
 *
 * Invariant: at most `entriesMax` entries, in the order of their last charge. Each charge drops the oldest entries that
 * are full again; if there are too many and none is full, the one with the oldest charge is evicted.
 */
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import type { TimestampNs } from '../../core/units.ts';
import { type BucketSize, bucketCapacity, suppliedBy } from './bucket.ts';

/** Entries examined per charge: more than the one that a charge can add. */
const LOOKED_AT = 2;

interface Bucket {
  readonly key: string;
  /** On the scale of bucket.ts. */
  position: bigint;
}

export class KeyedBuckets {
  readonly size: BucketSize;
  readonly #entriesMax: number;
  readonly #buckets = new Map<string, ListEntry<Bucket>>();
  readonly #charged = new LinkedList<Bucket>();

  constructor(size: BucketSize, entriesMax: number) {
    this.size = size;
    this.#entriesMax = entriesMax;
  }

  /** Number of keys with an entry. */
  get count(): number {
    return this.#buckets.size;
  }

  /** Milli-units, at most the capacity; may be negative. */
  level(key: string, now: TimestampNs): bigint {
    const capacity = bucketCapacity(this.size);
    const position = this.#buckets.get(key)?.value.position;
    if (position === undefined) return capacity;
    const missing = position - suppliedBy(this.size, now);
    return missing > 0n ? capacity - missing : capacity;
  }

  /** Charges milli-units even beyond the level. @param lowest lower bound of the resulting level. */
  charge(key: string, milli: bigint, now: TimestampNs, lowest: bigint): void {
    const level = this.level(key, now) - milli;
    const missing = bucketCapacity(this.size) - (level > lowest ? level : lowest);
    let entry = this.#buckets.get(key);
    if (entry === undefined) {
      entry = new ListEntry<Bucket>({ key, position: 0n });
      this.#buckets.set(key, entry);
    }
    entry.value.position = suppliedBy(this.size, now) + missing;
    this.#charged.append(entry);
    this.#forgetFull(now);
  }

  #forgetFull(now: TimestampNs): void {
    const supplied = suppliedBy(this.size, now);
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const oldest = this.#charged.first;
      if (oldest === null || (oldest.position > supplied && this.#buckets.size <= this.#entriesMax)) return;
      const entry = this.#buckets.get(oldest.key);
      if (entry !== undefined) this.#charged.remove(entry);
      this.#buckets.delete(oldest.key);
    }
  }
}
