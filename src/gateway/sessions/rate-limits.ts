/**
 * Budgets of requests: one bucket per user, sized by tier, and one shared by all (LIM-01 to LIM-19, AMB-104, AMB-120).
 *
 *   charge ─▶ enough in the user's bucket? ─▶ enough in the shared bucket? ─▶ taken from both
 *                     │ no                           │ no
 *                     ▼                              ▼
 *           rejected, shared bucket unchanged     rejected, user's bucket unchanged
 *
 * Invariants
 *   (1) A request takes its price from both buckets or from neither.
 *   (2) A user without an entry has a full bucket. Entries are in the order of their last charge; each charge drops the
 *       oldest ones that are full again, so there are about as many as users were charged while one bucket refills.
 *   (3) At most `usersMax` entries: the one with the oldest charge is evicted.
 *   (4) The part of a request limits its use of the shared bucket (shared-budget.ts): users without funds share theirs
 *       with requests without a session, because keys are free.
 *
 * Settings are kept in memory only and a change starts full buckets (LIM-16 to LIM-18).
 *
 * The caller determines market makers and the cost of a route.
 */
import { formatScaled } from '../../core/decimal.ts';
import type { UserId } from '../../core/ids.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import { BUDGET_MAX, type BucketSize, bucketCapacity, bucketOf, suppliedBy } from './bucket.ts';
import { type Cost, type Prices, priceOf, STANDARD_PRICES } from './costs.ts';
import type { LimitName, Part, SharedBudget, Shares } from './shared-budget.ts';

export type Tier = 'default' | 'marketMaker';

/** Names on the wire (operator-api.md 4.8). */
export const TIER_NAME: Readonly<Record<Tier, 'default' | 'market_maker'>> = {
  default: 'default',
  marketMaker: 'market_maker',
};

export interface RateSettings {
  readonly default: BucketSize;
  readonly marketMaker: BucketSize;
  readonly global: BucketSize;
  readonly prices: Prices;
  /** Division of the shared bucket; by default `sharesOf`. */
  readonly shares?: Shares;
}

/** G23. */
export const STANDARD_RATES: RateSettings = {
  default: bucketOf(200n),
  marketMaker: bucketOf(2_000n),
  global: bucketOf(20_000n),
  prices: STANDARD_PRICES,
};

const LIFTED = bucketOf(BUDGET_MAX);
/** Practically unlimited, for clocks that do not advance. */
export const LIFTED_RATES: RateSettings = {
  default: LIFTED,
  marketMaker: LIFTED,
  global: LIFTED,
  prices: STANDARD_PRICES,
};

/** The number of users that can have a session. */
const USERS_MAX = 250_000;
/** Entries examined per charge: more than the one that a charge can add. */
const LOOKED_AT = 2;

/** The bucket of a user, or the second one that a market maker has for reads on market data (LIM-05). */
type BucketOwner = UserId | `${UserId}/reads`;

interface Bucket {
  readonly user: BucketOwner;
  tier: Tier;
  position: bigint;
}

export class RateLimits {
  readonly #shared: SharedBudget;
  readonly #usersMax: number;
  readonly #buckets = new Map<BucketOwner, ListEntry<Bucket>>();
  /** By last charge, oldest first. */
  readonly #charged = new LinkedList<Bucket>();
  #settings: RateSettings;

  /** @param shared configured only by this object. */
  constructor(shared: SharedBudget, settings: RateSettings, now: TimestampNs, usersMax: number = USERS_MAX) {
    this.#shared = shared;
    this.#usersMax = usersMax;
    this.#settings = settings;
    this.change(settings, now);
  }

  get settings(): RateSettings {
    return this.#settings;
  }

  /** Number of users with an entry. */
  get userCount(): number {
    return this.#buckets.size;
  }

  /** Changes the settings; every bucket starts full (LIM-17). */
  change(settings: RateSettings, now: TimestampNs): void {
    this.#settings = settings;
    this.#buckets.clear();
    this.#charged.clear();
    this.#shared.configure(settings.global, settings.prices.publicRead, now, settings.shares);
  }

  /**
   * @param user null for a request without a session, which is charged to the shared bucket only.
   * @param part of the shared bucket; by default the user part for a user and the public one without.
   * @returns RATE_LIMITED with the bucket, the price and the level in units; null after the charge.
   */
  charge(user: BucketOwner | null, tier: Tier, cost: Cost, now: TimestampNs, part?: Part): Reject | null {
    const price = priceOf(cost, this.#settings.prices);
    if (user === null) {
      const short = this.#shared.take(price, now, part ?? 'public');
      return short === null ? null : this.#refused('global', price, short);
    }
    const size = this.#settings[tier];
    const supplied = suppliedBy(size, now);
    const missing = this.#missing(user, tier, now, supplied);
    const capacity = bucketCapacity(size);
    // mutant: both-budgets
    if (price + missing > capacity) return this.#refused('user', price, capacity - missing);
    const short = this.#shared.take(price, now, part);
    if (short !== null) return this.#refused('global', price, short);
    this.#keep(user, tier, supplied + missing + price);
    this.#forgetFull(now);
    return null;
  }

  /** Levels of the user's bucket and of the shared one, in milli-units. */
  available(user: UserId, tier: Tier, now: TimestampNs): { readonly user: bigint; readonly global: bigint } {
    const size = this.#settings[tier];
    const own = bucketCapacity(size) - this.#missing(user, tier, now, suppliedBy(size, now));
    return { user: own, global: this.#shared.available(now) };
  }

  /**
   * Milli-units missing in the user's bucket; after a change of tier at most the new capacity.
   *
   * @param supplied of this tier until now.
   */
  #missing(user: BucketOwner, tier: Tier, now: TimestampNs, supplied: bigint): bigint {
    const bucket = this.#buckets.get(user)?.value;
    if (bucket === undefined) return 0n;
    const ahead = bucket.position - (bucket.tier === tier ? supplied : suppliedBy(this.#settings[bucket.tier], now));
    // mutant: budget-capacity
    if (ahead <= 0n) return 0n;
    const capacity = bucketCapacity(this.#settings[tier]);
    return bucket.tier === tier || ahead < capacity ? ahead : capacity;
  }

  #keep(user: BucketOwner, tier: Tier, position: bigint): void {
    let entry = this.#buckets.get(user);
    if (entry === undefined) {
      entry = new ListEntry<Bucket>({ user, tier, position });
      this.#buckets.set(user, entry);
    }
    entry.value.tier = tier;
    entry.value.position = position;
    this.#charged.append(entry);
  }

  #forgetFull(now: TimestampNs): void {
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const oldest = this.#charged.first;
      if (oldest === null) return;
      const isFull = oldest.position <= suppliedBy(this.#settings[oldest.tier], now);
      if (!isFull && this.#buckets.size <= this.#usersMax) return;
      const entry = this.#buckets.get(oldest.user);
      if (entry !== undefined) this.#charged.remove(entry);
      this.#buckets.delete(oldest.user);
    }
  }

  #refused(by: LimitName, asked: bigint, available: bigint): Reject {
    this.#shared.countRefusal(by);
    return rateLimited(by, asked, available);
  }
}

/** The error of every limit, with the bucket, the price of the request and the level, in units. */
export function rateLimited(by: LimitName, asked: bigint, available: bigint): Reject {
  return {
    ...reject('RATE_LIMITED', 'the budget of requests is used up; it refills all the time'),
    details: { bucket: by, units_asked: unitsText(asked), units_available: unitsText(available) },
  };
}

/** Milli-units as a decimal of units. */
export function unitsText(milli: bigint): string {
  return formatScaled(milli, 3);
}
