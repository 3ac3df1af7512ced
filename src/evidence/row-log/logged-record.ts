/** One record of the journal as the row log has it. */

export interface LoggedRow {
  /** The row's JSON, without a newline. */
  readonly bytes: Uint8Array;
  /** The leaf hash of its entry, 32 bytes. */
  readonly hash: Uint8Array;
}

/** What a record is in the tree, without its rows. Each hash has 32 bytes. */
export interface RecordMeta {
  readonly sequence: number;
  readonly epoch: number;
  readonly timeNs: bigint;
  /** Rows. */
  readonly count: number;
  readonly entriesRoot: Uint8Array;
  readonly rawCommitment: Uint8Array;
}

export interface LoggedRecord extends RecordMeta {
  /** The leaf hash of the record. */
  readonly leafHash: Uint8Array;
  readonly rows: readonly LoggedRow[];
}

/**
 * RecordMeta but for its sequence, in 80 bytes:
 *
 *   time_ns 8 │ epoch 4 │ count 4 │ entries root 32 │ raw commitment 32
 */
export const RECORD_ENTRY_BYTES = 80;
const HASH_BYTES = 32;
const ENTRIES_ROOT_AT = 16;
const COMMITMENT_AT = ENTRIES_ROOT_AT + HASH_BYTES;

export function writeRecordEntry(to: Uint8Array, at: number, record: RecordMeta): void {
  const view = new DataView(to.buffer, to.byteOffset + at, RECORD_ENTRY_BYTES);
  view.setBigUint64(0, record.timeNs);
  view.setUint32(8, record.epoch);
  view.setUint32(12, record.count);
  to.set(record.entriesRoot, at + ENTRIES_ROOT_AT);
  to.set(record.rawCommitment, at + COMMITMENT_AT);
}

export function readRecordEntry(from: Uint8Array, at: number, sequence: number): RecordMeta {
  const view = new DataView(from.buffer, from.byteOffset + at, RECORD_ENTRY_BYTES);
  return {
    sequence,
    timeNs: view.getBigUint64(0),
    epoch: view.getUint32(8),
    count: view.getUint32(12),
    entriesRoot: from.slice(at + ENTRIES_ROOT_AT, at + COMMITMENT_AT),
    rawCommitment: from.slice(at + COMMITMENT_AT, at + RECORD_ENTRY_BYTES),
  };
}
