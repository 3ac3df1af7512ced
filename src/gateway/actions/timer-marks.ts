/**
 * Marks of dead-man timers for a takeover (cluster.md 8): clearing keeps of each user whether a timer runs, so that a node
 * that takes over can cancel for it. Of a timer that is started again and again nothing is sent.
 *
 *   runs, or runs no more ─▶ wanted ─▶ on its way, one of a user at a time ─▶ as clearing has it
 *                              ▲                     │ refused: clearing is busy
 *                              └─────────────────────┘
 *
 * Bounded by the users with a timer, and those whose timer has just ended.
 */
import type { ActionReply } from '../../clearing/inputs.ts';
import type { UserId } from '../../core/ids.ts';

/** Messages that one turn sends at most. */
const SENT_PER_TURN = 64;

export class TimerMarks {
  readonly #send: (user: UserId, runs: boolean) => Promise<ActionReply>;
  readonly #wakeUp: () => void;
  /** As clearing has it. */
  readonly #marked = new Set<UserId>();
  readonly #wanted = new Map<UserId, boolean>();
  readonly #onTheWay = new Set<UserId>();
  /** What the last `set` of a user waits with. */
  readonly #stored = new Map<UserId, () => void>();

  /** @param send is answered once; a refusal means that nothing was changed. */
  constructor(send: (user: UserId, runs: boolean) => Promise<ActionReply>, wakeUp: () => void) {
    this.#send = send;
    this.#wakeUp = wakeUp;
  }

  /** Users of whom clearing does not have it yet. */
  get size(): number {
    return this.#wanted.size + this.#onTheWay.size;
  }

  /**
   * @param runs whether a timer of the user runs now.
   * @param stored called when clearing has it, at once where it has it already; of several calls that wait, the last one's.
   */
  set(user: UserId, runs: boolean, stored: (() => void) | null = null): void {
    if (!this.#onTheWay.has(user) && this.#marked.has(user) === runs) {
      this.#wanted.delete(user);
      this.#called(user);
      stored?.();
    } else {
      this.#wanted.set(user, runs);
      if (stored !== null) this.#stored.set(user, stored);
      this.#wakeUp();
    }
  }

  /** To be called every turn. */
  sendWaiting(): void {
    let left = SENT_PER_TURN;
    for (const [user, runs] of this.#wanted) {
      if (this.#onTheWay.has(user)) continue;
      if (left === 0) return;
      left -= 1;
      this.#wanted.delete(user);
      this.#onTheWay.add(user);
      void this.#send(user, runs).then((reply) => this.#answered(user, runs, reply.ok));
    }
  }

  #called(user: UserId): void {
    const stored = this.#stored.get(user);
    this.#stored.delete(user);
    stored?.();
  }

  #answered(user: UserId, runs: boolean, isMarked: boolean): void {
    this.#onTheWay.delete(user);
    if (isMarked && runs) this.#marked.add(user);
    else if (isMarked) this.#marked.delete(user);
    // What was wanted meanwhile counts.
    // mutant: refused-mark-is-sent-again
    if (!isMarked && !this.#wanted.has(user)) this.#wanted.set(user, runs);
    if (isMarked && this.#wanted.get(user) === runs) this.#wanted.delete(user);
    if (!this.#wanted.has(user)) this.#called(user);
    if (isMarked && this.#wanted.size > 0) this.#wakeUp();
  }
}
