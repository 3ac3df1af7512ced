// tier: quick
/** The tree of what can be withdrawn (CHN-07): one root for the same entries, a proof for each, and none for another. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { EMPTY_ROOT, isProven, type WithdrawableEntry, WithdrawableTree } from '../../src/chain/withdrawable-tree.ts';
import { propertyParameters } from '../support/property.ts';

const entry = fc.record({
  user: fc.integer({ min: 0, max: 255 }).map((byte) => byte.toString(16).padStart(2, '0').repeat(32)),
  account: fc.integer({ min: 0, max: 255 }),
  token: fc.constantFrom('5a', '6b').map((byte) => byte.repeat(20).padEnd(64, '0')),
  baseUnits: fc.bigInt(1n, 1n << 128n),
  withdrawals: fc.nat(9),
  settlements: fc.nat(9),
});
const entries = fc.uniqueArray(entry, {
  maxLength: 40,
  selector: ({ user, account, token }) => `${user}/${account}/${token}`,
});

suite('the tree of withdrawables', () => {
  test('property: each entry has a proof; changed in any member it has none (CHN-07)', () => {
    fc.assert(
      fc.property(entries, fc.bigInt(1n, 1n << 64n), (list, more) => {
        const tree = new WithdrawableTree(list);
        assert.equal(new WithdrawableTree([...list].reverse()).root, tree.root);
        for (const one of list) {
          const proof = tree.proof(one);
          assert.ok(proof !== null && isProven(tree.root, one, proof));
          const others: readonly WithdrawableEntry[] = [
            { ...one, baseUnits: one.baseUnits + more },
            { ...one, account: one.account + 256 },
            { ...one, withdrawals: one.withdrawals + 10 },
            { ...one, settlements: one.settlements + 10 },
            { ...one, user: `ff${one.user.slice(0, 60)}00` },
            { ...one, token: `ff${one.token.slice(2)}` },
          ];
          for (const other of others) {
            assert.equal(tree.proof(other), null);
            assert.equal(isProven(tree.root, other, proof), false);
          }
        }
      }),
      propertyParameters(60),
    );
  });

  test('nothing to withdraw is proven by nothing', () => {
    const tree = new WithdrawableTree([]);
    assert.equal(tree.root, EMPTY_ROOT);
    const one = {
      user: 'a1'.repeat(32),
      account: 0,
      token: '5a'.repeat(20).padEnd(64, '0'),
      baseUnits: 1n,
      withdrawals: 0,
      settlements: 0,
    };
    assert.equal(isProven(EMPTY_ROOT, one, []), false);
    assert.deepEqual(new WithdrawableTree([one]).proof(one), []);
  });
});
