/**
 * Bearer tokens: keyed by user and value, valid for 24 hours, at most 32 per user (SES-07, SES-09, SES-12, SES-15,
 * AMB-87).
 *
 * Only hashes are kept: the caller hashes the presented value with SHA-256 and hands in the text of the digest, so a
 * look-up compares nothing that is secret.
 *
 * Invariants
 *   (1) Per user at most 32 tokens, in the order of issue; one more drops the oldest.
 *   (2) A user without tokens has no entry; at most `usersMax` users have one.
 *
 * Not here: making tokens and hashing them; how sockets end when their token does (the edge asks `isValid`).
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { TOKEN_LIFE_NS, TOKENS_PER_USER_MAX } from '../core/limits.ts';
import type { TimestampNs } from '../core/units.ts';

/** Anybody can make a key and log in, so the number of users with tokens is bounded too. */
export const SESSION_USERS_MAX = 250_000;

export class Tokens {
  readonly #usersMax: number;
  readonly #byUser = new Map<UserId, Map<string, TimestampNs>>();

  constructor(usersMax: number = SESSION_USERS_MAX) {
    this.#usersMax = usersMax;
  }

  /** Whether this user may be issued a token; a full table first forgets what has expired. */
  hasRoomFor(user: UserId, now: TimestampNs): boolean {
    if (this.#byUser.has(user) || this.#byUser.size < this.#usersMax) return true;
    this.sweep(now);
    return this.#byUser.size < this.#usersMax;
  }

  /**
   * Call it only when `hasRoomFor` this user.
   *
   * @param tokenHash SHA-256 of the token, in any one text form.
   * @returns the instant from which the token is no longer valid.
   */
  issue(user: UserId, tokenHash: string, now: TimestampNs): TimestampNs {
    const tokens = this.#byUser.get(user) ?? new Map<string, TimestampNs>();
    assert(tokens.size > 0 || this.#byUser.size < this.#usersMax, 'tokens: room for one more user');
    this.#byUser.set(user, tokens);
    const expiryNs = (now + TOKEN_LIFE_NS) as TimestampNs;
    tokens.delete(tokenHash);
    tokens.set(tokenHash, expiryNs);
    if (tokens.size > TOKENS_PER_USER_MAX) dropOldest(tokens);
    return expiryNs;
  }

  /** Whether this user's token was issued, not revoked, and lies before its expiry. Another user's token is not valid. */
  isValid(user: UserId, tokenHash: string, now: TimestampNs): boolean {
    const expiryNs = this.#byUser.get(user)?.get(tokenHash);
    if (expiryNs === undefined) return false;
    if (now < expiryNs) return true;
    this.#forget(user, tokenHash);
    return false;
  }

  /** Logout: every token of the user ends (SES-12). */
  revokeAll(user: UserId): void {
    this.#byUser.delete(user);
  }

  /**
   * Forgets tokens that are past their expiry, so that users who never come back take no memory. Call it now and then.
   *
   * @returns how many were forgotten.
   */
  sweep(now: TimestampNs): number {
    let forgotten = 0;
    for (const [user, tokens] of this.#byUser) {
      for (const [tokenHash, expiryNs] of tokens) {
        if (now < expiryNs) break;
        this.#forget(user, tokenHash);
        forgotten += 1;
      }
    }
    return forgotten;
  }

  /** How many of the user's tokens are valid. */
  countOf(user: UserId, now: TimestampNs): number {
    let count = 0;
    for (const expiryNs of this.#byUser.get(user)?.values() ?? []) if (now < expiryNs) count += 1;
    return count;
  }

  /** Users with at least one token. */
  get userCount(): number {
    return this.#byUser.size;
  }

  #forget(user: UserId, tokenHash: string): void {
    const tokens = this.#byUser.get(user);
    tokens?.delete(tokenHash);
    if (tokens?.size === 0) this.#byUser.delete(user);
  }
}

function dropOldest(tokens: Map<string, TimestampNs>): void {
  for (const tokenHash of tokens.keys()) {
    tokens.delete(tokenHash);
    return;
  }
}
