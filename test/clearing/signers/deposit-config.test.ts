// tier: quick
/** What a deposit configures, in clearing: once, by the rules, and never at the expense of its credit. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SignerSetup } from '../../../src/clearing/signers/deposit-config.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { ChainId } from '../../../src/core/ids.ts';
import {
  acceptedValue,
  CHAIN,
  ClearingWorld,
  effectsOf,
  PlainTables,
  reply,
  TOKEN,
} from '../../support/clearing-world.ts';
import { ALICE, USD } from '../../support/names.ts';

const SETUP: SignerSetup = {
  masterWeight: 1,
  thresholds: { low: 1, medium: 1, high: 2 },
  signers: [{ scheme: 'P256', key: new Uint8Array(33).fill(2), weight: 1, expiresAtNs: null, maxSigningWindowNs: 7n }],
};

suite('what a deposit configures', () => {
  function deposited(world: ClearingWorld, depositNonce: number, setup?: SignerSetup, token = TOKEN) {
    const effects = world.send({
      kind: 'deposit',
      request: world.request(),
      chainId: CHAIN as ChainId,
      tx: 'dd'.repeat(32),
      logIndex: depositNonce,
      user: ALICE,
      token,
      baseUnits: 1_000_000n,
      depositNonce,
      ...(setup === undefined ? {} : { setup }),
    });
    return { effects, result: acceptedValue(reply(effects))['result'] };
  }
  const ownedBy = (world: ClearingWorld) => world.state.users.get(ALICE)?.subAccounts.get(0)?.balances.get(USD)?.owned;

  test('MSG-04, AMB-132: a first configuration is in force from its batch on, published and durable; config_nonce stays 0', () => {
    const world = ClearingWorld.withMarket();
    const { effects, result } = deposited(world, 0, SETUP);
    assert.equal(result, 'credited');
    const [published] = effectsOf(effects, 'signersChanged');
    const { row, configNonce } = published ?? assert.fail();
    assert.deepEqual(
      [configNonce, row.setNs, row.isUnfunded, row.signers[0]?.addedNs],
      [0, world.nowNs, false, world.nowNs],
    );
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
  });

  test('MSG-05: a second one changes nothing and is credited', () => {
    const world = ClearingWorld.withMarket();
    deposited(world, 0, SETUP);
    const first = world.state.signers.rowOf(ALICE);
    assert.equal(deposited(world, 1, { ...SETUP, masterWeight: 9 }).result, 'credited');
    assert.equal(world.state.signers.rowOf(ALICE), first);
    assert.equal(ownedBy(world), 2n * 10n ** 18n);
  });

  test('MSG-06 to MSG-09: one that breaks a rule is ignored, its deposit credited, and a later one may count', () => {
    const world = ClearingWorld.withMarket();
    const signer = SETUP.signers[0] ?? assert.fail();
    const wrong: readonly SignerSetup[] = [
      { ...SETUP, thresholds: { low: 0, medium: 1, high: 1 } },
      { ...SETUP, thresholds: { low: 1, medium: 1, high: 3 } },
      { ...SETUP, signers: [signer, signer] },
      { ...SETUP, signers: [{ ...signer, scheme: 'Ed25519', key: Buffer.from(ALICE, 'hex') }] },
    ];
    for (const [nonce, setup] of wrong.entries()) assert.equal(deposited(world, nonce, setup).result, 'credited');
    assert.equal(world.state.signers.rowOf(ALICE), undefined);
    assert.equal(ownedBy(world), BigInt(wrong.length) * 10n ** 18n);
    deposited(world, wrong.length, SETUP);
    assert.equal(world.state.signers.rowOf(ALICE)?.signers.length, 1);
  });

  test('DEP-10, MSG-04: a duplicate configures nothing; a deposit that is not credited does, as it counts', () => {
    const world = ClearingWorld.withMarket();
    deposited(world, 0);
    assert.equal(deposited(world, 0, SETUP).result, 'duplicate');
    assert.equal(deposited(world, 2, SETUP).result, 'gap');
    assert.equal(world.state.signers.rowOf(ALICE), undefined);
    assert.equal(deposited(world, 1, SETUP, '99'.repeat(32)).result, 'unknownToken');
    assert.equal(world.state.signers.rowOf(ALICE)?.signers.length, 1);
  });
});
