// tier: quick
/**
 * The figures that the service promises, in numbers: tests of what happens at a bound take the bound from the source, and
 * would follow it wherever it goes.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as limits from '../../src/core/limits.ts';
import { SIMULATED_NOTIONAL_MAX } from '../../src/gateway/orders/margin/simulation.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS, STORED_PRICE_NS } from '../../src/risk/prices.ts';

const SECOND = 10n ** 9n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

suite('figures of the service', () => {
  test('times of orders (ORD-20, FIL-16, AMB-10, AMB-25)', () => {
    assert.equal(limits.ORDER_LIFE_NS, 30n * DAY);
    assert.equal(limits.STALE_MATCH_NS, 5n * MINUTE);
    assert.equal(limits.POST_SIGN_AGE_MAX_NS, 60n * SECOND);
    assert.equal(limits.CLOCK_SKEW_NS, 5n * SECOND);
    assert.equal(limits.PARKED_CANCEL_NS, 5n * SECOND);
  });

  test('times of sessions (SES-03, SES-05, SES-09)', () => {
    assert.equal(limits.NONCE_LIFE_NS, 5n * MINUTE);
    assert.equal(limits.NONCE_RENEW_NS, 10n * SECOND);
    assert.equal(limits.TOKEN_LIFE_NS, 24n * HOUR);
  });

  test('ages of prices (CB-01, CB-02, LIQ-10)', () => {
    assert.equal(ORACLE_STALE_NS, HOUR);
    assert.equal(MARK_STALE_NS, MINUTE);
    assert.equal(STORED_PRICE_NS, 2n * HOUR);
  });

  test('how many and how much (BAT-08, SIM-03, LIM-19, LIM-20, PAG-01, AMB-07, AMB-08, AMB-17, AMB-63, AMB-87, AMB-105, AMB-124)', () => {
    assert.equal(limits.BATCH_ITEMS_MAX, 50);
    assert.equal(SIMULATED_NOTIONAL_MAX, 50_000_000n * 10n ** 18n);
    assert.deepEqual([limits.STREAMS_PER_USER, limits.STREAMS_PER_MARKET_MAKER], [10, 20]);
    assert.deepEqual([limits.PAGE_LIMIT_DEFAULT, limits.PAGE_LIMIT_MAX], [100, 1_000]);
    assert.equal(limits.ORDER_ID_BYTES_MAX, 64);
    assert.equal(limits.REMEMBERED_IDS_PER_USER_AND_MARKET_MAX, 1_000_000);
    assert.equal(limits.FINISHED_ORDERS_PER_USER_MAX, 100_000);
    assert.equal(limits.PARKED_CANCELS_PER_USER_MAX, 1_000);
    assert.equal(limits.SUB_ACCOUNTS_MAX, 256);
    assert.equal(limits.TOKENS_PER_USER_MAX, 32);
    assert.deepEqual([limits.OPEN_ORDERS_MAX, limits.OPEN_ORDERS_MARKET_MAKER_MAX], [1_000, 20_000]);
    assert.equal(limits.BODY_BYTES_MAX, 1_048_576);
  });
});
