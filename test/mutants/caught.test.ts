// tier: full, 21 s
/** Some of the deliberate bugs in every run: those with suites of a second. All of them: run.ts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judgeAll } from './bench.ts';
import { MUTANTS } from './mutants.ts';

const QUICK_SUITES: ReadonlySet<string> = new Set([
  'test/cluster/protocol',
  'test/clearing/fills',
  'test/clearing/money',
  'test/risk/at-risk',
  'test/risk/equals-reference',
  'test/market-data/depth-replica',
  'test/market-data/market-data',
  'test/matching/children',
  'test/matching/rollbacks',
  'test/matching/self-trades',
  'test/gateway/orders/auto-reduce',
  'test/gateway/sessions/rate-limits',
  'test/gateway/sessions/sessions',
]);

suite('deliberate bugs, some', () => {
  test('each is noticed by its suite', async (t) => {
    const mutants = MUTANTS.filter(({ caughtBy }) => QUICK_SUITES.has(caughtBy));
    assert.ok(mutants.length >= 20);
    const judged = await judgeAll(mutants, 1);
    const missed = judged.filter(({ fate }) => fate === 'lives' || fate === 'not judged');
    assert.deepEqual(
      missed.map(({ mutant, fate }) => `${mutant.breaks}: ${fate}`),
      [],
    );
    t.diagnostic(`${judged.length} of ${MUTANTS.length} deliberate bugs made, all noticed`);
  });
});
