/** Where in the built program the deliberate bugs are made: the comments `// mutant: ID`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statementFrom } from './changes.ts';
import type { Mutant } from './mutants.ts';

const MARK = /^[ \t]*\/\/ mutant: (\S+)\n/gm;

export interface Site {
  /** Path below the directory of the build. */
  readonly file: string;
  /** Where the statement begins in its text. */
  readonly at: number;
}

/** Every site of a build by its id; a list of more than one is a mistake. */
export function sitesIn(build: string): ReadonlyMap<string, readonly Site[]> {
  const sites = new Map<string, Site[]>();
  for (const name of readdirSync(join(build, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join('src', name);
    for (const { 0: mark, 1: id = '', index } of readFileSync(join(build, file), 'utf8').matchAll(MARK)) {
      sites.set(id, [...(sites.get(id) ?? []), { file, at: index + mark.length }]);
    }
  }
  return sites;
}

/** @returns the text of the file with the bug, and without it. */
export function mutated(build: string, mutant: Mutant, { file, at }: Site): { with: string; without: string } {
  const without = readFileSync(join(build, file), 'utf8');
  const statement = statementFrom(without, at);
  const changed = mutant.change(statement);
  const where = `"${mutant.breaks}", ${mutant.site} in ${file}`;
  if (changed === statement) throw new Error(`${where}: the change does not apply to ${statement}`);
  // A name that is gone would fail every suite, and prove nothing.
  for (const name of namesIn(changed)) {
    if (!(name in globalThis || LITERALS.has(name) || namesIn(without).has(name)))
      throw new Error(`${where}: no ${name}`);
  }
  return { with: without.slice(0, at) + changed + without.slice(at + statement.length), without };
}

const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** Words that are neither members of something nor keys. */
function namesIn(program: string): ReadonlySet<string> {
  return new Set(program.match(/(?<![\w$.#])[A-Za-z_$][\w$]*(?![\w$]|\??:)/g));
}
