/**
 * Runs every `*.test.js` of the build with Node's own runner and nothing else: helpers in test/support are not tests, and what
 * the build has of removed sources is removed first.
 * Arguments are substrings that select files: `node dist/test/support/run-tests.js matching clearing`.
 *
 * One file more runs at a time than there are cores: those that start nodes wait for a third of their time. The longest go
 * first, so that none of them is left alone at the end. A file that hangs is ended and named; whatever failed is named once
 * more at the end, behind thousands of lines of what did not.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { removeStaleOutputs } from './stale-outputs.ts';

/** A test gives up on what it waits for long before. */
const FILE_MS_MAX = 720_000;
/** Longest first, as measured on two cores; everything else takes less than 11 s and goes by name. */
const LONGEST = [
  'node/failing-threads',
  'simulation/long-histories',
  'node/evm-chain',
  'node/evm-withdrawals',
  'node/start-check',
  'pages/trade-page',
  'cli/bench-command',
  'contract/chain-powers',
  'pages/ops-page',
  'matching/engine-equals-reference',
  'docs/examples',
  'node/evm-settlements',
  'clearing/recovery',
  'reliability/io',
  'node/flow',
  'cli/cli',
  'fuzz/decoders',
  'mutants/caught',
  'pages/trade-page-streams',
  'node/starved',
  'node/production-profile',
  'contract/keep-alive',
  'contract/settlements',
  'node/tls',
  'fuzz/frames',
  'node/demo-traders',
  'contract/escape',
  'contract/co-signed-orders',
  'docs/production',
  'tools/data-tools',
  'node/margin-rollbacks',
  'node/triggers',
  'client/package',
  'contract/stalled',
  'simulation/histories',
  'tools/journal-keeper',
  'operator/ops-floods',
  'fuzz/fuzz',
  'reliability/kills',
  'clearing/liquidation-properties',
  'node/crash-demo',
  'node/sdk-accounts',
  'node/market-orders',
  'reliability/live-damage',
  'http/abuse',
  'contract/signers',
  'cli/co-signing',
  'node/trace',
  'node/start-paths',
  'node/cancels',
  'node/backstop',
  'node/test-profile',
  'node/free-keys',
  'node/safety',
  'node/account-events',
  'contract/deposits',
  'contract/position-basis',
  'node/pages',
  'node/large-start',
  'contract/withdrawals',
  'contract/configured-accounts',
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
const tests = run({ files, concurrency: availableParallelism() + 1, timeout: FILE_MS_MAX });
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
