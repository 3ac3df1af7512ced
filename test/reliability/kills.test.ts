// tier: quick, 9 s
/** Kills of a living process, a share of what `node dist/test/reliability/run.js kills` tries. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { killCampaign } from '../support/kill-campaign.ts';
import { shareOf } from '../support/shares.ts';

/** The fifth or so of its starts restores a crossed book over several batches. */
const SEED = 7;
const KILLS = shareOf('kills');
const DOUBLE_KILLS = shareOf('double kills');

suite('kill -9', () => {
  for (const { title, plan } of [
    { title: `${KILLS} kills, some of them during recovery`, plan: { kills: KILLS } },
    {
      title: `${DOUBLE_KILLS} kills, every second during the recovery from the one before`,
      plan: { kills: DOUBLE_KILLS, isDouble: true },
    },
  ]) {
    test(`${title}: nothing durable or confirmed is lost or doubled, and replay gives the same state (AMB-110, AMB-116, I5)`, async () => {
      const { problems, confirmed, records } = await killCampaign(SEED, plan);
      assert.deepEqual(problems, []);
      assert.ok(confirmed > 0 && records > plan.kills, `${confirmed} confirmed sides in ${records} records`);
    });
  }
});
