/**
 * The capital of the backstop, in USD (BKS-03, BKS-07, AMB-58, AMB-60).
 *
 *   capital = spot USD of account 0 of the backstop + credits (0 or below)
 *
 *   credit, posting     credits fall, spot USD of the sub-account rises by the same
 *   a row closes        its USD lifts credits up to 0, the rest goes to account 0
 *
 * So what a bankrupt account lacks ends as credits that never return: the loss is the backstop's, to the unit. Capital below
 * zero is a shortfall of the protocol. There is no bound on credits (a metric and an alert watch them).
 *
 * Not here: how much is credited (src/risk/liquidation.ts), when (backstop.ts, take-over.ts).
 */

import { add18, smaller, subtract18 } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { USD } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { marginSumsOf } from '../account-margin.ts';
import { accountBalance, balanceSlot, ensureUser, SPOT_ACCOUNT, setOwned, totalsOf } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { BackstopRow } from '../rows.ts';
import type { ClearingState, SubAccountSlot } from '../state.ts';

/** Changes the credits that are given and not returned. */
function changeCredits(state: ClearingState, change: bigint): void {
  const totals = totalsOf(state, USD);
  totals.backstopCredits = (totals.backstopCredits + change) as Amount18;
  assert(totals.backstopCredits <= 0n, 'no more is returned than was given');
  state.touchedTotals.add(totals);
  state.dirty.totals.add(totals);
}

/**
 * Credits USD to a sub-account of the backstop out of its capital. @returns what was credited: less only if a balance
 * could not hold it.
 */
export function giveCredit(state: ClearingState, account: SubAccountSlot, usd: Amount18): Amount18 {
  assert(usd >= 0n, 'a credit is not negative');
  const balance = accountBalance(state, account, USD);
  const given = smaller(usd, subtract18(AMOUNT18_MAX as Amount18, balance.owned));
  if (given === 0n) return ZERO_18;
  state.outcomes?.cause(LEDGER_ENTRY.backstopCredit, '');
  setOwned(state, balance, add18(balance.owned, given));
  // mutant: backstop-credit-booked
  changeCredits(state, -given);
  return given;
}

/** Returns all spot USD of a sub-account to the capital: first what was credited, the rest to account 0 (BKS-07). */
export function returnUsd(state: ClearingState, account: SubAccountSlot, effects: Effect[]): void {
  const balance = accountBalance(state, account, USD);
  const usd = balance.owned;
  if (usd === 0n) return;
  const repaid = smaller(usd, -totalsOf(state, USD).backstopCredits as Amount18);
  state.outcomes?.cause(LEDGER_ENTRY.backstopReturn, '');
  setOwned(state, balance, ZERO_18);
  if (repaid > 0n) changeCredits(state, repaid);
  if (repaid === usd) return;
  const own = balanceSlot(state, ensureUser(state, account.row.user, effects), SPOT_ACCOUNT, USD);
  setOwned(state, own, add18(own.owned, subtract18(usd, repaid)));
}

function ownUsd(state: ClearingState): Amount18 {
  const backstop = state.users.get(state.settings.backstop_account);
  return backstop?.subAccounts.get(SPOT_ACCOUNT)?.balances.get(USD)?.owned ?? ZERO_18;
}

/** USD, signed: below zero is what the protocol lacks. */
export function capitalOf(state: ClearingState): Amount18 {
  return add18(ownUsd(state), totalsOf(state, USD).backstopCredits);
}

/** Rows that are worked off, by age: netting and deleveraging begin with the oldest. */
export function liveRows(state: ClearingState): readonly BackstopRow[] {
  const rows = [...state.backstopRows.values()].filter((row) => row.state !== 'closed');
  return rows.sort((a, b) => (a.startedNs === b.startedNs ? a.index - b.index : a.startedNs < b.startedNs ? -1 : 1));
}

/** The account of a row. */
export function accountOfRow(state: ClearingState, { index }: BackstopRow): SubAccountSlot | undefined {
  return state.users.get(state.settings.backstop_account)?.subAccounts.get(index);
}

/** What the metrics of the backstop show. USD, 18 decimals. */
export interface BackstopFigures {
  /** Capital and the equity of all rows at the mark, credits within: what the backstop is worth. */
  readonly equity: Amount18;
  readonly capital: Amount18;
  /** What the capital is below zero. */
  readonly shortfall: Amount18;
  readonly working: number;
  readonly deleveraging: number;
}

export function backstopFigures(state: ClearingState, nowNs: TimestampNs): BackstopFigures {
  const rows = liveRows(state);
  const capital = capitalOf(state);
  let equity: bigint = capital;
  for (const row of rows) {
    const account = accountOfRow(state, row);
    if (account !== undefined) equity += marginSumsOf(account, nowNs).equityMark;
  }
  const working = rows.filter((row) => row.state === 'working').length;
  const shortfall = capital < 0n ? (-capital as Amount18) : ZERO_18;
  return { equity: equity as Amount18, capital, shortfall, working, deleveraging: rows.length - working };
}
