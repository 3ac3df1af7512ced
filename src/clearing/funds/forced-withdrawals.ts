/**
 * Forced withdrawals (AMB-85, WDR-24): what a vault in escape mode paid without the node. It has left, so it is debited,
 * whatever the account owns: below zero if need be.
 *
 *   owned   ── 30 ───▶ −70 after a forced withdrawal of 100
 *   claims     30 less 100, vault holdings less 100: the sums of the asset stay equal
 *
 * A negative balance is available for nothing: no order, transfer or withdrawal is covered by it, and fills against it roll
 * back. Whatever comes to account 0 fills it up first. It is part of `spot` in the ledger.
 *
 * Each has the vault's counter of its user's forced withdrawals, contiguous as that of deposits. Units beyond what the
 * ledger has of the token in the vault are no claim of the ledger: they came without an event (AMB-116) and are not debited.
 */
import { subtract18 } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import { accepted, type Outcome } from '../../core/outcome.ts';
import type { Amount18 } from '../../core/units.ts';
import { balanceSlot, debitBelowZero, ensureUser, SPOT_ACCOUNT } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { ForcedWithdrawal } from '../inputs.ts';
import { tokenKey } from '../registry/registry-assets.ts';
import type { ClearingState } from '../state.ts';
import { moveVaultUnits } from './vault-units.ts';
import { payoutValue } from './withdrawal-figures.ts';

type View = Readonly<Record<string, unknown>>;

/**
 * Books a confirmed event of a forced withdrawal, once.
 *
 * @returns `{"result","next"}`: `debited`, `duplicate`, `gap`, or `unknownToken` for a token that the ledger never had, which
 *   counts and debits nothing; and the counter that the next one of this user on this chain must have.
 */
export function applyForcedWithdrawal(
  state: ClearingState,
  { chainId, user, token, nonce, baseUnits }: ForcedWithdrawal,
  effects: Effect[],
): Outcome<View> {
  const key = `${chainId}/${user}`;
  const next = state.forcedCounters.get(key) ?? 0;
  // mutant: forced-once
  if (nonce !== next) return accepted({ result: nonce < next ? 'duplicate' : 'gap', next });

  // After this point it must be booked: the vault has paid.
  state.forcedCounters.set(key, nonce + 1);
  state.dirty.forcedCounters.add(key);
  const held = state.vaultTokens.get(tokenKey(token, chainId));
  if (held === undefined) return accepted({ result: 'unknownToken', next: nonce + 1 });
  const units = baseUnits < held.baseUnits ? baseUnits : held.baseUnits;
  const decimals = must(state.tokenDecimals.get(tokenKey(token, chainId)), 'the decimals of a token are kept for ever');
  const value = payoutValue(units, decimals);
  const balance = balanceSlot(state, ensureUser(state, user, effects), SPOT_ACCOUNT, held.asset);
  debitBelowZero(state, balance, value);
  moveVaultUnits(state, { token, chainId, asset: held.asset }, -units, subtract18(0n as Amount18, value));
  return accepted({ result: 'debited', next: nonce + 1 });
}
