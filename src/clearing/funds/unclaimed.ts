import type { ChainId, UserId } from '../../core/ids.ts';
import type { Deposit } from '../inputs.ts';
import type { UnclaimedRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';

type View = Readonly<Record<string, unknown>>;

export const UNCLAIMED_PER_USER = 64;
/** Their list is one message to the operator API, some 300 KiB. */
export const UNCLAIMED_PER_CHAIN = 1_024;

/** The key of the row in `state.unclaimed`. */
export function unclaimedKey({ chainId, user, counter }: Pick<UnclaimedRow, 'chainId' | 'user' | 'counter'>): string {
  return `${chainId}/${user}/${counter}`;
}

function count(state: ClearingState, { chainId, user }: UnclaimedRow, change: number): void {
  for (const key of [chainId, `${chainId}/${user}`]) {
    const left = (state.unclaimedCounts.get(key) ?? 0) + change;
    if (left === 0) state.unclaimedCounts.delete(key);
    else state.unclaimedCounts.set(key, left);
  }
}

/** A row, also of a checkpoint. */
export function placeUnclaimed(state: ClearingState, row: UnclaimedRow): void {
  if (row.credited) return;
  const key = unclaimedKey(row);
  if (!state.unclaimed.has(key)) count(state, row, 1);
  state.unclaimed.set(key, row);
}

/** A deposit that cannot be credited now. */
export function keepUnclaimed(state: ClearingState, event: Omit<Deposit, 'kind' | 'request'>): void {
  const { chainId, user, depositNonce: counter, token, baseUnits, tx, logIndex } = event;
  const row: UnclaimedRow = { chainId, user, counter, token, baseUnits, tx, logIndex, credited: false };
  const kept = hasRoom(state, row) ? row : joined(state, row);
  if (kept === null) return;
  placeUnclaimed(state, kept);
  state.dirty.unclaimed.add(unclaimedKey(kept));
}

function hasRoom({ unclaimedCounts }: ClearingState, { chainId, user }: UnclaimedRow): boolean {
  const ofUser = unclaimedCounts.get(`${chainId}/${user}`) ?? 0;
  return ofUser < UNCLAIMED_PER_USER && (unclaimedCounts.get(chainId) ?? 0) < UNCLAIMED_PER_CHAIN;
}

/** The youngest row of the same user and token, with these units too; null for none. */
function joined(state: ClearingState, { chainId, user, token, baseUnits }: UnclaimedRow): UnclaimedRow | null {
  let youngest: UnclaimedRow | null = null;
  for (const row of state.unclaimed.values()) {
    if (row.chainId !== chainId || row.user !== user || row.token !== token) continue;
    if (youngest === null || row.counter > youngest.counter) youngest = row;
  }
  return youngest === null ? null : { ...youngest, baseUnits: youngest.baseUnits + baseUnits };
}

/** The deposit is credited: its row is gone. */
export function removeUnclaimed(state: ClearingState, row: UnclaimedRow): void {
  // mutant: unclaimed-once
  state.unclaimed.delete(unclaimedKey(row));
  count(state, row, -1);
  state.dirty.unclaimed.add(unclaimedKey(row));
}

/** Rows in the order of chains, users and counters. */
export function unclaimedRows(state: ClearingState): UnclaimedRow[] {
  const rows = [...state.unclaimed.values()];
  const place = ({ chainId, user }: UnclaimedRow): string => `${chainId}/${user}`;
  return rows.sort((a, b) => (place(a) === place(b) ? a.counter - b.counter : place(a) < place(b) ? -1 : 1));
}

/** `GET /operator/chains/{chain_id}/unclaimed`. */
export function unclaimedView(state: ClearingState, chainId: ChainId): View {
  const rows = unclaimedRows(state).filter((row) => row.chainId === chainId);
  return {
    unclaimed: rows.map(({ user, counter, token, baseUnits }) => {
      return { user, counter, token, amount_base_units: baseUnits.toString() };
    }),
  };
}

/** The row of a key of `dirty`; one that is gone was credited. */
export function unclaimedRow(state: ClearingState, key: string): UnclaimedRow {
  const [chainId, user, counter] = key.split('/') as [ChainId, UserId, string];
  const none = '0'.repeat(64);
  const credited = { token: none, baseUnits: 0n, tx: none, logIndex: 0, credited: true };
  return state.unclaimed.get(key) ?? { chainId, user, counter: Number(counter), ...credited };
}
