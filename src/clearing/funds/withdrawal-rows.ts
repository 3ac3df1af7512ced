/**
 * How rows of withdrawals change, whatever the reason: their states, their numbers (AMB-80). The reasons are in
 * withdrawals.ts.
 */
import { assert } from '../../core/assert.ts';
import type { ChainId, UserId } from '../../core/ids.ts';
import type { Effect } from '../effects.ts';
import type { WithdrawalRow, WithdrawalStatus } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import type { WithdrawalSlot } from './withdrawal-book.ts';

/** Where a row may go from each state. */
const NEXT: Readonly<Record<WithdrawalStatus, readonly WithdrawalStatus[]>> = {
  queued: ['filled', 'cancelled', 'expired'],
  filled: ['signing', 'cancelled', 'expired'],
  signing: ['approved', 'executed', 'expired'],
  approved: ['executed', 'expired'],
  executed: ['gone', 'signing', 'approved'],
  expired: ['gone'],
  cancelled: ['gone'],
  gone: [],
};

/** The smallest number from the vault's counter up that no live row of the user on the chain has (AMB-80, MON-02). */
export function freeNonce(state: ClearingState, user: UserId, chainId: ChainId): number {
  const taken = new Set(state.withdrawals.liveOf(user, chainId).map(({ row }) => row.nonce));
  let nonce = counterOf(state, user, chainId);
  while (taken.has(nonce)) nonce += 1;
  return nonce;
}

export function counterOf(state: ClearingState, user: UserId, chainId: ChainId): number {
  return state.withdrawalCounters.get(`${chainId}/${user}`) ?? 0;
}

export function move(
  state: ClearingState,
  slot: WithdrawalSlot,
  status: WithdrawalStatus,
  change: Partial<WithdrawalRow>,
  effects: Effect[],
): void {
  assert(NEXT[slot.row.status].includes(status), `a withdrawal goes from ${slot.row.status} to ${status}`);
  state.withdrawals.change(slot, { ...slot.row, ...change, status });
  changed(state, slot, effects);
}

export function changed(state: ClearingState, slot: WithdrawalSlot, effects: Effect[]): void {
  state.dirty.withdrawals.add(slot);
  effects.push({ kind: 'withdrawalChanged', row: slot.row });
}

/**
 * Rows with a null nonce that are not approved move down when an earlier one ends (AMB-80): filled ones first, so that
 * none of them is behind one that waits for units (MON-04).
 */
export function renumber(state: ClearingState, user: UserId, chainId: ChainId, effects: Effect[]): void {
  const live = state.withdrawals.liveOf(user, chainId);
  const isFixed = ({ isExplicit, status }: WithdrawalRow): boolean =>
    isExplicit || status === 'signing' || status === 'approved';
  const taken = new Set(live.filter(({ row }) => isFixed(row)).map(({ row }) => row.nonce));
  let nonce = counterOf(state, user, chainId);
  const free = live.filter(({ row }) => !isFixed(row));
  // mutant: filled-before-queued
  const filled = free.filter(({ row }) => row.status === 'filled');
  for (const slot of [...filled, ...free.filter(({ row }) => row.status !== 'filled')]) {
    while (taken.has(nonce)) nonce += 1;
    if (slot.row.nonce !== nonce) {
      state.withdrawals.change(slot, { ...slot.row, nonce });
      changed(state, slot, effects);
    }
    nonce += 1;
  }
}
