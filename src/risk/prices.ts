/**
 * Prices with their breakers (service spec 3.6.10, CB-01 to CB-05, AMB-43, AMB-44).
 *
 *   oracle   what the operator published, stale 1 h after its publish time
 *   mark     price of the market's last confirmed trade, stale 60 s after its match time
 *
 *   healthy ──an update comes when the last one is stale──▶ tripped ──enough good updates in a row──▶ healthy
 *
 * A source is usable while it is neither stale nor tripped. Without a usable mark the oracle stands in for it. A usable one is
 * taken into a band around the oracle of that moment, while the oracle is young enough (MON-06): whatever two accounts of one
 * trader pay each other, it moves what others are worth by no more than the band. The asset is circuit-broken when its oracle is not usable or there never was one: then its collateral counts nothing, and
 * borrows count at the last stored price, however old it is.
 *
 * Staleness is a matter of time alone and needs no timer: that a source was stale is found when its next update comes.
 */
import { larger, mulDivCeil, mulDivFloor, smaller } from '../core/arithmetic.ts';
import type { ShownPrices } from '../core/market-figures.ts';
import { type Amount18, ONE_18, type TimestampNs, ZERO_18 } from '../core/units.ts';

/** One source: its last accepted value. */
export interface PriceSource {
  readonly price: Amount18;
  /** When it was published, or the trade matched. */
  readonly timeNs: TimestampNs;
  readonly isTripped: boolean;
  /** Good updates in a row since it tripped; 0 when it is healthy. */
  readonly goodUpdates: number;
}

/** An oracle price is stale when older than an hour, a mark when older than a minute (CB-01, CB-02). */
export const ORACLE_STALE_NS = 3_600_000_000_000n;
export const MARK_STALE_NS = 60_000_000_000n;
/** A stored price is not shown any more after two hours (LIQ-10). */
export const STORED_PRICE_NS = 7_200_000_000_000n;

export function isStale(timeNs: TimestampNs, staleNs: bigint, nowNs: TimestampNs): boolean {
  return nowNs - timeNs > staleNs;
}

interface SourceRule {
  readonly staleNs: bigint;
  /** Good updates in a row that heal a tripped source, at least 1 (setting `breaker_recovery_updates`). */
  readonly recoveryUpdates: number;
  readonly nowNs: TimestampNs;
}

/**
 * The source after an accepted update. The first value of a source is healthy; an update counts towards recovery when it
 * is fresh and within the limit of the one before, and any other starts the count anew (CB-03, AMB-44).
 */
export function nextSource(
  last: PriceSource | null,
  price: Amount18,
  timeNs: TimestampNs,
  { staleNs, recoveryUpdates, nowNs }: SourceRule,
): PriceSource {
  const wasUsable = last === null || !(last.isTripped || isStale(last.timeNs, staleNs, nowNs));
  if (wasUsable) return { price, timeNs, isTripped: false, goodUpdates: 0 };
  const isFresh = !isStale(timeNs, staleNs, nowNs);
  const follows = last.goodUpdates > 0 && timeNs - last.timeNs <= staleNs;
  const goodUpdates = isFresh ? (follows ? last.goodUpdates + 1 : 1) : 0;
  // mutant: breaker-recovery
  if (goodUpdates >= recoveryUpdates) return { price, timeNs, isTripped: false, goodUpdates: 0 };
  return { price, timeNs, isTripped: true, goodUpdates };
}

/** A node that starts trusts no mark before fresh ones came (AMB-110). */
export function tripped(source: PriceSource): PriceSource {
  return { ...source, isTripped: true, goodUpdates: 0 };
}

/** Whether the source can be used now. */
export function isUsable(source: PriceSource | null, staleNs: bigint, nowNs: TimestampNs): source is PriceSource {
  return source !== null && !source.isTripped && !isStale(source.timeNs, staleNs, nowNs);
}

/** How far a mark may be from the oracle, and for how long the oracle binds it (MON-06). */
export interface MarkRule {
  /** Fraction of the oracle, 18 decimals, at least 0 and below 1; null: the operator wants no band. */
  readonly band: bigint | null;
  /** An oracle that was published longer ago binds nothing. */
  readonly bandAgeNs: bigint;
}

/**
 * The mark in use for a last trade at `trade`: the nearest price within the band. Its ends are rounded into it, so that a mark
 * is never further from the oracle than the fraction says.
 */
export function markInUse(trade: Amount18, oracle: PriceSource | null, rule: MarkRule, nowNs: TimestampNs): Amount18 {
  const { band, bandAgeNs } = rule;
  // mutant: mark-band-age
  if (band === null || oracle === null || isStale(oracle.timeNs, bandAgeNs, nowNs)) return trade;
  const highest = mulDivFloor(oracle.price, ONE_18 + band, ONE_18);
  const lowest = mulDivCeil(oracle.price, ONE_18 - band, ONE_18);
  // mutant: mark-band
  return larger(smaller(trade, highest), lowest) as Amount18;
}

/** The usable mark as it is in use; null without one. */
export function usableMark(
  oracle: PriceSource | null,
  mark: PriceSource | null,
  rule: MarkRule,
  nowNs: TimestampNs,
): Amount18 | null {
  // mutant: stale-mark
  return isUsable(mark, MARK_STALE_NS, nowNs) ? markInUse(mark.price, oracle, rule, nowNs) : null;
}

/** How a source stands (operator-api.md 5): `recovering` has good updates, but not enough of them yet. */
export type SourceState = 'none' | 'healthy' | 'stale' | 'recovering';

export function sourceState(source: PriceSource | null, staleNs: bigint, nowNs: TimestampNs): SourceState {
  if (source === null) return 'none';
  if (isStale(source.timeNs, staleNs, nowNs)) return 'stale';
  if (!source.isTripped) return 'healthy';
  return source.goodUpdates === 0 ? 'stale' : 'recovering';
}

/** What margin takes an asset's two prices for, in USD for one unit, 18 decimals. */
export interface AssetPrices {
  readonly oracle: Amount18;
  /** The oracle's where there is no usable mark. */
  readonly mark: Amount18;
  readonly isBroken: boolean;
  /** The last oracle price of a broken asset, by which its credits may shield an account (MON-11); 0 after two hours. */
  readonly shield: Amount18;
}

/** USD is 1 by definition (MRG-02). */
export const USD_PRICES: AssetPrices = { oracle: ONE_18, mark: ONE_18, isBroken: false, shield: ZERO_18 };

/** A price that nobody but traders gave shields nothing: an owner could set it himself. */
function shieldPrice(oracle: PriceSource | null, nowNs: TimestampNs): Amount18 {
  // mutant: shield-price-age
  return oracle === null || isStale(oracle.timeNs, STORED_PRICE_NS, nowNs) ? ZERO_18 : oracle.price;
}

/**
 * The prices in force at `nowNs`. An asset that never had an oracle price is broken; a usable mark, or else the last
 * one, stands in for the price of its borrows, and 0 where there never was any.
 */
export function assetPrices(
  oracle: PriceSource | null,
  mark: PriceSource | null,
  rule: MarkRule,
  nowNs: TimestampNs,
): AssetPrices {
  const isBroken = !isUsable(oracle, ORACLE_STALE_NS, nowNs);
  const stored = oracle?.price ?? mark?.price ?? ZERO_18;
  const shield = isBroken ? shieldPrice(oracle, nowNs) : ZERO_18;
  return { oracle: stored, mark: usableMark(oracle, mark, rule, nowNs) ?? stored, isBroken, shield };
}

/**
 * The mark in use: a usable last trade, taken into its band (MON-06), or else the oracle (AMB-43); the last trade, usable or
 * not, where there never was an oracle, as for margin. Nothing is shown that is older than two hours (LIQ-10).
 */
export function shownPrices(
  oracle: PriceSource | null,
  trade: PriceSource | null,
  rule: MarkRule,
  nowNs: TimestampNs,
): ShownPrices {
  const stored = shown(oracle, nowNs);
  const last = shown(trade, nowNs);
  const isTrade = last !== null && (isUsable(trade, MARK_STALE_NS, nowNs) || oracle === null);
  // mutant: shown-mark
  const mark = isTrade
    ? { ...last, price: markInUse(last.price, oracle, rule, nowNs), source: 'trade' as const }
    : stored && { ...stored, source: 'oracle' as const };
  return { mark, oracle: stored };
}

function shown(source: PriceSource | null, nowNs: TimestampNs): ShownPrices['oracle'] {
  if (source === null || isStale(source.timeNs, STORED_PRICE_NS, nowNs)) return null;
  return { price: source.price, timeNs: source.timeNs };
}
