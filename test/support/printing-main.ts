/** A process whose standard error is taken: what prints to it by whatever means of JavaScript becomes a line on standard output. */
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { takeStandardError } from '../../src/runtime/foreign-lines.ts';

takeStandardError((line) => writeSync(1, `${JSON.stringify({ printed: line })}\n`));
console.error('by the console');
process.stderr.write('in two ');
process.stderr.write('pieces\n');
process.emitWarning('a warning of the main thread');
const worker = new Worker("console.error('by a worker'); process.emitWarning('a warning of a worker');", {
  eval: true,
});
worker.on('exit', () => setTimeout(() => process.exit(0), 50));
