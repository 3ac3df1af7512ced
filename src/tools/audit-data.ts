/**
 * Whether a data directory is what the node wrote: page by page, row by row, and against its own journal. For commands
 * and for the check before a start; the directory is only read.
 *
 *   verify    pages, checksums, chain ─▶ tables + journal behind them ─▶ conservation, holds, the hash of a clean stop
 *   replay    the journal alone, from the first record or from a snapshot ─▶ the same state hash as the tables give
 *
 * A snapshot is the tables right after one record of the same journal: one of snapshot-data.ts, or any backup.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkLedger } from '../clearing/checks.ts';
import { applyRecord } from '../clearing/records.ts';
import { recoverState } from '../clearing/recovery.ts';
import type { RecoveryProgress } from '../clearing/recovery-steps.ts';
import { nativeBytesHash, nativeSha256 } from '../clearing/sha256.ts';
import type { ClearingState } from '../clearing/state.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { loadState } from '../clearing/tables.ts';
import { assert } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import type { Sequence } from '../core/units.ts';
import { readCheckpoint } from '../storage/checkpoint.ts';
import { oldestWithin } from '../storage/data-files.ts';
import { isHeld } from '../storage/data-lock.ts';
import { openReader, type StorageReader } from '../storage/environment.ts';
import { journalBounds, journalHashAt, readJournal } from '../storage/journal.ts';
import { recoveryOf } from '../storage/lmdb-durability.ts';
import { loadRows } from '../storage/load-rows.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';
import { type MapReport, verifyMap } from '../storage/verify-map.ts';

/** Progress of long work. `of` is 0 where the total is not counted. */
export type Progress = (
  step: 'verifying' | 'loading' | 'replaying' | 'copying' | 'pruning' | 'upgrading' | 'exporting',
  done: number,
  of: number,
) => void;

export interface Audit {
  readonly map: MapReport;
  /** The sequence of the last journal record. */
  readonly sequence: Sequence;
  readonly stateHash: string;
  /** Whether the last stop was in order. */
  readonly clean: boolean;
}

export interface Replayed {
  readonly fromSequence: Sequence;
  readonly sequence: Sequence;
  readonly stateHash: string;
}

const REPORT_RECORDS = 1_000;

/** @throws InvariantError at the first damage or contradiction, StorageError when it cannot be read at all. */
export async function auditData(directory: string, progress: Progress): Promise<Audit> {
  mustHoldData(directory);
  const map = verifyMap(directory, { since: null, progress: (done, of) => progress('verifying', done, of) });
  return withReader(directory, (reader) => {
    const boot = recoverState({ recover: () => recoveryOf(reader) }, recovering(progress));
    assert(boot.sequence === map.mark.sequence, 'the tables and the journal lead to its last record');
    return { map, sequence: boot.sequence, stateHash: stateHash(boot.state, nativeBytesHash()), clean: boot.clean };
  });
}

/** @throws StorageError when it is none, in the words of every command about data. */
export function mustHoldData(directory: string): void {
  if (existsSync(join(directory, MAP_FILE_NAME))) return;
  throw new StorageError(`${directory} is no data directory of a node: there is no ${MAP_FILE_NAME} in it`);
}

/** A recovery's own words as those of a command. */
function recovering(progress: Progress): RecoveryProgress {
  return (step, done, of) => progress(step === 'replaying' ? 'replaying' : 'loading', done, of);
}

/** Like auditData, of a directory that no node holds: pages of a running one change while they are read. */
export async function auditUnheld(directory: string, progress: Progress): Promise<Audit> {
  if (isHeld(directory)) throw new StorageError(`${directory} is in use by a node; verify a backup of it`);
  return auditData(directory, progress);
}

/**
 * Replays the journal and compares with what the tables give.
 *
 * @param snapshot where to start from: a snapshot or backup of the same node; null for as far back as the journal goes.
 * @throws InvariantError when the states differ, or when the snapshot is of another journal.
 */
export async function replayData(directory: string, snapshot: string | null, progress: Progress): Promise<Replayed> {
  mustHoldData(directory);
  return withReader(directory, async (reader) => {
    const expected = recoverState({ recover: () => recoveryOf(reader) }, recovering(progress));
    const start = await replayStart(directory, reader, snapshot);
    const { state, sequence: fromSequence } = start;
    replayTo(reader, start, expected.sequence, progress);
    checkLedger(state);
    const hash = stateHash(state, nativeBytesHash());
    const wanted = stateHash(expected.state, nativeBytesHash());
    assert(hash === wanted, `replay gives the state ${hash}, the tables give ${wanted}`);
    return { fromSequence, sequence: expected.sequence, stateHash: hash };
  });
}

/** Runs `read` with a reader of the directory, which is closed afterwards. */
export async function withReader<T>(directory: string, read: (reader: StorageReader) => T | Promise<T>): Promise<T> {
  mustHoldData(directory);
  const reader = openReader(directory);
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}

/** A state that a replay begins with. */
export interface ReplayStart {
  readonly state: ClearingState;
  /** The sequence of the last record that it reflects; 0 for the empty state. */
  readonly sequence: Sequence;
}

/** @param snapshot as replayData's. */
export function replayStart(directory: string, reader: StorageReader, snapshot: string | null): Promise<ReplayStart> {
  return snapshot === null ? earliestStart(directory, reader) : startAt(reader, snapshot);
}

/** The earliest state from which the journal can be replayed: the empty one, or the oldest snapshot of a record that it has. */
async function earliestStart(directory: string, reader: StorageReader): Promise<ReplayStart> {
  const { firstSequence, lastSequence } = journalBounds(reader);
  if (firstSequence <= 1) return emptyStart();
  const snapshot = oldestWithin(directory, firstSequence, lastSequence);
  if (snapshot !== undefined) return startAt(reader, snapshot.path);
  throw new StorageError(
    `the journal of ${directory} begins with record ${firstSequence} and no snapshot is of a record that it has`,
  );
}

export function emptyStart(): ReplayStart {
  return { state: loadState([], nativeSha256), sequence: 0 as Sequence };
}

/** @throws InvariantError unless the snapshot is of the reader's journal. */
export function startAt(reader: StorageReader, snapshot: string): Promise<ReplayStart> {
  return withReader(snapshot, (from) => {
    const checkpoint = readCheckpoint(from);
    const sequence = checkpoint?.sequence ?? (0 as Sequence);
    assert(sequence <= journalBounds(reader).lastSequence, 'the snapshot is not younger than the journal');
    const hash = toHex(journalHashAt(reader, sequence));
    assert(hash === toHex(journalHashAt(from, sequence)), `the snapshot is of this journal, up to record ${sequence}`);
    return { state: loadState(loadRows(from), nativeSha256), sequence };
  });
}

/** Applies the records behind the start up to `last` to its state. */
export function replayTo(reader: StorageReader, start: ReplayStart, last: Sequence, progress: Progress): void {
  if (start.sequence >= last) return;
  for (const record of readJournal(reader, (start.sequence + 1) as Sequence)) {
    const { sequence } = record;
    applyRecord(start.state, record, []);
    if (sequence % REPORT_RECORDS === 0 || sequence === last)
      progress('replaying', sequence - start.sequence, last - start.sequence);
    if (sequence === last) return;
  }
}
