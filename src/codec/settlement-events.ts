/** Frames of `/sync/pending_settlements` (wire.md G14), for market makers: one for each settlement that is approved. */
import type { AssetId, UserId } from '../core/ids.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { replyWriter } from './reply-writer.ts';
import { PENDING_SETTLEMENT } from './shapes/account-shapes.ts';

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

export const settlementEvent: (event: SettlementEvent) => string = replyWriter(PENDING_SETTLEMENT);
