/**
 * Snapshots of a data directory, and the journal that they make superfluous.
 *
 *   make    tables at the checkpoint ─▶ a packed map of their own ─▶ verified ─▶ proven ─▶ its name
 *   prove   the snapshot before, or nothing, + the journal up to it ─▶ the same state hash
 *   prune   all but the newest snapshots go, and the journal below the oldest of those that stay
 *
 * So a snapshot that has its name was proven to follow from the inputs, and what is pruned could have been replayed once
 * more to the very state that stands for it. From a snapshot on everything works as from the first record: replay,
 * verification, a rebuild from the journal. What lies before can only be replayed from a copy that was kept elsewhere.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nativeBytesHash, nativeSha256 } from '../clearing/sha256.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { loadState } from '../clearing/tables.ts';
import { assert, must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import type { Sequence } from '../core/units.ts';
import { checkpointSequence, readCheckpoint } from '../storage/checkpoint.ts';
import { anchorOf, copyTables, writeAnchor } from '../storage/copy-map.ts';
import {
  flush,
  forgetSnapshots,
  makeDirectory,
  SNAPSHOTS,
  type SnapshotPlace,
  snapshotPath,
  snapshotsIn,
} from '../storage/data-files.ts';
import { isHeld, lockDirectory } from '../storage/data-lock.ts';
import { openWriter, type StorageReader } from '../storage/environment.ts';
import { journalBounds } from '../storage/journal.ts';
import { HASH_BYTES } from '../storage/journal-record.ts';
import { LmdbDurability } from '../storage/lmdb-durability.ts';
import { loadRows } from '../storage/load-rows.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';
import {
  type Audit,
  auditData,
  emptyStart,
  mustHoldData,
  type Progress,
  replayTo,
  startAt,
  withReader,
} from './audit-data.ts';
import { build } from './copy-data.ts';

/** Records that one commit of a prune removes. */
export const PRUNED_PER_COMMIT = 256;

const NEW = 'new';

/**
 * Makes a snapshot of the last checkpoint, whether a node runs or not.
 *
 * @returns it, or the one that is there already.
 * @throws StorageError, or InvariantError when the tables do not follow from the journal.
 */
export async function makeSnapshot(directory: string, progress: Progress): Promise<SnapshotPlace> {
  const home = join(directory, SNAPSHOTS);
  const fresh = join(home, NEW);
  if (isHeld(`${fresh}.half`)) throw new StorageError(`a snapshot of ${directory} is being made by another process`);
  const known = await withReader(directory, (reader) => snapshotAt(directory, checkpointSequence(reader)));
  if (known !== undefined) return known;
  makeDirectory(home);
  rmSync(fresh, { recursive: true, force: true });
  const sequence = await withReader(directory, (reader) => {
    return build(fresh, async (half) => {
      const made = await fillSnapshot(reader, half, progress);
      await auditData(half, progress);
      await prove(directory, reader, { sequence: made, path: half }, progress);
      return made;
    });
  });
  const path = snapshotPath(directory, sequence);
  if (existsSync(path)) rmSync(fresh, { recursive: true });
  else renameSync(fresh, path);
  flush(home);
  return { sequence, path };
}

function snapshotAt(directory: string, wanted: Sequence): SnapshotPlace | undefined {
  return snapshotsIn(directory).find(({ sequence }) => sequence === wanted);
}

/**
 * Everything at one version of the map, which is held while tables are copied and no longer: pages that a running node
 * frees meanwhile cannot be used again until then. The record of the checkpoint is read with them: it may be pruned then.
 *
 * @returns the sequence of its checkpoint.
 */
async function fillSnapshot(reader: StorageReader, half: string, progress: Progress): Promise<Sequence> {
  const writer = openWriter(half);
  try {
    const [checkpoint, anchor] = reader.view(() => {
      const found = readCheckpoint(reader);
      // For record 0 nothing has to be kept: every journal begins with it.
      if (found === null || found.sequence === 0)
        throw new StorageError('there is no checkpoint yet, so there is no snapshot of it');
      copyTables(reader, writer, { progress: (entries) => progress('copying', entries, 0) });
      return [found, anchorOf(reader, found)] as const;
    });
    const hash = stateHash(loadState(loadRows(writer), nativeSha256), nativeBytesHash());
    const bytes = must(parseHex(hash, HASH_BYTES), 'a state hash is hex');
    writeAnchor(writer, { ...checkpoint, stateHash: bytes, clean: false }, anchor);
    return checkpoint.sequence;
  } finally {
    await writer.close();
  }
}

/** @throws InvariantError unless the journal leads from the snapshot before, or from nothing, to this one. */
async function prove(
  directory: string,
  reader: StorageReader,
  { sequence, path }: SnapshotPlace,
  progress: Progress,
): Promise<void> {
  const { firstSequence } = journalBounds(reader);
  const before = snapshotsIn(directory).findLast(
    (found) => found.sequence < sequence && found.sequence >= firstSequence,
  );
  if (before === undefined && firstSequence > 1) {
    // At the base itself nothing is left that could lead to it: it stands for what was proven before.
    if (sequence === firstSequence) return;
    throw new StorageError(`no snapshot of ${directory} is left from which its journal could be replayed`);
  }
  const start = before === undefined ? emptyStart() : await startAt(reader, before.path);
  replayTo(reader, start, sequence, progress);
  const replayed = stateHash(start.state, nativeBytesHash());
  const found = await withReader(path, storedHash);
  assert(replayed === found, `replay gives the state ${replayed} at record ${sequence}, the snapshot says ${found}`);
}

function storedHash(snapshot: StorageReader): string {
  return toHex(must(readCheckpoint(snapshot), 'a snapshot has a checkpoint').stateHash);
}

/** A snapshot as it was made. @throws InvariantError when it is damaged. */
export async function auditSnapshot(path: string, progress: Progress): Promise<Audit> {
  const audit = await auditData(path, progress);
  const stored = await withReader(path, storedHash);
  assert(audit.stateHash === stored, `the snapshot ${path} gives the state ${audit.stateHash} and says ${stored}`);
  return audit;
}

/**
 * Makes a data directory that begins with a snapshot which was kept elsewhere.
 *
 * @param fetch writes its map into a new file. @throws Error of `fetch`, StorageError, or InvariantError when it is damaged.
 */
export async function beginWithSnapshot(
  to: string,
  fetch: (file: string) => Promise<void>,
  progress: Progress,
): Promise<Audit> {
  return build(to, async (half) => {
    const map = join(half, MAP_FILE_NAME);
    await fetch(map);
    const audit = await auditSnapshot(half, progress);
    const { firstSequence } = audit.map;
    if (firstSequence !== audit.sequence) throw new StorageError('what was fetched is no snapshot: it has a journal');
    const place = snapshotPath(half, audit.sequence);
    mkdirSync(place, { recursive: true });
    cpSync(map, join(place, MAP_FILE_NAME));
    return audit;
  });
}

export interface Pruned {
  readonly snapshots: readonly Sequence[];
  /** Where the journal begins now. */
  readonly firstSequence: Sequence;
  readonly lastSequence: Sequence;
  readonly journalBytes: number;
}

/**
 * Makes a snapshot, keeps the newest ones, and removes the journal below the oldest of those.
 *
 * @param keep how many stay, at least 1.
 * @throws StorageError when a node holds the directory; as makeSnapshot.
 */
export async function pruneData(directory: string, keep: number, progress: Progress): Promise<Pruned> {
  mustHoldData(directory);
  const lock = lockDirectory(directory);
  let durability: LmdbDurability | null = null;
  try {
    await makeSnapshot(directory, progress);
    const base = await oldestKept(directory, keep, progress);
    durability = new LmdbDurability(directory, { lock });
    const { firstSequence: first } = durability.journalSize;
    for (let isDone = false; !isDone; ) {
      isDone = durability.prune(base, PRUNED_PER_COMMIT);
      progress('pruning', durability.journalSize.firstSequence - first, base - first);
    }
    await forgetSnapshots(directory, base);
    const { journalSize, lastSequence } = durability;
    const { firstSequence, bytes: journalBytes } = journalSize;
    return {
      snapshots: snapshotsIn(directory).map(({ sequence }) => sequence),
      firstSequence,
      lastSequence,
      journalBytes,
    };
  } finally {
    if (durability === null) lock.release();
    else await durability.close();
  }
}

/** The sequence below which nothing is needed any more; the snapshot there is sound. */
export async function oldestKept(directory: string, keep: number, progress: Progress): Promise<Sequence> {
  assert(Number.isSafeInteger(keep) && keep >= 1, 'at least one snapshot stays');
  const oldest = must(snapshotsIn(directory).slice(-keep)[0], 'there is a snapshot');
  await auditSnapshot(oldest.path, progress);
  return oldest.sequence;
}
