// tier: quick
/** What the venue owes, of the ledger (LIA-02). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { balanceSlot, debitBelowZero, ensureUser, setFunds } from '../../src/clearing/balances.ts';
import { placeUnclaimed } from '../../src/clearing/funds/unclaimed.ts';
import { owedOf } from '../../src/clearing/owed.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { type Amount18, ONE_18 } from '../../src/core/units.ts';
import { Player } from '../support/clearing-player.ts';
import { step } from '../support/clearing-steps.ts';
import { CHAIN, ClearingWorld, FEES, TOKEN } from '../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const units = (count: bigint): Amount18 => (count * ONE_18) as Amount18;

suite('what is owed', () => {
  test('LIA-02: balances with what is locked, never netted over sub-accounts, users or assets; what is below 0 is negative', () => {
    const world = ClearingWorld.withMarket();
    const { state } = world;
    world.fund(ALICE, USD, '7');
    world.fund(ALICE, USD, '5', 1);
    world.fund(BOB, USD, '3');
    world.fund(BOB, ETH, '2');
    world.fund(FEES, USD, '11');
    const alice = ensureUser(state, ALICE, []);
    setFunds(state, balanceSlot(state, alice, 0, USD), { owned: units(4n), locked: units(3n) });
    debitBelowZero(state, balanceSlot(state, ensureUser(state, BOB, []), 0, ETH), units(6n));
    const token = `${TOKEN}@${CHAIN}`;
    const unknown = 'ab'.repeat(32);
    const unclaimed = { chainId: CHAIN as ChainId, user: ALICE, tx: '', logIndex: 0, credited: false };
    placeUnclaimed(state, { ...unclaimed, counter: 1, token: TOKEN, baseUnits: 1_500_000n });
    placeUnclaimed(state, { ...unclaimed, counter: 2, token: TOKEN, baseUnits: 500_000n });
    placeUnclaimed(state, { ...unclaimed, counter: 3, token: unknown, baseUnits: 9n });
    const found = new Map(owedOf(state).map((one) => [one.asset, one]));
    const of = (asset: string): ReturnType<typeof owedOf>[number] => must(found.get(asset as AssetId), asset);
    const shown = (asset: string): unknown =>
      of(asset).accounts.map(({ user, subAccount, amount }) => [user, subAccount, amount]);
    assert.deepEqual(
      shown(USD),
      [
        [ALICE, 0, units(7n)],
        [ALICE, 1, units(5n)],
        [BOB, 0, units(3n)],
      ].sort(([a], [b]) => ((a as UserId) < (b as UserId) ? -1 : a === b ? 0 : 1)),
    );
    assert.deepEqual([of(USD).own, of(USD).negative], [units(11n), 0n]);
    assert.deepEqual([shown(ETH), of(ETH).negative], [[], units(4n)]);
    assert.deepEqual(shown(token), [[ALICE, 0, units(2n)]], 'units of six decimals');
    assert.deepEqual(shown(`${unknown}@${CHAIN}`), [[ALICE, 0, 9n]], 'units of a token that no asset has');
  });

  test('LIA-02: what is owed, less what is negative, with what is own and with open legs is what vaults and faucet have, for any history', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 90, size: '+1' }), (steps) => {
        const player = new Player();
        for (const item of steps) player.play(item);
        const { state } = player.world;
        const found = new Map(owedOf(state).map((one) => [one.asset, one]));
        for (const totals of state.totals.values()) {
          const one = must(found.get(totals.asset), totals.asset);
          const owed = one.accounts.reduce((sum, { amount }) => sum + amount, 0n);
          assert.ok(one.accounts.every(({ amount }) => amount > 0n));
          const claims = owed - one.negative + one.own + one.longs - one.shorts;
          assert.equal(claims + totals.faucet, totals.vaultHoldings, totals.asset);
        }
      }),
      propertyParameters(40),
    );
  });

  test('LIA-02: a venue without users owes nothing', () => {
    const world = new ClearingWorld();
    assert.deepEqual(owedOf(world.state), []);
    world.fund(ALICE, USD, '1');
    assert.ok(owedOf(world.state).every(({ accounts }) => accounts.length <= 1));
  });
});
