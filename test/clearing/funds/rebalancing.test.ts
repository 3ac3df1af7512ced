// tier: quick
/** What deposits pay or earn by how they shift a vault from its target weight, to the digit, and where it is booked. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { depositFee, type RebalancingRates, ratesOf, withdrawalFee } from '../../../src/clearing/funds/rebalancing.ts';
import { format18 } from '../../../src/core/decimal.ts';
import { type Amount18, ONE_18 } from '../../../src/core/units.ts';
import { CapsWorld, LOTS, units } from '../../support/caps-world.ts';
import { ALICE, BOB, CHAIN, effectsOf, USD } from '../../support/clearing-world.ts';

const NOWHERE = { onChain: 0n, all: 0n };
const fixed = (rate: string): RebalancingRates =>
  ratesOf({ mode: 'fixed', deposit_rate: rate, withdrawal_rate: '0' }, CHAIN);
const curve = (k: string, target: string): RebalancingRates =>
  ratesOf({ mode: 'curve', k, target_weights: { [CHAIN]: target } }, CHAIN);

suite('rebalancing rates', () => {
  test('a fixed rate is a fee or a rebate, clamped to 2.5 % either way (DEP-16, AMB-75)', () => {
    const of = (rate: string): string => format18(depositFee(units(1_000) as Amount18, fixed(rate), NOWHERE));
    assert.deepEqual(['0', '0.01', '0.025', '0.3'].map(of), ['0', '10', '25', '25']);
    assert.deepEqual(['-0.01', '-0.025', '-1'].map(of), ['-10', '-25', '-25']);
  });

  test('a fee is rounded up and a rebate down, once (AMB-75)', () => {
    const of = (raw: bigint, rate: string): bigint => depositFee(raw as Amount18, fixed(rate), NOWHERE);
    assert.deepEqual([of(1n, '0.001'), of(1_000n, '0.001'), of(1_001n, '0.001')], [1n, 1n, 2n]);
    assert.deepEqual([of(999n, '-0.001'), of(1_000n, '-0.001'), of(1_999n, '-0.001')], [0n, -1n, -1n]);
  });

  test('the curve is of the share before and after, exact where shares are not decimals (AMB-75)', () => {
    // 100 of 300 on the chain, the target 1/2 − far; 100 more make 200 of 400: from 1/6 off to 0.
    const units3 = { onChain: units(100), all: units(300) };
    const rebate = depositFee(units(100) as Amount18, curve('0.06', '0.5'), units3);
    assert.equal(format18(rebate), '-1', 'k / 6 is 1 %');
    // 200 of 300 and 100 more: from 1/6 off to 1/4 off, which is 1/12 further.
    const fee = depositFee(units(100) as Amount18, curve('0.07', '0.5'), { onChain: units(200), all: units(300) });
    assert.equal(format18(fee), '0.583333333333333334', '7/12 of 1 %, up');
    const odd = depositFee(units(100) as Amount18, curve('0.07', '0.5'), units3);
    assert.equal(format18(odd), '-1.166666666666666666', '7/6 of 1 %, down');
    // The first deposit: from a share of nothing, 0, to all of it.
    assert.equal(format18(depositFee(units(10) as Amount18, curve('0.02', '0.5'), NOWHERE)), '0');
    assert.equal(format18(depositFee(units(10) as Amount18, curve('1', '0'), NOWHERE)), '0.25', 'clamped');
    const back = withdrawalFee(units(100) as Amount18, curve('0.06', '0.5'), { onChain: units(200), all: units(400) });
    assert.equal(format18(back), '1', 'the way back costs the same');
    assert.equal(withdrawalFee(units(100) as Amount18, curve('0.06', '0.1'), units3), 0n, 'it is never a rebate');
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
    const earned = effectsOf(world.deposit(units(300), BOB), 'depositLanded')[0]?.row;
    assert.equal(earned?.amount, units(303));
    const { spot, rebalancing_pool: pool, claims, vault_holdings: held } = world.ledger();
    assert.deepEqual([spot, pool, claims, held], ['402', '-2', '400', '400']);
  });

  test('caps judge what a deposit brings, before fee and rebate (AMB-73, AMB-75)', () => {
    const world = CapsWorld.opened(100, 100);
    world.rates(FEE);
    world.deposit(units(100) + 1n);
    assert.equal(world.funds()[0], '0', 'its net would fit');
    const other = CapsWorld.opened(100, 100);
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
    const { isolated, rebalancing_pool: pool, vault_holdings: held } = world.ledger();
    assert.deepEqual([isolated, pool, held], ['199', '1', '200']);
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
