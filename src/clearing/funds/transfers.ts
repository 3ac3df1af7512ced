/**
 * Transfers of spot balances between the sub-accounts of one user (TRF-01 to TRF-14, AMB-65, AMB-66). One into an unused
 * index creates the account of the type that it names (SUB-05, AMB-63).
 *
 *   source   has it available, and is not under liquidation (AMB-57); a margin account keeps its capacity, and a minimum balance or nothing
 *   target   may hold the asset; a margin account reaches the minimum balance, and its collateral the cap at most
 *
 * Signature and weight were checked before, and the amount was set aside from what the account may spend, or the input
 * has the reason why it could not be (AMB-112): the same refusals follow from that as from what is booked. The nonce is
 * consumed only together with the effect (NON-06, AMB-68).
 */

import { add18, mulDivFloor, subtract18 } from '../../core/arithmetic.ts';
import { isToken, USD } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { type Amount18, ONE_18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { type AccountType, isMarginType, mayHold } from '../../risk/account-types.ts';
import { capacityWith, isMarginBound } from '../account-margin.ts';
import { refuseNonce } from '../action-nonces.ts';
import { askingUser, balanceSlot, changeUser, setOwned } from '../balances.ts';
import type { Effect } from '../effects.ts';
import { availableOf } from '../holds.ts';
import type { Transfer } from '../inputs.ts';
import { knowsAsset } from '../registry/registry-assets.ts';
import { assetTermsOf, riskSlot } from '../risks.ts';
import type { ClearingState, RiskSlot, SubAccountSlot, UserSlot } from '../state.ts';
import { createAccount, refuseNewAccount } from './sub-accounts.ts';

const NO_COLLATERAL = 'an asset without collateral value stays in its spot account';

/** A transfer with what it is about. The target is null when it is to be created. */
interface Move {
  readonly input: Transfer;
  readonly user: UserSlot;
  readonly source: SubAccountSlot;
  readonly target: SubAccountSlot | null;
  readonly targetType: AccountType;
  readonly risk: RiskSlot;
  readonly nowNs: TimestampNs;
}

/** Amount, asset and accounts (TRF-02, TRF-03, TRF-05, TRF-06). */
function readMove(state: ClearingState, input: Transfer, user: UserSlot, nowNs: TimestampNs): Outcome<Move> {
  const { sourceIndex, targetIndex, targetType, asset, amount } = input;
  const invalid = (field: string, message: string): Outcome<Move> =>
    rejected(reject('INVALID_REQUEST', message, field));
  if (sourceIndex === targetIndex) return invalid('target_index', 'source and target differ');
  if (amount <= 0n) return invalid('transfer_amount', 'the amount is above zero');
  const source = user.subAccounts.get(sourceIndex);
  if (source === undefined) return invalid('source_index', 'the source account does not exist');
  const target = user.subAccounts.get(targetIndex) ?? null;
  const type = target === null ? targetType : target.row;
  if (type === null) return invalid('target_account_type', 'a new target account needs a type');
  if (target !== null && targetType !== null) return invalid('target_account_type', 'the target account exists');
  if (!knowsAsset(state, asset)) {
    return rejected(reject('ASSET_NOT_FOUND', `asset ${asset} is not in the registry`, 'transfer_asset'));
  }
  // A token on its chain has no row, so no collateral value, and is in account 0 alone (AMB-66, AMB-108).
  if (isToken(asset)) return invalid('transfer_asset', NO_COLLATERAL);
  return accepted({ input, user, source, target, targetType: type, risk: riskSlot(state, asset), nowNs });
}

/** Refusals by the accounts and by the asset's risk row (TRF-11 to TRF-13). */
function refuseRoute(state: ClearingState, { input, source, target, targetType, risk }: Move): Reject | null {
  if (target === null && input.targetType !== null) {
    const refusal = refuseNewAccount(state, input.targetIndex, input.targetType);
    if (refusal !== null) return refusal;
  }
  const isSpot = !isMarginType(source.row);
  if (isSpot && risk.risk.collateralFactor === 0n) {
    return reject('INVALID_REQUEST', NO_COLLATERAL, 'transfer_asset');
  }
  return mayHold(targetType, input.asset, risk.risk)
    ? null
    : reject('INVALID_REQUEST', 'the target account does not take this asset', 'transfer_asset');
}

/** The source has it, keeps its margin, and keeps a minimum balance or nothing (TRF-04, TRF-08, TRF-09). */
function refuseSource(state: ClearingState, move: Move): Reject | null {
  const { input, user, source, nowNs } = move;
  const slot = balanceSlot(state, user, input.sourceIndex, input.asset);
  const { shortfall = null } = input;
  if (input.amount > availableOf(slot) || shortfall === 'INSUFFICIENT_INVENTORY') {
    return reject('INSUFFICIENT_INVENTORY', 'the source account has less available', 'transfer_amount');
  }
  if (!isMarginType(source.row)) return null;
  // mutant: transfer-under-liquidation
  if (source.liquidation !== null) {
    return reject('INSUFFICIENT_MARGIN', 'the source account is under liquidation', 'source_index');
  }
  const owned = subtract18(slot.owned, input.amount);
  if (owned !== 0n && isBelowMinimum(move, owned)) {
    return reject('INVALID_REQUEST', 'less than the minimum balance would remain', 'transfer_amount');
  }
  const isBearable = !isMarginBound(source, nowNs) || capacityWith(source, { slot, owned }, nowNs) >= 0n;
  if (isBearable && shortfall === null) return null;
  return reject('INSUFFICIENT_MARGIN', 'the source account needs this as margin', 'transfer_amount');
}

/**
 * What an account can hold; into a margin account: the minimum balance, and the cap of what all of them hold (TRF-10,
 * CAP-09).
 */
function refuseTarget(move: Move): Reject | null {
  const { input, source, target, targetType, risk } = move;
  const owned = add18(target?.balances.get(input.asset)?.owned ?? ZERO_18, input.amount);
  if (owned > AMOUNT18_MAX) {
    return reject('INVALID_REQUEST', 'the target account would own too much of this asset', 'transfer_amount');
  }
  if (!isMarginType(targetType)) return null;
  if (isBelowMinimum(move, owned)) {
    return reject('INVALID_REQUEST', 'the target account needs a larger balance', 'transfer_amount');
  }
  const { maxCollateral } = risk.risk;
  // What comes out of a margin account was collateral before.
  if (input.asset === USD || maxCollateral === null || isMarginType(source.row)) return null;
  return risk.collateral + input.amount > maxCollateral
    ? reject('PROTOCOL_CAP_EXCEEDED', 'no more of this asset is taken as collateral', 'transfer_amount')
    : null;
}

/** A balance in USD at the mark, against the minimum of its asset (AMB-140). */
function isBelowMinimum({ risk, nowNs }: Move, owned: Amount18): boolean {
  const minimum = risk.risk.minSubAccountBalance;
  if (minimum === 0n) return false;
  // mutant: minimum-at-mark
  const price = risk.asset === USD ? ONE_18 : assetTermsOf(risk, nowNs).prices.mark;
  return mulDivFloor(owned, price, ONE_18) < minimum;
}

/**
 * @returns INVALID_NONCE with `details.last_nonce`, INVALID_REQUEST, ASSET_NOT_FOUND, INSUFFICIENT_INVENTORY,
 *   INSUFFICIENT_MARGIN, PROTOCOL_CAP_EXCEEDED.
 */
export function applyTransfer(
  state: ClearingState,
  input: Transfer,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<Readonly<Record<string, unknown>>> {
  const user = askingUser(state, input.user);
  const replayed = refuseNonce(user.row.transferNonce, input.nonce);
  if (replayed !== null) return rejected(replayed);
  const move = readMove(state, input, user, nowNs);
  if (!move.ok) return move;
  const refusal = refuseRoute(state, move.value) ?? refuseSource(state, move.value) ?? refuseTarget(move.value);
  if (refusal !== null) return rejected(refusal);

  // After this point the transfer must succeed. Its user owns something, so it is known.
  const { user: id, sourceIndex, targetIndex, targetType, asset, amount, nonce } = input;
  if (targetType !== null) createAccount(state, user, targetIndex, targetType, effects);
  const source = balanceSlot(state, user, sourceIndex, asset);
  const target = balanceSlot(state, user, targetIndex, asset);
  changeUser(state, user, { ...user.row, transferNonce: nonce }, effects);
  // mutant: ledger-cause
  state.outcomes?.cause(LEDGER_ENTRY.transfer, nonce.toString());
  setOwned(state, source, subtract18(source.owned, amount));
  setOwned(state, target, add18(target.owned, amount));
  effects.push({ kind: 'transferDone', user: id, sourceIndex, targetIndex, asset, amount, timeNs: nowNs });
  return accepted({ success: true });
}
