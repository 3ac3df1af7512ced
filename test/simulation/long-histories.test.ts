// tier: full, 67 s
/** Three long histories, as a test. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { missingIn, playAll } from './histories.ts';
import { Tally } from './playing.ts';

const SEEDS = 3;
const OPERATIONS = shareOf('operations of a long history');

suite('long histories', () => {
  test('confirmed is durable, told once and conserved; what listeners and readers believe is what reads say; over random users, schedules, slow threads, kills and power cuts (FIL-02 to 05, STR-01 to 05, WS-16, MD-01 to 04, LIM-06, AMB-08, AMB-23, AMB-28, AMB-32, AMB-52, AMB-110, AMB-112, AMB-116)', async (t) => {
    const tally = new Tally();
    await playAll({ seed: 1, seeds: SEEDS, operations: OPERATIONS }, tally);
    const operations = tally.of('operations');
    t.diagnostic(
      `${operations} operations, ${tally.of('confirmed sides')} confirmed sides, ${tally.of('rests')} rests`,
    );
    assert.ok(operations >= SEEDS * OPERATIONS);
    if (OPERATIONS >= 50_000) assert.deepEqual(missingIn(tally), [], 'everything happens');
  });
});
