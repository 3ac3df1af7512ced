// tier: full, 10 s
/** A map that is damaged under a running node, a share of what `node dist/test/reliability/run.js live-damage` tries. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { liveDamageCampaign } from '../support/live-damage-campaign.ts';
import { shareOf } from '../support/shares.ts';

const RUNS = shareOf('damage under a running node');
/** Its second run cuts the file in its first half, where pages are in use whatever else happens. */
const SEED = 20_261_122;

suite('damage under a running node', () => {
  test('a flipped bit of an open order, and a file that is cut: found, or everything is right (AMB-111)', async () => {
    const counts = await liveDamageCampaign(SEED, RUNS);
    assert.deepEqual(counts.problems, []);
    assert.equal(counts.refused + counts.late + counts.harmless, RUNS);
    assert.ok(counts.harmless < RUNS, 'what is in use was hit');
    assert.ok(counts.confirmed > 0);
  });
});
