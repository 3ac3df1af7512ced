// tier: quick
/** The table of metrics is the page, the document, and all that alerts, dashboards and documents may name. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { METRIC_TABLE } from '../../src/operator/metric-table.ts';
import { PROCESS_TABLE } from '../../src/operator/process-metrics.ts';
import { METRICS_DOCUMENT, metricsDocument } from '../support/metrics-document.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NAMES: ReadonlySet<string> = new Set(METRIC_TABLE.map(({ name }) => name));

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json|md|js|ts|html)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

suite('the table of metrics', () => {
  test('has each name once, counters that end with _total, and help of one sentence', () => {
    assert.equal(NAMES.size, METRIC_TABLE.length);
    for (const { name, kind, help } of [...METRIC_TABLE, ...PROCESS_TABLE]) {
      assert.equal(name.endsWith('_total'), kind === 'counter', name);
      assert.match(help, /\.$/, name);
    }
  });

  test('is the document', () => {
    assert.equal(
      readFileSync(METRICS_DOCUMENT, 'utf8'),
      metricsDocument(),
      'run node dist/test/support/metrics-document.js',
    );
  });

  test('has every metric that alerts, dashboards, pages and documents name', () => {
    const unknown = ['config', 'docs', 'page'].flatMap(filesBelow).flatMap((file) => {
      const words = readFileSync(file, 'utf8').match(/\bringbook_[a-z][a-z_]*[a-z](?!\w)/g) ?? [];
      return words
        .filter((word) => !NAMES.has(word) && !NAMES.has(word.replace(/_(?:bucket|sum|count)$/, '')))
        .map((word) => `${file.slice(ROOT.length + 1)}: ${word}`);
    });
    assert.deepEqual([...new Set(unknown)], []);
  });
});
