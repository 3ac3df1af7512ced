// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { coSign, SoftwareAuthenticator, secp256k1CoSigner } from '../../src/client/co-signers.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import { HEARTBEAT_LOST_MS } from '../../src/core/limits.ts';
import type { WebAuthnPolicy } from '../../src/crypto/webauthn.ts';
import {
  type SignatureJob,
  SignatureVerifier,
  type SignatureVerifierOptions,
} from '../../src/gateway/actions/signature-verifier.ts';
import type { Part } from '../../src/gateway/sessions/shared-budget.ts';

const ENTRY = new URL('../../workers/verify.js', import.meta.url);
const LONG_MS = 60_000;
const LOOK_MS = 100;
const JOB = { connection: 1, signature: new Uint8Array(64), text: new Uint8Array(8), publicKey: new Uint8Array(32) };

function verifier(options: Partial<SignatureVerifierOptions> = {}): SignatureVerifier {
  const onDeath = (error: Error): void => assert.fail(error);
  return new SignatureVerifier({ threads: 1, onDeath, entry: ENTRY, webauthn: null, ...options });
}

/** Until a thread of the pool has answered. */
async function untilAwake(fixture: SignatureVerifier): Promise<void> {
  await new Promise((resolve) => {
    assert.ok(fixture.verify(JOB, resolve));
    fixture.flush();
  });
}

suite('the signature verifier', () => {
  test('with a pool nothing is verified on the event loop: each verdict comes later, in the order of the jobs', async () => {
    const fixture = verifier();
    const verdicts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let job = 0; job < 4; job += 1) assert.ok(fixture.verify(JOB, () => verdicts.push(4 * round + job)));
      assert.equal(verdicts.length, 4 * round, 'none before the pool has answered');
      assert.equal(fixture.inFlight, 4);
      fixture.flush();
      while (fixture.inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(
      verdicts,
      Array.from({ length: 12 }, (_, index) => index),
    );
    await fixture.close();
  });

  test('where the kernel reports nothing of threads, a watcher that gets a tenth of its turns gives a thread ten times as long', async () => {
    const fixture = verifier({ times: null });
    await untilAwake(fixture);
    // No time passes for the thread between these looks; it still records a heartbeat now and then.
    let nowMs = 0;
    for (; nowMs < 5 * HEARTBEAT_LOST_MS; nowMs += 10 * LOOK_MS) assert.equal(fixture.hang(nowMs), null);
    for (const fromMs = nowMs; fixture.hang(nowMs) === null; nowMs += LOOK_MS) {
      assert.ok(nowMs - fromMs < 1_000 * HEARTBEAT_LOST_MS, 'a thread that stands is found');
    }
    await fixture.close();
  });

  test('a closed pool does not hang, however long the rest of a stop takes', async () => {
    const fixture = verifier();
    await untilAwake(fixture);
    await fixture.close();
    for (let nowMs = 0; nowMs < LONG_MS; nowMs += LOOK_MS) assert.equal(fixture.hang(nowMs), null);
  });

  test('signatures of keys without funds leave capacity for those of users, and those for cancels', async () => {
    const fixture = verifier();
    await untilAwake(fixture);
    let answered = 0;
    const submit = (part: Part): number => {
      let taken = 0;
      while (taken < 5_000 && fixture.verify({ ...JOB, part }, () => (answered += 1))) taken += 1;
      return taken;
    };
    // Nothing is sent before the flush, so nothing leaves the queue.
    const taken = [submit('public'), submit('user'), submit('cancel')] as const;
    assert.deepEqual(taken.slice(0, 2), [64, 288]);
    assert.ok(taken[2] >= 90, `${taken[2]} cancels beyond`);
    fixture.flush();
    await fixture.close();
    assert.equal(answered, taken[0] + taken[1] + taken[2]);
  });

  test('an urgent signature overtakes those that wait, at most sixteen of a turn, and none while few wait', async () => {
    const fixture = verifier();
    await untilAwake(fixture);
    const order: string[] = [];
    const verify = (name: string, isUrgent: boolean): boolean =>
      fixture.verify({ ...JOB, part: 'cancel', isUrgent }, () => order.push(name));
    for (let number = 0; number < 7; number += 1) verify(`${number}`, false);
    verify('early', true);
    assert.deepEqual(order, [], 'seven wait: it keeps its place');
    for (let number = 0; number < 20; number += 1) verify(`urgent ${number}`, true);
    assert.deepEqual(
      order,
      Array.from({ length: 16 }, (_, number) => `urgent ${number}`),
    );
    fixture.flush();
    await fixture.close();
    assert.equal(order.length, 28);
    assert.deepEqual(order.slice(16, 24), ['0', '1', '2', '3', '4', '5', '6', 'early'], 'the rest in order');
  });

  test('a request without a signature is answered at once, but not before what its connection sent', async () => {
    const fixture = verifier();
    await untilAwake(fixture);
    const order: string[] = [];
    const place = { ...JOB, isUnsigned: true };
    assert.ok(fixture.verify(place, (isValid) => order.push(`alone ${isValid}`)));
    order.push('at once');
    assert.ok(fixture.verify(JOB, () => order.push('signed')));
    assert.ok(fixture.verify(place, () => order.push('behind it')));
    fixture.flush();
    await fixture.close();
    assert.deepEqual(order, ['alone true', 'at once', 'signed', 'behind it']);
  });

  test('a job with n co-signers counts as n + 1 in the bound of its part', async () => {
    const fixture = verifier();
    await untilAwake(fixture);
    const coSigner = { scheme: 'Ed25519' as const, key: new Uint8Array(32), signature: new Uint8Array(64) };
    const submit = (part: Part, coSigners: number): number => {
      let taken = 0;
      const job = { ...JOB, part, coSigners: new Array(coSigners).fill(coSigner) };
      while (taken < 5_000 && fixture.verify(job, () => (answered += 1))) taken += 1;
      return taken;
    };
    let answered = 0;
    // 64 signatures of keys without funds, 352 with those of users.
    assert.equal(submit('public', 15), 4);
    assert.equal(answered, 0);
    assert.equal(submit('public', 0), 0);
    assert.equal(submit('user', 16), 16);
    assert.equal(submit('user', 16), 0);
    assert.equal(submit('user', 15), 1);
    assert.equal(submit('user', 0), 0);
    fixture.flush();
    await fixture.close();
    assert.equal(answered, 21);
  });

  test('without a pool all signatures of a job are verified inline, and one verdict is given (MSG-28)', () => {
    const policy = { rpId: 'localhost', origins: ['http://localhost'] };
    const seed = new Uint8Array(32).fill(3);
    const key = keyFromSeed(seed);
    const authenticator = new SoftwareAuthenticator(seed, { rpId: 'localhost', origin: 'http://localhost' });
    const text = Buffer.from('{"nonce":1}');
    const coSigners = coSign([secp256k1CoSigner(seed), authenticator], text);
    const signature = key.sign(text);
    const job = { connection: 1, text, publicKey: Buffer.from(key.userId, 'hex') };
    const verdictOf = (
      given: Pick<SignatureJob, 'signature' | 'coSigners'>,
      webauthn: WebAuthnPolicy | null,
    ): boolean => {
      const verdicts: boolean[] = [];
      assert.ok(verifier({ threads: 0, webauthn }).verify({ ...job, ...given }, (valid) => verdicts.push(valid)));
      assert.equal(verdicts.length, 1);
      return verdicts[0] === true;
    };
    assert.equal(verdictOf({ signature, coSigners }, policy), true);
    assert.equal(verdictOf({ signature: new Uint8Array(), coSigners }, policy), true);
    assert.equal(verdictOf({ signature, coSigners }, null), false);
    assert.equal(verdictOf({ signature: signature.toReversed(), coSigners }, policy), false);
    assert.equal(verdictOf({ signature, coSigners: coSigners.toReversed() }, policy), true);
    assert.equal(verdictOf({ signature: new Uint8Array(), coSigners: [] }, policy), false);
  });
});
