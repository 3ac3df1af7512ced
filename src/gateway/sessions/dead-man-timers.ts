/**
 * Dead-man timers: a user who does not come back in time has all orders cancelled (docs/trading.md).
 *
 *             arm                     time passes              all cancels dispatched
 *   (none) ─────────▶ armed ─────────────────────▶ due ─────────────────────────────────▶ (none)
 *     ▲   disarm        │ ▲ arm again                │ arm again, disarm: too late for what was due, which still goes
 *     └─────────────────┘ └ later or sooner          └──────────────────────────────────▶ due, and armed
 *
 * One timer a user, kept in memory alone: a restart disarms all of them. They stand in a heap in which each knows its
 * place, so that none costs more than the logarithm of how many there are, however often it is started again.
 *
 * Places are for users who have something to cancel, and a quarter of them for market makers alone. The table grows with
 * the timers that run.
 *
 * Not here: cancelling, and who has something to cancel. Whoever asks for what is due says when it is done.
 */
import { must } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import { DEAD_MAN_TIMERS_MAX } from '../../core/limits.ts';
import type { TimestampNs } from '../../core/units.ts';

/** Timers that end at one instant are told in parts, so that they hold up nobody. */
const DUE_A_TURN = 256;

/** Which places a user may take. */
export type TimerHolder = 'user' | 'maker';

/** A timer and its place in the heap. */
interface Timer {
  readonly user: UserId;
  firesAtNs: TimestampNs;
  at: number;
}

export class DeadManTimers {
  readonly #timers = new Map<UserId, Timer>();
  /** Binary: none fires before the one at half its place. */
  readonly #heap: Timer[] = [];
  readonly #due = new Set<UserId>();
  readonly #max: Readonly<Record<TimerHolder, number>>;

  /** @param max users that may have a timer. */
  constructor(max: number = DEAD_MAN_TIMERS_MAX) {
    this.#max = { user: Math.ceil((max * 3) / 4), maker: max };
  }

  /** Timers that run. */
  get count(): number {
    return this.#heap.length;
  }

  /** Users who were told to be due and whose orders are not all on their way out. */
  get dueCount(): number {
    return this.#due.size;
  }

  has(user: UserId): boolean {
    return this.#timers.has(user);
  }

  /** Starts the user's timer, or starts it again. @returns false when too many users have one. */
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

  /** Users for whom the time is over, until `done` is said of them; each call finds at most `DUE_A_TURN` more. */
  due(nowNs: TimestampNs): ReadonlySet<UserId> {
    for (let found = 0; found < DUE_A_TURN; found += 1) {
      const first = this.#heap[0];
      if (first === undefined || first.firesAtNs > nowNs) break;
      this.#remove(first);
      this.#due.add(first.user);
    }
    return this.#due;
  }

  /** All of the user's orders are on their way out. */
  done(user: UserId): void {
    this.#due.delete(user);
  }

  /** The last one takes its place, and goes from there where it belongs. */
  #remove(timer: Timer): void {
    this.#timers.delete(timer.user);
    const last = must(this.#heap.pop(), 'a timer stands in the heap');
    if (last === timer) return;
    last.at = timer.at;
    this.#settle(last);
  }

  /** Up past all that fire later, else down past all that fire sooner, from the place it has. */
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

  /** @returns the place that it leaves. */
  #move(timer: Timer, to: number): number {
    const from = timer.at;
    timer.at = to;
    this.#heap[to] = timer;
    return from;
  }

  /** Of the two below a place the one that fires first. */
  #firstBelow(at: number): Timer | undefined {
    const left = this.#heap[2 * at + 1];
    const right = this.#heap[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.firesAtNs < b.firesAtNs;
}
