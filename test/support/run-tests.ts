/**
 * Runs every `*.test.js` of the build with Node's own runner and nothing else: helpers in test/support are not tests, and what
 * the build has of removed sources is removed first.
 * Arguments are substrings that select files: `node dist/test/support/run-tests.js matching clearing`.
 *
 * Files run two at a time: most of them start threads or whole nodes, and the machine they must pass on has two cores.
 * Those that take longest go first, so that none of them is left alone at the end. A file that hangs is ended and named;
 * whatever failed is named once more at the end, behind thousands of lines of what did not.
 */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { removeStaleOutputs } from './stale-outputs.ts';

/** A test gives up on what it waits for long before. */
const FILE_MS_MAX = 720_000;
/** Longest first, as measured on two quiet cores; everything else is shorter and goes by name. */
const LONGEST = [
  'simulation/long-first-half',
  'simulation/long-second-half',
  'node/failing-threads',
  'clearing/recovery',
  'node/start-check',
  'node/evm-chain',
  'node/evm-withdrawals',
  'node/starved',
  'node/flow',
  'matching/engine-equals-reference',
  'docs/examples',
  'image/dockerfile',
  'docs/production',
  'contract/keep-alive',
  'node/production-profile',
  'node/safety',
  'node/triggers',
  'mutants/caught',
  'fuzz/decoders',
  'operator/ops-floods',
  'node/margin-rollbacks',
  'tools/journal-keeper',
  'reliability/io',
  'fuzz/frames',
  'fuzz/fuzz',
  'reliability/kills',
  'http/abuse',
  'reliability/tool-kills',
  'cli/cli',
  'http/floods',
  'node/sdk-accounts',
  'node/overload',
  'tools/data-tools',
  'runtime/supervisor',
  'contract/stalled',
  'node/free-keys',
  'node/large-start',
  'node/tls',
  'node/pages',
  'node/market-orders',
  'contract/streams',
];

const root = fileURLToPath(new URL('..', import.meta.url));

function rankOf(file: string): number {
  const rank = LONGEST.indexOf(file.replace('.test.js', ''));
  return rank < 0 ? LONGEST.length : rank;
}

function selected(selections: readonly string[]): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .filter((file) => selections.length === 0 || selections.some((part) => file.includes(part)))
    .sort((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1))
    .map((file) => join(root, file));
}

removeStaleOutputs(join(root, '..'));
const selections = process.argv.slice(2);
const files = selected(selections);
if (files.length === 0) {
  process.stderr.write(`no test file matches ${selections.join(', ')}\n`);
  process.exit(1);
}
// The process of a test file gets the options of this one.
process.execArgv.push('--enable-source-maps');
const failed: string[] = [];
const tests = run({ files, concurrency: 2, timeout: FILE_MS_MAX });
tests.on('test:fail', ({ name, file, details }) => {
  if (details.error.message.endsWith('subtest failed') || details.error.message.endsWith('subtests failed')) return;
  const where = file === undefined ? '' : `${relative(root, file)}: `;
  failed.push(`${where}${name}\n    ${String(details.error.message).split('\n', 1)[0]}`);
});
const report = process.env['CI'] === undefined ? tests.compose(new spec()) : tests.compose(tap);
report.pipe(process.stdout);
report.on('end', () => {
  process.exitCode = failed.length === 0 ? 0 : 1;
  if (failed.length > 0) process.stderr.write(`\nfailed:\n${failed.map((line) => `  ${line}\n`).join('')}`);
});
