// tier: quick
/** The worked example of liquidation in docs/margin.md: every figure of its table, computed (LIQ-03, LIQ-06, BKS-03, ADL-05). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { notional18, quantity18, tradingFee18 } from '../../src/core/arithmetic.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import {
  type Amount18,
  ONE_18,
  type RawPrice,
  type RawQuantity,
  type TimestampNs,
  ZERO_18,
} from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, type MarginSums } from '../../src/risk/account.ts';
import { type AssetTerms, assetTerms } from '../../src/risk/asset-terms.ts';
import { addRisk, addRiskUsd, emptyRisk, isAtRisk, zeroSurplusPrice } from '../../src/risk/at-risk.ts';
import {
  adlPrice,
  collateralToBuffer,
  isBelowInitialMargin,
  liquidationPrice,
  liquidationReference,
  lotsToBuffer,
  sumsAfter,
} from '../../src/risk/liquidation.ts';
import { afterFill, type Legs, NO_LEGS } from '../../src/risk/position.ts';
import { riskTerms } from '../../src/risk/risk-terms.ts';
import { marketOf } from '../support/market-figures.ts';

const NO_CAP = ((1n << 256n) - 1n).toString();
const FEE_RATE = 450;
const NOW = 1_800_000_000_000_000_000n as TimestampNs;
const MARKET = marketOf(0, '2');
const RISK = riskTerms({
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
});

function e18(text: string): Amount18 {
  const amount = parseDecimal18(text);
  assert.ok(amount !== null, text);
  return amount as Amount18;
}

/** Oracle and mark are the same price. */
function at(price: string): AssetTerms {
  return assetTerms(RISK, { oracle: e18(price), mark: e18(price), isBroken: false, shield: ZERO_18 }, 1_000_000n);
}

function sumsOf(usd: Amount18, legs: Legs, terms: AssetTerms): MarginSums {
  const sums = emptySums();
  addSpot(sums, null, usd);
  addPosition(sums, terms, legs);
  return sums;
}

/** Legs after a taker's fill. */
function filled(legs: Legs, sign: 1n | -1n, price: number, quantity: number): Legs {
  const [rawPrice, lots] = [(price * 100) as RawPrice, (quantity * 10_000) as RawQuantity];
  const notional = notional18(rawPrice, lots, MARKET);
  return afterFill(legs, sign * quantity18(lots, 4), notional, tradingFee18(notional, FEE_RATE));
}

/** The highest price, to the last of 18 decimals, at which the account is at risk. */
function atRiskBelow(usd: Amount18, { base, quote }: Legs): bigint {
  let [risky, safe] = [1n, 10n ** 22n];
  while (safe - risky > 1n) {
    const price = (risky + safe) / 2n;
    const sums = emptyRisk();
    addRiskUsd(sums, usd + quote);
    addRisk(sums, at(format18(price)), base);
    if (isAtRisk(sums)) risky = price;
    else safe = price;
  }
  return risky;
}

/** All figures of the example, in the order of the page. */
function computed(): readonly string[] {
  const usd = e18('300');
  const bought = filled(NO_LEGS, 1n, 2_000, 1);
  const before = sumsOf(usd, bought, at('2000')).maintenance;
  const threshold = zeroSurplusPrice(at('2000'), { base: bought.base, spot: ZERO_18 }, before);
  const price1850 = { price: e18('1850'), timeNs: NOW, isTripped: false, goodUpdates: 0 };
  const reference = liquidationReference(SIDE.sell, { oracle: price1850, mark: price1850, risk: RISK }, NOW);
  assert.ok(reference !== null && threshold !== null);
  const limit = liquidationPrice(SIDE.sell, reference, RISK, MARKET);
  const left = filled(bought, -1n, 1_840, 0.4);
  const bankrupt = sumsOf(usd, left, at('1500'));
  const credit = collateralToBuffer(bankrupt);
  const held = sumsOf((usd + credit) as Amount18, left, at('1500'));
  const later = sumsOf((usd + credit) as Amount18, left, at('1480'));
  assert.ok(isBelowInitialMargin(later));
  const price = adlPrice(SIDE.sell, { oracle: e18('1480'), mark: e18('1480') }, MARKET);
  const closing = { legs: left, terms: at('1480'), price };
  const lots = lotsToBuffer(later, closing, MARKET, 6_000 as RawQuantity);
  const after = sumsAfter(later, closing, lots, MARKET);
  assert.equal(after.equityMark - after.initialMark, e18('78.2328'), 'the requirement that the page names');
  return [
    bought.quote,
    threshold,
    atRiskBelow(usd, bought),
    sumsOf(usd, bought, at('1850')).maintenance,
    (BigInt(limit) * ONE_18) / 100n,
    left.quote,
    sumsOf(usd, left, at('1850')).maintenance,
    bankrupt.maintenance,
    bankrupt.equityMark,
    held.equityMark - held.initialMark,
    credit,
    held.equityMark,
    -credit,
    later.initialMark,
    (BigInt(price) * ONE_18) / 100n,
    quantity18(lots, 4),
    notional18(price, lots, MARKET),
    after.initialMark,
  ].map((amount) => format18(amount));
}

suite('the worked example of liquidation', () => {
  test('each figure of the page is what the node computes, to the unit (LIQ-03, LIQ-06, AMB-58, ADL-05)', () => {
    const page = readFileSync('docs/margin.md', 'utf8');
    const table = /### A worked example\n[\s\S]*?\n\| --- \|.*\n([\s\S]*?)\n\n/.exec(page)?.[1] ?? '';
    const values = table.split('\n').map((row) => row.split('|').at(-2)?.trim());
    assert.deepEqual(values, computed());
  });
});
