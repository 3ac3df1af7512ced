// tier: quick
/** Since when the bytes that one pass of the event loop reads may have waited. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { suite, test } from 'node:test';
import { ReadyState } from '../../src/http/readiness.ts';
import { ownThread, UNKNOWN_THREAD } from '../../src/runtime/thread-times.ts';

/** An event loop driven by hand. */
class ScriptedLoop {
  nowMs = 1_000;
  idle = 0;
  withheld = 500;
  readonly readiness: ReadyState = new ReadyState({
    nowMs: () => this.nowMs,
    idleMs: () => this.idle,
    withheldMs: () => this.withheld,
    close: () => undefined,
  });

  work(ms: number): void {
    this.nowMs += ms;
  }

  block(ms: number): void {
    this.nowMs += ms;
    this.idle += ms;
  }

  /** Runnable without a CPU. */
  starve(ms: number): void {
    this.nowMs += ms;
    this.withheld += ms;
  }

  get sinceMs(): number {
    return this.readiness.since().realMs;
  }

  get ownMs(): number {
    return this.readiness.ownMs(this.readiness.since());
  }
}

suite('readiness of sockets', () => {
  test('what a busy loop reads may have waited since the pass before began', () => {
    const loop = new ScriptedLoop();
    loop.work(30);
    loop.readiness.passEnded();
    loop.work(5);
    assert.equal(loop.sinceMs, 1_000, 'it arrived after the poll of the pass before, which began at 1,000');
    loop.work(20);
    assert.equal(loop.sinceMs, 1_000, 'the same for all that one poll reads');
    assert.equal(loop.ownMs, 55);
    loop.readiness.passEnded();
    assert.equal(loop.sinceMs, 1_030);
  });

  test('where the loop had to block, nothing was readable before: it waits since now', () => {
    const loop = new ScriptedLoop();
    loop.work(40);
    loop.readiness.passEnded();
    loop.block(5_000);
    assert.equal(loop.sinceMs, 6_040);
  });

  test('the time that the pass before was blocked does not count', () => {
    const loop = new ScriptedLoop();
    loop.block(500);
    loop.work(10);
    loop.readiness.passEnded();
    assert.equal(loop.sinceMs, 1_500);
  });

  test('the time in which the thread got no CPU is no waiting: in the pass before, in this one, and before a socket is read', () => {
    const loop = new ScriptedLoop();
    loop.work(10);
    loop.starve(300);
    loop.readiness.passEnded();
    loop.work(5);
    assert.deepEqual([loop.sinceMs, loop.ownMs], [1_000, 15]);
    loop.starve(200);
    loop.work(7);
    assert.equal(loop.ownMs, 22);
    loop.readiness.passEnded();
    assert.equal(loop.ownMs, 12, 'of the pass before it counts what it had, and nothing of the ones before that');
    loop.readiness.passEnded();
    loop.block(1_000);
    loop.starve(90);
    assert.equal(loop.ownMs, 0, 'woken late');
    loop.starve(50);
    loop.work(3);
    assert.equal(loop.ownMs, 3);
  });

  test('the real loop: a message after a pause is fresh, one behind a long pass is as old as that pass', async () => {
    const readiness = new ReadyState();
    readiness.start();
    try {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const rested = readiness.ownMs(readiness.since());
      await new Promise(setImmediate);
      const began = readiness.now();
      while (readiness.ownMs(began) < 65);
      await new Promise(setImmediate);
      const behind = readiness.ownMs(readiness.since());
      assert.ok(rested < 50, `fresh after a pause of 60 ms: ${rested} ms`);
      assert.ok(behind >= 60, `behind a pass of 65 ms: ${behind} ms`);
    } finally {
      readiness.stop();
    }
  });

  test('the real loop beside processes that compute: what the clock shows more is no waiting', {
    timeout: 60_000,
  }, async (t) => {
    if (ownThread() === UNKNOWN_THREAD) return t.skip('withheld time is known on Linux');
    const compute = (): ChildProcess => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    const rivals = Array.from({ length: 6 * availableParallelism() }, compute);
    const readiness = new ReadyState();
    readiness.start();
    try {
      const rounds: string[] = [];
      let isFound = false;
      while (!isFound && rounds.length < 200) {
        const began = readiness.now();
        while (readiness.ownMs(began) < 25);
        await new Promise(setImmediate);
        const since = readiness.since();
        const [realMs, ownMs] = [performance.now() - since.realMs, readiness.ownMs(since)];
        rounds.push(`${ownMs} of ${realMs}`);
        assert.ok(ownMs >= 20, `a pass of 25 ms: ${rounds.at(-1)}`);
        isFound = realMs > 60 && ownMs < 50;
      }
      assert.ok(isFound, rounds.join(', '));
    } finally {
      readiness.stop();
      for (const rival of rivals) rival.kill('SIGKILL');
    }
  });
});
