/** Frozen judge: the printers as they were written by hand, before replies were written by their shapes (reply-writer.ts). */
import type { SettlementEvent } from '../../src/codec/settlement-events.ts';
import { format18 } from '../../src/core/decimal.ts';

export function settlementEvent(event: SettlementEvent): string {
  const { settlementId, asset, side, quantity, price, user, subAccount, timestampNs } = event;
  return (
    `{"settlement_id":"${settlementId}","asset_id":"${asset}","side":"${side}","quantity":"${format18(quantity)}",` +
    `"price":${price === null ? 'null' : `"${format18(price)}"`},"user":"${user}","sub_account":${subAccount},` +
    `"timestamp_ns":${timestampNs}}`
  );
}
