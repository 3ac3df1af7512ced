/**
 * The states of a row of the backstop, and what changes them.
 *
 *   closed ──takenOver──▶ working ──belowMargin──▶ deleveraging
 *     ▲                    ▲   │                     │     │
 *     │                    │   │                     │     │
 *     │                    └───┼──restored, posted───┘     │
 *     └────────emptied─────────┴───────────────────────────┘
 *
 *   closed         nothing is in the sub-account; its index may be used again
 *   working        netted and sold in clips; the surplus is not below zero, as far as it was looked at
 *   deleveraging   the surplus was below zero and has not been 2 % above the requirement since: positions are closed
 *                  against counterparties before anything else
 *
 * No row is the same as a closed one.
 */
import { assert } from '../../core/assert.ts';
import type { BackstopRow } from '../rows.ts';

type BackstopState = BackstopRow['state'];

/**
 *   takenOver     an account was taken over (BKS-02)
 *   belowMargin   the surplus is below zero, and there is a counterparty (BKS-06)
 *   restored      the surplus is 2 % of the requirement, or nothing is left to be closed and it is not below zero (ADL-05)
 *   posted        collateral was posted as a last resort (BKS-07)
 *   emptied       everything is sold, and the rest went to the capital
 */
type BackstopChange = 'takenOver' | 'belowMargin' | 'restored' | 'posted' | 'emptied';

const TRANSITIONS: { readonly [S in BackstopState]: { readonly [C in BackstopChange]: BackstopState | 'illegal' } } = {
  closed: {
    takenOver: 'working',
    belowMargin: 'illegal',
    restored: 'illegal',
    posted: 'illegal',
    emptied: 'illegal',
  },
  working: {
    takenOver: 'illegal',
    belowMargin: 'deleveraging',
    restored: 'working',
    posted: 'working',
    emptied: 'closed',
  },
  deleveraging: {
    takenOver: 'illegal',
    belowMargin: 'deleveraging',
    restored: 'working',
    posted: 'working',
    emptied: 'closed',
  },
};

/** The state after a change. @throws InvariantError for a change that the state does not have. */
export function nextBackstopState(state: BackstopState, change: BackstopChange): BackstopState {
  const next = TRANSITIONS[state][change];
  assert(next !== 'illegal', `a row that is ${state} is not changed by ${change}`);
  return next;
}
