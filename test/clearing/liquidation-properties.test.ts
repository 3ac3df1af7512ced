// tier: full, 7 s
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateLines } from '../../src/clearing/state-hash.ts';
import { canCheckpoint } from '../../src/clearing/tables.ts';
import { PlainTables } from '../support/clearing-world.ts';
import { LiquidationPlayer } from '../support/liquidation-player.ts';
import { type LiquidationStep, liquidationStep } from '../support/liquidation-steps.ts';
import { propertyParameters } from '../support/property.ts';
import { assertMirrored } from '../support/row-mirror.ts';

const PARAMETERS = { ...propertyParameters(60), includeErrorInReport: true };
const days = fc.array(liquidationStep, { minLength: 20, maxLength: 140, size: '+1' });

function played(steps: readonly LiquidationStep[], tally = new Map<string, number>()): LiquidationPlayer {
  const player = new LiquidationPlayer(tally);
  for (const step of steps) player.play(step);
  return player;
}

/** What must have happened in all days together, so that nothing holds for want of cases. */
const HAPPENINGS = [
  ...['liquidation begun', 'liquidation ended', 'cleared', 'node order refused', 'node order unfilled'],
  ...['node order filled', 'node order filled in part', 'liquidation fill', 'clip fill', 'deleveraged', 'restart'],
];

suite('random days with liquidations', () => {
  test('every order, take-over, clip, deleveraging and posting is that of a plain machine, step for step, and assets are conserved (LIQ-03 to LIQ-09, LIQ-11 to LIQ-13, BKS-01 to BKS-07, ADL-01 to ADL-09, AMB-45, AMB-56 to AMB-60, AMB-116)', () => {
    const tally = new Map<string, number>();
    fc.assert(
      fc.property(days, (steps) => {
        played(steps, tally);
      }),
      PARAMETERS,
    );
    assert.deepEqual(
      HAPPENINGS.filter((name) => !tally.has(name)),
      [],
    );
  });

  test('a journal with liquidations gives the same state again, from its beginning and from a checkpoint anywhere (LIQ-04, BKS-02, AMB-110)', () => {
    fc.assert(
      fc.property(days, fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 4 }), (steps, cuts) => {
        const { world } = played(steps);
        const tables = new PlainTables();
        let state = createClearingState();
        world.journal.forEach((batch, at) => {
          applyBatch(state, batch, []);
          if (!canCheckpoint(state) || !cuts.includes(at)) return;
          tables.checkpoint(state);
          const loaded = tables.load();
          checkLedger(loaded);
          assert.deepEqual([...stateLines(loaded)], [...stateLines(state)]);
          state = loaded;
        });
        assert.deepEqual([...stateLines(state)], [...stateLines(world.state)]);
        assertMirrored(world.journal, world.rowLog.outcomes, 1 + Math.min(...cuts));
      }),
      PARAMETERS,
    );
  });
});
