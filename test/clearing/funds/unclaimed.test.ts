// tier: quick
/** Deposits that credit nothing when they come: kept, listed, credited once by an operator, bounded. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Effect } from '../../../src/clearing/effects.ts';
import { UNCLAIMED_PER_CHAIN, UNCLAIMED_PER_USER, unclaimedView } from '../../../src/clearing/funds/unclaimed.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { AssetId, ChainId, UserId } from '../../../src/core/ids.ts';
import { CapsWorld, units } from '../../support/caps-world.ts';
import { acceptedValue, CHAIN, codeOf, effectsOf, PlainTables, reply, TOKEN } from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';

const NEW_TOKEN = '99'.repeat(20).padEnd(64, '0');
const CHAIN_ID = CHAIN as ChainId;

function credit(world: CapsWorld, counter: number, user: UserId = ALICE): Effect[] {
  return world.send({ kind: 'creditUnclaimed', request: world.request(), chainId: CHAIN_ID, user, counter });
}

function listed(world: CapsWorld): readonly string[] {
  const { unclaimed } = unclaimedView(world.state, CHAIN_ID) as {
    unclaimed: readonly { user: string; counter: number; token: string; amount_base_units: string }[];
  };
  return unclaimed.map(({ counter, token, amount_base_units: amount }) => `${counter} ${token.slice(0, 2)} ${amount}`);
}

function register(world: CapsWorld, token: string, decimals: number, more: object = {}): void {
  const tokens = [
    { token: TOKEN, chain_id: CHAIN, decimals: 18 },
    { token, chain_id: CHAIN, decimals, ...more },
  ];
  acceptedValue(world.put('putAsset', USD, { tokens }, 'patch'));
}

suite('unclaimed deposits', () => {
  test('of an unregistered token: the counter advances, nothing is credited, an operator credits it once (AMB-74, DEP-10)', () => {
    const world = CapsWorld.opened(null, null);
    const landing = world.deposit(5_000n, ALICE, NEW_TOKEN);
    assert.deepEqual(acceptedValue(reply(landing)), { result: 'unknownToken', next_nonce: 1 });
    assert.deepEqual(effectsOf(landing, 'depositLanded'), []);
    world.deposit(units(7));
    assert.deepEqual(world.funds(), ['7', '0'], 'later deposits go on');
    assert.deepEqual(listed(world), ['0 99 5000']);
    assert.equal(world.ledger()['vault_holdings'], '7', 'its units count nowhere');
    const before = stateHash(world.state);
    assert.equal(codeOf(reply(credit(world, 0))), 'ASSET_NOT_FOUND');
    assert.equal(codeOf(reply(credit(world, 1))), 'NOT_FOUND', 'it was credited when it came');
    assert.equal(codeOf(reply(credit(world, 0, BOB))), 'NOT_FOUND', 'counters are per user');
    assert.equal(stateHash(world.state), before);
    register(world, NEW_TOKEN, 3);
    const credited = credit(world, 0);
    assert.deepEqual(acceptedValue(reply(credited)), {});
    const row = effectsOf(credited, 'depositLanded')[0]?.row;
    assert.deepEqual([row?.asset, row?.amount, row?.depositNonce], [USD, units(5), 0]);
    assert.deepEqual(world.funds(), ['12', '0']);
    assert.equal(world.ledger()['vault_holdings'], '12');
    assert.deepEqual(listed(world), []);
    const after = stateHash(world.state);
    assert.equal(codeOf(reply(credit(world, 0))), 'NOT_FOUND', 'once');
    assert.equal(stateHash(world.state), after);
  });

  test('what is credited later is a deposit of that time: with its fee, and over a cap a lot (AMB-73, AMB-74, AMB-75)', () => {
    const world = CapsWorld.opened(null, null);
    world.deposit(100_000n, ALICE, NEW_TOKEN);
    register(world, NEW_TOKEN, 3, { max_deposits: units(99).toString() });
    world.rates({ mode: 'fixed', deposit_rate: '0.01', withdrawal_rate: '0' });
    const row = effectsOf(credit(world, 0), 'depositLanded')[0]?.row;
    assert.deepEqual([row?.asset, row?.amount], [`${NEW_TOKEN}@${CHAIN}`, units(99)]);
    const { isolated, rebalancing_pool: pool, vault_holdings: held } = world.ledger();
    assert.deepEqual([isolated, pool, held], ['99', '1', '100']);
  });

  test('a deposit of more than balances hold waits likewise, and is refused as long as it does not fit (AMB-74)', () => {
    const world = CapsWorld.opened(null, null);
    const most = 1n << 127n;
    assert.equal(acceptedValue(reply(world.deposit(most)))['result'], 'overflow');
    assert.deepEqual(listed(world), [`0 5a ${most}`]);
    assert.equal(codeOf(reply(credit(world, 0))), 'INVALID_REQUEST');
    assert.deepEqual(listed(world), [`0 5a ${most}`]);
    assert.equal(world.state.vaultTokens.size, 0, 'its units count nowhere');
  });

  test('rows survive a checkpoint, and a credited one does not come back (AMB-74)', () => {
    const world = CapsWorld.opened(null, null);
    const tables = new PlainTables();
    world.deposit(1_000n, ALICE, NEW_TOKEN);
    world.deposit(2_000n, ALICE, NEW_TOKEN);
    tables.checkpoint(world.state);
    const hash = stateHash(world.state);
    world.state = tables.load();
    assert.equal(stateHash(world.state), hash);
    register(world, NEW_TOKEN, 3);
    credit(world, 0);
    tables.checkpoint(world.state);
    const left = stateHash(world.state);
    world.state = tables.load();
    assert.equal(stateHash(world.state), left);
    assert.deepEqual(listed(world), ['1 99 2000']);
    assert.equal(codeOf(reply(credit(world, 0))), 'NOT_FOUND');
    assert.equal(codeOf(reply(credit(world, 1))), null);
    assert.deepEqual(world.funds(), ['3', '0']);
  });

  test('the list is bounded: what comes beyond joins the youngest row of its user and token (AMB-74)', () => {
    const world = CapsWorld.opened(null, null);
    for (let count = 0; count <= UNCLAIMED_PER_USER; count += 1) world.deposit(1_000n, ALICE, NEW_TOKEN);
    assert.equal(listed(world).length, UNCLAIMED_PER_USER);
    assert.equal(listed(world).at(-1), `${UNCLAIMED_PER_USER - 1} 99 2000`);
    register(world, NEW_TOKEN, 3);
    for (let counter = 0; counter < UNCLAIMED_PER_USER; counter += 1) {
      assert.equal(codeOf(reply(credit(world, counter))), null);
    }
    assert.deepEqual(world.funds(), [String(UNCLAIMED_PER_USER + 1), '0'], 'no unit is lost');
    const users = UNCLAIMED_PER_CHAIN / UNCLAIMED_PER_USER;
    for (let at = 0; at < users; at += 1) {
      const user = (at + 16).toString(16).padStart(64, '0') as UserId;
      for (let count = 0; count < UNCLAIMED_PER_USER; count += 1) world.deposit(1n, user, '98'.repeat(32));
    }
    assert.equal(world.state.unclaimed.size, UNCLAIMED_PER_CHAIN);
    world.deposit(1n, BOB, '98'.repeat(32));
    assert.equal(world.state.unclaimed.size, UNCLAIMED_PER_CHAIN);
    assert.equal(world.state.depositCounters.get(`${CHAIN}/${BOB}`), 1, 'its counter advances all the same');
  });

  test('a token whose units are in a vault stays with its asset (AMB-116)', () => {
    const world = CapsWorld.opened(null, null);
    world.deposit(units(1));
    acceptedValue(world.put('putAsset', USD, { tokens: [] }, 'patch'));
    const tokens = [{ token: TOKEN, chain_id: CHAIN, decimals: 18 }];
    assert.equal(codeOf(world.put('putAsset', '5' as AssetId, { tokens })), 'INVALID_REQUEST');
    assert.equal(codeOf(world.put('putAsset', USD, { tokens }, 'patch')), null);
  });
});
