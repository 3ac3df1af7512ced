// tier: quick
/** The simulated chain and its vault. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  DEPOSITED_TOPIC,
  DEPOSITED_WITH_CONFIG_TOPIC,
  decodeDeposit,
  keccakText,
  U256_MAX,
} from '../../src/chain/chain-events.ts';
import { ChainStore, decodeChain, encodeChain } from '../../src/chain/chain-store.ts';
import { emptyChain, type Mined, SimulatedChain } from '../../src/chain/simulated-chain.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { chainAt, DEPOSIT, SENDER, STARTED_NS, TOKEN, VAULT } from '../support/chain-world.ts';
import { ALICE, BOB } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const SECOND = 1_000_000_000n;
const token = (decimals: number, first = 0n): typeof TOKEN => ({ ...TOKEN, decimals, minFirstDepositBaseUnits: first });

suite('simulated chain', () => {
  test('a deposit pays the vault, counts, and writes the event of wire.md 12.2 (DEP-01)', () => {
    const chain = chainAt(0);
    const first = chain.deposit({ ...DEPOSIT, baseUnits: 7n }, STARTED_NS);
    const second = chain.deposit({ ...DEPOSIT, baseUnits: 8n }, STARTED_NS);
    assert.deepEqual([first.nonce, second.nonce, first.revert, first.block, second.block], [0, 1, null, 1, 2]);
    assert.notEqual(first.tx, second.tx);
    assert.equal(chain.depositCount(ALICE), 2);
    assert.equal(chain.depositCount(BOB), 0);
    assert.equal(chain.balanceOf(TOKEN.token, VAULT), 15n);
    assert.equal(chain.balanceOf(TOKEN.token, SENDER), 0n);
    const [, log] = chain.logsFrom(1);
    assert.ok(log !== undefined);
    assert.equal(log.address, '0d'.repeat(20));
    assert.deepEqual(log.topics, [
      '9d677c46e10ba33882144473956fae8d2c52353dcde5aab8230d1bd280cfc3b4',
      ALICE,
      `${'0'.repeat(63)}1`,
      `${'0'.repeat(24)}${'5a'.repeat(20)}`,
    ]);
    assert.equal(log.data, `${'0'.repeat(63)}8`);
    assert.equal(log.blockHash, chain.hashOf(2));
    assert.deepEqual(decodeDeposit(log), { user: ALICE, nonce: 1, token: TOKEN.token, baseUnits: 8n });
  });

  test('topics are the hashes of the signatures (wire.md 12.2)', () => {
    const signer = '(bytes32,uint8,uint8,uint32,uint64,uint64)[]';
    const weights = 'uint32,uint32,uint32,uint32';
    const configured = `DepositedWithConfig(bytes32,uint256,address,uint256,${weights},${signer},bytes)`;
    assert.equal(DEPOSITED_TOPIC, '9d677c46e10ba33882144473956fae8d2c52353dcde5aab8230d1bd280cfc3b4');
    assert.equal(DEPOSITED_WITH_CONFIG_TOPIC, keccakText(configured));
  });

  const refusals: readonly [string, string, Partial<typeof DEPOSIT>][] = [
    ['without an approval (DEP-01)', 'TransferFromFailed', { approve: false }],
    ['of a sender that is not allowed', 'DepositorNotApproved', { senderAllowed: false, baseUnits: 0n }],
    ['of zero (DEP-02)', 'ZeroAmount', { baseUnits: 0n, token: token(6, 5n) }],
    ['that overflows normalization (DEP-03)', 'NormalizationOverflow', { baseUnits: U256_MAX }],
    ['that rounds to zero (DEP-04, EX-01)', 'NormalizationRoundsToZero', { baseUnits: 999_999n, token: token(24) }],
    ['below the first minimum (DEP-05)', 'FirstDepositBelowMinimum', { baseUnits: 4n, token: token(6, 5n) }],
    ['from the vault itself', 'TransferFromFailed', { from: VAULT }],
  ];
  for (const [name, revert, call] of refusals) {
    test(`a deposit ${name} reverts with ${revert} and is no event`, () => {
      const chain = chainAt(0);
      const mined = chain.deposit({ ...DEPOSIT, ...call }, STARTED_NS);
      assert.deepEqual([mined.revert, mined.nonce, mined.block], [revert, null, 1]);
      assert.deepEqual(chain.logsFrom(0), []);
      assert.equal(chain.depositCount(ALICE), 0);
    });
  }

  test('the largest amounts that normalize, the smallest that do not round away, and later small ones pass', () => {
    const chain = chainAt(0);
    const pass = (call: Partial<typeof DEPOSIT>): Mined => chain.deposit({ ...DEPOSIT, ...call }, STARTED_NS);
    assert.equal(pass({ baseUnits: U256_MAX / 10n ** 12n }).revert, null);
    assert.equal(pass({ baseUnits: 1_000_000n, token: token(24) }).revert, null);
    assert.equal(pass({ baseUnits: 5n, token: token(6, 5n), user: BOB }).revert, null);
    assert.equal(pass({ baseUnits: 1n, token: token(6, 5n), user: BOB }).revert, null);
  });

  test('a minted balance is spent before more is minted, and stays within a uint256', () => {
    const chain = chainAt(0);
    assert.notEqual(chain.mint({ token: TOKEN.token, to: SENDER, baseUnits: 10n }, STARTED_NS), null);
    chain.deposit({ ...DEPOSIT, baseUnits: 4n }, STARTED_NS);
    assert.equal(chain.balanceOf(TOKEN.token, SENDER), 6n);
    assert.equal(chain.mint({ token: TOKEN.token, to: SENDER, baseUnits: U256_MAX }, STARTED_NS), null);
    assert.equal(chain.balanceOf(TOKEN.token, SENDER), 6n);
    assert.deepEqual([...chain.holdings(VAULT)], [[TOKEN.token, 4n]]);
  });

  test('a transfer beyond the uint256 of its receiver reverts and moves nothing (WDR-08, STL-12, AMB-85)', () => {
    const chain = chainAt(0);
    const [rich, administrator, other] = [
      '7c'.repeat(20).padEnd(64, '0'),
      '3a'.repeat(20),
      '6b'.repeat(20).padEnd(64, '0'),
    ];
    chain.deposit({ ...DEPOSIT, baseUnits: 100n }, STARTED_NS);
    chain.mint({ token: TOKEN.token, to: rich, baseUnits: U256_MAX }, STARTED_NS);
    chain.setEscape(true);
    const validUntil = STARTED_NS;
    const approval = { vault: VAULT, user: ALICE, nonce: 0n, validUntil, administrators: [administrator] };
    const payout = { token: TOKEN.token, baseUnits: 1n };
    const withdrawal = { ...approval, ...payout, signers: [administrator], quorum: 1 };
    const settlement = {
      ...{ ...approval, account: 0, settler: BOB, mode: 'spot' as const, signer: administrator },
      ...{ tokenOut: TOKEN.token, baseUnitsOut: 1n, tokenIn: other, baseUnitsIn: 1n },
    };
    const exact = { allowance: null, returns: null, reenter: false };
    const pulled = {
      ...settlement,
      caller: BOB,
      registered: BOB,
      tokenIn: TOKEN.token,
      tokenOut: other,
      baseUnitsOut: 0n,
    };
    const state = chain.state();
    const reverts = [
      chain.withdraw({ ...withdrawal, target: rich }, STARTED_NS),
      chain.forceWithdraw({ ...payout, vault: VAULT, user: ALICE, to: rich }, STARTED_NS),
      chain.settle({ ...settlement, caller: rich, registered: rich, conduct: exact }, STARTED_NS),
      chain.settle({ ...pulled, conduct: { ...exact, returns: U256_MAX } }, STARTED_NS),
    ].map(({ revert }) => revert);
    assert.deepEqual(reverts, ['TransferFailed', 'TransferFailed', 'TransferFailed', 'TransferFromFailed']);
    assert.deepEqual(chain.state().balances, state.balances);
    assert.equal(chain.withdraw({ ...withdrawal, target: BOB }, STARTED_NS).revert, null);
  });

  test('blocks come by themselves each block time, however far the clock jumps, and neither twice nor early', () => {
    const chain = chainAt(0);
    assert.equal(chain.advance(STARTED_NS + SECOND - 1n, SECOND), false);
    assert.equal(chain.advance(STARTED_NS + 2n * SECOND + 1n, SECOND), true);
    assert.equal(chain.head, 2);
    chain.advance(STARTED_NS + 3n * SECOND, SECOND);
    assert.equal(chain.head, 3);
    chain.advance(STARTED_NS + 86_400n * 365n * SECOND, SECOND);
    assert.equal(chain.head, 86_400 * 365);
    chain.mine(5, 0n);
    assert.equal(chain.head, 86_400 * 365 + 5);
  });

  test('the time of a block is exact while it is known, and after a start never later than it was (WDR-10)', () => {
    const chain = chainAt(0);
    const at = (seconds: bigint): bigint => STARTED_NS + seconds * SECOND;
    chain.mine(2, at(5n));
    chain.deposit(DEPOSIT, at(7n));
    chain.advance(at(10n), SECOND);
    const times = [5n, 5n, 7n, 8n, 9n, 10n].map(at);
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6].map((block) => chain.timeOf(block)),
      times,
    );
    assert.ok(chain.reorganise({ depth: 1, keep: [], blocks: 2 }, at(20n)).ok);
    assert.deepEqual(
      [4, 5, 6, 7].map((block) => chain.timeOf(block)),
      [8n, 9n, 20n, 20n].map(at),
    );
    const kept = new SimulatedChain(chain.state());
    kept.mine(1, at(60n));
    assert.deepEqual(
      [7, 8].map((block) => kept.timeOf(block)),
      [20n, 60n].map(at),
    );
    assert.deepEqual(
      [2, 3, 5].map((block) => kept.timeOf(block)),
      [0n, at(7n), at(7n)],
      'the last time that is known',
    );
  });

  test('a chain that was kept goes on as the one that was not: heads, hashes, counters, balances', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('mine' as const), count: fc.nat(5) }),
      fc.record({ kind: fc.constant('deposit' as const), baseUnits: fc.bigInt(0n, U256_MAX), approve: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.nat(20), (steps, cut) => {
        const whole = chainAt(0);
        let kept = chainAt(0);
        let held = 0n;
        steps.forEach((next, at) => {
          if (at === cut) kept = new SimulatedChain(decodeChain(encodeChain(kept.state())));
          for (const chain of [whole, kept]) {
            if (next.kind === 'mine') chain.mine(next.count, STARTED_NS);
            else {
              const { baseUnits, approve } = next;
              const mined = chain.deposit({ ...DEPOSIT, token: token(18), baseUnits, approve }, STARTED_NS);
              if (chain === whole && mined.revert === null) held += baseUnits;
            }
          }
        });
        assert.deepEqual(kept.state(), whole.state());
        assert.equal(kept.depositCount(ALICE), whole.logsFrom(0).length);
        assert.equal(whole.balanceOf(TOKEN.token, VAULT), held);
      }),
      propertyParameters(),
    );
  });
});

suite('chain store', () => {
  test('what was saved is read back exactly, and the last save wins', async () => {
    const store = new ChainStore(temporaryDirectory());
    const chain = chainAt(0);
    assert.equal(await store.load(chain.chainId), null);
    await store.save(chain.state());
    chain.deposit({ ...DEPOSIT, token: token(18), baseUnits: 2n ** 200n + 1n }, STARTED_NS);
    await store.save(chain.state());
    assert.deepEqual(await store.load(chain.chainId), chain.state());
  });

  test('a torn temporary file next to a whole one is not looked at', async () => {
    const directory = temporaryDirectory();
    const store = new ChainStore(directory);
    const state = emptyChain(chainAt(0).chainId, STARTED_NS);
    await store.save(state);
    writeFileSync(join(directory, 'chains', `${state.chainId}.json.new`), '{"format":1,"he');
    assert.deepEqual(await store.load(state.chainId), state);
  });

  test('damage is found, not started on', async () => {
    const chain = chainAt(0);
    chain.deposit(DEPOSIT, STARTED_NS);
    const text = encodeChain(chain.state());
    const damages: readonly [string, string][] = [
      ['"format":2', '"format":3'],
      ['"head":1', '"head":0'],
      ['"headNs":"', '"headNs":"-'],
      ['"logIndex":0', '"logIndex":0.5'],
      ['"topics":["', '"topics":["zz'],
      ['}\n', ''],
    ];
    for (const [from, to] of damages) {
      assert.ok(text.includes(from), from);
      assert.throws(() => decodeChain(text.replace(from, to)), InvariantError, from);
    }
  });
});
