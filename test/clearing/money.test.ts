// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { totalsOf } from '../../src/clearing/balances.ts';
import { differenceOfAll } from '../../src/clearing/checks.ts';
import type { DepositLanded, Effect } from '../../src/clearing/effects.ts';
import type { Deposit, Transfer } from '../../src/clearing/inputs.ts';
import { ledgerView, userView } from '../../src/clearing/views.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { DutyCycle } from '../../src/runtime/duty-cycle.ts';
import {
  acceptedValue,
  CHAIN,
  ClearingWorld,
  codeOf,
  effectsOf,
  FEES,
  reply,
  TOKEN,
} from '../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';

const E18 = 10n ** 18n;

function deposit(world: ClearingWorld, more: Partial<Deposit> = {}): readonly Effect[] {
  return world.send({
    kind: 'deposit',
    request: world.request(),
    chainId: CHAIN as ChainId,
    tx: 'ab'.repeat(32),
    logIndex: 0,
    user: ALICE,
    token: TOKEN,
    baseUnits: 1_234_567n,
    depositNonce: 0,
    ...more,
  });
}

function transfer(world: ClearingWorld, more: Partial<Transfer> = {}): readonly Effect[] {
  return world.send({
    kind: 'transfer',
    request: world.request(),
    user: ALICE,
    sourceIndex: 0,
    targetIndex: 1,
    asset: USD,
    amount: E18 as Amount18,
    targetType: null,
    nonce: 1n,
    ...more,
  });
}

test('the difference of the ledger is 0, and the sum over its assets without sign once one is booked wrongly (AMB-116)', () => {
  const world = new ClearingWorld();
  deposit(world);
  assert.equal(differenceOfAll(world.state), 0n);
  const usd = totalsOf(world.state, USD);
  const eth = totalsOf(world.state, ETH);
  usd.claims = (usd.claims + 5n) as Amount18;
  eth.claims = (eth.claims - 2n) as Amount18;
  assert.equal(differenceOfAll(world.state), 7n);
});

suite('deposits', () => {
  test('base units become 18 decimals, floor (AMT-06, GEN-11, EX-01)', () => {
    const cases: readonly (readonly [bigint, number, bigint])[] = [
      [1_234_567n, 6, 1_234_567_000_000_000_000n],
      [1n, 8, 10_000_000_000n],
      [1_999_999n, 24, 1n],
      [123_456_789_012_345_678_901n, 20, 1_234_567_890_123_456_789n],
    ];
    for (const [baseUnits, decimals, credited] of cases) {
      const world = new ClearingWorld();
      world.put('putAsset', ETH, { tokens: [{ token: TOKEN, chain_id: CHAIN, decimals }] });
      const effects = deposit(world, { baseUnits });
      assert.equal(world.owned(ALICE, ETH), credited);
      assert.equal((effectsOf(effects, 'depositLanded')[0] as DepositLanded).row.amount, credited);
    }
  });

  test('a deposit lands in account 0, makes its user known, and is held by the vault (SUB-01, AMB-139, AMB-116)', () => {
    const world = ClearingWorld.withMarket();
    const effects = deposit(world);
    assert.deepEqual(
      effects.map((effect) => effect.kind),
      ['userChanged', 'depositLanded', 'balanceChanged', 'replied'],
    );
    assert.equal(world.owned(ALICE, USD, 0), 1_234_567n * 10n ** 12n);
    const { assets } = DutyCycle.unwatched.finish(ledgerView(world.state)) as {
      assets: Record<string, Record<string, string>>;
    };
    assert.equal(assets['0']?.['vault_holdings'], '1.234567');
    assert.equal(assets['0']?.['spot'], '1.234567');
    assert.equal(assets['0']?.['difference'], '0');
  });

  test('a deposit is credited once, whatever is delivered again or too early (DEP-10, AMB-74)', () => {
    const world = ClearingWorld.withMarket();
    const results = [0, 0, 2, 1, 0, 2].map((depositNonce) => acceptedValue(reply(deposit(world, { depositNonce }))));
    assert.deepEqual(results, [
      { result: 'credited', next_nonce: 1 },
      { result: 'duplicate', next_nonce: 1 },
      { result: 'gap', next_nonce: 1 },
      { result: 'credited', next_nonce: 2 },
      { result: 'duplicate', next_nonce: 2 },
      { result: 'credited', next_nonce: 3 },
    ]);
    assert.equal(world.owned(ALICE, USD), 3n * 1_234_567n * 10n ** 12n);
    assert.equal(world.state.tallies.deposits.count, 3);
  });

  test('counters are per user and chain (NON-02)', () => {
    const world = ClearingWorld.withMarket();
    deposit(world);
    assert.equal(acceptedValue(reply(deposit(world, { user: BOB })))['result'], 'credited');
  });

  test('a deposit of an unknown token, or beyond all measure, is counted, not credited, and reported', () => {
    const world = ClearingWorld.withMarket();
    const unknown = deposit(world, { token: '77'.repeat(32) });
    assert.equal(acceptedValue(reply(unknown))['result'], 'unknownToken');
    const huge = deposit(world, { depositNonce: 1, baseUnits: 2n ** 127n });
    assert.equal(acceptedValue(reply(huge))['result'], 'overflow');
    assert.equal(world.owned(ALICE, USD), 0n);
    assert.deepEqual(effectsOf([...unknown, ...huge], 'depositLanded'), []);
    assert.deepEqual(
      world.state.dirty.deposits.map((row) => row.amount),
      [0n, 0n],
    );
  });
});

suite('faucet', () => {
  test('it credits and takes back against its own account, deposits untouched (operator-api.md 7.4)', () => {
    const world = ClearingWorld.withMarket();
    assert.deepEqual(world.fund(ALICE, USD, '1000.5', 1), { ok: true, value: { balance: '1000.5' } });
    assert.deepEqual(world.fund(ALICE, USD, '-0.5', 1), { ok: true, value: { balance: '1000' } });
    const { assets } = DutyCycle.unwatched.finish(ledgerView(world.state)) as {
      assets: Record<string, Record<string, string>>;
    };
    assert.equal(assets['0']?.['faucet'], '-1000');
    assert.equal(assets['0']?.['vault_holdings'], '0');
    assert.equal(assets['0']?.['difference'], '0');
  });

  test('it takes back what orders hold, but never more than is owned', () => {
    const world = ClearingWorld.withMarket();
    world.fund(ALICE, USD, '3000');
    world.create({ user: ALICE });
    assert.equal(codeOf(world.fund(ALICE, USD, '-3000')), null);
    assert.equal(codeOf(world.fund(ALICE, USD, '-0.000000000000000001')), 'INVALID_REQUEST');
  });

  test('unknown assets, users and accounts are refused, accounts 0 and 1 exist for everyone (AMB-63)', () => {
    const world = ClearingWorld.withMarket();
    assert.equal(codeOf(world.fund(ALICE, '9' as AssetId, '1')), 'ASSET_NOT_FOUND');
    assert.equal(codeOf(world.fund(ALICE, USD, '1', 2)), 'USER_NOT_FOUND');
    assert.equal(codeOf(world.fund(ALICE, USD, '1', 1)), null);
    assert.equal(codeOf(world.fund(ALICE, USD, '1', 2)), 'INVALID_REQUEST');
    assert.equal(codeOf(world.fund(ALICE, USD, '1e3')), 'INVALID_REQUEST');
    assert.equal(codeOf(world.fund(ALICE, USD, '170141183460469231731')), 'INVALID_REQUEST');
  });
});

suite('transfers', () => {
  function funded(): ClearingWorld {
    const world = ClearingWorld.withMarket();
    world.fund(ALICE, USD, '3000');
    return world;
  }

  test('a transfer moves a spot balance and publishes it (TRF-14)', () => {
    const world = funded();
    const effects = transfer(world);
    assert.equal(world.owned(ALICE, USD, 0), 2_999n * E18);
    assert.equal(world.owned(ALICE, USD, 1), E18);
    assert.equal(effectsOf(effects, 'transferDone').length, 1);
    assert.deepEqual(reply(effects), { ok: true, value: { success: true } });
  });

  test('nonces grow strictly, gaps are fine, and only a transfer that happens consumes one (NON-06, AMB-68)', () => {
    const world = funded();
    assert.equal(
      codeOf(reply(transfer(world, { nonce: 7n, amount: (4_000n * E18) as Amount18 }))),
      'INSUFFICIENT_INVENTORY',
    );
    assert.equal(codeOf(reply(transfer(world, { nonce: 7n }))), null);
    for (const nonce of [7n, 6n, 0n]) {
      const outcome = reply(transfer(world, { nonce }));
      assert.equal(codeOf(outcome), 'INVALID_NONCE');
      assert.deepEqual(outcome.ok ? null : outcome.reject.details, { last_nonce: 7n });
    }
    assert.equal(codeOf(reply(transfer(world, { nonce: 2n ** 64n - 1n }))), null);
    assert.equal(codeOf(reply(transfer(world, { nonce: 2n ** 64n }))), 'INVALID_NONCE');
  });

  test('what live orders hold is not available, to the last unit (TRF-04, AMB-52)', () => {
    const world = funded();
    const order = world.create({ user: ALICE });
    const free = (3_000n * E18 - 2_000n * E18 - (9n * E18) / 10n) as Amount18;
    assert.equal(codeOf(reply(transfer(world, { amount: (free + 1n) as Amount18 }))), 'INSUFFICIENT_INVENTORY');
    assert.equal(codeOf(reply(transfer(world, { amount: free }))), null);
    world.end(order, ORDER_END.userRequested);
    assert.equal(codeOf(reply(transfer(world, { amount: (2_000n * E18) as Amount18, nonce: 2n }))), null);
  });

  test('equal accounts, nothing, unknown accounts and assets are refused (TRF-02, TRF-03)', () => {
    const world = funded();
    const code = (more: Partial<Transfer>): string | null => codeOf(reply(transfer(world, more)));
    assert.equal(code({ targetIndex: 0 }), 'INVALID_REQUEST');
    assert.equal(code({ amount: 0n as Amount18 }), 'INVALID_REQUEST');
    assert.equal(code({ targetIndex: 2 }), 'INVALID_REQUEST');
    assert.equal(code({ sourceIndex: 2 }), 'INVALID_REQUEST');
    assert.equal(code({ asset: '9' as AssetId }), 'ASSET_NOT_FOUND');
  });

  test('an asset without collateral value stays in spot, an isolated-only one out of cross-margin (TRF-11, TRF-12)', () => {
    const world = funded();
    world.fund(ALICE, ETH, '1');
    world.put('putRisk', ETH, { collateral_factor: 60, isolated_only: true });
    assert.equal(codeOf(reply(transfer(world, { asset: ETH }))), 'INVALID_REQUEST');
    world.put('putRisk', ETH, {});
    assert.equal(codeOf(reply(transfer(world, { asset: ETH }))), 'INVALID_REQUEST');
    world.put('putRisk', ETH, { collateral_factor: 60 });
    assert.equal(codeOf(reply(transfer(world, { asset: ETH }))), null);
  });
});

suite('users', () => {
  test('a user whom the operator names is known, with accounts 0 and 1 by their names (AMB-139, SUB-10)', () => {
    const world = ClearingWorld.withMarket();
    assert.equal(codeOf(userView(world.state, ALICE, world.nowNs)), 'USER_NOT_FOUND');
    world.send({ kind: 'patchUser', request: 1, user: ALICE, isMarketMaker: false });
    assert.deepEqual(acceptedValue(userView(world.state, ALICE, world.nowNs)), {
      user_id: ALICE,
      is_mm: false,
      config_nonce: 0,
      sub_accounts: {
        '0': { kind: 'spot', name: 'Spot', balances: { '0': { owned: '0', held: '0', locked: '0' } }, positions: {} },
        '1': {
          kind: 'cross_margin',
          name: 'Margin',
          balances: { '0': { owned: '0', held: '0', locked: '0' } },
          positions: {},
        },
      },
      isolated_lots: [],
      withdrawal_usage: {},
      action_nonces: { transfer: 0n, close_position: 0n },
    });
  });

  test('owned is what inventory shows and held the part that orders hold (operator-api.md 4.7, AMB-72)', () => {
    const world = ClearingWorld.withMarket();
    world.fund(ALICE, USD, '3000');
    world.create({ user: ALICE });
    const view = acceptedValue(userView(world.state, ALICE, world.nowNs)) as {
      sub_accounts: Record<string, { balances: Record<string, unknown> }>;
    };
    assert.deepEqual(view.sub_accounts['0']?.balances['0'], { owned: '3000', held: '2000.9', locked: '0' });
  });

  test('is_mm is live at once, also for a key never seen (operator-api.md 4.7)', () => {
    const world = ClearingWorld.withMarket();
    const patch = (body: unknown): Effect[] => world.send({ kind: 'patchUser', request: 1, user: BOB, body });
    const effects = patch({ is_mm: true });
    assert.equal(effectsOf(effects, 'userChanged').at(-1)?.row.isMarketMaker, true);
    assert.equal(codeOf(reply(patch({ is_mm: 'yes' }))), 'INVALID_REQUEST');
    assert.equal(codeOf(reply(patch({ is_mm: true, fee: 1 }))), 'INVALID_REQUEST');
  });

  test('the fee account’s money is separate in the ledger (operator-api.md 6)', () => {
    const world = ClearingWorld.withMarket();
    world.fund(FEES as UserId, USD, '12.5');
    world.fund(ALICE, USD, '1');
    const { assets } = DutyCycle.unwatched.finish(ledgerView(world.state)) as {
      assets: Record<string, Record<string, string>>;
    };
    assert.equal(assets['0']?.['fees'], '12.5');
    assert.equal(assets['0']?.['spot'], '1');
    assert.equal(assets['0']?.['claims'], '0');
  });
});
