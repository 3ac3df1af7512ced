/**
 * The request budget shared by all threads (LIM-02, LIM-06, LIM-14): one bucket in shared memory, and counters of
 * rejected requests.
 *
 *   main thread ── configure, take ──▶ ┌ version, rate, capacity, shares, public price │ position │ refused ┐ ◀── take ── others
 *
 * One level, and a minimum level per kind of request, so that the kinds of higher priority always have a reserve:
 *
 *   capacity ─────────────────── public share ends ─────────────── 0 ─────────────── −reserve
 *      │ public: no session, or a user without funds │ user: a user with funds │ cancel: cancels of such a user
 *
 * Units not used by kinds of lower priority are available to the others: the division loses no rate.
 *
 * Invariants
 *   (1) One thread configures. The version is odd meanwhile; readers use settings of one version only.
 *   (2) The position changes by compare-and-exchange, so every charge is applied exactly once.
 *   (3) The position never decreases. A charge with a time read before another thread's charge can find it ahead of its
 *       own supply by more than its kind may take: then it is rejected without a change.
 *   (4) The position is stored modulo 2^64. A position behind the supply, or ahead by more than clocks can differ, means a
 *       bucket that has been full for a large part of the range (106 days with limits lifted, thousands of years else).
 */
import type { TimestampNs } from '../../core/units.ts';
import { type BucketSize, bucketCapacity, suppliedBy } from './bucket.ts';

/** The limit that rejected a request: of the user, of all users, or of an address. */
export type LimitName = 'user' | 'global' | 'address';

/** The part of the budget that a request may use: see the header. */
export type Part = 'public' | 'user' | 'cancel';

/** Division of a budget, in percent of its capacity, 0 to 100 each. */
export interface Shares {
  /** The share available to public requests. */
  readonly publicPercent: bigint;
  /** The additional share available to cancels. */
  readonly reservePercent: bigint;
}

const STANDARD_SHARES: Shares = { publicPercent: 50n, reservePercent: 25n };
const UNDIVIDED: Shares = { publicPercent: 100n, reservePercent: 0n };
/** Units: one market maker could use up a smaller budget, so it is divided only by explicit configuration. */
const DIVIDED_FROM = 2_000n;

/** The default division of a budget. */
export function sharesOf(size: BucketSize): Shares {
  return size.capacity >= DIVIDED_FROM ? STANDARD_SHARES : UNDIVIDED;
}

/** 64-bit words; the version is the low half of the first. */
const VERSION = 0;
const RATE = 1;
const CAPACITY = 2;
const PUBLIC_READ = 3;
const POSITION = 4;
const REFUSED: Readonly<Record<LimitName, number>> = { user: 5, global: 6, address: 7 };
const PUBLIC_SHARE = 8;
const RESERVE = 9;
const WORDS = 10;
const POSITION_BITS = 64;
/** Upper bound of the age of the time that a thread charges with. */
const CLOCKS_APART_NS = 3_600_000_000_000n as TimestampNs;

interface Settings {
  readonly version: number;
  readonly size: BucketSize;
  /** Milli-units that may be missing after a request, by part. */
  readonly most: Readonly<Record<Part, bigint>>;
  /** Milli-units. */
  readonly publicRead: bigint;
}

export class SharedBudget {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;
  readonly #version: Int32Array;
  /** The last read settings; a charge reads one word to check that they are current. */
  #known: Settings;

  /** @param memory of another thread's SharedBudget. New memory is an empty bucket until it is configured. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory);
    this.#version = new Int32Array(memory, VERSION, 1);
    this.#known = this.#read();
  }

  /** Starts a full bucket of this size (LIM-17). @param publicRead price in milli-units. */
  configure(size: BucketSize, publicRead: bigint, now: TimestampNs, shares: Shares = sharesOf(size)): void {
    const words = this.#words;
    Atomics.add(this.#version, 0, 1);
    Atomics.store(words, RATE, size.unitsPerSecond);
    Atomics.store(words, CAPACITY, size.capacity);
    Atomics.store(words, PUBLIC_READ, publicRead);
    Atomics.store(words, PUBLIC_SHARE, percentOf(size, shares.publicPercent));
    Atomics.store(words, RESERVE, percentOf(size, shares.reservePercent));
    Atomics.store(words, POSITION, wrapped(suppliedBy(size, now)));
    Atomics.add(this.#version, 0, 1);
  }

  /**
   * @param price milli-units.
   * @returns null after the charge; else the level for this part, without a charge.
   */
  take(price: bigint, now: TimestampNs, part: Part = 'user'): bigint | null {
    return this.#take(price, now, part);
  }

  /**
   * As `take`, for a public read of the other listener.
   *
   * @param times number of public-read prices, by the amount read; at least 1.
   * @returns the price and the level for public requests.
   */
  takePublicRead(now: TimestampNs, times = 1n): { readonly asked: bigint; readonly available: bigint } | null {
    const asked = this.#settings().publicRead * times;
    const available = this.#take(asked, now, 'public');
    return available === null ? null : { asked, available };
  }

  /** The level in milli-units, by default for a user's request. */
  available(now: TimestampNs, part: Part = 'user'): bigint {
    const { size, most } = this.#settings();
    return levelOf(
      most[part],
      missingOf(Atomics.load(this.#words, POSITION), size, suppliedBy(size, now), most.cancel),
    );
  }

  countRefusal(by: LimitName): void {
    Atomics.add(this.#words, REFUSED[by], 1n);
  }

  refusals(by: LimitName): bigint {
    return Atomics.load(this.#words, REFUSED[by]);
  }

  /**
   * Another thread can change the position or the settings between the read and the exchange; then it starts again. The
   * position may then be ahead of `now`: see invariant 3.
   */
  #take(price: bigint, now: TimestampNs, part: Part): bigint | null {
    for (;;) {
      const { size, most, version } = this.#settings();
      const position = Atomics.load(this.#words, POSITION);
      const supplied = suppliedBy(size, now);
      const missing = missingOf(position, size, supplied, most.cancel);
      const after = missing + price;
      if (Atomics.load(this.#version, 0) !== version) continue;
      // Free requests are always accepted.
      // mutant: shared-budget-levels
      if (after > most[part] && after > missing) return levelOf(most[part], missing);
      const next = wrapped(supplied + after);
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
      const publicShare = Atomics.load(this.#words, PUBLIC_SHARE);
      const reserve = Atomics.load(this.#words, RESERVE);
      const isWhole = (version & 1) === 0 && Atomics.load(this.#version, 0) === version;
      if (!isWhole) continue;
      const user = bucketCapacity(size);
      return { version, size, most: { public: publicShare, user, cancel: user + reserve }, publicRead };
    }
  }
}

/**
 * Milli-units missing in a bucket at this position; more than its capacity for an early clock, see the invariants.
 *
 * @param supplied of this size until now. @param most that a charge may leave missing.
 */
function missingOf(position: bigint, size: BucketSize, supplied: bigint, most: bigint): bigint {
  const ahead = wrapped(position - supplied);
  return ahead > 0n && ahead <= most + suppliedBy(size, CLOCKS_APART_NS) ? ahead : 0n;
}

/** Milli-units. */
function percentOf(size: BucketSize, percent: bigint): bigint {
  return (bucketCapacity(size) * percent) / 100n;
}

function levelOf(most: bigint, missing: bigint): bigint {
  return missing > most ? 0n : most - missing;
}

function wrapped(value: bigint): bigint {
  return BigInt.asIntN(POSITION_BITS, value);
}
