// tier: quick
/** Keys cost nothing: what users without funds may take of what all share (LIM-02, LIM-06, LIM-14). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import type { Cost } from '../../../src/gateway/sessions/costs.ts';
import { RateLimits, STANDARD_RATES } from '../../../src/gateway/sessions/rate-limits.ts';
import { SharedBudget } from '../../../src/gateway/sessions/shared-budget.ts';
import { UserLimits } from '../../../src/gateway/sessions/user-limits.ts';

const START = 1_800_000_000_000_000_000n as TimestampNs;
const MAKER = 'ff'.repeat(32) as UserId;
const keyAt = (index: number): UserId => index.toString(16).padStart(64, '0') as UserId;

function limitsOf(...funded: readonly UserId[]): UserLimits {
  const limits = new UserLimits(new RateLimits(new SharedBudget(), STANDARD_RATES, START));
  limits.isFunded = (user) => funded.includes(user);
  return limits;
}

/** Everything of a hundred thousand keys without funds that is let through. */
function flood(limits: UserLimits, now: TimestampNs): number {
  let paid = 0;
  for (let key = 0; key < 100_000; key += 1) if (limits.charge(keyAt(key), 'action', now) === null) paid += 1;
  return paid;
}

suite('users without funds share what is public', () => {
  test('a hundred thousand keys take half of the shared budget; a funded maker has the rest (LIM-02, LIM-06)', () => {
    const limits = limitsOf(MAKER);
    limits.setMarketMaker(MAKER, true);
    assert.equal(flood(limits, START), 5_000);
    assert.equal(limits.charge(null, 'publicRead', START)?.code, 'RATE_LIMITED', 'reads share it too');
    const asked: readonly Cost[] = ['cancelAll', 'cancel', { bulk: 50 }, { bulkCancel: 50 }, 'deadMan', 'action'];
    for (const cost of asked) assert.equal(limits.charge(MAKER, cost, START), null, JSON.stringify(cost));
  });

  test('cancels, mass cancels and timers of a funded user go on when others with funds have taken all', () => {
    const rich = Array.from({ length: 101 }, (_, index) => keyAt(index + 1));
    const limits = limitsOf(MAKER, ...rich);
    for (const user of rich) while (limits.charge(user, 'action', START) === null);
    assert.equal(limits.charge(MAKER, 'action', START)?.details?.['bucket'], 'global');
    for (const cost of ['cancel', 'cancelAll', { bulkCancel: 50 }, 'deadMan'] as const) {
      assert.equal(limits.charge(MAKER, cost, START), null, JSON.stringify(cost));
    }
  });
});

suite('reads of users on market data', () => {
  test('a user of tier default has one bucket for both services, a market maker a second one of default size (LIM-05)', () => {
    const own = keyAt(1);
    const limits = limitsOf(own, MAKER);
    limits.setMarketMaker(MAKER, true);
    /** Pages until the budget is used up. */
    const pages = (user: UserId): number => {
      let count = 0;
      while (limits.chargeRead(user, 'historyPage', START) === null) count += 1;
      return count;
    };
    const capacity = Number(STANDARD_RATES.default.capacity);
    const before = limits.viewOf(MAKER, START).available;
    assert.equal(pages(own), Math.floor(capacity / 25));
    assert.equal(limits.charge(own, 'historyPage', START)?.details?.['bucket'], 'user', 'the same bucket');
    assert.equal(pages(MAKER), Math.floor(capacity / 25));
    assert.equal(limits.viewOf(MAKER, START).available, before, 'orders of a market maker are not held up by reads');
    assert.equal(limits.charge(MAKER, 'historyPage', START), null);
  });
});
