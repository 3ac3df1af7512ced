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
async function untilAwake(desk: SignatureVerifier): Promise<void> {
  desk.verify(JOB, () => undefined);
  await new Promise((resolve) => {
    assert.ok(desk.verify(JOB, resolve));
    desk.flush();
  });
}

suite('the signature verifier', () => {
  test('where the kernel reports nothing of threads, a watcher that gets a tenth of its turns gives a thread ten times as long', async () => {
    const desk = new SignatureVerifier(1, (error) => assert.fail(error), ENTRY, null);
    await untilAwake(desk);
    // No time passes for the thread between these looks; it still records a heartbeat now and then.
    let nowMs = 0;
    for (; nowMs < 5 * HEARTBEAT_LOST_MS; nowMs += 10 * LOOK_MS) assert.equal(desk.hang(nowMs), null);
    for (const fromMs = nowMs; desk.hang(nowMs) === null; nowMs += LOOK_MS) {
      assert.ok(nowMs - fromMs < 1_000 * HEARTBEAT_LOST_MS, 'a thread that stands is found');
    }
    await desk.close();
  });

  test('a closed pool does not hang, however long the rest of a stop takes', async () => {
    const desk = new SignatureVerifier(1, (error) => assert.fail(error), ENTRY);
    await untilAwake(desk);
    await desk.close();
    for (let nowMs = 0; nowMs < LONG_MS; nowMs += LOOK_MS) assert.equal(desk.hang(nowMs), null);
  });

  test('signatures of keys without funds leave capacity for those of users, and those for cancels', async () => {
    const desk = new SignatureVerifier(1, (error) => assert.fail(error), ENTRY);
    await untilAwake(desk);
    let answered = 0;
    const submit = (part: Part): number => {
      let taken = 0;
      while (taken < 5_000 && desk.verify({ ...JOB, part }, () => (answered += 1))) taken += 1;
      return taken;
    };
    // The first of the turn is verified inline. Nothing is sent before the flush, so nothing leaves the queue.
    const taken = [submit('public'), submit('user'), submit('cancel')] as const;
    assert.deepEqual(taken.slice(0, 2), [65, 288]);
    assert.ok(taken[2] >= 90, `${taken[2]} cancels beyond`);
    desk.flush();
    await desk.close();
    assert.equal(answered, taken[0] + taken[1] + taken[2]);
  });
});
