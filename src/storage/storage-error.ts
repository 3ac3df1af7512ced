import { statfsSync } from 'node:fs';
import { NO_SPACE } from '../core/no-space.ts';

/**
 * The disk, the map or the data directory refused. Nothing inside the node goes on after one: the process ends and a
 * restart recovers from what was flushed. Damaged contents are not this but an InvariantError.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** A disk with less than this is full for a commit. */
const FULL_BYTES = 16 * 1_048_576;
const NO_SPACE_FORM = /ENOSPC|EDQUOT|no space left|quota exceeded/i;
/** LMDB reports in this way that the disk took only a part of a write. */
const PARTIAL_FORM = /input\/output error|\bEIO\b/i;

/**
 * A StorageError with what was being done, and the cause's own words, or that the disk is full.
 *
 * @param directory where it was written; null where that is not known.
 */
export function storageError(doing: string, cause: unknown, directory: string | null = null): StorageError {
  const words = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const isPartial = PARTIAL_FORM.test(words) && directory !== null && isFull(directory);
  const isFullDisk = isPartial || NO_SPACE_FORM.test(`${code} ${words}`);
  const at = directory === null ? '' : ` under ${directory}`;
  const reason = isFullDisk ? `${NO_SPACE}${at} (${words})` : words;
  return new StorageError(`${doing}: ${reason}`, { cause });
}

function isFull(directory: string): boolean {
  try {
    const { bsize, bavail } = statfsSync(directory);
    return bsize * bavail < FULL_BYTES;
  } catch {
    return false;
  }
}
