/**
 * Limits of a user: budgets by tier and concurrent streams, both following the current market-maker flag (LIM-03,
 * LIM-04, LIM-19 to LIM-21). A request's part of the shared budget depends on whether its user has funds.
 *
 * Buckets are in rate-limits.ts; the HTTP layer counts the streams.
 */
import type { LimitsView } from '../../codec/system-replies.ts';
import type { UserId } from '../../core/ids.ts';
import { STREAMS_PER_MARKET_MAKER, STREAMS_PER_USER } from '../../core/limits.ts';
import type { Reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import { type Cost, isCancelCost, PRICE_NAMES } from './costs.ts';
import { type RateLimits, TIER_NAME, type Tier } from './rate-limits.ts';
import type { Part } from './shared-budget.ts';

/** Concurrent streams of the order service, by tier. */
type StreamCaps = Readonly<Record<Tier, number>>;

export const STANDARD_STREAM_CAPS: StreamCaps = { default: STREAMS_PER_USER, marketMaker: STREAMS_PER_MARKET_MAKER };

export class UserLimits {
  readonly rates: RateLimits;
  /**
   * Whether a user has a balance or a position. Keys are free, so users without share the public part. Open orders need
   * no check: an order that could fill is backed by a balance or a position.
   */
  isFunded: (user: UserId) => boolean = () => true;
  /** In memory only; a lower cap closes no open stream (LIM-21). */
  streamCaps: StreamCaps = STANDARD_STREAM_CAPS;
  readonly #makers = new Set<UserId>();

  constructor(rates: RateLimits) {
    this.rates = rates;
  }

  /** Sets the flag published by clearing. */
  setMarketMaker(user: UserId, isMarketMaker: boolean): void {
    if (isMarketMaker) this.#makers.add(user);
    else this.#makers.delete(user);
  }

  tierOf(user: UserId): Tier {
    return this.#makers.has(user) ? 'marketMaker' : 'default';
  }

  /** As `RateLimits.charge`. */
  charge(user: UserId | null, cost: Cost, now: TimestampNs): Reject | null {
    if (user === null) return this.rates.charge(null, 'default', cost, now, 'public');
    return this.rates.charge(user, this.tierOf(user), cost, now, this.partOf(user, cost));
  }

  /**
   * Charges a read of a user on market data to a bucket of tier `default`: that of the user, or a second one of a market
   * maker, used for these reads only (LIM-05).
   */
  chargeRead(user: UserId, cost: Cost, now: TimestampNs): Reject | null {
    // mutant: reads-of-makers
    const owner = this.tierOf(user) === 'marketMaker' ? (`${user}/reads` as const) : user;
    return this.rates.charge(owner, 'default', cost, now, this.partOf(user, cost));
  }

  /** The part of the shared budget for a request of this user. */
  partOf(user: UserId, cost: Cost): Part {
    if (!this.isFunded(user)) return 'public';
    return isCancelCost(cost) ? 'cancel' : 'user';
  }

  /** The budget of a user, with what is left of it at `now`. */
  viewOf(user: UserId, now: TimestampNs): LimitsView {
    const { settings } = this.rates;
    const tier = this.tierOf(user);
    const { capacity, unitsPerSecond } = settings[tier];
    const costs = PRICE_NAMES.map(([price, name]): [string, bigint] => [name, settings.prices[price]]);
    return {
      tier: TIER_NAME[tier],
      available: this.rates.available(user, tier, now).user,
      capacity,
      unitsPerSecond,
      costs: new Map(costs),
      streamCap: this.streamCap(user),
    };
  }

  streamCap(user: UserId): number {
    return this.streamCaps[this.tierOf(user)];
  }
}
