/**
 * The loop of the backstop over what it has taken over (service spec 3.6.8, BKS-04 to BKS-07): what each step makes of a row.
 */
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { BackstopStep } from '../inputs.ts';
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
