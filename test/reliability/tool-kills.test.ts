// tier: full, 14 s
/** Kills of commands that change a data directory, a share of what `run.js upgrade` and `run.js prune` try. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { killPrunes, killUpgrades } from '../support/tool-kills.ts';

const SEED = 20_261_121;
const KILLS = shareOf('kills of a command');

suite('kill -9 of a command', () => {
  for (const [name, campaign] of [
    ['upgrade', killUpgrades],
    ['prune', killPrunes],
  ] as const) {
    test(`${KILLS} kills of ringbook ${name}: the directory is as it was or done, and done after it is run again`, async () => {
      assert.deepEqual((await campaign(SEED, KILLS)).problems, []);
    });
  }
});
