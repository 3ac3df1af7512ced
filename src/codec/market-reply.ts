/** The market object of `GET /market/{asset_id}` and `GET /markets` (wire.md 7.2, AMB-138). */
import { formatRaw } from '../core/decimal.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { MARKET_STATUS_WORD } from '../core/order-terms.ts';
import { quote, quoteOrNull } from './json-writer.ts';

export interface MarketView {
  readonly definition: MarketDefinition;
  /** floor(1/(1 − CF)), informative; null if unlimited (CF = 100). */
  readonly maxLeverage: number | null;
  readonly isolatedOnly: boolean;
  readonly feeAccount: string;
}

export function marketObject(view: MarketView): string {
  const { definition } = view;
  const leverage = view.maxLeverage === null ? null : String(view.maxLeverage);
  return (
    `{"asset_id":"${definition.assetId}","book_price_decimals":${definition.priceDecimals},` +
    `"book_quantity_decimals":${definition.quantityDecimals},"max_leverage":${quoteOrNull(leverage)},` +
    `"isolated_only":${view.isolatedOnly},` +
    `"tick_size":"${formatRaw(definition.tickSize, definition.priceDecimals)}",` +
    `"min_order_size":"${formatRaw(definition.minimumQuantity, definition.quantityDecimals)}",` +
    `"fee_schedule":{"fee_account":${quote(view.feeAccount)},"global":[],"per_asset":[]},` +
    `"maker_fee_rate":${definition.makerFeeRate},"taker_fee_rate":${definition.takerFeeRate},` +
    `"status":"${MARKET_STATUS_WORD[definition.status]}",` +
    `"self_trade_prevention":${definition.selfTradePrevention}}`
  );
}
