/**
 * Checks the native server's binary before it is loaded: uWebSockets.js comes as a republish by a third party
 * (docs/decisions/0027), and a lock file protects an installation, not the later content of the disk.
 *
 * The decision record states how the sums were compared with the upstream build.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { UWS_SUMS } from './uws-sums.ts';

/** The file that `uws.js` of the package loads. */
export function binaryName(): string {
  return `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
}

/** The folder of the package, located without loading it. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('uWebSockets.js'));
}

/** @returns why the binary for this Node and machine must not be loaded; null when it equals the compared one. */
export function binaryFault(folder: string, name: string = binaryName()): string | null {
  const expected = UWS_SUMS[name];
  if (expected === undefined) return `uWebSockets.js has no binary for this machine and Node: ${name}`;
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(folder, name));
  } catch (error) {
    return `uWebSockets.js cannot be read: ${error instanceof Error ? error.message : String(error)}; install again with npm ci`;
  }
  const found = createHash('sha256').update(bytes).digest('hex');
  return found === expected
    ? null
    : `${name} of uWebSockets.js is not the one that was compared: sha256 ${found}, expected ${expected}; install again with npm ci`;
}
