// tier: quick
/** Clearing's own decision about signers: who signed is judged again, and what add-signer leaves in state and tables. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AddSigner } from '../../../src/clearing/inputs.ts';
import type { SignedBy } from '../../../src/clearing/signers/signer-config.ts';
import { ACTION_TIERS } from '../../../src/clearing/signers/signer-configs.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { SignerKey } from '../../../src/codec/signatures.ts';
import type { UserId } from '../../../src/core/ids.ts';
import { UNFUNDED_SIGNERS_MAX } from '../../../src/core/limits.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { type Answer, ClearingWorld, codeOf, effectsOf, PlainTables, reply } from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';

const KEY: SignerKey = { scheme: 'P256', key: new Uint8Array(33).fill(2) };
const OTHER: SignerKey = { scheme: 'Ed25519', key: new Uint8Array(32).fill(3) };

function adding(world: ClearingWorld, members: Partial<AddSigner> = {}): AddSigner {
  return {
    kind: 'addSigner',
    request: world.request(),
    user: ALICE,
    signer: KEY,
    weight: 1,
    sessionDurationNs: null,
    ceNonce: 0,
    ...members,
  };
}

function add(world: ClearingWorld, members: Partial<AddSigner> = {}): Answer {
  return reply(world.send(adding(world, members)));
}

function funded(): ClearingWorld {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '100');
  return world;
}

const of = (...coSigners: SignerKey[]): SignedBy => ({ hasMaster: false, coSigners });

suite('signers in clearing', () => {
  test('MSG-37: clearing judges the weight of every signed action over its own state, and refuses without a change', () => {
    const world = funded();
    assert.equal(codeOf(add(world, { sessionDurationNs: 5n })), null);
    const { signers } = world.state;
    const row = signers.rowOf(ALICE) ?? assert.fail();
    signers.place({ ...row, masterWeight: 0, thresholds: { low: 1, medium: 2, high: 2 } });
    const hash = stateHash(world.state);
    const user = ALICE;
    const transfer = { sourceIndex: 0, targetIndex: 1, asset: USD, amount: 1n as never, targetType: null, nonce: 1n };
    const actions = (signedBy?: SignedBy) => {
      const signed = signedBy === undefined ? { request: 1 } : { request: 1, signedBy };
      const chain = { token: '5a'.repeat(32), chainId: '00'.repeat(9) as never };
      return [
        { kind: 'transfer' as const, user, ...transfer, ...signed },
        { kind: 'closePosition' as const, user, account: 1, asset: USD, nonce: 1n, ...signed },
        {
          ...{ kind: 'withdraw' as const, user, ...chain, amount: 1n as never, target: '7c'.repeat(32) },
          ...{ nonce: null, isShort: false, ...signed },
        },
        { kind: 'cancelWithdrawal' as const, user, ...chain, nonce: 0, ...signed },
        {
          ...{
            kind: 'settle' as const,
            user,
            subAccount: 1,
            chainId: chain.chainId,
            vault: null,
            mode: 'spot' as const,
          },
          ...{ tokenOut: '5a'.repeat(32), amountOut: 1n as never, tokenIn: '6b'.repeat(32), amountIn: 1n as never },
          ...{ settler: BOB, maker: null, nonce: null, expiresNs: null, blockTime: 0, shortfall: null, ...signed },
        },
        adding(world, { ceNonce: 1, signer: OTHER, ...signed }),
      ];
    };
    const kinds = actions().map(({ kind }) => kind);
    assert.deepEqual(kinds.sort(), Object.keys(ACTION_TIERS).sort(), 'every signed action');
    for (const signedBy of [undefined, of()]) {
      for (const input of actions(signedBy)) {
        assert.equal(codeOf(reply(world.send(input))), 'INSUFFICIENT_SIGNER_WEIGHT', input.kind);
      }
    }
    for (const input of actions(of(OTHER)))
      assert.equal(codeOf(reply(world.send(input))), 'SIGNER_UNKNOWN', input.kind);
    for (const input of actions(of(KEY, KEY))) {
      assert.equal(codeOf(reply(world.send(input))), 'SIGNER_DUPLICATE', input.kind);
    }
    assert.equal(stateHash(world.state), hash);
    const low = actions(of(KEY)).map((input) => codeOf(reply(world.send(input))));
    const weak = 'INSUFFICIENT_SIGNER_WEIGHT';
    assert.deepEqual(low, [weak, 'POSITION_NOT_FOUND', weak, weak, weak, weak]);
    world.nowNs = (world.nowNs + 5n) as TimestampNs;
    assert.equal(codeOf(reply(world.send(actions(of(KEY))[1] ?? assert.fail()))), 'SIGNER_EXPIRED');
  });

  test('MSG-39, NON-05: a signer is added with the next config_nonce, published, and in the tables', () => {
    const world = funded();
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const before = stateHash(world.state);
    const effects = world.send(adding(world, { weight: 7, sessionDurationNs: 10n }));
    assert.equal(codeOf(reply(effects)), null);
    const [published] = effectsOf(effects, 'signersChanged');
    assert.deepEqual([published?.configNonce, published?.row.signers.length, published?.row.setNs], [1, 1, 0n]);
    assert.equal(published?.row.isUnfunded, false);
    assert.notEqual(stateHash(world.state), before);
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
    assert.equal(codeOf(add(world, { ceNonce: 0, signer: OTHER })), 'INVALID_NONCE');
    assert.equal(codeOf(add(world, { ceNonce: 1 })), 'SIGNER_DUPLICATE');
    assert.equal(codeOf(add(world, { ceNonce: 1, signer: OTHER })), null);
  });

  test('AMB-139: places of accounts that were configured without funds are limited; an account with funds needs none', () => {
    const world = funded();
    const userOf = (index: number) => index.toString(16).padStart(64, '0') as UserId;
    for (let index = 0; index < UNFUNDED_SIGNERS_MAX; index += 1) {
      const row = { user: userOf(index), isUnfunded: true, masterWeight: 1, setNs: 0n as never };
      world.state.signers.place({ ...row, thresholds: { low: 1, medium: 1, high: 1 }, signers: [] });
    }
    assert.equal(codeOf(add(world, { user: BOB })), 'INVALID_REQUEST');
    assert.equal(world.state.users.has(BOB), false);
    assert.equal(codeOf(add(world)), null);
    world.fund(BOB, USD, '1');
    assert.equal(codeOf(add(world, { user: BOB })), null);
  });
});
