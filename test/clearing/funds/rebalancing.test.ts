// tier: quick
/** What deposits and withdrawals pay or earn by how they shift units between chains, to the digit, and where it is booked (MON-03). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { totalsOf } from '../../../src/clearing/balances.ts';
import {
  type ChainUnits,
  type CurveUnits,
  depositFee,
  outdatedRebalancing,
  type RebalancingRates,
  ratesOf,
  withdrawalFee,
} from '../../../src/clearing/funds/rebalancing.ts';
import { format18 } from '../../../src/core/decimal.ts';
import { type Amount18, ONE_18 } from '../../../src/core/units.ts';
import { CapsWorld, LOTS, units } from '../../support/caps-world.ts';
import { CHAIN, effectsOf, FEES } from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';

const [HERE, THERE, FAR] = ['here', 'there', 'far'];
const NOWHERE: CurveUnits = { units: new Map(), requested: new Map() };
const RICH = { pool: units(1_000_000), unpaid: 0n };
const fixed = (rate: string): RebalancingRates => ratesOf({ mode: 'fixed', deposit_rate: rate, withdrawal_rate: rate });
const curve = (k: string, target_weights: Record<string, string>): RebalancingRates =>
  ratesOf({ mode: 'curve', k, target_weights });
const HALVES = curve('0.01', { [HERE]: '0.5', [THERE]: '0.5' });

function held(amounts: Record<string, number>): ChainUnits {
  return new Map(Object.entries(amounts).map(([chain, amount]) => [chain, units(amount)]));
}

function at(amounts: Record<string, number>, requested: Record<string, number> = {}): CurveUnits {
  return { units: held(amounts), requested: held(requested) };
}

function deposited(amount: number, rates: RebalancingRates, units1: CurveUnits, bounds = RICH): string {
  return format18(depositFee(units(amount) as Amount18, rates, HERE as string, units1, bounds));
}

function withdrawn(amount: number, rates: RebalancingRates, units1: CurveUnits, chain = HERE as string): string {
  return format18(withdrawalFee(units(amount) as Amount18, rates, chain, units1));
}

suite('rebalancing rates', () => {
  test('a fixed rate is a fee or a rebate, clamped to 2.5 % either way (DEP-16, AMB-75)', () => {
    const of = (rate: string): string => deposited(1_000, fixed(rate), NOWHERE);
    assert.deepEqual(['0', '0.01', '0.025', '0.3'].map(of), ['0', '10', '25', '25']);
    assert.deepEqual(['-0.01', '-0.025', '-1'].map(of), ['-10', '-25', '-25']);
    const back = (rate: string): string => withdrawn(1_000, fixed(rate), NOWHERE);
    assert.deepEqual(['0', '0.01', '0.3', '-0.01'].map(back), ['0', '10', '25', '0']);
  });

  test('a fee is rounded up and a rebate down, once (AMB-75)', () => {
    const of = (raw: bigint, rate: string): bigint =>
      depositFee(raw as Amount18, fixed(rate), HERE as string, NOWHERE, RICH);
    assert.deepEqual([of(1n, '0.001'), of(1_000n, '0.001'), of(1_001n, '0.001')], [1n, 1n, 2n]);
    assert.deepEqual([of(999n, '-0.001'), of(1_000n, '-0.001'), of(1_999n, '-0.001')], [0n, -1n, -1n]);
  });

  test('the curve is the difference of k · Σ (u_c − w_c·U)² / U, exact where it is no decimal (MON-03)', () => {
    // 100 and 200: (50² + 50²) / 300 · 0.01 = 1/6. With 100 more, 200 and 200: 0.
    assert.equal(deposited(100, HALVES, at({ here: 100, there: 200 })), '-0.166666666666666666', 'down');
    assert.equal(withdrawn(100, HALVES, at({ here: 200, there: 200 })), '0.166666666666666667', 'up');
    // 200 and 100, 100 more: 300 and 100: (100² + 100²) / 400 · 0.01 = 0.5, from 1/6.
    assert.equal(deposited(100, HALVES, at({ here: 200, there: 100 })), '0.333333333333333334', 'a third, up');
    assert.equal(withdrawn(100, HALVES, at({ here: 300, there: 100 })), '0', 'it is never a rebate');
    // The first deposit: all of it where half of it should be, (5² + 5²) / 10 · 0.01.
    assert.equal(deposited(10, HALVES, NOWHERE), '0.05');
    assert.equal(deposited(10, curve('0.0125', { [HERE]: '1' }), NOWHERE), '0', 'one chain is always in balance');
    // Three chains, of which one has no target.
    const three = curve('0.0125', { [HERE]: '0.25', [THERE]: '0.75' });
    // here 0, there 60, far 40: (25² + 15² + 40²) / 100 = 24.5; here 100: (50² + 90² + 40²) / 200 = 61. 36.5 · 0.0125.
    assert.equal(deposited(100, three, at({ there: 60, far: 40 })), '0.45625');
  });

  test('a withdrawal pays the largest of the differences at u, less all live requests, less those of its chain (MON-03)', () => {
    const calm = at({ here: 500, there: 500 });
    const alone = withdrawn(100, HALVES, calm);
    assert.equal(alone, '0.055555555555555556', '(50² + 50²) / 900 · 0.01');
    // 100 are requested here: the next 100 cost what lies between 400 and 300.
    assert.equal(withdrawn(100, HALVES, at({ here: 500, there: 500 }, { here: 100 })), '0.194444444444444445');
    // 100 are requested there: with them this one would be free. They may be cancelled.
    assert.equal(withdrawn(100, HALVES, at({ here: 500, there: 500 }, { there: 100 })), alone);
    // 100 here and 100 there: as if those there were not.
    assert.equal(
      withdrawn(100, HALVES, at({ here: 500, there: 500 }, { here: 100, there: 100 })),
      '0.194444444444444445',
    );
  });

  test('a deposit pays by u alone, and earns by u and by u less live requests, the smaller, if both give one (MON-03)', () => {
    const short = { here: 100, there: 300 };
    const alone = deposited(100, HALVES, at(short));
    assert.equal(alone, '-0.4', '0.5 of (100² + 100²) / 400, 0.1 of (50² + 50²) / 500');
    assert.equal(deposited(100, HALVES, at(short, { here: 50 })), alone, 'more of a shift is not paid for');
    assert.equal(deposited(100, HALVES, at(short, { there: 100 })), '-0.166666666666666666', 'less of it is');
    assert.equal(
      deposited(100, HALVES, at(short, { there: 250 })),
      '0',
      'no rebate, and no fee for what others request',
    );
    assert.equal(deposited(100, HALVES, at({ here: 300, there: 100 }, { here: 300 })), '0.4', 'a fee is of u alone');
  });

  test('a rebate is at most what the pool holds, and nothing for what the potential rose by unpaid (MON-03)', () => {
    const short = at({ here: 100, there: 300 });
    const bounded = (pool: number, unpaid: number): string =>
      deposited(100, HALVES, short, { pool: units(pool) / 10n, unpaid: units(unpaid) / 10n });
    assert.deepEqual([bounded(10, 0), bounded(3, 0), bounded(0, 0)], ['-0.4', '-0.3', '0']);
    assert.deepEqual([bounded(10, 1), bounded(10, 4), bounded(10, 50)], ['-0.3', '0', '0']);
    const rate = deposited(1_000, fixed('-0.01'), NOWHERE, { pool: units(4), unpaid: units(9) });
    assert.equal(rate, '-4', 'a fixed rate likewise');
  });

  test('no rate is above 2.5 %, whatever the units and the targets (WDR-15, MON-03)', () => {
    const all = curve('0.0125', { [THERE]: '1' });
    assert.equal(deposited(1_000, all, NOWHERE), '25', 'all of it where none should be');
    const last = withdrawn(1_000, all, at({ here: 1_000_000_000, there: 1_000 }), THERE);
    assert.equal(last, '24.999975000024999976', 'the last of where all should be');
    // Below zero counts as zero: settlements have moved what was deposited elsewhere.
    assert.equal(deposited(10, HALVES, at({ here: -100, there: 100 })), '0');
    assert.equal(withdrawn(10, HALVES, at({ here: -100, there: 100 })), '0');
  });

  test('a stored k above 0.0125 counts as that, and weights count in relation to their sum (MON-03)', () => {
    const old = curve('1', { [HERE]: '0.25', [THERE]: '0.25' });
    const now = curve('0.0125', { [HERE]: '0.5', [THERE]: '0.5' });
    const balance = at({ here: 700, there: 130 });
    assert.equal(deposited(77, old, balance), deposited(77, now, balance));
    assert.equal(withdrawn(77, old, balance), withdrawn(77, now, balance));
    assert.equal(deposited(77, curve('0.01', { [FAR as string]: '0' }), balance), '0', 'without targets there is none');
  });
});

suite('rebalancing at deposits', () => {
  const FEE = { mode: 'fixed', deposit_rate: '0.01', withdrawal_rate: '0' };
  const REBATE = { ...FEE, deposit_rate: '-0.01' };

  test('DepositLanded and the balance are net, the pool has the difference (DEP-16, DEP-24, AMB-75, AMB-116)', () => {
    const world = CapsWorld.opened(null, null);
    world.rates(FEE);
    const landed = effectsOf(world.deposit(units(100)), 'depositLanded')[0]?.row;
    assert.deepEqual([landed?.asset, landed?.amount], [USD, units(99)]);
    assert.deepEqual(world.funds(), ['99', '0']);
    assert.equal(world.ledger()['rebalancing_pool'], '1');
    world.rates(REBATE);
    const earned = effectsOf(world.deposit(units(60), BOB), 'depositLanded')[0]?.row;
    assert.equal(earned?.amount, units(606) / 10n);
    const { spot, rebalancing_pool: pool, claims, vault_holdings: held1 } = world.ledger();
    assert.deepEqual([spot, pool, claims, held1], ['159.6', '0.4', '160', '160']);
    const bounded = effectsOf(world.deposit(units(300), BOB), 'depositLanded')[0]?.row;
    assert.equal(bounded?.amount, units(3_004) / 10n, 'the pool has no more (MON-03)');
    assert.equal(world.ledger()['rebalancing_pool'], '0');
    assert.equal(effectsOf(world.deposit(units(300), BOB), 'depositLanded')[0]?.row.amount, units(300));
  });

  test('a fee of a withdrawal goes to the pool with its payout, and returns with a cancel (MON-03, AMB-76)', () => {
    const world = CapsWorld.opened(null, null);
    world.deposit(units(200));
    world.rates({ mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0.02' });
    world.withdraw(units(100));
    world.cancel(0);
    assert.deepEqual([world.funds()[0], world.ledger()['rebalancing_pool']], ['200', '0']);
    world.paidOut(units(100));
    const { spot, fees, rebalancing_pool: pool, vault_holdings: held1 } = world.ledger();
    assert.deepEqual([spot, fees, pool, held1], ['98', '0', '2', '100']);
  });

  test('the first start with data of before fills a pool below zero, from the fee account, then from the backstop (MON-03)', () => {
    const world = CapsWorld.opened(null, null);
    world.deposit(units(100));
    world.fund(FEES, USD, '3');
    const totals = totalsOf(world.state, USD);
    totals.rebalancingPool = -units(5) as Amount18;
    totals.faucet = (totals.faucet + units(5)) as Amount18;
    assert.deepEqual(outdatedRebalancing(world.state).pools, [{ asset: USD, missing: units(5) }]);
    world.send({ kind: 'restarted', clean: true });
    const { fees, rebalancing_pool: pool, backstop_capital: capital } = world.ledger();
    assert.deepEqual([fees, pool, capital], ['0', '0', '-2']);
    assert.deepEqual(outdatedRebalancing(world.state).pools, []);
    world.send({ kind: 'restarted', clean: true });
    assert.equal(world.ledger()['backstop_capital'], '-2', 'once');
  });

  test('a batch that leaves a pool below zero stops the node (MON-03)', () => {
    const world = CapsWorld.opened(null, null);
    world.deposit(units(100));
    const totals = totalsOf(world.state, USD);
    totals.rebalancingPool = -1n as Amount18;
    totals.faucet = (totals.faucet + 1n) as Amount18;
    assert.throws(() => world.deposit(units(1)), /InvariantError.*pool of asset 0 is not below zero/);
  });

  test('a curve that was stored before its bounds is reported at a start (MON-03)', () => {
    const world = CapsWorld.opened(null, null);
    const row = world.state.assets.get(USD) ?? assert.fail('it exists');
    const rebalancing = { mode: 'curve', k: '0.05', target_weights: { [CHAIN]: '0.5' } };
    world.state.assets.set(USD, { ...row, settingsJson: JSON.stringify({ max_adl: null, rebalancing }) });
    assert.deepEqual(outdatedRebalancing(world.state).curves, [
      { asset: USD, k: '0.05', isAboveMax: true, hasOtherSum: true },
    ]);
  });

  test('caps judge what a deposit brings, before fee and rebate (AMB-73, AMB-75)', () => {
    const world = CapsWorld.opened(100, 100);
    world.rates(FEE);
    world.deposit(units(100) + 1n);
    assert.equal(world.funds()[0], '0', 'its net would fit');
    const other = CapsWorld.opened(200, 200);
    other.rates({ ...FEE, deposit_rate: '0.025' });
    other.deposit(units(100));
    other.rates(REBATE);
    other.deposit(units(100), BOB);
    assert.deepEqual(other.funds(BOB), ['101', '0'], 'what its user gets is not judged');
  });

  test('a lot pays the fee when it comes and nothing when it is pooled; it earns no rebate (AMB-73, AMB-75)', () => {
    const world = CapsWorld.opened(0, null);
    world.rates(FEE);
    const landed = effectsOf(world.deposit(units(100)), 'depositLanded')[0]?.row;
    assert.deepEqual([landed?.asset, landed?.amount], [LOTS, units(99)]);
    world.rates(REBATE);
    world.deposit(units(100), BOB);
    assert.deepEqual(
      [world.funds(), world.funds(BOB)],
      [
        ['0', '99'],
        ['0', '100'],
      ],
    );
    const { isolated, rebalancing_pool: pool, vault_holdings: held1 } = world.ledger();
    assert.deepEqual([isolated, pool, held1], ['199', '1', '200']);
    world.caps(1_000, null);
    assert.deepEqual(
      [world.funds(ALICE), world.funds(BOB)],
      [
        ['99', '0'],
        ['100', '0'],
      ],
    );
    assert.equal(world.ledger()['rebalancing_pool'], '1');
  });

  test('a deposit of one raw unit may be all fee (AMB-75)', () => {
    const world = CapsWorld.opened(0, null);
    world.rates(FEE);
    assert.equal(effectsOf(world.deposit(1n), 'depositLanded')[0]?.row.amount, 0n);
    assert.equal(world.state.lots.size, 0);
    assert.equal(world.ledger()['rebalancing_pool'], format18((ONE_18 / ONE_18) as Amount18));
  });
});
