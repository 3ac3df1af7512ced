/**
 * Forced withdrawals (AMB-85, WDR-24): what a vault in escape mode paid without the node. It has left, so it is debited,
 * whatever the account owns: below zero if need be.
 *
 *   1  the balance of `token@chain` of account 0: its isolated lots, the oldest first
 *   2  what account 0 owns of the asset, including what orders hold: their fills roll back then
 *   3  the same again, of what the user's queued and filled withdrawals of the asset lock: they are cancelled, the youngest
 *      first, until it is enough. Of those in `signing` and `approved` the vault may yet pay: they stay
 *   4  the rest is taken from the pooled balance of account 0, below zero; the user's other unsigned withdrawals, of whatever
 *      asset, end too
 *
 *   owned   ── 30 ───▶ −70 after a forced withdrawal of 100
 *   claims     30 less 100, vault holdings less 100: the sums of the asset, and of the token, stay equal
 *
 * A negative balance is available for nothing: no order, transfer or withdrawal is covered by it, and fills against it roll
 * back. While it is negative no withdrawal and no settlement of the user, of whatever asset and sub-account, is taken,
 * and no own order is filled, as one asset can be sold for another. Transfers go on, as they may fill it up. Whatever is
 * pooled into account 0 fills it up first. It is part of `spot` in the ledger.
 *
 * Each has the vault's counter of its user's forced withdrawals, contiguous as that of deposits. Units beyond what the
 * ledger has of the token in the vault are no claim of the ledger: they came without an event (AMB-116) and are not debited.
 */

import { add18, larger, smaller, subtract18 } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import type { AssetId } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { accepted, type Outcome } from '../../core/outcome.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { balanceSlot, debitBelowZero, ensureUser, moveHoldings, SPOT_ACCOUNT, setOwned } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { ForcedWithdrawal } from '../inputs.ts';
import { tokenKey } from '../registry/registry-assets.ts';
import type { BalanceSlot, ClearingState } from '../state.ts';
import { moveVaultUnits } from './vault-units.ts';
import { payoutValue } from './withdrawal-figures.ts';
import { fillAfter, fillQueue } from './withdrawal-queue.ts';
import { cancelUnsigned } from './withdrawals.ts';

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
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const key = `${chainId}/${user}`;
  const next = state.forcedCounters.get(key) ?? 0;
  // mutant: forced-once
  if (nonce !== next) return accepted({ result: nonce < next ? 'duplicate' : 'gap', next });

  // After this point it must be booked: the vault has paid.
  state.forcedCounters.set(key, nonce + 1);
  state.dirty.forcedCounters.add(key);
  const isolated = tokenKey(token, chainId) as AssetId;
  const held = state.vaultTokens.get(isolated);
  if (held === undefined) return accepted({ result: 'unknownToken', next: nonce + 1 });
  const { asset } = held;
  const units = smaller(baseUnits, held.baseUnits);
  const decimals = must(state.tokenDecimals.get(isolated), 'the decimals of a token are kept for ever');
  const value = payoutValue(units, decimals);
  const account = ensureUser(state, user, effects);
  const pool = balanceSlot(state, account, SPOT_ACCOUNT, asset);
  const lots = account.subAccounts.get(SPOT_ACCOUNT)?.balances.get(isolated) ?? null;

  let left = value;
  let ofLots = ZERO_18;
  state.outcomes?.cause(LEDGER_ENTRY.forcedWithdrawal, `${chainId}/${nonce}`);
  const isCovered = (): boolean => {
    // mutant: forced-lots-first
    const taken = takeOwned(state, lots, left);
    ofLots = add18(ofLots, taken);
    left = subtract18(left, taken);
    left = subtract18(left, takeOwned(state, pool, left));
    return left === 0n;
  };
  // mutant: forced-ends-withdrawals
  const cancelled = isCovered() ? [] : [...cancelUnsigned(state, { user, asset }, isCovered, nowNs, effects)];
  debitBelowZero(state, pool, left);
  // mutant: forced-ends-others
  if (left > 0n) cancelled.push(...cancelUnsigned(state, { user, asset: null }, () => false, nowNs, effects));
  if (ofLots > 0n) moveHoldings(state, isolated, subtract18(ZERO_18, ofLots));
  moveVaultUnits(state, { token, chainId, asset }, -units, subtract18(ofLots, value));
  // What cancelled withdrawals were promised, and what backed lots, may fill those of others.
  fillQueue(state, asset, chainId, nowNs, effects);
  for (const row of cancelled) fillAfter(state, row, nowNs, effects);
  return accepted({ result: 'debited', next: nonce + 1 });
}

/** Takes what a balance owns, held or not, at most `wanted`. @returns what was taken. */
function takeOwned(state: ClearingState, slot: BalanceSlot | null, wanted: Amount18): Amount18 {
  if (slot === null) return ZERO_18;
  const taken = smaller(larger(slot.owned, ZERO_18), wanted);
  if (taken > 0n) setOwned(state, slot, subtract18(slot.owned, taken));
  return taken;
}
