/**
 * Dead-man timers: all orders of a user are cancelled unless the user restarts the timer in time (docs/safety.md).
 *
 *             arm                     time passes              all cancels dispatched
 *   (none) ─────────▶ armed ─────────────────────▶ due ─────────────────────────────────▶ (none)
 *     ▲   disarm        │ ▲ arm again                │ arm again, disarm: too late for the due orders, still cancelled
 *     └─────────────────┘ └ later or sooner          └──────────────────────────────────▶ due, and armed
 *
 * One timer per user, in memory only: a restart disarms all; in a cluster clearing keeps whose timers run (timer-marks.ts). The timers form a heap in which each stores its index, so
 * every operation is logarithmic in their number, including repeated restarts of one timer.
 *
 * Entries are limited to users with something to cancel, and a quarter of them to market makers. The table grows with
 * the number of running timers.
 *
 * The caller cancels, decides which users have something to cancel, and calls `done` for due users.
 */
import { must } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import { DEAD_MAN_TIMERS_MAX } from '../../core/limits.ts';
import type { TimestampNs } from '../../core/units.ts';

/** Timers due at one instant are returned in parts, so that they do not delay other work. */
const DUE_A_TURN = 256;

/** Determines which entries a user may take. */
export type TimerHolder = 'user' | 'maker';

/** A timer and its index in the heap. */
interface Timer {
  readonly user: UserId;
  firesAtNs: TimestampNs;
  at: number;
}

export class DeadManTimers {
  readonly #timers = new Map<UserId, Timer>();
  /** Binary: a timer never fires before its parent, at half its index. */
  readonly #heap: Timer[] = [];
  readonly #due = new Set<UserId>();
  readonly #max: Readonly<Record<TimerHolder, number>>;

  /** @param max maximum number of users with a timer. */
  constructor(max: number = DEAD_MAN_TIMERS_MAX) {
    this.#max = { user: Math.ceil((max * 3) / 4), maker: max };
  }

  /** Number of running timers. */
  get count(): number {
    return this.#heap.length;
  }

  /** Number of due users with cancels still to be dispatched. */
  get dueCount(): number {
    return this.#due.size;
  }

  /** When the first of the running timers fires; null when none runs. */
  get firstNs(): TimestampNs | null {
    return this.#heap[0]?.firesAtNs ?? null;
  }

  has(user: UserId): boolean {
    return this.#timers.has(user);
  }

  /** Whether cancels of the user are still to be dispatched. */
  isDue(user: UserId): boolean {
    return this.#due.has(user);
  }

  /** Starts or restarts the user's timer. @returns false when too many users have one. */
  arm(user: UserId, firesAtNs: TimestampNs, holder: TimerHolder = 'maker'): boolean {
    const known = this.#timers.get(user);
    if (known === undefined && this.#heap.length >= this.#max[holder]) return false;
    const timer = known ?? { user, firesAtNs, at: this.#heap.length };
    timer.firesAtNs = firesAtNs;
    this.#timers.set(user, timer);
    this.#settle(timer);
    return true;
  }

  disarm(user: UserId): void {
    const timer = this.#timers.get(user);
    if (timer !== undefined) this.#remove(timer);
  }

  /** Users with a due timer, until `done` is called for them; each call adds at most `DUE_A_TURN`. */
  due(nowNs: TimestampNs): ReadonlySet<UserId> {
    for (let found = 0; found < DUE_A_TURN; found += 1) {
      const first = this.#heap[0];
      if (first === undefined || first.firesAtNs > nowNs) break;
      this.#remove(first);
      this.#due.add(first.user);
    }
    return this.#due;
  }

  /** All cancels of the user are dispatched. */
  done(user: UserId): void {
    this.#due.delete(user);
  }

  /** Replaces it by the last timer, which then moves to its position. */
  #remove(timer: Timer): void {
    this.#timers.delete(timer.user);
    const last = must(this.#heap.pop(), 'a timer stands in the heap');
    if (last === timer) return;
    last.at = timer.at;
    this.#settle(last);
  }

  /** Moves it up before all that fire later, or down after all that fire sooner. */
  #settle(timer: Timer): void {
    const heap = this.#heap;
    let { at } = timer;
    for (let above = heap[(at - 1) >> 1]; above !== undefined && isBefore(timer, above); above = heap[(at - 1) >> 1]) {
      at = this.#move(above, at);
    }
    for (
      let below = this.#firstBelow(at);
      below !== undefined && isBefore(below, timer);
      below = this.#firstBelow(at)
    ) {
      at = this.#move(below, at);
    }
    timer.at = at;
    heap[at] = timer;
  }

  /** @returns the index that it leaves. */
  #move(timer: Timer, to: number): number {
    const from = timer.at;
    timer.at = to;
    this.#heap[to] = timer;
    return from;
  }

  /** The child of an index that fires first. */
  #firstBelow(at: number): Timer | undefined {
    const left = this.#heap[2 * at + 1];
    const right = this.#heap[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.firesAtNs < b.firesAtNs;
}
