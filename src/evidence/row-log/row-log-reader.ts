/**
 * Reads the row log from any thread or process, of a node that runs as of one that is stopped: by sequence, by time, by user
 * and by order. Rows are their bytes. What is read at once is a block, a record, or the tail: some MiB.
 *
 * A running node moves records from its tail into the files meanwhile: what is not in the one is in the other.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../core/assert.ts';
import { parseHex } from '../../core/hex.ts';
import { MAP_FILE_NAME } from '../../storage/map-file.ts';
import { StorageError } from '../../storage/storage-error.ts';
import { indexFolder } from './evidence-paths.ts';
import type { RecordMeta } from './logged-record.ts';
import { readBlock } from './row-blocks.ts';
import { type RowLink, type RowOrder, rowHead, rowOrder } from './row-head.ts';
import { type RowBlock, RowIndexReader, type UserEnd } from './row-index.ts';
import { type StoredRecord, sequenceAt, storedMeta, storedRecords, tailRecords } from './stored-records.ts';
import { linesOf, type TailRecord } from './tail.ts';

/** A private row of a user. */
export interface RowOfUser {
  readonly sequence: number;
  readonly index: number;
  readonly link: RowLink;
  readonly bytes: Uint8Array;
}

interface LogBounds {
  /** The first record of the log. */
  readonly first: number;
  /** The first whose rows are kept. */
  readonly kept: number;
  /** The last that is there. */
  readonly last: number;
}

const TRIES_MAX = 5;
/** Rows of a user that are looked up at a time: so many blocks at most. */
const USER_ROWS_PER_READ = 256;

export class RowLogReader {
  readonly #folder: string;
  readonly #index: RowIndexReader;

  private constructor(folder: string, index: RowIndexReader) {
    this.#folder = folder;
    this.#index = index;
  }

  /** Null where there is no log. @throws StorageError when it cannot be read. */
  static open(folder: string): RowLogReader | null {
    if (!existsSync(join(indexFolder(folder), MAP_FILE_NAME))) return null;
    return new RowLogReader(folder, RowIndexReader.open(folder));
  }

  /**
   * The leaves of the tree that are durable, at one moment: how many the files have, and the hashes of those of the tail. Null before
   * the first record.
   */
  leaves(): {
    readonly first: number;
    readonly settled: number;
    readonly tail: readonly Uint8Array[];
    readonly timeNs: bigint;
  } | null {
    const { settled, tail } = this.#tail();
    const first = settled?.first ?? tail[0]?.sequence;
    const timeNs = tail.at(-1)?.timeNs ?? settled?.timeNs;
    if (first === undefined || timeNs === undefined) return null;
    const count = settled === null ? 0 : settled.sequence - settled.first + 1;
    if (count + tail.length === 0) return null;
    return { first, settled: count, tail: tail.map(({ leafHash }) => leafHash), timeNs };
  }

  /** Null before the first record. */
  bounds(): LogBounds | null {
    const { settled, tail } = this.#tail();
    const first = settled?.first ?? tail[0]?.sequence;
    if (first === undefined) return null;
    const kept = this.#index.files()[0]?.first ?? (settled === null ? first : settled.sequence + 1);
    return { first, kept, last: tail.at(-1)?.sequence ?? settled?.sequence ?? first - 1 };
  }

  /**
   * Records in order, each with its rows. One that was appended since it began may be among them.
   *
   * @param from the first, no earlier than what is kept. @param to not included. @throws StorageError for what is gone.
   */
  *records(from: number, to: number = Number.MAX_SAFE_INTEGER): Generator<StoredRecord, void, undefined> {
    for (let next = from; next < to; ) {
      const { settled, tail } = this.#tail();
      const inFiles = Math.min(to - 1, settled?.sequence ?? 0);
      if (next <= inFiles) {
        yield* storedRecords(this.#folder, this.#index, next, inFiles);
        next = inFiles + 1;
        continue;
      }
      for (const record of tail) {
        if (record.sequence < next || record.sequence >= to) continue;
        yield record;
        next = record.sequence + 1;
      }
      return;
    }
  }

  /** Records whose time is at or behind `fromNs` and before `toNs`. */
  *recordsByTime(fromNs: bigint, toNs: bigint): Generator<StoredRecord, void, undefined> {
    const from = this.#firstAt(fromNs);
    if (from === null) return;
    for (const record of this.records(from)) {
      if (record.timeNs >= toNs) return;
      yield record;
    }
  }

  /** What a record is in the tree; null when it is not there. */
  meta(sequence: number): RecordMeta | null {
    const { tail } = this.#tail();
    return (
      tail.find((record) => record.sequence === sequence) ?? storedMeta(this.#folder, this.#index.files(), sequence)
    );
  }

  /** A record with its rows; null when it is not there. */
  record(sequence: number): StoredRecord | null {
    const bounds = this.bounds();
    if (bounds === null || sequence < bounds.kept || sequence > bounds.last) return null;
    const [record = null] = this.records(sequence, sequence + 1);
    return record;
  }

  /** The number of a user's last row; 0 for none. */
  lastOf(user: string): number {
    const { tail } = this.#tail();
    let last = 0;
    for (const { link } of userRowsIn(tail, user)) last = Math.max(last, link.n);
    return Math.max(last, this.#index.userEnd(user).n);
  }

  /**
   * The last row of each of these users at or before a record, which is durable. It reads every record behind it.
   *
   * @param hashOf the leaf hash of a row. @returns none for a user without a row.
   */
  lastRowsAt(
    users: Iterable<string>,
    sequence: number,
    hashOf: (row: Omit<RowOfUser, 'link'>) => Uint8Array,
  ): ReadonlyMap<string, UserEnd> {
    const settled = this.#index.position();
    const ends = new Map<string, UserEnd>();
    for (const user of users) {
      const end = this.#index.userEnd(user);
      if (end.n > 0) ends.set(user, end);
    }
    // What the index had when it was read is corrected by what stands behind: each row has the hash of the one before.
    const isLater = new Set<string>();
    const behind = settled?.sequence ?? (this.bounds()?.first ?? 1) - 1;
    for (const record of this.records(Math.min(behind, sequence) + 1)) {
      for (const bytes of record.rows) {
        const { index, chain } = rowHead(bytes);
        if (chain === null || isLater.has(chain.user)) continue;
        const { user, n, previous } = chain;
        if (record.sequence <= sequence) {
          ends.set(user, { n, hash: hashOf({ sequence: record.sequence, index, bytes }) });
          continue;
        }
        isLater.add(user);
        if (n > 1) ends.set(user, { n: n - 1, hash: must(parseHex(previous, 32), 'evidence: a hash of 32 bytes') });
        else ends.delete(user);
      }
    }
    return ends;
  }

  /** Rows n to `last` of a user, in order; those whose file is gone are left out. */
  *userRows(user: string, n: number, last: number): Generator<RowOfUser, void, undefined> {
    const { tail } = this.#tail();
    let next = n;
    const inFiles = Math.min(last, this.#index.userEnd(user).n);
    while (next <= inFiles) {
      const until = Math.min(inFiles, next + USER_ROWS_PER_READ - 1);
      for (const block of this.#index.blocksOfUser(user, next, until)) {
        for (const row of this.#userRowsOf(block, user)) {
          if (row.link.n < next || row.link.n > until) continue;
          yield row;
          next = row.link.n + 1;
        }
      }
      next = until + 1;
    }
    for (const row of userRowsIn(tail, user)) if (row.link.n >= next && row.link.n <= last) yield row;
  }

  /** The user's rows of an order, in order: of its life and its fills. @param orderId as it stands in JSON. */
  orderRows(user: string, order: RowOrder): readonly RowOfUser[] {
    const { tail } = this.#tail();
    const isOf = ({ bytes }: RowOfUser): boolean => {
      const found = rowOrder(bytes, rowHead(bytes).kind);
      return found !== null && found.assetId === order.assetId && found.orderId === order.orderId;
    };
    const rows: RowOfUser[] = [];
    let block: readonly RowOfUser[] = [];
    for (const n of this.#index.rowsOfOrder(user, order)) {
      if (!block.some(({ link }) => link.n === n)) {
        const [place] = this.#index.blocksOfUser(user, n, n).slice(-1);
        block = place === undefined ? [] : [...this.#userRowsOf(place, user)];
      }
      const row = block.find(({ link }) => link.n === n);
      if (row !== undefined && isOf(row)) rows.push(row);
    }
    const last = rows.at(-1)?.link.n ?? 0;
    for (const row of userRowsIn(tail, user)) if (row.link.n > last && isOf(row)) rows.push(row);
    return rows;
  }

  close(): Promise<void> {
    return this.#index.close();
  }

  *#userRowsOf(block: RowBlock, user: string): Generator<RowOfUser, void, undefined> {
    yield* userRowsOfLines(linesOf(readBlock(this.#folder, block)), user);
  }

  /** The first record at or behind a time; null when there is none. */
  #firstAt(timeNs: bigint): number | null {
    const { tail } = this.#tail();
    const stored = sequenceAt(this.#folder, this.#index.files(), timeNs);
    return stored ?? tail.find((record) => record.timeNs >= timeNs)?.sequence ?? null;
  }

  /** The position, and the tail behind it without a gap. */
  #tail(): { readonly settled: ReturnType<RowIndexReader['position']>; readonly tail: readonly TailRecord[] } {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const settled = this.#index.view(() => this.#index.position());
      const tail = tailRecords(this.#folder, settled?.sequence ?? null);
      // Of a tail that was begun anew between the two reads nothing follows on the position.
      const after = this.#index.view(() => this.#index.position());
      if (after?.sequence === settled?.sequence) return { settled, tail };
    }
    throw new StorageError(`${this.#folder} changes faster than it can be read: try again`);
  }
}

function* userRowsIn(tail: readonly TailRecord[], user: string): Generator<RowOfUser, void, undefined> {
  for (const { rows } of tail) yield* userRowsOfLines(rows, user);
}

function* userRowsOfLines(rows: readonly Uint8Array[], user: string): Generator<RowOfUser, void, undefined> {
  for (const bytes of rows) {
    const { sequence, index, chain } = rowHead(bytes);
    if (chain?.user === user) yield { sequence, index, link: chain, bytes };
  }
}
