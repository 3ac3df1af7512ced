// tier: quick
/** Who may place, replace and cancel orders of an account, before any signature is verified, and what is verified then. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SignerConfigRow } from '../../src/clearing/rows.ts';
import { DEFAULT_SIGNERS } from '../../src/clearing/signers/signer-config.ts';
import type { AdditionalSigner, Signatures, SignerScheme } from '../../src/codec/signatures.ts';
import { STORED_SIGNATURES_BYTES_MAX, signaturesOf } from '../../src/codec/stored-signatures.ts';
import { reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { ActionOrigin, SignedEntry } from '../../src/gateway/actions/order-entry.ts';
import { EntryWorld } from '../support/entry-world.ts';
import { ALICE } from '../support/names.ts';
import { cancelRequest, createRequest, NOW, replaceRequest } from '../support/order-fixture.ts';

const NONE = new Uint8Array();
const MASTER = new Uint8Array(64).fill(7);
const OLD = (NOW - 1_000n) as TimestampNs;

function coSigner(byte: number, scheme: SignerScheme = 'Secp256k1'): AdditionalSigner {
  const key = new Uint8Array(scheme === 'Ed25519' ? 32 : 33).fill(byte);
  return { scheme, key, signature: new Uint8Array(64).fill(byte) };
}

const [TWO, THREE, STRANGER] = [coSigner(2), coSigner(3, 'P256'), coSigner(9)] as const;
const by = (signature: Uint8Array, ...additionalSigners: AdditionalSigner[]): Signatures => ({
  signature,
  additionalSigners,
});

/** Alice has two co-signers of weight 1; an order needs a weight of `low`. */
class World extends EntryWorld {
  readonly answers: string[] = [];

  constructor(members: Partial<SignerConfigRow> = {}) {
    super();
    const signers = [TWO, THREE].map(({ scheme, key }) => {
      return { scheme, key, weight: 1, addedNs: OLD, expiresAtNs: null, maxSigningWindowNs: null };
    });
    this.signers.changed({ ...DEFAULT_SIGNERS, user: ALICE, isUnfunded: false, signers, ...members }, 1);
    this.capacity = Number.POSITIVE_INFINITY;
  }

  send(action: SignedEntry, more: Partial<ActionOrigin> = {}): string {
    this.answers.length = 0;
    const origin = { user: ALICE, connection: 1, isControl: true, ...more };
    this.entry.submit(action, origin, ({ refusal }) => this.answers.push(refusal?.code ?? 'Received'));
    return this.answers[0] ?? 'verified';
  }

  create(signed: Signatures, more: Partial<ActionOrigin> = {}, id = 'order-1'): string {
    return this.send({ kind: 'create', request: { ...createRequest({ id }), ...signed } }, more);
  }

  replace(signed: Signatures): string {
    return this.send({ kind: 'replace', request: { ...replaceRequest(), ...signed } });
  }

  cancel(signed: Signatures, more: Partial<ActionOrigin> = {}): string {
    return this.send({ kind: 'cancel', request: { ...cancelRequest(), ...signed } }, more);
  }

  /** The verdict on what waits. */
  decide(valid: boolean): void {
    for (const { done } of this.jobs.splice(0)) done(valid);
  }
}

const low = (weight: number): Partial<SignerConfigRow> => ({ thresholds: { low: weight, medium: 1, high: 1 } });

suite('the signers of order actions', () => {
  test('MSG-12, MSG-13, MSG-28: creates and replaces are of the tier low, by the master, by co-signers, or by both', () => {
    for (const act of ['create', 'replace'] as const) {
      const world = new World(low(2));
      assert.equal(world[act](by(MASTER)), 'INSUFFICIENT_SIGNER_WEIGHT', act);
      assert.equal(world[act](by(NONE, TWO)), 'INSUFFICIENT_SIGNER_WEIGHT', act);
      assert.equal(world[act](by(NONE)), 'INSUFFICIENT_SIGNER_WEIGHT', act);
      assert.deepEqual(world.jobs, [], 'nothing is verified of what is too light');
      assert.equal(world[act](by(MASTER, TWO)), 'verified', act);
      assert.equal(world[act](by(NONE, TWO, THREE)), 'verified', act);
      assert.equal(world.jobs.length, 2);
    }
  });

  test('MSG-36: a master of weight 0 places no order alone', () => {
    const world = new World({ masterWeight: 0 });
    assert.equal(world.create(by(MASTER)), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(world.create(by(NONE, THREE)), 'verified');
  });

  test('MSG-30, MSG-31: an unknown co-signer or one that is there twice refuses the request, also a cancel', () => {
    const world = new World();
    for (const act of ['create', 'replace', 'cancel'] as const) {
      assert.equal(world[act](by(MASTER, STRANGER)), 'SIGNER_UNKNOWN', act);
      assert.equal(world[act](by(MASTER, TWO, TWO)), 'SIGNER_DUPLICATE', act);
      assert.equal(world[act](by(MASTER, coSigner(2, 'P256'))), 'SIGNER_UNKNOWN', `${act}: another scheme (MSG-29)`);
    }
  });

  test('MSG-32, MSG-34: signers of an order are judged at its creation, those of a replace and a cancel now', () => {
    const signer = { ...TWO, weight: 1, addedNs: OLD, expiresAtNs: NOW - 10n, maxSigningWindowNs: null };
    const world = new World({ signers: [signer] });
    const created = (creationNs: bigint): string => {
      const request = createRequest({}, { creationNs: creationNs as TimestampNs });
      return world.send({ kind: 'create', request: { ...request, ...by(NONE, TWO) } });
    };
    assert.equal(created(NOW - 11n), 'verified');
    assert.equal(created(NOW - 10n), 'SIGNER_EXPIRED');
    assert.equal(world.replace(by(MASTER, TWO)), 'SIGNER_EXPIRED');
    assert.equal(world.cancel(by(MASTER, TWO)), 'SIGNER_EXPIRED');
  });

  test('MON-12, MSG-34: only where a co-signer has ended by its arrival an order must have been created in the last minute', () => {
    const minute = 60_000_000_000n;
    for (const [ended, age, told] of [
      [true, minute, 'verified'],
      [true, minute + 1n, 'REQUEST_TOO_OLD'],
      [false, 1_000n * minute, 'verified'],
    ] as const) {
      for (const end of ['expiry', 'window'] as const) {
        const expiresAtNs = end === 'expiry' ? (ended ? NOW - 1n : null) : null;
        const window = end === 'window' && ended ? NOW - 1n - OLD : null;
        const signer = { ...TWO, weight: 1, addedNs: OLD, expiresAtNs, maxSigningWindowNs: window };
        const world = new World({ signers: [signer] });
        const request = createRequest({}, { creationNs: (NOW - age) as TimestampNs });
        const sent = world.send({ kind: 'create', request: { ...request, ...by(NONE, TWO) } });
        assert.equal(sent, told, `${end} ${ended} ${age}`);
      }
    }
  });

  test('AMB-91, MSG-20: all signatures of a request are one question over its text; one that is bad is INVALID_SIGNATURE', () => {
    const world = new World();
    assert.equal(world.create(by(MASTER, TWO, THREE)), 'verified');
    const [{ job }] = world.jobs as [(typeof world.jobs)[0]];
    assert.equal(job.signature, MASTER);
    assert.deepEqual(job.coSigners, [TWO, THREE]);
    assert.equal(Buffer.from(job.text).toString(), 'order-1');
    world.decide(false);
    assert.deepEqual(world.answers, ['INVALID_SIGNATURE']);
    assert.equal(world.rings[0]?.words(), '', 'nothing goes to the market');
  });

  test('ORD-17, GEN-05: all signatures of an order go to its market behind its text, those of the master alone as before', () => {
    const world = new World();
    const ring = world.rings[0] as (typeof world.rings)[0];
    for (const [id, signed] of Object.entries({ a: by(MASTER, TWO), b: by(NONE, TWO, THREE), c: by(MASTER) })) {
      world.create(signed, {}, id);
      world.decide(true);
      const [sent] = ring.creates();
      assert.ok(sent !== undefined);
      assert.deepEqual(signaturesOf(sent), signed, id);
    }
  });

  test('an order that costs more signatures than one pays for each further one as for an action', () => {
    const world = new World();
    world.create(by(MASTER));
    world.create(by(NONE, TWO));
    assert.deepEqual(world.charged, [], 'one signature is what an action costs');
    world.create(by(MASTER, TWO, THREE));
    assert.deepEqual(world.charged, [{ furtherSignatures: 2 }]);
    world.refusal = reject('RATE_LIMITED', 'too many requests');
    world.jobs.length = 0;
    assert.equal(world.create(by(MASTER, TWO)), 'RATE_LIMITED');
    assert.deepEqual(world.jobs, [], 'nothing is verified that is not paid');
  });

  test('a retried create with co-signers is the one with the same co-signatures; other ones make it another request', () => {
    const world = new World();
    const retry = { mayRetry: true };
    world.create(by(NONE, TWO), retry);
    world.create(by(NONE, TWO), retry);
    assert.equal(world.jobs.length, 1, 'the retry waits for the first');
    world.create(by(NONE, THREE), retry);
    world.create(by(NONE, { ...TWO, signature: new Uint8Array(64).fill(8) }), retry);
    world.create(by(NONE, coSigner(2)), retry);
    assert.equal(world.jobs.length, 3);
  });
});

suite('the signers of cancels', () => {
  test('AMB-136, MON-13: a cancel needs a signer of the account with any weight, whatever the threshold', () => {
    const world = new World({ masterWeight: 0, ...low(5) });
    for (const signed of [by(NONE, TWO), by(MASTER, TWO, THREE)]) {
      assert.equal(world.cancel(signed), 'verified');
      world.decide(true);
    }
    assert.equal(world.cancel(by(MASTER)), 'INSUFFICIENT_SIGNER_WEIGHT', 'a retired master key');
    assert.equal(world.cancel(by(MASTER), { byCoSigners: true }), 'verified', 'the session is of the tier low');
    world.decide(true);
    assert.equal(world.cancel(by(NONE)), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(world.cancel(by(NONE, TWO)), 'verified');
    world.decide(false);
    assert.deepEqual(world.answers, ['INVALID_SIGNATURE']);
  });

  test('AMB-136: of a session that co-signers opened it needs none, and what is given is verified all the same', () => {
    const world = new World();
    const ring = world.rings[0] as (typeof world.rings)[0];
    const session = { byCoSigners: true };
    assert.equal(world.create(by(NONE), session), 'INSUFFICIENT_SIGNER_WEIGHT', 'an order is signed');
    assert.equal(world.cancel(by(NONE), session), 'verified');
    assert.equal(ring.words(), '', 'it keeps its place behind what its connection sent before');
    world.decide(false);
    assert.equal(ring.words(), 'order-1');
    assert.equal(world.cancel(by(MASTER), session), 'verified');
    world.decide(false);
    assert.deepEqual(world.answers, ['INVALID_SIGNATURE']);
    assert.equal(world.cancel(by(NONE, STRANGER), session), 'SIGNER_UNKNOWN');
  });
});

suite('injected orders', () => {
  const inject = (world: World, signed: Signatures, ...skips: ('signature' | 'multisig')[]): string => {
    world.answers.length = 0;
    const request = { ...createRequest(), ...signed };
    world.entry.inject(request, new Set(skips), ({ refusal }) => world.answers.push(refusal?.code ?? 'Received'));
    if (world.answers.length > 0) return world.answers[0] as string;
    return world.jobs.length > 0 ? 'verified' : 'sent';
  };

  test('MSG-37: past the weight, past the signatures, or past both, with all signatures that the wrapper has', () => {
    for (const [signed, skips, expected] of [
      [by(NONE, STRANGER), [], 'SIGNER_UNKNOWN'],
      [by(NONE, STRANGER), ['signature'], 'SIGNER_UNKNOWN'],
      [by(NONE, STRANGER), ['multisig'], 'verified'],
      [by(NONE, STRANGER), ['signature', 'multisig'], 'sent'],
      [by(MASTER), ['signature'], 'sent'],
      [by(NONE), ['signature'], 'sent'],
      [by(NONE), [], 'INSUFFICIENT_SIGNER_WEIGHT'],
    ] as const) {
      const world = new World();
      assert.equal(inject(world, signed, ...skips), expected, `${signed.additionalSigners.length} ${skips.join()}`);
      world.decide(true);
      const sent = world.rings[0]?.creates() ?? [];
      assert.equal(sent.length, expected === 'sent' || expected === 'verified' ? 1 : 0);
      for (const bytes of sent) assert.deepEqual(signaturesOf(bytes), signed);
    }
  });
});

test('AMB-124: a command ring that holds the longest order is enough for one with as many co-signers as there may be', () => {
  const world = new World();
  assert.ok(STORED_SIGNATURES_BYTES_MAX < 25_000);
  const signers = Array.from({ length: 16 }, (_, index) => {
    const key = new Uint8Array(33).fill(index + 1);
    return { scheme: 'WebAuthn' as const, key, signature: new Uint8Array(1_536 - 36).fill(index) };
  });
  const registered = signers.map(({ scheme, key }) => {
    return { scheme, key, weight: 1, addedNs: OLD, expiresAtNs: null, maxSigningWindowNs: null };
  });
  world.signers.changed({ ...DEFAULT_SIGNERS, user: ALICE, isUnfunded: false, signers: registered }, 2);
  assert.equal(world.create(by(MASTER, ...signers)), 'verified');
  world.decide(true);
  const [sent] = world.rings[0]?.creates() ?? [];
  assert.equal(sent?.length, STORED_SIGNATURES_BYTES_MAX);
});
