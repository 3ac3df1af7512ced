// tier: full
/** Damaged files, a share of what `node dist/test/reliability/run.js damage` tries. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { damageCampaign } from '../support/damage-campaign.ts';
import { shareOf } from '../support/shares.ts';

const IMAGES = shareOf('damaged images');
const SEED = 20_261_121;

suite('damaged files', () => {
  test(`of ${IMAGES} flipped bits, swapped, cut, empty and stale pages none is silent`, async () => {
    const { detected, harmless, silent } = await damageCampaign(SEED, IMAGES);
    assert.deepEqual(silent, []);
    assert.equal(detected + harmless, IMAGES);
    assert.ok(detected > IMAGES / 3, `damage is found: ${detected}`);
  });
});
