/**
 * Signed creates whose senders may send them again, and what the first of each was answered (docs/trading.md).
 *
 *            first                        answered, the id is taken
 *   (none) ─────────▶ on its way ────────────────────────────────────▶ answered ──window over, or no room──▶ (none)
 *                        │  ▲ again: waits for the same answer            ▲ again: the same answer
 *                        │  └─ at most `WAITERS_MAX`                      └─
 *                        └─refused, the id is free─▶ (none)
 *
 * With each goes its sender's `Way`: whatever those who send it again share with the first.
 *
 * The same means: the same user, the same signature, the same canonical text, byte by byte. In memory alone: after a
 * restart, and for what has been forgotten, a create that comes again is DUPLICATE_ORDER.
 *
 * Bounded for each user and for all. A user with its most makes room of its own oldest; where all together are full, the
 * oldest of a user with the most makes room. So a user who sends many forgets its own, not another's.
 *
 * Not here: which answers leave the id free (the caller says so).
 */
import { assert, must } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import { RESENT_CREATES_MAX, RESENT_CREATES_PER_USER_MAX, RESENT_WINDOW_NS } from '../../core/limits.ts';
import type { TimestampNs } from '../../core/units.ts';

const WAITERS_MAX = 16;

/** What makes two creates the same. */
export interface CreateIdentity {
  readonly user: UserId;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
}

/** One create that was sent. */
export interface SentCreate<Answer, Way> extends CreateIdentity {
  readonly way: Way;
  readonly sentNs: TimestampNs;
  /** Null while it is on its way. */
  answer: Answer | null;
  /** The first, and those who sent it again. */
  readonly waiting: ((answer: Answer) => void)[];
}

/** What one user has sent, by signature, oldest first. */
interface Own<Answer, Way> {
  readonly user: UserId;
  readonly sent: Map<string, SentCreate<Answer, Way>>;
}

export class ResentCreates<Answer, Way> {
  readonly #users = new Map<UserId, Own<Answer, Way>>();
  /** Users by how many they have; the index is that number. */
  readonly #byCount: Set<Own<Answer, Way>>[] = [];
  /** The largest of these numbers. */
  #most = 0;
  #count = 0;
  readonly #max: number;
  readonly #ownMax: number;

  constructor(max: number = RESENT_CREATES_MAX, ownMax: number = RESENT_CREATES_PER_USER_MAX) {
    assert(max >= 1 && ownMax >= 1, 'at least one create is remembered');
    this.#max = max;
    this.#ownMax = Math.min(max, ownMax);
  }

  /** Remembered creates. */
  get count(): number {
    return this.#count;
  }

  /** The same create, if it was sent within the window. */
  find(create: CreateIdentity, nowNs: TimestampNs): SentCreate<Answer, Way> | null {
    const sent = this.#users.get(create.user)?.sent.get(keyOf(create));
    if (sent === undefined || nowNs - sent.sentNs > RESENT_WINDOW_NS) return null;
    return isSame(sent.text, create.text) ? sent : null;
  }

  /** A create that `find` does not know begins its way. @param told hears the answer first. */
  begin(create: CreateIdentity, way: Way, nowNs: TimestampNs, told: (answer: Answer) => void): SentCreate<Answer, Way> {
    const { user, signature, text } = create;
    const key = keyOf(create);
    const known = this.#users.get(user);
    if (known !== undefined) this.#makeRoom(known, key, nowNs);
    if (this.#count >= this.#max) this.#forgetOldest(must(this.#first(), 'a full table has a user'));
    const own = this.#users.get(user) ?? { user, sent: new Map<string, SentCreate<Answer, Way>>() };
    const sent = { user, signature, text, way, sentNs: nowNs, answer: null, waiting: [told] };
    this.#change(own, () => own.sent.set(key, sent));
    return sent;
  }

  /** Hears the answer, now or when it comes. @returns false when too many wait for it. */
  join(sent: SentCreate<Answer, Way>, told: (answer: Answer) => void): boolean {
    if (sent.answer !== null) told(sent.answer);
    else if (sent.waiting.length <= WAITERS_MAX) sent.waiting.push(told);
    else return false;
    return true;
  }

  /** @param isIdTaken false: nothing came of it, and the next one is a first one. */
  settle(sent: SentCreate<Answer, Way>, answer: Answer, isIdTaken: boolean): void {
    assert(sent.answer === null, 'a create is answered once');
    sent.answer = answer;
    const key = keyOf(sent);
    const own = this.#users.get(sent.user);
    if (!isIdTaken && own?.sent.get(key) === sent) this.#change(own, () => own.sent.delete(key));
    for (const told of sent.waiting.splice(0)) told(answer);
  }

  /** Takes out what has this key, what is beyond the window, and the oldest of a user who has the most it may. */
  #makeRoom(own: Own<Answer, Way>, key: string, nowNs: TimestampNs): void {
    if (own.sent.has(key)) this.#change(own, () => own.sent.delete(key));
    for (const { sentNs } of own.sent.values()) {
      if (own.sent.size < this.#ownMax && nowNs - sentNs <= RESENT_WINDOW_NS) return;
      this.#forgetOldest(own);
    }
  }

  /** A user with the most. */
  #first(): Own<Answer, Way> | undefined {
    return this.#byCount[this.#most]?.values().next().value;
  }

  #forgetOldest(own: Own<Answer, Way>): void {
    const oldest = must(own.sent.keys().next().value, 'a user of the table has sent something');
    this.#change(own, () => own.sent.delete(oldest));
  }

  /** Keeps the order of users by what they have. */
  #change(own: Own<Answer, Way>, change: () => void): void {
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
