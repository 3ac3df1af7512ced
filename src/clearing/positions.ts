/**
 * Margin positions (service spec 2.3, AMB-30): the only function that changes a leg. It keeps claims and the sums of
 * all legs.
 *
 * Not here: why legs move (fills.ts, close-position.ts).
 */
import { add18, subtract18 } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { type AssetId, USD } from '../core/ids.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';
import { isMarginType } from '../risk/account-types.ts';
import { interestAfter } from '../risk/caps.ts';
import { type Legs, magnitude, NO_LEGS } from '../risk/position.ts';
import { allAccounts, ownPositions, totalsOf } from './balances.ts';
import type { Effect } from './effects.ts';
import { riskSlot, setInterest } from './risks.ts';
import type { PositionRow } from './rows.ts';
import type { ClearingState, PositionSlot, SubAccountSlot } from './state.ts';

/** The position of a margin account; looking at one that does not exist yet creates it empty, which is no fact. */
export function positionSlot(state: ClearingState, account: SubAccountSlot, asset: AssetId): PositionSlot {
  let slot = account.positions.get(asset);
  if (slot === undefined) {
    assert(isMarginType(account.row) && asset !== USD, 'positions are in margin accounts, and not in USD');
    const { user, subAccount } = account.row;
    slot = {
      user,
      subAccount,
      asset,
      account,
      totals: totalsOf(state, asset),
      usdTotals: totalsOf(state, USD),
      risk: riskSlot(state, asset),
      legs: NO_LEGS,
      planned: null,
      isChanged: false,
      outcomeAt: 0,
    };
    ownPositions(account).set(asset, slot);
  }
  return slot;
}

/** Sets the legs. */
export function setLegs(state: ClearingState, slot: PositionSlot, legs: Legs): void {
  const { outcomes } = state;
  outcomes?.legsMove(slot);
  placeLegs(state, slot, legs);
  outcomes?.legsMoved(slot);
  if (slot.isChanged) return;
  slot.isChanged = true;
  state.changedPositions.push(slot);
  state.dirty.positions.add(slot);
  state.touchedTotals.add(slot.totals);
  state.touchedTotals.add(slot.usdTotals);
}

/** Writes legs and all that is derived from them; also when they are loaded. */
export function placeLegs(state: ClearingState, slot: PositionSlot, legs: Legs): void {
  assert(magnitude(legs.base) <= AMOUNT18_MAX && magnitude(legs.quote) <= AMOUNT18_MAX, 'a leg fits 128 bits');
  const { base, quote } = slot.legs;
  slot.legs = legs;
  state.detection.accountChanged(slot.account);
  slot.usdTotals.claims = add18(slot.usdTotals.claims, subtract18(legs.quote, quote));
  if (quote < 0n || legs.quote < 0n) {
    state.usdBorrows = add18(state.usdBorrows, subtract18(owedOf(legs.quote), owedOf(quote)));
  }
  if (base === legs.base) return;
  // mutant: open-positions
  if (base === 0n) slot.risk.open.add(slot);
  else if (legs.base === 0n) slot.risk.open.delete(slot);
  slot.totals.claims = add18(slot.totals.claims, subtract18(legs.base, base));
  setInterest(state, slot.risk, interestAfter(slot.risk, base, legs.base));
}

function owedOf(quote: Amount18): Amount18 {
  return quote < 0n ? (-quote as Amount18) : ZERO_18;
}

export function positionRow({ user, subAccount, asset, legs }: PositionSlot): PositionRow {
  return { user, subAccount, asset, base: legs.base, quote: legs.quote, entry: legs.entry };
}

/** Publishes the positions that changed since the last call. */
export function flushChangedPositions(state: ClearingState, effects: Effect[]): void {
  const { changedPositions } = state;
  if (changedPositions.length === 0) return;
  for (const slot of changedPositions) {
    slot.isChanged = false;
    effects.push({ kind: 'positionChanged', row: positionRow(slot) });
  }
  changedPositions.length = 0;
}

/** Every position there is, in no particular order. */
export function* allPositions(state: ClearingState): Generator<PositionSlot> {
  for (const { positions } of allAccounts(state)) yield* positions.values();
}
