/**
 * What an installation has and this machine never loads: binaries of native modules for other systems, processors and Nodes,
 * and the compiler, which npm keeps because a package names it as an optional peer. npm can leave none of it out, so it
 * is removed after `npm ci`, which brings it back.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../core/config-error.ts';
import { binaryName } from '../http/uws-integrity.ts';

interface Removal {
  /** Relative to the folder of the packages. */
  readonly path: string;
  readonly bytes: number;
}

const SERVER = 'uWebSockets.js';
const SODIUM = 'sodium-native/prebuilds';
const COMPILER: readonly string[] = ['typescript', '@typescript'];
/** A development package that is always there with the others. */
const OF_DEVELOPMENT = '@biomejs/biome';

/** A folder `node_modules`. */
interface Packages {
  readonly folder: string;
  /** Whether the folder belongs to a clone or an image, not to a program that has ringbook as a package: nothing else uses it. */
  readonly isOwn: boolean;
}

/** The packages of this installation; links are not followed. @throws ConfigError when none are found. */
export function installedPackages(from: string = dirname(fileURLToPath(import.meta.url))): Packages {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const folder = join(at, 'node_modules');
    if (lstatSync(join(folder, SERVER), { throwIfNoEntry: false }) !== undefined)
      return { folder, isOwn: from.startsWith(join(at, 'dist')) };
  }
  throw new ConfigError(`no packages are installed above ${from}`);
}

/**
 * What may be removed.
 *
 * @throws ConfigError when there is no binary for this Node and machine, or the packages are links into another place.
 */
export function removable({ folder: packages, isOwn }: Packages): readonly Removal[] {
  const server = join(packages, SERVER);
  if (lstatSync(server, { throwIfNoEntry: false })?.isSymbolicLink() !== false)
    throw new ConfigError(`${server} is not a folder of this installation: nothing is removed`);
  if (!existsSync(join(server, binaryName())))
    throw new ConfigError(`uWebSockets.js has no ${binaryName()}: install again with npm ci; nothing is removed`);
  const binaries = namesIn(server).filter((name) => name.endsWith('.node') && name !== binaryName());
  const host = `${process.platform}-${process.arch}`;
  const prebuilt = namesIn(join(packages, SODIUM));
  const others = prebuilt.includes(host) ? prebuilt.filter((name) => name !== host) : [];
  const compiler = !isOwn || existsSync(join(packages, OF_DEVELOPMENT)) ? [] : COMPILER;
  return [
    ...binaries.map((name) => join(SERVER, name)),
    ...others.map((name) => join(SODIUM, name)),
    ...compiler.filter((name) => existsSync(join(packages, name))),
  ].map((path) => ({ path, bytes: bytesOf(join(packages, path)) }));
}

export function remove({ folder }: Packages, removals: readonly Removal[]): void {
  for (const { path } of removals) rmSync(join(folder, path), { recursive: true });
}

/** The bytes of all files below. */
export function bytesOf(path: string): number {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return namesIn(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
