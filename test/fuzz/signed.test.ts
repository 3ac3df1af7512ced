// tier: full, 7 s
/** The fuzzer's share of actions that are correctly signed and carry strange values (see fuzz.test.ts). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { findingText, runCampaign } from './campaign.ts';
import { Dice } from './dice.ts';
import { SignedFuzz } from './signed-campaign.ts';

const SEED = 20_260_731;
const ROUNDS = shareOf('rounds of signed actions');
const CASES_PER_ROUND = 40;
const FOR_EVER_MS = Number.POSITIVE_INFINITY;

suite('a node under signed actions that carry strange values', () => {
  let signed: SignedFuzz;

  before(async () => {
    signed = await SignedFuzz.start();
  });
  after(() => signed?.node.stop());

  test('every kind of action with figures at every edge is answered, while prices jump and the clock moves (ORD-25, AMB-01, AMB-116)', async (t) => {
    const dice = new Dice(SEED);
    let cases = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const extent = { seed: dice.seed(), casesMax: CASES_PER_ROUND, forMs: FOR_EVER_MS };
      const result = await runCampaign(signed.campaign(6), extent);
      cases += result.cases;
      assert.ok(
        result.finding === null,
        `${result.finding === null ? '' : findingText(result.finding)}\n${signed.recent.join('\n')}`,
      );
      await signed.disturb(dice);
    }
    await signed.settle();
    t.diagnostic(`${cases} cases`);
  });
});
