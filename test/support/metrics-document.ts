/**
 * The document of all metrics, made from the table (src/operator/metric-table.ts). Run as a program it writes
 * docs/reference/metrics.md; test/operator/metric-table.test.ts compares both.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MetricRow } from '../../src/operator/metric-families.ts';
import { METRIC_TABLE } from '../../src/operator/metric-table.ts';
import { PROCESS_TABLE } from '../../src/operator/process-metrics.ts';

export const METRICS_DOCUMENT: string = join(import.meta.dirname, '../../../docs/reference/metrics.md');

const HEAD = `# Metrics

All families of \`GET /metrics\` on the operations listener, made from \`src/operator/metric-table.ts\` by
\`node dist/test/support/metrics-document.js\`. What to do about them: [operating.md](../operating.md). A histogram has the
series \`…_bucket\`, \`…_sum\` and \`…_count\`.

| Family | Kind | Labels | |
| --- | --- | --- | --- |
`;

export function metricsDocument(): string {
  return `${HEAD}${[...METRIC_TABLE, ...PROCESS_TABLE].map(line).join('')}| \`nodejs_gc_duration_seconds\` | histogram | \`kind\` | Garbage collection duration by kind, one of major, minor, incremental or weakcb. |\n`;
}

function line({ name, kind, labels, help }: Pick<MetricRow<never>, 'name' | 'kind' | 'labels' | 'help'>): string {
  return `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |\n`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(METRICS_DOCUMENT, metricsDocument());
