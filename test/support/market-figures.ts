/** Small makers of market-data values for tests. */
import type { AssetId } from '../../src/core/ids.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import type { TradeFigures } from '../../src/core/market-figures.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';

/** A second well after 1970, a whole hour. */
export const START_NS = 1_770_001_200_000_000_000n;
export const SECOND = 1_000_000_000n;

export function marketOf(marketIndex: number, assetId: string): MarketDefinition {
  return {
    marketIndex,
    assetId: assetId as AssetId,
    priceDecimals: 2,
    quantityDecimals: 4,
    tickSize: 1 as RawPrice,
    minimumQuantity: 1 as RawQuantity,
    makerFeeRate: 0,
    takerFeeRate: 0,
    status: 0,
    selfTradePrevention: false,
    minimumNotional: 0n as never,
    priceCollar: null,
  };
}

export function tradeOf(
  tradeId: number,
  matchedNs: bigint,
  price = 315_025,
  quantity = 5_000,
  marketIndex = 0,
): TradeFigures {
  return {
    marketIndex,
    tradeId: tradeId as Sequence,
    price: price as RawPrice,
    quantity: quantity as RawQuantity,
    matchedNs: matchedNs as TimestampNs,
    takerSide: tradeId % 2 === 0 ? SIDE.sell : SIDE.buy,
  };
}
