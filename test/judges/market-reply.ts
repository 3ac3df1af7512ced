/** Frozen judge: the printers as they were written by hand, before replies were written by their shapes (reply-writer.ts). */

import { quote, quoteOrNull } from '../../src/codec/json-writer.ts';
import type { MarketView } from '../../src/codec/market-reply.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import { MARKET_STATUS_WORD } from '../../src/core/order-terms.ts';

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
