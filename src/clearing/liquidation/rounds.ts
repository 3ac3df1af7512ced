/**
 * The liquidation of one account (service spec 3.6, LIQ-03 to LIQ-07, AMB-57): what each input makes of its row.
 */

import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { AccountCleared, LiquidationStep, NodeOrderRefused } from '../inputs.ts';
import type { ClearingState } from '../state.ts';
import { nodeOrderOver, setLiquidation } from './liquidation-rows.ts';

/** What is next for an account. */
export function applyLiquidationStep(
  _state: ClearingState,
  _input: LiquidationStep,
  _nowNs: TimestampNs,
  _effects: Effect[],
): void {
  // No account is under liquidation yet.
}

/** The account has no live order any more. */
export function applyAccountCleared(state: ClearingState, input: AccountCleared, _effects: Effect[]): void {
  const account = state.users.get(input.user)?.subAccounts.get(input.subAccount);
  const row = account?.liquidation ?? null;
  if (account === undefined || row?.stage !== 'cancelling') return;
  setLiquidation(state, account, { ...row, stage: 'settling', through: input.through });
}

/** An order of the node was not admitted. */
export function applyNodeOrderRefused(state: ClearingState, input: NodeOrderRefused, _effects: Effect[]): void {
  nodeOrderOver(state, input);
}

/** Orders of the node never rest: at a start they are over, and each account is cleared again. */
export function restartLiquidations(state: ClearingState): void {
  for (const account of state.liquidations) {
    const row = account.liquidation;
    if (row === null) continue;
    setLiquidation(state, account, { ...row, stage: 'cancelling', through: [], order: null });
  }
}
