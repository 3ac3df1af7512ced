// tier: quick
/** The worked examples of margin, digit by digit. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { ORDER_KIND, type OrderKind, SIDE, type Side } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, TimestampNs } from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, figuresOf, initialSurplus } from '../../src/risk/account.ts';
import { type AssetTerms, assetTerms, weighedLeg } from '../../src/risk/asset-terms.ts';
import { capacityOf, exposureOf, marketPrice, offsetLots, requirementOf } from '../../src/risk/exposure.ts';
import { type Exposure, ExposureQueue, newExposureEntry } from '../../src/risk/exposure-queue.ts';
import { afterFill, entryPrice, type Legs, NO_LEGS, reduces } from '../../src/risk/position.ts';
import {
  assetPrices,
  MARK_STALE_NS,
  nextSource,
  ORACLE_STALE_NS,
  type PriceSource,
  USD_PRICES,
} from '../../src/risk/prices.ts';
import { imFactor, type RiskRow, riskTerms, termsOfRow } from '../../src/risk/risk-terms.ts';
import { marketOf } from '../support/market-figures.ts';

const NO_CAP = ((1n << 256n) - 1n).toString();

function usd(text: string): Amount18 {
  const amount = parseDecimal18(text);
  assert.ok(amount !== null);
  return amount as Amount18;
}

function row(changes: Partial<RiskRow>): RiskRow {
  return {
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
  };
}

function terms(changes: Partial<RiskRow>, oracle: string, mark = oracle, isBroken = false): AssetTerms {
  const risk = riskTerms(row(changes));
  const prices = { oracle: usd(oracle), mark: usd(mark), isBroken, shield: usd(isBroken ? oracle : '0') };
  return assetTerms(risk, prices, risk.factors[0] ?? 0n);
}

function legs(base: string, quote: string): Legs {
  return { base: usd(base), quote: usd(quote), entry: 0n as Amount18 };
}

suite('margin: worked examples', () => {
  test('a leg is rounded once, a credit down and a borrow up (EX-00, AMB-46, MRG-03, MRG-04)', () => {
    const small = terms({ collateral_factor: 80, liability_factor: 94 }, '1.5');
    assert.equal(weighedLeg(small, 5n, 'maintenance'), 6n);
    assert.equal(weighedLeg(small, -5n, 'maintenance'), -8n);
    const credit = terms({ collateral_factor: 85, initial_margin_factors: [970_000] }, '2000.01');
    assert.equal(weighedLeg(credit, 333333333333333333n, 'maintenance'), 566669499999999999433n);
    assert.equal(weighedLeg(credit, 333333333333333333n, 'initialOracle'), 549669414999999999450n);
    const borrow = terms({ liability_factor: 93, initial_margin_factors: [970_000] }, '1999.99');
    assert.equal(weighedLeg(borrow, -333333333333333333n, 'maintenance'), -713329766666666665954n);
    assert.equal(weighedLeg(borrow, -333333333333333333n, 'initialMark'), -734729659666666665932n);
  });

  test('the figures of a long account, oracle and mark apart (EX-03, MRG-06 to MRG-09, AMB-129)', () => {
    const eth = terms({ liability_factor: 92, initial_margin_factors: [950_000] }, '2000', '1990');
    const sums = emptySums();
    addSpot(sums, null, usd('600'));
    addPosition(sums, eth, legs('2', '-4000'));
    const figures = figuresOf(sums);
    assert.equal(format18(figures.maintenanceSurplus), '200');
    assert.equal(format18(sums.initialOracle), '20');
    assert.equal(format18(sums.initialMark), '2.9');
    assert.equal(format18(figures.initialSurplus), '2.9');
    assert.equal(format18(figures.equity), '580');
    assert.equal(format18(figures.bindingEquity - figures.initialSurplus), '577.1');
    assert.equal(format18(figures.leverage ?? -1n), '6.862068965517241379');
    assert.equal(format18(figures.unrealizedPnl), '-20');
    assert.ok(figures.hasBorrows && figures.isSolvent && !figures.isLiquidatable);
  });

  test('leverage is null when equity is not above zero (AMB-48)', () => {
    const at = (usdText: string): string | null => {
      const sums = emptySums();
      addSpot(sums, null, usd(usdText));
      addPosition(sums, terms({}, '2000'), legs('1', '-2000'));
      const { leverage } = figuresOf(sums);
      return leverage === null ? null : format18(leverage);
    };
    assert.deepEqual([at('0'), at('0.000000000000000001'), at('1000')], [null, '2000000000000000000000', '2']);
  });

  test('USD is worth its amount, whatever stands in its row (MRG-02)', () => {
    const given = termsOfRow('0', row({ collateral_factor: 50, liability_factor: 50, initial_margin_factors: [1] }));
    const plain = assetTerms(given, USD_PRICES, imFactor(given, { credits: 0n, borrows: 0n }));
    for (const figure of ['maintenance', 'initialOracle', 'initialMark'] as const) {
      for (const amount of [7n, -7n]) assert.equal(weighedLeg(plain, amount, figure), amount);
    }
  });

  test('a short is solvent to the last tick (EX-07, MRG-10, LIQ-03)', () => {
    const at = (mark: string): bigint => {
      const sums = emptySums();
      addSpot(sums, null, usd('1000'));
      addPosition(sums, terms({ liability_factor: 92 }, '2500', mark), legs('-1.5', '3000'));
      assert.equal(figuresOf(sums).isLiquidatable, sums.maintenance < 0n);
      return sums.maintenance;
    };
    assert.equal(format18(at('2469')), '0.22');
    assert.equal(format18(at('2470')), '-1.4');
  });

  test('broken collateral counts nothing, its borrow in full, and shields (EX-21, CB-04, CB-05, AMB-44, AMB-45)', () => {
    const sums = (ethBroken: boolean, btcBroken: boolean): ReturnType<typeof emptySums> => {
      const all = emptySums();
      addSpot(all, terms({}, '2000', '2000', ethBroken), usd('2'));
      addPosition(all, terms({ liability_factor: 96 }, '50000', '50000', btcBroken), legs('-0.05', '2500'));
      return all;
    };
    assert.equal(format18(sums(false, false).maintenance), '3500');
    assert.equal(format18(sums(false, true).maintenance), '3500');
    assert.equal(format18(sums(true, false).maintenance), '-100');
    assert.equal(figuresOf(sums(true, false)).isLiquidatable, false);
    const dust = emptySums();
    addSpot(dust, terms({}, '2000', '2000', true), usd('0.000499999999999999'));
    addPosition(dust, terms({}, '50000'), legs('-0.05', '2500'));
    assert.equal(figuresOf(dust).isLiquidatable, true);
  });
});

suite('margin: exposure of open orders (EX-05)', () => {
  const ETH = { ...marketOf(0, '1'), takerFeeRate: 500 };
  const eth = terms({}, '2000');
  const btc = terms({ collateral_factor: 95, liability_factor: 96, initial_margin_factors: [900_000] }, '50000');

  function limit(price: number, lots: number): Exposure {
    const order = {
      kind: ORDER_KIND.limit,
      price: price as RawPrice,
      amount: 0,
      filledQuantity: 0,
      filledNotional: 0n,
    };
    return exposureOf(order, lots, 0n, ETH);
  }

  function counted(offset: number, orders: readonly Exposure[]): bigint {
    const queue = new ExposureQueue();
    queue.setOffset(offset);
    orders.forEach((exposure, at) => void queue.set(newExposureEntry(null, at + 1), exposure));
    return queue.counted;
  }

  function side(which: Side, asset: AssetTerms, base: string, orders: readonly Exposure[]): string {
    const offset = offsetLots(which, usd(base), ETH.quantityDecimals);
    return format18(requirementOf(which, counted(offset, orders), asset, ETH.takerFeeRate));
  }

  test('only lots that raise the risk need margin, and only they pay a fee (MRG-17 to MRG-21, AMB-49)', () => {
    assert.equal(side(SIDE.buy, eth, '-2', [limit(199_000, 30_000)]), '199.995');
    assert.equal(side(SIDE.sell, btc, '0', [limit(5_100_000, 10_000)]), '7369.5');
    assert.equal(side(SIDE.buy, btc, '0', [limit(4_900_000, 10_000)]), '7129.5');
    assert.equal(side(SIDE.sell, btc, '0', [limit(5_100_000, 10_000), limit(5_100_000, 5_000)]), '11054.25');
    assert.equal(side(SIDE.sell, btc, '1.5', [limit(5_100_000, 10_000), limit(5_100_000, 5_000)]), '0');
  });

  test('the heavier side is taken from the surplus once (MRG-16, MRG-23)', () => {
    const sums = emptySums();
    addSpot(sums, null, usd('10000'));
    addPosition(sums, eth, legs('-2', '4000'));
    assert.equal(format18(initialSurplus(sums)), '9800');
    assert.equal(format18(capacityOf(initialSurplus(sums), usd('7329.495'), usd('7369.5'))), '2430.5');
  });

  test('the offset is used up in the order of admission (AMB-50)', () => {
    const [first, second] = [limit(200_000, 15_000), limit(100_000, 15_000)];
    assert.equal(side(SIDE.buy, eth, '-2', [first, second]), format18(requirementOf(SIDE.buy, usd('1000'), eth, 500)));
    assert.equal(side(SIDE.buy, eth, '-2', [second, first]), format18(requirementOf(SIDE.buy, usd('2000'), eth, 500)));
  });

  test('a market order counts at the higher price, at its cap, or at its amount (AMB-49)', () => {
    const apart = terms({}, '2000', '1990');
    const open = (kind: OrderKind, amount: number, lots: number): Exposure => {
      const order = { kind, price: 0 as RawPrice, amount, filledQuantity: 0, filledNotional: 0n };
      return exposureOf(order, lots, marketPrice(apart), ETH);
    };
    assert.equal(counted(0, [open(ORDER_KIND.marketBase, 0, 20_000)]), usd('4000'));
    assert.equal(counted(5_000, [open(ORDER_KIND.marketBase, 50_000_000, 20_000)]), usd('3750'));
    const quote = open(ORDER_KIND.marketQuote, 50_000_000, 0);
    const offsets = [0, 10_000, 30_000];
    assert.deepEqual(
      offsets.map((offset) => counted(offset, [quote])),
      [usd('5000'), usd('3000'), 0n],
    );
  });

  test('lots of a position offset the other side only (MRG-19, MRG-20)', () => {
    assert.equal(offsetLots(SIDE.buy, usd('-2'), 4), 20_000);
    assert.equal(offsetLots(SIDE.sell, usd('-2'), 4), 0);
    assert.equal(offsetLots(SIDE.sell, usd('2'), 4), 20_000);
  });
});

suite('margin: positions', () => {
  test('average cost grows with buys, shrinks in proportion and starts anew at a flip (AMB-59)', () => {
    let position = afterFill(NO_LEGS, usd('2'), usd('3980'), usd('1.99'));
    assert.deepEqual(position, { base: usd('2'), quote: usd('-3981.99'), entry: usd('3980') });
    position = afterFill(position, usd('2'), usd('4020'), usd('2.01'));
    assert.equal(format18(entryPrice(position) ?? 0n), '2000');
    position = afterFill(position, usd('-3'), usd('6300'), 0n as Amount18);
    assert.equal(format18(entryPrice(position) ?? 0n), '2000');
    position = afterFill(position, usd('-3'), usd('6600'), 0n as Amount18);
    assert.deepEqual([position.base, position.entry], [usd('-2'), usd('4400')]);
    position = afterFill(position, usd('2'), usd('4000'), 0n as Amount18);
    assert.deepEqual([position.base, position.entry, entryPrice(position)], [0n, 0n, null]);
  });

  test('closing at a gain and at a loss leaves the quote leg of EX-23', () => {
    const roundTrip = (bought: string, buyFee: string, sold: string, sellFee: string): string => {
      const long = afterFill(NO_LEGS, usd('2'), usd(bought), usd(buyFee));
      return format18(afterFill(long, usd('-2'), usd(sold), usd(sellFee)).quote);
    };
    assert.equal(roundTrip('3980', '1.99', '4020', '2.01'), '36');
    assert.equal(roundTrip('4020', '2.01', '3980', '1.99'), '-44');
  });

  test('a reducing fill neither grows nor flips (TIF-08, MRG-14)', () => {
    assert.ok(reduces(5n, -5n) && reduces(-5n, 2n));
    assert.ok(!reduces(5n, -6n) && !reduces(5n, 1n) && !reduces(-5n, -1n) && !reduces(0n, 1n) && !reduces(0n, -1n));
  });
});

suite('margin: factors and breakers', () => {
  test('the factor steps down at its clamps and is the floor without headroom (AMB-53, MRG-05, CAP-06)', () => {
    const risk = riskTerms(
      row({
        max_spot_open_interest: usd('1000').toString(),
        initial_margin_clamps: [0, 500_000, 750_000, 900_000],
        initial_margin_factors: [999_999, 950_000, 900_000, 800_000],
      }),
    );
    const at = (credits: string, borrows: string): bigint =>
      imFactor(risk, { credits: usd(credits), borrows: usd(borrows) });
    assert.equal(at('0', '0'), 1_000_000n);
    assert.equal(at('499.999999999999999999', '0'), 1_000_000n);
    assert.equal(at('0', '500'), 950_000n);
    assert.equal(at('2000', '1250'), 900_000n);
    assert.equal(at('900', '0'), 800_000n);
    assert.equal(at('5000', '0'), 800_000n);
    const nothing = riskTerms({
      ...row({ max_spot_open_interest: '0' }),
      initial_margin_clamps: [0, 1],
      initial_margin_factors: [1, 0],
    });
    assert.equal(imFactor(nothing, { credits: 0n, borrows: 0n }), 0n);
  });

  const HOUR = ORACLE_STALE_NS;
  const NO_BAND = { band: null, bandAgeNs: 0n };
  const price = usd('2000');

  function feed(times: readonly bigint[], last: PriceSource | null = null): PriceSource | null {
    let source = last;
    for (const time of times) {
      const timeNs = time as TimestampNs;
      source = nextSource(source, price, timeNs, { staleNs: HOUR, recoveryUpdates: 3, nowNs: timeNs });
    }
    return source;
  }

  test('an oracle is broken after an hour, and heals with the third update in a row (CB-01, CB-03, AMB-44)', () => {
    const broken = (source: PriceSource | null, now: bigint): boolean =>
      assetPrices(source, null, NO_BAND, now as TimestampNs).isBroken;
    assert.equal(broken(null, 1n), true);
    assert.equal(broken(feed([1n]), 1n + HOUR), false);
    assert.equal(broken(feed([1n]), 2n + HOUR), true);
    const late = 2n + HOUR;
    assert.equal(broken(feed([1n, late]), late), true);
    assert.equal(broken(feed([1n, late, late + 1n]), late + 1n), true);
    assert.equal(broken(feed([1n, late, late + 1n, late + 2n]), late + 2n), false);
    const gap = late + 2n + 2n * HOUR;
    assert.equal(broken(feed([1n, late, late + 1n, gap, gap + 1n]), gap + 1n), true);
    assert.equal(broken(feed([1n, late, late + 1n, gap, gap + 1n, gap + 2n]), gap + 2n), false);
  });

  test('a stale update heals nothing (CB-03)', () => {
    const source = nextSource(feed([1n]), price, 2n as TimestampNs, {
      staleNs: HOUR,
      recoveryUpdates: 1,
      nowNs: (2n * HOUR) as TimestampNs,
    });
    assert.deepEqual([source.isTripped, source.goodUpdates], [true, 0]);
  });

  test('without a usable mark the oracle stands in; a broken asset keeps its last price (CB-02, AMB-43, AMB-126)', () => {
    const mark: PriceSource = { price: usd('1995'), timeNs: 10n as TimestampNs, isTripped: false, goodUpdates: 0 };
    const oracle = feed([10n]);
    const at = (now: bigint, of: PriceSource | null, by: PriceSource | null): readonly string[] => {
      const prices = assetPrices(of, by, NO_BAND, now as TimestampNs);
      return [format18(prices.oracle), format18(prices.mark), String(prices.isBroken)];
    };
    assert.deepEqual(at(10n + MARK_STALE_NS, oracle, mark), ['2000', '1995', 'false']);
    assert.deepEqual(at(11n + MARK_STALE_NS, oracle, mark), ['2000', '2000', 'false']);
    assert.deepEqual(at(10n, oracle, { ...mark, isTripped: true }), ['2000', '2000', 'false']);
    const later = 11n + HOUR;
    assert.deepEqual(at(later, oracle, { ...mark, timeNs: later as TimestampNs }), ['2000', '1995', 'true']);
    assert.deepEqual(at(later, null, mark), ['1995', '1995', 'true']);
  });
});
