/**
 * What is kept of a leader for the node that takes over: who it is, whether it has handed over, whose dead-man timers run, and
 * which orders go with their connections (leadership.ts). Written in a cluster alone; a restart on one machine ends it.
 */
import type { UserId } from '../core/ids.ts';
import { ORDER_END, ORDER_FLAG, type OrderEnd } from '../core/order-terms.ts';
import type { MarkTimer } from './inputs.ts';
import { setOf } from './quote-set-slots.ts';
import { configKey, placeConfig } from './registry/registry-config.ts';
import type { LeadershipRow, OrderRow, QuoteSetRow } from './rows.ts';
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

/** What a takeover ends. */
interface TakeoverEnds {
  /** How an order ends; null: it lives on. */
  readonly order: (row: OrderRow) => OrderEnd | null;
  readonly set: (row: QuoteSetRow) => boolean;
}

/**
 * What the setting `on_takeover` ends: orders and quote sets of connections that cancel on disconnect, and of users with a
 * timer. The node's own orders are neither. An entry goes with its set: of it the newest revision counts, whatever the one was
 * by which the entry came.
 *
 * @returns as the state is now: timers are read at once.
 */
export function endsAtTakeover(state: ClearingState): TakeoverEnds {
  const { settings, timers, markets } = state;
  if (settings.on_takeover === 'keep') return { order: () => null, set: () => false };
  const users = new Set([...timers].map(({ row }) => row.user));
  const isEnded = ({ flags, user }: { readonly flags: number; readonly user: UserId }): boolean =>
    // mutant: marks-at-a-takeover
    (flags & ORDER_FLAG.cancelOnDisconnect) !== 0 || users.has(user);
  const order = (row: OrderRow): OrderEnd | null => {
    if ((row.flags & ORDER_FLAG.nodeMade) !== 0) return null;
    const market = markets[row.marketIndex];
    // mutant: entries-at-a-takeover
    const of = row.quoteSet === 0 || market === undefined ? row : setOf(market, row).row;
    return isEnded(of) ? ORDER_END.userRequested : null;
  };
  return { order, set: isEnded };
}
