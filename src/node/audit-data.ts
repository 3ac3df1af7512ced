/**
 * Whether a data directory is what the node wrote: page by page, row by row, and against its own journal. For commands
 * and for the check before a start; the directory is only read.
 *
 *   verify    pages, checksums, chain ─▶ tables + journal behind them ─▶ conservation, holds, the hash of a clean stop
 *   replay    the journal alone, from the first record or from a snapshot ─▶ the same state hash as the tables give
 *
 * A snapshot is a backup: the tables right after one record of the same journal.
 */
import { loadState } from '../clearing/checkpoint.ts';
import { checkLedger } from '../clearing/checks.ts';
import { applyBatch } from '../clearing/clearing.ts';
import type { ClearingState } from '../clearing/state.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { assert } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import type { Sequence } from '../core/units.ts';
import { readCheckpoint } from '../storage/checkpoint.ts';
import { isHeld } from '../storage/data-lock.ts';
import { openReader, type StorageReader } from '../storage/environment.ts';
import { journalBounds, journalHashAt, readJournal } from '../storage/journal.ts';
import { loadRows } from '../storage/load-rows.ts';
import { StorageError } from '../storage/storage-error.ts';
import { type MapReport, verifyMap } from '../storage/verify-map.ts';
import { decodeBatch } from './journal-batch.ts';
import { recoveryOf } from './lmdb-durability.ts';
import { recoverState } from './recovery.ts';

/** What takes long tells how far it is. `of` is 0 where that is not known. */
export type Progress = (step: 'verifying' | 'loading' | 'replaying' | 'copying', done: number, of: number) => void;

export interface Audit {
  readonly map: MapReport;
  /** Of the last journal record. */
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
  const map = verifyMap(directory, { since: null, progress: (done, of) => progress('verifying', done, of) });
  return withReader(directory, (reader) => {
    progress('loading', 0, 0);
    const boot = recoverState({ recover: () => recoveryOf(reader) });
    assert(boot.sequence === map.mark.sequence, 'the tables and the journal lead to its last record');
    return { map, sequence: boot.sequence, stateHash: stateHash(boot.state), clean: boot.clean };
  });
}

/** Like auditData, of a directory that no node holds: pages of a running one change while they are read. */
export async function auditUnheld(directory: string, progress: Progress): Promise<Audit> {
  if (isHeld(directory)) throw new StorageError(`${directory} is in use by a node; verify a backup of it`);
  return auditData(directory, progress);
}

/**
 * Replays the journal and compares with what the tables give.
 *
 * @param snapshot a backup of the same node to start from; null for the first record.
 * @throws InvariantError when the states differ, or when the snapshot is of another journal.
 */
export async function replayData(directory: string, snapshot: string | null, progress: Progress): Promise<Replayed> {
  return withReader(directory, async (reader) => {
    const expected = recoverState({ recover: () => recoveryOf(reader) });
    const { state, sequence: from } = snapshot === null ? emptyState(reader) : await snapshotState(reader, snapshot);
    replayFrom(reader, state, from, progress);
    checkLedger(state);
    const hash = stateHash(state);
    const wanted = stateHash(expected.state);
    assert(hash === wanted, `replay gives the state ${hash}, the tables give ${wanted}`);
    return { fromSequence: from, sequence: expected.sequence, stateHash: hash };
  });
}

/** Runs `read` with a reader of the directory, which is closed afterwards. */
export async function withReader<T>(directory: string, read: (reader: StorageReader) => T | Promise<T>): Promise<T> {
  const reader = openReader(directory);
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}

interface Snapshot {
  readonly state: ClearingState;
  readonly sequence: Sequence;
}

function emptyState(reader: StorageReader): Snapshot {
  assert(journalBounds(reader).firstSequence <= 1, 'the journal goes back to its first record');
  return { state: loadState([]), sequence: 0 as Sequence };
}

function snapshotState(reader: StorageReader, snapshot: string): Promise<Snapshot> {
  return withReader(snapshot, (from) => {
    const checkpoint = readCheckpoint(from);
    const sequence = checkpoint?.sequence ?? (0 as Sequence);
    assert(sequence <= journalBounds(reader).lastSequence, 'the snapshot is not younger than the journal');
    const hash = toHex(journalHashAt(reader, sequence));
    assert(hash === toHex(journalHashAt(from, sequence)), `the snapshot is of this journal, up to record ${sequence}`);
    return { state: loadState(loadRows(from)), sequence };
  });
}

function replayFrom(reader: StorageReader, state: ClearingState, from: Sequence, progress: Progress): void {
  const { lastSequence } = journalBounds(reader);
  if (from === lastSequence) return;
  for (const { sequence, payload } of readJournal(reader, (from + 1) as Sequence)) {
    applyBatch(state, decodeBatch(payload), []);
    if (sequence % REPORT_RECORDS === 0) progress('replaying', sequence, lastSequence);
  }
}
