/**
 * The disk, the map or the data directory refused. Nothing inside the node goes on after one: the process ends and a
 * restart recovers from what was flushed. Damaged contents are not this but an InvariantError.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** A StorageError with what was being done, and the cause's own words. */
export function storageError(doing: string, cause: unknown): StorageError {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new StorageError(`${doing}: ${words}`, { cause });
}
