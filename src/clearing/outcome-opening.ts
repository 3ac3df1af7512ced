/** What the first record of a row log has before its own outcomes: where the log begins, and every balance (EVD-03, LDG-01). */
import type { Sequence } from '../core/units.ts';
import { allBalances } from './balances.ts';
import type { OutcomeRecorder } from './outcomes.ts';
import { allPositions } from './positions.ts';
import type { BalanceSlot, ClearingState, PositionSlot } from './state.ts';

/** @param state before record `first`, which is applied next. */
export function recordOpening(state: ClearingState, outcomes: OutcomeRecorder, first: Sequence): void {
  outcomes.beginOpening();
  outcomes.fact({ kind: 'statement', subject: 'log', text: `ringbook/log/v1\nfirst ${first}\n` });
  // A state that was loaded has them in another order than one that was replayed.
  for (const slot of [...allBalances(state)].sort(byAccount)) outcomes.openBalance(slot);
  for (const slot of [...allPositions(state)].sort(byAccount)) outcomes.openPosition(slot);
}

type Slot = Pick<BalanceSlot | PositionSlot, 'user' | 'subAccount' | 'asset'>;

function byAccount(one: Slot, other: Slot): number {
  if (one.user !== other.user) return one.user < other.user ? -1 : 1;
  if (one.subAccount !== other.subAccount) return one.subAccount - other.subAccount;
  return one.asset < other.asset ? -1 : 1;
}
