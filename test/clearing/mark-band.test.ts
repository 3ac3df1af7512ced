// tier: quick
/** What a wash trade of two accounts of one owner does to others (MON-06): figures without a band and with it. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assetTermsOf, riskSlot } from '../../src/clearing/risks.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { format18 } from '../../src/core/decimal.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { adlPrice, liquidationReference } from '../../src/risk/liquidation.ts';
import { MARK_STALE_NS } from '../../src/risk/prices.ts';
import { acceptedValue, codeOf, PlainTables, reply } from '../support/clearing-world.ts';
import { e18, MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../support/names.ts';

const A = { user: ALICE };
const B = { user: BOB };
/** The attacker has 100 USD and 0.01 ETH: he sells to himself. */
const SELF = { user: CAROL, subAccount: 0, isSpot: true };

/** Alice is long 1 ETH at 2000 with 1000 USD behind it, Bob short with 100,000. */
function world(markBand: string | null, risk: Readonly<Record<string, unknown>> = {}): MarginWorld {
  const made = MarginWorld.make(risk);
  acceptedValue(made.put('putAsset', ETH, { mark_band: markBand }, 'patch'));
  made.fund(ALICE, USD, '1000', 1);
  made.fund(BOB, USD, '100000', 1);
  made.fund(CAROL, USD, '100');
  made.fund(CAROL, ETH, '0.01');
  assert.equal(made.trade({ buyer: A, seller: B, price: 2000, quantity: 1 }), 'confirmed');
  return made;
}

/** 0.01 ETH for 0.10 USD in all: Carol to Carol. */
function wash(of: MarginWorld, price = 10): void {
  assert.equal(of.trade({ buyer: SELF, seller: SELF, price, quantity: 0.01 }), 'confirmed');
}

function bandAge(of: MarginWorld, ms: number): void {
  const value = { mark_band_age_ms: ms };
  const change = { config: 'settings' as const, method: 'patch' as const, value };
  acceptedValue(reply(of.send({ kind: 'putConfig', request: of.request(), change })));
}

suite('a trade of 0.10 USD with oneself', () => {
  test('MON-06: moves equity and initial margin of others by the band, before by all that they have', () => {
    const figures = (markBand: string | null): readonly string[] => {
      const one = world(markBand);
      wash(one);
      const { equity, initialSurplus, unrealizedPnl } = one.figures(ALICE);
      return [equity, initialSurplus, unrealizedPnl].map(format18);
    };
    assert.deepEqual(figures('none'), ['-991', '-992', '-1991']);
    // 2000 / 1.05 = 1904.76…: 95.24 USD and not 1990.
    assert.deepEqual(figures(null), ['903.761904761904762', '713.2857142857142858', '-96.238095238095238']);
  });

  test('MON-06: no bankrupt account hides behind it', () => {
    // Bob is short 1 ETH with 100 USD of his own left when the oracle doubles; the trade at 10 makes the debt look small.
    const isFound = (markBand: string | null): boolean => {
      const one = world(markBand);
      one.fund(BOB, USD, '-99900', 1);
      one.prices({ [ETH]: '4000' });
      wash(one);
      return one.figures(BOB).isLiquidatable;
    };
    assert.equal(isFound('none'), false);
    assert.equal(isFound(null), true);
  });

  test('LIQ-07, MON-06: it moves no price of a liquidation order, and that of deleveraging by the band; behind an old oracle both', () => {
    const prices = (markBand: string | null, oracleAgeNs = 0n): readonly string[] => {
      const one = world(markBand);
      one.pass(oracleAgeNs);
      // A mark of before is stale by then, and three good ones heal it.
      for (let trade = 0; trade < 3; trade += 1) wash(one);
      const slot = riskSlot(one.state, ETH);
      const reference = liquidationReference(SIDE.sell, slot, one.nowNs);
      assert.ok(reference !== null);
      const deleveraged = adlPrice(SIDE.buy, assetTermsOf(slot, one.nowNs).prices, { priceDecimals: 2 });
      return [format18(reference), String(deleveraged / 100)];
    };
    assert.deepEqual(prices('none'), ['2000', '10']);
    assert.deepEqual(prices(null), ['2000', '1904.76']);
    // `mark_band_age_ms`, 120 s: to the nanosecond.
    assert.deepEqual(prices(null, 120_000_000_000n), ['2000', '1904.76']);
    assert.deepEqual(prices(null, 120_000_000_001n), ['10', '10']);
  });

  test('MON-06: a cap in USD is not used up by it', () => {
    const cap = { max_total_open_interest_notional: e18('5000').toString() };
    const others = { buyer: A, seller: B, price: 2000, quantity: 0.1 };
    for (const [markBand, expected] of [
      ['none', ['ProtocolCapBreach', 'ProtocolCapBreach']],
      [null, 'confirmed'],
    ] as const) {
      const one = world(markBand, cap);
      one.fund(CAROL, USD, '1000');
      wash(one, 100_000);
      assert.deepEqual(one.trade(others), expected);
    }
  });

  test('MON-06: the band ends with the age of the oracle, by the setting', () => {
    const one = world(null);
    bandAge(one, 1_000);
    one.pass(1_000_000_000n);
    wash(one);
    assert.equal(format18(assetTermsOf(riskSlot(one.state, ETH), one.nowNs).prices.mark), '1904.761904761904762');
    one.pass(1n);
    assert.equal(format18(assetTermsOf(riskSlot(one.state, ETH), one.nowNs).prices.mark), '10');
    bandAge(one, 120_000);
    assert.equal(format18(assetTermsOf(riskSlot(one.state, ETH), one.nowNs).prices.mark), '1904.761904761904762');
    one.pass(MARK_STALE_NS);
    assert.equal(format18(assetTermsOf(riskSlot(one.state, ETH), one.nowNs).prices.mark), '2000');
  });
});

suite('mark_min_notional of an asset (operator-api.md 4.1)', () => {
  const minimum = (of: MarginWorld, usd: string): void =>
    void acceptedValue(of.put('putAsset', ETH, { mark_min_notional: usd }, 'patch'));
  const markOf = (of: MarginWorld): string => format18(assetTermsOf(riskSlot(of.state, ETH), of.nowNs).prices.mark);

  test('MON-06: a smaller match sets no mark; fills of one taker in one match count together, those of others do not', () => {
    const one = world('none');
    minimum(one, '100');
    assert.equal(markOf(one), '2000');
    const makers = [2001, 2002, 2003].map((price) => one.place(SIDE.sell, B, price, 0.02));
    const taker = one.place(SIDE.buy, A, 2100, 0.2);
    const marks = makers.map((maker, at) => {
      assert.equal(one.outcome(one.matchOf(maker, taker, 2001 + at, 0.02)), 'confirmed');
      return markOf(one);
    });
    // 40.02, 80.06, and 120.12 with the third.
    assert.deepEqual(marks, ['2000', '2000', '2003']);
    for (const price of [2010, 2011, 2012]) {
      assert.equal(one.trade({ buyer: A, seller: B, price, quantity: 0.02 }), 'confirmed');
      assert.equal(markOf(one), '2003', 'three takers');
    }
    one.pass(1n);
    assert.equal(one.outcome(one.matchOf(one.place(SIDE.sell, B, 2020, 0.02), taker, 2020, 0.02)), 'confirmed');
    assert.equal(markOf(one), '2003', 'another match of the same taker');
    assert.equal(one.trade({ buyer: A, seller: B, price: 2030, quantity: 0.05 }), 'confirmed');
    assert.equal(markOf(one), '2030');
  });

  test('MON-06: what is rolled back counts for nothing', () => {
    const one = world('none');
    minimum(one, '100');
    // Carol has no ETH for the first of the two: 1800 USD of it are undone.
    const makers = [one.place(SIDE.sell, SELF, 1800, 1), one.place(SIDE.sell, SELF, 1800, 0.01)];
    const taker = one.place(SIDE.buy, A, 1900, 1.01);
    const [first, second] = makers.map((maker, at) =>
      one.outcome(one.matchOf(maker, taker, 1800, at === 0 ? 1 : 0.01)),
    );
    assert.deepEqual([first, second], [['InsufficientInventory', 'CounterpartyAtFault'], 'confirmed']);
    assert.equal(markOf(one), '2000');
  });

  test('MON-06: smaller matches heal no breaker', () => {
    const one = world('none');
    one.pass(MARK_STALE_NS + 1n);
    minimum(one, '100');
    const small = { buyer: A, seller: B, price: 2050, quantity: 0.01 };
    const enough = { ...small, quantity: 0.05 };
    for (const terms of [small, small, small, enough, small, enough, small]) {
      assert.equal(one.trade(terms), 'confirmed');
      assert.equal(markOf(one), '2000');
    }
    assert.equal(one.trade(enough), 'confirmed');
    assert.equal(markOf(one), '2050');
  });

  test('MON-06: a match that began before a checkpoint goes on behind it', () => {
    const one = world('none');
    minimum(one, '100');
    const makers = [2001, 2002].map((price) => one.place(SIDE.sell, B, price, 0.03));
    const taker = one.place(SIDE.buy, A, 2100, 0.2);
    one.matchOf(makers[0] ?? taker, taker, 2001, 0.03);
    const tables = new PlainTables();
    tables.checkpoint(one.state);
    const again = tables.load();
    assert.equal(stateHash(again), stateHash(one.state));
    assert.equal(again.markets[0]?.match.notional, e18('60.03'));
    one.matchOf(makers[1] ?? taker, taker, 2002, 0.03);
    assert.equal(markOf(one), '2002');
  });

  test('MON-06: no minimum is negative, and of USD there is none', () => {
    const one = MarginWorld.make();
    for (const [asset, given] of [
      [ETH, '-1'],
      [ETH, null],
      [ETH, 100],
      [USD, '1'],
    ] as const) {
      const answer = one.put('putAsset', asset, { mark_min_notional: given }, 'patch');
      assert.deepEqual(answer.ok ? [] : [codeOf(answer), answer.reject.field], [
        'INVALID_REQUEST',
        'mark_min_notional',
      ]);
    }
    const given = acceptedValue(one.put('putAsset', ETH, { mark_min_notional: '100.0' }, 'patch'));
    assert.equal(given['mark_min_notional'], '100');
    assert.equal(acceptedValue(one.put('putAsset', ETH, { symbol: 'ETH' }))['mark_min_notional'], '0');
  });
});

suite('mark_band of an asset (operator-api.md 4.1)', () => {
  test('MON-06: a band wider than the factors permit is refused with its member, given with the asset or with the factors', () => {
    const one = MarginWorld.make();
    const fault = (markBand: unknown, asset = ETH): readonly (string | undefined)[] => {
      const answer = one.put('putAsset', asset, { mark_band: markBand }, 'patch');
      return answer.ok ? [] : [answer.reject.code, answer.reject.field];
    };
    const refused = ['INVALID_REQUEST', 'mark_band'];
    assert.deepEqual(fault('0.047619047619047619'), []);
    assert.deepEqual(fault('0.04761904761904762'), refused);
    for (const malformed of ['-0.01', '1', 'None', 0.01, '0.0000000000000000001', '']) {
      assert.deepEqual(fault(malformed), refused, String(malformed));
    }
    assert.deepEqual(fault('0.04'), []);
    assert.deepEqual(fault('0.04', USD), refused, 'nothing reads a mark of USD');
    // 1 − 1/1.04 is 0.038…
    const narrow = one.put('putRisk', ETH, { liability_factor: 96 }, 'patch');
    assert.deepEqual(narrow.ok ? [] : [codeOf(narrow), narrow.reject.field], refused);
    acceptedValue(one.put('putAsset', ETH, { mark_band: null }, 'patch'));
    acceptedValue(one.put('putRisk', ETH, { liability_factor: 96 }, 'patch'));
    assert.equal(acceptedValue(one.put('putAsset', BTC, { symbol: 'BTC', mark_band: 'none' }))['mark_band'], 'none');
    assert.equal(
      acceptedValue(one.put('putAsset', BTC, { symbol: 'BTC' }))['mark_band'],
      null,
      'a PUT has its default',
    );
  });
});
