/**
 * Dead-man timers: a user who does not come back in time has all orders cancelled (docs/trading.md).
 *
 *             arm                     time passes              all cancels dispatched
 *   (none) ─────────▶ armed ─────────────────────▶ due ─────────────────────────────────▶ (none)
 *     ▲   disarm        │ ▲ arm again                │ arm again, disarm: too late for what was due, which still goes
 *     └─────────────────┘ └ later or sooner          └──────────────────────────────────▶ due, and armed
 *
 * One timer a user, kept in memory alone: a restart disarms all of them.
 *
 * Not here: cancelling. Whoever asks for what is due says when it is done.
 */
import type { UserId } from '../core/ids.ts';
import { DEAD_MAN_TIMERS_MAX } from '../core/limits.ts';
import type { TimestampNs } from '../core/units.ts';

const NEVER = (1n << 64n) as TimestampNs;

export class DeadManTimers {
  readonly #firesAt = new Map<UserId, TimestampNs>();
  readonly #due = new Set<UserId>();
  readonly #max: number;
  /** No timer fires before this; may be too early, never too late. */
  #nextNs: TimestampNs = NEVER;

  /** @param max users that may have a timer. */
  constructor(max: number = DEAD_MAN_TIMERS_MAX) {
    this.#max = max;
  }

  /** Timers that run. */
  get count(): number {
    return this.#firesAt.size;
  }

  /** Users for whom it is over and whose orders are not all on their way out. */
  get dueCount(): number {
    return this.#due.size;
  }

  /** Starts the user's timer, or starts it again. @returns false when too many users have one. */
  arm(user: UserId, firesAtNs: TimestampNs): boolean {
    if (!this.#firesAt.has(user) && this.#firesAt.size >= this.#max) return false;
    this.#firesAt.set(user, firesAtNs);
    if (firesAtNs < this.#nextNs) this.#nextNs = firesAtNs;
    return true;
  }

  disarm(user: UserId): void {
    this.#firesAt.delete(user);
  }

  /** Users for whom the time is over, until `done` is said of them. */
  due(nowNs: TimestampNs): ReadonlySet<UserId> {
    if (nowNs >= this.#nextNs) this.#collect(nowNs);
    return this.#due;
  }

  /** All of the user's orders are on their way out. */
  done(user: UserId): void {
    this.#due.delete(user);
  }

  #collect(nowNs: TimestampNs): void {
    this.#nextNs = NEVER;
    for (const [user, firesAtNs] of this.#firesAt) {
      if (firesAtNs <= nowNs) {
        this.#firesAt.delete(user);
        this.#due.add(user);
      } else if (firesAtNs < this.#nextNs) this.#nextNs = firesAtNs;
    }
  }
}
