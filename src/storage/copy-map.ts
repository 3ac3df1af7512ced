/**
 * Copies a map entry by entry into a new one: everything that the tables hold, and of the journal the record that they
 * reflect. What a snapshot is made by, and each step of an upgrade, which converts the entries on their way.
 *
 *   source     │ meta │ tables …………… │ 1 2 3 … n │ n+1 … │
 *   target     │ meta │ tables, anew  │         n │                 n: of the checkpoint; no record where it is 0
 *
 * Tables are copied inside one view of the source, so a node may write meanwhile. The target is packed: pages are full,
 * none is free.
 */
import { must } from '../core/assert.ts';
import { ByteWriter } from '../schema/byte-writer.ts';
import { type Checkpoint, checkpointMetaWrite } from './checkpoint.ts';
import type { Entry, StorageReader, StorageWriter, Write } from './environment.ts';
import { journalBaseWrite } from './journal.ts';
import { keyWriter, TABLE, tableName } from './key-layout.ts';
import { checkSum, readTableSums, TableSums, tableSumsWrite } from './table-sums.ts';

const ENTRIES_PER_STEP = 1_024;
const CHUNK_BYTES = 1 << 20;

/** What an entry becomes; null where it goes. Its key stays, so that keys keep their order. */
export type Convert = (entry: Entry, to: ByteWriter) => Uint8Array | null;

interface CopyOptions {
  readonly convert?: Convert;
  /** Entries of a table that the source does not have, in the order of their keys. */
  readonly added?: Iterable<Entry>;
  readonly progress: (entries: number) => void;
}

/**
 * @param target an empty map.
 * @returns how many entries the tables have.
 * @throws InvariantError when a table of the source lacks an entry, or has one too many.
 */
export function copyTables(source: StorageReader, target: StorageWriter, options: CopyOptions): number {
  const keys = keyWriter();
  const range = { from: keys.table(TABLE.meta + 1), to: keys.table(TABLE.journal), perStep: ENTRIES_PER_STEP };
  const found = new TableSums();
  const sums = new TableSums();
  const bytes = new ByteWriter(CHUNK_BYTES);
  let writes: Write[] = [];
  let entries = 0;
  const put = ({ key, value }: Entry): void => {
    sums.add(key, value);
    writes.push({ key, value, rule: 'append' });
    entries += 1;
    if (writes.length < ENTRIES_PER_STEP) return;
    target.commit(writes);
    options.progress(entries);
    bytes.reset();
    writes = [];
  };
  const added = options.added?.[Symbol.iterator]();
  let next = added?.next();
  const putAdded = (below: Uint8Array | null): void => {
    while (next?.done === false && (below === null || Buffer.compare(next.value.key, below) < 0)) {
      put(next.value);
      next = added?.next();
    }
  };
  for (const entry of source.entries(range)) {
    putAdded(entry.key);
    found.add(entry.key, entry.value);
    const value = options.convert === undefined ? entry.value : options.convert(entry, bytes);
    if (value !== null) put({ key: entry.key, value });
  }
  putAdded(null);
  for (const [table, written] of readTableSums(source)) checkSum(tableName(table), found.of(table), written);
  target.commit([...writes, tableSumsWrite(bytes, sums)]);
  options.progress(entries);
  return entries;
}

/**
 * The record of a checkpoint, as it lies; null of record 0, which every journal begins with. A running node may prune it
 * any time: it is read in the view in which the checkpoint was.
 */
export function anchorOf(source: StorageReader, { sequence }: Pick<Checkpoint, 'sequence'>): Uint8Array | null {
  if (sequence === 0) return null;
  return must(source.get(keyWriter().journal(sequence)), `journal: record ${sequence} is missing`);
}

/** Makes the record of the checkpoint the base of the target's journal, which of record 0 is empty. */
export function writeAnchor(
  target: StorageWriter,
  checkpoint: Omit<Checkpoint, 'journalBytes'>,
  record: Uint8Array | null,
): void {
  const { sequence, journalHash } = checkpoint;
  const bytes = new ByteWriter(1 << 10);
  if (record === null) {
    target.commit([checkpointMetaWrite(bytes, { ...checkpoint, journalBytes: 0 })]);
    return;
  }
  target.commit([
    { key: keyWriter().journal(sequence), value: record, rule: 'append' },
    checkpointMetaWrite(bytes, { ...checkpoint, journalBytes: record.length }),
    journalBaseWrite(bytes, { sequence, hash: journalHash, prunedBytes: 0 }),
  ]);
}
