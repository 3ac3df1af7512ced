/**
 * Decides whether a thread without heartbeats hangs, or only gets no CPU time.
 *
 *   state during the gap        counts as            reason
 *   on a CPU                    hung                 it computes without progress
 *   runnable, without a CPU     –                    starved: never a reason to end the process
 *   sleeping                    hung                 it waits for an event that does not occur …
 *   blocked in the kernel       blocked              … or for a disk, which may take longer
 *   sleeping or blocked, while  a quarter at least   V8's helpers, a lock's holder: it may wait for a thread
 *   another thread of the                            that is starved
 *   process waits for a CPU
 *
 *   hung > HEARTBEAT_LOST_MS, or hung + blocked > BLOCKED_MAX_MS     it is lost
 *
 * In a suspended process, or when the watcher itself is starved, the intervals between checks are long: one interval
 * counts as at most SLEEP_PER_LOOK_MS of waiting. Without per-thread accounting (not Linux) the whole gap counts as
 * waiting, at most WATCH_MS per check: a watcher that runs a tenth as often allows ten times as long.
 */
import { BLOCKED_MAX_MS, HEARTBEAT_LOST_MS, WATCH_MS } from '../core/limits.ts';
import { type ThreadTimes, type ThreadTimesReader, UNKNOWN_THREAD } from './thread-times.ts';

export type HangCause = 'hung in computation' | 'waits without end' | 'blocked in the kernel' | 'gives no sign of life';

export interface Hang {
  readonly cause: HangCause;
  /** The part of the gap that counts, see above. */
  readonly countedMs: number;
  /** The whole gap in real time. */
  readonly gapMs: number;
}

/** One check of a watcher. */
interface Look {
  /** Milliseconds since the previous check. */
  readonly sinceMs: number;
  /** The kernel's id of the thread; UNKNOWN_THREAD if it is not set. */
  readonly thread: number;
}

/** How long other threads of the process waited for a CPU. Shared by all threads of one watcher. */
export class Starvation {
  readonly times: ThreadTimesReader | null;
  #before: ReadonlyMap<number, ThreadTimes> = new Map();
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  #share = 1;

  constructor(times: ThreadTimesReader | null) {
    this.times = times;
  }

  /**
   * The longest CPU wait of any thread of the process, as a fraction (0 to 1) of the time since the previous scan; 1
   * when the previous scan is too old. One scan per check, shared by all callers.
   */
  worstShare(nowMs: number): number {
    const sinceMs = nowMs - this.#scannedAtMs;
    if (sinceMs === 0 || this.times === null) return this.#share;
    const now = new Map<number, ThreadTimes>();
    this.#share = 0;
    for (const thread of this.times.threads()) {
      const after = this.times.read(thread);
      if (after === null) continue;
      now.set(thread, after);
      const before = this.#before.get(thread);
      if (before !== undefined) this.#share = Math.max(this.#share, waitedMs(before, after, sinceMs) / sinceMs);
    }
    // An old scan does not describe the current interval.
    if (!Number.isFinite(sinceMs) || sinceMs > SCAN_AGE_MAX_MS) this.#share = 1;
    this.#before = now;
    this.#scannedAtMs = nowMs;
    return this.#share;
  }
}

/** A scan older than this is not used. */
const SCAN_AGE_MAX_MS = 50 * WATCH_MS;
/** Shorter gaps are ordinary, and the kernel is not queried. */
const SUSPECT_MS = 1.5 * WATCH_MS;
const SLEEP_PER_LOOK_MS = 5 * WATCH_MS;
/** Waits for other threads are short: even threads with a quarter of a CPU release others within the allowed time. */
const OTHERS_SHARE_MAX = 0.75;

/** CPU wait of a thread in an interval. A thread that was runnable at both ends and did not run was waiting. */
function waitedMs(before: ThreadTimes, after: ThreadTimes, sinceMs: number): number {
  const ranMs = after.cpuMs - before.cpuMs;
  const queuedMs =
    before.state === 'runnable' && after.state === 'runnable' ? sinceMs - ranMs : after.waitMs - before.waitMs;
  return Math.min(Math.max(queuedMs, 0), sinceMs);
}

/** The heartbeat gap of one thread. */
export class HeartbeatGap {
  readonly #starvation: Starvation;
  #heartbeat: number | null = null;
  #gapMs = 0;
  #computedMs = 0;
  #asleepMs = 0;
  #blockedMs = 0;
  #before: ThreadTimes | null = null;

  constructor(starvation: Starvation) {
    this.#starvation = starvation;
  }

  /**
   * Call at every check. @returns how the thread hangs; null while it does not, or that is undecided.
   *
   * @param readHeartbeat - changes with every heartbeat. @param isWatched - false: no heartbeat is expected now.
   */
  look({ sinceMs, thread }: Look, nowMs: number, readHeartbeat: () => number, isWatched: boolean): Hang | null {
    const heartbeat = readHeartbeat();
    if (heartbeat !== this.#heartbeat || !isWatched) {
      this.#reset(heartbeat);
      return null;
    }
    this.#gapMs += sinceMs;
    this.#count(sinceMs, thread, nowMs);
    const hang = this.#hang();
    // Querying the kernel takes time: a heartbeat recorded meanwhile ends the gap.
    if (hang === null || readHeartbeat() === heartbeat) return hang;
    this.#reset(readHeartbeat());
    return null;
  }

  #count(sinceMs: number, thread: number, nowMs: number): void {
    const { times } = this.#starvation;
    if (times === null || thread === UNKNOWN_THREAD) {
      this.#asleepMs += Math.min(sinceMs, WATCH_MS);
      return;
    }
    if (this.#gapMs < SUSPECT_MS) return;
    const after = times.read(thread);
    const before = this.#before;
    this.#before = after;
    if (after === null) return;
    const othersShare = after.state === 'runnable' ? 1 : Math.min(this.#starvation.worstShare(nowMs), OTHERS_SHARE_MAX);
    if (before === null) return;
    const ranMs = Math.min(Math.max(after.cpuMs - before.cpuMs, 0), sinceMs);
    this.#computedMs += ranMs;
    if (after.state === 'runnable') return;
    const ownShare = (ranMs + waitedMs(before, after, sinceMs)) / sinceMs;
    const restMs = Math.min(sinceMs, SLEEP_PER_LOOK_MS) * Math.max(1 - Math.max(ownShare, othersShare), 0);
    if (after.state === 'blocked') this.#blockedMs += restMs;
    else this.#asleepMs += restMs;
  }

  #hang(): Hang | null {
    const hungMs = this.#computedMs + this.#asleepMs;
    const countedMs = hungMs + this.#blockedMs;
    if (hungMs <= HEARTBEAT_LOST_MS && countedMs <= BLOCKED_MAX_MS) return null;
    return { cause: this.#cause(), countedMs: Math.round(countedMs), gapMs: Math.round(this.#gapMs) };
  }

  #cause(): HangCause {
    if (this.#starvation.times === null) return 'gives no sign of life';
    if (this.#blockedMs > this.#computedMs + this.#asleepMs) return 'blocked in the kernel';
    return this.#computedMs > this.#asleepMs ? 'hung in computation' : 'waits without end';
  }

  #reset(heartbeat: number): void {
    this.#heartbeat = heartbeat;
    this.#gapMs = 0;
    this.#computedMs = 0;
    this.#asleepMs = 0;
    this.#blockedMs = 0;
    this.#before = null;
  }
}
