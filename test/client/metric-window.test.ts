// tier: quick
/** What a page draws of `/metrics`: rates, increases and quantiles between reads. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { MetricWindow } from '../../src/client/page/metric-window.ts';
import { propertyParameters } from '../support/property.ts';

const KEEP_MS = 60_000;
const ALL_MS = KEEP_MS;

function pageOf(orders: number, buckets: readonly number[], depth = 3): string {
  const bounds = ['0.001', '0.002', '0.004', '+Inf'];
  return [
    '# HELP orders_total Orders.',
    '# TYPE orders_total counter',
    `orders_total{result="received"} ${orders}`,
    'orders_total{result="rejected"} 2',
    '# HELP depth Records that wait.',
    '# TYPE depth gauge',
    `depth{actor="market 0"} ${depth}`,
    '# HELP stage_seconds Time in a stage.',
    '# TYPE stage_seconds histogram',
    ...bounds.map((le, at) => `stage_seconds_bucket{le="${le}",stage="a"} ${buckets[at] ?? 0}`),
    `stage_seconds_sum{stage="a"} 1`,
    `stage_seconds_count{stage="a"} ${buckets[3] ?? 0}`,
    '',
  ].join('\n');
}

suite('metrics over a window', () => {
  test('one read has values and no rates; two have both', () => {
    const window = new MetricWindow(KEEP_MS);
    assert.equal(window.value('orders_total'), null);
    window.add(pageOf(10, [0, 0, 0, 0]), 1_000);
    assert.equal(window.value('orders_total'), 12);
    assert.equal(window.value('orders_total', { result: 'rejected' }), 2);
    assert.deepEqual(window.labelValues('depth', 'actor'), ['market 0']);
    assert.equal(window.rate('orders_total', {}, ALL_MS), null);
    assert.deepEqual(window.quantiles('stage_seconds', {}, [0.5], ALL_MS), { count: 0, values: [null] });
    window.add(pageOf(30, [0, 0, 0, 0]), 3_000);
    assert.equal(window.rate('orders_total', {}, ALL_MS), 10);
    assert.equal(window.increase('orders_total', { result: 'received' }, ALL_MS), 20);
    assert.equal(window.rate('unknown_total', {}, ALL_MS), null);
  });

  test('a window begins at its oldest read; one shorter than the pause of the reads is the last two', () => {
    const window = new MetricWindow(KEEP_MS);
    for (const [at, orders] of [10, 20, 50, 100].entries()) window.add(pageOf(orders, []), at * 1_000);
    assert.equal(window.increase('orders_total', {}, 2_000), 80);
    assert.equal(window.increase('orders_total', {}, 1), 50);
    window.add(pageOf(101, []), KEEP_MS + 2_500);
    assert.equal(window.length, 2, 'what is older than the longest window is forgotten');
  });

  test('a counter that falls is a new start: nothing of before counts; a gauge may fall', () => {
    const window = new MetricWindow(KEEP_MS);
    window.add(pageOf(100, [0, 0, 0, 5], 9), 0);
    window.add(pageOf(110, [0, 0, 0, 6], 2), 1_000);
    assert.equal(window.length, 2);
    window.add(pageOf(3, [0, 0, 0, 1]), 2_000);
    assert.equal(window.length, 1);
    assert.equal(window.rate('orders_total', {}, ALL_MS), null);
  });

  test('quantiles are those of what came between two reads, linear inside a bucket', () => {
    const window = new MetricWindow(KEEP_MS);
    window.add(pageOf(0, [100, 100, 100, 100]), 0);
    window.add(pageOf(0, [100, 110, 120, 120]), 1_000);
    const { count, values } = window.quantiles('stage_seconds', { stage: 'a' }, [0.25, 0.5, 1], ALL_MS);
    assert.equal(count, 20);
    assert.deepEqual(
      values.map((value) => Number(value?.toFixed(6))),
      [0.0015, 0.002, 0.004],
    );
    window.add(pageOf(0, [100, 110, 120, 160]), 2_000);
    assert.deepEqual(window.quantiles('stage_seconds', {}, [0.99], 1_000).values, [0.004], 'beyond the last bound');
  });

  test('a quantile lies in the bucket that holds it', () => {
    const counts = fc.array(fc.nat(50), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 100 }), (each, percent) => {
        const cumulative = each.map((_, at) => each.slice(0, at + 1).reduce((sum, one) => sum + one, 0));
        const total = cumulative[3] ?? 0;
        const window = new MetricWindow(KEEP_MS);
        window.add(pageOf(0, [0, 0, 0, 0]), 0);
        window.add(pageOf(0, cumulative), 1_000);
        const { count, values } = window.quantiles('stage_seconds', {}, [percent / 100], ALL_MS);
        assert.equal(count, total);
        if (total === 0) return assert.equal(values[0], null);
        const bucket = cumulative.findIndex((upTo) => upTo >= (percent / 100) * total);
        const bounds = [0, 0.001, 0.002, 0.004, 0.004];
        const value = values[0] ?? -1;
        assert.ok(value >= (bounds[bucket] ?? 0) - 1e-12 && value <= (bounds[bucket + 1] ?? 0) + 1e-12, `${value}`);
      }),
      propertyParameters(),
    );
  });

  test('labels with escapes and series that appear later are read', () => {
    const window = new MetricWindow(KEEP_MS);
    window.add('# TYPE c_total counter\nc_total{route="/a \\"b\\" \\\\ \\n"} 1\n', 0);
    assert.deepEqual(window.samples('c_total'), [{ labels: { route: '/a "b" \\ \n' }, value: 1 }]);
    window.add('# TYPE c_total counter\nc_total{route="new"} 4\nc_total{route="/a \\"b\\" \\\\ \\n"} 3\n', 1_000);
    assert.equal(window.increase('c_total', { route: 'new' }, ALL_MS), 4);
    assert.equal(window.increase('c_total', {}, ALL_MS), 6);
  });
});
