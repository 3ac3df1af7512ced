/** Expiry of cancels that were parked for a create that did not arrive (AMB-25). */

import { NONE } from '../core/pools.ts';
import { isBefore } from '../core/time-words.ts';
import type { MarketEvents } from './commands.ts';
import { ID_STATE, type OrderIds } from './order-ids.ts';
import { USER_WORDS, type UserTable } from './user-table.ts';

/** Expires the parked cancels due at this time and publishes each expiry. */
export function expireHolds(ids: OrderIds, users: UserTable, events: MarketEvents, high: number, low: number): void {
  const { records } = ids;
  for (let head = ids.heldHead; head !== NONE; head = ids.heldHead) {
    if (records.stateOf(head) === ID_STATE.held) {
      if (isBefore(high, low, records.timeHighOf(head), records.timeLowOf(head))) return;
      ids.consumeHold(head);
      const userAt = records.userOf(head) * USER_WORDS;
      const words = records.wordsOf(head);
      events.heldCancelExpired(users.words, userAt, words, records.idAt(head), records.bytesOf(head));
    }
    ids.dropHeldHead();
  }
}
