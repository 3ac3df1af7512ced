/**
 * What is kept of a leader for the node that takes over: who it is, whether it has handed over, whose dead-man timers run, and
 * which orders go with their connections (leadership.ts). Written in a cluster alone; a restart on one machine ends it.
 */
import { ORDER_END, ORDER_FLAG, type OrderEnd } from '../core/order-terms.ts';
import type { MarkTimer } from './inputs.ts';
import { configKey, placeConfig } from './registry/registry-config.ts';
import type { LeadershipRow, OrderRow } from './rows.ts';
import type { ClearingState } from './state.ts';

export function placeLeadership(state: ClearingState, leadership: LeadershipRow): void {
  placeConfig(state, { kind: 'leadership', key: '', json: JSON.stringify(leadership) });
  state.dirty.configs.add(configKey('leadership', ''));
}

/** A user that is not known has nothing that could be cancelled. */
export function markTimer(state: ClearingState, { user, runs }: Pick<MarkTimer, 'user' | 'runs'>): void {
  const slot = state.users.get(user);
  if (slot === undefined || slot.row.hasTimer === runs) return;
  slot.row = { ...slot.row, hasTimer: runs };
  state.dirty.users.add(slot);
  if (runs) state.timers.add(slot);
  else state.timers.delete(slot);
}

/** The leader before is gone, with its connections and timers, and so is its handover. */
export function endLeader(state: ClearingState): void {
  for (const { row } of [...state.timers]) markTimer(state, { user: row.user, runs: false });
  if (state.leadership.handover !== null) placeLeadership(state, { ...state.leadership, handover: null });
}

/**
 * What the setting `on_takeover` ends: orders of connections that cancel on disconnect, and of users with a timer. The node's
 * own orders are neither.
 *
 * @returns how an order ends; null: it lives on. As the state is now: timers are read at once.
 */
export function endsAtTakeover({ settings, timers }: ClearingState): (row: OrderRow) => OrderEnd | null {
  if (settings.on_takeover === 'keep') return () => null;
  const users = new Set([...timers].map(({ row }) => row.user));
  return ({ flags, user }) => {
    if ((flags & ORDER_FLAG.nodeMade) !== 0) return null;
    // mutant: marks-at-a-takeover
    return (flags & ORDER_FLAG.cancelOnDisconnect) !== 0 || users.has(user) ? ORDER_END.userRequested : null;
  };
}
