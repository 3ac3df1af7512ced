/**
 * Idempotent retries of signed creates: the reply to the first request is repeated for its retries (docs/safety.md).
 *
 *            first                     answered, the id is used
 *   (none) ─────────▶ pending ────────────────────────────────────▶ answered ──window over, or evicted──▶ (none)
 *                        │  ▲ retry: waits for the same reply          ▲ retry: the same reply
 *                        │  └─ at most `WAITERS_MAX`                   └─
 *                        └─rejected, the id is free─▶ (none)
 *
 * Each entry stores the first sender's `Shared`: the data shared by a create and its retries.
 *
 * A retry has the same user, the same signature and the same canonical text, byte by byte. In memory only: after a
 * restart, and after eviction, a retry is answered DUPLICATE_ORDER.
 *
 * Bounded per user and in total. A user at the limit evicts its own oldest entry; when the total is reached, the oldest
 * entry of a user with the most is evicted. So a user who sends many creates evicts its own, not those of others.
 *
 * The caller decides which replies leave the id free.
 */
import { assert, must } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import { RETRIED_CREATES_MAX, RETRIED_CREATES_PER_USER_MAX, RETRY_WINDOW_NS } from '../../core/limits.ts';
import type { TimestampNs } from '../../core/units.ts';

const WAITERS_MAX = 16;

/** The identity of a create: equal for a create and its retries. */
export interface CreateIdentity {
  readonly user: UserId;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
}

/** One create, pending or answered. */
interface SentCreate<Answer, Shared> extends CreateIdentity {
  readonly shared: Shared;
  readonly sentNs: TimestampNs;
  /** Null while pending. */
  answer: Answer | null;
  /** Receivers of the reply: the first request and its retries. */
  readonly waiting: ((answer: Answer) => void)[];
}

/** The creates of one user, by signature, oldest first. */
interface Own<Answer, Shared> {
  readonly user: UserId;
  readonly sent: Map<string, SentCreate<Answer, Shared>>;
}

export class CreateRetries<Answer, Shared> {
  readonly #users = new Map<UserId, Own<Answer, Shared>>();
  /** Users by their number of entries; the index is that number. */
  readonly #byCount: Set<Own<Answer, Shared>>[] = [];
  /** The largest of these numbers. */
  #most = 0;
  #count = 0;
  readonly #max: number;
  readonly #ownMax: number;

  constructor(max: number = RETRIED_CREATES_MAX, ownMax: number = RETRIED_CREATES_PER_USER_MAX) {
    assert(max >= 1 && ownMax >= 1, 'at least one create is remembered');
    this.#max = max;
    this.#ownMax = Math.min(max, ownMax);
  }

  /** Number of entries. */
  get count(): number {
    return this.#count;
  }

  /** The first request of this create, if it was sent within the window. */
  find(create: CreateIdentity, nowNs: TimestampNs): SentCreate<Answer, Shared> | null {
    const sent = this.#users.get(create.user)?.sent.get(keyOf(create));
    if (sent === undefined || nowNs - sent.sentNs > RETRY_WINDOW_NS) return null;
    return isSame(sent.text, create.text) ? sent : null;
  }

  /** Adds a create that `find` did not return. @param receive the first receiver of the reply. */
  begin(
    create: CreateIdentity,
    shared: Shared,
    nowNs: TimestampNs,
    receive: (answer: Answer) => void,
  ): SentCreate<Answer, Shared> {
    const { user, signature, text } = create;
    const key = keyOf(create);
    const known = this.#users.get(user);
    if (known !== undefined) this.#evictFor(known, key, nowNs);
    if (this.#count >= this.#max) this.#dropOldest(must(this.#first(), 'a full table has a user'));
    const own = this.#users.get(user) ?? { user, sent: new Map<string, SentCreate<Answer, Shared>>() };
    // Signature and text lie in memory that is shared by many requests; here they stay for longer than those.
    const kept = { user, signature: signature.slice(), text: text.slice() };
    const sent = { ...kept, shared, sentNs: nowNs, answer: null, waiting: [receive] };
    this.#change(own, () => own.sent.set(key, sent));
    return sent;
  }

  /** Adds a receiver of the reply, called now or when it is known. @returns false when too many wait. */
  join(sent: SentCreate<Answer, Shared>, receive: (answer: Answer) => void): boolean {
    if (sent.answer !== null) receive(sent.answer);
    else if (sent.waiting.length <= WAITERS_MAX) sent.waiting.push(receive);
    else return false;
    return true;
  }

  /** Stores the reply and calls the receivers. @param isIdTaken false: the id is free, so the entry is removed. */
  settle(sent: SentCreate<Answer, Shared>, answer: Answer, isIdTaken: boolean): void {
    assert(sent.answer === null, 'a create is answered once');
    sent.answer = answer;
    const key = keyOf(sent);
    const own = this.#users.get(sent.user);
    if (!isIdTaken && own?.sent.get(key) === sent) this.#change(own, () => own.sent.delete(key));
    for (const receive of sent.waiting.splice(0)) receive(answer);
  }

  /** Removes the entry of this key, entries beyond the window, and the oldest one of a user at its limit. */
  #evictFor(own: Own<Answer, Shared>, key: string, nowNs: TimestampNs): void {
    if (own.sent.has(key)) this.#change(own, () => own.sent.delete(key));
    for (const { sentNs } of own.sent.values()) {
      if (own.sent.size < this.#ownMax && nowNs - sentNs <= RETRY_WINDOW_NS) return;
      this.#dropOldest(own);
    }
  }

  /** A user with the most entries. */
  #first(): Own<Answer, Shared> | undefined {
    return this.#byCount[this.#most]?.values().next().value;
  }

  #dropOldest(own: Own<Answer, Shared>): void {
    const oldest = must(own.sent.keys().next().value, 'a user of the table has sent something');
    this.#change(own, () => own.sent.delete(oldest));
  }

  /** Updates the index of users by number of entries. */
  #change(own: Own<Answer, Shared>, change: () => void): void {
    const before = own.sent.size;
    change();
    const after = own.sent.size;
    this.#count += after - before;
    this.#byCount[before]?.delete(own);
    for (let count = this.#byCount.length; count <= after; count += 1) this.#byCount.push(new Set());
    if (after > 0) this.#byCount[after]?.add(own);
    this.#most = Math.max(this.#most, after);
    while (this.#most > 0 && this.#byCount[this.#most]?.size === 0) this.#most -= 1;
    if (after === 0) this.#users.delete(own.user);
    else this.#users.set(own.user, own);
  }
}

function keyOf({ signature }: CreateIdentity): string {
  return String.fromCharCode(...signature);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
