/**
 * Backups: a copy of a data directory at one sequence, taken while its node runs, and a directory made of a copy.
 *
 *   backup     one transaction of the map is copied by lmdb, then verified from its first page to its state
 *   restore    a verified copy becomes the data directory of a node
 *   rebuild    only the journal is taken: tables, history and remembered ids are made anew by replaying it; of a pruned
 *              journal behind the snapshot that stands for what is gone
 *
 * Snapshots go with the map, as its journal may begin at one of them.
 *
 * Simulated chains are files beside the map. They are copied after it: a chain that is ahead of the ledger is what a
 * ledger meets at any restart.
 *
 * The evidence goes with the map (copy-evidence.ts); an upgrade leaves it where it is.
 *
 * A copy is never read before it is whole: it grows under another name and is renamed at the end.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { applyRecord } from '../clearing/records.ts';
import type { ClearingState } from '../clearing/state.ts';
import { canCheckpoint, dirtyRowCount, drainDirtyRows } from '../clearing/tables.ts';
import { assert } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import { checkpointSequence } from '../storage/checkpoint.ts';
import {
  CHAINS,
  flush,
  flushTree,
  makeDirectory,
  oldestWithin,
  snapshotPath,
  snapshotsIn,
} from '../storage/data-files.ts';
import { isHeld } from '../storage/data-lock.ts';
import { openReader } from '../storage/environment.ts';
import { type CopiedRecord, journalBounds, readJournal } from '../storage/journal.ts';
import { equal } from '../storage/journal-record.ts';
import { LmdbDurability } from '../storage/lmdb-durability.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';
import {
  type Audit,
  auditData,
  emptyStart,
  mustHoldData,
  type Progress,
  type ReplayStart,
  startAt,
  withReader,
} from './audit-data.ts';
import { copyEvidence } from './copy-evidence.ts';

/** Rows that a checkpoint of a rebuild takes: few enough for memory, many enough for speed. */
const ROWS_PER_CHECKPOINT = 20_000;
/** How often a copy is looked at. */
const LOOK_MS = 100;
/** Times that a backup of a running node is begun again for a checkpoint that came in between. */
const EVIDENCE_TRIES_MAX = 5;
/** Records that one transaction of a rebuild takes. */
const RECORDS_PER_COMMIT = 256;

/** Copies the data of a node that may be running. @throws StorageError, or InvariantError when the copy is damaged. */
export async function backupData(directory: string, to: string, progress: Progress): Promise<Audit> {
  return build(to, async (half) => {
    mustHoldData(directory);
    const reader = openReader(directory);
    try {
      for (let tries = 0; ; tries += 1) {
        // Its evidence first: what the map has of the journal beyond it is sent again at a start.
        const durable = await copyEvidence(directory, half, progress);
        await copying(join(directory, MAP_FILE_NAME), half, progress, (to) => reader.copyTo(to));
        if (durable === null || durable >= (await withReader(half, checkpointSequence))) break;
        // A checkpoint came in between.
        if (tries === EVIDENCE_TRIES_MAX)
          throw new StorageError('checkpoints come faster than can be copied: try again');
        rmSync(join(half, MAP_FILE_NAME));
      }
    } finally {
      await reader.close();
    }
    await copyBeside(directory, half);
    return auditCopy(half, progress);
  });
}

/** Makes a data directory from a backup. @throws as backupData. */
export async function restoreData(backup: string, to: string, progress: Progress): Promise<Audit> {
  if (isHeld(backup)) throw new StorageError(`${backup} is in use by a node; restore from a backup of it`);
  mustHoldData(backup);
  return build(to, async (half) => {
    const map = join(backup, MAP_FILE_NAME);
    await copyEvidence(backup, half, progress);
    await copying(map, half, progress, (to) => copyFile(map, to));
    await copyBeside(backup, half);
    return auditCopy(half, progress);
  });
}

/** Reports how much of a map is copied, while it is being copied. */
async function copying(
  map: string,
  directory: string,
  progress: Progress,
  copy: (to: string) => Promise<void>,
): Promise<void> {
  const to = join(directory, MAP_FILE_NAME);
  const of = statSync(map).size;
  const look = (): void => progress('copying', statSync(to, { throwIfNoEntry: false })?.size ?? 0, of);
  const timer = setInterval(look, LOOK_MS);
  try {
    await copy(to);
    look();
  } finally {
    clearInterval(timer);
  }
}

export interface RebuildFrom {
  readonly to: string;
  /** The tables at one record of the journal, which need not go back further than to it; null for its first record. */
  readonly snapshot: string | null;
  /** The directory of the chain files to copy; null for none. */
  readonly beside: string | null;
}

/** Makes a data directory from a journal alone. @throws InvariantError when a record is not what it was. */
export async function rebuildData(
  records: Iterable<CopiedRecord> | AsyncIterable<CopiedRecord>,
  { to, snapshot, beside }: RebuildFrom,
  progress: Progress,
): Promise<Audit> {
  return build(to, async (half) => {
    const begun = snapshot === null ? { ...emptyStart(), record: null } : await beginWith(snapshot, half);
    const durable = beside === null ? null : await copyEvidence(beside, half, progress);
    const rebuild = new Rebuild(half, begun, durable, progress);
    try {
      for await (const record of records) rebuild.add(record);
      rebuild.end();
    } finally {
      await rebuild.close();
    }
    if (beside !== null) copyChains(beside, half);
    return auditCopy(half, progress);
  });
}

/** Where a rebuild begins, and the record of the journal that made it so; null for nothing. */
interface Beginning extends ReplayStart {
  readonly record: CopiedRecord | null;
}

/** A snapshot is where the tables begin, and stays beside them: the journal leads from there. */
async function beginWith(snapshot: string, half: string): Promise<Beginning> {
  const start = await withReader(snapshot, (reader) => startAt(reader, snapshot));
  const record = await withReader(snapshot, (reader) => readJournal(reader, start.sequence).next().value ?? null);
  const { firstSequence, lastSequence } = await withReader(snapshot, journalBounds);
  if (firstSequence !== lastSequence) throw new StorageError(`${snapshot} is no snapshot: it has a journal of its own`);
  cpSync(join(snapshot, MAP_FILE_NAME), join(half, MAP_FILE_NAME));
  const place = snapshotPath(half, start.sequence);
  mkdirSync(place, { recursive: true });
  cpSync(join(snapshot, MAP_FILE_NAME), join(place, MAP_FILE_NAME));
  return { ...start, record };
}

class Rebuild {
  readonly #durability: LmdbDurability;
  readonly #progress: Progress;
  readonly #state: ClearingState;
  readonly #begin: Beginning;
  readonly #durable: number;
  #next: number;
  #reached = 0;
  #waiting: CopiedRecord[] = [];
  #last: CopiedRecord | null = null;

  /** @param durable how far the evidence goes: the tables do not pass it. Null: there is none. */
  constructor(directory: string, begin: Beginning, durable: number | null, progress: Progress) {
    this.#durable = durable ?? Number.MAX_SAFE_INTEGER;
    this.#durability = new LmdbDurability(directory);
    this.#state = begin.state;
    this.#begin = begin;
    this.#next = begin.sequence + 1;
    this.#progress = progress;
  }

  /** Records up to the start are in the snapshot. @throws InvariantError when the last of them is another one there. */
  add(record: CopiedRecord): void {
    this.#reached = record.sequence;
    const { record: base } = this.#begin;
    // mutant: journal-after-own-snapshot
    const isOther = base !== null && record.sequence === base.sequence && !isSameRecord(record, base);
    assert(!isOther, `the snapshot is not of this journal: record ${record.sequence} differs`);
    if (record.sequence < this.#next) return;
    if (record.sequence > this.#next) {
      const begins = `the journal begins with record ${record.sequence}`;
      throw new StorageError(`${begins}, ${this.#next} is needed: give the snapshot from which it leads on`);
    }
    this.#next += 1;
    this.#waiting.push(record);
    if (this.#waiting.length >= RECORDS_PER_COMMIT || record.sequence === this.#durable) this.#take();
    if (record.sequence === this.#durable && canCheckpoint(this.#state)) this.#checkpoint();
  }

  /** @throws StorageError when the start is younger than all of the journal: what it gave would not be the journal's. */
  end(): void {
    const { sequence } = this.#begin;
    if (this.#reached < sequence) {
      const ends = `the journal ends with record ${this.#reached}`;
      throw new StorageError(`${ends}, the snapshot is of record ${sequence}: give one that is not younger`);
    }
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
    for (const record of records) applyRecord(this.#state, record, []);
    this.#last = records.at(-1) ?? null;
    this.#progress('replaying', this.#last?.sequence ?? 0, 0);
    if (dirtyRowCount(this.#state) >= ROWS_PER_CHECKPOINT && canCheckpoint(this.#state)) this.#checkpoint();
  }

  #checkpoint(): void {
    if (this.#last === null || this.#last.sequence > this.#durable) return;
    const { sequence, timeNs } = this.#last;
    const mark = { timeNs, sequence: sequence as Sequence, clean: false, stateHash: null };
    this.#durability.checkpoint(mark, drainDirtyRows(this.#state));
  }
}

function isSameRecord(a: CopiedRecord, b: CopiedRecord): boolean {
  return a.timeNs === b.timeNs && equal(a.hash, b.hash) && equal(a.payload, b.payload);
}

/** Fills a directory of another name, which gets its own when everything is in it and flushed. */
export async function build<T>(to: string, fill: (half: string) => Promise<T>): Promise<T> {
  const target = resolve(to);
  if (existsSync(target) && readdirSync(target).length > 0) throw new StorageError(`${to} is not empty`);
  const half = `${target}.half`;
  rmSync(half, { recursive: true, force: true });
  makeDirectory(half);
  try {
    const filled = await fill(half);
    for (const name of readdirSync(half))
      if (name.startsWith('claim.') || name.endsWith('-lock')) rmSync(join(half, name));
    flushTree(half);
    rmSync(target, { recursive: true, force: true });
    renameSync(half, target);
    flush(dirname(target));
    return filled;
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw error;
  }
}

/** An audit, and that the journal of the copy can be replayed: its node may have pruned it meanwhile. */
async function auditCopy(directory: string, progress: Progress): Promise<Audit> {
  const audit = await auditData(directory, progress);
  const { firstSequence } = audit.map;
  const isWhole = firstSequence <= 1 || oldestWithin(directory, firstSequence, audit.sequence) !== undefined;
  if (!isWhole) throw new StorageError('the journal was pruned while it was copied: try again');
  return audit;
}

/**
 * Chains, and the snapshots of the map that was copied. Those of a running node come and go: one that is there is whole,
 * one that was made since the map was copied is of no record that the copy has.
 */
async function copyBeside(from: string, to: string): Promise<void> {
  copyChains(from, to);
  const { lastSequence } = await withReader(to, journalBounds);
  for (const { sequence, path } of snapshotsIn(from)) {
    if (sequence <= lastSequence) copySnapshot(path, snapshotPath(to, sequence));
  }
}

/** One that was removed meanwhile is left out. */
function copySnapshot(path: string, place: string): void {
  mkdirSync(place, { recursive: true });
  try {
    copyFileSync(join(path, MAP_FILE_NAME), join(place, MAP_FILE_NAME));
  } catch (error) {
    if (existsSync(path)) throw error;
    rmSync(place, { recursive: true });
  }
}

function copyChains(from: string, to: string): void {
  if (existsSync(join(from, CHAINS))) cpSync(join(from, CHAINS), join(to, CHAINS), { recursive: true });
}
