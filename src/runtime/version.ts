/** What `GET /version` says: the package's version, and the commit when the build was told of one. */
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
/** Set by whoever builds an image; a checkout runs without. */
export const COMMIT: string = process.env['RINGBOOK_COMMIT'] ?? 'unknown';
