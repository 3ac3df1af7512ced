// tier: quick
/** Accounts at risk: who is, at which price they are liquidated, and the sums of a side (AMB-62, wire.md G14). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { AT_RISK_ASSETS_MAX } from '../../src/core/limits.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../src/core/units.ts';
import { type AssetTerms, assetTerms } from '../../src/risk/asset-terms.ts';
import {
  AtRiskTotals,
  addRisk,
  addRiskUsd,
  emptyRisk,
  isAtRisk,
  maintenanceRequirement,
  type RiskSums,
  sameAtRisk,
  zeroSurplusPrice,
} from '../../src/risk/at-risk.ts';
import { riskTerms } from '../../src/risk/risk-terms.ts';
import { propertyParameters } from '../support/property.ts';

const NO_CAP = ((1n << 256n) - 1n).toString();
const NOW = 7n as TimestampNs;

function usd(text: string): Amount18 {
  const amount = parseDecimal18(text);
  assert.ok(amount !== null, text);
  return amount as Amount18;
}

function terms(
  factors: { readonly cf: number; readonly lf: number },
  prices: { readonly oracle: Amount18; readonly mark: Amount18; readonly isBroken?: boolean },
): AssetTerms {
  const risk = riskTerms({
    collateral_factor: factors.cf,
    liability_factor: factors.lf,
    max_collateral: NO_CAP,
    max_total_open_interest_notional: NO_CAP,
    max_spot_open_interest: NO_CAP,
    max_utilization: '1000000000000000000',
    isolated_only: false,
    initial_margin_clamps: [0],
    initial_margin_factors: [1_000_000],
    min_sub_account_balance: '0',
  });
  return assetTerms(risk, { isBroken: false, shield: usd('0'), ...prices }, 1_000_000n);
}

const eth = (price: string, mark = price, isBroken = false): AssetTerms =>
  terms({ cf: 90, lf: 95 }, { oracle: usd(price), mark: usd(mark), isBroken });

/** USD, then legs of ETH. */
function sumsOf(cash: string, ...legs: readonly (readonly [AssetTerms, string])[]): RiskSums {
  const sums = emptyRisk();
  addRiskUsd(sums, usd(cash));
  for (const [asset, amount] of legs) addRisk(sums, asset, usd(amount));
  return sums;
}

suite('an account at risk', () => {
  test('AMB-62: the requirement is what the factors take away: long size × (1 − CF), short size × (1 − LF)', () => {
    const long = sumsOf('-2500', [eth('3000'), '1']);
    assert.deepEqual([format18(long.maintenance as Amount18), format18(maintenanceRequirement(long))], ['200', '300']);
    const short = sumsOf('3500', [eth('3000'), '-1']);
    assert.deepEqual(
      [format18(short.maintenance as Amount18), format18(maintenanceRequirement(short))],
      ['350', '150'],
    );
  });

  test('AMB-62: it counts below 10 % of the requirement and not at 10 %; a credit at the higher price, a borrow at the lower', () => {
    assert.equal(isAtRisk(sumsOf('-2670', [eth('3000'), '1'])), false, 'surplus 30 of 300');
    assert.equal(isAtRisk(sumsOf('-2670.000000000000000001', [eth('3000'), '1'])), true);
    assert.equal(isAtRisk(sumsOf('-2670', [eth('2900', '3000'), '1'])), false, 'the mark is higher');
    assert.equal(isAtRisk(sumsOf('3165', [eth('3000', '3300'), '-1'])), false, 'the oracle is lower');
    assert.equal(isAtRisk(sumsOf('3164.999999999999999999', [eth('3000', '3300'), '-1'])), true);
  });

  test('decisions-liquidation 26: accounts below maintenance count, without borrows none does', () => {
    assert.equal(isAtRisk(sumsOf('-9000', [eth('3000'), '1'])), true, 'bankrupt');
    assert.equal(isAtRisk(sumsOf('0', [eth('3000'), '1'])), false);
    assert.equal(isAtRisk(sumsOf('0')), false);
  });

  test('AMB-44: a broken credit is worth nothing and requires nothing', () => {
    const sums = sumsOf('-100', [eth('3000', '3000', true), '1']);
    assert.equal(maintenanceRequirement(sums), 0n);
    assert.equal(isAtRisk(sums), true);
  });

  test('the requirement is never below zero but for one unit a leg, whatever the prices', () => {
    const price = fc.bigInt({ min: 1n, max: 10n ** 24n });
    const factor = fc.integer({ min: 0, max: 100 });
    const leg = fc.record({
      cf: factor,
      lf: factor,
      oracle: price,
      mark: price,
      isBroken: fc.boolean(),
      amount: fc.bigInt(-(10n ** 27n), 10n ** 27n),
    });
    fc.assert(
      fc.property(fc.array(leg, { minLength: 1, maxLength: 6 }), fc.bigInt(-(10n ** 30n), 10n ** 30n), (legs, cash) => {
        const sums = emptyRisk();
        addRiskUsd(sums, cash);
        for (const { cf, lf, oracle, mark, isBroken, amount } of legs) {
          addRisk(sums, terms({ cf, lf }, { oracle: oracle as Amount18, mark: mark as Amount18, isBroken }), amount);
        }
        assert.ok(maintenanceRequirement(sums) >= -BigInt(legs.length));
      }),
      propertyParameters(),
    );
  });
});

suite('the price that liquidates', () => {
  test('it is where the surplus is zero: at it and on its safe side there is none missing, one unit beyond there is', () => {
    const amount = fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n });
    const parts = fc.record({
      cf: fc.integer({ min: 1, max: 99 }),
      lf: fc.integer({ min: 1, max: 100 }),
      base: amount,
      spot: fc.bigInt({ min: 0n, max: 10n ** 20n }),
      cash: fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
    });
    let found = 0;
    fc.assert(
      fc.property(parts, fc.bigInt({ min: 10n ** 15n, max: 10n ** 22n }), ({ cf, lf, base, spot, cash }, now) => {
        const at = (price: bigint): bigint => {
          const sums = emptyRisk();
          const asset = terms({ cf, lf }, { oracle: price as Amount18, mark: price as Amount18 });
          addRiskUsd(sums, cash);
          addRisk(sums, asset, base);
          addRisk(sums, asset, spot);
          return sums.maintenance;
        };
        const asset = terms({ cf, lf }, { oracle: now as Amount18, mark: now as Amount18 });
        const price = zeroSurplusPrice(asset, { base, spot }, at(now));
        if (price === null) return;
        found += 1;
        // The surplus is a sum of floored terms, so that it is zero but for a unit of each and what a unit of the price moves.
        const slack = 4n + ((base < 0n ? -base : base) + spot) / 10n ** 17n;
        const surplus = at(price);
        assert.ok(surplus >= -slack && surplus <= slack, `${surplus} at ${price}`);
      }),
      propertyParameters(),
    );
    assert.ok(found > 20, `${found} accounts have a price`);
  });

  test('decisions-liquidation 26: it is floored, of a long and of a short', () => {
    const long = zeroSurplusPrice(eth('3000'), { base: ONE_18, spot: 0n }, usd('700'));
    assert.equal(long, (2_000n * ONE_18 * 10n) / 9n, '2000 / 0.9');
    const short = zeroSurplusPrice(eth('3000'), { base: -ONE_18, spot: 0n }, usd('50'));
    assert.equal(short, (3_200n * ONE_18 * 100n) / 105n, '3200 / 1.05');
  });

  test('there is none for an account that no price liquidates, nor without a position', () => {
    assert.equal(zeroSurplusPrice(eth('3000'), { base: ONE_18, spot: 0n }, usd('5000')), null, 'more cash than debt');
    assert.equal(zeroSurplusPrice(eth('3000'), { base: 0n, spot: ONE_18 }, usd('100')), null);
    assert.equal(format18(zeroSurplusPrice(eth('3000'), { base: ONE_18, spot: 0n }, usd('0')) ?? usd('-1')), '3000');
  });
});

suite('the aggregate', () => {
  test('AMB-62: a side is the sum of its quantities; its price the average by quantity of those that have one, floored', () => {
    const totals = new AtRiskTotals();
    totals.add('12' as AssetId, usd('1'), usd('2900'));
    totals.add('12' as AssetId, usd('2'), usd('3000'));
    totals.add('12' as AssetId, usd('5'), null);
    totals.add('2' as AssetId, usd('-3'), null);
    const { assets, timestampNs } = totals.view(NOW);
    assert.equal(timestampNs, NOW);
    assert.deepEqual(
      assets.map(({ assetId, long, short }) => [assetId, long, short]),
      [
        ['2', { quantity: 0n, liquidationPrice: null }, { quantity: usd('3'), liquidationPrice: null }],
        [
          '12',
          { quantity: usd('8'), liquidationPrice: usd('2966.666666666666666666') },
          { quantity: 0n, liquidationPrice: null },
        ],
      ],
    );
  });

  test('the order in which accounts are added changes nothing', () => {
    const one = fc.tuple(
      fc.constantFrom('1', '2', '12'),
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).filter((base) => base !== 0n),
      fc.option(fc.bigInt({ min: 1n, max: 10n ** 24n })),
    );
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), (accounts) => {
        const view = (list: typeof accounts): ReturnType<AtRiskTotals['view']> => {
          const totals = new AtRiskTotals();
          for (const [asset, base, price] of list) totals.add(asset as AssetId, base, price as Amount18 | null);
          return totals.view(NOW);
        };
        assert.deepEqual(view(accounts), view([...accounts].reverse()));
        assert.ok(sameAtRisk(view(accounts), { ...view(accounts), timestampNs: 8n as TimestampNs }));
      }),
      propertyParameters(),
    );
  });

  test('two aggregates differ where a quantity, a price or an asset does; the number of assets is bounded', () => {
    const view = (assets: number, base: bigint, price: Amount18 | null): ReturnType<AtRiskTotals['view']> => {
      const totals = new AtRiskTotals();
      for (let asset = 1; asset <= assets; asset += 1) totals.add(String(asset) as AssetId, base, price);
      return totals.view(NOW);
    };
    const one = view(1, ONE_18, usd('5'));
    for (const other of [
      view(2, ONE_18, usd('5')),
      view(1, 2n, usd('5')),
      view(1, ONE_18, null),
      view(1, -ONE_18, usd('5')),
    ]) {
      assert.equal(sameAtRisk(one, other), false);
    }
    assert.equal(view(AT_RISK_ASSETS_MAX + 10, ONE_18, null).assets.length, AT_RISK_ASSETS_MAX);
  });
});
