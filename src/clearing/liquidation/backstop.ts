/**
 * The loop of the backstop over what it has taken over (service spec 3.6.8, BKS-04 to BKS-07): what each step makes of a row.
 */
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { BackstopStep } from '../inputs.ts';
import type { BackstopRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';

/** What is next for a sub-account of the backstop: nothing for one without a row. */
export function applyBackstopStep(
  _state: ClearingState,
  _input: BackstopStep,
  _nowNs: TimestampNs,
  _effects: Effect[],
): void {
  // Nothing is taken over yet.
}

/** Whether a step would change something for a row that is not closed. */
export function isBackstopStepDue(_state: ClearingState, _row: BackstopRow, _nowNs: TimestampNs): boolean {
  return false;
}
