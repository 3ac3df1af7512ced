/**
 * Withdrawals at the gateway: what clearing has published of them, for the queue of a user, and the requests
 * (wire.md 7.18). The rows are a copy of clearing's, flushed.
 *
 *   init, cancel ─▶ signer, weight, signature, amount set aside (account-actions.ts) ─▶ clearing ─▶ 200
 */

import type { WithdrawalRow } from '../../clearing/rows.ts';
import { withdrawalQueue } from '../../codec/funds-replies.ts';
import type { AmountText } from '../../codec/signed-text.ts';
import type { UserId } from '../../core/ids.ts';

export class WithdrawalRows {
  readonly #users = new Map<UserId, Map<number, WithdrawalRow>>();
  /** Setting `amount_text`. */
  form: AmountText = 'hex';

  /** Clearing has flushed the row. */
  changed(row: WithdrawalRow): void {
    const rows = this.#users.get(row.user) ?? new Map<number, WithdrawalRow>();
    if (row.status === 'gone') rows.delete(row.place);
    else rows.set(row.place, row);
    if (rows.size === 0) this.#users.delete(row.user);
    else this.#users.set(row.user, rows);
  }

  *all(): Iterable<WithdrawalRow> {
    for (const rows of this.#users.values()) yield* rows.values();
  }

  /** The reply of `GET /withdrawal/queue/{user_id}`: the oldest request first. */
  queueOf(user: UserId): string {
    const rows = [...(this.#users.get(user)?.values() ?? [])];
    rows.sort((a, b) => a.sequence - b.sequence || a.nonce - b.nonce);
    return withdrawalQueue(rows, this.form);
  }
}
