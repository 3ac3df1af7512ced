/** What clearing says about a user's accounts, as the events of `/account/events/{user_id}` (wire.md 9.5). */

import type { NodeNews } from '../clearing/effect-codec.ts';
import type { AccountEvent } from '../codec/account-events.ts';
import type { UserId } from '../core/ids.ts';

/** The event and whose it is; null for news that is none. News leaves clearing after its flush, so events are final. */
export function accountEventOf(news: NodeNews): { readonly user: UserId; readonly event: AccountEvent } | null {
  switch (news.kind) {
    case 'depositLanded': {
      const { user, asset, amount, chainId, depositNonce, creditedNs } = news.row;
      return { user, event: { kind: news.kind, asset, amount, chainId, depositNonce, timestampNs: creditedNs } };
    }
    case 'transferDone': {
      const { user, asset, amount, sourceIndex, targetIndex, timeNs } = news;
      return { user, event: { kind: 'transferred', asset, amount, sourceIndex, targetIndex, timestampNs: timeNs } };
    }
    case 'positionCleared': {
      const { user, asset, subAccount, timeNs } = news;
      return { user, event: { kind: news.kind, asset, subAccount, timestampNs: timeNs } };
    }
    default:
      return null;
  }
}
