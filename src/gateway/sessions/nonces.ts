/**
 * Login nonces: at most one per user, valid for five minutes (SES-01 to SES-05, AMB-86).
 *
 *   none ──issue──▶ outstanding ──issue, > 10 s left──▶ the same
 *                        │  └──────issue, ≤ 10 s left──▶ another value in its place
 *                        └──consume (login succeeded)──▶ none
 *
 * Any client may request a nonce of any user. It is the same one while more than 10 s of it are left, so requests of
 * other clients can invalidate a user's nonce only in the last ten seconds of every five minutes; the user then
 * requests another.
 *
 * The table is bounded: when it is full, the nonce with the oldest request is evicted, first those of users without
 * funds, who may use only a part of the table. The user then requests another.
 *
 * Invariants
 *   (1) The table never holds more than `capacity` nonces, of users without funds at most three quarters of it.
 *   (2) Each part is in the order of last use, the oldest first.
 *
 * The caller supplies the random value; login.ts checks the signature.
 */
import { assert } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import { NONCE_LIFE_NS, NONCE_RENEW_NS, NONCES_MAX } from '../../core/limits.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import type { TimestampNs } from '../../core/units.ts';

interface Nonce {
  /** 32 random bytes in base64url: the client signs exactly these bytes (SES-06). */
  readonly value: string;
  /** Valid while now < `expiryNs`. */
  readonly expiryNs: TimestampNs;
}

interface Outstanding {
  readonly user: UserId;
  nonce: Nonce;
}

export class Nonces {
  readonly #capacity: number;
  readonly #isFunded: (user: UserId) => boolean;
  readonly #byUser = new Map<UserId, ListEntry<Outstanding>>();
  readonly #public = new LinkedList<Outstanding>();
  readonly #kept = new LinkedList<Outstanding>();

  /** @param isFunded whether a user has a balance or a position. */
  constructor(capacity: number = NONCES_MAX, isFunded: (user: UserId) => boolean = () => false) {
    assert(capacity > 0, 'nonces: at least one fits');
    this.#capacity = capacity;
    this.#isFunded = isFunded;
  }

  get count(): number {
    return this.#byUser.size;
  }

  /**
   * The user's nonce: the current one while more than 10 s of it are left, else one created from `freshValue`.
   *
   * @param freshValue used only if a new nonce is due.
   */
  issue(user: UserId, now: TimestampNs, freshValue: string): Nonce {
    const known = this.#byUser.get(user);
    const keeps = known !== undefined && known.value.nonce.expiryNs - now > NONCE_RENEW_NS;
    const nonce = keeps ? known.value.nonce : { value: freshValue, expiryNs: (now + NONCE_LIFE_NS) as TimestampNs };
    if (known === undefined) this.#add(user, nonce);
    else {
      known.value.nonce = nonce;
      (this.#isFunded(user) ? this.#kept : this.#public).append(known);
    }
    return nonce;
  }

  /** The current nonce, expired or not; undefined when there is none. */
  find(user: UserId): Nonce | undefined {
    return this.#byUser.get(user)?.value.nonce;
  }

  /** Removes the user's nonce after a successful login (SES-08). */
  consume(user: UserId): void {
    const entry = this.#byUser.get(user);
    entry?.list?.remove(entry);
    this.#byUser.delete(user);
  }

  #add(user: UserId, nonce: Nonce): void {
    const isFunded = this.#isFunded(user);
    const publicMax = Math.ceil((this.#capacity * 3) / 4);
    if (!isFunded && this.#public.size >= publicMax) this.#drop(this.#public.first);
    // mutant: funded-nonce-kept
    if (this.#byUser.size >= this.#capacity) this.#drop(this.#public.first ?? this.#kept.first);
    const entry = new ListEntry<Outstanding>({ user, nonce });
    this.#byUser.set(user, entry);
    (isFunded ? this.#kept : this.#public).append(entry);
  }

  #drop(oldest: Outstanding | null): void {
    if (oldest !== null) this.consume(oldest.user);
  }
}
