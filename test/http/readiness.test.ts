// tier: quick
/** Since when the bytes that one pass of the event loop reads may have waited. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Readiness } from '../../src/http/readiness.ts';

/** An event loop driven by hand. */
class ScriptedLoop {
  nowMs = 1_000;
  idle = 0;
  readonly readiness: Readiness = new Readiness({ nowMs: () => this.nowMs, idleMs: () => this.idle });

  work(ms: number): void {
    this.nowMs += ms;
  }

  block(ms: number): void {
    this.nowMs += ms;
    this.idle += ms;
  }
}

suite('readiness of sockets', () => {
  test('what a busy loop reads may have waited since the pass before began', () => {
    const loop = new ScriptedLoop();
    loop.work(30);
    loop.readiness.passEnded();
    loop.work(5);
    assert.equal(loop.readiness.sinceMs(), 1_000, 'it arrived after the poll of the pass before, which began at 1,000');
    loop.work(20);
    assert.equal(loop.readiness.sinceMs(), 1_000, 'the same for all that one poll reads');
    loop.readiness.passEnded();
    assert.equal(loop.readiness.sinceMs(), 1_030);
  });

  test('where the loop had to block, nothing was readable before: it waits since now', () => {
    const loop = new ScriptedLoop();
    loop.work(40);
    loop.readiness.passEnded();
    loop.block(5_000);
    assert.equal(loop.readiness.sinceMs(), 6_040);
  });

  test('the time that the pass before was blocked does not count', () => {
    const loop = new ScriptedLoop();
    loop.block(500);
    loop.work(10);
    loop.readiness.passEnded();
    assert.equal(loop.readiness.sinceMs(), 1_500);
  });

  test('the real loop: a message after a pause is fresh, one behind a long pass is as old as that pass', async () => {
    const readiness = new Readiness();
    readiness.start();
    try {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const rested = performance.now() - readiness.sinceMs();
      await new Promise(setImmediate);
      for (const untilMs = performance.now() + 60; performance.now() < untilMs; );
      await new Promise(setImmediate);
      const behind = performance.now() - readiness.sinceMs();
      assert.ok(rested < 50, `fresh after a pause of 60 ms: ${rested} ms`);
      assert.ok(behind >= 60, `behind a pass of 60 ms: ${behind} ms`);
    } finally {
      readiness.stop();
    }
  });
});
