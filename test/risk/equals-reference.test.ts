// tier: quick
/** Figures and pressure against fractions, over random accounts. More runs by command: RINGBOOK_PROPERTY_RUNS. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';

import type { Amount18 } from '../../src/core/units.ts';
import { initialMarginHolds } from '../../src/risk/account.ts';
import { afterFill, type Legs, magnitude, NO_LEGS, reduces } from '../../src/risk/position.ts';
import { figuresInvariant, oraclePrice, pressureInvariant, signedAmount } from '../support/margin-invariants.ts';
import { propertyParameters } from '../support/property.ts';

/** Cheap cases: many of them. */
const PARAMETERS = propertyParameters(1_200);

suite('margin equals its reference', () => {
  test('every figure of an account is that of the fractions (MRG-03 to MRG-08, AMB-44, AMB-46, AMB-47, AMB-53)', (t) => {
    fc.assert(figuresInvariant(), PARAMETERS);
    t.diagnostic(`${PARAMETERS.numRuns} accounts`);
  });

  test('pressure is that of lots counted one by one (MRG-17 to MRG-21, MRG-23, AMB-50)', (t) => {
    fc.assert(pressureInvariant(), PARAMETERS);
    t.diagnostic(`${PARAMETERS.numRuns} accounts`);
  });

  test('a trade in parts leaves the same position, and costs no less in fees (FIL-03, AMB-41)', () => {
    const part = fc.record({ lots: fc.bigInt({ min: 1n, max: 10n ** 6n }), rate: fc.constant(450n) });
    fc.assert(
      fc.property(
        signedAmount,
        fc.array(part, { minLength: 1, maxLength: 6 }),
        oraclePrice,
        fc.boolean(),
        (base, parts, at, buys) => {
          const start: Legs = afterFill(NO_LEGS, base === 0n ? 1n : base, magnitude(base) as Amount18, 0n as Amount18);
          const fee = (notional: bigint): bigint => (notional * 450n + 999_999n) / 1_000_000n;
          let legs = start;
          let whole = 0n;
          for (const { lots } of parts) {
            legs = afterFill(legs, buys ? lots : -lots, (lots * at) as Amount18, fee(lots * at) as Amount18);
            whole += lots;
          }
          const once = afterFill(start, buys ? whole : -whole, (whole * at) as Amount18, fee(whole * at) as Amount18);
          assert.equal(legs.base, once.base);
          assert.ok(legs.quote <= once.quote && once.quote - legs.quote < BigInt(parts.length));
          assert.ok(legs.entry >= 0n && once.entry >= 0n);
        },
      ),
      PARAMETERS,
    );
  });

  test('what reduces a position never grows it, and a reduction in parts reduces (MRG-14, TIF-08)', () => {
    fc.assert(
      fc.property(signedAmount, signedAmount, (base, delta) => {
        const after = base + delta;
        const shrinks = magnitude(after) < magnitude(base) && (after === 0n || after < 0n === base < 0n);
        assert.equal(reduces(base, delta), shrinks);
      }),
      PARAMETERS,
    );
  });

  test('initial margin holds without borrows, above zero, or where it is better than before (MRG-11, MRG-13, MRG-15)', () => {
    const sums = fc.record({ initialOracle: signedAmount, initialMark: signedAmount, hasBorrows: fc.boolean() });
    fc.assert(
      fc.property(sums, sums, (after, before) => {
        const better = (at: 'initialOracle' | 'initialMark'): boolean => after[at] >= 0n || after[at] > before[at];
        const expected = !after.hasBorrows || (better('initialOracle') && better('initialMark'));
        assert.equal(
          initialMarginHolds(after, () => before),
          expected,
        );
      }),
      PARAMETERS,
    );
  });
});
