/**
 * Judges a thread that gives no sign of life: does it hang, or has it only not got a CPU?
 *
 *   the time of its silence     counts as            because
 *   on a CPU                    hung                 it computes and comes to nothing
 *   runnable, without a CPU     –                    starved: not its fault, and never an end
 *   asleep                      hung                 it waits for what does not come …
 *   blocked in the kernel       blocked              … or for a disk, which may take longer
 *   asleep or blocked, while    a quarter at least   V8's helpers, a lock's holder: it may wait for a thread
 *   another thread of the                            that is starved
 *   process waits for a CPU
 *
 *   hung > HEARTBEAT_LOST_MS, or hung + blocked > BLOCKED_MAX_MS     it is lost
 *
 * A process that was suspended, or a watcher that is starved itself, looks seldom: between two looks it counts of sleep no
 * more than SLEEP_PER_LOOK_MS. Where the kernel says nothing (no Linux), all silence counts as sleep, and no more than
 * WATCH_MS between two looks: a watcher that gets a tenth of its turns gives ten times as long.
 */
import { BLOCKED_MAX_MS, HEARTBEAT_LOST_MS, WATCH_MS } from '../core/limits.ts';
import { type ThreadTimes, type ThreadTimesReader, UNKNOWN_THREAD } from './thread-times.ts';

export type HangCause = 'hung in computation' | 'waits without end' | 'blocked in the kernel' | 'gives no sign of life';

export interface Hang {
  readonly cause: HangCause;
  /** Of its silence, as counted above. */
  readonly countedMs: number;
  /** By the clock. */
  readonly silentMs: number;
}

/** One look of a watcher. */
export interface Look {
  /** Milliseconds since the look before. */
  readonly sinceMs: number;
  /** The kernel's id of the thread; UNKNOWN_THREAD when it has not said. */
  readonly thread: number;
}

/** What other threads of the process waited for a CPU. One for all threads that a watcher watches. */
export class Starvation {
  readonly times: ThreadTimesReader | null;
  private before: ReadonlyMap<number, ThreadTimes> = new Map();
  private scannedAtMs = Number.NEGATIVE_INFINITY;
  private share = 1;

  constructor(times: ThreadTimesReader | null) {
    this.times = times;
  }

  /**
   * From 0 to 1, of the time since the scan before: the longest that any thread of the process stood in the queue for a
   * CPU. 1 when it is not known: the scan before is too long ago. One scan a look, whoever asks.
   */
  worstShare(nowMs: number): number {
    const sinceMs = nowMs - this.scannedAtMs;
    if (sinceMs === 0 || this.times === null) return this.share;
    const now = new Map<number, ThreadTimes>();
    this.share = 0;
    for (const thread of this.times.threads()) {
      const after = this.times.read(thread);
      if (after === null) continue;
      now.set(thread, after);
      const before = this.before.get(thread);
      if (before !== undefined) this.share = Math.max(this.share, waitedMs(before, after, sinceMs) / sinceMs);
    }
    // A scan that is long past says what was, not what is.
    if (!Number.isFinite(sinceMs) || sinceMs > SCAN_AGE_MAX_MS) this.share = 1;
    this.before = now;
    this.scannedAtMs = nowMs;
    return this.share;
  }
}

/** Beyond this the silence in between was not looked at. */
const SCAN_AGE_MAX_MS = 50 * WATCH_MS;
/** Shorter silence is ordinary, and the kernel is not asked. */
const SUSPECT_MS = 1.5 * WATCH_MS;
const SLEEP_PER_LOOK_MS = 5 * WATCH_MS;
/** What a thread waits for of others is short: with less of a CPU than this they would hold it up for longer than it may hang. */
const OTHERS_SHARE_MAX = 0.75;

/** What a thread waited for a CPU in an interval. One that could run at both ends and did not was waiting. */
function waitedMs(before: ThreadTimes, after: ThreadTimes, sinceMs: number): number {
  const ranMs = after.cpuMs - before.cpuMs;
  const queuedMs =
    before.state === 'runnable' && after.state === 'runnable' ? sinceMs - ranMs : after.waitMs - before.waitMs;
  return Math.min(Math.max(queuedMs, 0), sinceMs);
}

/** The silence of one thread. */
export class Silence {
  private readonly starvation: Starvation;
  private beat: number | null = null;
  private silentMs = 0;
  private computedMs = 0;
  private asleepMs = 0;
  private blockedMs = 0;
  private before: ThreadTimes | null = null;

  constructor(starvation: Starvation) {
    this.starvation = starvation;
  }

  /**
   * Call at every look. @returns how it hangs; null while it does not, or is not known to.
   *
   * @param readBeat - moves whenever the thread shows life. @param isWatched - false: nothing is expected of it now.
   */
  look({ sinceMs, thread }: Look, nowMs: number, readBeat: () => number, isWatched: boolean): Hang | null {
    const beat = readBeat();
    if (beat !== this.beat || !isWatched) {
      this.reset(beat);
      return null;
    }
    this.silentMs += sinceMs;
    this.count(sinceMs, thread, nowMs);
    const hang = this.hang();
    // What the kernel was asked took its time: who has shown life meanwhile lives.
    if (hang === null || readBeat() === beat) return hang;
    this.reset(readBeat());
    return null;
  }

  private count(sinceMs: number, thread: number, nowMs: number): void {
    const { times } = this.starvation;
    if (times === null || thread === UNKNOWN_THREAD) {
      this.asleepMs += Math.min(sinceMs, WATCH_MS);
      return;
    }
    if (this.silentMs < SUSPECT_MS) return;
    const after = times.read(thread);
    const { before } = this;
    this.before = after;
    if (after === null) return;
    const othersShare = after.state === 'runnable' ? 1 : Math.min(this.starvation.worstShare(nowMs), OTHERS_SHARE_MAX);
    if (before === null) return;
    const ranMs = Math.min(Math.max(after.cpuMs - before.cpuMs, 0), sinceMs);
    this.computedMs += ranMs;
    if (after.state === 'runnable') return;
    const ownShare = (ranMs + waitedMs(before, after, sinceMs)) / sinceMs;
    const restMs = Math.min(sinceMs, SLEEP_PER_LOOK_MS) * Math.max(1 - Math.max(ownShare, othersShare), 0);
    if (after.state === 'blocked') this.blockedMs += restMs;
    else this.asleepMs += restMs;
  }

  private hang(): Hang | null {
    const hungMs = this.computedMs + this.asleepMs;
    const countedMs = hungMs + this.blockedMs;
    if (hungMs <= HEARTBEAT_LOST_MS && countedMs <= BLOCKED_MAX_MS) return null;
    return { cause: this.cause(), countedMs: Math.round(countedMs), silentMs: Math.round(this.silentMs) };
  }

  private cause(): HangCause {
    if (this.starvation.times === null) return 'gives no sign of life';
    if (this.blockedMs > this.computedMs + this.asleepMs) return 'blocked in the kernel';
    return this.computedMs > this.asleepMs ? 'hung in computation' : 'waits without end';
  }

  private reset(beat: number): void {
    this.beat = beat;
    this.silentMs = 0;
    this.computedMs = 0;
    this.asleepMs = 0;
    this.blockedMs = 0;
    this.before = null;
  }
}
