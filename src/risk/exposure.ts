/**
 * What open orders may cost an account (service spec 2.8, MRG-12 to MRG-24, AMB-49, AMB-50).
 *
 *   buy requirement  = notional × (1 − CF·im) + taker fee                    the buy pressure of the service spec
 *   sell requirement = notional × ((2−LF)(2−im) − 1) + taker fee             the sell pressure
 *   capacity         = initial surplus − max(Σ buys, Σ sells) over all books of the sub-account
 *
 * Notional and fee are of the lots that increase risk only: the position's opposite base is an offset that orders use up
 * in the order of their admission (exposure-queue.ts). Reduce-only orders add nothing and use nothing of that offset: they are
 * never more than the position (MRG-22, MON-09). One side of one book is one product and one rounding, up at 10^-18 USD.
 *
 * What one order may still add:
 *
 *   limit             lots left, each at its limit price
 *   market, base      lots left, at the higher of oracle and mark, or what is left of its cap
 *   market, quote     what is left of its target, for the lots that it buys at that price, or its base cap
 *
 * Not here: which orders an account has; that orders which wait for a trigger, and spot sells, add nothing (AMB-28).
 */
import { larger, mulDivCeil, notional18, powerOfTen, quantity18, RATE_SCALE } from '../core/arithmetic.ts';
import { RAW_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_FLAG, ORDER_KIND, type OrderKind, SIDE, type Side, TIF, type Tif } from '../core/order-terms.ts';
import { type Amount18, ONE_18, type RawQuantity } from '../core/units.ts';
import { type AssetTerms, WEIGHT_ONE } from './asset-terms.ts';
import { type Exposure, NO_EXPOSURE } from './exposure-queue.ts';
import { quote18, type Spender } from './reservation.ts';
import { FACTOR_ONE } from './risk-terms.ts';

/** A rate in 1e-6 at the scale of a weight. */
const RATE_WEIGHT = WEIGHT_ONE / RATE_SCALE;
const ONE_LOT = 1 as RawQuantity;
const LOTS_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** The share of a notional that an order of the side requires, at the scale WEIGHT_ONE; never negative. */
function requirementWeight(side: Side, { risk, imFactor, prices }: AssetTerms): bigint {
  if (side === SIDE.sell) return risk.liabilityWeight * (2n * FACTOR_ONE - imFactor) - WEIGHT_ONE;
  return WEIGHT_ONE - (prices.isBroken ? 0n : risk.collateralFactor) * imFactor;
}

/** Margin requirement of the notional that one side of one book counts, the taker fee included. @param takerRate 1e-6. */
export function requirementOf(side: Side, notional: bigint, terms: AssetTerms, takerRate: number): Amount18 {
  const weight = requirementWeight(side, terms) + BigInt(takerRate) * RATE_WEIGHT;
  // mutant: requirement-rounding
  return mulDivCeil(notional, weight, WEIGHT_ONE) as Amount18;
}

/** Price that a market order is taken to trade at: the higher of the two (AMB-49). */
export function marketPrice({ prices }: AssetTerms): Amount18 {
  return larger(prices.oracle, prices.mark);
}

/**
 * What a released order may still add to its account's exposure.
 *
 * @param lots in force, filled ones included, dropped ones not; 0 of an order that is sized in quote and has no base cap.
 * @param price what a market order is taken to trade at, USD, 18 decimals.
 */
export function exposureOf(
  order: Omit<Spender, 'side' | 'budget'>,
  lots: number,
  price: bigint,
  market: MarketDefinition,
): Exposure {
  const { kind, amount } = order;
  const left = lots - order.filledQuantity;
  if (kind === ORDER_KIND.limit) {
    if (left <= 0) return NO_EXPOSURE;
    return { lots: left, lotPrice: notional18(order.price, ONE_LOT, market), total: null, other: null };
  }
  if (kind === ORDER_KIND.marketBase && left <= 0) return NO_EXPOSURE;
  const lotValue = mulDivCeil(quantity18(ONE_LOT, market.quantityDecimals), price, ONE_18);
  if (amount === 0) {
    const total = mulDivCeil(quantity18(Math.max(0, left) as RawQuantity, market.quantityDecimals), price, ONE_18);
    return { lots: left, lotPrice: 0n, total, other: null };
  }
  const total = quote18(amount, market) - order.filledNotional;
  if (total <= 0n) return NO_EXPOSURE;
  return { lots: left > 0 ? left : lotsFor(total, lotValue), lotPrice: 0n, total, other: null };
}

/** At least one: an order that buys less than a lot at this price may find a better one. */
function lotsFor(amount: bigint, lotValue: bigint): number {
  const lots = lotValue === 0n ? LOTS_MAX : amount / lotValue;
  return lots < 1n ? 1 : Number(lots > LOTS_MAX ? LOTS_MAX : lots);
}

/** Lots of the other side's position that orders of `side` may reduce. @param base signed, 18 decimals. */
export function offsetLots(side: Side, base: bigint, quantityDecimals: number): number {
  const opposite = side === SIDE.buy ? -base : base;
  if (opposite <= 0n) return 0;
  // No order has more lots than that, so a larger offset means the same.
  return Math.min(Number(opposite / powerOfTen(18 - quantityDecimals)), RAW_MAX);
}

/** Whether an order takes at once or ends: immediate or cancel, fill or kill, every market order (TIF-09, MON-09). */
export function takesAtOnce({ kind, tif }: { readonly kind: OrderKind; readonly tif: Tif }): boolean {
  return kind !== ORDER_KIND.limit || (tif !== TIF.gtc && tif !== TIF.gtd);
}

/** Which orders of an account, market and side net as one queue. */
export const EXPOSURE_BOOK = {
  /** A spot sell: it turns collateral into USD, which counts more. */
  none: 0,
  /** Nets against nothing (AMB-47). */
  spotBuys: 1,
  margin: 2,
  /** Reduce-only, and may rest: adds no exposure. */
  reduceOnly: 3,
  /** Reduce-only, and takes at once: adds no exposure. */
  onArrival: 4,
} as const;
type ExposureBook = (typeof EXPOSURE_BOOK)[keyof typeof EXPOSURE_BOOK];

/** The book in which an order of a margin-type account counts. */
export function exposureBook(
  order: { readonly flags: number; readonly side: Side } & Parameters<typeof takesAtOnce>[0],
): ExposureBook {
  if ((order.flags & ORDER_FLAG.reduceOnly) !== 0) {
    return takesAtOnce(order) ? EXPOSURE_BOOK.onArrival : EXPOSURE_BOOK.reduceOnly;
  }
  if ((order.flags & ORDER_FLAG.isSpot) === 0) return EXPOSURE_BOOK.margin;
  return order.side === SIDE.buy ? EXPOSURE_BOOK.spotBuys : EXPOSURE_BOOK.none;
}

/** What is left for more risk, also `available_margin` (MRG-16). */
export function capacityOf(initialSurplus: Amount18, buys: Amount18, sells: Amount18): Amount18 {
  return (initialSurplus - larger(buys, sells)) as Amount18;
}
