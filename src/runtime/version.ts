/** The content of `GET /version`: the package's version, and the commit of the build or of the clone that runs. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkedOutCommit } from './git-commit.ts';

function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

const FOLDER = packageFolder();

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as { readonly version: string };
  return manifest.version;
}

export const VERSION: string = readVersion();
/** Set when an image is built. */
const OF_IMAGE = process.env['RINGBOOK_COMMIT'] ?? '';
/** `unknown` where no image was built and the package lies in no clone of its own, for example below node_modules. */
export const COMMIT: string = OF_IMAGE === '' ? (checkedOutCommit(FOLDER) ?? 'unknown') : OF_IMAGE;
/** Whether COMMIT is what was built, not only what is checked out. */
export const IS_COMMIT_BUILT: boolean = OF_IMAGE !== '';
