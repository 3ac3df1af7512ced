/**
 * The budget that all requests share, on whichever thread they arrive (LIM-02, LIM-06, LIM-14): one bucket in shared
 * memory, and counts of what limits have refused.
 *
 *   main thread ── configure, take ──▶ ┌ version, rate, capacity, shares, public price │ position │ refused ┐ ◀── take ── others
 *
 * One level, and a lowest level for each kind of request, so that the kinds above it always find room:
 *
 *   capacity ─────────────────── public share ends ─────────────── 0 ─────────────── −reserve
 *      │ public: no session, or a user without funds │ user: a user with funds │ cancel: cancels of such a user
 *
 * What none of the upper kinds takes is there for the lower ones: no rate is lost by the division.
 *
 * Invariants
 *   (1) One thread configures. The version is odd while it does; readers take settings of one version only.
 *   (2) The position moves by compare-and-exchange, so no charge is lost and none is made twice.
 *   (3) The position never goes back. A charge whose clock was read before another thread charged finds it ahead of its
 *       own supply by more than its kind may take: then there is nothing, and nothing is taken.
 *   (4) The position is kept modulo 2^64. Behind the supply, or ahead by more than clocks can be apart, is a bucket that
 *       has been full for a long part of the scale (from 106 days on with limits lifted, thousands of years else).
 */
import type { TimestampNs } from '../../core/units.ts';
import { type BucketSize, capacityOf, suppliedBy } from './bucket.ts';

/** Whose limit refused a request: the user's, the one all share, or that of an address. */
export type LimitName = 'user' | 'global' | 'address';

/** What a request may take: see the header. */
export type Part = 'public' | 'user' | 'cancel';

/** How a budget is divided, in percent of its capacity, 0 to 100 each. */
export interface Shares {
  /** What public requests may take of a full budget. */
  readonly publicPercent: bigint;
  /** What cancels may take beyond an empty one. */
  readonly reservePercent: bigint;
}

const STANDARD_SHARES: Shares = { publicPercent: 50n, reservePercent: 25n };
const UNDIVIDED: Shares = { publicPercent: 100n, reservePercent: 0n };
/** Units: a smaller budget could be emptied by one market maker, and is not divided unless somebody says how. */
const DIVIDED_FROM = 2_000n;

/** The division of a budget for which none was chosen. */
export function sharesOf(size: BucketSize): Shares {
  return size.capacity >= DIVIDED_FROM ? STANDARD_SHARES : UNDIVIDED;
}

/** Words of 64 bits; the version is the low half of the first. */
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
/** A thread charges with a time that it read less than this before. */
const CLOCKS_APART_NS = 3_600_000_000_000n as TimestampNs;

interface Settings {
  readonly version: number;
  readonly size: BucketSize;
  /** Milli-units that may be missing after a request of this part. */
  readonly most: Readonly<Record<Part, bigint>>;
  /** Milli-units. */
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
   * @returns null when they were taken; else what is there for this part, and nothing was taken.
   */
  take(price: bigint, now: TimestampNs, part: Part = 'user'): bigint | null {
    return this.#take(price, now, part);
  }

  /**
   * As `take`, for a public read of the other listener.
   *
   * @param times as many as one, by what it reads; 1 or more.
   * @returns what was asked and what is there for public requests.
   */
  takePublicRead(now: TimestampNs, times = 1n): { readonly asked: bigint; readonly available: bigint } | null {
    const asked = this.#settings().publicRead * times;
    const available = this.#take(asked, now, 'public');
    return available === null ? null : { asked, available };
  }

  /** Milli-units that are there, for a request of a user unless said otherwise. */
  available(now: TimestampNs, part: Part = 'user'): bigint {
    const { size, most } = this.#settings();
    return levelOf(most[part], missingOf(Atomics.load(this.#words, POSITION), size, now, most.cancel));
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
   */
  #take(price: bigint, now: TimestampNs, part: Part): bigint | null {
    for (;;) {
      const { size, most, version } = this.#settings();
      const position = Atomics.load(this.#words, POSITION);
      const missing = missingOf(position, size, now, most.cancel);
      const after = missing + price;
      if (Atomics.load(this.#version, 0) !== version) continue;
      // What costs nothing is let through, whatever there is.
      // mutant: shared-budget-levels
      if (after > most[part] && after > missing) return levelOf(most[part], missing);
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
      const publicShare = Atomics.load(this.#words, PUBLIC_SHARE);
      const reserve = Atomics.load(this.#words, RESERVE);
      const isWhole = (version & 1) === 0 && Atomics.load(this.#version, 0) === version;
      if (!isWhole) continue;
      const user = capacityOf(size);
      return { version, size, most: { public: publicShare, user, cancel: user + reserve }, publicRead };
    }
  }
}

/**
 * Milli-units missing in a bucket at this position, more than fit for a clock that was read early; see the invariants.
 *
 * @param most that a charge may leave missing.
 */
function missingOf(position: bigint, size: BucketSize, now: TimestampNs, most: bigint): bigint {
  const ahead = wrapped(position - suppliedBy(size, now));
  return ahead > 0n && ahead <= most + suppliedBy(size, CLOCKS_APART_NS) ? ahead : 0n;
}

/** Milli-units. */
function percentOf(size: BucketSize, percent: bigint): bigint {
  return (capacityOf(size) * percent) / 100n;
}

function levelOf(most: bigint, missing: bigint): bigint {
  return missing > most ? 0n : most - missing;
}

function wrapped(value: bigint): bigint {
  return BigInt.asIntN(POSITION_BITS, value);
}
