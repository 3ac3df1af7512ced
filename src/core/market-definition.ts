/**
 * The definition of a market: the registry's row, used by every module (wire.md 7.2, operator-api.md 4.3, AMB-134,
 * AMB-138).
 */
import type { AssetId } from './ids.ts';
import type { MarketStatus } from './order-terms.ts';
import type { Amount18, RawPrice, RawQuantity } from './units.ts';

export interface MarketDefinition {
  /** The node's own number of the market, dense from 0, never reused; messages carry it. */
  readonly marketIndex: number;
  readonly assetId: AssetId;
  /** 0 … 18; the two add up to at most 18, and neither ever changes. */
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  /** In raw price units, at least 1. */
  readonly tickSize: RawPrice;
  /** In raw quantity units, at least 1. */
  readonly minimumQuantity: RawQuantity;
  /** USD, 18 decimals: the minimum notional of an order that may rest, at its price (AMB-124); 0n for no minimum. */
  readonly minimumNotional: Amount18;
  /** 1e-6 of notional; the maker's may be negative, never below −taker. */
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly status: MarketStatus;
  readonly selfTradePrevention: boolean;
  /** Fraction of the mark as an 18-decimal integer, or null for none. */
  readonly priceCollar: bigint | null;
}
