/**
 * Looks at a map file before lmdb does: when lmdb 3.5.6 fails to open a file it frees its environment twice and takes
 * the process with it, without a word. So what can be checked beforehand is checked here.
 *
 * Each of the first two pages is a meta page:   0 page header   24 magic, u32 LE   28 format, u32 LE   48 page size, u32 LE
 */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { StorageError } from './storage-error.ts';

/** In its data directory. */
export const MAP_FILE_NAME = 'ledger.mdb';

const MAGIC = 0xbeefc0de;
const FORMAT = 2;
const PAGE_BYTES = { min: 512, max: 65_536 };
const META_BYTES = 52;

/** @throws StorageError when the file cannot be opened; a missing or empty one is only fit for a writer. */
export function checkMapFile(path: string, readOnly: boolean): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) {
    if (readOnly) throw new StorageError(`${path} does not exist`);
    return;
  }
  accessSync(path, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
  const descriptor = openSync(path, 'r');
  try {
    const pageBytes = checkMetaPage(path, descriptor, 0);
    checkMetaPage(path, descriptor, pageBytes);
  } finally {
    closeSync(descriptor);
  }
}

/** @returns the page size in the meta page. */
function checkMetaPage(path: string, descriptor: number, at: number): number {
  const meta = Buffer.alloc(META_BYTES);
  const found = readSync(descriptor, meta, 0, META_BYTES, at);
  const pageBytes = meta.readUInt32LE(48);
  const isMeta = found === META_BYTES && meta.readUInt32LE(24) === MAGIC && meta.readUInt32LE(28) === FORMAT;
  if (!isMeta || pageBytes < PAGE_BYTES.min || pageBytes > PAGE_BYTES.max) {
    throw new StorageError(`${path} is not a database of this version, or it is damaged`);
  }
  return pageBytes;
}
