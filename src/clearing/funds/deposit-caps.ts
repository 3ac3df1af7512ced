/**
 * Caps of deposits and what becomes of lots over them (DEP-12 to DEP-15, AMB-73).
 *
 *   deposit ── fits both caps of its token ──▶ pooled in account 0
 *      └────── else, the whole of it ────────▶ a lot of `token@chain` in account 0 ── a cap allows it ──▶ pooled
 *
 *   max_deposits       pooled units of the token in its vault: what deposits, conversions and settlements brought, net of what
 *                      was paid out; a settlement is judged by no cap
 *   max_1hr_deposits   what was pooled while younger than 3600 s, withdrawals not deducted
 *
 * A cap judges what a deposit brings, before a fee or rebate of rebalancing: that is what the pool has more of. Equal is
 * allowed. A lot is pooled whole, as far as no withdrawal has locked and no order holds some of it; the oldest first, and
 * one that does not fit does not hold back those behind it. Such a conversion is a credit at its own time, and no event.
 *
 * Conversions are part of inputs that may free room (a changed asset, an executed withdrawal) and of `lotsDue`, an input
 * that clearing's actor adds to a batch when one is due. They follow from the state and the time of the batch alone.
 */

import { add18, mulDivFloor, powerOfTen, smaller, subtract18 } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import { type AssetId, tokenOfAsset } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { type Amount18, ONE_18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { balanceSlot, moveHoldings, setOwned, totalsOf } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { ClearingState, TokenState } from '../state.ts';
import type { Lot } from './lot-book.ts';
import { PooledHour } from './pooled-hour.ts';
import { fillQueue } from './withdrawal-queue.ts';
import { depositLowersUsage } from './withdrawals.ts';

/** Lots that one input pools at most; the next input goes on. */
const CONVERTED_MAX = 64;

/** The pooled part of a token's units in its vault, 18 decimals; below zero while rebates of its asset exceed it. */
function pooledUnits(state: ClearingState, asset: AssetId, { decimals }: TokenState): bigint {
  const units = state.vaultTokens.get(asset)?.baseUnits ?? 0n;
  return mulDivFloor(units, ONE_18, powerOfTen(decimals)) - (state.totals.get(asset)?.vaultHoldings ?? 0n);
}

/** What the cap of all time leaves of a token; without a cap what an asset may have altogether. */
function totalRoom(state: ClearingState, asset: AssetId, token: TokenState): bigint {
  const left = AMOUNT18_MAX - totalsOf(state, token.asset).claims;
  if (token.maxDeposits === null) return left;
  return smaller(left, token.maxDeposits - pooledUnits(state, asset, token));
}

/** @returns null without an hourly cap. */
function hourRoom(
  state: ClearingState,
  asset: AssetId,
  { max1hrDeposits }: TokenState,
  nowNs: TimestampNs,
): bigint | null {
  return max1hrDeposits === null ? null : max1hrDeposits - (state.pooledHours.get(asset)?.pooled(nowNs) ?? 0n);
}

/** What may be pooled of a token now. */
function roomOf(state: ClearingState, asset: AssetId, token: TokenState, nowNs: TimestampNs): bigint {
  const total = totalRoom(state, asset, token);
  const hour = hourRoom(state, asset, token, nowNs);
  return hour === null ? total : smaller(total, hour);
}

/** Whether so much may be pooled now. @param asset the token's address form. */
export function mayPool(state: ClearingState, asset: AssetId, amount: Amount18, nowNs: TimestampNs): boolean {
  const token = must(state.tokens.get(asset), 'a deposit that is credited is of a registered token');
  // mutant: cap-of-deposits
  return amount <= roomOf(state, asset, token, nowNs);
}

/** So much was pooled. @param asset the token's address form. */
export function recordPooled(state: ClearingState, asset: AssetId, amount: Amount18, nowNs: TimestampNs): void {
  let hour = state.pooledHours.get(asset);
  if (hour === undefined) {
    hour = new PooledHour({ asset, credits: [] });
    state.pooledHours.set(asset, hour);
  }
  hour.add(nowNs, amount);
  state.lots.capsChanged();
  state.dirty.pooledHours.add(asset);
}

/** The lot of a token that is to be pooled now; null for none. */
function nextLot(state: ClearingState, asset: AssetId, nowNs: TimestampNs): Lot | null {
  const token = state.tokens.get(asset);
  if (token === undefined) return null;
  const lot = state.lots.first(asset, roomOf(state, asset, token, nowNs));
  if (lot === null) return null;
  const { account } = lot.owner.slot;
  const owned = account.balances.get(token.asset)?.owned ?? 0n;
  return owned + lot.free <= AMOUNT18_MAX ? lot : null;
}

/** Time has passed, caps were raised or units have left: whatever may be pooled is. */
export function convertLots(state: ClearingState, nowNs: TimestampNs, effects: Effect[]): void {
  let left = CONVERTED_MAX;
  state.lots.capsChanged();
  for (const asset of state.lots.tokens()) {
    for (let lot = nextLot(state, asset, nowNs); lot !== null && left > 0; lot = nextLot(state, asset, nowNs)) {
      convert(state, lot, nowNs, effects);
      left -= 1;
    }
  }
}

function convert(state: ClearingState, lot: Lot, nowNs: TimestampNs, effects: Effect[]): void {
  const { slot } = lot.owner;
  const { user, asset } = slot;
  const amount = lot.free as Amount18;
  const { asset: pooled } = must(state.tokens.get(asset), 'only lots of registered tokens are pooled');
  const owner = must(state.users.get(user), 'who has a lot is known');
  const balance = balanceSlot(state, owner, slot.subAccount, pooled);
  state.lots.reduce(lot, amount);
  state.outcomes?.cause(LEDGER_ENTRY.lotPooled, asset);
  setOwned(state, slot, subtract18(slot.owned, amount));
  depositLowersUsage(state, { user, asset: pooled }, amount, nowNs);
  setOwned(state, balance, add18(balance.owned, amount));
  moveHoldings(state, asset, subtract18(ZERO_18, amount));
  moveHoldings(state, pooled, amount);
  recordPooled(state, asset, amount, nowNs);
  fillQueue(state, pooled, tokenOfAsset(asset).chainId, nowNs, effects);
}

/**
 * When a lot may be pooled next: now or before, later, or null for not before something else changes. What was found is kept
 * until then.
 */
export function lotsDueNs(state: ClearingState, nowNs: TimestampNs): bigint | null {
  const { lots } = state;
  if (!lots.isStale) return lots.dueNs;
  let dueNs: bigint | null = null;
  for (const asset of lots.tokens()) {
    const next = tokenDueNs(state, asset, nowNs);
    if (next !== null && (dueNs === null || next < dueNs)) dueNs = next;
  }
  lots.isStale = false;
  lots.dueNs = dueNs;
  return dueNs;
}

function tokenDueNs(state: ClearingState, asset: AssetId, nowNs: TimestampNs): bigint | null {
  if (nextLot(state, asset, nowNs) !== null) return nowNs;
  const [token, least] = [state.tokens.get(asset), state.lots.least(asset)];
  if (token === undefined || least === null || token.max1hrDeposits === null) return null;
  if (least > totalRoom(state, asset, token) || least > token.max1hrDeposits) return null;
  const dueNs = state.pooledHours.get(asset)?.fallsTo(token.max1hrDeposits - least, nowNs) ?? nowNs;
  // It fits, but its owner can own no more.
  return dueNs > nowNs ? dueNs : null;
}
