// tier: quick
/** How long a fail-stop waits for workers to end; its ends are in supervisor.test.ts, each in a process of its own. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { allEnded } from '../../src/runtime/fail-stop.ts';
import { Starvation } from '../../src/runtime/hang-detection.ts';
import type { ThreadTimes } from '../../src/runtime/thread-times.ts';

const WITHIN_MS = 100;

/** Of a process with one more thread in this state, which never runs. */
function starvationOf(state: ThreadTimes['state']): Starvation {
  return new Starvation({ threads: () => [1], read: () => ({ state, cpuMs: 0, waitMs: 0 }) });
}

/** @returns the milliseconds that it waited for a worker that does not end. */
async function waitFor(starvation: Starvation): Promise<number> {
  const startedAtMs = performance.now();
  assert.equal(await allEnded([{ hasEnded: () => false }], WITHIN_MS, starvation), false);
  return performance.now() - startedAtMs;
}

suite('the wait of a fail-stop for its workers (AMB-111)', () => {
  test('one that ends is not waited for any longer', async () => {
    const endsAtMs = performance.now() + WITHIN_MS / 4;
    const workers = [{ hasEnded: () => performance.now() > endsAtMs }];
    assert.equal(await allEnded(workers, WITHIN_MS, starvationOf('sleeping')), true);
  });

  test('while a thread of the process gets no CPU it is up to twenty times as long', async () => {
    const ms = await waitFor(starvationOf('runnable'));
    assert.ok(ms > 15 * WITHIN_MS && ms < 40 * WITHIN_MS, `${ms} ms`);
  });

  test('while all of them get one, or the kernel does not count, it is as long as it is to be', async () => {
    for (const starvation of [starvationOf('sleeping'), new Starvation(null)]) {
      const ms = await waitFor(starvation);
      assert.ok(ms >= WITHIN_MS && ms < 3 * WITHIN_MS, `${ms} ms`);
    }
  });
});
