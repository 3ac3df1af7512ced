// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { BLOCKED_MAX_MS, HEARTBEAT_LOST_MS, WATCH_MS } from '../../src/core/limits.ts';
import { hungOf, lineOf } from '../../src/runtime/ending.ts';
import { type Lost, Watch } from '../../src/runtime/heartbeat.ts';
import { ownThread, type ThreadTimes, type ThreadTimesReader, threadTimes } from '../../src/runtime/thread-times.ts';

const WATCHED = 11;
const OTHER = 12;
const LONG_MS = 120_000;

type MutableTimes = { -readonly [name in keyof ThreadTimes]: ThreadTimes[name] };

/** A kernel with two threads and times that are set by hand. */
class Kernel implements ThreadTimesReader {
  readonly watched: MutableTimes = { state: 'sleeping', cpuMs: 0, waitMs: 0 };
  readonly other: MutableTimes = { state: 'sleeping', cpuMs: 0, waitMs: 0 };

  read(thread: number): ThreadTimes | null {
    if (thread === WATCHED) return { ...this.watched };
    return thread === OTHER ? { ...this.other } : null;
  }
  threads(): readonly number[] {
    return [WATCHED, OTHER];
  }
}

interface Watching {
  readonly kernel: Kernel;
  /** Looks every `everyMs` until the thread is lost. @param pass what happens in between. @returns null: never. */
  readonly lostAfter: (pass: () => void, everyMs?: number) => { readonly lost: Lost; readonly ms: number } | null;
  heartbeat: number;
}

function watching(): Watching {
  const kernel = new Kernel();
  let nowMs = performance.now();
  const here: Watching = {
    kernel,
    heartbeat: 1,
    lostAfter: (pass, everyMs = WATCH_MS) => {
      for (let ms = 0; ms < LONG_MS; ms += everyMs) {
        const lost = watch.lost(nowMs);
        if (lost !== null) return { lost, ms };
        nowMs += everyMs;
        pass();
      }
      return null;
    },
  };
  const thread = { lastHeartbeat: () => here.heartbeat, kernelThread: () => WATCHED, isWatched: () => true };
  const watch = new Watch([thread], kernel);
  return here;
}

function inTime(found: { readonly ms: number } | null, boundMs: number): void {
  assert.ok(found !== null && found.ms > boundMs && found.ms <= boundMs + 4 * WATCH_MS, `${found?.ms} ms`);
}

suite('the silence of a thread (AMB-111)', () => {
  test('one that computes without end is lost after that much time on a CPU', () => {
    const { kernel, lostAfter } = watching();
    kernel.watched.state = 'runnable';
    const found = lostAfter(() => {
      kernel.watched.cpuMs += WATCH_MS;
    });
    inTime(found, HEARTBEAT_LOST_MS);
    assert.equal(found?.lost.hang.cause, 'hung in computation');
  });

  test('one that gets a twentieth of a CPU has that much CPU time too, not that much time', () => {
    const { kernel, lostAfter } = watching();
    kernel.watched.state = 'runnable';
    const found = lostAfter(() => {
      kernel.watched.cpuMs += WATCH_MS / 20;
    });
    inTime(found === null ? null : { ms: found.ms / 20 }, HEARTBEAT_LOST_MS);
  });

  test('one that could run and gets no CPU at all is never lost', () => {
    const { kernel, lostAfter } = watching();
    kernel.watched.state = 'runnable';
    assert.equal(
      lostAfter(() => undefined),
      null,
    );
  });

  test('one that waits for what does not come is lost after that much time', () => {
    const found = watching().lostAfter(() => undefined);
    inTime(found, HEARTBEAT_LOST_MS);
    assert.equal(found?.lost.hang.cause, 'waits without end');
  });

  test('one that sleeps while another thread of the process is starved may wait for that one, and has four times as long', () => {
    const { kernel, lostAfter } = watching();
    kernel.other.state = 'runnable';
    inTime(
      lostAfter(() => undefined),
      4 * HEARTBEAT_LOST_MS,
    );
  });

  test('one that sleeps while another thread of the process computes is lost all the same', () => {
    const { kernel, lostAfter } = watching();
    kernel.other.state = 'runnable';
    inTime(
      lostAfter(() => {
        kernel.other.cpuMs += WATCH_MS;
      }),
      HEARTBEAT_LOST_MS,
    );
  });

  test('one that wakes, waits for a CPU and sleeps again has not slept while it waited', () => {
    const { kernel, lostAfter } = watching();
    assert.equal(
      lostAfter(() => {
        kernel.watched.waitMs += WATCH_MS;
      }),
      null,
    );
  });

  test('one that a disk holds in the kernel has longer, but not for ever', () => {
    const { kernel, lostAfter } = watching();
    kernel.watched.state = 'blocked';
    const found = lostAfter(() => undefined);
    inTime(found, BLOCKED_MAX_MS);
    assert.equal(found?.lost.hang.cause, 'blocked in the kernel');
  });

  test('one that works through a burst shows life with every request, and is never lost', () => {
    const here = watching();
    here.kernel.watched.state = 'runnable';
    const found = here.lostAfter(() => {
      here.kernel.watched.cpuMs += WATCH_MS;
      here.heartbeat += 1;
    });
    assert.equal(found, null);
  });

  test('a watcher that looks once in two seconds does not count the time in which it did not look', () => {
    const found = watching().lostAfter(() => undefined, 20 * WATCH_MS);
    assert.ok(found !== null && found.ms >= 4 * HEARTBEAT_LOST_MS, `${found?.ms} ms`);
  });

  test('a sign of life during the look counts', () => {
    const here = watching();
    const read = here.kernel.read.bind(here.kernel);
    here.kernel.read = (thread) => {
      here.heartbeat += 1;
      return read(thread);
    };
    assert.equal(
      here.lostAfter(() => undefined),
      null,
    );
  });

  test('the last line says thread, cause, time and what to do', () => {
    const hang = { cause: 'blocked in the kernel', countedMs: 10_049, gapMs: 12_000 } as const;
    const line = JSON.parse(lineOf('fail-stop', hungOf('clearing', hang), { exit_code: 70 })) as Record<
      string,
      unknown
    >;
    assert.equal(line['reason'], 'thread clearing: blocked in the kernel, 10.0 s of 12.0 s without a sign of life');
    const { thread, cause, silent_ms: gapMs, exit_code: code } = line;
    assert.deepEqual([thread, cause, gapMs, code], ['clearing', 'blocked in the kernel', 12_000, 70]);
    assert.match(String(line['advice']), /disk/);
    assert.match(String(line['time']), /^\d{4}-\d\d-\d\dT/);
  });
});

suite('what the kernel says of a thread', { skip: threadTimes() === null ? 'no /proc here' : false }, () => {
  test('a worker learns an id of its own, and its time on a CPU is seen from another thread', async () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    const entry = new URL('../support/computing-thread.js', import.meta.url);
    const worker = new Worker(entry, { workerData: words });
    await new Promise((resolve) => worker.once('message', resolve));
    const thread = Atomics.load(words, 0);
    assert.notEqual(thread, ownThread());
    const reader = threadTimes();
    assert.ok(reader !== null);
    assert.ok(reader.threads().includes(thread) && reader.threads().includes(ownThread()));
    const before = reader.read(thread);
    for (const untilMs = performance.now() + 50; performance.now() < untilMs; );
    const after = reader.read(thread);
    assert.ok(before !== null && after !== null);
    assert.ok(after.cpuMs + after.waitMs > before.cpuMs, `${after.cpuMs} ms`);
    assert.equal(after.state, 'runnable');
    Atomics.store(words, 1, 1);
    await new Promise((resolve) => worker.once('exit', resolve));
    assert.equal(reader.read(thread), null);
  });
});
