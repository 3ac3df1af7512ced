/**
 * What the kernel says of the threads of this process: how long each has run, how long it waited for a CPU while it
 * could have run, and whether it can run, sleeps or is blocked in the kernel.
 *
 * Linux only: `/proc/thread-self` gives a thread its own id, `/proc/self/task/<id>/schedstat` and `…/stat` the rest. Where
 * they are missing, or say nothing of a thread that has surely run, there is no reader; see silence.ts for what then.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** `runnable` has a CPU or waits for one; `blocked` sleeps and takes no signal (state D): a disk, or memory from one. */
export type KernelState = 'runnable' | 'sleeping' | 'blocked';

/** Milliseconds since the thread began. */
export interface ThreadTimes {
  readonly state: KernelState;
  /** On a CPU. */
  readonly cpuMs: number;
  /** Runnable without a CPU. A wait that has not ended yet is not in it. */
  readonly waitMs: number;
}

export interface ThreadTimesReader {
  /** @returns null when there is no such thread. */
  read(thread: number): ThreadTimes | null;
  /** The ids of all threads of the process, V8's and libuv's among them. */
  threads(): readonly number[];
}

/** No id of a thread. */
export const UNKNOWN_THREAD = 0;
const TASKS = '/proc/self/task';
const SELF_FORM = /\/task\/([1-9][0-9]*)$/;
const NS_PER_MS = 1e6;

/** The kernel's id of the calling thread; UNKNOWN_THREAD where there is none to be had. */
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

/** The letter behind the name, which may hold anything, parentheses too. */
function stateOf(stat: string): KernelState {
  const letter = stat.charAt(stat.lastIndexOf(')') + 2);
  if (letter === 'R') return 'runnable';
  return letter === 'D' ? 'blocked' : 'sleeping';
}

/** @returns null where the kernel does not say it: the calling thread, which runs, must be seen to run. */
export function threadTimes(): ThreadTimesReader | null {
  const reader = new ProcTimes();
  const own = reader.read(ownThread());
  return own !== null && own.state === 'runnable' && own.cpuMs > 0 ? reader : null;
}
