// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { HEARTBEAT_LOST_MS, WATCH_MS } from '../../src/core/limits.ts';
import { createThreadBlocks, ThreadBlock, Watch } from '../../src/runtime/heartbeat.ts';

/** Moves the monotonic clock by hand. */
function withTime(run: (pass: (ms: number) => void) => void): void {
  const real = performance.now;
  let passedMs = 0;
  performance.now = () => real.call(performance) + passedMs;
  try {
    run((ms) => {
      passedMs += ms;
    });
  } finally {
    performance.now = real;
  }
}

suite('heartbeat', () => {
  /** Looks, on time, until a thread is lost. @returns how long that takes. */
  function lostAfterMs(watch: Watch, pass: (ms: number) => void): number {
    for (let passedMs = 0; passedMs < 60_000; passedMs += WATCH_MS) {
      if (watch.lost() !== null) return passedMs;
      pass(WATCH_MS);
    }
    return Number.POSITIVE_INFINITY;
  }
  const isInTime = (ms: number): boolean => Math.abs(ms - HEARTBEAT_LOST_MS) <= 2 * WATCH_MS;

  test('a running thread that falls silent is lost; one that starts, recovers, drains or has stopped is not', () => {
    withTime((pass) => {
      const blocks = createThreadBlocks(2);
      const [steady, silent] = [new ThreadBlock(blocks, 0), new ThreadBlock(blocks, 1)];
      const watch = new Watch([steady, silent], null);
      for (const block of [steady, silent]) block.setState('running');
      const tookMs = lostAfterMs(watch, (ms) => {
        pass(ms);
        steady.heartbeat();
      });
      assert.ok(isInTime(tookMs), `${tookMs} ms`);
      pass(WATCH_MS);
      steady.heartbeat();
      assert.equal(watch.lost()?.index, 1);
      for (const state of ['starting', 'recovering', 'draining', 'stopped'] as const) {
        silent.setState(state);
        for (let ms = 0; ms < 2 * HEARTBEAT_LOST_MS; ms += WATCH_MS) {
          pass(WATCH_MS);
          steady.heartbeat();
          assert.equal(watch.lost(), null);
        }
      }
    });
  });

  test('a watcher that was suspended itself gives all threads time for a heartbeat first', () => {
    withTime((pass) => {
      const block = new ThreadBlock(createThreadBlocks(1), 0);
      const watch = new Watch([block], null);
      block.setState('running');
      assert.equal(watch.lost(), null);
      pass(60_000);
      const tookMs = lostAfterMs(watch, pass);
      assert.ok(isInTime(tookMs), `${tookMs} ms`);
    });
  });

  test('a watcher that gets a tenth of its turns gives ten times as long: who is starved with it is not lost', () => {
    withTime((pass) => {
      const blocks = createThreadBlocks(2);
      const [starved, frozen] = [new ThreadBlock(blocks, 0), new ThreadBlock(blocks, 1)];
      for (const block of [starved, frozen]) block.setState('running');
      const watch = new Watch([starved, frozen], null);
      let passedMs = 0;
      for (; watch.lost() === null; passedMs += 10 * WATCH_MS) {
        pass(10 * WATCH_MS);
        // Every five seconds it has a turn.
        if (passedMs % 5_000 === 0) starved.heartbeat();
        assert.ok(passedMs < 60_000, 'what is frozen is found all the same');
      }
      pass(WATCH_MS);
      assert.equal(watch.lost()?.index, 1);
      assert.ok(passedMs > 10 * HEARTBEAT_LOST_MS, `${passedMs} ms`);
    });
  });

  test('a tick counts for who looked before it began, over the wrap of the count too', () => {
    const blocks = createThreadBlocks(1);
    new Int32Array(blocks)[2] = 2 ** 31 - 2;
    const [here, there] = [new ThreadBlock(blocks, 0), new ThreadBlock(blocks, 0)];
    for (let tick = 0; tick < 3; tick += 1) {
      const before = there.ticks();
      here.beginTicks();
      const within = there.ticks();
      assert.equal(there.hasTickedSince(before), false);
      here.endTicks();
      assert.deepEqual([there.hasTickedSince(before), there.hasTickedSince(within)], [true, false]);
      here.beginTicks();
      here.endTicks();
      assert.equal(there.hasTickedSince(within), true);
    }
  });

  test('commands and letters reach the other side', () => {
    const blocks = createThreadBlocks(3);
    const [here, there] = [new ThreadBlock(blocks, 2), new ThreadBlock(blocks, 2)];
    assert.deepEqual([there.command(), there.state(), there.letters()], ['run', 'starting', 0]);
    here.setCommand('halt');
    here.announceLetter();
    assert.deepEqual([there.command(), there.letters(), new ThreadBlock(blocks, 1).command()], ['halt', 1, 'run']);
  });
});
