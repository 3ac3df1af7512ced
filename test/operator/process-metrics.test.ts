// tier: quick
/** The metrics of the process: families, types and labels are those of prom-client, whose dashboards fit them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { METRICS_CONTENT_TYPE } from '../../src/operator/metrics-page.ts';
import { beginProcessMetrics, processMetrics } from '../../src/operator/process-metrics.ts';
import { eventually } from '../support/patience.ts';

/** Without the percentiles of the event loop and the gauges named like counters. */
const LEFT_OUT = /^(?:nodejs_eventloop_lag_(?:min|max|mean|stddev|p50|p90|p99)_seconds|nodejs_active_\w+_total)\b/;

/** Lines without values; those of a family with labels that differ by process once for each set of label names. */
function shapeOf(text: string): readonly string[] {
  const lines = text.split('\n').flatMap((line) => {
    if (line === '') return [];
    const name = line.replace(/^# (?:HELP|TYPE) /, '');
    if (LEFT_OUT.test(name)) return [];
    if (line.startsWith('#')) return [line];
    const labels = [...line.matchAll(/(\w+)="([^"]*)"/g)];
    // Which handles are open, and what was collected, is of the moment.
    if (/^nodejs_(?:active|gc)/.test(line)) return [`${line.split('{')[0]} ${labels.map(([, label]) => label).join()}`];
    return [line.replace(/ \S+$/, '')];
  });
  return [...new Set(lines)].sort();
}

/** Values by name and labels. */
function valuesOf(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, name = '', value] = /^([^#\s]\S*) (\S+)$/.exec(line) ?? [];
      return value === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}

function allocate(): number {
  return Array.from({ length: 100_000 }, (_, index) => ({ index })).length;
}

suite('the metrics of the process', () => {
  test('have the names, help, types and labels of prom-client', async () => {
    beginProcessMetrics();
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    const own = async (): Promise<string> => processMetrics();
    await eventually(
      async () => {
        allocate();
        return /nodejs_gc_duration_seconds_count/.test(await own());
      },
      () => 'no collection was counted',
    );
    await eventually(
      async () => /nodejs_gc_duration_seconds_count/.test(await registry.metrics()),
      () => 'prom-client counted no collection',
    );
    assert.deepEqual(shapeOf(await own()), shapeOf(await registry.metrics()));
    assert.equal(METRICS_CONTENT_TYPE, Registry.PROMETHEUS_CONTENT_TYPE);
  });

  test('have values of this process', async () => {
    const values = valuesOf(await processMetrics());
    const of = (name: string): number => values.get(name) ?? Number.NaN;
    const near = (one: number, other: number, share: number): void =>
      assert.ok(Math.abs(one - other) <= share * other, `${one} is near ${other}`);
    const { user, system } = process.cpuUsage();
    near(of('process_cpu_seconds_total'), (user + system) / 1e6, 0.2);
    near(of('process_resident_memory_bytes'), process.memoryUsage.rss(), 0.2);
    near(of('nodejs_heap_size_total_bytes'), process.memoryUsage().heapTotal, 0.5);
    near(of('process_start_time_seconds'), Date.now() / 1_000 - process.uptime(), 1e-6);
    assert.ok(of('nodejs_heap_size_used_bytes') <= of('nodejs_heap_size_total_bytes'));
    assert.ok(of('nodejs_eventloop_lag_seconds') >= 0);
  });

  test('count every collection in one bucket, and buckets are cumulative', async () => {
    beginProcessMetrics();
    const countOf = async (): Promise<number> =>
      [...valuesOf(await processMetrics())]
        .filter(([name]) => name.startsWith('nodejs_gc_duration_seconds_count'))
        .reduce((sum, [, value]) => sum + value, 0);
    const before = await countOf();
    await eventually(
      async () => {
        allocate();
        return (await countOf()) > before;
      },
      () => 'no collection was counted',
    );
    const text = await processMetrics();
    const kinds = new Set([...text.matchAll(/gc_duration_seconds_count\{kind="(\w+)"\}/g)].map(([, kind]) => kind));
    for (const kind of kinds) {
      const buckets = [...text.matchAll(new RegExp(`_bucket\\{le="[^"]+",kind="${kind}"\\} (\\d+)`, 'g'))].map(
        ([, n]) => Number(n),
      );
      assert.equal(buckets.length, 7);
      assert.deepEqual(
        buckets,
        buckets.toSorted((one, other) => one - other),
      );
      assert.equal(buckets.at(-1), valuesOf(text).get(`nodejs_gc_duration_seconds_count{kind="${kind}"}`));
      assert.ok((valuesOf(text).get(`nodejs_gc_duration_seconds_sum{kind="${kind}"}`) ?? 0) > 0);
    }
  });
});
