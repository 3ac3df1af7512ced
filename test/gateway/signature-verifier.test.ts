import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { HEARTBEAT_LOST_MS } from '../../src/core/limits.ts';
import type { Part } from '../../src/gateway/sessions/shared-budget.ts';
import { SignatureVerifier } from '../../src/gateway/signature-verifier.ts';

const ENTRY = new URL('../../workers/verify.js', import.meta.url);
const LONG_MS = 60_000;
const LOOK_MS = 100;
const JOB = { connection: 1, signature: new Uint8Array(64), text: new Uint8Array(8), publicKey: new Uint8Array(32) };

/** Until a thread of the pool has answered: the first job of a turn is answered inline, the second by the pool. */
async function untilAwake(fixture: SignatureVerifier): Promise<void> {
  fixture.verify(JOB, () => undefined);
  await new Promise((resolve) => {
    assert.ok(fixture.verify(JOB, resolve));
    fixture.flush();
  });
}

suite('the signature verifier', () => {
  test('where the kernel reports nothing of threads, a watcher that gets a tenth of its turns gives a thread ten times as long', async () => {
    const fixture = new SignatureVerifier(1, (error) => assert.fail(error), ENTRY, null);
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
    const fixture = new SignatureVerifier(1, (error) => assert.fail(error), ENTRY);
    await untilAwake(fixture);
    await fixture.close();
    for (let nowMs = 0; nowMs < LONG_MS; nowMs += LOOK_MS) assert.equal(fixture.hang(nowMs), null);
  });

  test('signatures of keys without funds leave capacity for those of users, and those for cancels', async () => {
    const fixture = new SignatureVerifier(1, (error) => assert.fail(error), ENTRY);
    await untilAwake(fixture);
    let answered = 0;
    const submit = (part: Part): number => {
      let taken = 0;
      while (taken < 5_000 && fixture.verify({ ...JOB, part }, () => (answered += 1))) taken += 1;
      return taken;
    };
    // The first of the turn is verified inline. Nothing is sent before the flush, so nothing leaves the queue.
    const taken = [submit('public'), submit('user'), submit('cancel')] as const;
    assert.deepEqual(taken.slice(0, 2), [65, 288]);
    assert.ok(taken[2] >= 90, `${taken[2]} cancels beyond`);
    fixture.flush();
    await fixture.close();
    assert.equal(answered, taken[0] + taken[1] + taken[2]);
  });
});
