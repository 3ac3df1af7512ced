/** User events on `/account/events/{user_id}` (wire.md 9.5, STR-05): exactly one top-level key, every field required. */
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';

export type AccountEventView =
  | {
      readonly kind: 'depositLanded';
      /** The address form if the deposit exceeded its cap. */
      readonly asset: AssetId;
      readonly amount: Amount18;
      readonly chainId: ChainId;
      readonly depositNonce: number;
      readonly timestampNs: TimestampNs;
    }
  | {
      readonly kind: 'withdrawalCompleted';
      readonly asset: AssetId;
      /** The normalized payout, as the setting `amount_text` writes it. */
      readonly amount: string;
      readonly chainId: ChainId;
      readonly withdrawalNonce: number;
      readonly timestampNs: TimestampNs;
    }
  | {
      readonly kind: 'positionCleared';
      readonly asset: AssetId;
      readonly subAccount: number;
      readonly timestampNs: TimestampNs;
    }
  | {
      readonly kind: 'transferred';
      readonly asset: AssetId;
      readonly amount: Amount18;
      readonly sourceIndex: number;
      readonly targetIndex: number;
      readonly timestampNs: TimestampNs;
    };

export function accountEvent(user: UserId, event: AccountEventView): string {
  const who = `"user":"${user}","asset":"${event.asset}"`;
  const when = `"timestamp_ns":${event.timestampNs}`;
  switch (event.kind) {
    case 'depositLanded':
      return (
        `{"DepositLanded":{${who},"amount":"${hexAmount(event.amount)}","chain_id":"${event.chainId}",` +
        `"deposit_nonce":${event.depositNonce},${when}}}`
      );
    case 'withdrawalCompleted':
      return (
        `{"WithdrawalCompleted":{${who},"amount":"${event.amount}","chain_id":"${event.chainId}",` +
        `"withdrawal_nonce":${event.withdrawalNonce},${when}}}`
      );
    case 'positionCleared':
      return `{"PositionCleared":{${who},"sub_account_index":${event.subAccount},${when}}}`;
    case 'transferred':
      return (
        `{"SubAccountAssetTransferred":{${who},"amount":"${hexAmount(event.amount)}",` +
        `"source_sub_account_index":${event.sourceIndex},"target_sub_account_index":${event.targetIndex},${when}}}`
      );
  }
}

/** 18-decimal units in minimal lower-case hex (G15). */
function hexAmount(amount: Amount18): string {
  return `0x${amount.toString(16)}`;
}
