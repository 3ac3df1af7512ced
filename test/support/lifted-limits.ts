/** Limits as good as none, for worlds that are about something else. */
import type { TimestampNs } from '../../src/core/units.ts';
import { LIFTED_RATES, RateLimits, type RateSettings } from '../../src/gateway/sessions/rate-limits.ts';
import { SharedBudget } from '../../src/gateway/sessions/shared-budget.ts';
import { UserLimits } from '../../src/gateway/sessions/user-limits.ts';

export function liftedLimits(now: TimestampNs, rates: RateSettings = LIFTED_RATES): UserLimits {
  return new UserLimits(new RateLimits(new SharedBudget(), rates, now));
}
