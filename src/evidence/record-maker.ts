/**
 * Makes the record of the row log from what clearing recorded of a journal record: rows, chained by user, their hashes, and the leaf;
 * and compares one that is there with what comes again, after a start or in an audit (EVD-05).
 */
import { InvariantError } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import type { Views } from '../core/views.ts';
import { RowWriter } from './row-bytes.ts';
import type { LoggedRecord, LoggedRow } from './row-log/logged-record.ts';
import { rowHead } from './row-log/row-head.ts';
import type { RowLog } from './row-log/row-log.ts';
import type { StoredRecord } from './row-log/stored-records.ts';
import { leafHash } from './tree/hashes.ts';
import { entriesRoot, entryHash, rawCommitment, recordLeaf, type Salts } from './tree/record-leaf.ts';

const HASH_BYTES = 32;

/** A journal record that was applied. */
interface AppliedRecord {
  readonly sequence: number;
  readonly timeNs: bigint;
  readonly epoch: number;
  /** Of the journal record, 32 bytes. */
  readonly hash: Uint8Array;
}

/** Where its outcomes are: `from` is a multiple of 8. */
export interface OutcomeBytes {
  readonly views: Views;
  readonly from: number;
  readonly bytes: number;
}

/** What is kept of users. */
type UserChains = Pick<RowLog, 'userEnd' | 'userGrew'>;

export class RecordMaker {
  readonly #salts: Salts;
  readonly #writer = new RowWriter();

  constructor(salts: Salts) {
    this.#salts = salts;
  }

  /** @param chains grow by the rows of the record. */
  make(record: AppliedRecord, { views, from, bytes }: OutcomeBytes, chains: UserChains): LoggedRecord {
    const { sequence, timeNs, epoch } = record;
    const hashes: Uint8Array[] = [];
    const lengths: number[] = [];
    let n = 0;
    const written = this.#writer.write({ sequence, timeNs }, views, from, bytes, {
      nextOf: (user) => {
        const end = chains.userEnd(user);
        n = end.n + 1;
        return { n, previous: toHex(end.hash) };
      },
      row: (row, index, user) => {
        const hash = entryHash({ sequence, index, salt: this.#salts.salt(sequence, index) }, row);
        if (user !== null) chains.userGrew(user, n, hash);
        hashes.push(hash);
        lengths.push(row.length);
      },
    });
    const rows = rowsOf(written.bytes, lengths, hashes);
    const meta = {
      sequence,
      epoch,
      timeNs,
      count: rows.length,
      entriesRoot: entriesRoot(hashes),
      rawCommitment: this.#commitment(record),
    };
    return { ...meta, leafHash: leafHash(recordLeaf(meta)), rows };
  }

  /** @throws InvariantError when the record that is there is not what comes again. */
  compare(record: AppliedRecord, { views, from, bytes }: OutcomeBytes, stored: StoredRecord | undefined): void {
    const { sequence, timeNs, epoch } = record;
    if (stored?.sequence !== sequence) throw otherRecord(sequence, 'is not there');
    const isSameRecord =
      stored.timeNs === timeNs && stored.epoch === epoch && isSame(stored.rawCommitment, this.#commitment(record));
    if (!isSameRecord) throw otherRecord(sequence, 'is that of another record');
    const links = stored.rows.flatMap((row) => rowHead(row).chain ?? []);
    let next = 0;
    let count = 0;
    this.#writer.write({ sequence, timeNs }, views, from, bytes, {
      nextOf: (user) => {
        const link = links[next];
        next += 1;
        if (link?.user !== user) throw otherRecord(sequence, `has another user in row ${count}`);
        return link;
      },
      row: (row, index) => {
        const before = stored.rows[index];
        // mutant: evidence-compared
        if (before === undefined || !isSame(before, row)) throw otherRecord(sequence, `has another row ${index}`);
        count += 1;
      },
    });
    if (count !== stored.rows.length) throw otherRecord(sequence, `has ${stored.rows.length} rows, not ${count}`);
  }

  #commitment({ sequence, hash }: AppliedRecord): Uint8Array {
    return rawCommitment(this.#salts.rawSalt(sequence), hash);
  }
}

/** Views of two copies, one of all rows and one of all hashes: memory of its own for each costs most of what a row does. */
function rowsOf(bytes: Uint8Array, lengths: readonly number[], hashes: readonly Uint8Array[]): LoggedRow[] {
  const own: Uint8Array = Uint8Array.prototype.slice.call(bytes);
  const ownHashes = new Uint8Array(hashes.length * HASH_BYTES);
  let at = 0;
  return hashes.map((hash, index) => {
    const from = at;
    const hashAt = index * HASH_BYTES;
    at += (lengths[index] ?? 0) + 1;
    ownHashes.set(hash, hashAt);
    return { bytes: own.subarray(from, at - 1), hash: ownHashes.subarray(hashAt, hashAt + HASH_BYTES) };
  });
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function otherRecord(sequence: number, how: string): InvariantError {
  return new InvariantError(`the evidence of record ${sequence} ${how}: it does not follow from this journal`);
}
