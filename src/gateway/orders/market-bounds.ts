/**
 * The worst price that a market order is given money for where it names no bound of its own (AMB-39): what is known first of
 *
 *   collar     the market's, beyond which nothing is matched
 *   prices     the worse of oracle and mark, and a fraction of it more (setting `market_order_band`)
 *   seen       the best order of the other side that order entry has seen
 *
 * A price that is stale or tripped is not known. Not here: what follows for the order's budget (needs.ts).
 */
import { larger, powerOfTen, smaller } from '../../core/arithmetic.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import { collarBounds, NO_COLLAR } from '../../core/price-collar.ts';
import { ONE_18, type TimestampNs } from '../../core/units.ts';
import { isUsable, MARK_STALE_NS, ORACLE_STALE_NS } from '../../risk/prices.ts';
import type { AssetDesk, AssetMarks } from './asset-desk.ts';
import type { MarketSlot } from './markets.ts';

export class MarketBounds {
  /** Fraction of the worse price, 10^-18, above 0 and at most 1 (setting `market_order_band`). */
  band: bigint;
  readonly #desk: AssetDesk;

  constructor(desk: AssetDesk, band: bigint) {
    this.#desk = desk;
    this.band = band;
  }

  /**
   * The most that a buy is taken to pay for one unit, or the least that a sale is taken to fetch: in 10^-18 USD, above 0.
   *
   * @returns null where nothing is known.
   */
  worstPrice(side: Side, market: MarketSlot): bigint | null {
    const { definition } = market;
    const marks = this.#desk.marks(definition.assetId);
    const { nowNs } = this.#desk;
    const price = collarPrice(side, definition, marks, nowNs) ?? this.#bandPrice(side, marks, nowNs);
    if (price !== null) return price > 0n ? price : null;
    const seen = market.bestSeen.price(side === SIDE.buy ? SIDE.sell : SIDE.buy);
    return seen === 0 ? null : BigInt(seen) * rawPriceUnit(definition);
  }

  #bandPrice(side: Side, { oracle, mark }: AssetMarks, nowNs: TimestampNs): bigint | null {
    const ofOracle = isUsable(oracle, ORACLE_STALE_NS, nowNs) ? oracle.price : null;
    const ofMark = isUsable(mark, MARK_STALE_NS, nowNs) ? mark.price : null;
    const one = ofOracle ?? ofMark;
    const other = ofMark ?? ofOracle;
    if (one === null || other === null) return null;
    if (side === SIDE.sell) return (smaller(one, other) * (ONE_18 - this.band)) / ONE_18;
    return (larger(one, other) * (ONE_18 + this.band)) / ONE_18;
  }
}

/** Where the market has a collar and a mark. */
function collarPrice(
  side: Side,
  definition: MarketDefinition,
  { oracle, mark }: AssetMarks,
  nowNs: TimestampNs,
): bigint | null {
  if (definition.priceCollar === null) return null;
  const unit = rawPriceUnit(definition);
  const trade =
    mark === null ? { price: 0, matchedNs: 0n } : { price: Number(mark.price / unit), matchedNs: mark.timeNs };
  const bounds = collarBounds(definition, { trade, oracle: oracle?.price ?? null }, nowNs);
  if (bounds === NO_COLLAR) return null;
  return BigInt(side === SIDE.buy ? bounds.highest : bounds.lowest) * unit;
}

/** 10^-18 USD in one raw unit of price. */
function rawPriceUnit({ priceDecimals }: MarketDefinition): bigint {
  return powerOfTen(18 - priceDecimals);
}
