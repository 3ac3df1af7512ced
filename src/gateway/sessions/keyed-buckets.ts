/**
 * Buckets of one size, one for each key that was charged lately (bucket.ts); a key without an entry has a full one.
 *
 * Invariant: at most `entriesMax` entries, in the order of their last charge. Each charge drops the oldest that are full
 * again; where none is, and there are too many, the one that was charged the longest time ago gives way.
 */
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import type { TimestampNs } from '../../core/units.ts';
import { type BucketSize, capacityOf, suppliedBy } from './bucket.ts';

/** Entries looked at per charge: more than the one that a charge can add. */
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

  /** Keys whose bucket is not known to be full. */
  get count(): number {
    return this.#buckets.size;
  }

  /** Milli-units, at most the capacity; negative for a key that owes. */
  level(key: string, now: TimestampNs): bigint {
    const capacity = capacityOf(this.size);
    const position = this.#buckets.get(key)?.value.position;
    if (position === undefined) return capacity;
    const missing = position - suppliedBy(this.size, now);
    return missing > 0n ? capacity - missing : capacity;
  }

  /** Takes milli-units, also those that are not there. @param lowest what the level falls to at most. */
  charge(key: string, milli: bigint, now: TimestampNs, lowest: bigint): void {
    const level = this.level(key, now) - milli;
    const missing = capacityOf(this.size) - (level > lowest ? level : lowest);
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
