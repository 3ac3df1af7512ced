// tier: quick
/** What a thread records about itself, and the time of all threads of the process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, type HistogramSnapshot, snapshotMetrics } from '../../src/runtime/metrics.ts';
import { THREAD_METRICS, ThreadMetrics } from '../../src/runtime/thread-metrics.ts';
import { OTHER_THREADS, ownThread, threadTimes, threadUses, UNKNOWN_THREAD } from '../../src/runtime/thread-times.ts';

function recorder(): { readonly metrics: ThreadMetrics; readonly read: (name: string) => HistogramSnapshot } {
  const plan = createMetrics(THREAD_METRICS);
  const read = (name: string): HistogramSnapshot => {
    const found = snapshotMetrics(plan).find((metric) => metric.name === name);
    assert.ok(found?.kind === 'histogram');
    return found.value;
  };
  return { metrics: new ThreadMetrics(plan), read };
}

/** Allocates until V8 has collected the young generation several times. */
function churn(): number {
  let kept: object[] = [];
  for (let made = 0; made < 3_000_000; made += 1) {
    kept.push({ made, more: [made] });
    if (kept.length > 1_000) kept = [];
  }
  return kept.length;
}

test('pauses of the collector are recorded, each once, with their duration', () => {
  const { metrics, read } = recorder();
  metrics.look(0);
  churn();
  metrics.look(500);
  assert.equal(read('collector_ns').count, 0, 'it looks once a second');
  metrics.look(1_000);
  const { count, sum } = read('collector_ns');
  assert.ok(count > 0 && sum > count * 1_000, `${count} pauses of ${sum} ns`);
  metrics.look(2_000);
  assert.ok(read('collector_ns').count - count < count, 'what was recorded is not recorded again');
});

test('the delay of a timer is recorded in nanoseconds, and none below zero', () => {
  const { metrics, read } = recorder();
  metrics.timerLate(2.5);
  metrics.timerLate(-0.25);
  assert.deepEqual([read('loop_delay_ns').count, read('loop_delay_ns').sum], [2, 2_500_000]);
});

test('the CPU time of a named thread is its own, that of all others is added up', {
  skip: threadTimes() === null,
}, () => {
  const id = ownThread();
  const uses = (): ReadonlyMap<string, number> =>
    new Map(
      threadUses(threadTimes(), [
        { name: 'mine', id },
        { name: 'unborn', id: UNKNOWN_THREAD },
      ]).map(({ thread, cpuSeconds }) => [thread, cpuSeconds]),
    );
  const before = uses();
  churn();
  const now = uses();
  assert.deepEqual([...now.keys()].sort(), ['mine', OTHER_THREADS]);
  assert.ok((now.get('mine') ?? 0) - (before.get('mine') ?? 0) > 0.005);
  assert.deepEqual(threadUses(null, [{ name: 'mine', id }]), []);
});
