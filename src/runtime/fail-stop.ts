/**
 * Ends the process when a thread of the fail-stop core dies or hangs: within 3 s, without a partly working state.
 *
 *   one line on standard error, for whose reader it waits 200 ms at most
 *     → halt: every thread ends at once; the actors of the main thread close their sockets
 *     → FAIL_STOP_HALT_MS later: remaining threads without a listener are terminated
 *     → all ended: exit with 70
 *     → FAIL_STOP_TERMINATE_MS later, a thread remains: SIGKILL
 *
 * A thread without a CPU cannot end: time in which a thread of the process waits for one counts as little as a twentieth. Both waits
 * together are half a second where threads have a CPU, and never more than ten.
 *
 * Measured on Node 20.20.2 with the pinned uWebSockets.js, sockets under load:
 *   - process.exit while another thread holds an open uWS app aborts (134) or crashes (139), every time: Node ends the
 *     worker from outside and finds uWS handles in its loop. worker.terminate() on it does the same.
 *   - A worker that closed its app (app.close()) ends cleanly, and then process.exit(70) exits with 70, every time.
 *   - Workers in a JavaScript loop or in Atomics.wait are terminated without harm; one blocked in native code is not, and
 *     process.exit would wait for it indefinitely.
 * Hence the exit code is 70 only when every other thread has ended; otherwise only a signal is safe.
 */
import type { Worker } from 'node:worker_threads';
import { FAIL_STOP_HALT_MS, FAIL_STOP_TERMINATE_MS } from '../core/limits.ts';
import { diedOf, type Ending, killProcess, lineOf } from './ending.ts';
import { Starvation } from './hang-detection.ts';
import { type LogMemory, writeLastLine } from './log-buffer.ts';
import { leaveTerminals } from './standard-streams.ts';
import { threadTimes } from './thread-times.ts';

/** Exit code after a broken invariant or a lost thread (operator-api.md §1). */
const EXIT_BROKEN = 70;
/** After a full disk: a start would end likewise, so a supervisor should not try (MCH-04). */
const EXIT_DISK_FULL = 78;
const LOOK_MS = 10;
/** How much of an interval counts in which a thread had no CPU at all. */
const STARVED_SHARE = 0.05;

/** A worker that may have to be ended. */
export interface RunningWorker {
  readonly worker: Worker;
  readonly ownsListener: boolean;
  readonly hasEnded: () => boolean;
}

/** What a fail-stop ends beside the workers. */
interface ProcessLogs {
  readonly memory: LogMemory;
  /** Ends the thread that writes the lines. @returns false when it is blocked in the kernel. */
  readonly end: () => Promise<boolean>;
}

/** Ends the process. `halt` sends the command to every thread and must not wait. */
export async function failStop(
  ending: Ending,
  halt: () => void,
  workers: readonly RunningWorker[],
  logs: ProcessLogs,
): Promise<void> {
  const exitCode = ending.cause === 'disk full' ? EXIT_DISK_FULL : EXIT_BROKEN;
  writeLastLine(logs.memory, `${lineOf('fail-stop', ending, { exit_code: exitCode })}\n`);
  try {
    halt();
    const starvation = new Starvation(threadTimes());
    await allEnded(workers, FAIL_STOP_HALT_MS, starvation);
    for (const { worker, ownsListener, hasEnded } of workers) if (!hasEnded() && !ownsListener) void worker.terminate();
    const haveEnded = await allEnded(workers, FAIL_STOP_TERMINATE_MS, starvation);
    if ((await logs.end()) && haveEnded) {
      leaveTerminals();
      process.exit(exitCode);
    }
    killProcess(diedOf(null, 'a thread did not end'), logs.memory);
  } catch (error) {
    killProcess(diedOf(null, `the fail-stop failed: ${String(error)}`), logs.memory);
  }
}

/** Waits for the end of every worker. @param withinMs of the time that counts, see above. */
export async function allEnded(
  workers: readonly Pick<RunningWorker, 'hasEnded'>[],
  withinMs: number,
  starvation: Starvation,
): Promise<boolean> {
  let lookedAtMs = performance.now();
  for (let countedMs = 0; countedMs < withinMs; ) {
    if (workers.every((running) => running.hasEnded())) return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const nowMs = performance.now();
    // mutant: starved-end
    countedMs += (nowMs - lookedAtMs) * countedShare(starvation, nowMs);
    lookedAtMs = nowMs;
  }
  return workers.every((running) => running.hasEnded());
}

function countedShare(starvation: Starvation, nowMs: number): number {
  return starvation.times === null ? 1 : Math.max(1 - starvation.worstShare(nowMs), STARVED_SHARE);
}
