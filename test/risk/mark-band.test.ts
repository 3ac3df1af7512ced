// tier: quick
/** What a mark may be (MON-06): figures of accounts at any trade price, and what the widest band promises. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { format18 } from '../../src/core/decimal.ts';
import { MARK_BAND_AGE_NS } from '../../src/core/limits.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, type MarginSums } from '../../src/risk/account.ts';
import { type AssetTerms, termsInForce } from '../../src/risk/asset-terms.ts';
import {
  assetPrices,
  MARK_STALE_NS,
  type MarkRule,
  markInUse,
  ORACLE_STALE_NS,
  type PriceSource,
} from '../../src/risk/prices.ts';
import { DEFAULT_MARK_TERMS, markBandMax, type RiskTerms, riskTerms } from '../../src/risk/risk-terms.ts';
import { riskRow, usd } from '../support/margin-fixture.ts';
import { propertyParameters } from '../support/property.ts';

const NOW = 10_000_000_000_000n as TimestampNs;
const NO_INTEREST = { credits: 0n, borrows: 0n };

function source(price: bigint, ageNs = 0n): PriceSource {
  return { price: price as Amount18, timeNs: (NOW - ageNs) as TimestampNs, isTripped: false, goodUpdates: 0 };
}

/** The mark for a trade at this price, with an oracle of 2000, in USD. */
function mark(trade: string, rule: MarkRule, oracleAgeNs = 0n): string {
  return format18(markInUse(usd(trade), source(usd(2_000), oracleAgeNs), rule, NOW));
}

suite('the band of a mark', () => {
  const { markRule } = riskTerms(riskRow(90, 95, 1_000_000));

  test('MON-06: as the factors have it: min(1/CF − 1, 1 − 1/(2 − LF)), towards the oracle at the last digit', () => {
    const of = (cf: number, lf: number): string => format18(markBandMax(riskTerms(riskRow(cf, lf, 1_000_000))));
    assert.equal(of(90, 95), '0.047619047619047619');
    assert.equal(of(95, 90), '0.052631578947368421');
    assert.equal(of(60, 0), '0.5');
    assert.equal(of(0, 50), '0.333333333333333333');
    assert.equal(of(100, 50), '0');
    assert.equal(of(50, 100), '0');
    assert.equal(mark('2000.5', markRule), '2000.5');
    assert.equal(mark('0.0001', markRule), '1904.761904761904762');
    assert.equal(mark('1000000000', markRule), '2095.238095238095238');
  });

  test('MON-06: a fraction of the operator, none, and an oracle that is too old to bind', () => {
    const given = (markBand: string | null): MarkRule =>
      riskTerms(riskRow(90, 95, 1_000_000), { ...DEFAULT_MARK_TERMS, markBand }).markRule;
    assert.equal(mark('1', given('0.01')), '1980');
    assert.equal(mark('1', given('0')), '2000');
    assert.equal(mark('1', given('none')), '1');
    assert.equal(mark('1', markRule, MARK_BAND_AGE_NS), '1904.761904761904762');
    assert.equal(mark('1', markRule, MARK_BAND_AGE_NS + 1n), '1');
    assert.equal(format18(markInUse(usd(1), null, markRule, NOW)), '1', 'without an oracle there is no band');
  });

  test('MON-06: the oracle of the moment binds a trade of before', () => {
    const trade = source(usd(2_000), MARK_STALE_NS);
    const at = (oracle: number): string => format18(assetPrices(source(usd(oracle)), trade, markRule, NOW).mark);
    assert.equal(at(2_000), '2000');
    assert.equal(at(3_000), '2857.142857142857143');
    assert.equal(at(1_000), '1047.619047619047619');
    const old = source(usd(2_000), MARK_STALE_NS + 1n);
    assert.equal(
      format18(assetPrices(source(usd(3_000)), old, markRule, NOW).mark),
      '3000',
      'a stale trade is no mark',
    );
    const recovering = { ...source(usd(3_000)), isTripped: true, goodUpdates: 1 };
    assert.equal(format18(assetPrices(recovering, trade, markRule, NOW).mark), '2857.142857142857143');
    const broken = source(usd(3_000), ORACLE_STALE_NS + 1n);
    assert.equal(format18(assetPrices(broken, trade, markRule, NOW).mark), '2000');
  });
});

// ---- random accounts

interface Drawn {
  readonly cf: number;
  readonly lf: number;
  readonly oracle: bigint;
  readonly spot: bigint;
  readonly base: bigint;
  readonly quote: bigint;
  readonly usd: bigint;
}

const raw = fc.bigInt({ min: -(10n ** 23n), max: 10n ** 23n });
const account: fc.Arbitrary<Drawn> = fc.record({
  cf: fc.integer({ min: 0, max: 100 }),
  lf: fc.integer({ min: 0, max: 100 }),
  oracle: fc.bigInt({ min: 1n, max: 10n ** 23n }),
  spot: fc.bigInt({ min: 0n, max: 10n ** 22n }),
  base: raw,
  quote: raw,
  usd: fc.bigInt({ min: 0n, max: 10n ** 23n }),
});
/** Whatever two accounts of one owner can agree on, in 10^-18 USD. */
const washPrice = fc.oneof(
  fc.bigInt({ min: 1n, max: 10n ** 36n }),
  fc.bigInt({ min: 1n, max: 10n ** 24n }),
  fc.constantFrom(1n, 10n ** 16n),
);

function termsAt(risk: RiskTerms, oracle: bigint, trade: bigint | null): AssetTerms {
  const sources = { oracle: source(oracle), mark: trade === null ? null : source(trade) };
  return termsInForce(risk, sources, NO_INTEREST, NOW);
}

function sumsOf(drawn: Drawn, terms: AssetTerms): MarginSums {
  const sums = emptySums();
  addSpot(sums, null, drawn.usd);
  addSpot(sums, terms, drawn.spot);
  addPosition(sums, terms, drawn);
  return sums;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

suite('random accounts and wash trades at any price', () => {
  test('MON-06: no account at maintenance has negative equity at the oracle, with the band of the factors', () => {
    fc.assert(
      fc.property(account, washPrice, (drawn, trade) => {
        const terms = termsAt(riskTerms(riskRow(drawn.cf, drawn.lf, 1_000_000)), drawn.oracle, trade);
        const { maintenance, equityOracle } = sumsOf(drawn, terms);
        assert.ok(equityOracle >= maintenance, `equity ${equityOracle}, maintenance ${maintenance}`);
      }),
      propertyParameters(3_000),
    );
  });

  test('MON-06: a wash trade moves every figure of an account by at most the band, times what the account has of the asset', () => {
    fc.assert(
      fc.property(account, fc.option(washPrice), washPrice, (drawn, before, trade) => {
        const risk = riskTerms(riskRow(drawn.cf, drawn.lf, 1_000_000));
        const was = sumsOf(drawn, termsAt(risk, drawn.oracle, before));
        const is = sumsOf(drawn, termsAt(risk, drawn.oracle, trade));
        const base = drawn.base < 0n ? -drawn.base : drawn.base;
        const { band } = risk.markRule;
        assert.ok(band !== null);
        // From the one end to the other; a leg's weight is 2 at most, and 4 for initial margin; and roundings.
        const moved = ((base + drawn.spot) * drawn.oracle * 2n * band) / ONE_18 / ONE_18 + 8n;
        for (const figure of ['maintenance', 'equityMark', 'notional', 'unrealizedPnl', 'initialMark'] as const) {
          const weight = figure === 'initialMark' ? 4n : 2n;
          assert.ok(distance(is[figure], was[figure]) <= weight * moved, figure);
        }
        assert.equal(is.equityOracle, was.equityOracle);
        assert.equal(is.initialOracle, was.initialOracle);
      }),
      propertyParameters(3_000),
    );
  });
});
