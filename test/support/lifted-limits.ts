/** Limits as good as none, for worlds that are about something else. */
import type { TimestampNs } from '../../src/core/units.ts';
import { LIFTED_RATES, RateLimits, type RateSettings } from '../../src/sessions/rate-limits.ts';
import { SharedBudget } from '../../src/sessions/shared-budget.ts';
import { UserLimits } from '../../src/sessions/user-limits.ts';

export function liftedLimits(now: TimestampNs, rates: RateSettings = LIFTED_RATES): UserLimits {
  return new UserLimits(new RateLimits(new SharedBudget(), rates, now));
}
