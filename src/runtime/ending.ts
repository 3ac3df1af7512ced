/** The reason why a process ends, as its last log line states it: thread, cause, time and advice. */

import { NO_SPACE } from '../core/no-space.ts';
import type { Hang, HangCause } from './hang-detection.ts';
import { type LogMemory, writeLastLine } from './log-buffer.ts';
import { sourceStack } from './source-stack.ts';

/** `died`: the thread ended, or an error was not caught; `disk full`: for lack of space. */
type EndCause = HangCause | 'died' | 'disk full';

export interface Ending {
  /** For people: thread, cause and duration, or the error. */
  readonly reason: string;
  /** Null when the cause is not one thread. */
  readonly thread: string | null;
  readonly cause: EndCause;
  /** Time without a heartbeat; null for a thread that died. */
  readonly gapMs: number | null;
}

const ADVICE: Readonly<Record<EndCause, string>> = {
  died: 'start again; where the reason names map: or storage:, run ringbook verify first and restore a backup if it fails',
  'disk full': 'make space on the disk under the data directory, then start again: nothing that was confirmed is lost',
  'hung in computation': 'start again, and report this line: the thread computed without end',
  'waits without end': 'start again, and report this line: the thread waited for what did not come',
  'blocked in the kernel': 'look at the disk under the data directory and at the log of the system, then start again',
  'gives no sign of life': 'start again, and report this line',
};

/** For an error, or a thread that ended. */
export function diedOf(thread: string | null, reason: string): Ending {
  const cause = reason.includes(NO_SPACE) || reason.includes('ENOSPC') ? 'disk full' : 'died';
  return { reason: thread === null ? reason : `thread ${thread}: ${reason}`, thread, cause, gapMs: null };
}

export function hungOf(thread: string, hang: Hang): Ending {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const reason = `thread ${thread}: ${hang.cause}, ${seconds(hang.countedMs)} of ${seconds(hang.gapMs)} without a sign of life`;
  return { reason, thread, cause: hang.cause, gapMs: hang.gapMs };
}

/** The line for standard error, without line end. */
export function lineOf(event: string, ending: Ending, more: Readonly<Record<string, number>> = {}): string {
  const { reason, thread, cause, gapMs } = ending;
  const time = new Date().toISOString();
  const line = {
    level: 'fatal',
    time,
    event,
    reason: sourceStack(reason),
    thread,
    cause,
    silent_ms: gapMs,
    advice: ADVICE[cause],
    ...more,
  };
  return JSON.stringify(line);
}

// Ends the process without the cooperation of any thread.

/**
 * Writes one line to standard error, for which it waits LAST_LINE_MS at most, and kills this process; callable from any thread.
 *
 * @param logs of the process; null where there are none.
 */
export function killProcess(ending: Ending, logs: LogMemory | null): void {
  writeLastLine(logs, `${lineOf('process-killed', ending)}\n`);
  process.kill(process.pid, 'SIGKILL');
}
