/** Ends the process without the cooperation of any thread. */
import { writeSync } from 'node:fs';
import { type Ending, lineOf } from './ending.ts';

/** Writes one line to standard error and kills this process; callable from any thread. */
export function killProcess(ending: Ending): void {
  writeSync(2, `${lineOf('process-killed', ending)}\n`);
  process.kill(process.pid, 'SIGKILL');
}
