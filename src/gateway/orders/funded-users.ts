/**
 * Which users have anything: a spot balance or a position, as clearing has flushed it. What is limited for keys that cost
 * nothing asks here (src/gateway/sessions).
 *
 * Orders add nothing to it: one that could fill is backed by a balance or a position.
 *
 * Invariant: a user is counted once for each balance that is not zero and once for each position that is not.
 */
import { assert } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';

export class FundedUsers {
  readonly #parts = new Map<UserId, number>();

  /** Users that have anything. */
  get count(): number {
    return this.#parts.size;
  }

  has(user: UserId): boolean {
    return this.#parts.has(user);
  }

  /** A balance or a position of the user is another one now. @param had whether it was not zero, `has` whether it is not. */
  changed(user: UserId, had: boolean, has: boolean): void {
    if (had === has) return;
    const parts = (this.#parts.get(user) ?? 0) + (has ? 1 : -1);
    assert(parts >= 0, 'what a user has is never less than nothing');
    if (parts === 0) this.#parts.delete(user);
    else this.#parts.set(user, parts);
  }
}
