// tier: quick
/** Fills of margin orders: legs, margin, reduce-only, prices, caps. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { format18 } from '../../src/core/decimal.ts';
import { ORDER_END, SIDE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS } from '../../src/risk/prices.ts';
import { codeOf, effectsOf, FEES } from '../support/clearing-world.ts';
import { e18, MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../support/names.ts';

const A = { user: ALICE };
const B = { user: BOB };

/** Alice and Bob with 10000 USD in account 1 each. */
function funded(risk: Readonly<Record<string, unknown>> = {}): MarginWorld {
  const world = MarginWorld.make(risk);
  for (const user of [ALICE, BOB]) world.fund(user, USD, '10000', 1);
  return world;
}

suite('margin fills', () => {
  test('a fill moves the asset leg and the quote leg, the fee out of the quote leg (SUB-15, AMB-30, AMB-41)', () => {
    const world = funded();
    assert.equal(world.trade({ buyer: A, seller: B, price: 1990, quantity: 2 }), 'confirmed');
    assert.deepEqual(world.legs(ALICE), ['2', '-3981.99', '3980']);
    assert.deepEqual(world.legs(BOB), ['-2', '3980', '3980']);
    assert.equal(world.owned(ALICE, USD, 1), e18('10000'));
    assert.equal(world.owned(FEES, USD), e18('1.99'));
  });

  test('spot and margin orders meet in one book and the ledger adds up (AMB-30, AMB-116)', () => {
    const world = funded();
    world.fund(CAROL, ETH, '3');
    const carol = { user: CAROL, subAccount: 0, isSpot: true };
    assert.equal(world.trade({ buyer: A, seller: carol, price: 2000, quantity: 3 }), 'confirmed');
    assert.deepEqual(world.legs(ALICE), ['3', '-6003', '6000']);
    assert.equal(world.owned(CAROL, USD), e18('6000'));
  });

  test('every changed position is published once, after the fill (STR-03, AMB-36)', () => {
    const world = funded();
    const maker = world.place(SIDE.sell, B, 2000, 1);
    const taker = world.place(SIDE.buy, A, 2000, 1);
    const effects = world.matchOf(maker, taker, 2000, 1).filter(({ kind }) => kind !== 'userChanged');
    assert.deepEqual(
      effects.map(({ kind }) => kind),
      ['fillConfirmed', 'balanceChanged', 'positionChanged', 'positionChanged', 'marketRiskChanged', 'marketDecided'],
    );
    const [risk] = effectsOf(effects, 'marketRiskChanged');
    assert.deepEqual([risk?.credits, risk?.borrows, risk?.mark?.price], [e18('1'), e18('1'), e18('2000')]);
  });

  test('a larger opposite order flips a position (POS-01, POS-02)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
    assert.equal(world.trade({ buyer: B, seller: A, price: 2000, quantity: 3 }), 'confirmed');
    assert.deepEqual(world.legs(ALICE), ['-2', '3999', '4000']);
  });

  test('a margin order of a Spot account is an invalid order (AMB-30, FIL-10)', () => {
    const world = funded();
    world.fund(CAROL, USD, '10000');
    // Not short by it: that needs holdings of the vaults (MON-10).
    world.fund(BOB, ETH, '1', 1);
    const outcome = world.trade({ buyer: { user: CAROL, subAccount: 0 }, seller: B, price: 2000, quantity: 1 });
    assert.deepEqual(outcome, ['CounterpartyAtFault', 'InvalidOrder']);
    assert.deepEqual(world.legs(BOB), ['0', '0', '0']);
  });

  test('the party without margin is at fault, and nothing of the fill stays (FIL-06, FIL-14, FIL-15, MRG-11)', () => {
    const world = MarginWorld.make();
    world.fund(ALICE, USD, '199', 1);
    world.fund(BOB, USD, '10000', 1);
    // One long at 2000 needs 10 % of it and the fee of 1.
    const terms = { buyer: A, seller: B, price: 2000, quantity: 1 };
    assert.deepEqual(world.trade(terms), ['CounterpartyAtFault', 'InsufficientMargin']);
    world.fund(ALICE, USD, '1.999999999999999999', 1);
    assert.deepEqual(world.trade(terms), ['CounterpartyAtFault', 'InsufficientMargin']);
    world.fund(ALICE, USD, '0.000000000000000001', 1);
    assert.equal(world.trade(terms), 'confirmed');
    assert.equal(world.figures(ALICE).initialSurplus, 0n);
  });

  test('both parties without margin each see their own reason (FIL-14, AMB-33)', () => {
    const world = MarginWorld.make();
    assert.deepEqual(world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 }), [
      'InsufficientMargin',
      'InsufficientMargin',
    ]);
  });

  test('the surplus must hold at the oracle and at the mark (MRG-11, ORD-26)', () => {
    for (const [oracle, mark] of [
      ['1990', 2000],
      ['2000', 1990],
    ] as const) {
      const world = funded();
      world.fund(CAROL, USD, '201', 1);
      world.prices({ [ETH]: oracle });
      world.trade({ buyer: A, seller: B, price: mark, quantity: 0.0001 });
      const outcome = world.trade({ buyer: { user: CAROL }, seller: B, price: 2000, quantity: 1 });
      assert.deepEqual(outcome, ['CounterpartyAtFault', 'InsufficientMargin'], `${oracle} ${mark}`);
    }
  });

  test('without a borrow no margin is required, the oracle stale or not (MRG-13, SUB-03, CB-06)', () => {
    const world = funded();
    world.fund(CAROL, USD, '3000', 1);
    world.fund(CAROL, USD, '3000');
    world.pass(ORACLE_STALE_NS + 1n);
    for (const subAccount of [0, 1]) {
      world.fund(BOB, ETH, '1');
      const buyer = { user: CAROL, subAccount, isSpot: true };
      const seller = { user: BOB, subAccount: 0, isSpot: true };
      assert.equal(world.trade({ buyer, seller, price: 2500, quantity: 1 }), 'confirmed');
    }
    assert.equal(world.figures(CAROL).initialSurplus, e18('498.75'));
  });

  test('a spot trade of a margin account with borrows must leave it its margin (AMB-30, AMB-51)', () => {
    const world = funded();
    world.fund(CAROL, USD, '3000', 1);
    world.fund(BOB, ETH, '1');
    world.trade({ buyer: { user: CAROL }, seller: A, price: 2000, quantity: 10 });
    assert.equal(format18(world.figures(CAROL).initialSurplus), '990');
    const seller = { user: BOB, subAccount: 0, isSpot: true };
    const buyer = { user: CAROL, isSpot: true };
    // Buying at 2790 what counts 1800 costs 990 and the fee.
    assert.deepEqual(world.trade({ buyer, seller, price: 2790, quantity: 1 }), [
      'CounterpartyAtFault',
      'InsufficientMargin',
    ]);
    assert.equal(world.trade({ buyer, seller, price: 2700, quantity: 1 }), 'confirmed');
  });

  test('with a negative surplus a reducing trade passes, an improving one too, a worsening one not (MRG-14, MRG-15)', () => {
    const world = funded();
    world.fund(CAROL, USD, '1000', 1);
    const carol = { user: CAROL };
    world.trade({ buyer: carol, seller: A, price: 2000, quantity: 4 });
    world.prices({ [ETH]: '1900' });
    world.pass(MARK_STALE_NS + 1n);
    assert.ok(world.figures(CAROL).initialSurplus < 0n);
    const grow = { buyer: carol, seller: A, quantity: 1 };
    assert.deepEqual(world.trade({ ...grow, price: 1900 }), ['CounterpartyAtFault', 'InsufficientMargin']);
    // Far below the oracle a purchase improves the surplus at the oracle; the mark moves only with the trade.
    assert.equal(world.trade({ ...grow, price: 1000 }), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    world.prices({ [ETH]: '1750' });
    assert.equal(format18(world.figures(CAROL).initialSurplus), '-129.5');
    assert.equal(world.trade({ buyer: A, seller: carol, price: 1700, quantity: 5 }), 'confirmed');
    assert.equal(world.legs(CAROL)[0], '0');
  });
});

test('a risk row acts at once, on each sub-account by itself (MRG-01, SUB-06)', () => {
  const world = funded();
  world.fund(BOB, ETH, '1', 1);
  world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
  const surplus = (): readonly string[] => [ALICE, BOB].map((user) => format18(world.figures(user).initialSurplus));
  assert.deepEqual(surplus(), ['9799', '11700']);
  world.put('putRisk', ETH, { collateral_factor: 80, liability_factor: 90 }, 'patch');
  assert.deepEqual(surplus(), ['9599', '11400']);
});

suite('reduce-only', () => {
  test('a fill that would grow, flip or open a position is a violation (FIL-13, TIF-08, TIF-10)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 2 });
    const violated = ['CounterpartyAtFault', 'ReduceOnlyViolation'];
    const buy = { buyer: { ...A, reduceOnly: true }, seller: B, price: 2000, quantity: 1 };
    assert.deepEqual(world.trade(buy), violated);
    const sell = { buyer: B, seller: { ...A, reduceOnly: true }, price: 2000 };
    assert.deepEqual(world.trade({ ...sell, quantity: 2.0001 }), ['ReduceOnlyViolation', 'CounterpartyAtFault']);
    assert.equal(world.trade({ ...sell, quantity: 2 }), 'confirmed');
    assert.deepEqual(world.trade({ ...sell, quantity: 0.0001 }), ['ReduceOnlyViolation', 'CounterpartyAtFault']);
  });

  test('a resting one whose position has gone rolls back (TIF-10)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
    const resting = world.place(SIDE.sell, { ...A, reduceOnly: true }, 2000, 1);
    world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 });
    const taker = world.place(SIDE.buy, B, 2000, 1);
    const effects = world.matchOf(resting, taker, 2000, 1);
    assert.deepEqual(world.outcome(effects), ['ReduceOnlyViolation', 'CounterpartyAtFault']);
    world.end(resting, ORDER_END.atFault, 9);
  });

  test('a reduce-only spot order is an invalid order (AMB-27)', () => {
    const world = funded();
    world.fund(CAROL, ETH, '1');
    const seller = { user: CAROL, subAccount: 0, isSpot: true, reduceOnly: true };
    assert.deepEqual(world.trade({ buyer: A, seller, price: 2000, quantity: 1 }), [
      'InvalidOrder',
      'CounterpartyAtFault',
    ]);
  });
});

suite('fills of accounts by their type', () => {
  test('an isolated-only asset does not trade in cross-margin, but what is there may leave (SUB-07)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 });
    world.put('putRisk', ETH, { isolated_only: true }, 'patch');
    assert.deepEqual(world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 }), ['InvalidOrder', 'InvalidOrder']);
    assert.equal(world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 }), 'confirmed');
  });

  test('an isolated account trades its asset only (SUB-08)', () => {
    const world = funded({ isolated_only: true });
    world.fund(CAROL, USD, '9000');
    const targetType = { kind: 'isolated_margin', asset: ETH } as const;
    for (const user of [CAROL, ALICE]) {
      world.fund(user, USD, '9000');
      assert.equal(codeOf(world.transfer({ user, targetIndex: 2, targetType, amount: '9000' })), null);
    }
    const [carol, alice] = [CAROL, ALICE].map((user) => ({ user, subAccount: 2 }));
    assert.ok(carol !== undefined && alice !== undefined);
    assert.equal(world.trade({ buyer: carol, seller: alice, price: 2000, quantity: 1 }), 'confirmed');
    assert.deepEqual(world.trade({ buyer: carol, seller: B, price: 50_000, quantity: 0.01, marketIndex: 1 }), [
      'CounterpartyAtFault',
      'InvalidOrder',
    ]);
  });

  test('cross-margin is per sub-account: what is in 1 does not carry 2 (SUB-04, SUB-06)', () => {
    const world = funded();
    world.fund(ALICE, USD, '1');
    world.transfer({ user: ALICE, targetIndex: 2, targetType: { kind: 'cross_margin', asset: null }, amount: '1' });
    const buyer = { user: ALICE, subAccount: 2 };
    assert.deepEqual(world.trade({ buyer, seller: B, price: 2000, quantity: 1 }), [
      'CounterpartyAtFault',
      'InsufficientMargin',
    ]);
    world.fund(ALICE, BTC, '0.01', 2);
    assert.equal(world.trade({ buyer, seller: B, price: 2000, quantity: 1 }), 'confirmed');
  });

  test('two assets together carry a position that neither carries alone (SUB-04)', () => {
    const world = MarginWorld.make();
    world.fund(BOB, USD, '10000', 1);
    world.fund(ALICE, USD, '150', 1);
    world.fund(CAROL, BTC, '0.003', 1);
    const failed = ['CounterpartyAtFault', 'InsufficientMargin'];
    const trade = (user: typeof ALICE): unknown =>
      world.trade({ buyer: { user }, seller: B, price: 2000, quantity: 1 });
    assert.deepEqual([trade(ALICE), trade(CAROL)], [failed, failed]);
    world.fund(ALICE, BTC, '0.003', 1);
    assert.equal(trade(ALICE), 'confirmed');
  });
});

suite('prices and breakers', () => {
  test('a stale oracle lets reducing fills pass, others not, until three updates in a row (FIL-07, CB-01, CB-03, AMB-44)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 2 });
    world.pass(ORACLE_STALE_NS + 1n);
    const grow = { buyer: A, seller: B, price: 2000, quantity: 0.1 };
    const failed = ['PricingFailure', 'PricingFailure'];
    assert.deepEqual(world.trade(grow), failed);
    assert.equal(world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 }), 'confirmed');
    for (const expected of [failed, failed, 'confirmed']) {
      world.pass(1n);
      world.prices({ [ETH]: '2000' });
      assert.deepEqual(world.trade(grow), expected);
    }
  });

  test('an asset that never had a price takes no leveraged trade (AMB-44)', () => {
    const world = funded();
    world.put('putAsset', '3' as typeof ETH, { symbol: 'NEW', tokens: [] });
    world.put('putRisk', '3' as typeof ETH, { collateral_factor: 90 });
    world.put('putMarket', '3' as typeof ETH, { book_price_decimals: 2, book_quantity_decimals: 4 });
    const terms = { buyer: A, seller: B, price: 1, quantity: 1, marketIndex: 2 };
    assert.deepEqual(world.trade(terms), ['PricingFailure', 'PricingFailure']);
    world.prices({ '3': '1' });
    assert.equal(world.trade(terms), 'confirmed');
  });

  test('the mark is the last confirmed trade for a minute, then the oracle, and comes back with the third trade (CB-02, AMB-43)', () => {
    const world = funded();
    world.put('putAsset', ETH, { mark_band: 'none' }, 'patch');
    const small = { buyer: A, seller: B, price: 2100, quantity: 0.01 };
    const equityPerEth = (): string => {
      const { equity } = world.figures(ALICE);
      const [base = '0', quote = '0'] = world.legs(ALICE);
      return format18(((equity - e18('10000') - e18(quote)) * 10n ** 18n) / e18(base));
    };
    world.trade(small);
    assert.equal(equityPerEth(), '2100');
    world.pass(MARK_STALE_NS);
    assert.equal(equityPerEth(), '2100');
    world.pass(1n);
    assert.equal(equityPerEth(), '2000');
    for (const expected of ['2000', '2000', '2100']) {
      world.trade(small);
      assert.equal(equityPerEth(), expected);
    }
  });

  test('a start trips every mark (AMB-110)', () => {
    const world = funded();
    world.trade({ buyer: A, seller: B, price: 2100, quantity: 1 });
    const [risk] = effectsOf(world.send({ kind: 'restarted', clean: true }), 'marketRiskChanged');
    assert.deepEqual([risk?.mark?.isTripped, risk?.mark?.goodUpdates], [true, 0]);
    assert.equal(format18(world.figures(ALICE).unrealizedPnl), '-101.05');
  });

  test('broken collateral is worth nothing, and three prices bring it back (EX-21, CB-04, CB-05, LIQ-03)', () => {
    const world = funded();
    world.fund(CAROL, ETH, '2', 1);
    world.trade({ buyer: A, seller: { user: CAROL }, price: 50_000, quantity: 0.05, marketIndex: 1 });
    const surplus = (): string => format18(world.figures(CAROL).maintenanceSurplus);
    assert.equal(surplus(), '3500');
    world.pass(ORACLE_STALE_NS + 1n);
    for (let update = 0; update < 3; update += 1) {
      assert.equal(surplus(), '-100');
      assert.equal(world.figures(CAROL).isLiquidatable, false);
      world.pass(1n);
      world.prices({ [ETH]: '2000', [BTC]: '50000' });
    }
    assert.equal(surplus(), '3500');
  });
});

suite('protocol caps', () => {
  test('open interest is bound at the oracle and at the mark, by its larger side (CAP-03, CAP-04, FIL-08, AMB-54)', () => {
    const world = funded({ max_total_open_interest_notional: e18('4000').toString() });
    const trade = (price: number, quantity: number): unknown => world.trade({ buyer: A, seller: B, price, quantity });
    assert.equal(trade(2000, 2), 'confirmed');
    assert.deepEqual(trade(2000, 0.0001), ['ProtocolCapBreach', 'ProtocolCapBreach']);
    assert.equal(world.trade({ buyer: B, seller: A, price: 2010, quantity: 0.01 }), 'confirmed');
    // At the mark of 2010 there is headroom for 1.9900 only; what reduces passes above the cap (CAP-02).
    assert.deepEqual(trade(2000, 0.0001), ['ProtocolCapBreach', 'ProtocolCapBreach']);
    assert.equal(world.trade({ buyer: B, seller: A, price: 2010, quantity: 0.5 }), 'confirmed');
  });

  test('open interest is bound at the oracle where the mark is lower (CAP-03, AMB-54)', () => {
    const world = funded({ max_total_open_interest_notional: e18('4200').toString() });
    const trade = (quantity: number): unknown => world.trade({ buyer: A, seller: B, price: 2000, quantity });
    assert.equal(trade(1), 'confirmed');
    world.prices({ [ETH]: '2100' });
    assert.equal(trade(1), 'confirmed');
    assert.deepEqual(trade(0.0001), ['ProtocolCapBreach', 'ProtocolCapBreach']);
  });

  test('who does not raise the measure is not at fault (CAP-01, CAP-02, AMB-54)', () => {
    const world = funded({ max_total_open_interest_notional: e18('4000').toString() });
    world.fund(CAROL, ETH, '5');
    world.fund(CAROL, USD, '10000', 1);
    world.trade({ buyer: A, seller: B, price: 2000, quantity: 2 });
    const carol = { user: CAROL, subAccount: 0, isSpot: true };
    const outcome = world.trade({ buyer: A, seller: carol, price: 2000, quantity: 1 });
    assert.deepEqual(outcome, ['CounterpartyAtFault', 'ProtocolCapBreach']);
    // Spot out of a margin account opens nothing either.
    world.fund(CAROL, ETH, '1', 1);
    const spot = { user: CAROL, isSpot: true };
    assert.deepEqual(world.trade({ buyer: A, seller: spot, price: 2000, quantity: 1 }), outcome);
    // A takes over what B gives up: the measure stays.
    assert.equal(world.trade({ buyer: { user: CAROL }, seller: A, price: 2000, quantity: 1 }), 'confirmed');
  });

  test('spot-margin interest is what credits and borrows differ by (CAP-05, CAP-07)', () => {
    const world = funded({ max_spot_open_interest: e18('1').toString() });
    world.fund(CAROL, ETH, '5');
    const carol = { user: CAROL, subAccount: 0, isSpot: true };
    assert.equal(world.trade({ buyer: A, seller: B, price: 2000, quantity: 3 }), 'confirmed');
    assert.equal(world.trade({ buyer: A, seller: carol, price: 2000, quantity: 1 }), 'confirmed');
    assert.deepEqual(world.trade({ buyer: A, seller: carol, price: 2000, quantity: 0.0001 }), [
      'CounterpartyAtFault',
      'ProtocolCapBreach',
    ]);
  });

  test('near its cap the factor falls, and the trade that makes it fall bears it (CAP-06, MRG-05, AMB-51)', () => {
    const world = funded({
      max_spot_open_interest: e18('10').toString(),
      initial_margin_clamps: [0, 500_000],
      initial_margin_factors: [1_000_000, 800_000],
    });
    world.fund(CAROL, USD, '1400', 1);
    world.fund(BOB, ETH, '10');
    const buyer = { user: CAROL };
    const seller = { user: BOB, subAccount: 0, isSpot: true };
    assert.equal(world.trade({ buyer, seller, price: 2000, quantity: 4.9 }), 'confirmed');
    assert.equal(format18(world.figures(CAROL).initialSurplus), '415.1');
    assert.deepEqual(world.trade({ buyer, seller, price: 2000, quantity: 0.1 }), [
      'CounterpartyAtFault',
      'InsufficientMargin',
    ]);
  });

  test('within a match of several fills each is judged with the factor that it leaves (MRG-05, TIF-06)', () => {
    const world = funded({
      max_spot_open_interest: e18('10').toString(),
      initial_margin_clamps: [0, 500_000],
      initial_margin_factors: [1_000_000, 800_000],
    });
    world.fund(CAROL, USD, '1400', 1);
    world.fund(BOB, ETH, '10');
    const seller = { user: BOB, subAccount: 0, isSpot: true };
    const [first, second] = [world.place(SIDE.sell, seller, 2000, 4.9), world.place(SIDE.sell, seller, 2000, 0.1)];
    const taker = world.place(SIDE.buy, { user: CAROL }, 2000, 5);
    world.match(first, taker, 49_000, { group: 1 });
    const [, last] = effectsOf(world.match(second, taker, 1_000, { group: 2 }), 'fillRolledBack');
    assert.deepEqual([last?.makerReason, last?.takerReason], [10, 1]);
  });

  test('a spot purchase in a margin account is bound by the collateral cap, one in a Spot account not (CAP-08, CAP-10)', () => {
    const world = funded({ max_collateral: e18('1').toString() });
    world.fund(CAROL, ETH, '5');
    world.fund(ALICE, USD, '10000');
    const seller = { user: CAROL, subAccount: 0, isSpot: true };
    const buyer = { user: ALICE, isSpot: true };
    assert.equal(world.trade({ buyer, seller, price: 2000, quantity: 1 }), 'confirmed');
    assert.deepEqual(world.trade({ buyer, seller, price: 2000, quantity: 0.0001 }), [
      'CounterpartyAtFault',
      'ProtocolCapBreach',
    ]);
    assert.equal(world.trade({ buyer: { ...buyer, subAccount: 0 }, seller, price: 2000, quantity: 1 }), 'confirmed');
  });
});

test('a fill-or-kill match whose second maker lacks margin rolls back whole (TIF-06, EX-25, AMB-34)', () => {
  const world = funded();
  const first = world.place(SIDE.sell, B, 2000, 1);
  const second = world.place(SIDE.sell, { user: CAROL }, 2010, 2);
  const taker = world.place(SIDE.buy, A, 2010, 2.5);
  const place = (maker: typeof first, price: number, lots: number, unit: 1 | 2): ReturnType<typeof world.match> =>
    world.match(maker, taker, lots, { price: price as never, group: unit });
  assert.deepEqual(effectsOf(place(first, 200_000, 10_000, 1), 'fillRolledBack'), []);
  const rolledBack = effectsOf(place(second, 201_000, 15_000, 2), 'fillRolledBack');
  assert.deepEqual(
    rolledBack.map((fill) => [fill.makerReason, fill.takerReason]),
    [
      [10, 10],
      [1, 10],
    ],
  );
  assert.deepEqual(world.legs(ALICE), ['0', '0', '0']);
});

test('a match later than a minute makes no fresh mark (AMB-43)', () => {
  const world = funded();
  const maker = world.place(SIDE.sell, B, 2100, 1);
  const taker = world.place(SIDE.buy, A, 2100, 1);
  world.send({ kind: 'hold', request: 0, asset: ETH });
  world.matchOf(maker, taker, 2100, 1);
  world.nowNs = (world.nowNs + MARK_STALE_NS + 1n) as TimestampNs;
  world.send({ kind: 'release', request: 0, fills: null });
  assert.equal(format18(world.figures(ALICE).unrealizedPnl), '-101.05');
});
