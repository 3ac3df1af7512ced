/**
 * The commit that is checked out in a clone, from git's files alone: git itself may not be installed, and a start runs no programs.
 *
 *   .git           a folder, or in a work tree a file `gitdir: <folder>`
 *   HEAD           a hash, or `ref: <name>`
 *   <name>         below that folder, or below the one that its file `commondir` names: a hash, or again `ref: <name>`
 *   packed-refs    below the latter: lines `<hash> <name>`
 *
 * What is checked out need not be what was built.
 */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** SHA-1 or SHA-256. */
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const REF = /^ref: (refs\/[^\0\\]+)$/;
const GIT_DIRECTORY = /^gitdir: (.+)$/;
/** References to references; git itself follows five. */
const DEPTH_MAX = 5;
/** A larger file is none of these: packed references of some 1,000,000 branches. */
const BYTES_MAX = 64 << 20;

/** @param root the folder of the clone. @returns hex digits; null where it is no clone, has no commit, or cannot be read. */
export function checkedOutCommit(root: string): string | null {
  try {
    const folder = gitDirectory(resolve(root, '.git'));
    const common = firstLine(resolve(folder, 'commondir'));
    return hashOf('HEAD', folder, common === null ? folder : resolve(folder, common), 0);
  } catch {
    return null;
  }
}

function gitDirectory(path: string): string {
  if (statSync(path).isDirectory()) return path;
  const [, folder = ''] = GIT_DIRECTORY.exec(firstLine(path) ?? '') ?? [];
  return resolve(path, '..', folder);
}

function hashOf(name: string, folder: string, common: string, depth: number): string | null {
  if (depth > DEPTH_MAX || name.split('/').includes('..')) return null;
  const line = firstLine(resolve(folder, name)) ?? firstLine(resolve(common, name));
  if (line === null) return packedHash(name, common);
  if (HASH.test(line)) return line;
  const [, next] = REF.exec(line) ?? [];
  return next === undefined ? null : hashOf(next, folder, common, depth + 1);
}

function packedHash(name: string, common: string): string | null {
  const text = textOf(resolve(common, 'packed-refs')) ?? '';
  const line = text.split('\n').find((each) => each.trimEnd().endsWith(` ${name}`));
  const [hash = ''] = line?.split(' ') ?? [];
  return HASH.test(hash) ? hash : null;
}

function firstLine(path: string): string | null {
  return textOf(path)?.split('\n', 1)[0]?.trimEnd() ?? null;
}

/** @returns null for what is no file, or cannot be read. */
function textOf(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= BYTES_MAX ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}
