/** The end that needs no cooperation from any thread. */
import { writeSync } from 'node:fs';

/** Writes one line to standard error and kills this process, from whatever thread. */
export function killProcess(reason: string): void {
  writeSync(2, `${JSON.stringify({ level: 'fatal', event: 'process-killed', reason })}\n`);
  process.kill(process.pid, 'SIGKILL');
}
