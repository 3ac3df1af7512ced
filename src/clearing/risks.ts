/** What there is to lend of an asset (MON-10): in vaults, and by the faucet, which stands for deposits in dev and test. */
export function riskHoldingsOf(state: ClearingState, asset: AssetId): Amount18 {
  const totals = state.totals.get(asset);
  // More than what messages can hold is enough for every short.
  return totals === undefined ? ZERO_18 : (smaller(totals.vaultHoldings - totals.faucet, AMOUNT18_MAX) as Amount18);
}

/**
 * What margin needs of each asset: risk row, prices with their breakers, and sums over all users.
 *
 *   risk row ─┐
 *   oracle ───┼─▶ terms of a leg, made again when the time, a price, the row or the factor changes
 *   mark ─────┤
 *   interest ─┘
 *
 * Not here: the rules of breakers and factors (src/risk).
 */
import { smaller } from '../core/arithmetic.ts';
import { must } from '../core/assert.ts';
import { type AssetId, USD } from '../core/ids.ts';
import { AMOUNT18_MAX } from '../core/limits.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../core/units.ts';
import { type AssetTerms, assetTerms, termsInForce } from '../risk/asset-terms.ts';
import type { Interest } from '../risk/caps.ts';
import { type AssetPrices, assetPrices, MARK_STALE_NS, nextSource, type PriceSource } from '../risk/prices.ts';
import { imFactor, NO_ROW_TERMS } from '../risk/risk-terms.ts';
import type { Effect } from './effects.ts';
import { WatchList } from './liquidation/watch-list.ts';
import type { CountedMatch, MarkRow, PriceRow } from './rows.ts';
import type { ClearingMarket, ClearingState, RiskSlot } from './state.ts';

const NEVER = -1n as TimestampNs;

export function riskSlot(state: ClearingState, asset: AssetId): RiskSlot {
  let slot = state.risks.get(asset);
  if (slot === undefined) {
    slot = {
      asset,
      risk: NO_ROW_TERMS,
      oracle: null,
      isPricedSinceStart: false,
      mark: null,
      markMinimum: ZERO_18,
      credits: ZERO_18,
      borrows: ZERO_18,
      open: new Set(),
      collateral: ZERO_18,
      terms: null,
      termsNs: NEVER,
      watchers: new WatchList(),
    };
    state.risks.set(asset, slot);
  }
  return slot;
}

/** What all users owe of an asset: negative legs, as a positive amount. */
export function borrowsOf(state: ClearingState, asset: AssetId): Amount18 {
  return asset === USD ? state.usdBorrows : (state.risks.get(asset)?.borrows ?? ZERO_18);
}

/** An asset row is in force, or the settings that its terms are made with. */
export function placeRisk(
  state: ClearingState,
  asset: AssetId,
  { risk, markMinimum }: Pick<RiskSlot, 'risk' | 'markMinimum'>,
): void {
  const slot = riskSlot(state, asset);
  slot.risk = risk;
  slot.markMinimum = markMinimum;
  slot.terms = null;
  state.detection.weightsChanged(slot);
}

/** A price row is in force. */
export function placePrice(state: ClearingState, row: PriceRow): void {
  state.prices.set(row.asset, row);
  const slot = riskSlot(state, row.asset);
  slot.oracle = sourceOf(row);
  slot.isPricedSinceStart = row.isSinceStart;
  slot.terms = null;
  state.detection.assetChanged(slot);
}

/** The oracle as a source. */
export function sourceOf({ price, publishNs, isTripped, goodUpdates }: PriceRow): PriceSource {
  return { price, timeNs: publishNs, isTripped, goodUpdates };
}

export function placeMark(state: ClearingState, { asset, ...mark }: MarkRow): void {
  const slot = riskSlot(state, asset);
  slot.mark = mark;
  slot.terms = null;
}

export function markRow({ asset, mark }: RiskSlot): MarkRow {
  return { asset, ...must(mark, 'a mark that was set') };
}

/**
 * Counts a confirmed fill to its match. One taker's fills in one match count together, so that a large order may be
 * filled in small pieces.
 *
 * @returns whether so much was traded that the price may be a mark (MON-06).
 */
export function isEnoughForMark(
  state: ClearingState,
  market: ClearingMarket,
  { markMinimum }: RiskSlot,
  { takerOrder, timeNs, notional }: CountedMatch,
): boolean {
  if (markMinimum === 0n) return true;
  const { match } = market;
  const isSame = match.takerOrder === takerOrder && match.timeNs === timeNs;
  // mutant: match-counts-together
  const sum = isSame ? match.notional + notional : notional;
  // More than what a row holds is enough in any case.
  market.match = { takerOrder, timeNs, notional: smaller(sum, AMOUNT18_MAX) as Amount18 };
  state.dirty.markets.add(market);
  return sum >= markMinimum;
}

/** A trade was confirmed that is large enough: the mark is its price (AMB-43). */
export function moveMark(
  state: ClearingState,
  slot: RiskSlot,
  price: Amount18,
  matchedNs: TimestampNs,
  nowNs: TimestampNs,
): void {
  const recoveryUpdates = state.settings.breaker_recovery_updates;
  const { terms, termsNs } = slot;
  changeMark(state, slot, nextSource(slot.mark, price, matchedNs, { staleNs: MARK_STALE_NS, recoveryUpdates, nowNs }));
  // Most trades are at the price of the one before, at which the terms were made.
  if (terms === null || termsNs !== nowNs) return;
  const prices = assetPrices(slot.oracle, slot.mark, slot.risk.markRule, nowNs);
  if (samePrices(terms.prices, prices)) slot.terms = terms;
}

function samePrices(a: AssetPrices, b: AssetPrices): boolean {
  return a.oracle === b.oracle && a.mark === b.mark && a.isBroken === b.isBroken;
}

export function changeMark(state: ClearingState, slot: RiskSlot, mark: PriceSource): void {
  slot.mark = mark;
  slot.terms = null;
  state.detection.assetChanged(slot);
  state.dirty.marks.add(slot);
  state.touchedRisks.add(slot);
}

/** What a leg of the asset is worth now. */
export function assetTermsOf(slot: RiskSlot, nowNs: TimestampNs): AssetTerms {
  if (slot.terms !== null && slot.termsNs === nowNs) return slot.terms;
  const terms = termsInForce(slot.risk, slot, slot, nowNs);
  slot.terms = terms;
  slot.termsNs = nowNs;
  return terms;
}

/** What it would be worth with other sums of legs. */
export function termsWith(slot: RiskSlot, interest: Interest, nowNs: TimestampNs): AssetTerms {
  const terms = assetTermsOf(slot, nowNs);
  if (slot.risk.maxSpotInterest === null || terms.prices.isBroken) return terms;
  const factor = imFactor(slot.risk, interest);
  return factor === terms.imFactor ? terms : assetTerms(slot.risk, terms.prices, factor);
}

/** The sums of legs changed. The terms stay unless the factor stepped. */
export function setInterest(state: ClearingState, slot: RiskSlot, { credits, borrows }: Interest): void {
  slot.credits = credits as Amount18;
  slot.borrows = borrows as Amount18;
  state.touchedRisks.add(slot);
  const { terms, risk } = slot;
  if (terms === null || risk.maxSpotInterest === null || terms.prices.isBroken) return;
  if (imFactor(risk, slot) !== terms.imFactor) slot.terms = null;
}

/** Publishes the margin figures of the markets that the batch touched. */
export function flushTouchedRisks(state: ClearingState, effects: Effect[]): void {
  for (const slot of state.touchedRisks) {
    const market = must(state.marketOfAsset.get(slot.asset), 'trades and legs are of assets with a market');
    const { mark, credits, borrows } = slot;
    const { marketIndex } = market.definition;
    const holdings = riskHoldingsOf(state, slot.asset);
    effects.push({ kind: 'marketRiskChanged', marketIndex, mark, credits, borrows, holdings });
  }
  state.touchedRisks.clear();
}
