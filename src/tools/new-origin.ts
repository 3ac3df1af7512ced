/**
 * Begins a new log in a data directory whose evidence does not go on (EVD-07): what there is of the old one is put aside, whole, and the
 * new log states the old origin, its last known head and the reason.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { base64Of } from '../evidence/base64.ts';
import { evidenceFolder, newOriginFile, putAsideNames } from '../evidence/evidence-files.ts';
import { newestHead } from '../evidence/heads/head-store.ts';
import { headsFolder } from '../evidence/row-log/evidence-paths.ts';
import { lockDirectory } from '../storage/data-lock.ts';
import { StorageError } from '../storage/storage-error.ts';

export interface NewOrigin {
  /** Where the old log is. */
  readonly aside: string;
  /** What the new log will state. */
  readonly statement: string;
}

/** @param reason one line. @throws StorageError when a node holds the directory, or it has no evidence. */
export function beginNewOrigin(directory: string, reason: string, now: Date): NewOrigin {
  const lock = lockDirectory(directory);
  try {
    const names = putAsideNames().filter((name) => existsSync(join(directory, name)));
    if (names.length === 0) throw new StorageError(`${directory} has no evidence`);
    const head = newestHead(headsFolder(evidenceFolder(directory)))?.head ?? null;
    const known =
      head === null ? 'origin unknown\nno head' : `origin ${head.origin}\nhead ${head.size} ${base64Of(head.root)}`;
    const statement = `ringbook/new-origin/v1\n${known}\nreason ${reason}\n`;
    const aside = join(directory, `evidence-until-${now.toISOString().replaceAll(':', '')}`);
    mkdirSync(aside);
    // The statement first: a kill behind it leaves a log that is refused, or one that states where it comes from.
    writeFileSync(newOriginFile(directory), statement, { mode: 0o600 });
    for (const name of names) renameSync(join(directory, name), join(aside, name));
    return { aside, statement };
  } finally {
    lock.release();
  }
}
