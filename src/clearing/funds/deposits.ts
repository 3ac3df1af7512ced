/**
 * Money that enters: deposits from a vault, credited exactly once (DEP-10, AMB-74), and the faucet (operator-api.md 7.4).
 *
 * A deposit carries the vault's counter of its user on its chain, which is contiguous: a lower one was acted on before
 * and is ignored, a higher one means that an earlier event is missing and is not acted on.
 *
 *   deposit ── known token, bounds ── fee or rebate ── caps ──▶ pooled, or an isolated lot: account 0 (SUB-01)
 *      └── else it advances the counter and waits for an operator (unclaimed.ts)
 *
 * A fee of rebalancing is taken of every deposit, as its units come to the vault either way; a rebate is for pooled ones: an
 * isolated lot may leave at once, so that no cap would bound what rebates cost. A conversion pays and earns nothing.
 *
 * Not here: what the deposit overload configures (signers/deposit-config.ts).
 */

import { add18, normalizeDeposit, subtract18 } from '../../core/arithmetic.ts';
import { assert, must } from '../../core/assert.ts';
import { format18 } from '../../core/decimal.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { magnitude } from '../../risk/position.ts';
import {
  balanceSlot,
  ensureUser,
  MARGIN_ACCOUNT,
  moveFaucet,
  moveHoldings,
  SPOT_ACCOUNT,
  setOwned,
  totalsOf,
} from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { CreditUnclaimed, Deposit, Faucet } from '../inputs.ts';
import { assetNotFound, knowsAsset, tokenKey } from '../registry/registry-assets.ts';
import type { DepositRow } from '../rows.ts';
import { setUpSigners } from '../signers/deposit-config.ts';
import type { AssetTotals, ClearingState } from '../state.ts';
import { tallyDeposit, tallyUnclaimedCredit } from '../tallies.ts';
import { mayPool, recordPooled } from './deposit-caps.ts';
import { depositFeeOf, moveFunds } from './rebalancing.ts';
import { keepUnclaimed, removeUnclaimed, unclaimedKey } from './unclaimed.ts';
import { moveVaultUnits } from './vault-units.ts';
import { fillQueue } from './withdrawal-queue.ts';
import { depositLowersUsage } from './withdrawals.ts';

type View = Readonly<Record<string, unknown>>;

export function depositCounterKey(chainId: string, user: UserId): string {
  return `${chainId}/${user}`;
}

/**
 * `gap`: an earlier deposit is missing, nothing changed. `unknownToken`, `overflow`, `invalidKey`: counted but not
 * credited.
 */
type DepositResult = 'credited' | 'duplicate' | 'gap' | Uncredited;

/** Why a deposit cannot be credited: of no registered token, more than balances can hold, or for what is no key (MON-14). */
type Uncredited = 'unknownToken' | 'overflow' | 'invalidKey';

/** A deposit as its event says. */
type DepositEvent = Omit<Deposit, 'kind' | 'request'>;

/** How a deposit is credited. */
interface Credit {
  /** The index of its token, and what account 0 gets: the same, or the address form. */
  readonly index: AssetId;
  readonly asset: AssetId;
  /** What it brings, and what its user gets of that. */
  readonly gross: Amount18;
  readonly net: Amount18;
}

/** What the event is worth, or why it cannot be credited. */
function judgeDeposit(state: ClearingState, event: DepositEvent, nowNs: TimestampNs): Credit | Uncredited {
  const { user, token, chainId, baseUnits, hasKey = true } = event;
  if (!hasKey) return 'invalidKey';
  const isolated = tokenKey(token, chainId) as AssetId;
  const registered = state.tokens.get(isolated);
  if (registered === undefined) return 'unknownToken';
  const { asset: index, decimals } = registered;
  const gross = normalizeDeposit(baseUnits, decimals);
  if (gross > AMOUNT18_MAX) return 'overflow';
  const fee = depositFeeOf(state, index, chainId, gross);
  const isPooled = mayPool(state, isolated, gross, nowNs);
  const net = subtract18(gross, fee < 0n && !isPooled ? ZERO_18 : fee);
  const credit = { index, asset: isPooled ? index : isolated, gross, net };
  const isBearable =
    issuable(totalsOf(state, credit.asset), net, spotOwned(state, user, SPOT_ACCOUNT, credit.asset)) &&
    totalsOf(state, index).vaultHoldings + gross <= AMOUNT18_MAX &&
    magnitude(totalsOf(state, index).rebalancingPool + fee) <= AMOUNT18_MAX;
  return isBearable ? credit : 'overflow';
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

/** The row of a deposit, credited or not. */
function depositRow(event: DepositEvent, credit: Credit | Uncredited, nowNs: TimestampNs): DepositRow {
  const { chainId, tx, logIndex, user, token, depositNonce } = event;
  const none = { asset: tokenKey(token, chainId) as AssetId, net: ZERO_18 };
  const { asset, net: amount } = typeof credit === 'string' ? none : credit;
  return { chainId, tx, logIndex, user, asset, amount, depositNonce, creditedNs: nowNs };
}

/** The row of the log. */
function depositFact(
  event: 'credited' | 'unclaimed' | 'claimed',
  { chainId, tx, logIndex, user, token, baseUnits, depositNonce }: DepositEvent,
  credit: Credit | Uncredited,
): Readonly<Record<string, unknown>> {
  const place = { chain_id: chainId, tx, log_index: logIndex, token, base_units: baseUnits, counter: depositNonce };
  const head = { kind: 'deposit', user, event, ...place };
  if (typeof credit === 'string') return head;
  const { asset, gross, net } = credit;
  return { ...head, asset, amount: net, fee: subtract18(gross, net) };
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
  const { chainId, user, depositNonce } = input;
  const key = depositCounterKey(chainId, user);
  const expected = state.depositCounters.get(key) ?? 0;
  // mutant: deposit-counter
  if (depositNonce !== expected) return answer(depositNonce < expected ? 'duplicate' : 'gap', expected);

  // After this point the deposit must succeed: credited or kept for an operator, it counts.
  const credit = judgeDeposit(state, input, nowNs);
  ensureUser(state, user, effects);
  const row = depositRow(input, credit, nowNs);
  state.depositCounters.set(key, depositNonce + 1);
  tallyDeposit(state, row);
  if (input.setup !== undefined) setUpSigners(state, user, input.setup, nowNs, effects);
  state.outcomes?.fact(depositFact(typeof credit === 'string' ? 'unclaimed' : 'credited', input, credit));
  if (typeof credit === 'string') keepUnclaimed(state, input);
  else bookDeposit(state, { event: input, credit, row }, effects);
  return answer(typeof credit === 'string' ? credit : 'credited', depositNonce + 1);
}

/** Books a deposit that may be credited: units and holdings, balance or lot, fee or rebate, event. Its user is known. */
function bookDeposit(
  state: ClearingState,
  { event, credit, row }: { readonly event: DepositEvent; readonly credit: Credit; readonly row: DepositRow },
  effects: Effect[],
): void {
  const { user, token, chainId, baseUnits } = event;
  const { index, asset, gross, net } = credit;
  const { creditedNs } = row;
  const isPooled = asset === index;
  const fee = subtract18(gross, net);
  const balance = balanceSlot(state, ensureUser(state, user, effects), SPOT_ACCOUNT, asset);
  state.outcomes?.cause(LEDGER_ENTRY.deposit, `${chainId}/${event.tx}/${event.logIndex}`, subtract18(ZERO_18, fee));
  setOwned(state, balance, add18(balance.owned, net));
  if (isPooled) {
    depositLowersUsage(state, { user, asset }, gross, creditedNs);
    recordPooled(state, tokenKey(token, chainId) as AssetId, gross, creditedNs);
  } else {
    state.lots.add(balance, net, creditedNs);
    moveHoldings(state, asset, net);
  }
  moveVaultUnits(state, { token, chainId, asset: index }, baseUnits, isPooled ? gross : fee);
  moveFunds(state, { asset: index, chainId, change: gross, paid: fee });
  effects.push({ kind: 'depositLanded', row });
  fillQueue(state, index, chainId, creditedNs, effects);
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
  state.outcomes?.cause(LEDGER_ENTRY.faucet, '');
  setOwned(state, slot, add18(owned, amount));
  moveFaucet(state, slot.totals, amount);
  return accepted({ balance: format18(slot.owned) });
}

function notExisting(): ReturnType<typeof rejected> {
  return rejected(reject('INVALID_REQUEST', 'this sub-account does not exist', 'sub_account'));
}

/**
 * `POST /operator/chains/{chain_id}/unclaimed/{counter}/credit`.
 *
 * @returns NOT_FOUND when there is no such deposit, or it was credited before; ASSET_NOT_FOUND; INVALID_REQUEST for more than
 *   balances can hold.
 */
export function applyCreditUnclaimed(
  state: ClearingState,
  input: CreditUnclaimed,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<Readonly<Record<string, never>>> {
  const row = state.unclaimed.get(unclaimedKey(input));
  if (row === undefined) return rejected(reject('NOT_FOUND', 'no deposit of this counter is unclaimed', 'counter'));
  const { chainId, tx, logIndex, user, token, baseUnits, counter: depositNonce } = row;
  const event: DepositEvent = { chainId, tx, logIndex, user, token, baseUnits, depositNonce };
  const credit = judgeDeposit(state, event, nowNs);
  if (credit === 'unknownToken') return rejected(assetNotFound(tokenKey(token, chainId) as AssetId));
  if (typeof credit === 'string') {
    return rejected(reject('INVALID_REQUEST', 'the balances of this asset would grow too large', 'counter'));
  }

  // After this point the deposit must be credited.
  removeUnclaimed(state, row);
  state.outcomes?.fact(depositFact('claimed', event, credit));
  const booked = depositRow(event, credit, nowNs);
  tallyUnclaimedCredit(state, booked);
  must(state.users.get(user), 'a deposit has made its user known');
  bookDeposit(state, { event, credit, row: booked }, effects);
  return accepted({});
}
