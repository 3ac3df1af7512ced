/**
 * Makes the deliberate bugs of mutants.ts, two at a time, and prints which of them the suites notice:
 *
 *   node dist/test/mutants/run.js [part of a promise, a site or a suite]…
 *
 * Exits with 1 when one lives, or could not be judged because its suite fails without any bug.
 */
import { judgeAll } from './bench.ts';
import { MUTANTS } from './mutants.ts';

const BENCHES = 2;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const wanted = process.argv.slice(2);
const chosen = MUTANTS.filter(({ breaks, site, caughtBy }) => {
  return wanted.length === 0 || wanted.some((part) => [breaks, site, caughtBy].some((text) => text.includes(part)));
});
const judged = await judgeAll(chosen, BENCHES, ({ mutant: { breaks, site, caughtBy }, fate, seconds }) => {
  say(`${fate.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${breaks}  (${site}, ${caughtBy})`);
});
const caught = judged.filter(({ fate }) => fate === 'caught' || fate === 'hung').length;
say(`${caught} of ${judged.length} deliberate bugs caught`);
process.exitCode = caught === judged.length ? 0 : 1;
