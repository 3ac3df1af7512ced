/**
 * Which node leads, according to the journal: a takeover is the first record of an epoch, a handover the last one of a
 * leader (cluster.md 5). Kept as a row of configs, so that it is in the tables, in the state hash and in what the gateway
 * is sent; on one machine there is none, and the epoch is 0.
 *
 *   takeover   the restart of one machine (restart.ts) and the new epoch; without the jump of sequences exactly behind a handover
 *   handover   nothing may follow but a takeover, or the restart of one machine
 *
 * Its connections and dead-man timers end with a leader. With the setting `on_takeover` `cancel` the orders that were marked
 * for that are over before anything of them is sent (cluster.md 8).
 *
 * Each of them is alone in its record (records.ts).
 */
import { assert } from '../core/assert.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Effect } from './effects.ts';
import type { Handover, Takeover } from './inputs.ts';
import { endsAtTakeover, placeLeadership } from './leader-marks.ts';
import { endSets } from './quote-sets.ts';
import { applyRestarted } from './restart.ts';
import type { ClearingState } from './state.ts';

/**
 * @throws InvariantError when it is not of the next epoch, or clean without a handover before it, or the other way
 * round.
 */
export function applyTakeover(state: ClearingState, input: Takeover, nowNs: TimestampNs, effects: Effect[]): void {
  const { epoch, node, run, clean, oms, mds } = input;
  const { leadership } = state;
  assert(epoch === leadership.epoch + 1, `a takeover of epoch ${epoch} does not follow epoch ${leadership.epoch}`);
  // mutant: clean-behind-a-handover
  assert(clean === (leadership.handover !== null), 'a takeover is clean exactly behind a handover');
  const ends = endsAtTakeover(state);
  applyRestarted(state, { kind: 'restarted', clean }, nowNs, effects, ends.order);
  // mutant: set-marks-at-a-takeover
  endSets(state, nowNs, ends.set);
  placeLeadership(state, { epoch, node, run, oms, mds, handover: null });
}

export function applyHandover(state: ClearingState, { to }: Handover): void {
  placeLeadership(state, { ...state.leadership, handover: { to } });
}
