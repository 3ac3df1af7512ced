// tier: quick
/** What a read over HTTP reads, by its route (src/http/edge-metrics.ts). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { READ_KINDS } from '../../src/gateway/metrics/metric-names.ts';
import { readKindOf } from '../../src/http/edge-metrics.ts';
import { MDS_ROUTES } from '../../src/http/mds-reads.ts';
import { OMS_ROUTES } from '../../src/http/oms-routes.ts';

suite('kinds of reads', () => {
  const reads = [...OMS_ROUTES, ...MDS_ROUTES].filter(({ method }) => method === 'GET');
  const patterns = reads.map(({ path }) => path.replace(/\{(\w+)\}/g, ':$1'));

  test('every documented GET of both listeners has a kind of its own, and each kind has a route', () => {
    const kinds = new Map(patterns.map((pattern) => [pattern, readKindOf(pattern)]));
    const unknown = [...kinds].filter(([, kind]) => kind === 'other').map(([pattern]) => pattern);
    assert.deepEqual(unknown, []);
    const used = new Set(kinds.values());
    assert.deepEqual(
      READ_KINDS.filter((kind) => kind !== 'other' && !used.has(kind)),
      [],
    );
  });

  test('a path below /market-data is of the kind of the path at the root', () => {
    for (const pattern of patterns) {
      const there = pattern.startsWith('/market-data/') ? pattern : `/market-data${pattern}`;
      if (pattern !== '/') assert.equal(readKindOf(there), readKindOf(pattern), pattern);
    }
  });

  test('own trades are not public ones; what has no route is other', () => {
    assert.equal(readKindOf('/trades/user/:user_id'), 'user-trades');
    assert.equal(readKindOf('/trades/:asset_id'), 'trades');
    assert.equal(readKindOf('/*'), 'other');
  });
});
