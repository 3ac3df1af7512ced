/**
 * The worst price that a market order is given money for where it names no bound of its own (AMB-39): what is known first of
 *
 *   collar     the market's, beyond which nothing is matched
 *   prices     the worse of oracle and mark, and a fraction of it more (setting `market_order_band`)
 *   seen       the best order of the other side that order entry has seen
 *
 * A price that is stale or tripped is not known. Not here: what follows for the order's budget (reservation.ts).
 */
import { larger, powerOfTen, smaller } from '../core/arithmetic.ts';
import { RAW_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { collarBounds, NO_COLLAR } from '../core/price-collar.ts';
import { ONE_18, type TimestampNs } from '../core/units.ts';
import type { PriceSources } from './asset-terms.ts';
import { isUsable, MARK_STALE_NS, ORACLE_STALE_NS } from './prices.ts';

/** What bounds the price of an order. */
interface PriceKnowledge {
  readonly sources: PriceSources;
  /** Fraction of the worse price, 10^-18, above 0 and at most 1 (setting `market_order_band`). */
  readonly band: bigint;
  /** Raw price of the best order of the other side that order entry has seen; 0 for none. */
  readonly bestSeen: number;
  readonly nowNs: TimestampNs;
}

/**
 * The most that a buy is taken to pay for one unit, or the least that a sale is taken to fetch: in 10^-18 USD, above 0.
 *
 * @returns null where nothing is known.
 */
export function worstPrice(side: Side, market: MarketDefinition, known: PriceKnowledge): bigint | null {
  const price = collarPrice(side, market, known) ?? bandPrice(side, known);
  if (price !== null) return price > 0n ? price : null;
  return known.bestSeen === 0 ? null : BigInt(known.bestSeen) * rawPriceUnit(market);
}

function bandPrice(side: Side, { sources: { oracle, mark }, band, nowNs }: PriceKnowledge): bigint | null {
  const ofOracle = isUsable(oracle, ORACLE_STALE_NS, nowNs) ? oracle.price : null;
  const ofMark = isUsable(mark, MARK_STALE_NS, nowNs) ? mark.price : null;
  const one = ofOracle ?? ofMark;
  const other = ofMark ?? ofOracle;
  if (one === null || other === null) return null;
  if (side === SIDE.sell) return (smaller(one, other) * (ONE_18 - band)) / ONE_18;
  return (larger(one, other) * (ONE_18 + band)) / ONE_18;
}

/** Where the market has a collar and a mark. */
function collarPrice(side: Side, market: MarketDefinition, { sources, nowNs }: PriceKnowledge): bigint | null {
  if (market.priceCollar === null) return null;
  const { oracle, mark } = sources;
  const unit = rawPriceUnit(market);
  const trade =
    mark === null ? { price: 0, matchedNs: 0n } : { price: Number(mark.price / unit), matchedNs: mark.timeNs };
  const bounds = collarBounds(market, { trade, oracle: oracle?.price ?? null }, nowNs);
  if (bounds === NO_COLLAR) return null;
  return BigInt(side === SIDE.buy ? bounds.highest : bounds.lowest) * unit;
}

/** 10^-18 USD in one raw unit of price. */
function rawPriceUnit({ priceDecimals }: MarketDefinition): bigint {
  return powerOfTen(18 - priceDecimals);
}

/** The worst raw price that is not worse than this one, at least 1 and at most what a book has. @param price 10^-18 USD, above 0. */
export function rawBound(
  side: Side,
  price: bigint,
  { priceDecimals }: Pick<MarketDefinition, 'priceDecimals'>,
): number {
  const unit = powerOfTen(18 - priceDecimals);
  const raw = side === SIDE.buy ? price / unit : (price + unit - 1n) / unit;
  const most = raw > BigInt(RAW_MAX) ? BigInt(RAW_MAX) : raw;
  return most < 1n ? 1 : Number(most);
}
