/** Entry of the process that checks a data directory before its node starts: `node check-data.js <directory>`. */
import { writeSync } from 'node:fs';
import { runCheck } from '../src/node/start-check-child.ts';

process.exitCode = runCheck(process.argv[2] ?? '', (line) => {
  try {
    writeSync(1, `${line}\n`);
  } catch {
    // The node has ended: no process reads the answer.
    process.exit();
  }
});
