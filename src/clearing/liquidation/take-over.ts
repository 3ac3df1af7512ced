/**
 * Take-over: what the book did not absorb of an account moves to a sub-account of the backstop of its own (BKS-01 to BKS-03).
 */
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { ClearingState, SubAccountSlot } from '../state.ts';

/** @returns false, and nothing has changed, when the backstop has no sub-account for it: the caller tries again later. */
export function takeOver(
  _state: ClearingState,
  _account: SubAccountSlot,
  _nowNs: TimestampNs,
  _effects: Effect[],
): boolean {
  return false;
}
