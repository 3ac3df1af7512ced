/**
 * Transfers of spot balances between existing sub-accounts of one user (TRF-01 to TRF-14, NON-06, AMB-68).
 *
 * Signature and weight were checked before; the nonce is consumed only together with the effect.
 *
 * Not here: transfers that create an account, margin positions, minimum balances, caps.
 */
import { add18, subtract18 } from '../core/arithmetic.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { availableOf, balanceSlot, changeUser, ensureUser, setOwned } from './balances.ts';
import type { Effect } from './effects.ts';
import type { Transfer } from './inputs.ts';
import { riskOf } from './registry-assets.ts';
import type { SubAccountKind } from './rows.ts';
import type { ClearingState, UserSlot } from './state.ts';

const NONCE_MAX = (1n << 64n) - 1n;

function kindOf(user: UserSlot, subAccount: number): SubAccountKind | null {
  return user.subAccounts.get(subAccount)?.row.kind ?? null;
}

/** What the accounts and the asset's risk row say about the move (TRF-11, TRF-12). */
function refuseRoute(state: ClearingState, input: Transfer, user: UserSlot): Reject | null {
  const source = kindOf(user, input.sourceIndex);
  const target = kindOf(user, input.targetIndex);
  if (source === null) return reject('INVALID_REQUEST', 'the source account does not exist', 'source_index');
  if (target === null) return reject('INVALID_REQUEST', 'the target account does not exist', 'target_index');
  const asset = state.assets.get(input.asset);
  if (asset === undefined)
    return reject('ASSET_NOT_FOUND', `asset ${input.asset} is not in the registry`, 'transfer_asset');
  const risk = riskOf(asset);
  if (source === 'spot' && risk.collateral_factor === 0) {
    return reject('INVALID_REQUEST', 'an asset without collateral value stays in its spot account', 'transfer_asset');
  }
  if (target === 'cross_margin' && risk.isolated_only) {
    return reject('INVALID_REQUEST', 'an isolated-only asset does not enter cross-margin', 'transfer_asset');
  }
  return null;
}

function refuse(state: ClearingState, input: Transfer, user: UserSlot): Reject | null {
  const last = user.row.transferNonce;
  if (input.nonce <= last || input.nonce > NONCE_MAX) {
    return {
      ...reject('INVALID_NONCE', 'the nonce is above the last one applied', 'nonce'),
      details: { last_nonce: last },
    };
  }
  if (input.sourceIndex === input.targetIndex) {
    return reject('INVALID_REQUEST', 'source and target differ', 'target_index');
  }
  if (input.amount <= 0n) return reject('INVALID_REQUEST', 'the amount is above zero', 'transfer_amount');
  const route = refuseRoute(state, input, user);
  if (route !== null) return route;
  const source = balanceSlot(state, user, input.sourceIndex, input.asset);
  return input.amount > availableOf(source)
    ? reject('INSUFFICIENT_INVENTORY', 'the source account has less available', 'transfer_amount')
    : null;
}

/** @returns INVALID_NONCE with `details.last_nonce`, INVALID_REQUEST, ASSET_NOT_FOUND, INSUFFICIENT_INVENTORY. */
export function applyTransfer(
  state: ClearingState,
  input: Transfer,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<Readonly<Record<string, unknown>>> {
  const user = ensureUser(state, input.user, effects);
  const refusal = refuse(state, input, user);
  if (refusal !== null) return rejected(refusal);

  // After this point the transfer must succeed.
  const source = balanceSlot(state, user, input.sourceIndex, input.asset);
  const target = balanceSlot(state, user, input.targetIndex, input.asset);
  changeUser(state, user, { ...user.row, transferNonce: input.nonce }, effects);
  setOwned(state, source, subtract18(source.owned, input.amount));
  setOwned(state, target, add18(target.owned, input.amount));
  const { user: id, sourceIndex, targetIndex, asset, amount } = input;
  effects.push({ kind: 'transferDone', user: id, sourceIndex, targetIndex, asset, amount, timeNs: nowNs });
  return accepted({ success: true });
}
