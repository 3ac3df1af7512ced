// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import {
  createMetrics,
  type HistogramSnapshot,
  MetricsWriter,
  quantile,
  snapshotMetrics,
} from '../../src/runtime/metrics.ts';
import { propertyParameters } from '../support/property.ts';

const PARAMETERS = propertyParameters(200);
const DEFINITIONS = [
  { name: 'orders', kind: 'counter', help: 'Orders.' },
  { name: 'latency_ns', kind: 'histogram', help: 'Nanoseconds.' },
  { name: 'depth', kind: 'gauge', help: 'Records.' },
] as const;

function recorded(values: readonly number[]): HistogramSnapshot {
  const plan = createMetrics(DEFINITIONS);
  const histogram = new MetricsWriter(plan).histogram('latency_ns');
  for (const value of values) histogram.record(value);
  const found = snapshotMetrics(plan).find((metric) => metric.name === 'latency_ns');
  assert.ok(found?.kind === 'histogram');
  return found.value;
}

suite('metrics', () => {
  test('counters add, gauges keep the last or the highest value, neighbours are left alone', () => {
    const plan = createMetrics(DEFINITIONS);
    const metrics = new MetricsWriter(plan);
    metrics.counter('orders').add(2);
    metrics.counter('orders').add(3);
    metrics.gauge('depth').set(7);
    metrics.gauge('depth').raise(5);
    metrics.histogram('latency_ns').record(100);
    const values = snapshotMetrics(plan).map((metric) =>
      metric.kind === 'histogram' ? metric.value.count : metric.value,
    );
    assert.deepEqual(values, [5, 1, 7]);
  });

  test('a bucket is at most a sixteenth above what was recorded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 41 }),
        fc.double({ min: 1, max: 2, maxExcluded: true, noNaN: true }),
        (power, part) => {
          const value = Math.floor(2 ** power * part);
          const { buckets, max, count, sum } = recorded([value]);
          const upTo = buckets[0]?.upTo ?? -1;
          assert.deepEqual([buckets.length, max, count, sum], [1, value, 1, value]);
          assert.ok(upTo >= value, `${value} is within ${upTo}`);
          if (power < 40) assert.ok(upTo <= value * (1 + 1 / 16), `${value} is near ${upTo}`);
        },
      ),
      PARAMETERS,
    );
  });

  test('a quantile is the exact one, rounded up to its bucket', () => {
    const values = fc.array(fc.integer({ min: 0, max: 2 ** 40 - 1 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (numbers, fraction) => {
        const exact = [...numbers].sort((a, b) => a - b)[Math.max(1, Math.ceil(fraction * numbers.length)) - 1] ?? -1;
        const answer = quantile(recorded(numbers), fraction);
        assert.ok(answer >= exact && answer <= exact * (1 + 1 / 16), `${answer} for ${exact}`);
      }),
      PARAMETERS,
    );
  });

  test('nothing recorded has no quantile; nonsense is refused', () => {
    assert.equal(quantile(recorded([]), 0.5), 0);
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => recorded([value]), InvariantError);
    const metrics = new MetricsWriter(createMetrics(DEFINITIONS));
    assert.throws(() => metrics.counter('latency_ns'), InvariantError);
    assert.throws(() => createMetrics([DEFINITIONS[0], DEFINITIONS[0]]), InvariantError);
  });
});
