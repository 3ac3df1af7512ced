/**
 * Node's compile cache (Node 22 and later): what V8 made of the modules at the last start, so that a start compiles less.
 *
 * Its files are code that Node runs, so they lie in a folder of this user that no other can read or write, in
 * `$XDG_CACHE_HOME/ringbook` or `~/.cache/ringbook`, never in the data directory; where there is no such folder, there is no cache. Node adds
 * files for every version of a module and removes none: a folder that has grown too large is emptied. Node's own variables
 * hold: `NODE_DISABLE_COMPILE_CACHE=1` turns it off, and `NODE_COMPILE_CACHE` names another folder.
 */
import { type Dirent, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import Module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';

/** One build has some 4 MB. */
export const CACHE_BYTES_MAX = 33_554_432;
const OWNER_ONLY = 0o700;
const OTHERS = 0o077;

export interface CacheHost {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Null where there are none. */
  readonly user: number | null;
}

/** For this process, its threads and its children. Never throws: a start without a cache only takes longer. */
export function enableCompileCache(): void {
  const enable: unknown = Reflect.get(Module, 'enableCompileCache');
  if (typeof enable !== 'function') return;
  const folder = cacheFolder({ environment: process.env, home: homedir(), user: process.getuid?.() ?? null });
  if (folder === null) return;
  // Threads and children have it from there.
  process.env['NODE_COMPILE_CACHE'] = folder;
  Reflect.apply(enable, Module, [folder]);
}

/** Makes the folder, or empties it when it is too large. @returns null where none of this user can be had, or none is wanted. */
export function cacheFolder({ environment, home, user }: CacheHost): string | null {
  if (environment['NODE_DISABLE_COMPILE_CACHE'] || environment['NODE_COMPILE_CACHE']) return null;
  const given = environment['XDG_CACHE_HOME'] ?? '';
  const base = isAbsolute(given) ? given : join(home, '.cache');
  const folder = join(base, 'ringbook');
  const data = environment['RINGBOOK_DATA_DIR'];
  if (!isAbsolute(base) || (data !== undefined && isInside(resolve(data), folder))) return null;
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
    const { mode, uid, isDirectory } = factsOf(folder);
    if (!isDirectory || (mode & OTHERS) !== 0 || (user !== null && uid !== user)) return null;
    if (bytesBelow(folder) > CACHE_BYTES_MAX) emptied(folder);
    return folder;
  } catch {
    return null;
  }
}

function factsOf(path: string): { readonly mode: number; readonly uid: number; readonly isDirectory: boolean } {
  // Not followed: a link may lead anywhere.
  const stats = lstatSync(path);
  return { mode: stats.mode, uid: stats.uid, isDirectory: stats.isDirectory() };
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
}

function bytesBelow(folder: string): number {
  const size = (entry: Dirent): number => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? bytesBelow(path) : lstatSync(path).size;
  };
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => sum + size(entry), 0);
}

function emptied(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}
