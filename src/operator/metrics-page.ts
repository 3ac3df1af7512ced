/**
 * `GET /metrics` (operator-api.md 3): the table of metrics (metric-table.ts) as Prometheus text. Reading what threads recorded in
 * shared memory costs them nothing.
 */
import { CLEARING, EVIDENCE, GATEWAY, MARKET_DATA, REPLICA_FEED, REPLICATOR } from '../core/actor-names.ts';
import { must } from '../core/assert.ts';
import { MARKETS_MAX, stageMetric } from '../gateway/metrics/metric-names.ts';
import { snapshotMetrics } from '../runtime/metrics.ts';
import type { Plan } from '../runtime/topology.ts';
import { actorNamed, familyText, type Recorded, recordedOf } from './metric-families.ts';
import { METRIC_TABLE, type MetricScope, REPLICA_TABLE, type ReplicaScope } from './metric-table.ts';
import type { OpsParts } from './ops-parts.ts';
import { processMetrics } from './process-metrics.ts';

/** The media type of Prometheus' text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What no thread records in shared memory. */
export type MeasuredElsewhere = Pick<MetricScope, 'opsRequests' | 'chains' | 'deviations' | 'approvalStops'>;

/** 3,100 lines take 2 ms, in one piece: so the pause behind it counts all of it (paced-requests.ts). */
export async function metricsPage(parts: OpsParts, measured: MeasuredElsewhere): Promise<string> {
  const scope = scopeOf(parts, measured);
  return [...METRIC_TABLE.map((row) => familyText(row, scope)), await processMetrics()].join('\n');
}

/** The page of a replica of market data: it has neither gateway nor clearing. */
export async function replicaMetricsPage(parts: ReplicaScope['parts']): Promise<string> {
  const scope = { parts, replica: replicaOf(parts.plan) };
  return [...REPLICA_TABLE.map((row) => familyText(row, scope)), await processMetrics()].join('\n');
}

function replicaOf({ actors }: Plan): Recorded | null {
  const feed = actors.find(({ name }) => name === REPLICA_FEED);
  return feed === undefined ? null : recordedOf(feed.name, snapshotMetrics(feed.metricsPlan));
}

function scopeOf(parts: OpsParts, measured: MeasuredElsewhere): MetricScope {
  const { plan } = parts;
  const actors = plan.actors.map(({ name, metricsPlan }) => recordedOf(name, snapshotMetrics(metricsPlan)));
  const gateway = actorNamed(actors, GATEWAY);
  return {
    parts,
    actors,
    gateway,
    clearing: actorNamed(actors, CLEARING),
    replica: replicaOf(plan),
    replicator: actors.find(({ actor }) => actor === REPLICATOR) ?? null,
    evidence: actors.find(({ actor }) => actor === EVIDENCE) ?? null,
    listeners: [
      ['oms', gateway],
      ['mds', actorNamed(actors, MARKET_DATA)],
    ],
    shards: actors.filter(({ metrics }) => metrics.has(stageMetric('create', 'match'))),
    threads: plan.threads.map(({ name }, index) =>
      recordedOf(name, snapshotMetrics(must(plan.threadMetrics[index], 'metrics for every thread'))),
    ),
    threadUses: parts.threadUses(),
    markets: [...parts.marketFigures()].slice(0, MARKETS_MAX),
    marketActions: [...parts.marketActions()].map(([market, recorded]) =>
      recordedOf(market, snapshotMetrics(recorded)),
    ),
    ...measured,
  };
}
