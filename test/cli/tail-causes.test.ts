// tier: quick
/** Attribution of late answers, over made-up traces: paths are joined by their keys, and every microsecond has one cause. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type Cause, type CauseTimes, causesOf, explainTail } from '../../src/cli/tail-causes.ts';
import { decodeEntries, pathsOf, type ThreadTrace, type TraceEntry } from '../../src/cli/tail-paths.ts';
import { must } from '../../src/core/assert.ts';
import { HOP } from '../../src/core/hops.ts';
import { PAUSE } from '../../src/runtime/trace-log.ts';
import { propertyParameters } from '../support/property.ts';

function entry(code: number, endUs: number, key = 0, value = 0): TraceEntry {
  return { code, key, endUs, value };
}

/** Times of the hops of a create whose signature the pool verified. */
const TIMES = {
  read: 100,
  parsed: 110,
  queued: 115,
  firstPublished: 120,
  verifying: 150,
  verdict: 200,
  verified: 230,
  sent: 235,
  secondPublished: 240,
  taken: 260,
  matched: 265,
  thirdPublished: 270,
  acknowledged: 300,
  answered: 302,
};

const THREADS = ['main', 'verify-0', 'market-0', 'clearing'] as const;

/** The traces of one action: number 7, ticket 3, request 9. */
function tracesOf(times: typeof TIMES, more: Readonly<Record<string, readonly TraceEntry[]>> = {}): ThreadTrace[] {
  const threads: Record<string, TraceEntry[]> = {
    main: [
      entry(HOP.read, times.read, 7),
      entry(HOP.parsed, times.parsed, 7),
      entry(HOP.queued, times.queued, 7, 3),
      entry(HOP.published, times.firstPublished),
      entry(HOP.verified, times.verified, 7),
      entry(HOP.sent, times.sent, 7, 9),
      entry(HOP.published, times.secondPublished),
      entry(HOP.acknowledged, times.acknowledged, 9, 1),
      entry(HOP.answered, times.answered, 7),
    ],
    'verify-0': [entry(HOP.verifying, times.verifying, 3), entry(HOP.verdict, times.verdict, 3)],
    'market-0': [
      entry(HOP.taken, times.taken, 9, 4),
      entry(HOP.matched, times.matched, 9),
      entry(HOP.published, times.thirdPublished),
    ],
    clearing: [],
  };
  return Object.entries(threads).map(([thread, entries]) => ({
    thread,
    entries: [...entries, ...(more[thread] ?? [])],
  }));
}

function causes(times: typeof TIMES, more: Readonly<Record<string, readonly TraceEntry[]>> = {}): CauseTimes {
  const threads = tracesOf(times, more);
  return causesOf(threads, must(pathsOf(threads)[0], 'a path'));
}

function sumOf(times: CauseTimes): number {
  return Object.values(times).reduce((sum, us) => sum + us, 0);
}

/** The times with `delayUs` before a hop. */
function delayed(hop: keyof typeof TIMES, delayUs: number): typeof TIMES {
  const from = TIMES[hop];
  const moved = Object.entries(TIMES).map(([name, us]) => [name, us >= from ? us + delayUs : us]);
  return Object.fromEntries(moved) as typeof TIMES;
}

suite('paths', () => {
  test('hops of four threads are joined by action, ticket and request, in order of time', () => {
    const [path, ...others] = pathsOf(tracesOf(TIMES));
    assert.equal(others.length, 0);
    assert.deepEqual(
      path?.steps.map(({ hop, thread }) => `${hop} ${thread}`),
      [
        'arrived main',
        `${HOP.read} main`,
        `${HOP.parsed} main`,
        `${HOP.queued} main`,
        `${HOP.published} main`,
        `${HOP.verifying} verify-0`,
        `${HOP.verdict} verify-0`,
        `${HOP.verified} main`,
        `${HOP.sent} main`,
        `${HOP.published} main`,
        `${HOP.taken} market-0`,
        `${HOP.matched} market-0`,
        `${HOP.published} market-0`,
        `${HOP.acknowledged} main`,
        `${HOP.answered} main`,
      ],
    );
    assert.equal(path?.tookUs, TIMES.answered - TIMES.read);
  });

  test('a path begins when its bytes may have been readable, and an action without an answer has none', () => {
    const threads = [
      { thread: 'main', entries: [entry(HOP.read, 50, 1, 20), entry(HOP.answered, 60, 1), entry(HOP.read, 70, 2)] },
    ];
    const paths = pathsOf(threads);
    assert.deepEqual(
      paths.map(({ beganUs, tookUs }) => [beganUs, tookUs]),
      [[30, 30]],
    );
    assert.deepEqual(causesOf(threads, must(paths[0], 'a path')), { 'event loop': 20, gateway: 10 });
  });

  test('a record that was taken up before its publication was recorded has no such step', () => {
    const [path] = pathsOf(tracesOf({ ...TIMES, secondPublished: 262, thirdPublished: 301 }));
    assert.equal(path?.steps.filter(({ hop }) => hop === HOP.published).length, 1);
  });

  test('records are four little-endian doubles', () => {
    const bytes = Buffer.from(new Float64Array([16, 1, 2.5, -3, 20, 4, 5, 6]).buffer);
    assert.deepEqual(decodeEntries(bytes.toString('base64')), [entry(16, 2.5, 1, -3), entry(20, 5, 4, 6)]);
  });
});

suite('causes', () => {
  test('without a pause the time belongs to what the responsible thread had to do', () => {
    const expected: CauseTimes = {
      gateway: 10 + 5 + 5 + 2,
      'event loop': 5 + 30 + 5 + 30,
      'verifier queue': 30,
      verification: 50,
      'market queue': 20 + 5,
      matching: 5,
    };
    assert.deepEqual(causes(TIMES), expected);
  });

  const delays: readonly (readonly [keyof typeof TIMES, string, Cause])[] = [
    ['verifying', 'verify-0', 'verifier queue'],
    ['verified', 'main', 'event loop'],
    ['taken', 'market-0', 'market queue'],
    ['acknowledged', 'main', 'event loop'],
  ];
  for (const [hop, thread, work] of delays) {
    test(`a delay before ${hop} is a pause of ${thread}, where it had one, and of no other thread`, () => {
      const times = delayed(hop, 5_000);
      const endUs = times[hop] - 1;
      for (const [code, cause] of [
        [PAUSE.collector, 'collector'],
        [PAUSE.runQueue, 'run queue'],
        [PAUSE.ringFull, 'ring full'],
        [HOP.checkpoint, 'checkpoint'],
        [HOP.flushed, 'flush'],
      ] as const) {
        assert.equal(causes(times, { [thread]: [entry(code, endUs, 0, 4_000)] })[cause], 4_000, cause);
      }
      const elsewhere = thread === 'clearing' ? 'main' : 'clearing';
      const other = causes(times, { [elsewhere]: [entry(PAUSE.runQueue, endUs, 0, 4_000)] });
      assert.ok((other[work] ?? 0) >= 5_000);
    });
  }

  test('time without a CPU is divided by what other threads did meanwhile', () => {
    const times = delayed('taken', 5_000);
    const endUs = times.taken;
    const more = {
      'market-0': [entry(PAUSE.runQueue, endUs, 0, 4_000)],
      clearing: [entry(HOP.checkpoint, endUs - 1_000, 0, 2_000)],
      main: [entry(PAUSE.collector, endUs, 0, 500)],
    };
    const found = causes(times, more);
    assert.equal(found['run queue, checkpoint'], 2_000);
    assert.equal(found['run queue, collector'], 500);
    assert.equal(found['run queue'], 1_500);
  });

  test('an answer that waits for the flush is divided by what clearing did', () => {
    const times = delayed('answered', 5_000);
    const more = {
      clearing: [
        entry(HOP.flushed, times.answered - 100, 0, 3_000),
        entry(PAUSE.runQueue, times.answered - 4_000, 0, 500),
      ],
    };
    const found = causes(times, more);
    assert.equal(found.flush, 3_000);
    assert.equal(found['run queue'], 500);
    assert.equal(found.clearing, 5_002 - 3_500);
  });

  test('the causes of an answer add up to its time, whatever the pauses are', () => {
    const hops = Object.keys(TIMES) as (keyof typeof TIMES)[];
    const pause = fc.record({
      thread: fc.constantFrom(...THREADS),
      code: fc.constantFrom<number>(...Object.values(PAUSE), HOP.checkpoint, HOP.flushed),
      endUs: fc.integer({ min: 0, max: 20_000 }),
      value: fc.integer({ min: 0, max: 8_000 }),
    });
    const delay = fc.tuple(fc.constantFrom(...hops), fc.integer({ min: 0, max: 9_000 }));
    fc.assert(
      fc.property(fc.array(pause, { maxLength: 30 }), delay, (pauses, [hop, delayUs]) => {
        const ofThread = (thread: string): TraceEntry[] =>
          pauses.filter((each) => each.thread === thread).map(({ code, endUs, value }) => entry(code, endUs, 0, value));
        const more = Object.fromEntries(THREADS.map((thread) => [thread, ofThread(thread)]));
        const times = delayed(hop, delayUs);
        const found = causes(times, more);
        assert.ok(Math.abs(sumOf(found) - (times.answered - times.read)) < 1e-6);
        for (const us of Object.values(found)) assert.ok(us > 0);
      }),
      propertyParameters(300),
    );
  });
});

suite('the tail', () => {
  test('each late answer counts once, for its largest cause; the worst is kept, and shares add up to one', () => {
    const main = (index: number, tookUs: number): TraceEntry[] => [
      entry(HOP.read, index * 100_000, index),
      entry(HOP.answered, index * 100_000 + tookUs, index),
    ];
    const entries = [10, 20, 4_000, 6_000, 9_000].flatMap((tookUs, index) => main(index + 1, tookUs));
    const pauses = [entry(PAUSE.collector, 303_900, 0, 3_500), entry(PAUSE.runQueue, 505_000, 0, 5_000)];
    const threads = [{ thread: 'main', entries: [...entries, ...pauses] }];
    const tail = explainTail(threads, pathsOf(threads), 4_000);
    assert.equal(tail.late, 3);
    assert.deepEqual(
      tail.causes.map(({ cause, answers, worst }) => [cause, answers, worst?.path.tookUs ?? null]),
      [
        ['gateway', 1, 6_000],
        ['run queue', 1, 9_000],
        ['collector', 1, 4_000],
      ],
    );
    assert.ok(Math.abs(tail.causes.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9);
  });
});
