/** One side of a trade, as in `/trades/user/…` and on the user trade streams (wire.md 7.10). */
import { format18, formatRaw } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import type { FillStatus } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import { quote, quoteOrNull } from './json-writer.ts';

export interface UserTradeView {
  readonly assetId: AssetId;
  readonly tradeId: number;
  readonly orderId: string;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  /** Match time, for every status. */
  readonly timestampNs: TimestampNs;
  readonly isMaker: boolean;
  readonly isBuyer: boolean;
  readonly status: FillStatus;
  /** A reason of G22; null unless rolled back. */
  readonly rollbackReason: string | null;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
  readonly subAccount: number;
  /** USD, negative is a rebate. Omitted when null: clients fail on a null here. */
  readonly fee: Amount18 | null;
}

export function userTrade(view: UserTradeView): string {
  return (
    `{"asset_id":"${view.assetId}","trade_id":${view.tradeId},"order_id":${quote(view.orderId)},` +
    `"price":"${formatRaw(view.price, view.priceDecimals)}",` +
    `"quantity":"${formatRaw(view.quantity, view.quantityDecimals)}",` +
    `"timestamp_ns":${view.timestampNs},"is_maker":${view.isMaker},"is_buyer":${view.isBuyer},` +
    `"status":"${view.status}","rollback_reason":${quoteOrNull(view.rollbackReason)},` +
    `"is_liquidation":${view.isLiquidation},"is_auto_deleverage":${view.isAutoDeleverage},` +
    `"sub_account":${view.subAccount}${view.fee === null ? '' : `,"trading_fee":"${format18(view.fee)}"`}}`
  );
}
