/**
 * The budget that all requests share, on whichever thread they arrive (LIM-02, LIM-06, LIM-14): one bucket in shared
 * memory, and counts of what limits have refused.
 *
 *   main thread ── configure, take ──▶ ┌ version, rate, capacity, public price │ position │ refused ┐ ◀── take ── others
 *
 * Invariants
 *   (1) One thread configures. The version is odd while it does; readers take settings of one version only.
 *   (2) The position moves by compare-and-exchange, so no charge is lost and none is made twice.
 *   (3) The position never goes back. A charge whose clock was read before another thread charged finds it ahead of its
 *       own supply by more than the capacity: then there is nothing, and nothing is taken.
 *   (4) The position is kept modulo 2^64. Behind the supply, or ahead by more than clocks can be apart, is a bucket that
 *       has been full for a long part of the scale (from 106 days on with limits lifted, thousands of years else).
 */
import type { TimestampNs } from '../core/units.ts';
import { type BucketSize, capacityOf, suppliedBy } from './bucket.ts';

/** Whose limit refused a request: the user's, the one all share, or that of an address. */
export type LimitName = 'user' | 'global' | 'address';

/** Words of 64 bits; the version is the low half of the first. */
const VERSION = 0;
const RATE = 1;
const CAPACITY = 2;
const PUBLIC_READ = 3;
const POSITION = 4;
const REFUSED: Readonly<Record<LimitName, number>> = { user: 5, global: 6, address: 7 };
const WORDS = 8;
const POSITION_BITS = 64;
/** A thread charges with a time that it read less than this before. */
const CLOCKS_APART_NS = 3_600_000_000_000n as TimestampNs;

interface Settings {
  readonly version: number;
  readonly size: BucketSize;
  /** Milli-units. */
  readonly capacity: bigint;
  readonly publicRead: bigint;
}

export class SharedBudget {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;
  readonly #version: Int32Array;
  /** As last read, so that a charge reads one word to know that it still holds. */
  #known: Settings;

  /** @param memory of another thread's SharedBudget. New memory is a bucket without room until it is configured. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory);
    this.#version = new Int32Array(memory, VERSION, 1);
    this.#known = this.#read();
  }

  /** Starts a full bucket of this size (LIM-17). @param publicRead price in milli-units. */
  configure(size: BucketSize, publicRead: bigint, now: TimestampNs): void {
    const words = this.#words;
    Atomics.add(this.#version, 0, 1);
    Atomics.store(words, RATE, size.unitsPerSecond);
    Atomics.store(words, CAPACITY, size.capacity);
    Atomics.store(words, PUBLIC_READ, publicRead);
    Atomics.store(words, POSITION, wrapped(suppliedBy(size, now)));
    Atomics.add(this.#version, 0, 1);
  }

  /**
   * @param price milli-units.
   * @returns null when they were taken; else what is there, and nothing was taken.
   */
  take(price: bigint, now: TimestampNs): bigint | null {
    return this.#take(price, now);
  }

  /** As `take`, for a request without a session. @returns what was asked and what is there. */
  takePublicRead(now: TimestampNs): { readonly asked: bigint; readonly available: bigint } | null {
    const available = this.#take(null, now);
    return available === null ? null : { asked: this.#known.publicRead, available };
  }

  /** Milli-units that are there. */
  available(now: TimestampNs): bigint {
    const { size, capacity } = this.#settings();
    return levelOf(capacity, missingOf(Atomics.load(this.#words, POSITION), size, now));
  }

  countRefusal(by: LimitName): void {
    Atomics.add(this.#words, REFUSED[by], 1n);
  }

  refusals(by: LimitName): bigint {
    return Atomics.load(this.#words, REFUSED[by]);
  }

  /**
   * Another thread can move the position, or the settings, between the reading and the exchange; then it starts again.
   * Such a charge may be later than `now`: see invariant 3.
   *
   * @param price null for the price of a public read.
   */
  #take(price: bigint | null, now: TimestampNs): bigint | null {
    for (;;) {
      const { size, capacity, publicRead, version } = this.#settings();
      const position = Atomics.load(this.#words, POSITION);
      const missing = missingOf(position, size, now);
      const after = missing + (price ?? publicRead);
      if (Atomics.load(this.#version, 0) !== version) continue;
      // What costs nothing is let through, whatever there is.
      if (after > capacity && after > missing) return levelOf(capacity, missing);
      const next = wrapped(suppliedBy(size, now) + after);
      if (Atomics.compareExchange(this.#words, POSITION, position, next) === position) return null;
    }
  }

  #settings(): Settings {
    if (Atomics.load(this.#version, 0) !== this.#known.version) this.#known = this.#read();
    return this.#known;
  }

  #read(): Settings {
    for (;;) {
      const version = Atomics.load(this.#version, 0);
      const size = {
        unitsPerSecond: Atomics.load(this.#words, RATE),
        capacity: Atomics.load(this.#words, CAPACITY),
      };
      const publicRead = Atomics.load(this.#words, PUBLIC_READ);
      const isWhole = (version & 1) === 0 && Atomics.load(this.#version, 0) === version;
      if (isWhole) return { version, size, capacity: capacityOf(size), publicRead };
    }
  }
}

/** Milli-units missing in a bucket at this position, more than fit for a clock that was read early; see the invariants. */
function missingOf(position: bigint, size: BucketSize, now: TimestampNs): bigint {
  const ahead = wrapped(position - suppliedBy(size, now));
  const most = capacityOf(size) + suppliedBy(size, CLOCKS_APART_NS);
  return ahead > 0n && ahead <= most ? ahead : 0n;
}

function levelOf(capacity: bigint, missing: bigint): bigint {
  return missing > capacity ? 0n : capacity - missing;
}

function wrapped(value: bigint): bigint {
  return BigInt.asIntN(POSITION_BITS, value);
}
