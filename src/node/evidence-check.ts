/** Before a start: the evidence goes at least as far as the tables, of which nothing is sent again (EXP-00, EVD-05). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { begunAt, evidenceFolder, evidenceSecret } from '../evidence/evidence-files.ts';
import { checkContinues } from '../evidence/heads/head-maker.ts';
import { newestHead } from '../evidence/heads/head-store.ts';
import { LogTiles } from '../evidence/proofs/log-tiles.ts';
import { headsFolder, tilesFolder } from '../evidence/row-log/evidence-paths.ts';
import { inspectRowLog, type LogExtent } from '../evidence/row-log/row-log.ts';
import { RowLogReader } from '../evidence/row-log/row-log-reader.ts';
import { TileFiles } from '../evidence/tree/tile-files.ts';
import { checkpointSequence } from '../storage/checkpoint.ts';
import { type EnvironmentOptions, openReader } from '../storage/environment.ts';
import { journalBounds } from '../storage/journal.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';

/**
 * @returns how far the log goes; null where it is to begin.
 * @throws StorageError when there was one and it is gone, or ends before the tables' checkpoint.
 */
export async function checkEvidence(
  directory: string,
  options: EnvironmentOptions & { readonly secret: string | null; readonly isCluster: boolean },
): Promise<LogExtent | null> {
  evidenceSecret(directory, options.secret);
  const folder = evidenceFolder(directory);
  const begun = begunAt(directory);
  const extent = await inspectRowLog(folder);
  const { checkpoint, journal } = await ledgerOf(directory, options);
  const ways =
    'restore the folder of a backup that goes so far, or begin a new log with "ringbook evidence new-origin"';
  if (extent === null) {
    if (begun === null && options.isCluster && checkpoint > 0) throw notOfCluster(directory, checkpoint);
    if (begun === null) return null;
    throw new StorageError(`the evidence of ${directory} began with record ${begun} and is gone: ${ways}`);
  }
  if (extent.durable < checkpoint)
    throw new StorageError(
      `the evidence in ${folder} ends with record ${extent.durable}, and the tables hold everything up to ${checkpoint}: ${ways}`,
    );
  // What is sent again would be compared with what came of other records.
  if (extent.durable > journal)
    throw new StorageError(
      `the evidence in ${folder} ends with record ${extent.durable}, and the journal with ${journal}: restore both of one backup`,
    );
  await checkHeads(folder);
  return extent;
}

/** The tree goes on from the newest head that this node has signed (EVD-07). @throws StorageError EVIDENCE_FORK */
async function checkHeads(folder: string): Promise<void> {
  const newest = newestHead(headsFolder(folder));
  if (newest === null) return;
  const reader = RowLogReader.open(folder);
  if (reader === null) return;
  const tiles = new LogTiles(reader, new TileFiles(tilesFolder(folder), 'read'));
  try {
    checkContinues(tiles, tiles.refresh()?.size ?? 0, newest.head, 'the newest head of this node');
  } finally {
    tiles.close();
    await reader.close();
  }
}

/** A log that begins here would be another one than that of the other nodes: other numbers of rows, other leaves. */
function notOfCluster(directory: string, checkpoint: number): StorageError {
  const ways = 'begin with "ringbook backup" of a node that has it; or, where none has, set "evidence" to null';
  return new StorageError(
    `${directory} begins with a snapshot of record ${checkpoint} and has no evidence, which every node of a cluster has alike: ${ways}`,
  );
}

async function ledgerOf(
  directory: string,
  options: EnvironmentOptions,
): Promise<{ readonly checkpoint: number; readonly journal: number }> {
  if (!existsSync(join(directory, MAP_FILE_NAME))) return { checkpoint: 0, journal: 0 };
  const reader = openReader(directory, options);
  try {
    return { checkpoint: checkpointSequence(reader), journal: journalBounds(reader).lastSequence };
  } finally {
    await reader.close();
  }
}
