/**
 * Closing a flat position: its quote leg is folded into spot USD (service spec 3.8, POS-04 to POS-07, AMB-69).
 *
 * Signature and weight were checked before, and what a negative quote leg costs was set aside (AMB-112); the nonce is
 * consumed only together with the effect (NON-06, AMB-68). The margin figures do not move: a quote leg and spot USD count
 * alike.
 */

import { add18 } from '../../core/arithmetic.ts';
import { USD } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { Amount18, TimestampNs } from '../../core/units.ts';
import { isOpen, NO_LEGS } from '../../risk/position.ts';
import { refuseNonce } from '../action-nonces.ts';
import { askingUser, balanceSlot, changeUser, setOwned } from '../balances.ts';
import type { Effect } from '../effects.ts';
import { availableOf } from '../holds.ts';
import type { ClosePosition } from '../inputs.ts';
import { setLegs } from '../positions.ts';
import type { BalanceSlot, ClearingState, PositionSlot } from '../state.ts';
import { undecidedFillsOf } from '../undecided-fills.ts';

function notFound(): Reject {
  return reject('POSITION_NOT_FOUND', 'there is no such position', 'asset_identifier');
}

function refuse(
  state: ClearingState,
  { position, usd, setAside }: { position: PositionSlot; usd: BalanceSlot; setAside: Amount18 | undefined },
): Reject | null {
  const { legs } = position;
  const cost = legs.quote < 0n ? -legs.quote : 0n;
  if (undecidedFillsOf(state, position).length > 0) {
    return reject('POSITION_BUSY', 'fills of this position are pending', 'asset_identifier');
  }
  if (!isOpen(legs)) return notFound();
  // mutant: flat-positions-only
  if (legs.base !== 0n) return reject('POSITION_NOT_FLAT', 'the asset leg is not zero', 'asset_identifier');
  if (usd.owned + legs.quote > AMOUNT18_MAX)
    return reject('INVALID_REQUEST', 'spot USD would grow too large', 'account');
  const isCovered = cost === 0n || (availableOf(usd) >= cost && (setAside === undefined || setAside >= cost));
  return isCovered ? null : reject('INSUFFICIENT_INVENTORY', 'spot USD does not cover the quote leg', 'account');
}

/** @returns INVALID_NONCE, INVALID_REQUEST, POSITION_NOT_FOUND, POSITION_BUSY, POSITION_NOT_FLAT, INSUFFICIENT_INVENTORY. */
export function applyClosePosition(
  state: ClearingState,
  input: ClosePosition,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<Readonly<Record<string, unknown>>> {
  const { user: id, account: index, asset, nonce } = input;
  const user = askingUser(state, id);
  const replayed = refuseNonce(user.row.closePositionNonce, nonce);
  if (replayed !== null) return rejected(replayed);
  const account = user.subAccounts.get(index);
  if (account === undefined) return rejected(reject('INVALID_REQUEST', 'this sub-account does not exist', 'account'));
  const position = account.positions.get(asset);
  if (position === undefined) return rejected(notFound());
  const usd = balanceSlot(state, user, index, USD);
  const refusal = refuse(state, { position, usd, setAside: input.setAside });
  if (refusal !== null) return rejected(refusal);

  // After this point the position must be folded.
  changeUser(state, user, { ...user.row, closePositionNonce: nonce }, effects);
  state.outcomes?.cause(LEDGER_ENTRY.positionClosed, asset);
  setOwned(state, usd, add18(usd.owned, position.legs.quote));
  setLegs(state, position, NO_LEGS);
  effects.push({ kind: 'positionCleared', user: id, subAccount: index, asset, timeNs: nowNs });
  return accepted({ success: true });
}
