import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { getPublicKeyAsync, signAsync } from '@noble/ed25519';
import { VerifyPool } from '../../src/crypto/verify-pool.ts';

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
        assert.equal(pool.submit(index % 2, round * 40 + index, signature, job.text, job.publicKey), true);
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
    while (pool.submit(0, taken, job.signature, job.text, job.publicKey)) taken += 1;
    assert.ok(taken > 1000);
    assert.equal(pool.inFlight, taken);
    await pool.close();
    assert.equal(answered, taken);
  });
});
