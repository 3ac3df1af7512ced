/**
 * The child of a start's check (start-check.ts): reads what was written since the mark, and reports its progress, then the
 * new mark, the damage, or why it could not read. A mark that does not fit is no mark: then everything is read
 * (verified-mark.ts). `ringbook verify` always reads all.
 */
import { InvariantError } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import { StorageError } from '../storage/storage-error.ts';
import { readVerifiedMark, type VerifiedMark } from '../storage/verified-mark.ts';
import { verifyMap } from '../storage/verify-map.ts';

const EXIT_DAMAGED = 65;

/** @param `say` throws when the node has ended. @returns the exit code. */
export function runCheck(directory: string, say: (line: string) => void): number {
  try {
    const { txn, sequence, hash } = verifySince(directory, readVerifiedMark(directory), say);
    say(`mark ${txn} ${sequence} ${toHex(hash)}`);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say(`${wordFor(error)} ${message.replaceAll('\n', ' ')}`);
    return EXIT_DAMAGED;
  }
}

/** A system call that failed (no permission, no memory, a read error) is no damage that was found. */
function wordFor(error: unknown): 'refused' | 'unchecked' | 'damaged' {
  if (error instanceof StorageError) return 'refused';
  return error instanceof Error && 'syscall' in error ? 'unchecked' : 'damaged';
}

function verifySince(directory: string, since: VerifiedMark | null, say: (line: string) => void): VerifiedMark {
  const progress = (pagesRead: number, pages: number): void => say(`${pagesRead} ${pages}`);
  if (since === null) return verifyMap(directory, { since, progress }).mark;
  try {
    return verifyMap(directory, { since, progress }).mark;
  } catch (error) {
    if (!(error instanceof InvariantError)) throw error;
    // Damage, or a mark of another directory: reading everything decides which.
    return verifyMap(directory, { since: null, progress }).mark;
  }
}
