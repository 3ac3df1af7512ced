// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { getPublicKeyAsync, signAsync } from '@noble/ed25519';
import {
  coSign,
  ed25519CoSigner,
  p256CoSigner,
  SoftwareAuthenticator,
  secp256k1CoSigner,
} from '../../src/client/co-signers.ts';
import type { AdditionalSigner } from '../../src/codec/signatures.ts';
import { type PoolJob, VerifyPool } from '../../src/crypto/verify-pool.ts';

const SEED = new Uint8Array(32).fill(7);

async function signed(count: number) {
  const publicKey = await getPublicKeyAsync(SEED);
  const jobs = [];
  for (let index = 0; index < count; index += 1) {
    const text = new TextEncoder().encode(`{"order_id":"order-${index}"}`);
    jobs.push({ text, signature: await signAsync(text, SEED), publicKey });
  }
  return jobs;
}

suite('verify pool', () => {
  test('verdicts of one channel come back in the order of its jobs, and a forged signature among them is refused', async () => {
    const jobs = await signed(40);
    const verdicts: { ticket: number; valid: boolean }[] = [];
    const pool = new VerifyPool({
      threads: 2,
      onVerdict: (ticket, valid) => verdicts.push({ ticket, valid }),
      onDeath: (error) => assert.fail(error),
    });
    for (let round = 0; round < 10; round += 1) {
      for (const [index, job] of jobs.entries()) {
        const signature = job.signature.slice();
        if (index % 7 === 3) signature[10] = (signature[10] ?? 0) ^ 4;
        assert.equal(pool.submit(index % 2, round * 40 + index, { ...job, signature }), true);
      }
      pool.flush();
      while (pool.inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await pool.close();
    assert.equal(verdicts.length, 400);
    for (const { ticket, valid } of verdicts) assert.equal(valid, (ticket % 40) % 7 !== 3, `job ${ticket}`);
    for (const parity of [0, 1]) {
      const channel = verdicts.map((verdict) => verdict.ticket).filter((ticket) => (ticket % 40) % 2 === parity);
      assert.deepEqual(
        channel,
        channel.toSorted((a, b) => a - b),
      );
    }
  });

  test('a full channel answers false and takes nothing; closing answers what was taken', async () => {
    const [job] = await signed(1);
    assert.ok(job !== undefined);
    let answered = 0;
    const pool = new VerifyPool({
      threads: 1,
      onVerdict: () => {
        answered += 1;
      },
      onDeath: (error) => assert.fail(error),
    });
    let taken = 0;
    while (pool.submit(0, taken, job)) taken += 1;
    assert.ok(taken > 1000);
    assert.equal(pool.inFlight, taken);
    await pool.close();
    assert.equal(answered, taken);
  });

  test('a job with co-signers is valid when all of its signatures are, by every scheme, with the master key or without (MSG-20, MSG-28)', async () => {
    const policy = { rpId: 'localhost', origins: ['http://localhost'] };
    const authenticator = new SoftwareAuthenticator(SEED, { rpId: 'localhost', origin: 'http://localhost' });
    const signers = [
      ed25519CoSigner(SEED),
      secp256k1CoSigner(SEED),
      secp256k1CoSigner(SEED, 'personal'),
      p256CoSigner(SEED),
    ];
    const text = new TextEncoder().encode('{"order_id":"co-signed"}');
    const all = coSign([...signers, authenticator], text);
    const publicKey = await getPublicKeyAsync(SEED);
    const signature = await signAsync(text, SEED);
    const none = new Uint8Array();
    const broken = (at: number): readonly AdditionalSigner[] =>
      all.map((given, index) => {
        const bytes = Uint8Array.from(given.signature);
        if (index === at) bytes[20] = (bytes[20] ?? 0) ^ 1;
        return { ...given, signature: bytes };
      });
    const forged = Uint8Array.from(signature);
    forged[9] = (forged[9] ?? 0) ^ 1;
    const cases: readonly (readonly [Omit<PoolJob, 'text' | 'publicKey'>, boolean])[] = [
      [{ signature, coSigners: all }, true],
      [{ signature: none, coSigners: all }, true],
      [{ signature: forged, coSigners: all }, false],
      ...all.map((_, at) => [{ signature, coSigners: broken(at) }, false] as const),
      ...all.map((given) => [{ signature: none, coSigners: [given] }, true] as const),
      [{ signature: none, coSigners: new Array(16).fill(all[4]) }, true],
      // A plain job behind them finds nothing of what was in the ring before it.
      [{ signature }, true],
      [{ signature: forged }, false],
    ];
    for (const webauthn of [policy, null]) {
      const verdicts: boolean[] = [];
      const onDeath = (error: Error): void => assert.fail(error);
      const pool = new VerifyPool({ threads: 1, onVerdict: (_, valid) => verdicts.push(valid), onDeath, webauthn });
      let signatures = 0;
      for (const [index, [job]] of cases.entries()) {
        assert.ok(pool.submit(0, index, { ...job, text, publicKey }));
        signatures += 1 + (job.coSigners?.length ?? 0);
        assert.equal(pool.inFlight, signatures, 'a job with n co-signers is n + 1');
      }
      await pool.close();
      assert.equal(pool.inFlight, 0);
      const usesWebAuthn = (job: Pick<PoolJob, 'coSigners'>): boolean =>
        job.coSigners?.some((given) => given.scheme === 'WebAuthn') ?? false;
      const expected = cases.map(([job, valid]) => valid && (webauthn !== null || !usesWebAuthn(job)));
      assert.deepEqual(verdicts, expected);
    }
  });
});
