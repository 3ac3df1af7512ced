/** The content of `GET /version`: the package's version, and the commit if the build has one. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function readVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  return manifest.version;
}

export const VERSION: string = readVersion();
/** Set when an image is built; unset in a checkout. */
export const COMMIT: string = process.env['RINGBOOK_COMMIT'] ?? 'unknown';
