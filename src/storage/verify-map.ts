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
import { DATA_VERSION, MAP_FILE_NAME } from './environment.ts';
import { decodeRecord, decodeStandalone, equal, GENESIS_HASH } from './journal-record.ts';
import { META, TABLE, tableName } from './key-layout.ts';
import { walkMap } from './map-pages.ts';
import { checkFrame } from './row-codecs.ts';
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
  /** Of the last checkpoint; 0 without one. */
  readonly checkpoint: number;
  /** Entries by the name of their table; of the pages that were read. */
  readonly tables: Readonly<Record<string, number>>;
  /** Where a later verification may begin. */
  readonly mark: VerifiedMark;
}

export interface VerifyOptions {
  /** Null: whole. */
  readonly since: VerifiedMark | null;
  readonly progress?: (pagesRead: number, pages: number) => void;
}

/** @throws InvariantError at the first damage, saying where. */
export function verifyMap(directory: string, { since, progress }: VerifyOptions): MapReport {
  const reading = new Reading(since);
  const walked = walkMap(join(directory, MAP_FILE_NAME), {
    since: since?.txn ?? 0,
    entry: (key, value) => reading.entry(key, value),
    ...(progress === undefined ? {} : { progress }),
  });
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
  readonly #found = new TableSums();
  #stored: TableSums | null = null;
  #hasVersion = false;

  constructor(since: VerifiedMark | null) {
    this.#isWhole = since === null;
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
    if (!this.#isWhole) return;
    const stored = this.#stored ?? new TableSums();
    for (const table of Object.values(TABLE).filter(isSummed)) {
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
      assert(value.toString('latin1') === DATA_VERSION, `storage: the data is of version "${DATA_VERSION}"`);
    } else if (name === META.checkpoint) this.checkpoint = decodeCheckpointRow(key, value);
    else if (name === META.tableSums) this.#stored = decodeTableSums(key, value);
    else throw new InvariantError(`storage: the key ${key.toString('hex')} is unknown`);
  }

  #record(key: Buffer, value: Buffer): void {
    const { journal, checkpoint } = this;
    assert(key.length === 9, 'journal: a key is a sequence');
    const sequence = Number(key.readBigUInt64BE(1));
    // On pages written since a mark there may be records from before it.
    const isOld = !this.#isWhole && sequence <= journal.last && journal.records === 0;
    const isFirst = this.#isWhole && journal.records === 0;
    const follows = isOld || isFirst ? null : journal.hash;
    if (!isOld && !isFirst) assert(sequence === journal.last + 1, `journal: record ${journal.last + 1} is missing`);
    const record = follows === null ? decodeStandalone(value, sequence) : decodeRecord(value, sequence, follows);
    if (isFirst && sequence === 1) decodeRecord(value, sequence, GENESIS_HASH);
    if (isFirst) journal.first = sequence;
    if (sequence === journal.last)
      assert(equal(record.hash, journal.hash), 'journal: it is not the one that was verified');
    if (sequence === checkpoint?.sequence) {
      assert(
        equal(checkpoint.journalHash, record.hash),
        `checkpoint: it does not belong to journal record ${sequence}`,
      );
    }
    if (isOld) return;
    journal.records += 1;
    journal.last = sequence;
    journal.hash = record.hash;
  }
}
