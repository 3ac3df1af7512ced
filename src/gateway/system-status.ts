/** The service's version, and a user's limits (`/system/status`, `/limits`). */

import type { LimitsView } from '../codec/system-replies.ts';
import type { UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import { VERSION } from '../runtime/version.ts';
import { PRICE_NAMES } from './sessions/costs.ts';
import { TIER_NAME } from './sessions/rate-limits.ts';
import type { UserLimits } from './sessions/user-limits.ts';

export class SystemStatus {
  readonly version: string = VERSION;
  readonly #limits: UserLimits;
  readonly #nowNs: () => TimestampNs;

  constructor(limits: UserLimits, nowNs: () => TimestampNs) {
    this.#limits = limits;
    this.#nowNs = nowNs;
  }

  /** The budget of a user, with what is left of it now. */
  limitsOf(user: UserId): LimitsView {
    const { rates } = this.#limits;
    const tier = this.#limits.tierOf(user);
    const { capacity, unitsPerSecond } = rates.settings[tier];
    const costs = PRICE_NAMES.map(([price, name]): [string, bigint] => [name, rates.settings.prices[price]]);
    return {
      tier: TIER_NAME[tier],
      available: rates.available(user, tier, this.#nowNs()).user,
      capacity,
      unitsPerSecond,
      costs: new Map(costs),
      streamCap: this.#limits.streamCap(user),
    };
  }
}
