// tier: quick
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { InvariantError } from '../../src/core/assert.ts';
import { createClock, readTogether, SharedClock } from '../../src/runtime/clock.ts';

suite('clock (AMB-113, AMB-141)', () => {
  test('manual time stands still, moves when told, and never backwards', () => {
    const memory = createClock({ mode: 'manual', notBeforeNs: 1_800_000_000_000_000_000n });
    const [here, there] = [new SharedClock(memory), new SharedClock(memory)];
    assert.equal(here.nowNs(), 1_800_000_000_000_000_000n);
    here.advance(5n);
    assert.equal(there.nowNs(), 1_800_000_000_000_000_005n);
    assert.equal(there.setTo(1_800_000_000_000_000_004n), false);
    assert.equal(there.setTo(1_800_000_000_000_000_005n), true);
    assert.equal(there.setTo(1_800_000_000_000_000_009n), true);
    assert.equal(here.nowNs(), 1_800_000_000_000_000_009n);
    assert.throws(() => here.advance(-1n), InvariantError);
  });

  test('system time is wall time, grows on its own, and can only be pushed forward', () => {
    const clock = new SharedClock(createClock({ mode: 'system', notBeforeNs: 0n }));
    const wallNs = BigInt(Date.now()) * 1_000_000n;
    const nowNs = clock.nowNs();
    const laterNs = BigInt(Date.now()) * 1_000_000n;
    assert.ok(nowNs > wallNs - 1_000_000_000n && nowNs < laterNs + 1_000_000_000n);
    clock.advance(3_600_000_000_000n);
    const later = clock.nowNs();
    assert.ok(later >= nowNs + 3_600_000_000_000n);
    assert.equal(clock.setTo(later - 1n), false);
    assert.equal(clock.setTo(later + 3_600_000_000_000n), true);
    assert.ok(clock.nowNs() >= later + 3_600_000_000_000n);
  });

  test('two clocks are read at the same moment, also when the thread loses its processor between the readings', () => {
    let readings = 0;
    const { ns, other } = readTogether(() => {
      const atMs = Number(process.hrtime.bigint()) / 1e6;
      readings += 1;
      // Three times it gets its processor back 20 ms after a reading.
      while (readings <= 3 && Number(process.hrtime.bigint()) / 1e6 - atMs < 20);
      return atMs;
    });
    assert.ok(readings > 3, `${readings} readings`);
    assert.ok(Math.abs(Number(ns) / 1e6 - other) < 5, `${Number(ns) / 1e6 - other} ms apart`);
  });

  test('a clock does not start before the last time of the process before it', () => {
    const lastNs = BigInt(Date.now()) * 1_000_000n + 86_400_000_000_000n;
    assert.ok(new SharedClock(createClock({ mode: 'system', notBeforeNs: lastNs })).nowNs() >= lastNs);
  });

  test('a wall clock that jumps back is not followed', (context) => {
    const clock = new SharedClock(createClock({ mode: 'system', notBeforeNs: 0n }));
    const before = clock.nowNs();
    context.mock.timers.enable({ apis: ['Date'], now: 0 });
    assert.equal(Date.now(), 0);
    assert.ok(clock.nowNs() >= before);
  });

  test('MCH-02: slowed time runs at nine tenths until it has given back what it was to', () => {
    const clock = new SharedClock(createClock({ mode: 'system', notBeforeNs: 0n }));
    const passed = (ms: number): readonly [bigint, bigint] => {
      const [from, monotonic] = [clock.nowNs(), process.hrtime.bigint()];
      while (process.hrtime.bigint() - monotonic < BigInt(ms) * 1_000_000n);
      const until = process.hrtime.bigint();
      return [clock.nowNs() - from, until - monotonic];
    };
    clock.slow(1_000_000_000n);
    const [slowed, real] = passed(100);
    assert.ok(slowed >= (real * 9n) / 10n && slowed <= (real * 91n) / 100n + 1_000_000n, `${slowed} in ${real}`);
    // Given back so far stays so, and the rest is taken back.
    const before = clock.nowNs();
    clock.slow(0n);
    assert.ok(clock.nowNs() >= before);
    const [restored, again] = passed(50);
    assert.ok(restored >= again - 1_000_000n, `${restored} in ${again}`);
    clock.slow(1_000_000n);
    passed(30);
    const [after, then] = passed(30);
    assert.ok(after >= then - 1_000_000n, 'what was to be given back is');
  });

  test('MCH-02: pushes of hooks are known apart from steps of the system clock', () => {
    const clock = new SharedClock(createClock({ mode: 'system', notBeforeNs: 0n }));
    clock.advance(5n);
    clock.step(7n);
    assert.equal(clock.pushedNs, 5n);
    const now = clock.nowNs();
    assert.equal(clock.setTo(now + 3_600_000_000_000n), true);
    assert.ok(clock.pushedNs > 3_599_000_000_000n);
  });

  test('time handed from thread to thread never decreases, pushes and slowing included', async () => {
    const memory = createClock({ mode: 'system', notBeforeNs: 0n });
    const baton = new SharedArrayBuffer(16);
    const clock = new SharedClock(memory);
    const worker = new Worker(new URL('../support/clock-peer.js', import.meta.url), { workerData: { memory, baton } });
    const verdict = once(worker, 'message');
    const [cells, turns] = [new BigInt64Array(baton, 8), new Int32Array(baton, 0, 1)];
    for (let round = 0; round < 2_000; round++) {
      if (round % 100 === 0) clock.advance(1_000n);
      if (round % 3 === 0) clock.slow(round % 2 === 0 ? 50_000_000n : 0n);
      cells[0] = clock.nowNs();
      Atomics.store(turns, 0, 1);
      Atomics.notify(turns, 0);
      while (Atomics.load(turns, 0) === 1) Atomics.wait(turns, 0, 1, 10);
      assert.ok(clock.nowNs() >= (cells[0] ?? 0n));
    }
    Atomics.store(turns, 0, 2);
    Atomics.notify(turns, 0);
    assert.deepEqual(await verdict, ['never backwards']);
  });
});
