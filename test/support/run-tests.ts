/**
 * Runs the test files of the build with Node's own runner, each in a process of its own. Files that are not named
 * `*.test.ts` are no tests, and what the build has of removed sources is removed first.
 *
 *     run-tests.js [--tier quick|full|all] [--list] [part of a path …]
 *
 * `--tier` is `all` unless it is given, and `quick` runs the small share of each campaign (shares.ts) unless
 * `RINGBOOK_SHARE` is set; `--list` prints the files, their tiers and their estimated seconds. Each file that
 * is done prints one line with the estimated time left; a file that fails prints its whole report, and its failed tests
 * are listed once more at the end, before the counts.
 *
 * One file more runs at a time than there are cores: those that start nodes wait for a third of their time. A file that
 * hangs is ended and fails.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { removeStaleOutputs } from './stale-outputs.ts';
import { type Selection, selectFiles, type TestFile, TIERS, testFiles } from './test-files.ts';

/** A test gives up on what it waits for long before. */
const FILE_MS_MAX = 720_000;
const CONCURRENCY = availableParallelism() + 1;

const built = fileURLToPath(new URL('..', import.meta.url));
const sources = fileURLToPath(new URL('../../../test', import.meta.url));

type TestEvent = Parameters<Parameters<ReturnType<typeof run>['forEach']>[0]>[0];

interface FileReport {
  readonly file: TestFile;
  readonly seconds: number;
  readonly events: readonly TestEvent[];
  readonly passed: number;
  /** Names of the failed tests, each with the first line of its error. */
  readonly failed: readonly string[];
  /** Names of the skipped tests, each with its reason. */
  readonly skipped: readonly string[];
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function argumentsOf(args: readonly string[]): { readonly selection: Selection; readonly list: boolean } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { tier: { type: 'string', default: 'all' }, list: { type: 'boolean', default: false } },
  });
  const tier = [...TIERS, 'all' as const].find((name) => name === values.tier);
  if (tier === undefined) fail(`--tier is quick, full or all, not ${values.tier}`);
  return { selection: { tier, parts: positionals }, list: values.list };
}

/** The events of one file. A suite or a file that failed because of its tests is not counted beside them. */
async function runFile(file: TestFile): Promise<FileReport> {
  const startedAt = performance.now();
  const events: TestEvent[] = [];
  const failed: string[] = [];
  const skipped: string[] = [];
  let passed = 0;
  for await (const event of run({ files: [join(built, `${file.name}.test.js`)], timeout: FILE_MS_MAX })) {
    events.push(event);
    if (event.type === 'test:pass') {
      const { name, skip, details } = event.data;
      if (skip !== undefined) skipped.push(`${file.name}: ${name}${skip === true ? '' : ` (${skip})`}`);
      else if (details.type !== 'suite') passed += 1;
    } else if (event.type === 'test:fail') {
      const message = String(event.data.details.error.message);
      if (/subtests? failed$/.test(message)) continue;
      failed.push(`${file.name}: ${event.data.name}\n    ${message.split('\n', 1)[0]}`);
    }
  }
  if (passed + failed.length + skipped.length === 0) failed.push(`${file.name}: it has run no test`);
  return { file, seconds: (performance.now() - startedAt) / 1_000, events, passed, failed, skipped };
}

function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Prints a line for each file that is done, with the time left at the pace so far. */
class Progress {
  readonly #startedAt = performance.now();
  readonly #files: number;
  #done = 0;
  #secondsDone = 0;
  #secondsLeft: number;

  constructor(files: readonly TestFile[]) {
    this.#files = files.length;
    this.#secondsLeft = files.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  async print({ file, seconds, events, passed, failed, skipped }: FileReport): Promise<void> {
    this.#done += 1;
    this.#secondsDone += file.seconds;
    this.#secondsLeft -= file.seconds;
    const elapsed = (performance.now() - this.#startedAt) / 1_000;
    const left = (elapsed / this.#secondsDone) * this.#secondsLeft;
    const counts = [`${passed} passed`, failed.length > 0 && `${failed.length} FAILED`];
    if (skipped.length > 0) counts.push(`${skipped.length} skipped`);
    const place = `[${String(this.#done).padStart(String(this.#files).length)}/${this.#files}]`;
    const took = `${counts.filter(Boolean).join(', ')}, ${seconds.toFixed(1)} s`;
    process.stdout.write(`${place} ${file.name}: ${took}; about ${minutes(left)} left\n`);
    if (failed.length === 0) return;
    for await (const text of Readable.from(events).compose(new spec())) process.stdout.write(String(text));
  }
}

async function runFiles(files: readonly TestFile[]): Promise<readonly FileReport[]> {
  const progress = new Progress(files);
  const waiting = [...files];
  const reports: FileReport[] = [];
  const runNext = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const report = await runFile(file);
      reports.push(report);
      await progress.print(report);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runNext));
  return reports;
}

function listed(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

removeStaleOutputs(join(built, '..'));
const { selection, list } = argumentsOf(process.argv.slice(2));
const every = testFiles(sources);
const files = selectFiles(every, selection);
if (files.length === 0) {
  const others = selectFiles(every, { ...selection, tier: 'all' }).length;
  const hint = others === 0 ? '' : `; ${others} of the other tier do: --tier all`;
  fail(`no test file of tier ${selection.tier} matches ${selection.parts.join(', ')}${hint}`);
}
if (list) {
  for (const { name, tier, seconds } of files) process.stdout.write(`${tier.padEnd(5)} ${seconds} s ${name}\n`);
  process.exit(0);
}
// The process of a test file gets the options and the environment of this one.
process.execArgv.push('--enable-source-maps');
if (selection.tier === 'quick') process.env['RINGBOOK_SHARE'] ??= 'quick';
const startedAt = performance.now();
const reports = await runFiles(files);
const failed = reports.flatMap((report) => report.failed);
const skipped = reports.flatMap((report) => report.skipped);
const passed = reports.reduce((sum, report) => sum + report.passed, 0);
process.stdout.write(listed('skipped', skipped));
process.stdout.write(listed('failed', failed));
process.stdout.write(`\n${files.length} files in ${minutes((performance.now() - startedAt) / 1_000)} minutes\n`);
process.stdout.write(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
