// tier: quick
/** The trace of a thread: whole records in order, the number of lost ones, and pauses found after a gap. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { must } from '../../src/core/assert.ts';
import { threadTimes } from '../../src/runtime/thread-times.ts';
import {
  createTrace,
  FIRST_HOP,
  openTrace,
  PAUSE,
  readTrace,
  TRACE_FIELDS,
  TRACE_RECORDS,
  TraceLog,
  type TraceMemory,
  traceEnd,
} from '../../src/runtime/trace-log.ts';
import { propertyParameters } from '../support/property.ts';

const BUSY = fileURLToPath(new URL('../support/busy-process.js', import.meta.url));
const FIRST = FIRST_HOP;

function newTrace(): TraceMemory {
  return must(createTrace(['t'])[0], 'a trace of the thread');
}

interface Entry {
  readonly code: number;
  readonly key: number;
  readonly endUs: number;
  readonly value: number;
}

function entriesOf(records: Float64Array): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < records.length; at += TRACE_FIELDS) {
    const [code = 0, key = 0, endUs = 0, value = 0] = records.subarray(at, at + TRACE_FIELDS);
    entries.push({ code, key, endUs, value });
  }
  return entries;
}

const isHop = ({ code }: Entry): boolean => code >= FIRST;

test('a reader that keeps up gets every record once, in order, with times that never decrease', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 30 }), (bursts) => {
      const memory = newTrace();
      const log = new TraceLog(memory);
      let next = traceEnd(memory);
      let key = 0;
      let lastUs = 0;
      for (const burst of bursts) {
        const firstKey = key;
        for (let index = 0; index < burst; index += 1) log.mark(FIRST, key++, -index);
        const part = readTrace(memory, next);
        next = part.next;
        const hops = entriesOf(part.records).filter(isHop);
        assert.equal(part.lost, 0);
        assert.deepEqual(
          hops.map((entry) => entry.key),
          Array.from({ length: burst }, (_, index) => firstKey + index),
        );
        for (const { endUs } of hops) {
          assert.ok(endUs >= lastUs);
          lastUs = endUs;
        }
      }
    }),
    propertyParameters(40),
  );
});

test('a reader that is late gets the newest records and the number of those it missed', () => {
  const memory = newTrace();
  const log = new TraceLog(memory);
  const since = traceEnd(memory);
  const written = TRACE_RECORDS + 1_000;
  for (let key = 0; key < written; key += 1) log.mark(FIRST, key);
  const { records, lost } = readTrace(memory, since);
  const keys = entriesOf(records)
    .filter(isHop)
    .map(({ key }) => key);
  assert.equal(keys.at(-1), written - 1);
  assert.equal(keys[0], written - keys.length);
  assert.equal(records.length / TRACE_FIELDS + lost, traceEnd(memory) - since);
  assert.ok(lost >= 1_000);
});

test('the number of a record wraps around as 32 bits', () => {
  const memory = newTrace();
  new Int32Array(memory.memory, 0, 1)[0] = -3;
  const log = new TraceLog(memory);
  const since = traceEnd(memory);
  assert.equal(since, 2 ** 32 - 3);
  for (let key = 0; key < 8; key += 1) log.mark(FIRST, key);
  const part = readTrace(memory, since);
  assert.deepEqual(
    entriesOf(part.records)
      .filter(isHop)
      .map(({ key }) => key),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.equal(part.next, traceEnd(memory));
  assert.ok(part.next < 100);
});

test('a span has its duration, and markOnce does not repeat the last code', () => {
  const memory = newTrace();
  const log = new TraceLog(memory);
  const beganUs = log.nowUs();
  const untilMs = performance.now() + 2;
  while (performance.now() < untilMs);
  log.span(FIRST + 1, 7, beganUs);
  for (let times = 0; times < 3; times += 1) log.markOnce(FIRST);
  const hops = entriesOf(readTrace(memory, 0).records).filter(isHop);
  assert.deepEqual(
    hops.map(({ code }) => code),
    [FIRST + 1, FIRST],
  );
  const [span] = hops;
  assert.ok(span !== undefined && span.value >= 2_000 && span.endUs - span.value >= beganUs - 1);
});

test('a thread without a trace has no log', () => {
  assert.equal(openTrace(null, 'main'), null);
});

test('a pause of the collector is recorded with its duration', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const memory = newTrace();
  let kept: unknown[] = Array.from({ length: 200_000 }, (_, index) => ({ index }));
  const log = new TraceLog(memory);
  log.mark(FIRST, 1);
  assert.equal(kept.length, 200_000);
  kept = [];
  const startedMs = performance.now();
  collect();
  const tookUs = (performance.now() - startedMs) * 1_000;
  log.mark(FIRST, 2);
  const pauses = entriesOf(readTrace(memory, 0).records).filter(({ code }) => code === PAUSE.collector);
  assert.equal(pauses.length, 1);
  const [pause] = pauses;
  assert.ok(pause !== undefined && pause.value > 0 && pause.value <= tookUs + 1_000, `${pause?.value} of ${tookUs} µs`);
});

test('time in the run queue of the kernel is recorded', { skip: threadTimes() === null }, () => {
  const busy = Array.from({ length: 2 * availableParallelism() }, () => spawn(process.execPath, [BUSY]));
  try {
    const memory = newTrace();
    const log = new TraceLog(memory);
    const untilMs = performance.now() + 20_000;
    const found = (): Entry | undefined =>
      entriesOf(readTrace(memory, 0).records).find(({ code, value }) => code === PAUSE.runQueue && value > 1_000);
    while (performance.now() < untilMs && found() === undefined) {
      for (let times = 0; times < 10_000; times += 1) log.mark(FIRST, times);
    }
    assert.ok(found() !== undefined);
  } finally {
    for (const child of busy) child.kill();
  }
});
