/**
 * Figures of liquidation, backstop and auto-deleveraging (service spec 3.6, LIQ-06 to LIQ-09, BKS-03, BKS-05, ADL-01 to
 * ADL-09, AMB-56 to AMB-62, AMB-126): exact, pure, and without any state.
 *
 *   order of a liquidation, clip   reference ─▶ price to the tick ─▶ quantity in lots
 *   take-over, posting             collateral that lifts the surplus to 2 % of the requirement at both prices
 *   auto-deleveraging              standing of each counterparty ─▶ rank; price; lots that restore the 2 %
 *
 * Prices and quantities are raw integers of the market, all other figures are bigint with 18 decimals.
 *
 * Not here: accounts at risk (at-risk.ts); who is liquidated and when, and what is booked (src/clearing/liquidation).
 */
import { larger, mulDivCeil, mulDivFloor, notional18, powerOfTen, quantity18, smaller } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import { RAW_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, type TimestampNs } from '../core/units.ts';
import type { InitialSums, MarginSums } from './account.ts';
import { type AssetTerms, equityLeg, legAtMark, type PriceSources, weighedLeg } from './asset-terms.ts';
import { type Legs, magnitude } from './position.ts';
import { isStale, isUsable, ORACLE_STALE_NS, usableMark } from './prices.ts';
import type { RiskTerms } from './risk-terms.ts';

/** A weight of 1 in percent, and the midpoint of two of them. */
const PERCENT_ONE = 100n;
const MIDPOINT = 2n;
/** Surplus over requirement that a take-over and auto-deleveraging leave, in percent (AMB-58). */
const BUFFER_PERCENT = 2n;

type Decimals = Pick<MarketDefinition, 'priceDecimals' | 'quantityDecimals'>;

// ---- the order of a liquidation, and a clip

/**
 * The price that an order of the node is derived from (LIQ-07 to LIQ-09). That is the oracle alone while it is usable and at
 * most `mark_band_age_ms` old (decision 0045): a trader who pays himself would choose, within the band of the mark, how far the
 * node reaches into his own orders, and the account would pay. Of an older oracle and the mark in use it is the usable one that
 * reaches deeper into the book, the lower for a sell and the higher for a buy. A source is usable while it is neither stale nor
 * tripped; a mark that recovers is none. A sale is never priced without an oracle: then the asset is circuit-broken collateral
 * (AMB-126).
 *
 * @param side of the order. @returns USD for one unit, 18 decimals; null without a usable price: no order.
 */
export function liquidationReference(
  side: Side,
  { oracle, mark, risk }: PriceSources & { readonly risk: Pick<RiskTerms, 'markRule'> },
  nowNs: TimestampNs,
): Amount18 | null {
  const usable = isUsable(oracle, ORACLE_STALE_NS, nowNs) ? oracle : null;
  // mutant: liquidation-oracle-alone
  if (usable !== null && !isStale(usable.timeNs, risk.markRule.bandAgeNs, nowNs)) return usable.price;
  const fromOracle = usable?.price ?? null;
  const fromMark = usableMark(oracle, mark, risk.markRule, nowNs);
  if (fromOracle === null) return side === SIDE.buy ? fromMark : null;
  if (fromMark === null) return fromOracle;
  // mutant: liquidation-reference
  return side === SIDE.buy ? larger(fromOracle, fromMark) : smaller(fromOracle, fromMark);
}

/**
 * The limit price of an order of the node: the midpoint of the reference R and R scaled by its weight (LIQ-06, AMB-56).
 * Sell R(1 + CF)/2, floored to the tick, and at least one tick; buy R(3 − LF)/2, ceiled to the tick, and at most the
 * highest price there is.
 *
 * @param reference of `liquidationReference`, above zero. @returns a multiple of the tick.
 */
export function liquidationPrice(
  side: Side,
  reference: Amount18,
  { collateralFactor, liabilityWeight }: RiskTerms,
  { priceDecimals, tickSize }: Pick<MarketDefinition, 'priceDecimals' | 'tickSize'>,
): RawPrice {
  assert(reference > 0n, 'a reference is above zero');
  const isBuy = side === SIDE.buy;
  const tick = BigInt(tickSize) * powerOfTen(18 - priceDecimals);
  // The literal reading of the service spec has LF, 2 − weight, in place of the weight here (AMB-56).
  const weight = PERCENT_ONE + (isBuy ? liabilityWeight : collateralFactor);
  const round = isBuy ? mulDivCeil : mulDivFloor;
  // mutant: liquidation-price-tick
  const ticks = round(reference, weight, MIDPOINT * PERCENT_ONE * tick);
  const ticksMax = BigInt(Math.floor(RAW_MAX / tickSize));
  return (Number(smaller(larger(ticks, 1n), ticksMax)) * tickSize) as RawPrice;
}

/** Whole lots of an amount of the asset, at most what one order can hold; 0 for less than a lot. @param amount signed. */
export function wholeLots(amount: Amount18, { quantityDecimals }: Pick<Decimals, 'quantityDecimals'>): RawQuantity {
  const lots = magnitude(amount) / powerOfTen(18 - quantityDecimals);
  return Number(smaller(lots, BigInt(RAW_MAX))) as RawQuantity;
}

interface ClipTerms {
  /** Amount of the asset as it was taken over, and what is left of it; signed, 18 decimals. */
  readonly taken: Amount18;
  readonly open: Amount18;
  /** Settings `backstop_clip_fraction` and `backstop_clip_usd`, 18 decimals, above zero. */
  readonly fraction: bigint;
  readonly usd: bigint;
  /** The price that `liquidationReference` gives, above zero. */
  readonly reference: Amount18;
}

/**
 * Size of one clip of the backstop (BKS-05, AMB-60): the fraction of the amount as taken over, up to the lot, but for no more
 * USD than the setting, down to the lot; at least one lot, and never more than what is left.
 *
 * @returns lots; 0 when less than one lot is left.
 */
export function clipQuantity({ taken, open, fraction, usd, reference }: ClipTerms, decimals: Decimals): RawQuantity {
  assert(fraction > 0n && usd > 0n && reference > 0n, 'a clip has a size');
  const lot = powerOfTen(18 - decimals.quantityDecimals);
  const byFraction = mulDivCeil(magnitude(taken), fraction, ONE_18 * lot);
  const byUsd = mulDivFloor(usd, ONE_18, reference * lot);
  // mutant: clip-bound
  const clip = larger(smaller(byFraction, byUsd), 1n);
  return Number(smaller(clip, BigInt(wholeLots(open, decimals)))) as RawQuantity;
}

// ---- the buffer above the initial margin

/** Equity and initial surplus at both prices: `MarginSums` has them. */
type BufferSums = Pick<MarginSums, 'equityOracle' | 'equityMark' | 'initialOracle' | 'initialMark'>;

/** Surplus below 2 % of the requirement, times 100: negative where there is more. Requirement = equity − surplus (AMB-48). */
function bufferGap(equity: bigint, surplus: bigint): bigint {
  return BUFFER_PERCENT * (equity - surplus) - PERCENT_ONE * surplus;
}

/** Whether the surplus is at least 2 % of the requirement at both prices (BKS-03, ADL-05, AMB-58). */
export function hasBuffer({ equityOracle, equityMark, initialOracle, initialMark }: BufferSums): boolean {
  return bufferGap(equityOracle, initialOracle) <= 0n && bufferGap(equityMark, initialMark) <= 0n;
}

/**
 * USD that lift the surplus to 2 % of the requirement at the worse price: what a take-over credits, and what the backstop
 * posts as a last resort (AMB-58, AMB-60). Ceiled at 10^-18; 0 where the buffer is there.
 */
export function collateralToBuffer({ equityOracle, equityMark, initialOracle, initialMark }: BufferSums): Amount18 {
  const gap = larger(bufferGap(equityOracle, initialOracle), bufferGap(equityMark, initialMark));
  // mutant: buffer-credit
  return larger(mulDivCeil(gap, 1n, PERCENT_ONE), 0n) as Amount18;
}

/** Whether the account stands below its initial margin at either price: then the backstop escalates (BKS-06). */
export function isBelowInitialMargin({
  initialOracle,
  initialMark,
}: Pick<InitialSums, 'initialOracle' | 'initialMark'>): boolean {
  return initialOracle < 0n || initialMark < 0n;
}

// ---- auto-deleveraging

/**
 * Price of a trade of auto-deleveraging: the lower of oracle and mark when the backstop is short, the higher when it is long
 * (ADL-08, ADL-09), to the market's finest price, floored for a short and ceiled for a long; no tick binds it.
 *
 * @param side of the backstop in that trade: it buys when it is short.
 */
export function adlPrice(
  side: Side,
  { oracle, mark }: { readonly oracle: Amount18; readonly mark: Amount18 },
  { priceDecimals }: Pick<Decimals, 'priceDecimals'>,
): RawPrice {
  const unit = powerOfTen(18 - priceDecimals);
  // mutant: adl-price-side
  const raw =
    side === SIDE.buy ? mulDivFloor(smaller(oracle, mark), 1n, unit) : mulDivCeil(larger(oracle, mark), 1n, unit);
  return Number(smaller(larger(raw, 1n), BigInt(RAW_MAX))) as RawPrice;
}

/** One counterparty of the backstop by its confirmed state. USD, 18 decimals. */
export interface AdlStanding {
  /** The profit of the position at the mark, by average cost and without fees: above zero (ADL-01, decision on average cost). */
  readonly profit: bigint;
  /** What the open base was bought or sold for, not negative. */
  readonly entry: bigint;
  /** Of the sub-account at the mark: Σ |base leg| × mark, and equity. */
  readonly notional: bigint;
  readonly equity: bigint;
  readonly user: string;
  readonly subAccount: number;
}

/** Profit of a position at the mark over its average cost, fees apart; negative for a loss (ADL-01). */
export function positionProfit(terms: AssetTerms, { base, entry }: Pick<Legs, 'base' | 'entry'>): bigint {
  const value = legAtMark(terms, base);
  return base < 0n ? value + entry : value - entry;
}

/**
 * The order of auto-deleveraging (ADL-03, AMB-59): higher score = leverage × profit fraction = notional / equity × profit /
 * entry first, compared as fractions without a division; who has no equity comes before all others. Ties: the larger notional, then
 * user, then index.
 *
 * @returns below zero when `a` comes first; 0 only for the same sub-account.
 */
export function compareAdl(a: AdlStanding, b: AdlStanding): number {
  return compareScore(a, b) || compareTies(a, b);
}

function compareScore(a: AdlStanding, b: AdlStanding): number {
  if (a.equity <= 0n || b.equity <= 0n) return Number(b.equity <= 0n) - Number(a.equity <= 0n);
  // mutant: adl-score
  const ofA = a.notional * a.profit * b.equity * b.entry;
  const ofB = b.notional * b.profit * a.equity * a.entry;
  return descending(ofA, ofB);
}

function compareTies(a: AdlStanding, b: AdlStanding): number {
  if (a.notional !== b.notional) return descending(a.notional, b.notional);
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return a.subAccount - b.subAccount;
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}

/** A position of the backstop that is to be closed at one price. */
interface Closing {
  readonly legs: Legs;
  readonly terms: AssetTerms;
  /** The price that `adlPrice` gives. */
  readonly price: RawPrice;
}

/**
 * The fewest lots of a position that have to be closed until the account has its buffer (ADL-05, AMB-59: rounded up to the
 * lot). At an ADL price each lot lifts the surplus and lowers the requirement, so the search by halves finds the fewest.
 *
 * @param sums of the whole account. @param lotsMax what can be closed at most, 0 or more.
 * @returns 0 where the buffer is there; `lotsMax` where not even that restores it.
 */
export function lotsToBuffer(
  sums: BufferSums,
  closing: Closing,
  decimals: Decimals,
  lotsMax: RawQuantity,
): RawQuantity {
  const isEnough = (lots: number): boolean => hasBuffer(sumsAfter(sums, closing, lots as RawQuantity, decimals));
  // mutant: adl-partial
  let [few, enough] = [-1, lotsMax as number];
  while (enough - few > 1) {
    const middle = few + Math.floor((enough - few) / 2);
    if (isEnough(middle)) enough = middle;
    else few = middle;
  }
  return enough as RawQuantity;
}

/** The sums of the account after so many lots of the position were closed without a fee. */
export function sumsAfter(
  sums: BufferSums,
  { legs, terms, price }: Closing,
  lots: RawQuantity,
  decimals: Decimals,
): BufferSums {
  const sign = legs.base < 0n ? 1n : -1n;
  const base = legs.base + sign * quantity18(lots, decimals.quantityDecimals);
  const paid = -sign * notional18(price, lots, decimals);
  return {
    equityOracle: sums.equityOracle + paid + equityLeg(terms, base, 'oracle') - equityLeg(terms, legs.base, 'oracle'),
    equityMark: sums.equityMark + paid + equityLeg(terms, base, 'mark') - equityLeg(terms, legs.base, 'mark'),
    initialOracle:
      sums.initialOracle +
      paid +
      weighedLeg(terms, base, 'initialOracle') -
      weighedLeg(terms, legs.base, 'initialOracle'),
    initialMark:
      sums.initialMark + paid + weighedLeg(terms, base, 'initialMark') - weighedLeg(terms, legs.base, 'initialMark'),
  };
}
