/**
 * Since when the bytes that are read now may have waited in the kernel. Sockets are read in the poll phase of a pass of the
 * event loop, all that have bytes:
 *
 *   pass k      timers │ poll: reads every readable socket │ check          ends at endMs, after busyMs of work
 *   pass k + 1  timers │ poll: what is read here arrived after poll k began, so it waits since endMs − busyMs at worst;
 *                      │ where poll k + 1 had to block, nothing was readable before: it waits since now
 *
 * So the time is never later than the arrival of the bytes but by the time that the kernel took to run this thread, and
 * earlier by one pass at most. A socket is read up to 512 KiB in a pass; what lies behind them counts from a pass too late.
 */
import { performance } from 'node:perf_hooks';

export interface LoopTimes {
  /** Real milliseconds, monotonic. */
  readonly nowMs: () => number;
  /** Milliseconds that the loop has been blocked in its poll phase since it began. */
  readonly idleMs: () => number;
}

const THIS_LOOP: LoopTimes = {
  nowMs: () => performance.now(),
  idleMs: () => performance.nodeTiming.idleTime,
};
/** Not determined yet in this pass. */
const UNKNOWN = -1;

export class Readiness {
  readonly #times: LoopTimes;
  #endMs: number;
  #idleAtEndMs: number;
  #busyMs = 0;
  #sinceMs = UNKNOWN;
  #isStopped = false;

  constructor(times: LoopTimes = THIS_LOOP) {
    this.#times = times;
    this.#endMs = times.nowMs();
    this.#idleAtEndMs = times.idleMs();
  }

  /** Observes every pass of this thread's event loop from now on, without keeping it awake. */
  start(): void {
    const observe = (): void => {
      if (this.#isStopped) return;
      this.passEnded();
      setImmediate(observe).unref();
    };
    setImmediate(observe).unref();
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** In real milliseconds; valid in the poll phase of a pass. */
  sinceMs(): number {
    if (this.#sinceMs === UNKNOWN) {
      const hasBlocked = this.#times.idleMs() > this.#idleAtEndMs;
      this.#sinceMs = hasBlocked ? this.#times.nowMs() : this.#endMs - this.#busyMs;
    }
    return this.#sinceMs;
  }

  /** The poll phase of this pass is over. */
  passEnded(): void {
    const endMs = this.#times.nowMs();
    const idleMs = this.#times.idleMs();
    this.#busyMs = endMs - this.#endMs - (idleMs - this.#idleAtEndMs);
    this.#endMs = endMs;
    this.#idleAtEndMs = idleMs;
    this.#sinceMs = UNKNOWN;
  }
}
