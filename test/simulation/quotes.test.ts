// tier: full
/**
 * Histories in which users quote in sets: holds, balances, events and reads agree over fills, rollbacks, kills and power cuts
 * (QTE-04, QTE-07 to QTE-09).
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { playAll } from './histories.ts';
import { Tally } from './playing.ts';

const SEEDS = 4;
const OPERATIONS = 1_000;

suite('histories of quote sets', () => {
  test('confirmed is durable, told once and conserved; what listeners believe is what reads say (QTE-07, QTE-08, AMB-110, AMB-112)', async (t) => {
    const tally = new Tally();
    await playAll({ seed: 1, seeds: SEEDS, operations: OPERATIONS, topic: 'quotes' }, tally);
    t.diagnostic(`${tally.of('quoteSetApplied')} sets, ${tally.of('quoteSetEnded')} ends, ${tally.of('kill')} kills`);
    t.diagnostic(`${tally.of('protectionTriggered')} trips, ${tally.of('matched member')} fills of members`);
    for (const name of ['quoteSetApplied', 'quoteSetEnded', 'restored', 'restarted', 'fill confirmed', 'rests'])
      assert.ok(tally.of(name) > 0, name);
  });
});
