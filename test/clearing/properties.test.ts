// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Batch } from '../../src/clearing/inputs.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash, stateLines } from '../../src/clearing/state-hash.ts';
import { canCheckpoint } from '../../src/clearing/tables.ts';
import { must } from '../../src/core/assert.ts';
import { Player } from '../support/clearing-player.ts';
import { moves, type Step, step, USERS } from '../support/clearing-steps.ts';
import { balancesOf, type ClearingWorld, heldOf, PlainTables, positionsOf } from '../support/clearing-world.ts';
import { ALICE, ETH, USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const PARAMETERS = propertyParameters(60);

function replayed(batches: readonly Batch[], state = createClearingState()): typeof state {
  for (const batch of batches) applyBatch(state, batch, []);
  return state;
}

/** Plays with holds, faults and restarts in between; they need no plain ledger. */
function playWild(steps: readonly (Step | Wild)[]): ClearingWorld {
  const player = new Player();
  player.compares = false;
  for (const step of steps) {
    if (isWild(step)) playHook(player.world, step);
    else if (!['transfer', 'close', 'oracle'].includes(step.kind)) player.play(step);
  }
  return player.world;
}

const wild = fc.oneof(
  fc.record({ kind: fc.constant('hold' as const), all: fc.boolean() }),
  fc.record({ kind: fc.constant('release' as const), fills: fc.constantFrom(null, null, 1, 2) }),
  fc.record({ kind: fc.constant('fault' as const), skip: fc.nat({ max: 2 }), count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ kind: fc.constant('restart' as const), clean: fc.boolean() }),
  fc.record({ kind: fc.constant('prices' as const), price: fc.integer({ min: 0, max: 9 }) }),
);
type Wild = typeof wild extends fc.Arbitrary<infer S> ? S : never;

function isWild(step: Step | Wild): step is Wild {
  return ['hold', 'release', 'fault', 'restart', 'prices'].includes(step.kind);
}

function playHook(world: ClearingWorld, step: Wild): void {
  const request = world.request();
  switch (step.kind) {
    case 'hold':
      world.send({ kind: 'hold', request, asset: step.all ? 'all' : ETH });
      break;
    case 'release':
      world.send({ kind: 'release', request, fills: step.fills });
      break;
    case 'fault': {
      const { skip, count } = step;
      world.send({ kind: 'fault', request, fault: { party: 'taker', reason: 1, asset: null, skip, count } });
      break;
    }
    case 'restart':
      world.send({ kind: 'restarted', clean: step.clean });
      break;
    case 'prices':
      world.send({ kind: 'setPrices', request, body: { prices: [{ asset_id: ETH, price: String(step.price) }] } });
      break;
  }
}

const wildSteps = fc.array(fc.oneof({ weight: 8, arbitrary: step }, { weight: 1, arbitrary: wild }), {
  minLength: 10,
  maxLength: 80,
});

suite('random worlds', () => {
  test('every balance, leg, hold and decision is that of a plain ledger (AMB-29, AMB-39, AMB-41, AMB-52, AMB-54, AMB-65, AMB-116, FIL-17)', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 120, size: '+1' }), (steps) => {
        const player = new Player();
        for (const item of steps) {
          player.play(item);
          assert.deepEqual(balancesOf(player.world.state), player.plain.nonEmpty());
          assert.deepEqual(positionsOf(player.world.state), player.plain.openPositions());
          for (const user of USERS) {
            assert.equal(player.world.held(user, USD), player.plain.held(user, 0, USD));
            assert.equal(player.world.held(user, ETH), player.plain.held(user, 0, ETH));
          }
          player.compareEnabled();
        }
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });

  test('a journal replayed whole, one input a batch, or as one batch gives the same state (AMB-36, AMB-110)', () => {
    fc.assert(
      fc.property(wildSteps, (steps) => {
        // What is cut into batches is cut at one time: prices and marks grow old.
        const world = playWild(steps.filter(({ kind }) => kind !== 'pass'));
        const { journal, nowNs: timeNs } = world;
        const lines = [...stateLines(world.state)];
        assert.deepEqual([...stateLines(replayed(journal))], lines);
        const inputs = journal.flatMap((batch) => batch.inputs);
        const verdicts = journal.flatMap((batch) => batch.verdicts);
        assert.deepEqual([...stateLines(replayed([{ timeNs, inputs, verdicts }]))], lines);
        const single = journal.flatMap((batch): Batch[] => [
          { timeNs, inputs: [], verdicts: batch.verdicts },
          ...batch.inputs.map((input): Batch => ({ timeNs, inputs: [input], verdicts: [] })),
        ]);
        assert.equal(stateHash(replayed(single)), stateHash(world.state));
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });

  test('a checkpoint anywhere and the rest of the journal give the state that never stopped (AMB-110)', () => {
    fc.assert(
      fc.property(wildSteps, fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 4 }), (steps, cuts) => {
        const world = playWild(steps);
        const tables = new PlainTables();
        let state = createClearingState();
        world.journal.forEach((batch, at) => {
          applyBatch(state, batch, []);
          if (!canCheckpoint(state) || !cuts.includes(at)) return;
          tables.checkpoint(state);
          const loaded = tables.load();
          checkLedger(loaded);
          assert.deepEqual([...stateLines(loaded)], [...stateLines(state)]);
          assert.deepEqual(heldOf(loaded), heldOf(state));
          state = loaded;
        });
        assert.deepEqual([...stateLines(state)], [...stateLines(world.state)]);
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });

  test('a hold that a replay has got wrong is found (AMB-116)', () => {
    const player = new Player();
    player.compares = false;
    const { world } = player;
    world.fund(ALICE, USD, '1000');
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const loaded = tables.load();
    checkLedger(loaded);
    const [user] = loaded.users.values();
    const balance = must(user?.subAccounts.get(0)?.balances.get(USD), 'it was funded');
    balance.heldBySells = 1n as typeof balance.heldBySells;
    assert.throws(() => checkLedger(loaded), /held by its live orders/);
  });

  test('holding fills back and letting them go changes nothing but the time (operator-api.md 7.3)', () => {
    fc.assert(
      fc.property(fc.array(moves, { minLength: 10, maxLength: 60 }), fc.nat({ max: 40 }), (steps, from) => {
        const player = new Player();
        player.compares = false;
        steps.forEach((item, at) => {
          if (at === from) player.world.send({ kind: 'hold', request: 0, asset: ETH });
          player.play(item);
        });
        player.world.send({ kind: 'release', request: 0, fills: null });
        const free = player.world.journal.map((batch) => ({
          ...batch,
          inputs: batch.inputs.filter((input) => input.kind !== 'hold' && input.kind !== 'release'),
        }));
        assert.deepEqual([...stateLines(replayed(free))], [...stateLines(player.world.state)]);
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });
});
