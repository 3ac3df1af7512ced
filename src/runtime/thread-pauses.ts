/**
 * Why the calling thread did not run for a while: time that the kernel let it wait for a CPU while it was runnable, and
 * pauses of its collector. Read by the thread itself, after a gap between two records of its trace.
 *
 * The kernel's accounting (`/proc/thread-self/schedstat`) is one read of an open file, about a microsecond. The collector
 * has no notification on a thread whose event loop does not run, so its profiler is read after the heap has shrunk.
 */
import { openSync, readSync } from 'node:fs';
import { GCProfiler, getHeapStatistics } from 'node:v8';

const SCHEDSTAT = '/proc/thread-self/schedstat';
/** Three numbers of up to 20 digits. */
const TEXT_BYTES = 64;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;

export class ThreadPauses {
  readonly #file: number | null;
  readonly #text = new Uint8Array(TEXT_BYTES);
  #waitedUs = 0;
  #usedBytes = 0;
  #profiler = new GCProfiler();
  /** Microseconds since the previous call of `look`: runnable without a CPU, and in pauses of the collector. */
  runQueueUs = 0;
  collectorUs = 0;

  constructor() {
    this.#file = openSchedstat();
    this.#profiler.start();
    this.look();
  }

  look(): void {
    const waitedUs = this.#readWaitedUs();
    this.runQueueUs = waitedUs - this.#waitedUs;
    this.#waitedUs = waitedUs;
    const { used_heap_size: usedBytes } = getHeapStatistics();
    this.collectorUs = usedBytes < this.#usedBytes ? this.#readCollectorUs() : 0;
    this.#usedBytes = usedBytes;
  }

  #readCollectorUs(): number {
    const { statistics } = this.#profiler.stop();
    this.#profiler = new GCProfiler();
    this.#profiler.start();
    return statistics.reduce((sum, { cost }) => sum + cost, 0);
  }

  /** The second number of the file, in microseconds; 0 where there is none. */
  #readWaitedUs(): number {
    if (this.#file === null) return 0;
    const text = this.#text;
    const length = readSync(this.#file, text, 0, TEXT_BYTES, 0);
    let at = 0;
    while (at < length && text[at] !== SPACE) at += 1;
    let nanoseconds = 0;
    for (at += 1; at < length; at += 1) {
      const digit = text[at] ?? SPACE;
      if (digit < ZERO || digit > NINE) break;
      nanoseconds = nanoseconds * 10 + (digit - ZERO);
    }
    return nanoseconds / 1_000;
  }
}

/** Open for the life of the thread; null where the kernel has no such accounting. */
function openSchedstat(): number | null {
  try {
    return openSync(SCHEDSTAT, 'r');
  } catch {
    return null;
  }
}
