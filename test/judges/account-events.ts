/** Frozen judge: the printers as they were written by hand, before replies were written by their shapes (reply-writer.ts). */
import type { AccountEventView as AccountEvent } from '../../src/codec/account-events.ts';
import type { UserId } from '../../src/core/ids.ts';
import type { Amount18 } from '../../src/core/units.ts';

export function accountEvent(user: UserId, event: AccountEvent): string {
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
