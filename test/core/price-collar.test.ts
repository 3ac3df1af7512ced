// tier: quick
/** The mark and the bounds that a collar makes of it, in plain numbers (AMB-39, AMB-43). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { collarBounds, MARK_AGE_NS_MAX, NO_COLLAR } from '../../src/core/price-collar.ts';
import { ONE_18 } from '../../src/core/units.ts';
import { ConfirmedPrice } from '../../src/matching/confirmed-price.ts';
import { marketOf, START_NS } from '../support/market-figures.ts';
import { propertyParameters } from '../support/property.ts';

const FIVE_PERCENT = ONE_18 / 20n;
const NO_TRADE = { price: 0, matchedNs: 0n };

function market(priceCollar: bigint | null) {
  return { ...marketOf(0, '2'), priceCollar };
}

suite('price collar', () => {
  test('without a fraction, or without a mark, every price is allowed', () => {
    const trade = { price: 300_000, matchedNs: START_NS };
    assert.deepEqual(collarBounds(market(null), { trade, oracle: 3_000n * ONE_18 }, START_NS), NO_COLLAR);
    assert.deepEqual(collarBounds(market(FIVE_PERCENT), { trade: NO_TRADE, oracle: null }, START_NS), NO_COLLAR);
  });

  test('the last confirmed trade is the mark for 60 s from its match, then the oracle is', () => {
    const sources = { trade: { price: 200_000, matchedNs: START_NS }, oracle: 3_000n * ONE_18 };
    const at = (ageNs: bigint) => collarBounds(market(FIVE_PERCENT), sources, START_NS + ageNs);
    assert.deepEqual(at(MARK_AGE_NS_MAX), { lowest: 190_000, highest: 210_000 });
    assert.deepEqual(at(MARK_AGE_NS_MAX + 1n), { lowest: 285_000, highest: 315_000 });
  });

  test('bounds are rounded inwards, never below one and never above what a price can be', () => {
    const oracle = (price: bigint, fraction: bigint) =>
      collarBounds(market(fraction), { trade: NO_TRADE, oracle: price }, START_NS);
    // 100.015 and a thousandth: 99.914985 … 100.115015.
    assert.deepEqual(oracle(100_015n * 10n ** 15n, ONE_18 / 1_000n), { lowest: 9_992, highest: 10_011 });
    assert.equal(oracle(ONE_18, 2n * ONE_18).lowest, 1);
    assert.equal(oracle(10n ** 18n * ONE_18, ONE_18).highest, Number.MAX_SAFE_INTEGER);
  });

  test('every price within the bounds is within the fraction, and the next ones outside are not', () => {
    const price = fc.integer({ min: 1, max: 10_000_000 });
    const fraction = fc.bigInt({ min: 1n, max: 3n * ONE_18 });
    fc.assert(
      fc.property(price, fraction, (mark, part) => {
        const bounds = collarBounds(
          market(part),
          { trade: { price: mark, matchedNs: START_NS }, oracle: null },
          START_NS,
        );
        const isWithin = (raw: number): boolean => {
          const distance = BigInt(Math.abs(raw - mark)) * ONE_18;
          return distance <= BigInt(mark) * part;
        };
        assert.ok(isWithin(bounds.lowest) && isWithin(bounds.highest));
        assert.ok(!isWithin(bounds.highest + 1));
        assert.ok(bounds.lowest === 1 || !isWithin(bounds.lowest - 1));
      }),
      propertyParameters(60),
    );
  });
});

suite('the last confirmed price of a market', () => {
  test('is that of the last trade that was not taken back, with its match time', () => {
    const last = new ConfirmedPrice();
    last.startAfter(40);
    for (const [tradeId, price] of [
      [41, 100],
      [42, 101],
      [43, 102],
    ] as const) {
      last.matched(tradeId, price, 1, tradeId);
    }
    assert.equal(last.price, 0, 'nothing is confirmed');
    last.rolledBack(42);
    last.decidedThrough(42);
    assert.deepEqual([last.price, last.matchedNs], [100, (1n << 32n) + 41n]);
    last.rolledBack(43);
    last.decidedThrough(43);
    assert.equal(last.price, 100, 'what was taken back is no price');
    last.decidedThrough(43);
    assert.equal(last.price, 100);
  });

  test('however far clearing is behind', () => {
    const last = new ConfirmedPrice();
    for (let tradeId = 1; tradeId <= 1_000; tradeId += 1) last.matched(tradeId, 5 * tradeId, 0, tradeId);
    for (const through of [3, 64, 500]) {
      last.decidedThrough(through);
      assert.deepEqual([last.price, last.matchedNs], [5 * through, BigInt(through)]);
    }
    for (let tradeId = 501; tradeId <= 1_000; tradeId += 1) last.rolledBack(tradeId);
    last.decidedThrough(1_000);
    assert.equal(last.price, 2_500);
  });
});
