// tier: quick
/** Figures of liquidation, backstop and auto-deleveraging: the worked examples digit by digit, and against fractions. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';

import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, figuresOf, isLiquidatable, type MarginSums } from '../../src/risk/account.ts';
import { type AssetTerms, assetTerms } from '../../src/risk/asset-terms.ts';
import {
  type AdlStanding,
  adlPrice,
  clipQuantity,
  collateralToBuffer,
  compareAdl,
  hasBuffer,
  isBelowInitialMargin,
  liquidationPrice,
  liquidationReference,
  lotsToBuffer,
  positionProfit,
  sumsAfter,
  wholeLots,
} from '../../src/risk/liquidation.ts';
import { afterFill, type Legs, NO_LEGS } from '../../src/risk/position.ts';
import type { PriceSource } from '../../src/risk/prices.ts';
import { type RiskRow, riskTerms } from '../../src/risk/risk-terms.ts';
import { marketOf } from '../support/market-figures.ts';
import { amount, type Fraction, minus, ONE, plus, takeRest, times } from '../support/plain-margin.ts';
import { propertyParameters } from '../support/property.ts';

const PARAMETERS = propertyParameters(600);
const NO_CAP = ((1n << 256n) - 1n).toString();
const NOW = 10_000_000_000_000_000n as TimestampNs;
const SECOND = 1_000_000_000n;
const MARKET = marketOf(0, '2');

function usd(text: string): Amount18 {
  const parsed = parseDecimal18(text);
  assert.ok(parsed !== null);
  return parsed as Amount18;
}

function risk(changes: Partial<RiskRow> = {}): ReturnType<typeof riskTerms> {
  return riskTerms({
    collateral_factor: 90,
    liability_factor: 95,
    max_collateral: NO_CAP,
    max_total_open_interest_notional: NO_CAP,
    max_spot_open_interest: NO_CAP,
    max_utilization: '1000000000000000000',
    isolated_only: false,
    initial_margin_clamps: [0],
    initial_margin_factors: [1_000_000],
    min_sub_account_balance: '0',
    ...changes,
  });
}

function terms(changes: Partial<RiskRow>, oracle: Amount18, mark = oracle, isBroken = false): AssetTerms {
  const row = risk(changes);
  return assetTerms(row, { oracle, mark, isBroken, shield: isBroken ? oracle : usd('0') }, row.factors[0] ?? 0n);
}

/** A source that was updated so many seconds ago. */
function source(price: string, ageSeconds: number, isTripped = false): PriceSource {
  const timeNs = (NOW - BigInt(ageSeconds) * SECOND) as TimestampNs;
  return { price: usd(price), timeNs, isTripped, goodUpdates: isTripped ? 2 : 0 };
}

/** Price of the order of a liquidation, as text; null without one. */
function priceOf(
  side: 0 | 1,
  sources: { readonly mark: PriceSource | null; readonly oracle: PriceSource | null },
  row = risk(),
  market = MARKET,
): string | null {
  const reference = liquidationReference(side, { ...sources, risk: row }, NOW);
  if (reference === null) return null;
  const raw = liquidationPrice(side, reference, row, market);
  return format18((BigInt(raw) * 10n ** BigInt(18 - market.priceDecimals)) as Amount18);
}

function long(size: string, price: string): Legs {
  const base = usd(size);
  return afterFill(NO_LEGS, base, ((base * usd(price)) / 10n ** 18n) as Amount18, 0n as Amount18);
}

function short(size: string, price: string): Legs {
  const base = usd(size);
  return afterFill(NO_LEGS, -base, ((base * usd(price)) / 10n ** 18n) as Amount18, 0n as Amount18);
}

function sumsOf(spot: string, positions: readonly (readonly [AssetTerms, Legs])[]): MarginSums {
  const sums = emptySums();
  addSpot(sums, null, usd(spot));
  for (const [at, legs] of positions) addPosition(sums, at, legs);
  return sums;
}

suite('liquidation prices', () => {
  const rows: readonly [string, PriceSource | null, PriceSource | null, string | null, string | null][] = [
    ['the oracle young, the trade lower', source('1995', 0), source('2000', 0), '1900', '2050'],
    ['the oracle young, the trade higher', source('2010', 0), source('2000', 0), '1900', '2050'],
    ['an oracle of exactly 2 min is young', source('1995', 0), source('2000', 120), '1900', '2050'],
    ['an older oracle, the trade lower', source('1995', 0), source('2000', 121), '1895.25', '2050'],
    ['an older oracle, the trade higher', source('2010', 0), source('2000', 121), '1900', '2060.25'],
    ['an older oracle, a last trade of 61 s', source('1995', 61), source('2000', 121), '1900', '2050'],
    ['a last trade of exactly 60 s is usable', source('1995', 60), source('2000', 121), '1895.25', '2050'],
    ['an oracle of 61 min prices no sale', source('1995', 0), source('2000', 3_660), null, '2044.88'],
    ['an oracle of exactly 1 h is usable', source('1995', 0), source('2000', 3_600), '1895.25', '2050'],
    ['a tripped or recovering mark is none', source('1995', 0, true), source('2000', 121), '1900', '2050'],
    ['a tripped oracle is none', source('1995', 0), source('2000', 0, true), null, '2044.88'],
    ['no usable price, no order', source('1995', 61), source('2000', 3_601), null, null],
    ['no price ever', null, null, null, null],
  ];
  for (const [what, mark, oracle, sell, buy] of rows) {
    test(`LIQ-06, LIQ-07, LIQ-08, LIQ-09: ${what} (EX-07, AMB-56, AMB-126)`, () => {
      assert.equal(priceOf(SIDE.sell, { mark, oracle }), sell);
      assert.equal(priceOf(SIDE.buy, { mark, oracle }), buy);
    });
  }

  test('LIQ-07, MON-06: while the oracle is young no mark has a part in the reference, with any band or none', () => {
    const price = fc.bigInt({ min: 1n, max: 10n ** 24n });
    const seconds = fc.nat(240);
    const band = fc.option(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }));
    const cases = fc.tuple(fc.constantFrom(SIDE.buy, SIDE.sell), price, price, seconds, seconds, band, fc.nat(120));
    fc.assert(
      fc.property(cases, ([side, ofOracle, ofMark, oracleAge, markAge, bandWidth, bandAge]) => {
        const oracle = { ...source('1', oracleAge), price: ofOracle as Amount18 };
        const mark = { ...source('1', markAge), price: ofMark as Amount18 };
        const markRule = { band: bandWidth, bandAgeNs: BigInt(bandAge) * SECOND };
        const reference = liquidationReference(side, { oracle, mark, risk: { markRule } }, NOW);
        // No band binds a mark behind an older oracle.
        const isMarked = oracleAge > bandAge && markAge <= 60;
        const isDeeper = side === SIDE.buy ? ofMark > ofOracle : ofMark < ofOracle;
        assert.equal(reference, isMarked && isDeeper ? ofMark : ofOracle);
      }),
      PARAMETERS,
    );
  });

  test('LIQ-06: a price without an oracle is exact in a market of three decimals (EX-07)', () => {
    const market = { ...MARKET, priceDecimals: 3 };
    assert.equal(
      priceOf(SIDE.buy, { mark: source('1995', 0), oracle: source('2000', 3_660) }, risk(), market),
      '2044.875',
    );
  });

  test('LIQ-06: a sale is floored to the tick, a purchase ceiled (EX-07)', () => {
    const market = { ...MARKET, tickSize: 5 as RawPrice };
    const row = risk({ collateral_factor: 87, liability_factor: 91 });
    const sources = { mark: null, oracle: source('1234.57', 0) };
    assert.equal(priceOf(SIDE.sell, sources, row, market), '1154.3');
    assert.equal(priceOf(SIDE.buy, sources, row, market), '1290.15');
  });

  test('LIQ-06: the threshold and the orders of the worked accounts (EX-07, LIQ-03)', () => {
    const shortRow = risk({ liability_factor: 92 });
    const shortAt = (mark: string): MarginSums =>
      sumsOf('1000', [[terms({ liability_factor: 92 }, usd('2500'), usd(mark)), short('1.5', '2000')]]);
    assert.equal(format18(figuresOf(shortAt('2469')).maintenanceSurplus), '0.22');
    assert.equal(isLiquidatable(shortAt('2469')), false);
    assert.equal(format18(figuresOf(shortAt('2470')).maintenanceSurplus), '-1.4');
    assert.equal(isLiquidatable(shortAt('2470')), true);
    assert.equal(priceOf(SIDE.buy, { mark: source('2470', 0), oracle: source('2500', 0) }, shortRow), '2600');
    const longRow = { liability_factor: 92, initial_margin_factors: [950_000] };
    const longAt = (mark: string): MarginSums =>
      sumsOf('600', [[terms(longRow, usd('1880'), usd(mark)), long('2', '2000')]]);
    assert.equal(format18(figuresOf(longAt('1889')).maintenanceSurplus), '0.2');
    assert.equal(format18(figuresOf(longAt('1888')).maintenanceSurplus), '-1.6');
    assert.equal(priceOf(SIDE.sell, { mark: source('1888', 0), oracle: source('1880', 0) }, risk(longRow)), '1786');
    assert.equal(wholeLots(usd('-1.5'), MARKET), 15_000);
  });

  test('LIQ-06: a price is at least one tick and at most the highest price there is', () => {
    const market = { ...MARKET, tickSize: 1_000 as RawPrice };
    assert.equal(liquidationPrice(SIDE.sell, usd('0.01'), risk(), market), 1_000);
    const highest = Number.MAX_SAFE_INTEGER - (Number.MAX_SAFE_INTEGER % 1_000);
    assert.equal(liquidationPrice(SIDE.buy, usd('90071992547409'), risk(), market), highest);
  });

  test('LIQ-06: every price is the midpoint, rounded once to the tick (AMB-56)', () => {
    const cases = fc.tuple(
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      fc.nat(100),
      fc.nat(100),
      fc.constantFrom(1, 5, 25, 1_000),
      fc.integer({ min: 0, max: 8 }),
    );
    fc.assert(
      fc.property(cases, ([reference, cf, lf, tickSize, priceDecimals]) => {
        const market = { ...MARKET, priceDecimals, quantityDecimals: 4, tickSize: tickSize as RawPrice };
        const row = risk({ collateral_factor: cf, liability_factor: lf });
        const tick: Fraction = { n: BigInt(tickSize), d: 10n ** BigInt(priceDecimals) };
        const exact = (percent: number): Fraction => times(amount(reference), { n: 100n + BigInt(percent), d: 200n });
        const sell = toTick(liquidationPrice(SIDE.sell, reference as Amount18, row, market), tickSize);
        const buy = toTick(liquidationPrice(SIDE.buy, reference as Amount18, row, market), tickSize);
        assert.ok(sell === 1n || atMost(times(tick, whole(sell)), exact(cf)));
        assert.ok(!atMost(times(tick, whole(sell + 1n)), exact(cf)));
        assert.ok(atMost(exact(200 - lf), times(tick, whole(buy))));
        assert.ok(buy === 1n || !atMost(exact(200 - lf), times(tick, whole(buy - 1n))));
      }),
      PARAMETERS,
    );
  });
});

function whole(n: bigint): Fraction {
  return { n, d: 1n };
}

function atMost(a: Fraction, b: Fraction): boolean {
  return minus(b, a).n >= 0n;
}

function toTick(raw: number, tickSize: number): bigint {
  assert.equal(raw % tickSize, 0);
  return BigInt(raw / tickSize);
}

suite('clips of the backstop', () => {
  const setting = { fraction: usd('0.1'), usd: usd('50000') };

  test('BKS-05: a clip is 10 % of the position as taken over, up to the lot, until the rest (AMB-60)', () => {
    const at = { taken: usd('-10.0005'), ...setting, reference: usd('2000') };
    assert.equal(clipQuantity({ ...at, open: usd('-10.0005') }, MARKET), 10_001);
    assert.equal(clipQuantity({ ...at, open: usd('-0.9') }, MARKET), 9_000);
    assert.equal(clipQuantity({ ...at, open: usd('0.00009') }, MARKET), 0);
    assert.equal(clipQuantity({ ...at, open: usd('0') }, MARKET), 0);
  });

  test('BKS-05: a clip is worth at most 50,000 USD at the reference, down to the lot, but is one lot at least (AMB-60)', () => {
    const at = { taken: usd('1000'), open: usd('1000'), ...setting };
    assert.equal(clipQuantity({ ...at, reference: usd('2000.01') }, MARKET), 249_998);
    assert.equal(clipQuantity({ ...at, reference: usd('600000000') }, MARKET), 1);
  });

  test('BKS-05: every clip is the largest number of lots within its bounds (AMB-60)', () => {
    const parts = fc.tuple(
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      fc.nat(100),
      fc.bigInt({ min: 1n, max: 10n ** 18n }),
      fc.bigInt({ min: 10n ** 15n, max: 10n ** 24n }),
      fc.bigInt({ min: 10n ** 10n, max: 10n ** 23n }),
      fc.boolean(),
    );
    fc.assert(
      fc.property(parts, ([taken, leftPercent, fraction, usdMax, reference, isShort]) => {
        const open = (taken * BigInt(leftPercent)) / 100n;
        const sign = isShort ? -1n : 1n;
        const clip = clipQuantity(
          {
            taken: (sign * taken) as Amount18,
            open: (sign * open) as Amount18,
            fraction,
            usd: usdMax,
            reference: reference as Amount18,
          },
          MARKET,
        );
        const lot: Fraction = { n: 1n, d: 10_000n };
        const size = times(lot, whole(BigInt(clip)));
        const next = times(lot, whole(BigInt(clip) + 1n));
        const share = times(amount(taken), amount(fraction));
        assert.ok(atMost(size, amount(open)));
        const isUsdBound = !atMost(times(next, amount(reference)), amount(usdMax));
        const isShareBound = atMost(share, size);
        const isRest = !atMost(next, amount(open));
        assert.ok(isRest || isUsdBound || isShareBound);
        if (clip > 1) {
          assert.ok(atMost(times(size, amount(reference)), amount(usdMax)));
          assert.ok(!atMost(share, times(lot, whole(BigInt(clip) - 1n))));
        }
      }),
      PARAMETERS,
    );
  });
});

suite('the buffer above the initial margin', () => {
  test('BKS-03: a take-over is credited up to 2 % above the requirement, at the worse price (AMB-58)', () => {
    const eth = terms({}, usd('2000'), usd('1990'));
    const sums = sumsOf('0', [[eth, short('10', '1900')]]);
    // At the oracle: equity −1000, surplus −2000, requirement 1000; at the mark −900, −1895, 995.
    assert.equal(format18(collateralToBuffer(sums)), '2020');
    assert.equal(hasBuffer(sumsOf('2019.999999999999999999', [[eth, short('10', '1900')]])), false);
    assert.equal(hasBuffer(sumsOf('2020', [[eth, short('10', '1900')]])), true);
    assert.equal(format18(collateralToBuffer(sumsOf('5000', [[eth, short('10', '1900')]]))), '0');
    assert.equal(isBelowInitialMargin(sumsOf('1999.99', [[eth, short('10', '1900')]])), true);
    assert.equal(isBelowInitialMargin(sumsOf('2000', [[eth, short('10', '1900')]])), false);
  });

  test('BKS-03: the credit is the least amount in 10^-18 USD that gives the buffer (AMB-58)', () => {
    const figure = fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n });
    const requirement = fc.bigInt({ min: 0n, max: 10n ** 21n });
    fc.assert(
      fc.property(fc.tuple(figure, requirement, figure, requirement), ([oracle, oracleNeeds, mark, markNeeds]) => {
        const after = (credit: bigint): boolean =>
          hasBuffer({
            equityOracle: oracle + oracleNeeds + credit,
            initialOracle: oracle + credit,
            equityMark: mark + markNeeds + credit,
            initialMark: mark + credit,
          });
        const credit = collateralToBuffer({
          equityOracle: oracle + oracleNeeds,
          initialOracle: oracle,
          equityMark: mark + markNeeds,
          initialMark: mark,
        });
        const needed = (surplus: bigint, needs: bigint): bigint => {
          const lacking = minus(times(amount(needs), { n: 1n, d: 50n }), amount(surplus));
          return lacking.n <= 0n ? 0n : takeRest(lacking);
        };
        const atOracle = needed(oracle, oracleNeeds);
        const atMark = needed(mark, markNeeds);
        assert.ok(credit >= atOracle && credit >= atMark && (credit === atOracle || credit === atMark));
        assert.equal(after(credit), true);
        assert.equal(credit > 0n && after(credit - 1n), false);
      }),
      PARAMETERS,
    );
  });
});

/** The counterparties of EX-09: oracle = mark = 2000, CF and LF 1. */
function standing(user: string, legs: Legs, spot: string, price = '2000'): AdlStanding {
  const eth = terms({ collateral_factor: 100, liability_factor: 100 }, usd(price));
  const { equityMark, notional } = sumsOf(spot, [[eth, legs]]);
  return { profit: positionProfit(eth, legs), entry: legs.entry, notional, equity: equityMark, user, subAccount: 1 };
}

suite('auto-deleveraging', () => {
  test('ADL-03: the ranking of the worked example is B, A, C; a losing position has no profit (EX-09, ADL-01, AMB-59)', () => {
    const a = standing('a', long('3', '1600'), '800');
    const b = standing('b', long('2', '1000'), '2000');
    const c = standing('c', long('5', '1960'), '300');
    assert.deepEqual(
      [a, c, b].sort(compareAdl).map(({ user }) => user),
      ['b', 'a', 'c'],
    );
    assert.equal(format18(a.equity as Amount18), '2000');
    assert.equal(standing('d', long('1', '2100'), '5000').profit < 0n, true);
    assert.equal(format18(standing('e', short('2', '2500'), '0').profit as Amount18), '1000');
  });

  test('ADL-03: no equity comes first; ties go to the larger notional, then by user and index (AMB-59)', () => {
    const one: AdlStanding = { profit: 1n, entry: 4n, notional: 100n, equity: 50n, user: 'b', subAccount: 1 };
    const bankrupt = { ...one, equity: 0n, notional: 1n };
    const other = { ...one, user: 'a' };
    const second = { ...one, subAccount: 2 };
    const larger = { ...one, notional: 200n, equity: 100n };
    const free = { ...one, entry: 0n };
    const all = [one, second, other, larger, bankrupt, free];
    assert.deepEqual(all.sort(compareAdl), [bankrupt, free, larger, other, one, second]);
  });

  test('ADL-03: the score is that of fractions, and the order is one order (AMB-59)', () => {
    const value = fc.bigInt({ min: 1n, max: 10n ** 24n });
    const party = fc.record({
      profit: value,
      entry: value,
      notional: value,
      equity: fc.bigInt({ min: -5n, max: 10n ** 24n }),
      user: fc.constantFrom('a', 'b', 'c'),
      subAccount: fc.nat(3),
    });
    const scoreOf = ({ profit, entry, notional, equity }: AdlStanding): Fraction =>
      times({ n: notional, d: equity }, { n: profit, d: entry });
    fc.assert(
      fc.property(party, party, party, (a, b, c) => {
        assert.equal(Math.sign(compareAdl(a, b)), -Math.sign(compareAdl(b, a)) + 0);
        if (a.equity > 0n && b.equity > 0n) {
          const difference = minus(scoreOf(a), scoreOf(b)).n;
          if (difference !== 0n) assert.equal(compareAdl(a, b) < 0, difference > 0n);
        }
        if (compareAdl(a, b) <= 0 && compareAdl(b, c) <= 0) assert.ok(compareAdl(a, c) <= 0);
      }),
      PARAMETERS,
    );
  });

  test('ADL-08, ADL-09: the lower price when the backstop is short, the higher when it is long, to the finest price', () => {
    const prices = { oracle: usd('2000.017'), mark: usd('1990.013') };
    assert.equal(adlPrice(SIDE.buy, prices, MARKET), 199_001);
    assert.equal(adlPrice(SIDE.sell, prices, MARKET), 200_002);
    assert.equal(adlPrice(SIDE.buy, { oracle: usd('0.001'), mark: usd('0.001') }, MARKET), 1);
  });

  test('ADL-05: fewest lots that restore 2 % above the requirement, and all where not even that does (AMB-59)', () => {
    const eth = terms({}, usd('2000'));
    const legs = short('10', '1900');
    const closing = { legs, terms: eth, price: 200_000 as RawPrice };
    const all = 100_000 as RawQuantity;
    // Spot s: surplus s − 2000, requirement 1000. A lot of 1 at 2000 lifts the surplus by 100 and lowers the requirement by 100.
    assert.equal(lotsToBuffer(sumsOf('2020', [[eth, legs]]), closing, MARKET, all), 0);
    assert.equal(lotsToBuffer(sumsOf('1918', [[eth, legs]]), closing, MARKET, all), 10_000);
    assert.equal(lotsToBuffer(sumsOf('1917.99', [[eth, legs]]), closing, MARKET, all), 10_001);
    assert.equal(lotsToBuffer(sumsOf('1917.99', [[eth, legs]]), closing, MARKET, 500 as RawQuantity), 500);
    assert.equal(lotsToBuffer(sumsOf('0', [[eth, legs]]), closing, MARKET, all), all);
  });

  test('ADL-05: sums after a closing are those of the account after it, and no lot less restores the buffer', () => {
    const parts = fc.tuple(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.boolean(),
      fc.bigInt({ min: 10n ** 18n, max: 10n ** 22n }),
      fc.integer({ min: 50, max: 150 }),
      fc.bigInt({ min: -(10n ** 22n), max: 10n ** 23n }),
      fc.tuple(fc.nat(100), fc.nat(99)),
    );
    fc.assert(
      fc.property(parts, ([lots, isShort, oracle, markPercent, spot, [cf, lf]]) => {
        const mark = ((oracle * BigInt(markPercent)) / 100n) as Amount18;
        const at = terms({ collateral_factor: cf, liability_factor: lf }, oracle as Amount18, mark);
        const size = (BigInt(lots) * 10n ** 14n) as Amount18;
        const legs = afterFill(
          NO_LEGS,
          isShort ? -size : size,
          ((size * oracle) / 10n ** 18n) as Amount18,
          0n as Amount18,
        );
        const side = isShort ? SIDE.buy : SIDE.sell;
        const closing = { legs, terms: at, price: adlPrice(side, at.prices, MARKET) };
        const account = (held: Legs): MarginSums => {
          const sums = emptySums();
          addSpot(sums, null, spot as Amount18);
          addPosition(sums, at, held);
          return sums;
        };
        const before = account(legs);
        const after = (closed: number): MarginSums => {
          const base = BigInt(closed) * 10n ** 14n;
          const notional = (base * BigInt(closing.price)) / 100n;
          return account(
            closed === 0 ? legs : afterFill(legs, isShort ? base : -base, notional as Amount18, 0n as Amount18),
          );
        };
        const fewest = lotsToBuffer(before, closing, MARKET, lots as RawQuantity);
        const { equityOracle, equityMark, initialOracle, initialMark } = after(fewest);
        const expected = { equityOracle, equityMark, initialOracle, initialMark };
        assert.deepEqual(sumsAfter(before, closing, fewest, MARKET), expected);
        if (fewest < lots) assert.ok(isBuffered(after(fewest)));
        if (fewest > 0) assert.ok(!isBuffered(after(fewest - 1)));
      }),
      PARAMETERS,
    );
  });
});

/** surplus ≥ 0.02 × (equity − surplus) at both prices, in fractions. */
function isBuffered({ equityOracle, equityMark, initialOracle, initialMark }: MarginSums): boolean {
  const holds = (equity: bigint, surplus: bigint): boolean => {
    const requirement = plus(amount(equity), times({ n: -1n, d: 1n }, amount(surplus)));
    return atMost(times(requirement, { n: 2n, d: 100n }, ONE), amount(surplus));
  };
  return holds(equityOracle, initialOracle) && holds(equityMark, initialMark);
}
