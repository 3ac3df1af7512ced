/**
 * The budget that all requests share, on whichever thread they arrive (LIM-02, LIM-06, LIM-14): one bucket in shared
 * memory, and counts of what limits have refused.
 *
 *   main thread ── configure, take ──▶ ┌ version, rate, capacity, public price │ position │ refused ┐ ◀── take ── others
 *
 * Invariants
 *   (1) One thread configures. The version is odd while it does; readers take settings of one version only.
 *   (2) The position moves by compare-and-exchange, so no charge is lost and none is made twice.
 *   (3) The position is kept modulo 2^64. What is missing lies between 0 and the capacity, so anything else is a bucket
 *       that has been full for longer than the scale is long.
 */
import type { TimestampNs } from '../core/units.ts';
import { type BucketSize, capacityOf, suppliedBy } from './bucket.ts';

/** Whose limit refused a request: the user's, the one all share, or that of an address. */
export type LimitName = 'user' | 'global' | 'address';

const VERSION = 0;
const RATE = 1;
const CAPACITY = 2;
const PUBLIC_READ = 3;
const POSITION = 4;
const REFUSED: Readonly<Record<LimitName, number>> = { user: 5, global: 6, address: 7 };
const WORDS = 8;
const POSITION_BITS = 64;

interface Settings {
  readonly version: bigint;
  readonly size: BucketSize;
  readonly publicRead: bigint;
}

export class SharedBudget {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  /** @param memory of another thread's SharedBudget. New memory is a bucket without room until it is configured. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory);
  }

  /** Starts a full bucket of this size (LIM-17). @param publicRead price in milli-units. */
  configure(size: BucketSize, publicRead: bigint, now: TimestampNs): void {
    const words = this.#words;
    Atomics.add(words, VERSION, 1n);
    Atomics.store(words, RATE, size.unitsPerSecond);
    Atomics.store(words, CAPACITY, size.capacity);
    Atomics.store(words, PUBLIC_READ, publicRead);
    Atomics.store(words, POSITION, wrapped(suppliedBy(size, now)));
    Atomics.add(words, VERSION, 1n);
  }

  /**
   * @param price milli-units.
   * @returns null when they were taken; else what is there, and nothing was taken.
   */
  take(price: bigint, now: TimestampNs): bigint | null {
    return this.#take(() => price, now);
  }

  /** As `take`, for a request without a session. @returns what was asked and what is there. */
  takePublicRead(now: TimestampNs): { readonly asked: bigint; readonly available: bigint } | null {
    let asked = 0n;
    const available = this.#take((settings) => {
      asked = settings.publicRead;
      return asked;
    }, now);
    return available === null ? null : { asked, available };
  }

  /** Milli-units that are there. */
  available(now: TimestampNs): bigint {
    const { size } = this.#settings();
    return capacityOf(size) - this.#missing(Atomics.load(this.#words, POSITION), size, now);
  }

  countRefusal(by: LimitName): void {
    Atomics.add(this.#words, REFUSED[by], 1n);
  }

  refusals(by: LimitName): bigint {
    return Atomics.load(this.#words, REFUSED[by]);
  }

  /** Another thread can move the position between the reading and the exchange; then it is read again. */
  #take(priceOf: (settings: Settings) => bigint, now: TimestampNs): bigint | null {
    for (;;) {
      const settings = this.#settings();
      const { size, version } = settings;
      const price = priceOf(settings);
      const position = Atomics.load(this.#words, POSITION);
      const missing = this.#missing(position, size, now);
      const available = capacityOf(size) - missing;
      if (Atomics.load(this.#words, VERSION) !== version) continue;
      if (price > available) return available;
      const next = wrapped(suppliedBy(size, now) + missing + price);
      if (Atomics.compareExchange(this.#words, POSITION, position, next) === position) return null;
    }
  }

  #settings(): Settings {
    const words = this.#words;
    for (;;) {
      const version = Atomics.load(words, VERSION);
      const size = { unitsPerSecond: Atomics.load(words, RATE), capacity: Atomics.load(words, CAPACITY) };
      const publicRead = Atomics.load(words, PUBLIC_READ);
      const isWhole = (version & 1n) === 0n && Atomics.load(words, VERSION) === version;
      if (isWhole) return { version, size, publicRead };
    }
  }

  #missing(position: bigint, size: BucketSize, now: TimestampNs): bigint {
    const ahead = wrapped(position - suppliedBy(size, now));
    return ahead > 0n && ahead <= capacityOf(size) ? ahead : 0n;
  }
}

function wrapped(value: bigint): bigint {
  return BigInt.asIntN(POSITION_BITS, value);
}
