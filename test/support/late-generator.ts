/**
 * Makes the load generator late: a module that is loaded into its processes and lets its pacer wait two seconds where it
 * would wait for the next message. Replies are read as ever, so the delay is the generator's alone, however busy the machine is.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SLOW_PACER =
  "import { isMainThread } from 'node:worker_threads';\n" +
  'const { wait } = Atomics;\n' +
  'if (!isMainThread) Atomics.wait = (words, index, value) => wait(words, index, value, 2_000);\n';

/** @returns the variable of the environment that does it. */
export function lateGenerator(directory: string): { readonly NODE_OPTIONS: string } {
  const path = join(directory, 'slow-pacer.mjs');
  writeFileSync(path, SLOW_PACER);
  return { NODE_OPTIONS: `--import=${pathToFileURL(path).href}` };
}
