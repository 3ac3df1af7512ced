/**
 * Users, their sub-accounts and their spot balances (AMB-30, AMB-63, AMB-139), and the only function that changes what is
 * owned. It keeps the sum of claims, so an unbalanced booking is found at the end of its batch.
 *
 * Not here: margin legs (positions.ts), why an amount moves (fills.ts, deposits.ts, transfers.ts).
 */
import { add18, subtract18 } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import { type AssetId, USD, type UserId } from '../core/ids.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';
import { isMarginType } from '../risk/account-types.ts';
import type { Effect } from './effects.ts';
import { riskSlot } from './risks.ts';
import type { BalanceRow, SubAccountRow, UserRow } from './rows.ts';
import type { AssetTotals, BalanceSlot, ClearingState, SubAccountSlot, UserSlot } from './state.ts';

/** Index and name of the two accounts that every user has (SUB-01, SUB-04, SUB-10). */
export const SPOT_ACCOUNT = 0;
export const MARGIN_ACCOUNT = 1;

function firstSubAccounts(user: UserId): readonly SubAccountRow[] {
  return [
    { user, subAccount: SPOT_ACCOUNT, kind: 'spot', name: 'Spot', asset: null },
    { user, subAccount: MARGIN_ACCOUNT, kind: 'cross_margin', name: 'Margin', asset: null },
  ];
}

/** The user's slot; a user never seen becomes known for good, with accounts 0 and 1: by funds, orders, or an operator. */
export function ensureUser(state: ClearingState, user: UserId, effects: Effect[]): UserSlot {
  const known = state.users.get(user);
  if (known !== undefined) return known;
  const slot = newUser(user);
  for (const account of slot.subAccounts.values()) state.dirty.subAccounts.add(account);
  state.users.set(user, slot);
  state.dirty.users.add(slot);
  effects.push({ kind: 'userChanged', row: slot.row });
  return slot;
}

/** The user's slot, or for a user never seen one that is no fact: a request of it can only be refused. */
export function askingUser(state: ClearingState, user: UserId): UserSlot {
  return state.users.get(user) ?? newUser(user);
}

function newUser(user: UserId): UserSlot {
  const row: UserRow = {
    user,
    isMarketMaker: false,
    configNonce: 0,
    transferNonce: 0n,
    closePositionNonce: 0n,
    hasTimer: false,
  };
  const accounts = firstSubAccounts(user).map((account) => [account.subAccount, emptyAccount(account)] as const);
  return { row, subAccounts: new Map(accounts) };
}

/** A walk through all of them may take seconds: the heartbeat goes on meanwhile. */

const NO_BALANCES: SubAccountSlot['balances'] = new Map();
const NO_POSITIONS: SubAccountSlot['positions'] = new Map();
const NO_EXPOSURES: SubAccountSlot['exposures'] = [new Map(), new Map()];

/** A sub-account that is empty. Most stay so, and five empty maps take more memory than everything else of a user. */
export function emptyAccount(row: SubAccountRow): SubAccountSlot {
  return {
    row,
    liquidation: null,
    watch: null,
    balances: NO_BALANCES,
    usd: null,
    recent: null,
    positions: NO_POSITIONS,
    exposures: NO_EXPOSURES,
  };
}

function ownBalances(account: SubAccountSlot): SubAccountSlot['balances'] {
  if (account.balances === NO_BALANCES) account.balances = new Map();
  return account.balances;
}

export function ownPositions(account: SubAccountSlot): SubAccountSlot['positions'] {
  if (account.positions === NO_POSITIONS) account.positions = new Map();
  return account.positions;
}

export function ownExposures(account: SubAccountSlot): SubAccountSlot['exposures'] {
  if (account.exposures === NO_EXPOSURES) account.exposures = [new Map(), new Map()];
  return account.exposures;
}

/** Replaces a user's row. */
export function changeUser(state: ClearingState, slot: UserSlot, row: UserRow, effects: Effect[]): void {
  slot.row = row;
  state.dirty.users.add(slot);
  effects.push({ kind: 'userChanged', row });
}

export function totalsOf(state: ClearingState, asset: AssetId): AssetTotals {
  let totals = state.totals.get(asset);
  if (totals === undefined) {
    totals = {
      asset,
      vaultHoldings: ZERO_18,
      faucet: ZERO_18,
      backstopCredits: ZERO_18,
      rebalancingPool: ZERO_18,
      rebalancingUnpaid: ZERO_18,
      claims: ZERO_18,
    };
    state.totals.set(asset, totals);
  }
  return totals;
}

/** What an asset has in vaults is more, or less. */
export function moveHoldings(state: ClearingState, asset: AssetId, change: Amount18): void {
  const totals = totalsOf(state, asset);
  totals.vaultHoldings = add18(totals.vaultHoldings, change);
  holdingsChanged(state, totals);
}

/** What the faucet of dev and test has given is more, or less. */
export function moveFaucet(state: ClearingState, totals: AssetTotals, given: Amount18): void {
  totals.faucet = subtract18(totals.faucet, given);
  holdingsChanged(state, totals);
}

function holdingsChanged(state: ClearingState, totals: AssetTotals): void {
  state.dirty.totals.add(totals);
  state.touchedTotals.add(totals);
  const risk = state.risks.get(totals.asset);
  if (risk !== undefined && state.marketOfAsset.has(totals.asset)) state.touchedRisks.add(risk);
}

/** The balance of an existing sub-account; looking at one that does not exist yet creates it empty, which is no fact. */
export function balanceSlot(state: ClearingState, user: UserSlot, subAccount: number, asset: AssetId): BalanceSlot {
  return accountBalance(
    state,
    must(user.subAccounts.get(subAccount), 'a balance belongs to an existing sub-account'),
    asset,
  );
}

/** The same by its account. */
export function accountBalance(state: ClearingState, account: SubAccountSlot, asset: AssetId): BalanceSlot {
  const { usd, recent } = account;
  if (asset === USD) {
    if (usd !== null) return usd;
  } else if (recent !== null && recent.asset === asset) return recent;
  const slot = account.balances.get(asset) ?? newBalance(state, account, asset);
  if (asset === USD) account.usd = slot;
  else account.recent = slot;
  return slot;
}

function newBalance(state: ClearingState, account: SubAccountSlot, asset: AssetId): BalanceSlot {
  const { user, subAccount } = account.row;
  const slot: BalanceSlot = {
    user,
    subAccount,
    asset,
    account,
    totals: totalsOf(state, asset),
    collateral: asset !== USD && isMarginType(account.row) ? riskSlot(state, asset) : null,
    owned: ZERO_18,
    locked: ZERO_18,
    lots: null,
    heldBySells: ZERO_18,
    buys: null,
    planned: null,
    isChanged: false,
    outcomeAt: 0,
  };
  ownBalances(account).set(asset, slot);
  return slot;
}

/** Sets what is owned. The caller has checked that it is not negative. */
export function setOwned(state: ClearingState, slot: BalanceSlot, owned: Amount18): void {
  assert(owned >= 0n || owned >= slot.owned, 'a spot balance becomes negative by a forced withdrawal alone');
  writeOwned(state, slot, owned);
}

/** Takes what a vault has paid without the node (AMB-85): the balance may become negative. */
export function debitBelowZero(state: ClearingState, slot: BalanceSlot, amount: Amount18): void {
  writeOwned(state, slot, subtract18(slot.owned, amount));
}

/**
 * Whether account 0 has a negative balance after a payout of a vault without the node (AMB-85). Until it is filled up
 * nothing of the user leaves the exchange, whatever the asset and sub-account: one asset can be sold for another, below
 * its price if the buyer is an accomplice.
 */
export function owesForced({ debtors }: ClearingState, user: UserId): boolean {
  return debtors.size > 0 && debtors.has(user);
}

function writeOwned(state: ClearingState, slot: BalanceSlot, owned: Amount18): void {
  const { outcomes } = state;
  if (outcomes === null) {
    changeOwned(state, slot, owned);
    return;
  }
  outcomes.balanceMoves(slot);
  changeOwned(state, slot, owned);
  // mutant: ledger-row-not-written
  outcomes.balanceMoved(slot);
}

function changeOwned(state: ClearingState, slot: BalanceSlot, owned: Amount18): void {
  // mutant: claims-sum
  slot.totals.claims = add18(slot.totals.claims, subtract18(owned, slot.owned));
  placeOwned(state, slot, owned);
  if (slot.lots !== null) slot.lots.balanceChanged();
  markChanged(state, slot);
}

/** The changed ones are published, and checked, at the end of the batch or before. */
function markChanged(state: ClearingState, slot: BalanceSlot): void {
  if (slot.isChanged) return;
  slot.isChanged = true;
  if (slot.account.positions.size > 0) state.detection.accountChanged(slot.account);
  state.changedBalances.push(slot);
  state.dirty.balances.add(slot);
  state.touchedTotals.add(slot.totals);
}

/**
 * Sets what is owned and what is locked (withdrawals.ts, settlements.ts). The caller has checked that neither is
 * negative.
 */
export function setFunds(
  state: ClearingState,
  slot: BalanceSlot,
  { owned, locked }: { readonly owned: Amount18; readonly locked: Amount18 },
): void {
  assert(locked >= 0n, 'what is locked is never negative');
  assert(owned >= 0n || owned >= slot.owned, 'a spot balance becomes negative by a forced withdrawal alone');
  const { outcomes } = state;
  outcomes?.balanceMoves(slot);
  slot.totals.claims = add18(slot.totals.claims, subtract18(locked, slot.locked));
  slot.locked = locked;
  changeOwned(state, slot, owned);
  outcomes?.balanceMoved(slot);
}

/** Writes what is owned, and what follows: whether its user owes, and sums of collateral. */
export function placeOwned(state: ClearingState, slot: BalanceSlot, owned: Amount18): void {
  const { collateral } = slot;
  const before = slot.owned;
  slot.owned = owned;
  if (owned < 0n !== before < 0n) countDebt(state, slot);
  if (collateral === null) return;
  collateral.collateral = add18(collateral.collateral, subtract18(owned, before));
}

/** A balance has become negative, or no longer is. */
function countDebt({ debtors }: ClearingState, { user, subAccount, owned }: BalanceSlot): void {
  assert(subAccount === SPOT_ACCOUNT, 'balances of account 0 alone become negative');
  const count = (debtors.get(user) ?? 0) + (owned < 0n ? 1 : -1);
  if (count > 0) debtors.set(user, count);
  else debtors.delete(user);
}

export function balanceRow(slot: BalanceSlot): BalanceRow {
  const { user, subAccount, asset, owned, locked } = slot;
  return { user, subAccount, asset, owned, locked };
}

/** Publishes the balances that changed since the last call. */
export function flushChangedBalances(state: ClearingState, effects: Effect[]): void {
  const { changedBalances } = state;
  if (changedBalances.length === 0) return;
  for (const slot of changedBalances) {
    slot.isChanged = false;
    effects.push({ kind: 'balanceChanged', row: balanceRow(slot) });
  }
  changedBalances.length = 0;
}

/** Every user there is. */
export function* allUsers(state: ClearingState): Generator<UserSlot> {
  for (const user of state.users.values()) {
    yield user;
  }
}

/** Every sub-account there is. */
export function* allAccounts(state: ClearingState): Generator<SubAccountSlot> {
  for (const { subAccounts } of allUsers(state)) yield* subAccounts.values();
}

/** Every balance there is, in no particular order. */
export function* allBalances(state: ClearingState): Generator<BalanceSlot> {
  for (const { balances } of allAccounts(state)) yield* balances.values();
}
