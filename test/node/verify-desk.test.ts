import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { VerifyDesk } from '../../src/node/verify-desk.ts';

const ENTRY = new URL('../../workers/verify.js', import.meta.url);
const LONG_MS = 60_000;
const LOOK_MS = 100;
const JOB = { connection: 1, signature: new Uint8Array(64), text: new Uint8Array(8), publicKey: new Uint8Array(32) };

/** Until a thread of the pool has answered: the first job of a turn is answered inline, the second by the pool. */
async function untilAwake(desk: VerifyDesk): Promise<void> {
  desk.verify(JOB, () => undefined);
  await new Promise((resolve) => {
    assert.ok(desk.verify(JOB, resolve));
    desk.flush();
  });
}

suite('the verify desk', () => {
  test('a closed pool is not frozen, however long the rest of a stop takes', async () => {
    const desk = new VerifyDesk(1, (error) => assert.fail(error), ENTRY);
    await untilAwake(desk);
    await desk.close();
    for (let nowMs = 0; nowMs < LONG_MS; nowMs += LOOK_MS) assert.equal(desk.isFrozen(nowMs), false);
  });
});
