/**
 * The source tree as the rules of tidy.test.ts look at it: files, what each imports and exports, and circles of files. By
 * text, not by the compiler: a run takes a fraction of a second.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface NamedImport {
  /** Path of the file, or null for a package. */
  readonly target: string | null;
  /** Names as the target exports them; '*' for all of them. */
  readonly names: readonly string[];
  /** No name of it is used at run time. */
  readonly typeOnly: boolean;
}

export interface Exported {
  readonly path: string;
  readonly name: string;
  /** `const`, `function`, `class`, `interface` or `type`. */
  readonly kind: string;
}

/** TypeScript and JavaScript below these folders, without declarations and builds. */
export function programFiles(folders: readonly string[]): readonly string[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /(?<!\.d)\.[jt]s$/.test(path) && !/(?:^|\/)(?:dist|node_modules)\//.test(path))
      .map((path) => `${folder}/${path}`),
  );
}

/** The text without comments. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

const IMPORT = /^\s*(?:import|export)\s+(type\s)?(?:([^'"`;]*?)\s*from\s+)?'([^']+)'/gm;
const DYNAMIC = /import\(\s*'(\.[^']+)'\s*\)(?:\.(\w+))?/g;

/** Imports of a file and what it exports again, those in the types of JSDoc comments included. */
export function namedImports(path: string, text: string): readonly NamedImport[] {
  const fixed = [...codeOf(text).matchAll(IMPORT)].map(([, type, clause = '', from = '']) => {
    const names = namesOf(clause);
    const typeOnly = type !== undefined || (names.length > 0 && names.every(({ isType }) => isType));
    return { target: targetOf(path, from), names: names.map(({ name }) => name), typeOnly };
  });
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, from = '', name = '*']) => {
    return { target: targetOf(path, from), names: [name], typeOnly: true };
  });
  return [...fixed, ...dynamic];
}

function namesOf(clause: string): readonly { readonly name: string; readonly isType: boolean }[] {
  if (clause.startsWith('*')) return [{ name: '*', isType: false }];
  const listed = /\{([\s\S]*)\}/.exec(clause)?.[1] ?? '';
  return listed
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => ({ name: part.replace(/^type /, '').split(' ')[0] ?? '', isType: part.startsWith('type ') }));
}

/** Builds have the paths of their sources, below `dist`. */
function targetOf(path: string, from: string): string | null {
  if (!from.startsWith('.')) return null;
  return normalize(join(dirname(path), from))
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts');
}

const EXPORT = /^export (?:abstract |async |declare )?(const|let|function|class|interface|type)\*? (\w+)/gm;

export function exportsOf(path: string, text: string): readonly Exported[] {
  return [...codeOf(text).matchAll(EXPORT)].map(([, kind = '', name = '']) => ({ path, name, kind }));
}

/** Imported names by file. */
export function importedNames(paths: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const imported = new Map<string, Set<string>>();
  for (const path of paths) {
    for (const { target, names } of namedImports(path, readFileSync(path, 'utf8'))) {
      if (target === null) continue;
      const known = imported.get(target) ?? new Set();
      for (const name of names) known.add(name);
      imported.set(target, known);
    }
  }
  return imported;
}

/** Circles of a graph: sets of nodes, of more than one, each of which leads to each other (Tarjan). */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const numbers = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    let low = numbers.size;
    const own = low;
    numbers.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      const known = numbers.get(next);
      if (known === undefined) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, known);
    }
    if (low === own) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node);
  return circles;
}
