/** Records and rows as they lie in the files of the row log, for its owner and for others that read it. Nothing is changed. */
import { closeSync, openSync, readSync } from 'node:fs';
import { assert, must } from '../../core/assert.ts';
import { StorageError, storageError } from '../../storage/storage-error.ts';
import { firstsIn, recordsFile, tailFolder } from './evidence-paths.ts';
import { RECORD_ENTRY_BYTES, type RecordMeta, readRecordEntry } from './logged-record.ts';
import { readBlock } from './row-blocks.ts';
import { rowHead } from './row-head.ts';
import type { RowBlock, RowFile, RowIndexReader } from './row-index.ts';
import { linesOf, readTail, type TailRecord } from './tail.ts';

export interface StoredRecord extends RecordMeta {
  /** Each without a newline. */
  readonly rows: readonly Uint8Array[];
}

/** Entries that are read at a time, and blocks that are looked up. */
const ENTRIES_PER_READ = 1_024;
const BLOCKS_PER_READ = 64;

/** Entries of records `sequence` on, all of one file. @returns at least one. @throws StorageError */
function readEntries(folder: string, file: RowFile, sequence: number, countMax: number): readonly RecordMeta[] {
  const path = recordsFile(folder, file.first);
  const count = Math.min(countMax, file.lastSequence - sequence + 1);
  const bytes = Buffer.allocUnsafe(count * RECORD_ENTRY_BYTES);
  try {
    const descriptor = openSync(path, 'r');
    try {
      const found = readSync(descriptor, bytes, 0, bytes.length, (sequence - file.first) * RECORD_ENTRY_BYTES);
      if (found !== bytes.length) throw new StorageError(`${path} ends before record ${sequence + count - 1}`);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw storageError('reading the evidence', error);
  }
  return Array.from({ length: count }, (_, place) =>
    readRecordEntry(bytes, place * RECORD_ENTRY_BYTES, sequence + place),
  );
}

function fileOf(files: readonly RowFile[], sequence: number): RowFile | undefined {
  const file = files.findLast(({ first }) => first <= sequence);
  return file !== undefined && sequence <= file.lastSequence ? file : undefined;
}

/** The record in the files; null when they do not have it. */
export function storedMeta(folder: string, files: readonly RowFile[], sequence: number): RecordMeta | null {
  const file = fileOf(files, sequence);
  if (file === undefined) return null;
  return readEntries(folder, file, sequence, 1)[0] ?? null;
}

/** The first sequence in the files whose record is not before this time; null when none is. */
export function sequenceAt(folder: string, files: readonly RowFile[], timeNs: bigint): number | null {
  const file = files.find(({ lastNs }) => lastNs >= timeNs);
  if (file === undefined) return null;
  let [low, high] = [file.first, file.lastSequence];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = readEntries(folder, file, middle, 1);
    if (must(entry, 'evidence: an entry').timeNs >= timeNs) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Blocks of rows in order, from the one that holds row (sequence, 0) or the first behind it. */
function* blocksFrom(index: RowIndexReader, sequence: number): Generator<RowBlock, void, undefined> {
  let blocks = index.blocksFrom(sequence, BLOCKS_PER_READ);
  for (;;) {
    yield* blocks;
    const last = blocks.at(-1);
    if (last === undefined || blocks.length < BLOCKS_PER_READ) return;
    blocks = index.blocksBehind(last, BLOCKS_PER_READ);
  }
}

function* rowsFrom(folder: string, index: RowIndexReader, sequence: number): Generator<Uint8Array, void, undefined> {
  for (const block of blocksFrom(index, sequence)) {
    const lines = linesOf(readBlock(folder, block));
    assert(lines.length === block.rows, 'evidence: a block has the rows that the index says');
    yield* lines;
  }
}

/**
 * Records of the files from `sequence` to `last`, in order, each with its rows.
 *
 * @param last at most the last sequence of the files. @throws StorageError for what is gone or damaged.
 */
export function* storedRecords(
  folder: string,
  index: RowIndexReader,
  sequence: number,
  last: number,
): Generator<StoredRecord, void, undefined> {
  const rows = rowsFrom(folder, index, sequence);
  let isAtStart = true;
  for (let next = sequence; next <= last; ) {
    const file = fileOf(index.files(), next);
    if (file === undefined) throw new StorageError(`${folder} does not have the rows of record ${next} any more`);
    for (const meta of readEntries(folder, file, next, Math.min(ENTRIES_PER_READ, last - next + 1))) {
      const own: Uint8Array[] = [];
      while (own.length < meta.count) {
        const row = rows.next().value;
        if (row === undefined) throw new StorageError(`${folder} lacks rows of record ${meta.sequence}`);
        // The first block may begin with records before this one.
        if (isAtStart && rowHead(row).sequence < sequence) continue;
        isAtStart = false;
        own.push(row);
      }
      const [first] = own;
      if (first !== undefined) {
        const head = rowHead(first);
        assert(head.sequence === meta.sequence && head.index === 0, 'evidence: the rows of a record are its own');
      }
      yield { ...meta, rows: own };
      next = meta.sequence + 1;
    }
  }
}

/** What is in the tail behind record `after`, in order and without a gap. Files of a flush that was killed say the same twice. */
export function tailRecords(folder: string, after: number | null): readonly TailRecord[] {
  const records: TailRecord[] = [];
  let next = after === null ? null : after + 1;
  for (const first of firstsIn(tailFolder(folder), '.log')) {
    for (const record of readTail(folder, first)) {
      if (next !== null && record.sequence !== next) continue;
      records.push(record);
      next = record.sequence + 1;
    }
  }
  return records;
}
