/**
 * Verifies a data directory that no node holds: every page, every checksum, the chain of the journal, and that the
 * checkpoint and the sums of the tables are those of what is there. Reads the file as bytes, so damage cannot take the
 * process with it (map-pages.ts).
 *
 *   whole         every page in use
 *   since a mark  pages written since then: what was verified before is not read again, so the time is that of reading
 *                 what was written meanwhile. Damage done later to older pages shows when they are used, or to a whole one.
 *
 * Not here: whether the rows make sense together and follow from the journal (src/node).
 */
import { join } from 'node:path';
import { assert, InvariantError } from '../core/assert.ts';
import { type Checkpoint, decodeCheckpointRow } from './checkpoint.ts';
import { DATA_VERSION, wrongVersion } from './environment.ts';
import { checkFrame } from './frames.ts';
import { decodeJournalBase, decodeJournalStored, type JournalBase } from './journal.ts';
import { decodeRecord, decodeStandalone, equal, GENESIS, GENESIS_HASH, type JournalRecord } from './journal-record.ts';
import { META, TABLE, tableName } from './key-layout.ts';
import { MAP_FILE_NAME } from './map-file.ts';
import { walkMap } from './map-pages.ts';
import { checkSum, decodeTableSums, isSummed, TableSums } from './table-sums.ts';
import type { VerifiedMark } from './verified-mark.ts';

const TABLES: ReadonlySet<number> = new Set(Object.values(TABLE));

export interface MapReport {
  readonly pages: number;
  readonly pagesRead: number;
  readonly freePages: number;
  /** Records of the journal that were read. */
  readonly records: number;
  readonly firstSequence: number;
  /** The sequence of the last checkpoint; 0 if there is none. */
  readonly checkpoint: number;
  /** Entries by the name of their table; of the pages that were read. */
  readonly tables: Readonly<Record<string, number>>;
  /** Where a later verification may begin. */
  readonly mark: VerifiedMark;
}

interface VerifyOptions {
  /** Null: whole. */
  readonly since: VerifiedMark | null;
  /** Another version of the data than today's. */
  readonly version?: number;
  readonly progress?: (pagesRead: number, pages: number) => void;
}

/** @throws InvariantError at the first damage, saying where; StorageError when the data is of another version. */
export function verifyMap(directory: string, { since, progress, version }: VerifyOptions): MapReport {
  const reading = new Reading(since, directory, version ?? DATA_VERSION);
  const walked = walkMap(join(directory, MAP_FILE_NAME), {
    since: since?.txn ?? 0,
    entry: (key, value) => reading.entry(key, value),
    ...(progress === undefined ? {} : { progress }),
  });
  progress?.(walked.pages, walked.pages);
  reading.end();
  const { txn, ...pages } = walked;
  const { records, first, last, hash } = reading.journal;
  return {
    ...pages,
    records,
    firstSequence: first,
    checkpoint: reading.checkpoint?.sequence ?? 0,
    tables: reading.counts(),
    mark: { txn, sequence: last, hash },
  };
}

/** Everything met so far. Keys come in their order: meta first, the journal last. */
class Reading {
  readonly journal: { records: number; first: number; last: number; hash: Uint8Array };
  checkpoint: Checkpoint | null = null;
  readonly #isWhole: boolean;
  readonly #directory: string;
  readonly #version: number;
  readonly #found = new TableSums();
  #base: JournalBase | null = null;
  /** What the stream of a cluster has is what was written: 0 without a cluster. */
  #storedThrough = 0;
  /** The epoch of the record before; null behind a mark, which has none. */
  #epoch: number | null;
  /** The sequence of the record without a predecessor; null when the chain continues from the mark. */
  #startsAt: number | null;
  #stored: TableSums | null = null;
  #hasVersion = false;

  constructor(since: VerifiedMark | null, directory: string, version: number) {
    this.#directory = directory;
    this.#isWhole = since === null;
    this.#version = version;
    this.#startsAt = since === null ? 1 : null;
    this.#epoch = since === null ? 0 : null;
    this.journal = { records: 0, first: 0, last: since?.sequence ?? 0, hash: since?.hash ?? GENESIS_HASH };
  }

  entry(key: Buffer, value: Buffer): void {
    const [table = 0] = key;
    if (table === TABLE.meta) this.#meta(key, value);
    else if (table === TABLE.journal) this.#record(key, value);
    else {
      assert(TABLES.has(table), `storage: there is no table ${table}`);
      checkFrame(key, value);
      this.#found.add(key, value);
    }
  }

  end(): void {
    const { checkpoint, journal } = this;
    assert(!this.#isWhole || this.#hasVersion, 'storage: the data has a version');
    assert((checkpoint?.sequence ?? 0) <= journal.last, 'checkpoint: its journal record is there');
    assert(this.#storedThrough <= journal.last, 'journal: a record that is stored is there');
    if (!this.#isWhole) return;
    assert(this.#base === null || journal.first === this.#base.sequence, 'journal: the record at its base is there');
    const stored = this.#stored ?? new TableSums();
    for (const table of Object.values(TABLE).filter(isSummed)) {
      // mutant: every-row-present
      checkSum(tableName(table), this.#found.of(table), stored.of(table));
    }
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#found].map(([table, { entries }]) => [tableName(table), entries]));
  }

  #meta(key: Buffer, value: Buffer): void {
    const name = key.length === 2 ? key[1] : 0;
    if (name === META.dataVersion) {
      this.#hasVersion = true;
      const refused = wrongVersion(this.#directory, value.toString('latin1'), this.#version);
      if (refused !== null) throw refused;
    } else if (name === META.checkpoint) this.checkpoint = decodeCheckpointRow(key, value, this.#version);
    else if (name === META.tableSums) this.#stored = decodeTableSums(key, value);
    else if (name === META.journalBase) this.#takeBase(decodeJournalBase(key, value));
    else if (name === META.journalStored) this.#storedThrough = decodeJournalStored(key, value);
    else throw new InvariantError(`storage: the key ${key.toString('hex')} is unknown`);
  }

  #takeBase(base: JournalBase): void {
    this.#base = base;
    if (this.#isWhole || base.sequence > this.journal.last) this.#startsAt = base.sequence;
  }

  #record(key: Buffer, value: Buffer): void {
    assert(key.length === 9, 'journal: a key is a sequence');
    const { journal } = this;
    const sequence = Number(key.readBigUInt64BE(1));
    assert(sequence >= (this.#base?.sequence ?? 1), `journal: record ${sequence} was pruned`);
    const { hash, epoch } = this.#read(sequence, value);
    this.#checkAnchors(sequence, hash);
    // On pages written since a mark there may be records from before it.
    if (this.#isOld(sequence)) return;
    if (journal.records === 0 && this.#startsAt !== null) journal.first = sequence;
    journal.records += 1;
    journal.last = sequence;
    journal.hash = hash;
    this.#epoch = epoch;
  }

  #isOld(sequence: number): boolean {
    return this.#startsAt === null && this.journal.records === 0 && sequence <= this.journal.last;
  }

  /** @throws InvariantError unless the record is the one that comes next, or one from before the mark. */
  #read(sequence: number, value: Buffer): JournalRecord {
    const { journal } = this;
    if (this.#isOld(sequence)) return decodeStandalone(value, sequence);
    const isFirst = journal.records === 0 && this.#startsAt !== null;
    const expected = isFirst ? this.#startsAt : journal.last + 1;
    assert(sequence === expected, `journal: record ${expected} is missing`);
    if (isFirst && sequence > 1) return decodeStandalone(value, sequence);
    if (isFirst) return decodeRecord(value, sequence, GENESIS);
    const epoch = this.#epoch ?? decodeStandalone(value, sequence).epoch;
    return decodeRecord(value, sequence, { hash: journal.hash, epoch });
  }

  /** What else names a record by its hash: the base, the mark, the checkpoint. */
  #checkAnchors(sequence: number, hash: Uint8Array): void {
    const base = this.#base;
    const { journal, checkpoint } = this;
    if (sequence === base?.sequence) assert(equal(hash, base.hash), 'journal: its base is another record');
    if (this.#isOld(sequence) && sequence === journal.last)
      assert(equal(hash, journal.hash), 'journal: it is not the one that was verified');
    if (sequence === checkpoint?.sequence)
      assert(equal(checkpoint.journalHash, hash), `checkpoint: it does not belong to journal record ${sequence}`);
  }
}
