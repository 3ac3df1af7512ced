/**
 * Whether a node starts from `dist/bundle` (docs/decisions/0040): the modules of each thread in one file, which Node loads in
 * a tenth of the time. The modules themselves are the code; a bundle is a copy of them, and is used only while it is the same.
 *
 *   every input as large as it was, and not written since ─▶ the bundle
 *                                  └─▶ written since: same sum ─▶ the bundle, otherwise ─▶ the modules
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What a bundle was made of, relative to `dist`; written last. */
export const BUNDLE_INPUTS = 'bundle/inputs.json';

/** The program of a node, as src/node/main.ts. */
export const BUNDLED_NODE = 'bundle/src/node/main.js';

/** A module relative to `dist`, its size in bytes, and its contentSum. */
export type BundleInput = readonly [module: string, bytes: number, sum: string];

/** SHA-256, hex. */
export function contentSum(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** @param dist the folder of the build. @returns false also without a bundle. */
export function isBundleCurrent(dist: string): boolean {
  const path = join(dist, BUNDLE_INPUTS);
  const made = statSync(path, { throwIfNoEntry: false });
  if (made === undefined) return false;
  const inputs = JSON.parse(readFileSync(path, 'utf8')) as readonly BundleInput[];
  return inputs.every(([module, bytes, sum]) => {
    const file = join(dist, module);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || found.size !== bytes) return false;
    return found.mtimeMs <= made.mtimeMs || contentSum(readFileSync(file)) === sum;
  });
}
