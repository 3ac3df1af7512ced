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
 * Not here: which answers leave the id free (the caller says so).
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { RESENT_CREATES_MAX, RESENT_WINDOW_NS } from '../core/limits.ts';
import type { TimestampNs } from '../core/units.ts';

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

export class ResentCreates<Answer, Way> {
  /** By user and signature, oldest first. */
  readonly #sent = new Map<string, SentCreate<Answer, Way>>();
  readonly #max: number;

  constructor(max: number = RESENT_CREATES_MAX) {
    assert(max >= 1, 'at least one create is remembered');
    this.#max = max;
  }

  /** Remembered creates. */
  get count(): number {
    return this.#sent.size;
  }

  /** The same create, if it was sent within the window. */
  find(create: CreateIdentity, nowNs: TimestampNs): SentCreate<Answer, Way> | null {
    const sent = this.#sent.get(keyOf(create));
    if (sent === undefined || nowNs - sent.sentNs > RESENT_WINDOW_NS) return null;
    return isSame(sent.text, create.text) ? sent : null;
  }

  /** A create that `find` does not know begins its way; the oldest makes room. @param told hears the answer first. */
  begin(create: CreateIdentity, way: Way, nowNs: TimestampNs, told: (answer: Answer) => void): SentCreate<Answer, Way> {
    const key = keyOf(create);
    this.#sent.delete(key);
    this.#forgetOld(nowNs);
    const { user, signature, text } = create;
    const sent = { user, signature, text, way, sentNs: nowNs, answer: null, waiting: [told] };
    this.#sent.set(key, sent);
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
    if (!isIdTaken && this.#sent.get(key) === sent) this.#sent.delete(key);
    for (const told of sent.waiting.splice(0)) told(answer);
  }

  /** Those beyond the window, and the oldest where there is no room. */
  #forgetOld(nowNs: TimestampNs): void {
    for (const [key, { sentNs }] of this.#sent) {
      if (this.#sent.size < this.#max && nowNs - sentNs <= RESENT_WINDOW_NS) return;
      this.#sent.delete(key);
    }
  }
}

function keyOf({ user, signature }: CreateIdentity): string {
  return `${user}${String.fromCharCode(...signature)}`;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
