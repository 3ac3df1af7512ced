/**
 * Bearer tokens: keyed by user and value, valid for 24 hours or to the end of the co-signers that opened them (MON-12),
 * at most 32 per user, key that signed and scope, so that no key ends the sessions of another, and none that reads one that
 * trades (SES-07, SES-09, SES-12, SES-15, AMB-87, MON-13, RDO-01).
 *
 * Only hashes are stored: the caller hashes the presented value with SHA-256 and passes the text of the digest, so a
 * look-up compares no secret.
 *
 * Keys are free, so one client can log in as many users. Users without funds share a part of the table, with a limit
 * per address; there the oldest session is evicted for the newest. The rest is for sessions of users with funds.
 *
 *   issue ─▶ idle, public ──used, the user has funds──▶ idle, kept ──used, without funds──▶ idle, public
 *              │ its address has too many: its oldest   │ the table is full without public sessions:
 *              │ the part or the table is full:         │ the longest idle
 *              │ the longest idle                       │
 *              ▼                                        ▼
 *           (dropped)                                (dropped)
 *
 * Invariants
 *   (1) At most 32 tokens per user, key and scope, in the order of issue; one more drops the oldest of them. A user without
 *       tokens has no entry; an account has at most 17 keys.
 *   (2) At most `sessionsMax` tokens, at most `publicMax` of them of users without funds at their last use.
 *   (3) Tokens are in the order of issue, which is that of their expiry but for those that end earlier with a co-signer: these are
 *       dropped when they are presented, or with their neighbours. The cost of a call is proportional to what it drops.
 *
 * The caller creates and hashes tokens; the HTTP layer closes sockets with expired tokens (`isValid`).
 */
import type { UserId } from '../../core/ids.ts';
import { SESSIONS_MAX, SESSIONS_PUBLIC_MAX, TOKEN_LIFE_NS, TOKENS_PER_USER_MAX } from '../../core/limits.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import type { TimestampNs } from '../../core/units.ts';

/** Expired tokens dropped per call: about a millisecond. */
const FORGOTTEN_A_CALL = 1_024;
/** Tokens of users who have funds by now, examined by one login of a user without. */
const PASSED_A_CALL = 64;

interface TokenRules {
  readonly sessionsMax: number;
  readonly publicMax: number;
  /** Limit of sessions of users without funds per address. */
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

/** How a session was opened. */
interface Opening {
  /** The address of the client; '' if addresses are not limited. */
  readonly address?: string;
  readonly byCoSigners?: boolean;
  /** Names the session among those of its user, any text that gives nothing of its token away; '' unless given. */
  readonly id?: string;
  /** Names the key whose signature opened it, any text; '' for the master's. */
  readonly key?: string;
  /** When a co-signer that opened it may sign no more; null for never. */
  readonly endNs?: bigint | null;
  readonly isReadOnly?: boolean;
}

/** What a valid token stands for. */
export interface LiveSession {
  /** It was opened by co-signers of the account (wire.md 3.2): its cancels need no signature (AMB-136). */
  readonly byCoSigners: boolean;
  /** It was opened to read, or its signers weigh less than the threshold `low` (MON-13, RDO-01). */
  readonly isReadOnly: boolean;
  readonly tokenHash: string;
}

/** What its user may read of a session (RDO-02). */
export interface SessionView {
  readonly id: string;
  readonly isReadOnly: boolean;
  readonly createdNs: TimestampNs;
  readonly lastUsedNs: TimestampNs;
  /** Of the login; '' where addresses are not limited. */
  readonly address: string;
}

class Session implements LiveSession, SessionView {
  readonly user: UserId;
  readonly tokenHash: string;
  readonly id: string;
  readonly createdNs: TimestampNs;
  lastUsedNs: TimestampNs;
  readonly expiryNs: TimestampNs;
  /** The address of the login; '' where addresses are not limited. */
  readonly address: string;
  readonly byCoSigners: boolean;
  readonly isReadOnly: boolean;
  readonly key: string;
  readonly issued = new ListEntry<Session>(this);
  readonly idle = new ListEntry<Session>(this);
  /** Entry in the list of sessions that count against its address. */
  readonly ofAddress = new ListEntry<Session>(this);

  constructor(
    user: UserId,
    tokenHash: string,
    times: { readonly nowNs: TimestampNs; readonly expiryNs: TimestampNs },
    opening: Opening,
  ) {
    const { address = '', byCoSigners = false, isReadOnly = false, key = '', id = '' } = opening;
    const { nowNs, expiryNs } = times;
    this.id = id;
    this.createdNs = nowNs;
    this.lastUsedNs = nowNs;
    this.isReadOnly = isReadOnly;
    this.key = key;
    this.user = user;
    this.tokenHash = tokenHash;
    this.expiryNs = expiryNs;
    this.address = address;
    this.byCoSigners = byCoSigners;
  }
}

export class Tokens {
  readonly #rules: TokenRules;
  readonly #byUser = new Map<UserId, Map<string, Session>>();
  readonly #byAddress = new Map<string, LinkedList<Session>>();
  readonly #issued = new LinkedList<Session>();
  /** By last use, longest idle first. */
  readonly #public = new LinkedList<Session>();
  readonly #kept = new LinkedList<Session>();

  constructor(rules: Partial<TokenRules> = {}) {
    this.#rules = { ...STANDARD_RULES, ...rules };
  }

  /**
   * Evicts what is necessary for one more token of this user.
   *
   * @returns false if that is not possible now: the table is full of users with funds, or too many users got funds
   * since
   *   their login.
   */
  makeRoom(user: UserId, { address = '', key = '', isReadOnly = false }: Opening, now: TimestampNs): boolean {
    this.sweep(now);
    this.#keepBelow(user, { key, isReadOnly }, TOKENS_PER_USER_MAX);
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
   * Call only after `makeRoom` returned true for this user.
   *
   * @param tokenHash SHA-256 of the token, in any one text form.
   * @returns the time from which the token is no longer valid.
   */
  issue(user: UserId, tokenHash: string, now: TimestampNs, opening: Opening = {}): TimestampNs {
    const own = this.#byUser.get(user) ?? new Map<string, Session>();
    this.#byUser.set(user, own);
    const known = own.get(tokenHash);
    if (known !== undefined) this.#unlink(known);
    const { endNs = null, key = '', isReadOnly = false } = opening;
    const lifeEndNs = (now + TOKEN_LIFE_NS) as TimestampNs;
    // mutant: session-of-ended-co-signer
    const expiryNs = endNs !== null && endNs < lifeEndNs ? (endNs as TimestampNs) : lifeEndNs;
    const session = new Session(user, tokenHash, { nowNs: now, expiryNs }, opening);
    own.delete(tokenHash);
    own.set(tokenHash, session);
    this.#issued.append(session.issued);
    this.#use(session);
    this.#keepBelow(user, { key, isReadOnly }, TOKENS_PER_USER_MAX + 1);
    return expiryNs;
  }

  /** Whether this token was issued to this user, is not revoked, and has not expired. Another user's token is not valid. */
  isValid(user: UserId, tokenHash: string, now: TimestampNs): boolean {
    return this.find(user, tokenHash, now) !== null;
  }

  /** The session of a valid token, null for every other. */
  find(user: UserId, tokenHash: string, now: TimestampNs): LiveSession | null {
    const session = this.#byUser.get(user)?.get(tokenHash);
    if (session === undefined) return null;
    const { expiryNs } = session;
    // mutant: session-expiry
    if (now < expiryNs) {
      session.lastUsedNs = now;
      this.#use(session);
      return session;
    }
    this.#forget(session);
    return null;
  }

  /** The valid sessions of a user, oldest first; at most 32 a key and scope (RDO-02). */
  listOf(user: UserId, now: TimestampNs): readonly (SessionView & LiveSession)[] {
    return [...(this.#byUser.get(user)?.values() ?? [])].filter(({ expiryNs }) => now < expiryNs);
  }

  /** Ends one session: the logout of one that only reads, or by its id (RDO-01, RDO-02). */
  revoke(user: UserId, tokenHash: string): void {
    const session = this.#byUser.get(user)?.get(tokenHash);
    if (session !== undefined) this.#forget(session);
  }

  /** Logout: revokes every token of the user (SES-12). */
  revokeAll(user: UserId): void {
    for (const session of this.#byUser.get(user)?.values() ?? []) this.#unlink(session);
    this.#byUser.delete(user);
  }

  /**
   * Drops expired tokens, so that users who never return use no memory. Call it periodically.
   *
   * @returns the number dropped, at most FORGOTTEN_A_CALL.
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

  /** The number of the user's valid tokens. */
  countOf(user: UserId, now: TimestampNs): number {
    let count = 0;
    for (const { expiryNs } of this.#byUser.get(user)?.values() ?? []) if (now < expiryNs) count += 1;
    return count;
  }

  /** Number of users with at least one token. */
  get userCount(): number {
    return this.#byUser.size;
  }

  /** Number of tokens, including expired ones that are not dropped yet. */
  get count(): number {
    return this.#issued.size;
  }

  /** Marks the session as used and moves it to the list that matches its user's funds. */
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

  /** @returns whether the list has, or has got, a free place. */
  #clear(list: LinkedList<Session> | undefined, max: number): boolean {
    return list === undefined || list.size < max || this.#dropPublic(list);
  }

  /** Drops the first session of a list with a user without funds; sessions of users with funds leave the list. */
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

  /** Drops the oldest of a key's sessions of a scope where it has as many as this. */
  #keepBelow(user: UserId, of: Pick<Session, 'key' | 'isReadOnly'>, many: number): void {
    const own = this.#byUser.get(user);
    if (own === undefined || own.size < many) return;
    // mutant: tokens-of-a-key
    const ofKey = [...own.values()].filter(({ key, isReadOnly }) => key === of.key && isReadOnly === of.isReadOnly);
    const [oldest] = ofKey;
    if (oldest !== undefined && ofKey.length >= many) this.#forget(oldest);
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
