/**
 * What a user may ask for: budgets by tier and concurrent streams, both following the live market-maker flag (LIM-03,
 * LIM-04, LIM-19 to LIM-21).
 *
 * Not here: the buckets (rate-limits.ts), counting the streams (the edge).
 */
import type { UserId } from '../core/ids.ts';
import { STREAMS_PER_MARKET_MAKER, STREAMS_PER_USER } from '../core/limits.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Cost } from './costs.ts';
import type { RateLimits, Tier } from './rate-limits.ts';

/** Concurrent streams of the order service, by tier. */
export type StreamCaps = Readonly<Record<Tier, number>>;

export const STANDARD_STREAM_CAPS: StreamCaps = { default: STREAMS_PER_USER, marketMaker: STREAMS_PER_MARKET_MAKER };

export class UserLimits {
  readonly rates: RateLimits;
  /** In memory only; a lower cap closes nothing that is open (LIM-21). */
  streamCaps: StreamCaps = STANDARD_STREAM_CAPS;
  readonly #makers = new Set<UserId>();

  constructor(rates: RateLimits) {
    this.rates = rates;
  }

  /** What clearing says of a user. */
  setMarketMaker(user: UserId, isMarketMaker: boolean): void {
    if (isMarketMaker) this.#makers.add(user);
    else this.#makers.delete(user);
  }

  tierOf(user: UserId): Tier {
    return this.#makers.has(user) ? 'marketMaker' : 'default';
  }

  /** As `RateLimits.charge`. */
  charge(user: UserId | null, cost: Cost, now: TimestampNs): Reject | null {
    return this.rates.charge(user, user === null ? 'default' : this.tierOf(user), cost, now);
  }

  streamCap(user: UserId): number {
    return this.streamCaps[this.tierOf(user)];
  }
}
