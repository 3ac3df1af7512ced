/**
 * Backups: a copy of a data directory at one sequence, taken while its node runs, and a directory made of a copy.
 *
 *   backup     one transaction of the map is copied by lmdb, then verified from its first page to its state
 *   restore    a verified copy becomes the data directory of a node
 *   rebuild    only the journal is taken: tables, history and remembered ids are made anew by replaying it
 *
 * Simulated chains are files beside the map. They are copied after it: a chain that is ahead of the ledger is what a
 * ledger meets at any restart.
 *
 * A copy is never read before it is whole: it grows under another name and is renamed at the end.
 */
import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { canCheckpoint, dirtyRowCount, drainDirtyRows, loadState } from '../clearing/checkpoint.ts';
import { applyBatch } from '../clearing/clearing.ts';
import type { ClearingState } from '../clearing/state.ts';
import type { Sequence } from '../core/units.ts';
import { isHeld } from '../storage/data-lock.ts';
import { MAP_FILE_NAME, openReader } from '../storage/environment.ts';
import type { CopiedRecord } from '../storage/journal.ts';
import { StorageError } from '../storage/storage-error.ts';
import { type Audit, auditData, type Progress } from './audit-data.ts';
import { decodeBatch } from './journal-batch.ts';
import { LmdbDurability } from './lmdb-durability.ts';

const CHAINS = 'chains';
/** Rows that a checkpoint of a rebuild takes: few enough for memory, many enough for speed. */
const ROWS_PER_CHECKPOINT = 20_000;
/** Records that one transaction of a rebuild takes. */
const RECORDS_PER_COMMIT = 256;

/** Copies the data of a node that may be running. @throws StorageError, or InvariantError when the copy is damaged. */
export async function backupData(directory: string, to: string, progress: Progress): Promise<Audit> {
  return build(to, async (half) => {
    const reader = openReader(directory);
    try {
      await reader.copyTo(join(half, MAP_FILE_NAME));
    } finally {
      await reader.close();
    }
    copyChains(directory, half);
    return auditData(half, progress);
  });
}

/** Makes a data directory from a backup. @throws as backupData. */
export async function restoreData(backup: string, to: string, progress: Progress): Promise<Audit> {
  if (isHeld(backup)) throw new StorageError(`${backup} is in use by a node; restore from a backup of it`);
  return build(to, async (half) => {
    cpSync(join(backup, MAP_FILE_NAME), join(half, MAP_FILE_NAME));
    copyChains(backup, half);
    return auditData(half, progress);
  });
}

/** Makes a data directory from a journal alone. @throws InvariantError when a record is not what it was. */
export async function rebuildData(
  records: Iterable<CopiedRecord> | AsyncIterable<CopiedRecord>,
  to: string,
  chainsOf: string | null,
  progress: Progress,
): Promise<Audit> {
  return build(to, async (half) => {
    const rebuild = new Rebuild(half, progress);
    try {
      for await (const record of records) rebuild.add(record);
      rebuild.end();
    } finally {
      await rebuild.close();
    }
    if (chainsOf !== null) copyChains(chainsOf, half);
    return auditData(half, progress);
  });
}

class Rebuild {
  readonly #durability: LmdbDurability;
  readonly #progress: Progress;
  readonly #state: ClearingState = loadState([]);
  #waiting: CopiedRecord[] = [];
  #last: CopiedRecord | null = null;

  constructor(directory: string, progress: Progress) {
    this.#durability = new LmdbDurability(directory);
    this.#progress = progress;
  }

  add(record: CopiedRecord): void {
    this.#waiting.push(record);
    if (this.#waiting.length >= RECORDS_PER_COMMIT) this.#take();
  }

  end(): void {
    this.#take();
    if (canCheckpoint(this.#state)) this.#checkpoint();
  }

  close(): Promise<void> {
    return this.#durability.close();
  }

  #take(): void {
    const records = this.#waiting;
    this.#waiting = [];
    if (records.length === 0) return;
    this.#durability.copyRecords(records);
    for (const { payload } of records) applyBatch(this.#state, decodeBatch(payload), []);
    this.#last = records.at(-1) ?? null;
    this.#progress('replaying', this.#last?.sequence ?? 0, 0);
    if (dirtyRowCount(this.#state) >= ROWS_PER_CHECKPOINT && canCheckpoint(this.#state)) this.#checkpoint();
  }

  #checkpoint(): void {
    if (this.#last === null) return;
    const { sequence, timeNs } = this.#last;
    const mark = { timeNs, sequence: sequence as Sequence, clean: false, stateHash: null };
    this.#durability.checkpoint(mark, drainDirtyRows(this.#state));
  }
}

/** Fills a directory of another name, which gets its own when everything is in it and flushed. */
async function build(to: string, fill: (half: string) => Promise<Audit>): Promise<Audit> {
  const target = resolve(to);
  if (existsSync(target) && readdirSync(target).length > 0) throw new StorageError(`${to} is not empty`);
  const half = `${target}.half`;
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { recursive: true });
  try {
    const audit = await fill(half);
    for (const name of readdirSync(half))
      if (name.startsWith('claim.') || name.endsWith('-lock')) rmSync(join(half, name));
    for (const path of filesIn(half)) flush(path);
    rmSync(target, { recursive: true, force: true });
    renameSync(half, target);
    flush(dirname(target));
    return audit;
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw error;
  }
}

function copyChains(from: string, to: string): void {
  if (existsSync(join(from, CHAINS))) cpSync(join(from, CHAINS), join(to, CHAINS), { recursive: true });
}

/** Everything in a directory, itself last. */
function filesIn(directory: string): readonly string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return [...names.map((name) => join(directory, name)), directory];
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
