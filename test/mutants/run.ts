/**
 * Makes the deliberate bugs of mutants.ts one at a time, in a copy of the build, and runs the suite that must notice:
 *
 *   node dist/test/mutants/run.js [part of a promise or a file]…
 *
 * Exits with 1 when one lives. A suite that fails without any bug would notice everything: all of them run once first.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { MUTANTS, type Mutant } from './mutants.ts';

const BUILD = fileURLToPath(new URL('../..', import.meta.url));
const SUITE_MS_MAX = 300_000;

const BUILD_PATH = relative('.', BUILD);

/** A copy of the build at its place in a directory that looks like the repository. @returns that directory. */
function copyOfBuild(): string {
  const home = temporaryDirectory();
  const [top = ''] = BUILD_PATH.split('/');
  for (const entry of readdirSync('.')) {
    if (![top, 'data', '.git'].includes(entry)) symlinkSync(resolve(entry), join(home, entry));
  }
  cpSync(BUILD, join(home, BUILD_PATH), { recursive: true });
  return home;
}

/** Whether the suite passes. */
function passes(home: string, suite: string): boolean {
  const file = join(BUILD_PATH, `${suite}.test.js`);
  const { status } = spawnSync(process.execPath, ['--test', file], {
    cwd: home,
    stdio: 'ignore',
    timeout: SUITE_MS_MAX,
  });
  return status === 0;
}

/** @returns what undoes it. */
function make(home: string, { file, find, put, breaks }: Mutant): () => void {
  const path = join(home, BUILD_PATH, `${file}.js`);
  const text = readFileSync(path, 'utf8');
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`"${breaks}": ${file} has its piece ${pieces.length - 1} times`);
  writeFileSync(path, pieces.join(put));
  return () => writeFileSync(path, text);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const wanted = process.argv.slice(2);
const chosen = MUTANTS.filter(({ breaks, file }) => {
  return wanted.length === 0 || wanted.some((part) => breaks.includes(part) || file.includes(part));
});
const home = copyOfBuild();
const broken = [...new Set(chosen.map(({ caughtBy }) => caughtBy))].filter((suite) => !passes(home, suite));
for (const suite of broken) say(`fails without any bug: ${suite}`);
let alive = 0;
for (const mutant of chosen) {
  const undo = make(home, mutant);
  const lives = passes(home, mutant.caughtBy);
  undo();
  if (lives) alive += 1;
  say(`${lives ? 'LIVES ' : 'caught'}  ${mutant.breaks}  (${mutant.file}, ${mutant.caughtBy})`);
}
say(`${chosen.length - alive} of ${chosen.length} deliberate bugs caught`);
process.exitCode = alive === 0 && broken.length === 0 ? 0 : 1;
