/**
 * From an older version of the data to today's, step by step, beside what is there:
 *
 *   ledger.mdb 5 ─verify─▶ upgrade.half/6 ─▶ upgrade.half/7 ─audit─▶ ledger.mdb 7, by one rename
 *        └──────────────────────────────────────── stays as data-5-at-<sequence>/ledger.mdb
 *
 * The old map keeps its name until the new one is whole, verified and flushed, and is linked under its other name before
 * the rename: killed at any moment, the directory holds one map or the other under the name that counts.
 *
 * Only a directory that was stopped in order is upgraded: its tables hold everything, so no record of its journal has to be
 * read by the rules of an older version. The new journal begins with the last record, and a snapshot is made of it; what came
 * before stays with the old map, for the version that wrote it.
 */
import { cpSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stateHash } from '../clearing/state-hash.ts';
import { loadState } from '../clearing/tables.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { Sequence } from '../core/units.ts';
import { type Checkpoint, decodeCheckpoint } from '../storage/checkpoint.ts';
import { anchorOf, copyTables, writeAnchor } from '../storage/copy-map.ts';
import {
  flush,
  flushTree,
  removeSnapshots,
  type SnapshotPlace,
  snapshotPath,
  snapshotsIn,
} from '../storage/data-files.ts';
import { lockDirectory } from '../storage/data-lock.ts';
import {
  DATA_VERSION,
  dataVersionOf,
  openReader,
  openWriter,
  type StorageReader,
  versionName,
} from '../storage/environment.ts';
import { journalBounds } from '../storage/journal.ts';
import { HASH_BYTES } from '../storage/journal-record.ts';
import { loadRows } from '../storage/load-rows.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';
import { UPGRADE_STEPS, type UpgradeStep } from '../storage/upgrade-steps.ts';
import { forgetVerifiedMark } from '../storage/verified-mark.ts';
import { verifyMap } from '../storage/verify-map.ts';
import { auditData, mustHoldData, type Progress } from './audit-data.ts';

const HALF = 'upgrade.half';

export interface Upgraded {
  readonly from: number;
  readonly to: number;
  readonly sequence: Sequence;
  readonly stateHash: string;
  /** Where the old map is. */
  readonly kept: string;
}

/**
 * Upgrades a data directory that no node holds.
 *
 * @returns null when it is of today's version already.
 * @throws StorageError when it is too old, newer, or was not stopped in order; InvariantError when it is damaged. Then it
 *   is as it was.
 */
export async function upgradeData(directory: string, progress: Progress): Promise<Upgraded | null> {
  mustHoldData(directory);
  const lock = lockDirectory(directory);
  try {
    const half = join(directory, HALF);
    rmSync(half, { recursive: true, force: true });
    const from = await dataVersionOf(directory);
    const upgraded = from === DATA_VERSION ? null : await upgradeFrom(from, directory, half, progress);
    await removeSnapshotsBut(DATA_VERSION, directory);
    rmSync(half, { recursive: true, force: true });
    return upgraded;
  } finally {
    lock.release();
  }
}

async function upgradeFrom(from: number, directory: string, half: string, progress: Progress): Promise<Upgraded> {
  const steps = stepsFrom(from, directory);
  verifyMap(directory, { since: null, version: from, progress: (done, of) => progress('verifying', done, of) });
  const source = openReader(directory, { version: from });
  try {
    const checkpoint = orderlyEnd(source, directory, from);
    const made = await makeMap({ source, half, checkpoint, steps, progress });
    const { sequence, stateHash: hash } = await auditData(made, progress);
    const kept = join(directory, `data-${from}-at-${sequence}`);
    await keep(from, directory, kept);
    await replace(directory, made, sequence);
    return { from, to: DATA_VERSION, sequence, stateHash: hash, kept };
  } finally {
    await source.close();
  }
}

function stepsFrom(from: number, directory: string): readonly UpgradeStep[] {
  const steps = UPGRADE_STEPS.filter((step) => step.from >= from);
  if (steps[0]?.from === from) return steps;
  const holds = `${directory} holds "${versionName(from)}"`;
  if (from > DATA_VERSION)
    throw new StorageError(`${holds}, which is newer than this version of ringbook: use a newer one`);
  const oldest = versionName(UPGRADE_STEPS[0]?.from);
  throw new StorageError(
    `${holds}; this version of ringbook upgrades from "${oldest}" on: open it with the one that wrote it, and export from there`,
  );
}

/** @throws StorageError unless the tables hold everything that the journal does. */
function orderlyEnd(source: StorageReader, directory: string, version: number): Checkpoint {
  const checkpoint = decodeCheckpoint(source, version);
  const { lastSequence } = journalBounds(source);
  if (checkpoint?.clean === true && checkpoint.sequence === lastSequence) return checkpoint;
  throw new StorageError(
    `${directory} was not stopped in order, and its journal is read by the rules of the version that wrote it: start it with the ringbook of "${versionName(version)}", stop it with SIGTERM, then upgrade`,
  );
}

interface Making {
  readonly source: StorageReader;
  readonly half: string;
  readonly checkpoint: Checkpoint;
  readonly steps: readonly UpgradeStep[];
  readonly progress: Progress;
}

/** One map after the other, each in a directory of its own. @returns the last of them. */
async function makeMap({ source, half, checkpoint, steps, progress }: Making): Promise<string> {
  let reader = source;
  let made = '';
  for (const [index, step] of steps.entries()) {
    const { from } = step;
    made = join(half, String(from + 1));
    mkdirSync(made, { recursive: true });
    const writer = openWriter(made, { version: from + 1 });
    try {
      const copied = (entries: number): void => progress('upgrading', entries, 0);
      const added = step.added?.(reader) ?? [];
      copyTables(reader, writer, { convert: step.convert(reader), added, progress: copied });
      if (index === steps.length - 1) {
        const hash = must(parseHex(stateHash(loadState(loadRows(writer))), HASH_BYTES), 'a state hash is hex');
        writeAnchor(writer, { ...checkpoint, stateHash: hash }, anchorOf(source, checkpoint));
      }
    } finally {
      await writer.close();
      if (reader !== source) await reader.close();
    }
    if (index < steps.length - 1) reader = openReader(made, { version: from + 1 });
  }
  return made;
}

/** Links what is there under another name. */
async function keep(version: number, directory: string, kept: string): Promise<void> {
  link(join(directory, MAP_FILE_NAME), join(kept, MAP_FILE_NAME));
  for (const { sequence, path } of snapshotsIn(directory)) {
    if ((await dataVersionOf(path)) !== version) continue;
    link(join(path, MAP_FILE_NAME), join(snapshotPath(kept, sequence), MAP_FILE_NAME));
  }
  flushTree(kept);
  flush(directory);
}

function link(file: string, name: string): void {
  mkdirSync(dirname(name), { recursive: true });
  rmSync(name, { force: true });
  linkSync(file, name);
}

/** The new map takes the place of the old one; the snapshot from which its journal leads is there before. */
async function replace(directory: string, made: string, sequence: Sequence): Promise<void> {
  flushTree(made);
  if (sequence > 0) await placeSnapshot(directory, made, sequence);
  // A mark of the old map would vouch for pages of the new one.
  forgetVerifiedMark(directory);
  rmSync(join(directory, `${MAP_FILE_NAME}-lock`), { force: true });
  flush(directory);
  renameSync(join(made, MAP_FILE_NAME), join(directory, MAP_FILE_NAME));
  flush(directory);
}

async function placeSnapshot(directory: string, made: string, sequence: Sequence): Promise<void> {
  const snapshot = snapshotPath(directory, sequence);
  const fresh = join(made, 'snapshot');
  mkdirSync(fresh);
  cpSync(join(made, MAP_FILE_NAME), join(fresh, MAP_FILE_NAME));
  flushTree(fresh);
  mkdirSync(dirname(snapshot), { recursive: true });
  // Linked beside the old map by now.
  const same = snapshotsIn(directory).filter((found) => found.sequence === sequence);
  await removeSnapshots(directory, same);
  renameSync(fresh, snapshot);
  flush(dirname(snapshot));
}

async function removeSnapshotsBut(version: number, directory: string): Promise<void> {
  const others: SnapshotPlace[] = [];
  for (const place of snapshotsIn(directory)) if ((await dataVersionOf(place.path)) !== version) others.push(place);
  await removeSnapshots(directory, others);
}
