/** Frames of `/sync/pending_settlements` (wire.md G14), for market makers: one for each settlement that is approved. */
import { format18 } from '../core/decimal.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';

export interface SettlementEvent {
  /** `<chain>:<user>:<sub-account>:<nonce>`. */
  readonly settlementId: string;
  readonly asset: AssetId;
  readonly side: 'Buy' | 'Sell';
  readonly quantity: Amount18;
  /** USD of one unit, rounded down; null when neither asset is USD. */
  readonly price: Amount18 | null;
  readonly user: UserId;
  readonly subAccount: number;
  readonly timestampNs: TimestampNs;
}

export function settlementEvent(event: SettlementEvent): string {
  const { settlementId, asset, side, quantity, price, user, subAccount, timestampNs } = event;
  return (
    `{"settlement_id":"${settlementId}","asset_id":"${asset}","side":"${side}","quantity":"${format18(quantity)}",` +
    `"price":${price === null ? 'null' : `"${format18(price)}"`},"user":"${user}","sub_account":${subAccount},` +
    `"timestamp_ns":${timestampNs}}`
  );
}
