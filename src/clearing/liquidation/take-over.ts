/**
 * Take-over: what the book did not absorb of an account moves to a sub-account of the backstop of its own (BKS-01 to
 * BKS-03).
 *
 *   every spot balance, every leg with its cost ─▶ sub-account ─▶ credited up to 2 % above its initial margin (AMB-58)
 *
 * While all sub-accounts of the backstop are in use, an account joins a row of its kind: holdings are added up, leg by
 * leg, and the credit is that of the row as it then is. So small accounts, however many, keep no other one from being
 * taken over.
 *
 * The source keeps its sub-account, empty. What a withdrawal has locked is not the account's any more (AMB-72) and stays.
 *
 * Not here: when an account is taken over (rounds.ts), what becomes of it then (backstop.ts).
 */

import { add18 } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { type AssetId, compareAssetIds, USD } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX, SUB_ACCOUNTS_MAX } from '../../core/limits.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { isMarginType } from '../../risk/account-types.ts';
import { collateralToBuffer } from '../../risk/liquidation.ts';
import { afterFill, isOpen, type Legs, magnitude, NO_LEGS } from '../../risk/position.ts';
import { marginSumsOf, riskOf } from '../account-margin.ts';
import { accountBalance, ensureUser, MARGIN_ACCOUNT, setOwned } from '../balances.ts';
import type { Effect } from '../effects.ts';
import { createAccount } from '../funds/sub-accounts.ts';
import type { TargetType } from '../inputs.ts';
import { positionSlot, setLegs } from '../positions.ts';
import type { AssetQuantity, BackstopRow, SubAccountRow } from '../rows.ts';
import type { ClearingState, SubAccountSlot, UserSlot } from '../state.ts';
import { accountOfRow, giveCredit, liveRows } from './backstop-capital.ts';
import { nextBackstopState } from './backstop-states.ts';
import { NO_REQUEST } from './deleveraging.ts';
import { isBackstop, setBackstopRow, setLiquidation } from './liquidation-rows.ts';

/** Whether nothing is in the account. */
function isEmpty({ balances, positions }: SubAccountSlot): boolean {
  for (const { owned, locked } of balances.values()) if (owned !== 0n || locked !== 0n) return false;
  for (const { legs } of positions.values()) if (isOpen(legs)) return false;
  return true;
}

/**
 * An index for a new row (decision: closed indices are used again): the lowest closed one of the same kind and asset,
 * else the lowest that was never used, else the lowest closed one. Accounts that the backstop's user created are its own.
 *
 * @returns null when all are taken.
 */
function freeIndex(state: ClearingState, { kind, asset }: SubAccountRow): number | null {
  const backstop = state.users.get(state.settings.backstop_account);
  let unused: number | null = null;
  let otherKind: number | null = null;
  for (let index = MARGIN_ACCOUNT + 1; index < SUB_ACCOUNTS_MAX; index += 1) {
    const row = state.backstopRows.get(index);
    const account = backstop?.subAccounts.get(index);
    if (row !== undefined && row.state !== 'closed') continue;
    if (account === undefined) unused ??= index;
    else if (row === undefined || !isEmpty(account)) continue;
    else if (account.row.kind === kind && account.row.asset === asset) return index;
    else otherKind ??= index;
  }
  return unused ?? otherKind;
}

/** What a position is with the legs of another one: its worth is the sum at every price. Opposite bases close each other. */
function withLegs(own: Legs, legs: Legs): Legs {
  const quote = add18(own.quote, legs.quote);
  return legs.base === 0n ? { ...own, quote } : { ...afterFill(own, legs.base, legs.entry, ZERO_18), quote };
}

/** Whether balances and legs can hold those of the other account too. */
function canJoin(target: SubAccountSlot, source: SubAccountSlot): boolean {
  for (const { asset, owned } of source.balances.values()) {
    if (owned + (target.balances.get(asset)?.owned ?? 0n) > AMOUNT18_MAX) return false;
  }
  for (const { asset, legs } of source.positions.values()) {
    const { base, quote, entry } = withLegs(target.positions.get(asset)?.legs ?? NO_LEGS, legs);
    if ([base, quote, entry].some((leg) => magnitude(leg) > AMOUNT18_MAX)) return false;
  }
  return true;
}

/**
 * The row that an account joins when no index is free: of its kind and asset, without an outstanding order or request,
 * that with the most equity; of equal ones the lowest index. null: none at this moment.
 */
function rowToJoin(state: ClearingState, source: SubAccountSlot, nowNs: TimestampNs): BackstopRow | null {
  let best: { readonly row: BackstopRow; readonly equity: bigint } | null = null;
  for (const row of liveRows(state)) {
    const account = row.order === null && row.adlMarket === null ? accountOfRow(state, row) : undefined;
    if (account === undefined) continue;
    if (account.row.kind !== source.row.kind || account.row.asset !== source.row.asset) continue;
    const equity = marginSumsOf(account, nowNs).equityMark;
    const isBetter = best === null || equity > best.equity || (equity === best.equity && row.index < best.row.index);
    if (isBetter && canJoin(account, source)) best = { row, equity };
  }
  return best?.row ?? null;
}

/** The sub-account of a row, of the kind and asset of its source. */
function openAccount(
  state: ClearingState,
  backstop: UserSlot,
  index: number,
  { kind, asset }: SubAccountRow,
  effects: Effect[],
): SubAccountSlot {
  const account = backstop.subAccounts.get(index);
  if (account === undefined) return createAccount(state, backstop, index, { kind, asset } as TargetType, effects);
  if (account.row.kind !== kind || account.row.asset !== asset) {
    account.row = { ...account.row, kind, asset };
    state.dirty.subAccounts.add(account);
    effects.push({ kind: 'subAccountChanged', row: account.row });
  }
  return account;
}

/** In numeric order: in maps they are in the order in which they came. */
function byAsset<Slot extends { readonly asset: AssetId }>(slots: ReadonlyMap<unknown, Slot>): Slot[] {
  return [...slots.values()].sort((a, b) => compareAssetIds(a.asset, b.asset));
}

/** Moves every spot balance. @returns the assets beside USD. */
function moveBalances(state: ClearingState, source: SubAccountSlot, target: SubAccountSlot): AssetQuantity[] {
  const moved: AssetQuantity[] = [];
  for (const slot of byAsset(source.balances)) {
    const { asset, owned } = slot;
    if (owned === 0n) continue;
    const own = accountBalance(state, target, asset);
    setOwned(state, slot, ZERO_18);
    setOwned(state, own, add18(own.owned, owned));
    if (asset !== USD) moved.push({ asset, quantity: owned });
  }
  return moved;
}

/** Moves every position, flat ones with what they have cost too. @returns those with a base. */
function movePositions(
  state: ClearingState,
  source: SubAccountSlot,
  target: SubAccountSlot,
  nowNs: TimestampNs,
  effects: Effect[],
): AssetQuantity[] {
  const { user, subAccount } = source.row;
  const moved: AssetQuantity[] = [];
  for (const slot of byAsset(source.positions)) {
    const { asset, legs } = slot;
    if (!isOpen(legs)) continue;
    setLegs(state, slot, NO_LEGS);
    const own = positionSlot(state, target, asset);
    // mutant: take-over-cost
    setLegs(state, own, withLegs(own.legs, legs));
    effects.push({ kind: 'positionCleared', user, subAccount, asset, timeNs: nowNs });
    if (legs.base !== 0n) moved.push({ asset, quantity: legs.base });
  }
  return moved;
}

/** What clips are a fraction of: amounts of an asset add up; of a position that turned, it is what is open. */
function addedUp(
  lists: { readonly before: readonly AssetQuantity[]; readonly taken: readonly AssetQuantity[] },
  openOf: (asset: AssetId) => Amount18,
): readonly AssetQuantity[] {
  const sums = new Map(lists.before.map(({ asset, quantity }) => [asset, quantity]));
  for (const { asset, quantity } of lists.taken) {
    const before = sums.get(asset) ?? ZERO_18;
    const isOpposite = before !== 0n && before < 0n !== quantity < 0n;
    sums.set(asset, isOpposite ? openOf(asset) : add18(before, quantity));
  }
  return [...sums].map(([asset, quantity]) => ({ asset, quantity }));
}

type Taken = Pick<BackstopRow, 'provisional' | 'taken' | 'takenSpot'>;

function newRow({ row }: SubAccountSlot, index: number, taken: Taken, startedNs: TimestampNs): BackstopRow {
  return {
    index,
    sourceUser: row.user,
    sourceIndex: row.subAccount,
    startedNs,
    state: nextBackstopState('closed', 'takenOver'),
    posted: ZERO_18,
    ...taken,
    adlClosed: [],
    clipNs: 0n as TimestampNs,
    order: null,
    ...NO_REQUEST,
  };
}

/** The row keeps its source, its age and its state. */
function joinedRow(row: BackstopRow, { provisional, taken, takenSpot }: Taken, target: SubAccountSlot): BackstopRow {
  return {
    ...row,
    provisional: add18(row.provisional, provisional),
    taken: addedUp({ before: row.taken, taken }, (asset) => target.positions.get(asset)?.legs.base ?? ZERO_18),
    takenSpot: addedUp({ before: row.takenSpot, taken: takenSpot }, () => ZERO_18),
  };
}

/**
 * Takes an account over (BKS-02) and ends its liquidation. The caller has checked that it is to be (AMB-57, decisions on
 * prices and halts), and that no order of the node is outstanding for it.
 *
 * @returns false, and nothing has changed, when the backstop has no sub-account left for it, and no row of its kind that it could
 *   join at this moment: the caller tries again later.
 */
export function takeOver(state: ClearingState, source: SubAccountSlot, nowNs: TimestampNs, effects: Effect[]): boolean {
  const { user, subAccount } = source.row;
  assert(isMarginType(source.row) && !isBackstop(state, user), 'margin accounts are taken over, by the backstop');
  const free = freeIndex(state, source.row);
  const joined = free === null ? rowToJoin(state, source, nowNs) : null;
  const index = free ?? joined?.index;
  if (index === undefined) return false;
  const { worth } = riskOf(source, nowNs);
  // After this point the take-over must succeed.
  const backstop = ensureUser(state, state.settings.backstop_account, effects);
  const target = openAccount(state, backstop, index, source.row, effects);
  state.outcomes?.cause(LEDGER_ENTRY.takeOver, '');
  const takenSpot = moveBalances(state, source, target);
  const taken = movePositions(state, source, target, nowNs, effects);
  const provisional = giveCredit(state, target, collateralToBuffer(marginSumsOf(target, nowNs)));
  const all = { provisional, taken, takenSpot };
  setBackstopRow(state, joined === null ? newRow(source, index, all, nowNs) : joinedRow(joined, all, target));
  if (source.liquidation !== null) setLiquidation(state, source, null);
  const shortfall = (worth < 0n ? -worth : 0n) as Amount18;
  const takenOver = { index, provisional, shortfall, taken };
  effects.push({ kind: 'liquidationChanged', user, subAccount, stage: 'ended', takenOver, timeNs: nowNs });
  return true;
}

/** The amount of an asset in a list; 0 without one. */
export function quantityOf(list: readonly AssetQuantity[], asset: AssetId): Amount18 {
  return list.find((entry) => entry.asset === asset)?.quantity ?? ZERO_18;
}
