/**
 * Ends the process when a thread of the fail-stop core dies or hangs: within 3 s, without a partly working state.
 *
 *   one line on standard error
 *     → halt: every thread ends at once; the actors of the main thread close their sockets
 *     → FAIL_STOP_HALT_MS later: remaining threads without a listener are terminated
 *     → all ended: exit with 70
 *     → FAIL_STOP_TERMINATE_MS later, a thread remains: SIGKILL
 *
 * Measured on Node 20.20.2 with the pinned uWebSockets.js, sockets under load:
 *   - process.exit while another thread holds an open uWS app aborts (134) or crashes (139), every time: Node ends the
 *     worker from outside and finds uWS handles in its loop. worker.terminate() on it does the same.
 *   - A worker that closed its app (app.close()) ends cleanly, and then process.exit(70) exits with 70, every time.
 *   - Workers in a JavaScript loop or in Atomics.wait are terminated without harm; one blocked in native code is not, and
 *     process.exit would wait for it indefinitely.
 * Hence the exit code is 70 only when every other thread has ended; otherwise only a signal is safe.
 */
import { writeSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { FAIL_STOP_HALT_MS, FAIL_STOP_TERMINATE_MS } from '../core/limits.ts';
import { diedOf, type Ending, killProcess, lineOf } from './ending.ts';

/** Exit code after a broken invariant or a lost thread (operator-api.md §1). */
export const EXIT_BROKEN = 70;
const LOOK_MS = 10;

/** A worker that may have to be ended. */
export interface RunningWorker {
  readonly worker: Worker;
  readonly ownsListener: boolean;
  readonly hasEnded: () => boolean;
}

/** Ends the process. `halt` sends the command to every thread and must not wait. */
export async function failStop(ending: Ending, halt: () => void, workers: readonly RunningWorker[]): Promise<void> {
  writeSync(2, `${lineOf('fail-stop', ending, { exit_code: EXIT_BROKEN })}\n`);
  try {
    halt();
    await allEnded(workers, FAIL_STOP_HALT_MS);
    for (const { worker, ownsListener, hasEnded } of workers) if (!hasEnded() && !ownsListener) void worker.terminate();
    if (await allEnded(workers, FAIL_STOP_TERMINATE_MS)) process.exit(EXIT_BROKEN);
    killProcess(diedOf(null, 'a thread did not end'));
  } catch (error) {
    killProcess(diedOf(null, `the fail-stop failed: ${String(error)}`));
  }
}

async function allEnded(workers: readonly RunningWorker[], withinMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
    if (workers.every((running) => running.hasEnded())) return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return workers.every((running) => running.hasEnded());
}
