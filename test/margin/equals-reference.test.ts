/** Figures and pressure against fractions, over random accounts. More runs by command: RINGBOOK_PROPERTY_RUNS. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';

import { SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice } from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, initialMarginHolds } from '../../src/margin/account.ts';
import { type AssetTerms, assetTerms } from '../../src/margin/asset-terms.ts';
import { afterFill, type Legs, magnitude, NO_LEGS, reduces } from '../../src/margin/position.ts';
import { sidePressure } from '../../src/margin/pressure.ts';
import { imFactor, type RiskRow, riskTerms } from '../../src/margin/risk-terms.ts';
import { marketOf } from '../support/market-figures.ts';
import { equity, initial, maintenance, type PlainAsset, type PlainLeg, pressure } from '../support/plain-margin.ts';
import { propertyParameters } from '../support/property.ts';

/** Cheap cases: many of them. */
const PARAMETERS = propertyParameters(1_200);
const NO_CAP = (1n << 256n) - 1n;

/** From one unit of 10^-18 to millions, so that rounding and magnitude both matter. */
const raw = fc.oneof(
  fc.bigInt({ min: 0n, max: 20n }),
  fc.bigInt({ min: 0n, max: 10n ** 18n }),
  fc.bigInt({ min: 0n, max: 10n ** 25n }),
);
const signed = fc.tuple(raw, fc.boolean()).map(([value, isNegative]) => (isNegative ? -value : value));
const price = fc.oneof(fc.bigInt({ min: 1n, max: 100n }), fc.bigInt({ min: 1n, max: 10n ** 23n }));

const plainAsset: fc.Arbitrary<PlainAsset> = fc
  .record({
    cf: fc.integer({ min: 0, max: 100 }),
    lf: fc.integer({ min: 0, max: 100 }),
    steps: fc.uniqueArray(fc.tuple(fc.nat({ max: 1_000_000 }), fc.nat({ max: 1_000_000 })), {
      maxLength: 4,
      selector: ([clamp]) => clamp,
    }),
    spotCap: fc.option(raw, { freq: 4 }),
    credits: raw,
    borrows: raw,
    oracle: price,
    mark: price,
    broken: fc.boolean(),
  })
  .map(({ steps, ...asset }) => ({
    ...asset,
    clamps: [0, ...steps.map(([clamp]) => clamp).sort((a, b) => a - b)],
    factors: [1_000_000, ...steps.map(([, factor]) => factor)].sort((a, b) => b - a),
  }));

function termsOf(plain: PlainAsset): AssetTerms {
  const row: RiskRow = {
    collateral_factor: plain.cf,
    liability_factor: plain.lf,
    max_collateral: NO_CAP.toString(),
    max_total_open_interest_notional: NO_CAP.toString(),
    max_spot_open_interest: (plain.spotCap ?? NO_CAP).toString(),
    isolated_only: false,
    initial_margin_clamps: plain.clamps,
    initial_margin_factors: plain.factors,
    min_sub_account_balance: '0',
  };
  const risk = riskTerms(row);
  const prices = { oracle: plain.oracle as Amount18, mark: plain.mark as Amount18, isBroken: plain.broken };
  return assetTerms(risk, prices, imFactor(risk, plain));
}

/** Per asset a spot balance and two legs. */
const account = fc.record({
  usd: raw,
  holdings: fc.array(fc.record({ asset: plainAsset, spot: raw, base: signed, quote: signed }), { maxLength: 6 }),
});

suite('margin equals its reference', () => {
  test('every figure of an account is that of the fractions (MRG-03 to MRG-08, AMB-44, AMB-46, AMB-47, AMB-53)', () => {
    fc.assert(
      fc.property(account, ({ usd, holdings }) => {
        const sums = emptySums();
        const legs: PlainLeg[] = [{ asset: null, raw: usd }];
        addSpot(sums, null, usd);
        for (const { asset, spot, base, quote } of holdings) {
          const terms = termsOf(asset);
          addSpot(sums, terms, spot);
          addPosition(sums, terms, { base, quote });
          legs.push({ asset, raw: spot }, { asset, raw: base }, { asset: null, raw: quote });
        }
        assert.equal(sums.maintenance, maintenance(legs));
        assert.equal(sums.initialOracle, initial(legs, 'oracle'));
        assert.equal(sums.initialMark, initial(legs, 'mark'));
        assert.equal(sums.equityOracle, equity(legs, 'oracle'));
        assert.equal(sums.equityMark, equity(legs, 'mark'));
        assert.equal(
          sums.hasBorrows,
          legs.some((leg) => leg.raw < 0n),
        );
        // Initial margin is never easier than maintenance, and neither is worth more than equity could be.
        assert.ok(sums.initialOracle <= sums.maintenance && sums.initialMark <= sums.maintenance);
      }),
      PARAMETERS,
    );
  });

  const order = fc.record({
    buys: fc.boolean(),
    lots: fc.integer({ min: 1, max: 40 }),
    cents: fc.integer({ min: 1, max: 1_000_000 }),
  });

  test('pressure is that of lots counted one by one (MRG-17 to MRG-21, MRG-23, AMB-50)', () => {
    const lot = 10n ** 14n;
    const lots = fc.integer({ min: -60, max: 60 });
    const rate = fc.integer({ min: 0, max: 2_000 });
    fc.assert(
      fc.property(plainAsset, fc.array(order, { maxLength: 8 }), lots, rate, (asset, orders, held, takerRate) => {
        const terms = termsOf(asset);
        const base = BigInt(held) * lot;
        const market = { ...marketOf(0, '2'), takerFeeRate: takerRate };
        for (const side of [SIDE.buy, SIDE.sell]) {
          const own = orders.filter(({ buys }) => buys === (side === SIDE.buy));
          const open = own.map((item) => ({ price: item.cents as RawPrice, lots: item.lots, spend: 0n as Amount18 }));
          const plain = orders.map(({ buys, lots: count, cents }) => ({
            buys,
            lots: count,
            price: BigInt(cents) * 10n ** 16n,
          }));
          assert.equal(
            sidePressure({ side, market, terms, base }, open),
            pressure(asset, side === SIDE.buy, plain, { base, lot, takerRate }),
          );
        }
      }),
      PARAMETERS,
    );
  });

  test('a trade in parts leaves the same position, and costs no less in fees (FIL-03, AMB-41)', () => {
    const part = fc.record({ lots: fc.bigInt({ min: 1n, max: 10n ** 6n }), rate: fc.constant(450n) });
    fc.assert(
      fc.property(
        signed,
        fc.array(part, { minLength: 1, maxLength: 6 }),
        price,
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
      fc.property(signed, signed, (base, delta) => {
        const after = base + delta;
        const shrinks = magnitude(after) < magnitude(base) && (after === 0n || after < 0n === base < 0n);
        assert.equal(reduces(base, delta), shrinks);
      }),
      PARAMETERS,
    );
  });

  test('initial margin holds without borrows, above zero, or where it is better than before (MRG-11, MRG-13, MRG-15)', () => {
    const sums = fc.record({ initialOracle: signed, initialMark: signed, hasBorrows: fc.boolean() });
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
