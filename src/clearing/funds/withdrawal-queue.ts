/**
 * Which requests are filled, and when (WDR-05, WDR-06, AMB-78, MON-04): the oldest first, among those that can be.
 *
 *   due ── every lower number of its user on the chain filled or approved? ── no ─▶ waits, and holds up no other
 *            │ yes
 *            ▼
 *   free units ≥ payout ─▶ filled     ≥ half of it ─▶ filled in part, the rest is a request of its own     less ─▶ passed over: a claim
 *
 * Claims of a token share one reserve, so that those behind them cannot take every unit that arrives. Half of each
 * increase of free units goes into it, rounded up, until the first claim is payable by half from all that is free; the
 * others, and settlements, take what is not in it. A claim that ends leaves it to the next one; without claims there is
 * none. It is kept with the free units that it was counted with, so that increases are counted once, over restarts too.
 *
 * A pass takes time by the users who wait in one queue, whatever the number of their requests.
 */
import { add18, larger, smaller, subtract18 } from '../../core/arithmetic.ts';
import type { AssetId, ChainId } from '../../core/ids.ts';
import type { Amount18, TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import { tokenKey } from '../registry/registry-assets.ts';
import type { PayoutReserveRow, WithdrawalRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { decimalsOf, freeUnits, reservedUnits } from './vault-units.ts';
import type { WithdrawalSlot } from './withdrawal-book.ts';
import { payoutOf, payoutValue } from './withdrawal-figures.ts';
import { changed, freeNonce, move } from './withdrawal-rows.ts';

// ---- the reserve

function setReserve(state: ClearingState, row: PayoutReserveRow): void {
  const key = tokenKey(row.token, row.chainId);
  const known = state.payoutReserves.get(key);
  const isSame = known === undefined ? !row.isClaimed : known.units === row.units && known.free === row.free;
  if (isSame && row.isClaimed === (known !== undefined)) return;
  if (row.isClaimed) state.payoutReserves.set(key, row);
  else state.payoutReserves.delete(key);
  state.dirty.payoutReserves.set(key, row);
}

/** Free units have become fewer without a pass over the queue: what comes back is an increase. */
export function reserveFollows(state: ClearingState, token: string, chainId: ChainId): void {
  const row = state.payoutReserves.get(tokenKey(token, chainId));
  if (row === undefined) return;
  const free = larger(freeUnits(state, token, chainId), 0n);
  if (free < row.free) setReserve(state, { ...row, free, units: smaller(row.units, free) });
}

/** Half of what free units have increased by since the last pass goes into the reserve. */
function countIncrease(state: ClearingState, token: string, chainId: ChainId): void {
  const row = state.payoutReserves.get(tokenKey(token, chainId));
  if (row === undefined) return;
  const free = larger(freeUnits(state, token, chainId), 0n);
  const increase = larger(free - row.free, 0n);
  // mutant: half-of-increase
  const units = smaller(row.units + (increase + 1n) / 2n, free);
  setReserve(state, { ...row, free, units });
}

// ---- the queue

/** Fills the queue of an asset on a chain, and the queues of other assets there that this lets continue. */
export function fillQueue(
  state: ClearingState,
  asset: AssetId,
  chainId: ChainId,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const left = new Set([asset]);
  // A pass that adds an asset has filled a row, and rows that it makes are parts: this ends.
  for (const next of left) {
    left.delete(next);
    for (const other of pass(state, next, chainId, nowNs, effects)) left.add(other);
  }
}

/** After a row of the user has ended: fills its own queue, and the queue in which another row may now have its turn. */
export function fillAfter(
  state: ClearingState,
  { user, asset, chainId }: Pick<WithdrawalRow, 'user' | 'asset' | 'chainId'>,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const next = state.withdrawals.turnOf(user, chainId)?.row.asset ?? asset;
  for (const other of new Set([asset, next])) fillQueue(state, other, chainId, nowNs, effects);
}

/** A token during a pass. */
interface TokenUnits {
  /** Base units: all free ones, without the backing of lots, and the reserved part of these. */
  free: bigint;
  reserve: bigint;
  /** Whether a claim has been passed: the reserve is not for those behind it. */
  isClaimed: boolean;
}

/** @returns assets in whose queues a row's turn has come before this pass could take it. */
function pass(
  state: ClearingState,
  asset: AssetId,
  chainId: ChainId,
  nowNs: TimestampNs,
  effects: Effect[],
): ReadonlySet<AssetId> {
  const again = new Set<AssetId>();
  const tokens = new Map<string, TokenUnits>();
  const unitsOf = (token: string): TokenUnits => {
    let units = tokens.get(token);
    if (units === undefined) {
      countIncrease(state, token, chainId);
      const reserve = reservedUnits(state, token, chainId);
      units = { free: freeUnits(state, token, chainId), reserve, isClaimed: false };
      tokens.set(token, units);
    }
    return units;
  };

  // A row that is filled leaves the list, and the next one of its user joins it, or that of another asset.
  for (let at = 0; ; ) {
    const slot = state.withdrawals.queue(asset, chainId)[at];
    if (slot === undefined) break;
    const { row } = slot;
    const token = unitsOf(row.token);
    const units = row.dueNs > nowNs ? null : payable(state, row, token);
    if (units === null || !fill(state, slot, units, effects)) {
      at += 1;
      token.isClaimed ||= units === null && row.dueNs <= nowNs;
      continue;
    }
    const free = freeUnits(state, row.token, chainId);
    const taken = token.free - free;
    // First the part of the reserve that no other claims is taken, then all of it.
    if (taken > token.free - token.reserve) token.reserve = larger(token.reserve - taken, 0n);
    token.free = free;
    const next = state.withdrawals.turnOf(row.user, chainId)?.row ?? null;
    if (next !== null && next.dueNs <= nowNs && !(next.asset === asset && isBehind(next, row))) again.add(next.asset);
  }

  for (const { token, chainId: chain, asset: of } of state.payoutReserves.values()) {
    if (chain === chainId && of === asset) unitsOf(token);
  }
  for (const [token, { free, reserve, isClaimed }] of tokens) {
    const all = larger(free, 0n);
    setReserve(state, { token, chainId, asset, units: smaller(reserve, all), free: all, isClaimed });
  }
  return again;
}

/** Whether this pass has yet to come to the row. */
function isBehind(next: WithdrawalRow, row: WithdrawalRow): boolean {
  return next.requestedNs > row.requestedNs || (next.requestedNs === row.requestedNs && next.sequence >= row.sequence);
}

/** The amount of the row that can be paid now: all, or at least half; null for less. */
function payable(
  state: ClearingState,
  { token, chainId, isolated, payout }: WithdrawalRow,
  { free, reserve, isClaimed }: TokenUnits,
): bigint | null {
  const all = isolated === 0n ? free : freeUnits(state, token, chainId, isolated);
  // mutant: reserve-of-claims
  const units = isClaimed ? all - reserve : all;
  if (units >= payout) return payout;
  return units > 0n && units * 2n >= payout ? units : null;
}

/**
 * Fills `units` of the row, which keeps its nonce and takes of the lots what it can; the rest is a row of its own with the
 * next free nonce, as old as it. A rest that pays less than a base unit is none: it returns with the payout.
 *
 * @returns false when the rest has no place: the row waits until one of its user's has ended.
 */
function fill(state: ClearingState, slot: WithdrawalSlot, units: bigint, effects: Effect[]): boolean {
  const { row } = slot;
  if (units === row.payout) {
    move(state, slot, 'filled', {}, effects);
    return true;
  }
  const decimals = decimalsOf(state, row.token, row.chainId);
  const amount = payoutValue(units, decimals);
  const left = subtract18(row.amount, amount);
  // For a token with more than 18 decimals, the units of the remainder are worth less than the missing ones.
  const leftUnits = payoutOf(left, decimals);
  if (leftUnits === 0n) {
    move(state, slot, 'filled', { payout: units }, effects);
    return true;
  }
  const place = state.withdrawals.freePlace(row.user);
  if (place === null) return false;
  const fee = ((row.fee * amount) / row.amount) as Amount18;
  const isolated = smaller(row.isolated, add18(amount, fee));
  const rest: WithdrawalRow = {
    ...row,
    place,
    amount: left,
    fee: subtract18(row.fee, fee),
    isolated: subtract18(row.isolated, isolated),
    payout: leftUnits,
    nonce: freeNonce(state, row.user, row.chainId),
    isExplicit: false,
  };
  move(state, slot, 'filled', { amount, fee, isolated, payout: units }, effects);
  changed(state, state.withdrawals.add(rest), effects);
  return true;
}
