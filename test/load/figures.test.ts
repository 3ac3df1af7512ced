// tier: quick
/** Comparison of two measurements, and the verdict on a late generator. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { comparison, type Measurement, parseMeasurement } from '../../src/load/figures.ts';
import { Latencies, LatenciesOverTime } from '../../src/load/latencies.ts';
import { latenessFault } from '../../src/load/lateness.ts';
import { circumstances } from '../../src/load/machine.ts';
import type { Latency } from '../../src/load/plan.ts';

function measurement(rows: Measurement['rows'], cores = 2): Measurement {
  const { machine, ...rest } = circumstances();
  return { name: 'control', ...rest, commit: 'abc', machine: { ...machine, cores }, rows };
}

function latency(us: readonly number[]): Latency {
  const latencies = new Latencies();
  for (const each of us) latencies.recordMs(each / 1_000);
  return latencies.summary();
}

suite('comparison of two measurements', () => {
  const before = measurement([
    { label: 'creates, p50', value: 200, unit: 'µs' },
    { label: 'creates, p99', value: 4_000, unit: 'µs' },
    { label: 'gone', value: 1, unit: 'µs' },
  ]);
  const after = measurement([
    { label: 'creates, p99', value: 1_000, unit: 'µs' },
    { label: 'creates, p50', value: 300, unit: 'µs' },
    { label: 'new', value: 1, unit: '/s' },
  ]);

  test('has both values and their ratio for every common label, and names the others', () => {
    const text = comparison(before, after);
    assert.match(text, /creates, p50 +200\.0 +300\.0 µs +1\.500 ×/);
    assert.match(text, /creates, p99 +4,000 +1,000 µs +0\.250 ×/);
    assert.match(text, /only in A: gone/);
    assert.match(text, /only in B: new/);
    assert.match(text, /^A {2}commit abc, /m);
    assert.doesNotMatch(text, /not comparable/);
  });

  test('names what makes absolute figures incomparable', () => {
    assert.match(comparison(before, measurement(after.rows, 16)), /not comparable but as ratios, cores: 2, then 16/);
  });

  test('a file that is no measurement is none; one written as JSON is read back', () => {
    for (const text of ['', 'null', '{}', '[]', '{"name":"x","rows":[{"label":"a"}]}', '{"name":1,"rows":[]}']) {
      assert.equal(parseMeasurement(text), null, text);
    }
    assert.deepEqual(parseMeasurement(JSON.stringify(before)), before);
    const unmeasured = measurement([{ label: 'none', value: Number.NaN, unit: 'µs' }]);
    assert.deepEqual(parseMeasurement(JSON.stringify(unmeasured)), unmeasured);
    assert.match(comparison(unmeasured, unmeasured), /none +NaN +NaN µs/);
  });

  test('a measurement has commit, date, machine and load', () => {
    const { commit, date, machine, load } = circumstances();
    assert.match(commit, /^(?:[0-9a-f]{7,}\+?|unknown)$/);
    assert.ok(Math.abs(Date.parse(date) - Date.now()) < 60_000);
    assert.equal(machine.node, process.version);
    assert.equal(load.length, 3);
  });
});

suite('a late generator', () => {
  const create = latency([...Array<number>(98).fill(1_000), 20_000, 20_000]);

  test('a delay that is a small part of the latencies is valid', () => {
    const lateness = latency([...Array<number>(98).fill(150), 4_000, 4_000]);
    assert.equal(latenessFault({ latencies: { create }, lateness }), null);
  });

  test('a delay of more than a quarter at p50 is a fault that names both', () => {
    const lateness = latency(Array<number>(100).fill(600));
    assert.match(latenessFault({ latencies: { create }, lateness }) ?? '', /600 µs late at p50, of 1000 µs/);
  });

  test('a delay of more than half at p99 is a fault', () => {
    const lateness = latency([...Array<number>(98).fill(100), 15_000, 15_000]);
    assert.match(latenessFault({ latencies: { create }, lateness }) ?? '', /late at p99/);
  });

  test('where nothing was received, rejections are compared, and without any answer there are no figures', () => {
    const lateness = latency(Array<number>(100).fill(600));
    assert.match(latenessFault({ latencies: { refused: create }, lateness }) ?? '', /late at p50/);
    assert.match(latenessFault({ latencies: {}, lateness }) ?? '', /no message was answered/);
  });
});

suite('latencies', () => {
  test('percentiles are those of the recorded microseconds, within a thousandth', () => {
    const { count, p50, p99, max, curve } = latency(Array.from({ length: 10_000 }, (_, index) => index + 1));
    assert.equal(count, 10_000);
    assert.ok(Math.abs(p50 - 5_000) <= 5 && Math.abs(p99 - 9_900) <= 10 && Math.abs(max - 10_000) <= 10);
    assert.deepEqual(
      [...curve].sort(([a], [b]) => a - b),
      curve,
    );
    assert.equal(curve.at(-1)?.[0], 100);
  });

  test('a heat map counts every reply once, in the column of its due time and the band of its latency', () => {
    const overTime = new LatenciesOverTime(12_000);
    for (let index = 0; index < 12_000; index += 1) overTime.record(index, index < 6_000 ? 1 : 64);
    const { columnMs, columns, from } = overTime.heatMap();
    assert.equal(columnMs, 100);
    assert.equal(columns.length, 120);
    assert.equal(
      columns.flat().reduce((sum, count) => sum + count, 0),
      12_000,
    );
    // 1 ms is in band 39 (2^9.75 = 861 µs), 64 ms in band 63.
    assert.equal(from, 39);
    assert.deepEqual(columns[0], [100]);
    assert.equal(columns.at(-1)?.[63 - 39], 100);
  });
});
