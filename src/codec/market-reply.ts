/** The market object of `GET /market/{asset_id}` and `GET /markets` (wire.md 7.2, AMB-138). */
import { formatRaw } from '../core/decimal.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { MARKET_STATUS_WORD } from '../core/order-terms.ts';
import { replyWriter } from './reply-writer.ts';
import { MARKET } from './shapes/registry-shapes.ts';

export interface MarketView {
  readonly definition: MarketDefinition;
  /** floor(1/(1 − CF)), informative; null if unlimited (CF = 100). */
  readonly maxLeverage: number | null;
  readonly isolatedOnly: boolean;
  readonly feeAccount: string;
}

const writeMarket = replyWriter<object>(MARKET);

export function marketObject({ definition, maxLeverage, isolatedOnly, feeAccount }: MarketView): string {
  const { priceDecimals, quantityDecimals, tickSize, minimumQuantity, status, selfTradePrevention } = definition;
  return writeMarket({
    ...definition,
    max_leverage: maxLeverage === null ? null : String(maxLeverage),
    isolated_only: isolatedOnly,
    tickSize: formatRaw(tickSize, priceDecimals),
    minOrderSize: formatRaw(minimumQuantity, quantityDecimals),
    fee_schedule: { fee_account: feeAccount, global: [], per_asset: [] },
    status: MARKET_STATUS_WORD[status],
    self_trade_prevention: selfTradePrevention,
  });
}
