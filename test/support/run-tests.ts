/**
 * Runs every `*.test.js` of the build with Node's own runner and nothing else: helpers in test/support are not tests.
 * Arguments are substrings that select files: `node dist/test/support/run-tests.js matching clearing`.
 *
 * Files run two at a time: most of them start threads or whole nodes, and the machine they must pass on has two cores.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const selections = process.argv.slice(2);
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => selections.length === 0 || selections.some((part) => file.includes(part)))
  .sort()
  .map((file) => join(root, file));

if (files.length === 0) {
  process.stderr.write(`no test file matches ${selections.join(', ')}\n`);
  process.exit(1);
}
const reporter = process.env['CI'] === undefined ? 'spec' : 'tap';
const run = spawnSync(
  process.execPath,
  ['--enable-source-maps', '--test', '--test-concurrency=2', `--test-reporter=${reporter}`, ...files],
  { stdio: 'inherit' },
);
process.exit(run.status ?? 1);
