/**
 * Bearer tokens: keyed by user and value, valid for 24 hours, at most 32 per user (SES-07, SES-09, SES-12, SES-15,
 * AMB-87).
 *
 * Only hashes are kept: the caller hashes the presented value with SHA-256 and hands in the text of the digest, so a
 * look-up compares nothing that is secret.
 *
 * Keys are free, so anybody can log in as many users. Who has no funds shares a part of the table, and of what one address
 * may hold; there the oldest gives way to the newest. Sessions of users with funds have the rest to themselves.
 *
 *   issue ─▶ idle, public ──the user has funds when it is used──▶ idle, kept ──has none any more──▶ idle, public
 *              │ its address holds too many: the oldest of it     │ the table is full and nothing is public:
 *              │ the part or the table is full: the longest idle  │ the longest idle
 *              ▼                                                  ▼
 *           (dropped)                                          (dropped)
 *
 * Invariants
 *   (1) Per user at most 32 tokens, in the order of issue; one more drops the oldest. A user without tokens has no entry.
 *   (2) At most `sessionsMax` tokens, at most `publicMax` of them of users who had no funds when they last used them.
 *   (3) Tokens stand in the order of issue, which is that of their expiry; each step costs what it forgets.
 *
 * Not here: making tokens and hashing them; how sockets end when their token does (the edge asks `isValid`).
 */
import type { UserId } from '../../core/ids.ts';
import { SESSIONS_MAX, SESSIONS_PUBLIC_MAX, TOKEN_LIFE_NS, TOKENS_PER_USER_MAX } from '../../core/limits.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import type { TimestampNs } from '../../core/units.ts';

/** Expired tokens that one call forgets: about a millisecond. */
const FORGOTTEN_A_CALL = 1_024;
/** Tokens of users who have come to funds since that one login passes on the way to one without. */
const PASSED_A_CALL = 64;

export interface TokenRules {
  readonly sessionsMax: number;
  readonly publicMax: number;
  /** Sessions of users without funds from one address. */
  readonly perAddressMax: number;
  /** Whether a user has a balance or a position. */
  readonly isFunded: (user: UserId) => boolean;
}

const STANDARD_RULES: TokenRules = {
  sessionsMax: SESSIONS_MAX,
  publicMax: SESSIONS_PUBLIC_MAX,
  perAddressMax: Number.POSITIVE_INFINITY,
  isFunded: () => false,
};

class Session {
  readonly user: UserId;
  readonly tokenHash: string;
  readonly expiryNs: TimestampNs;
  /** From where it was opened; '' where nobody asks. */
  readonly address: string;
  readonly issued = new ListEntry<Session>(this);
  readonly idle = new ListEntry<Session>(this);
  /** Among those of its address that count against it. */
  readonly ofAddress = new ListEntry<Session>(this);

  constructor(user: UserId, tokenHash: string, expiryNs: TimestampNs, address: string) {
    this.user = user;
    this.tokenHash = tokenHash;
    this.expiryNs = expiryNs;
    this.address = address;
  }
}

export class Tokens {
  readonly #rules: TokenRules;
  readonly #byUser = new Map<UserId, Map<string, Session>>();
  readonly #byAddress = new Map<string, LinkedList<Session>>();
  readonly #issued = new LinkedList<Session>();
  /** By their last use, the longest idle first. */
  readonly #public = new LinkedList<Session>();
  readonly #kept = new LinkedList<Session>();

  constructor(rules: Partial<TokenRules> = {}) {
    this.#rules = { ...STANDARD_RULES, ...rules };
  }

  /**
   * Drops what has to give way to one more token of this user.
   *
   * @returns false when there is no room yet: users with funds have the table, or too many have come to funds since they
   *   logged in.
   */
  makeRoom(user: UserId, address: string, now: TimestampNs): boolean {
    this.sweep(now);
    const own = this.#byUser.get(user);
    if (own !== undefined && own.size >= TOKENS_PER_USER_MAX) this.#dropOldestOf(own);
    const { sessionsMax, publicMax, perAddressMax, isFunded } = this.#rules;
    const isKept = isFunded(user);
    if (!isKept) {
      if (address !== '' && !this.#clear(this.#byAddress.get(address), perAddressMax)) return false;
      if (!this.#clear(this.#public, publicMax)) return false;
    }
    if (this.#issued.size < sessionsMax || this.#dropPublic(this.#public)) return this.#issued.size < sessionsMax;
    const longestIdle = this.#kept.first;
    if (longestIdle === null || !isKept) return false;
    this.#forget(longestIdle);
    return true;
  }

  /**
   * Call it only when `makeRoom` has made room for this user.
   *
   * @param tokenHash SHA-256 of the token, in any one text form.
   * @returns the instant from which the token is no longer valid.
   */
  issue(user: UserId, tokenHash: string, now: TimestampNs, address = ''): TimestampNs {
    const own = this.#byUser.get(user) ?? new Map<string, Session>();
    this.#byUser.set(user, own);
    const known = own.get(tokenHash);
    if (known !== undefined) this.#unlink(known);
    const expiryNs = (now + TOKEN_LIFE_NS) as TimestampNs;
    const session = new Session(user, tokenHash, expiryNs, address);
    own.delete(tokenHash);
    own.set(tokenHash, session);
    this.#issued.append(session.issued);
    this.#use(session);
    if (own.size > TOKENS_PER_USER_MAX) this.#dropOldestOf(own);
    return expiryNs;
  }

  /** Whether this user's token was issued, not revoked, and lies before its expiry. Another user's token is not valid. */
  isValid(user: UserId, tokenHash: string, now: TimestampNs): boolean {
    const session = this.#byUser.get(user)?.get(tokenHash);
    if (session === undefined) return false;
    const { expiryNs } = session;
    // mutant: session-expiry
    if (now < expiryNs) {
      this.#use(session);
      return true;
    }
    this.#forget(session);
    return false;
  }

  /** Logout: every token of the user ends (SES-12). */
  revokeAll(user: UserId): void {
    for (const session of this.#byUser.get(user)?.values() ?? []) this.#unlink(session);
    this.#byUser.delete(user);
  }

  /**
   * Forgets tokens that are past their expiry, so that users who never come back take no memory. Call it now and then.
   *
   * @returns how many were forgotten, at most FORGOTTEN_A_CALL.
   */
  sweep(now: TimestampNs): number {
    let forgotten = 0;
    for (; forgotten < FORGOTTEN_A_CALL; forgotten += 1) {
      const oldest = this.#issued.first;
      if (oldest === null || now < oldest.expiryNs) break;
      this.#forget(oldest);
    }
    return forgotten;
  }

  /** How many of the user's tokens are valid. */
  countOf(user: UserId, now: TimestampNs): number {
    let count = 0;
    for (const { expiryNs } of this.#byUser.get(user)?.values() ?? []) if (now < expiryNs) count += 1;
    return count;
  }

  /** Users with at least one token. */
  get userCount(): number {
    return this.#byUser.size;
  }

  /** Tokens, expired ones that nothing has looked at since included. */
  get count(): number {
    return this.#issued.size;
  }

  /** It is no longer idle, and stands where its user's funds put it. */
  #use(session: Session): void {
    if (this.#rules.isFunded(session.user)) {
      this.#kept.append(session.idle);
      this.#leaveAddress(session);
      return;
    }
    this.#public.append(session.idle);
    if (session.address === '' || session.ofAddress.list !== null) return;
    let ofAddress = this.#byAddress.get(session.address);
    if (ofAddress === undefined) {
      ofAddress = new LinkedList();
      this.#byAddress.set(session.address, ofAddress);
    }
    ofAddress.append(session.ofAddress);
  }

  /** @returns whether the list has, or has been given, room for one more. */
  #clear(list: LinkedList<Session> | undefined, max: number): boolean {
    return list === undefined || list.size < max || this.#dropPublic(list);
  }

  /** Drops the first session of a list whose user has no funds; those who have come to some leave the list. */
  #dropPublic(list: LinkedList<Session>): boolean {
    for (let passed = 0; passed < PASSED_A_CALL; passed += 1) {
      const first = list.first;
      if (first === null) return false;
      // mutant: funded-session-kept
      if (!this.#rules.isFunded(first.user)) {
        this.#forget(first);
        return true;
      }
      this.#use(first);
    }
    return false;
  }

  #dropOldestOf(own: ReadonlyMap<string, Session>): void {
    for (const session of own.values()) {
      this.#forget(session);
      return;
    }
  }

  #forget(session: Session): void {
    this.#unlink(session);
    const own = this.#byUser.get(session.user);
    own?.delete(session.tokenHash);
    if (own?.size === 0) this.#byUser.delete(session.user);
  }

  #unlink(session: Session): void {
    session.issued.list?.remove(session.issued);
    session.idle.list?.remove(session.idle);
    this.#leaveAddress(session);
  }

  #leaveAddress({ address, ofAddress }: Session): void {
    const { list } = ofAddress;
    if (list === null) return;
    list.remove(ofAddress);
    if (list.size === 0) this.#byAddress.delete(address);
  }
}
