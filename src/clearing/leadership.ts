/**
 * Which node leads, according to the journal: a takeover is the first record of an epoch, a handover the last one of a
 * leader (cluster.md 5). Kept as a row of configs, so that it is in the tables, in the state hash and in what the gateway
 * is sent; on one machine there is none, and the epoch is 0.
 *
 *   takeover   the restart of one machine (restart.ts) and the new epoch; without the jump of sequences exactly behind a handover
 *   handover   nothing may follow but a takeover, or the restart of one machine
 *
 * Each of them is alone in its record (records.ts).
 */
import { assert } from '../core/assert.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Effect } from './effects.ts';
import type { Handover, Restarted, Takeover } from './inputs.ts';
import { configKey, placeConfig } from './registry/registry-config.ts';
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
  applyRestarted(state, { kind: 'restarted', clean }, nowNs, effects);
  changeLeadership(state, { epoch, node, run, oms, mds, handover: null });
}

export function applyHandover(state: ClearingState, { to }: Handover): void {
  changeLeadership(state, { ...state.leadership, handover: { to } });
}

/** The restart of one machine: what a cluster left behind is no end of a leader any more. */
export function applyLoneRestart(state: ClearingState, input: Restarted, nowNs: TimestampNs, effects: Effect[]): void {
  applyRestarted(state, input, nowNs, effects);
  if (state.leadership.handover !== null) changeLeadership(state, { ...state.leadership, handover: null });
}

function changeLeadership(state: ClearingState, leadership: ClearingState['leadership']): void {
  placeConfig(state, { kind: 'leadership', key: '', json: JSON.stringify(leadership) });
  state.dirty.configs.add(configKey('leadership', ''));
}
