/**
 * What a build has of sources that are gone. The compiler leaves it, so a removed test would still be run; everything else
 * of the build stays in place, because a node may be running from it.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A source map that is not from the compiler, or not whole, does not match. */
const SOURCE = /"sources":\["([^"]+)"\]/;

/** Removes each output of the build below `directory` that has no source any more. @returns the removed modules. */
export function removeStaleOutputs(directory: string): readonly string[] {
  const removed: string[] = [];
  for (const map of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!map.endsWith('.js.map')) continue;
    const path = join(directory, map);
    const source = SOURCE.exec(readFileSync(path, 'utf8'))?.[1];
    if (source === undefined || existsSync(resolve(dirname(path), source))) continue;
    const module = map.slice(0, -'.js.map'.length);
    // The map goes last: while it is there, a removal that was interrupted is repeated.
    for (const end of ['.js', '.d.ts', '.js.map']) rmSync(join(directory, module + end), { force: true });
    removed.push(module);
  }
  return removed;
}
