/**
 * The kernel's accounting of the threads of this process: how long each has run, how long it waited for a CPU while
 * runnable, and whether it is runnable, sleeping or blocked in the kernel; and the priority of the calling thread.
 *
 * Linux only: `/proc/thread-self` gives a thread its own id, `/proc/self/task/<id>/schedstat` and `…/stat` the rest.
 * Where they are missing, or contain nothing for a thread that has certainly run, there is no reader; hang-detection.ts covers
 * that case.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** `runnable` has a CPU or waits for one; `blocked` is an uninterruptible wait (state D): a disk, or memory from one. */
type KernelState = 'runnable' | 'sleeping' | 'blocked';

/** Milliseconds since the thread began. */
export interface ThreadTimes {
  readonly state: KernelState;
  /** Time on a CPU. */
  readonly cpuMs: number;
  /** Time runnable without a CPU, without the current wait. */
  readonly waitMs: number;
}

export interface ThreadTimesReader {
  /** @returns null when there is no such thread. */
  read(thread: number): ThreadTimes | null;
  /** The ids of all threads of the process, including V8's and libuv's. */
  threads(): readonly number[];
}

/** Not a thread id. */
export const UNKNOWN_THREAD = 0;
const TASKS = '/proc/self/task';
const SELF_FORM = /\/task\/([1-9][0-9]*)$/;
const NS_PER_MS = 1e6;

/** The kernel's id of the calling thread; UNKNOWN_THREAD where it is unavailable. */
export function ownThread(): number {
  try {
    return Number(SELF_FORM.exec(readlinkSync('/proc/thread-self'))?.[1] ?? UNKNOWN_THREAD);
  } catch {
    return UNKNOWN_THREAD;
  }
}

class ProcTimes implements ThreadTimesReader {
  read(thread: number): ThreadTimes | null {
    try {
      const [cpuNs = '', waitNs = ''] = readFileSync(`${TASKS}/${thread}/schedstat`, 'latin1').split(' ');
      const stat = readFileSync(`${TASKS}/${thread}/stat`, 'latin1');
      return { state: stateOf(stat), cpuMs: Number(cpuNs) / NS_PER_MS, waitMs: Number(waitNs) / NS_PER_MS };
    } catch {
      return null;
    }
  }

  threads(): readonly number[] {
    try {
      return readdirSync(TASKS).map(Number);
    } catch {
      return [];
    }
  }
}

/**
 * Lowers the scheduler priority of the calling thread for ever: it gets about a ninth of a CPU that a thread of the node
 * wants too. For background work; raising it again needs privileges. No effect where threads have no priority of their own.
 */
export function lowerOwnPriority(): void {
  const thread = ownThread();
  if (process.platform !== 'linux' || thread === UNKNOWN_THREAD) return;
  try {
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Forbidden by the container: the thread works at the node's priority.
  }
}

/** Milliseconds that the thread which made it has been runnable without a CPU since it began. */
interface WithheldTime {
  /** Accurate to WITHHELD_AGE_MS of the past. @param nowMs real milliseconds, monotonic. */
  ms(nowMs: number): number;
  close(): void;
}

/** Withheld time is read from the kernel, in some 5 µs, at most so often. */
const WITHHELD_AGE_MS = 2;
/** Three decimal numbers of at most 20 digits. */
const SCHEDSTAT_BYTES_MAX = 64;
const SPACE = 0x20;
const DIGIT_0 = 0x30;

class OwnWithheldTime implements WithheldTime {
  readonly #file: number;
  readonly #text = Buffer.alloc(SCHEDSTAT_BYTES_MAX);
  #ms = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(file: number) {
    this.#file = file;
  }

  ms(nowMs: number): number {
    if (nowMs - this.#readAtMs >= WITHHELD_AGE_MS) {
      this.#readAtMs = nowMs;
      this.#ms = this.#read();
    }
    return this.#ms;
  }

  close(): void {
    this.#readAtMs = Number.POSITIVE_INFINITY;
    closeSync(this.#file);
  }

  #read(): number {
    const length = readSync(this.#file, this.#text, 0, SCHEDSTAT_BYTES_MAX, 0);
    let ns = 0;
    for (let at = this.#text.indexOf(SPACE) + 1; at < length && this.#text[at] !== SPACE; at += 1) {
      ns = ns * 10 + (this.#text[at] ?? DIGIT_0) - DIGIT_0;
    }
    return ns / NS_PER_MS;
  }
}

/** Nothing is withheld, as far as is known. */
const NOTHING_WITHHELD: WithheldTime = { ms: () => 0, close: () => undefined };

/** That of the calling thread, for its use alone; NOTHING_WITHHELD where the accounting is unavailable. */
export function ownWithheldTime(): WithheldTime {
  try {
    return new OwnWithheldTime(openSync('/proc/thread-self/schedstat', 'r'));
  } catch {
    return NOTHING_WITHHELD;
  }
}

/** Time of a thread, or of several that have no name, since they began. */
export interface ThreadUse {
  readonly thread: string;
  readonly cpuSeconds: number;
  /** Runnable without a CPU. */
  readonly waitSeconds: number;
}

/** What threads without a name are called: V8's, libuv's, and workers of no interest. */
export const OTHER_THREADS = 'other';

/**
 * The time of every thread of the process, those without a name added up.
 *
 * @param named the kernel's ids; UNKNOWN_THREAD for one that has not started.
 * @returns none where the accounting is unavailable.
 */
export function threadUses(
  reader: ThreadTimesReader | null,
  named: readonly { readonly name: string; readonly id: number }[],
): readonly ThreadUse[] {
  if (reader === null) return [];
  const nameOf = new Map(named.map(({ name, id }) => [id, name]));
  const uses = new Map<string, { cpuMs: number; waitMs: number }>();
  for (const id of reader.threads()) {
    const times = reader.read(id);
    if (times === null) continue;
    const name = nameOf.get(id) ?? OTHER_THREADS;
    const use = uses.get(name) ?? { cpuMs: 0, waitMs: 0 };
    uses.set(name, { cpuMs: use.cpuMs + times.cpuMs, waitMs: use.waitMs + times.waitMs });
  }
  return [...uses].map(([thread, { cpuMs, waitMs }]) => ({
    thread,
    cpuSeconds: cpuMs / 1_000,
    waitSeconds: waitMs / 1_000,
  }));
}

/** The letter after the name, which may contain any character, including parentheses. */
function stateOf(stat: string): KernelState {
  const letter = stat.charAt(stat.lastIndexOf(')') + 2);
  if (letter === 'R') return 'runnable';
  return letter === 'D' ? 'blocked' : 'sleeping';
}

/** @returns null where the accounting is unavailable: it must show the calling thread as running. */
export function threadTimes(): ThreadTimesReader | null {
  const reader = new ProcTimes();
  const own = reader.read(ownThread());
  return own !== null && own.state === 'runnable' && own.cpuMs > 0 ? reader : null;
}
