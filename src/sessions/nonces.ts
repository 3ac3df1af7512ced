/**
 * Login nonces: at most one outstanding per user, five minutes long (SES-01 to SES-05, AMB-86).
 *
 *   none ──issue──▶ outstanding ──issue, > 10 s left──▶ the same
 *                        │  └──────issue, ≤ 10 s left──▶ another value in its place
 *                        └──consume (login succeeded)──▶ none
 *
 * Anybody may ask for a nonce of any user, so the table is bounded: when it is full, the nonce that was asked for the
 * longest time ago gives way. Its user asks again.
 *
 * Invariants
 *   (1) The table never holds more than `capacity` nonces.
 *   (2) Its iteration order is the order of last use, oldest first.
 *
 * Not here: making the random value (the caller hands it in), checking the signature (login.ts).
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { NONCE_LIFE_NS, NONCE_RENEW_NS } from '../core/limits.ts';
import type { TimestampNs } from '../core/units.ts';

/** About 20 MiB when full. */
export const NONCES_MAX = 100_000;

export interface Nonce {
  /** 32 random bytes in base64url: what the client signs, byte for byte (SES-06). */
  readonly value: string;
  /** Valid while now < `expiryNs`. */
  readonly expiryNs: TimestampNs;
}

export class Nonces {
  readonly #capacity: number;
  readonly #byUser = new Map<UserId, Nonce>();

  constructor(capacity: number = NONCES_MAX) {
    assert(capacity > 0, 'nonces: room for at least one');
    this.#capacity = capacity;
  }

  get count(): number {
    return this.#byUser.size;
  }

  /**
   * The user's nonce: the outstanding one while more than 10 s of it are left, else one made of `freshValue`.
   *
   * @param freshValue used only if a new nonce is due.
   */
  issue(user: UserId, now: TimestampNs, freshValue: string): Nonce {
    const outstanding = this.#byUser.get(user);
    const keeps = outstanding !== undefined && outstanding.expiryNs - now > NONCE_RENEW_NS;
    const nonce = keeps ? outstanding : { value: freshValue, expiryNs: (now + NONCE_LIFE_NS) as TimestampNs };
    this.#byUser.delete(user);
    if (this.#byUser.size === this.#capacity) this.#evictOldest();
    this.#byUser.set(user, nonce);
    return nonce;
  }

  /** The outstanding nonce, expired or not; undefined when there is none. */
  find(user: UserId): Nonce | undefined {
    return this.#byUser.get(user);
  }

  /** A login succeeded with this user's nonce (SES-08). */
  consume(user: UserId): void {
    this.#byUser.delete(user);
  }

  #evictOldest(): void {
    for (const user of this.#byUser.keys()) {
      this.#byUser.delete(user);
      return;
    }
  }
}
