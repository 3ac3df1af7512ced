// tier: quick
/** Lots that a quote set has traded, counted by market and gateway. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { RAW_MAX } from '../../src/core/limits.ts';
import { countLots, lotsSince } from '../../src/order/quote-lots.ts';
import { propertyParameters } from '../support/property.ts';

const RING = BigInt(RAW_MAX) + 1n;

suite('lots of a quote set', () => {
  test('QTE-01: counts run round without rounding, and their difference is what was traded between them', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (count, lots) => {
        const after = countLots(count, lots);
        assert.equal(BigInt(after), (BigInt(count) + BigInt(lots)) % RING);
        assert.equal(lotsSince(count, after), lots);
      }),
      propertyParameters(1_000),
    );
    assert.equal(countLots(RAW_MAX, 1), 0);
    assert.equal(countLots(0, RAW_MAX), RAW_MAX);
    assert.equal(lotsSince(5, 5), 0);
    assert.equal(lotsSince(RAW_MAX, 0), 1);
  });
});
