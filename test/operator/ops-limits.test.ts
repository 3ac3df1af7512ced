// tier: quick
/** Rate limits and stream caps as operators see them (operator-api.md 4.8, 4.9). */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import { OpsFixture } from '../support/ops-client.ts';

const RATES = '/operator/rate-limits';
const CAPS = '/operator/stream-caps';
const USER = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c' as UserId;
const STANDARD =
  '{"default":{"units_per_second":200,"capacity":200},"market_maker":{"units_per_second":2000,"capacity":2000},' +
  '"global":{"units_per_second":20000,"capacity":20000},"costs":{"action":2,"cancel":1,"cancel_all":50,' +
  '"bulk_item":1.5,"bulk_minimum":2,"history_page":25,"public_read":2}}';
let fixture: OpsFixture;

beforeEach(async () => {
  fixture = await new OpsFixture().open();
});
afterEach(() => fixture.close());

function spend(times: number): void {
  const { limits, clock } = fixture.world;
  for (let each = 0; each < times; each += 1) limits.charge(USER, 'historyPage', clock.nowNs());
}

describe('rate limits', () => {
  test('the object of operator-api 4.8, byte for byte, before and after it is put (LIM-24, G23)', async () => {
    assert.equal((await fixture.call('GET', RATES)).text, STANDARD);
    assert.equal((await fixture.call('PUT', RATES, STANDARD)).text, STANDARD);
    assert.equal((await fixture.call('PUT', RATES, '{}')).text, STANDARD);
  });

  test('members left out have their default; a capacity is at least 150 (AMB-104)', async () => {
    const put = await fixture.ok('PUT', RATES, '{"default":{"units_per_second":10},"costs":{"action":0.125}}');
    assert.deepEqual(put['default'], { units_per_second: 10, capacity: 150 });
    assert.deepEqual(put['market_maker'], { units_per_second: 2_000, capacity: 2_000 });
    assert.deepEqual((put['costs'] as Record<string, unknown>)['action'], 0.125);
    const small = await fixture.ok('PUT', RATES, { default: { units_per_second: 3, capacity: 0 } });
    assert.deepEqual(small['default'], { units_per_second: 3, capacity: 0 });
    assert.equal((small['costs'] as Record<string, unknown>)['action'], 2);
  });

  test('shares of the global budget are shown once a PUT has chosen them, and go with the next that does not', async () => {
    const put = await fixture.ok('PUT', RATES, { shares: { public_percent: 20 } });
    assert.deepEqual(put['shares'], { public_percent: 20, reserve_percent: 25 });
    assert.deepEqual((await fixture.ok('GET', RATES))['shares'], { public_percent: 20, reserve_percent: 25 });
    const { limits, clock } = fixture.world;
    let reads = 0;
    while (limits.charge(null, 'publicRead', clock.nowNs()) === null) reads += 1;
    assert.equal(reads, 2_000);
    assert.equal((await fixture.call('PUT', RATES, {})).text, STANDARD);
    const small = await fixture.ok('PUT', RATES, { global: { units_per_second: 10 }, shares: {} });
    assert.deepEqual(small['shares'], { public_percent: 100, reserve_percent: 0 }, 'a small budget is not divided');
  });

  test('anything else is refused by name and changes nothing', async () => {
    for (const [body, field] of [
      ['{"defualt":{}}', 'defualt'],
      ['{"default":{"units":1}}', 'default.units'],
      ['{"default":{"units_per_second":-1}}', 'default.units_per_second'],
      ['{"default":{"units_per_second":1000000001}}', 'default.units_per_second'],
      ['{"global":{"capacity":1.5}}', 'global.capacity'],
      ['{"shares":{"public_percent":101}}', 'shares.public_percent'],
      ['{"shares":{"reads":1}}', 'shares.reads'],
      ['{"costs":{"action":"2"}}', 'costs.action'],
      ['{"costs":{"action":1e3}}', 'costs.action'],
      ['{"costs":{"bulk_item":1.2345}}', 'costs.bulk_item'],
      ['{"costs":{"cancel":-1}}', 'costs.cancel'],
    ] as const) {
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', RATES, body), field);
    }
    await fixture.refused(405, 'METHOD_NOT_ALLOWED', 'PATCH', RATES, {});
    assert.equal((await fixture.call('GET', RATES)).text, STANDARD);
  });

  test('what a user and all together have; any put fills every bucket (LIM-17)', async () => {
    spend(3);
    const view = await fixture.call('GET', `${RATES}/${USER}`);
    assert.equal(view.text, '{"tier":"default","user_units":"125","global_units":"19925"}');
    await fixture.ok('PUT', RATES, {});
    const full = await fixture.call('GET', `${RATES}/${USER}`);
    assert.equal(full.text, '{"tier":"default","user_units":"200","global_units":"20000"}');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', `${RATES}/nobody`), 'user_id');
  });

  test('the tier is that of the live market-maker flag (LIM-04)', async () => {
    fixture.world.limits.setMarketMaker(USER, true);
    const view = await fixture.call('GET', `${RATES}/${USER}`);
    assert.equal(view.text, '{"tier":"market_maker","user_units":"2000","global_units":"20000"}');
  });
});

describe('stream caps', () => {
  test('10 and 20 by default (LIM-19 to LIM-21)', async () => {
    assert.equal((await fixture.call('GET', CAPS)).text, '{"default":10,"market_maker":20}');
    assert.equal((await fixture.call('PUT', CAPS, { default: 3 })).text, '{"default":3,"market_maker":20}');
    assert.equal(fixture.world.limits.streamCap(USER), 3);
    fixture.world.limits.setMarketMaker(USER, true);
    assert.equal(fixture.world.limits.streamCap(USER), 20);
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', CAPS, { default: -1 }), 'default');
    assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'PUT', CAPS, { streams: 1 }), 'streams');
    assert.equal((await fixture.call('GET', CAPS)).text, '{"default":3,"market_maker":20}');
  });
});
