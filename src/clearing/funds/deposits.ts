/**
 * Money that enters: deposits from a vault, credited exactly once (DEP-10, AMB-74), and the faucet (operator-api.md 7.4).
 *
 * A deposit carries the vault's counter of its user on its chain, which is contiguous: a lower one was acted on before
 * and is ignored, a higher one means that an earlier event is missing and is not acted on.
 *
 * Everything is pooled into account 0 (SUB-01). What cannot be credited is counted, kept with amount 0 and published.
 *
 * Not here: caps and isolated lots (AMB-73), rebalancing rates (AMB-75), account configurations.
 */
import { add18, normalizeDeposit, subtract18 } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { format18 } from '../../core/decimal.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { magnitude } from '../../risk/position.ts';
import { balanceSlot, ensureUser, MARGIN_ACCOUNT, SPOT_ACCOUNT, setOwned, totalsOf } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { Deposit, Faucet } from '../inputs.ts';
import { assetNotFound, knowsAsset, tokenKey } from '../registry/registry-assets.ts';
import type { DepositRow } from '../rows.ts';
import type { AssetTotals, ClearingState } from '../state.ts';
import { tallyDeposit } from '../tallies.ts';
import { depositLowersUsage, fillQueue, moveVaultUnits } from './withdrawals.ts';

type View = Readonly<Record<string, unknown>>;

export function depositCounterKey(chainId: string, user: UserId): string {
  return `${chainId}/${user}`;
}

/**
 * `gap`: an earlier deposit is missing, nothing changed. `unknownToken`, `overflow`: counted but not credited, an
 * operator must look.
 */
type DepositResult = 'credited' | 'duplicate' | 'gap' | 'unknownToken' | 'overflow';

/** What the event is worth, or why it cannot be credited. */
interface Valued {
  readonly asset: AssetId;
  readonly amount: Amount18;
  readonly result: DepositResult;
}

function value(state: ClearingState, input: Deposit): Valued {
  const token = state.tokens.get(tokenKey(input.token, input.chainId));
  const unpooled = tokenKey(input.token, input.chainId) as AssetId;
  if (token === undefined) return { asset: unpooled, amount: ZERO_18, result: 'unknownToken' };
  const amount = normalizeDeposit(input.baseUnits, token.decimals);
  const totals = totalsOf(state, token.asset);
  const fits = issuable(totals, amount, spotOwned(state, input.user, SPOT_ACCOUNT, token.asset));
  if (!fits || totals.vaultHoldings + amount > AMOUNT18_MAX)
    return { asset: unpooled, amount: ZERO_18, result: 'overflow' };
  return { asset: token.asset, amount, result: 'credited' };
}

/**
 * Whether the balance, and all balances of the asset together, stay within what one balance can hold. Since legs may be
 * negative, neither follows from the other.
 */
function issuable(totals: AssetTotals, amount: Amount18, owned: Amount18): boolean {
  return owned + amount <= AMOUNT18_MAX && totals.claims + amount <= AMOUNT18_MAX;
}

function spotOwned(state: ClearingState, user: UserId, subAccount: number, asset: AssetId): Amount18 {
  return state.users.get(user)?.subAccounts.get(subAccount)?.balances.get(asset)?.owned ?? ZERO_18;
}

function answer(result: DepositResult, nextNonce: number): Outcome<View> {
  return accepted({ result, next_nonce: nextNonce });
}

/**
 * Acts on a confirmed deposit event, once.
 *
 * @returns `{"result","next_nonce"}`: what was done, and the counter that the next deposit of this user on this chain
 *   must carry.
 */
export function applyDeposit(
  state: ClearingState,
  input: Deposit,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  assert(input.baseUnits >= 0n, 'a deposit is not negative');
  const { chainId, tx, logIndex, user, depositNonce } = input;
  const key = depositCounterKey(chainId, user);
  const expected = state.depositCounters.get(key) ?? 0;
  if (depositNonce !== expected) return answer(depositNonce < expected ? 'duplicate' : 'gap', expected);

  // After this point the deposit must succeed: credited or kept for an operator, it counts.
  const { asset, amount, result } = value(state, input);
  const slot = ensureUser(state, user, effects);
  const row: DepositRow = { chainId, tx, logIndex, user, asset, amount, depositNonce, creditedNs: nowNs };
  state.depositCounters.set(key, depositNonce + 1);
  tallyDeposit(state, row);
  if (result === 'credited') {
    const balance = balanceSlot(state, slot, SPOT_ACCOUNT, asset);
    setOwned(state, balance, add18(balance.owned, amount));
    depositLowersUsage(state, { user, asset }, amount, nowNs);
    moveVaultUnits(state, { token: input.token, chainId, asset }, input.baseUnits, amount);
    effects.push({ kind: 'depositLanded', row });
    fillQueue(state, asset, chainId, nowNs, effects);
  }
  return answer(result, depositNonce + 1);
}

/**
 * Credits a spot balance out of nothing, or takes it back with a negative amount; holds do not protect it.
 *
 * @returns `{"balance"}`; INVALID_REQUEST, USER_NOT_FOUND, ASSET_NOT_FOUND. Accounts 0 and 1 exist for every user.
 */
export function applyFaucet(state: ClearingState, input: Faucet, effects: Effect[]): Outcome<View> {
  const { user, subAccount, asset, amount } = input;
  if (!knowsAsset(state, asset)) return rejected(assetNotFound(asset));
  if (subAccount > MARGIN_ACCOUNT) {
    const known = state.users.get(user);
    if (known === undefined) return rejected(reject('USER_NOT_FOUND', 'this user was never seen'));
    if (!known.subAccounts.has(subAccount)) return notExisting();
  }
  const owned = spotOwned(state, user, subAccount, asset);
  if (owned + amount < 0n) {
    return rejected(reject('INVALID_REQUEST', 'the account does not own that much', 'amount'));
  }
  const totals = totalsOf(state, asset);
  if (!issuable(totals, amount, owned) || magnitude(totals.faucet - amount) > AMOUNT18_MAX) {
    return rejected(reject('INVALID_REQUEST', 'the balances of this asset would grow too large', 'amount'));
  }

  // After this point the credit must succeed.
  const slot = balanceSlot(state, ensureUser(state, user, effects), subAccount, asset);
  setOwned(state, slot, add18(owned, amount));
  slot.totals.faucet = subtract18(slot.totals.faucet, amount);
  state.dirty.totals.add(slot.totals);
  return accepted({ balance: format18(slot.owned) });
}

function notExisting(): ReturnType<typeof rejected> {
  return rejected(reject('INVALID_REQUEST', 'this sub-account does not exist', 'sub_account'));
}
