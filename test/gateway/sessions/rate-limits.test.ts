// tier: quick
/** Budgets: what fits, what is refused, and that nothing is taken twice or lost. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../../src/core/ids.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { BUDGET_MAX, bucketOf } from '../../../src/gateway/sessions/bucket.ts';
import { type Cost, priceOf, STANDARD_PRICES, UNIT } from '../../../src/gateway/sessions/costs.ts';
import { RateLimits, type RateSettings, STANDARD_RATES, type Tier } from '../../../src/gateway/sessions/rate-limits.ts';
import { SharedBudget } from '../../../src/gateway/sessions/shared-budget.ts';
import { propertyParameters } from '../../support/property.ts';

const START = 1_800_000_000_000_000_000n as TimestampNs;
const later = (ms: number): TimestampNs => (START + BigInt(ms) * 1_000_000n) as TimestampNs;
const user = (byte: number): UserId => byte.toString(16).padStart(2, '0').repeat(32) as UserId;
const A = user(1);
const B = user(2);

class ClearingFixture {
  readonly shared = new SharedBudget();
  readonly limits: RateLimits;
  now: TimestampNs = START;

  constructor(settings: Partial<RateSettings> = {}, usersMax?: number) {
    this.limits = new RateLimits(this.shared, { ...STANDARD_RATES, ...settings }, START, usersMax);
  }

  pays(who: UserId | null, cost: Cost, tier: Tier = 'default'): boolean {
    return this.limits.charge(who, tier, cost, this.now) === null;
  }

  units(who: UserId, tier: Tier = 'default'): readonly [bigint, bigint] {
    const { user: own, global } = this.limits.available(who, tier, this.now);
    return [own / UNIT, global / UNIT];
  }

  /** How many of these can be paid at once. */
  drain(who: UserId | null, cost: Cost, tier: Tier = 'default'): number {
    let paid = 0;
    while (this.pays(who, cost, tier)) paid += 1;
    return paid;
  }
}

suite('prices', () => {
  test('EX-13: items of a bulk cost 1.5 each, rounded up to whole units, at least 2 (LIM-11)', () => {
    const priced = [1, 2, 3, 4, 10, 33, 50].map((bulk) => priceOf({ bulk }, STANDARD_PRICES) / UNIT);
    assert.deepEqual(priced, [2n, 3n, 5n, 6n, 15n, 50n, 75n]);
    assert.equal(priceOf({ bulk: 0 }, STANDARD_PRICES), 2n * UNIT);
  });

  test('action 2, cancel 1, cancel-all 50, history page 25, public read 2 (LIM-08 to LIM-10, LIM-13, LIM-14, LIM-24)', () => {
    const costs: readonly Cost[] = ['action', 'cancel', 'cancelAll', 'historyPage', 'publicRead'];
    assert.deepEqual(
      costs.map((cost) => priceOf(cost, STANDARD_PRICES) / UNIT),
      [2n, 1n, 50n, 25n, 2n],
    );
  });
});

suite('one user', () => {
  test('the budgets of G23: 200, 2000 and 20000 units, and as many again after one second (LIM-01, LIM-03, LIM-24)', () => {
    const fixture = new ClearingFixture();
    assert.equal(fixture.drain(A, 'action'), 100);
    fixture.now = later(1_000);
    assert.equal(fixture.drain(A, 'action'), 100);
    assert.equal(fixture.drain(B, 'action', 'marketMaker'), 1_000);
    fixture.now = later(10_000);
    assert.equal(fixture.drain(null, 'publicRead'), 5_000, 'the public half');
    assert.equal(fixture.shared.available(fixture.now) / UNIT, 10_000n);
  });

  test('EX-13: bursts of the capacity, and refill unit by unit on the node clock', () => {
    const fixture = new ClearingFixture();
    assert.ok(fixture.pays(A, { bulk: 50 }));
    assert.deepEqual(fixture.units(A)[0], 125n);
    assert.ok(fixture.pays(A, { bulk: 50 }));
    assert.deepEqual(fixture.units(A)[0], 50n);
    assert.ok(fixture.pays(A, 'cancelAll'));
    assert.ok(!fixture.pays(A, 'cancel'));
    fixture.now = (later(5) - 1n) as TimestampNs;
    assert.ok(!fixture.pays(A, 'cancel'));
    fixture.now = later(5);
    assert.ok(!fixture.pays(A, 'action'));
    assert.ok(fixture.pays(A, 'cancel'));
    assert.ok(!fixture.pays(A, 'cancel'));
  });

  test('EX-13: eight history pages fit into 200, the ninth is refused (LIM-13)', () => {
    assert.equal(new ClearingFixture().drain(A, 'historyPage'), 8);
  });

  test('a small budget still holds a batch of 50 and a cancel-all (AMB-104)', () => {
    const fixture = new ClearingFixture({ default: bucketOf(10n) });
    assert.ok(fixture.pays(A, { bulk: 50 }));
    assert.ok(fixture.pays(A, 'cancelAll'));
    assert.deepEqual(fixture.units(A)[0], 25n);
  });

  test('a refusal names the bucket, what was needed and what was there, and is worth a retry', () => {
    const fixture = new ClearingFixture();
    fixture.drain(A, 'cancel');
    const own = fixture.limits.charge(A, 'default', 'action', later(7));
    assert.equal(own?.code, 'RATE_LIMITED');
    assert.deepEqual(own?.details, { bucket: 'user', units_asked: '2', units_available: '1.4' });
    assert.equal(fixture.shared.refusals('user'), 2n);
    const all = new ClearingFixture({ global: { unitsPerSecond: 1n, capacity: 1n } });
    assert.deepEqual(all.limits.charge(A, 'default', 'action', START)?.details, {
      bucket: 'global',
      units_asked: '2',
      units_available: '1',
    });
    assert.deepEqual([all.shared.refusals('global'), all.shared.refusals('user')], [1n, 0n]);
  });
});

suite('both budgets', () => {
  test('EX-13: the user goes first, and who is refused there takes nothing from the others (LIM-06, LIM-07)', () => {
    const size = { unitsPerSecond: 240n, capacity: 240n };
    const fixture = new ClearingFixture({ default: size, global: { unitsPerSecond: 400n, capacity: 400n } });
    for (let action = 0; action < 120; action += 1) assert.ok(fixture.pays(A, 'action'));
    assert.deepEqual(fixture.units(A), [0n, 160n]);
    for (let action = 0; action < 1_000; action += 1) assert.ok(!fixture.pays(A, 'action'));
    assert.deepEqual(fixture.units(A), [0n, 160n]);
    for (let action = 0; action < 80; action += 1) assert.ok(fixture.pays(B, 'action'));
    assert.deepEqual(fixture.units(B), [80n, 0n]);
    assert.ok(!fixture.pays(B, 'action'));
    assert.deepEqual(fixture.units(B), [80n, 0n], 'both or neither');
  });

  test('requests without a session are paid by all, and touch no user (LIM-14)', () => {
    const fixture = new ClearingFixture();
    for (let read = 0; read < 10; read += 1) assert.ok(fixture.pays(null, 'publicRead'));
    assert.deepEqual(fixture.units(A), [200n, 19_980n]);
    assert.equal(fixture.limits.userCount, 0);
    assert.equal(fixture.shared.takePublicRead(fixture.now), null);
    assert.deepEqual(fixture.units(A), [200n, 19_978n]);
  });

  test('the tier follows the user at once; what is missing stays missing (LIM-04)', () => {
    const fixture = new ClearingFixture();
    fixture.drain(A, 'action');
    assert.deepEqual(fixture.units(A)[0], 0n);
    assert.deepEqual(fixture.units(A, 'marketMaker')[0], 1_800n);
    assert.equal(fixture.drain(A, 'action', 'marketMaker'), 900);
    assert.ok(!fixture.pays(A, 'cancel'), 'back in the small tier its bucket is empty, not in debt');
    fixture.now = later(1_000);
    assert.deepEqual(fixture.units(A)[0], 200n);
  });

  test('a change starts full buckets of the new size (LIM-17)', () => {
    const fixture = new ClearingFixture();
    fixture.drain(A, 'action');
    fixture.limits.change({ ...STANDARD_RATES, default: { unitsPerSecond: 7n, capacity: 9n } }, START);
    assert.deepEqual(fixture.units(A), [9n, 20_000n]);
    fixture.limits.change(STANDARD_RATES, START);
    assert.deepEqual(fixture.units(A), [200n, 20_000n]);
  });

  test('lifted budgets refill for ever, whatever the clock does', () => {
    const lifted = bucketOf(BUDGET_MAX);
    const fixture = new ClearingFixture({ default: lifted, marketMaker: lifted, global: lifted });
    for (const years of [0, 1, 3, 10, 100]) {
      fixture.now = (START + BigInt(years) * 31_536_000_000_000_000n) as TimestampNs;
      assert.ok(fixture.pays(A, 'cancelAll'));
      assert.deepEqual(fixture.units(A), [BUDGET_MAX - 50n, BUDGET_MAX - 50n]);
    }
  });
});

suite('memory', () => {
  test('a full bucket is not kept: many users one after the other leave few entries', () => {
    const fixture = new ClearingFixture();
    for (let each = 0; each < 10_000; each += 1) {
      fixture.now = later(each);
      fixture.pays(each.toString(16).padStart(64, '0') as UserId, 'action');
      assert.ok(fixture.limits.userCount <= 12, `${fixture.limits.userCount} after ${each}`);
    }
  });

  test('when all are busy the one that was charged the longest time ago gives way', () => {
    const fixture = new ClearingFixture({}, 3);
    for (const byte of [1, 2, 3, 4]) fixture.pays(user(byte), 'action');
    assert.equal(fixture.limits.userCount, 3);
    assert.deepEqual(
      [1, 2, 4].map((byte) => fixture.units(user(byte))[0]),
      [200n, 198n, 198n],
    );
  });
});

suite('against a plain bucket', () => {
  const step = fc.record({
    ns: fc.bigInt({ min: 0n, max: 20_000_000n }),
    cost: fc.oneof(
      fc.constantFrom<Cost>('action', 'cancel', 'cancelAll', 'historyPage'),
      fc.record({ bulk: fc.nat(50) }),
    ),
  });

  test('for any rate, times and costs: never more paid than supplied, and a refusal only where it did not fit', () => {
    const rates = fc.bigInt({ min: 0n, max: 30_000n });
    fc.assert(
      fc.property(rates, fc.array(step, { maxLength: 80 }), (rate, steps) => {
        const size = bucketOf(rate);
        const fixture = new ClearingFixture({ default: size });
        // Level and capacity in millionths of a milli-unit: exact, without a division.
        const scale = 1_000_000n;
        const capacity = size.capacity * UNIT * scale;
        let level = capacity;
        for (const { ns, cost } of steps) {
          fixture.now = (fixture.now + ns) as TimestampNs;
          level = level + ns * rate > capacity ? capacity : level + ns * rate;
          const price = priceOf(cost, STANDARD_PRICES) * scale;
          const isPaid = fixture.pays(A, cost);
          // The bucket counts whole milli-units on an absolute scale: within one of the exact level.
          if (isPaid) assert.ok(price <= level + scale);
          else assert.ok(price > level - scale);
          if (isPaid) level -= price;
        }
      }),
      propertyParameters(100),
    );
  });
});
