/** User events on `/account/events/{user_id}` (wire.md 9.5, STR-05): exactly one top-level key, every field required. */
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { replyWriter } from './reply-writer.ts';
import { ACCOUNT_EVENT } from './shapes/stream-shapes.ts';

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

const writeEvent = replyWriter<object>(ACCOUNT_EVENT);

export function accountEvent(user: UserId, event: AccountEventView): string {
  return writeEvent(tagged(user, event));
}

function tagged(user: UserId, event: AccountEventView): object {
  switch (event.kind) {
    case 'depositLanded':
      return { DepositLanded: { user, ...event, nonce: event.depositNonce } };
    case 'withdrawalCompleted':
      return { WithdrawalCompleted: { user, ...event, nonce: event.withdrawalNonce } };
    case 'positionCleared':
      return { PositionCleared: { user, ...event } };
    case 'transferred':
      return { SubAccountAssetTransferred: { user, ...event } };
  }
}
