/**
 * What open orders may cost an account (service spec 2.8, MRG-12 to MRG-24, AMB-49, AMB-50).
 *
 *   buy pressure  = notional × (1 − CF·im) + taker fee
 *   sell pressure = notional × ((2−LF)(2−im) − 1) + taker fee
 *   capacity      = initial surplus − max(Σ buys, Σ sells) over all books of the sub-account
 *
 * Notional and fee are of the lots that increase risk only: the position's opposite base is an offset that orders use up
 * in the order of their admission. Reduce-only orders have an offset of their own, the same position once more: what
 * exceeds it presses like any order (AMB-27), and they use nothing of the other one. Those that are judged on arrival are
 * left out. One side of one book is one product and one rounding, up at 10^-18 USD, reduce-only orders apart.
 *
 * Not here: which orders an account has and how much of them is left.
 */
import { larger, mulDivCeil, notional18, powerOfTen, quantity18, RATE_SCALE } from '../core/arithmetic.ts';
import { RAW_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_KIND, type OrderKind, SIDE, type Side, TIF, type Tif } from '../core/order-terms.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, ZERO_18 } from '../core/units.ts';
import { type AssetTerms, WEIGHT_ONE } from './asset-terms.ts';
import { FACTOR_ONE } from './risk-terms.ts';

/** A rate in 1e-6 at the scale of a weight. */
const RATE_WEIGHT = WEIGHT_ONE / RATE_SCALE;

/** The share of a notional that presses, at the scale WEIGHT_ONE; never negative. */
export function pressureWeight(side: Side, { risk, imFactor, prices }: AssetTerms): bigint {
  if (side === SIDE.sell) return risk.liabilityWeight * (2n * FACTOR_ONE - imFactor) - WEIGHT_ONE;
  return WEIGHT_ONE - (prices.isBroken ? 0n : risk.collateralFactor) * imFactor;
}

/** Pressure of what one side of one book counts altogether, the taker fee included. @param takerRate 1e-6. */
export function pressureOf(side: Side, notional: Amount18, terms: AssetTerms, takerRate: number): Amount18 {
  const weight = pressureWeight(side, terms) + BigInt(takerRate) * RATE_WEIGHT;
  // mutant: pressure-rounding
  return mulDivCeil(notional, weight, WEIGHT_ONE) as Amount18;
}

/**
 * What is left of an order, as far as it may press.
 *
 *   limit          price, lots        0 spend
 *   market, base   0 price, lots      what is left of its quote cap, or 0 for none
 *   market, quote  0 price, 0 lots    what is left of its target
 */
export interface OpenOrder {
  readonly price: RawPrice | 0;
  readonly lots: number;
  readonly spend: Amount18;
}

/** How much of an order counts, and how many lots of the offset it uses. */
export interface Counted {
  readonly notional: Amount18;
  readonly used: number;
}

/** Price that a market order is taken to trade at: the higher of the two (AMB-49). */
export function marketPrice({ prices }: AssetTerms): Amount18 {
  return larger(prices.oracle, prices.mark);
}

/** The notional of an order beyond `offset` lots of it that only reduce the position. */
export function countOrder(order: OpenOrder, offset: number, market: MarketDefinition, terms: AssetTerms): Counted {
  if (order.lots === 0) return countSpend(order.spend, offset, market, terms);
  const used = Math.min(order.lots, offset);
  const lots = (order.lots - used) as RawQuantity;
  if (order.price !== 0) return { notional: notional18(order.price, lots, market), used };
  const { spend } = order;
  if (spend !== 0n) return { notional: mulDivCeil(spend, BigInt(lots), BigInt(order.lots)) as Amount18, used };
  const base = quantity18(lots, market.quantityDecimals);
  return { notional: mulDivCeil(base, marketPrice(terms), ONE_18) as Amount18, used };
}

/** Of an order sized in quote: lots of the offset are worth the price that a market order is taken to trade at. */
function countSpend(spend: Amount18, offset: number, market: MarketDefinition, terms: AssetTerms): Counted {
  const price = marketPrice(terms);
  const lot = powerOfTen(18 - market.quantityDecimals);
  if (offset === 0 || price === 0n) return { notional: spend, used: 0 };
  const buys = (spend * ONE_18) / (lot * price);
  const used = buys < BigInt(offset) ? Number(buys) : offset;
  if (used < offset) return { notional: ZERO_18, used };
  const offsetUsd = (BigInt(used) * lot * price) / ONE_18;
  return { notional: (spend > offsetUsd ? spend - offsetUsd : 0n) as Amount18, used };
}

/** Lots of the other side's position that orders of `side` may reduce. @param base optimistic, signed, 18 decimals. */
export function offsetLots(side: Side, base: bigint, quantityDecimals: number): number {
  const opposite = side === SIDE.buy ? -base : base;
  if (opposite <= 0n) return 0;
  // No order has more lots than that, so a larger offset means the same.
  return Math.min(Number(opposite / powerOfTen(18 - quantityDecimals)), RAW_MAX);
}

/**
 * Whether a reduce-only order is compared with the position when it comes, and never rests: then it presses nothing. What
 * rests or is sized in quote presses with what exceeds the position (TIF-09, MRG-22, AMB-27).
 */
export function isJudgedOnArrival({ kind, tif }: { readonly kind: OrderKind; readonly tif: Tif }): boolean {
  return kind === ORDER_KIND.marketBase || (kind === ORDER_KIND.limit && tif !== TIF.gtc && tif !== TIF.gtd);
}

/** One side of one book: its orders in the order of admission, either the reduce-only ones or all others. */
export interface SideOfBook {
  readonly side: Side;
  readonly market: MarketDefinition;
  readonly terms: AssetTerms;
  /** Optimistic base leg of the account in the market's asset. */
  readonly base: bigint;
}

/** Notional of one side of one book: each order counts what the offset that those before it left does not cover. */
export function countSide(book: SideOfBook, orders: Iterable<OpenOrder>): Amount18 {
  const { side, market, terms, base } = book;
  let offset = offsetLots(side, base, market.quantityDecimals);
  let counted = 0n;
  for (const order of orders) {
    const { notional, used } = countOrder(order, offset, market, terms);
    // mutant: offset-once
    offset -= used;
    counted += notional;
  }
  return counted as Amount18;
}

/** Pressure of one side of one book. */
export function sidePressure(book: SideOfBook, orders: Iterable<OpenOrder>): Amount18 {
  const { side, market, terms } = book;
  return pressureOf(side, countSide(book, orders), terms, market.takerFeeRate);
}

/** What is left for more risk, also `available_margin` (MRG-16). */
export function capacityOf(initialSurplus: Amount18, buys: Amount18, sells: Amount18): Amount18 {
  return (initialSurplus - larger(buys, sells)) as Amount18;
}
