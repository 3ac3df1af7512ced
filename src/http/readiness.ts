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
 *
 * Time in which the kernel gave this thread no CPU although it was runnable is no waiting (decision 0037): each moment has the time
 * withheld until then, and the difference of two is taken off. What was withheld while poll k woke up is taken off pass k too.
 */
import { performance } from 'node:perf_hooks';
import { ownWithheldTime } from '../runtime/thread-times.ts';

interface LoopTimes {
  /** Real milliseconds, monotonic. */
  readonly nowMs: () => number;
  /** Milliseconds that the loop has been blocked in its poll phase since it began. */
  readonly idleMs: () => number;
  /** Milliseconds that the thread of the loop has been runnable without a CPU. @param nowMs that of `nowMs`. */
  readonly withheldMs: (nowMs: number) => number;
  readonly close: () => void;
}

function thisLoop(): LoopTimes {
  const withheld = ownWithheldTime();
  return {
    nowMs: () => performance.now(),
    idleMs: () => performance.nodeTiming.idleTime,
    withheldMs: (nowMs) => withheld.ms(nowMs),
    close: () => withheld.close(),
  };
}
/** A point in time, with the time withheld from this thread until then: between two of them it had their difference less that. */
export interface Moment {
  /** Real milliseconds, monotonic. */
  readonly realMs: number;
  /** Milliseconds that this thread had been runnable without a CPU. */
  readonly withheldMs: number;
}

export class ReadyState {
  readonly #times: LoopTimes;
  #end: Moment;
  #idleAtEndMs: number;
  /** Since when bytes wait that the poll of this pass reads without having been blocked. */
  #polled: Moment;
  /** The moment of this pass; null: not determined yet. */
  #since: Moment | null = null;
  #isStopped = false;

  constructor(times: LoopTimes = thisLoop()) {
    this.#times = times;
    this.#end = this.now();
    this.#polled = this.#end;
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

  /** No other method may be called after it. */
  stop(): void {
    if (!this.#isStopped) this.#times.close();
    this.#isStopped = true;
  }

  now(): Moment {
    const realMs = this.#times.nowMs();
    return { realMs, withheldMs: this.#times.withheldMs(realMs) };
  }

  /** Valid in the poll phase of a pass. */
  since(): Moment {
    this.#since ??= this.#times.idleMs() > this.#idleAtEndMs ? this.now() : this.#polled;
    return this.#since;
  }

  /** Milliseconds since then that this thread had a CPU, or needed none. */
  ownMs({ realMs, withheldMs }: Moment): number {
    const now = this.now();
    return now.realMs - realMs - (now.withheldMs - withheldMs);
  }

  /** The poll phase of this pass is over. */
  passEnded(): void {
    const end = this.now();
    const idleMs = this.#times.idleMs();
    const busyMs = end.realMs - this.#end.realMs - (idleMs - this.#idleAtEndMs);
    this.#polled = { realMs: end.realMs - busyMs, withheldMs: this.#end.withheldMs };
    this.#end = end;
    this.#idleAtEndMs = idleMs;
    this.#since = null;
  }
}
