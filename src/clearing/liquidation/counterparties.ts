/**
 * Counterparties of auto-deleveraging (ADL-01 to ADL-03, AMB-59): profitable positions on the other side of one of the
 * backstop, in the order of their score, by confirmed state alone.
 *
 *   positions of the asset ─▶ other side, with a profit ─▶ standing ─▶ rough score ─▶ exact score ─▶ the first ADL_TRADES_MAX
 *
 * Not here: the score (src/risk/liquidation.ts), what is closed (deleveraging.ts).
 */
import { notional18 } from '../../core/arithmetic.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import type { RawPrice, TimestampNs } from '../../core/units.ts';
import { type AssetTerms, equityLeg, legAtMark } from '../../risk/asset-terms.ts';
import { type AdlStanding, compareAdl, positionProfit, wholeLots } from '../../risk/liquidation.ts';
import { magnitude } from '../../risk/position.ts';
import { assetTermsOf } from '../risks.ts';
import type { AccountPlace } from '../rows.ts';
import type { ClearingMarket, ClearingState, PositionSlot } from '../state.ts';
import { isBackstop } from './liquidation-rows.ts';

/** Trades of one answer at most: the rest follows with the next one. */
export const ADL_TRADES_MAX = 256;
/**
 * Positions that a step looks at: some 3 ms. In a market with more, they are searched beforehand
 * (counterparty-search.ts).
 */
export const ADL_SCAN_MAX = 4_096;
/** Scores that differ by more are not compared exactly. */
const ROUGH_ERROR = 1e-9;

/** A position of the backstop that is to be closed at a price. */
export interface ClosingTarget {
  readonly market: ClearingMarket;
  readonly position: PositionSlot;
  readonly terms: AssetTerms;
  /** The price that `adlPrice` gives. */
  readonly price: RawPrice;
}

export interface Counterparty {
  readonly slot: PositionSlot;
  readonly standing: AdlStanding;
  readonly roughScore: number;
}

/**
 * Equity at the mark, and Σ |base leg| × mark (AMB-48): all that a score needs of an account.
 *
 * @param value of the base leg of `position` at the mark.
 */
function worthOf(
  position: PositionSlot,
  value: bigint,
  nowNs: TimestampNs,
): { readonly equity: bigint; readonly notional: bigint } {
  let equity = value;
  let notional = magnitude(value);
  for (const { collateral, owned } of position.account.balances.values()) {
    equity += collateral === null ? owned : equityLeg(assetTermsOf(collateral, nowNs), owned, 'mark');
  }
  for (const other of position.account.positions.values()) {
    const { risk, legs } = other;
    equity += legs.quote;
    if (other === position || legs.base === 0n) continue;
    const terms = assetTermsOf(risk, nowNs);
    equity += equityLeg(terms, legs.base, 'mark');
    notional += magnitude(legAtMark(terms, legs.base));
  }
  return { equity, notional };
}

/** The score as a double: wrong by far less than ROUGH_ERROR, and beyond all others where there is no equity or no cost. */
function roughScoreOf({ profit, entry, notional, equity }: AdlStanding): number {
  if (equity <= 0n || entry === 0n) return Number.POSITIVE_INFINITY;
  return (Number(notional) / Number(equity)) * (Number(profit) / Number(entry));
}

/** Whether the quote leg can take what the whole position is closed for. */
export function fits({ legs }: PositionSlot, { price, market }: Pick<ClosingTarget, 'price' | 'market'>): boolean {
  const notional = notional18(price, wholeLots(legs.base, market.definition), market.definition);
  return magnitude(legs.quote) + notional <= AMOUNT18_MAX;
}

/** Adds a position to the first ones if it is a counterparty, and its score is high enough. */
export function offer(
  state: ClearingState,
  { position, terms, price, market }: ClosingTarget,
  { slot, first }: { readonly slot: PositionSlot; readonly first: Counterparty[] },
  nowNs: TimestampNs,
): void {
  const { legs, user, subAccount } = slot;
  // mutant: adl-opposite-side
  if (legs.base === 0n || legs.base < 0n === position.legs.base < 0n || isBackstop(state, user)) return;
  const profit = positionProfit(terms, legs);
  // mutant: adl-profitable
  if (profit <= 0n) return;
  const value = legs.base < 0n ? profit - legs.entry : profit + legs.entry;
  const standing = { profit, entry: legs.entry, ...worthOf(slot, value, nowNs), user, subAccount };
  const roughScore = roughScoreOf(standing);
  const last = first[ADL_TRADES_MAX - 1];
  if (last !== undefined && roughScore < last.roughScore * (1 - ROUGH_ERROR)) return;
  if (fits(slot, { price, market })) insert(first, { slot, standing, roughScore });
}

/** The first counterparties among these positions, at most ADL_TRADES_MAX, the first to be closed first. */
export function ranked(
  state: ClearingState,
  target: ClosingTarget,
  slots: Iterable<PositionSlot>,
  nowNs: TimestampNs,
): readonly Counterparty[] {
  const first: Counterparty[] = [];
  for (const slot of slots) offer(state, target, { slot, first }, nowNs);
  return first;
}

/** Their positions in the asset of a target; those that are gone are left out. */
export function* positionsOf(
  state: ClearingState,
  { position }: ClosingTarget,
  accounts: readonly AccountPlace[],
): Generator<PositionSlot> {
  for (const { user, subAccount } of accounts) {
    const slot = state.users.get(user)?.subAccounts.get(subAccount)?.positions.get(position.asset);
    if (slot !== undefined) yield slot;
  }
}

/** Keeps the list in order and within its bound. */
function insert(first: Counterparty[], one: Counterparty): void {
  let [from, to] = [0, first.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareAdl((first[middle] as Counterparty).standing, one.standing) < 0) from = middle + 1;
    else to = middle;
  }
  if (from === ADL_TRADES_MAX) return;
  first.splice(from, 0, one);
  if (first.length > ADL_TRADES_MAX) first.pop();
}
