/**
 * Where deliberate bugs are made: copies of the build, in each of which one bug at a time is put in and the suite that must
 * notice it is run.
 */
import { spawn } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeStaleOutputs } from '../support/stale-outputs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Mutant } from './mutants.ts';
import { mutated, type Site, sitesIn } from './sites.ts';

const BUILD = fileURLToPath(new URL('../..', import.meta.url));
const BUILD_PATH = relative('.', BUILD);
/** A suite without any bug; one with a bug that is not through after so many times as long hangs, which is noticed too. */
const SUITE_MS_MAX = 300_000;
const HANG_MS_MIN = 60_000;
const HANG_TIMES = 10;

/** `caught`: the suite fails; `hung`: it did not come to its end, which fails a test run as well; `lives`: it passes. */
export type Fate = 'caught' | 'hung' | 'lives';

export interface Judged {
  readonly mutant: Mutant;
  readonly fate: Fate | 'not judged';
  readonly seconds: number;
}

/** A copy of the build at its place in a directory that looks like the repository. */
class Bench {
  readonly #home = temporaryDirectory();
  readonly #build = join(this.#home, BUILD_PATH);
  readonly #sites: ReadonlyMap<string, readonly Site[]>;

  constructor() {
    const [top = ''] = BUILD_PATH.split('/');
    for (const entry of readdirSync('.')) {
      if (![top, 'data', '.git'].includes(entry)) symlinkSync(resolve(entry), join(this.#home, entry));
    }
    cpSync(BUILD, this.#build, { recursive: true });
    this.#sites = sitesIn(this.#build);
  }

  /** @returns the exit code, or null when it was killed for taking longer than `msMax`. */
  run(suite: string, msMax: number): Promise<number | null> {
    const file = join(BUILD_PATH, `${suite}.test.js`);
    // A test run that was started by a test would run nothing and be content.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const limit = { timeout: Math.ceil(msMax), killSignal: 'SIGKILL' } as const;
    // The file itself, in one process: a runner around it would leave it behind when it hangs.
    const child = spawn(process.execPath, [file], { cwd: this.#home, env, stdio: 'ignore', ...limit });
    return new Promise((done) => child.once('exit', (code) => done(code)));
  }

  /** Makes the bug. @returns what undoes it. */
  make(mutant: Mutant): () => void {
    const [site, ...others] = this.#sites.get(mutant.site) ?? [];
    if (site === undefined || others.length > 0) throw new Error(`"${mutant.breaks}": not one site ${mutant.site}`);
    const path = join(this.#build, site.file);
    const text = mutated(this.#build, mutant, site);
    writeFileSync(path, text.with);
    return () => writeFileSync(path, text.without);
  }
}

/**
 * Judges bugs on so many benches side by side. A suite that fails without any bug would notice everything: each is run
 * once before, and its bugs are not judged when it does.
 */
export async function judgeAll(
  mutants: readonly Mutant[],
  benches: number,
  judged: (one: Judged) => void = () => undefined,
): Promise<readonly Judged[]> {
  // A moved file would have its sites twice.
  removeStaleOutputs(BUILD);
  const suites = [...new Set(mutants.map(({ caughtBy }) => caughtBy))];
  const waiting = suites.map((suite) => mutants.filter(({ caughtBy }) => caughtBy === suite));
  const all: Judged[] = [];
  const note = (one: Judged): void => {
    all.push(one);
    judged(one);
  };
  const work = async (): Promise<void> => {
    const bench = new Bench();
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) await judge(bench, group, note);
  };
  await Promise.all(Array.from({ length: benches }, work));
  return all;
}

/** Bugs of one suite. */
async function judge(bench: Bench, mutants: readonly Mutant[], note: (one: Judged) => void): Promise<void> {
  const suite = mutants[0]?.caughtBy ?? '';
  const startedMs = performance.now();
  const passes = (await bench.run(suite, SUITE_MS_MAX)) === 0;
  const hangMs = Math.max(HANG_MS_MIN, HANG_TIMES * (performance.now() - startedMs));
  for (const mutant of mutants) {
    if (!passes) {
      note({ mutant, fate: 'not judged', seconds: 0 });
      continue;
    }
    const fromMs = performance.now();
    const takeOut = bench.make(mutant);
    const code = await bench.run(suite, hangMs);
    takeOut();
    const fate = code === 0 ? 'lives' : code === null ? 'hung' : 'caught';
    note({ mutant, fate, seconds: (performance.now() - fromMs) / 1_000 });
  }
}
