/**
 * Checkpoints: the tables as they were right after one record of the journal, so that a restart replays only what came
 * after it. Rows and the sequence they reflect are one commit: a checkpoint is whole or it is not there.
 *
 * Invariants
 *   (1) The tables hold the state after record `sequence` of the journal, and nothing of any later one.
 *   (2) `sequence` never goes backwards, and `journalHash` is that record's hash.
 *   (3) The sums of the tables (table-sums.ts) are those of the entries that are there.
 *   (4) A live order is an open order; one with an end is a finished order, in its user's lists, and nothing else.
 *
 * Not here: when to write one, and which rows changed (clearing); how to read history (history.ts).
 */
import type { RowWrite } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import { FINISHED_ORDERS_PER_USER_MAX, REMEMBERED_IDS_PER_USER_AND_MARKET_MAX } from '../core/limits.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { ByteWriter } from '../schema/byte-writer.ts';
import { type Field, flag, raw32, safe, struct } from '../schema/row-fields.ts';
import { DATA_VERSION, type StorageReader, type StorageWriter, type Write } from './environment.ts';
import { type FinishedLimits, Forgetting } from './finished-orders.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { IdLists } from './id-lists.ts';
import { journalHashAt, storedHashAt } from './journal.ts';
import { equal } from './journal-record.ts';
import { keyWriter, META } from './key-layout.ts';
import { RowWrites } from './row-writes.ts';
import { SumWatch } from './table-sums.ts';
import { UserCounts } from './user-counts.ts';

export interface Checkpoint {
  /** The sequence of the last journal record that the tables reflect; 0 before the first. */
  readonly sequence: Sequence;
  /** 32 bytes: that record's hash, zeros before the first. */
  readonly journalHash: Uint8Array;
  /** 32 bytes. */
  readonly stateHash: Uint8Array;
  /**
   * Written by a stop that had drained everything: nothing was announced beyond what is here. A start writes the next
   * one with false before it announces anything, so that the flag never outlives the run it is about.
   */
  readonly clean: boolean;
  /** The bytes of all journal records up to `sequence`, including those that have been pruned (journal.ts). */
  readonly journalBytes: number;
}

export interface CheckpointWrite extends Checkpoint {
  /** Changed rows, whole, each once. */
  readonly rows: Iterable<RowWrite>;
  /** Finished orders last updated before this are forgotten, some per checkpoint (AMB-08, AMB-17). Left out: none. */
  readonly forgetBeforeNs?: TimestampNs;
  /** Called with each row that is encoded and each that is written. */
  readonly rowDone?: () => void;
}

/** The first version of the data in which a checkpoint has `journalBytes`. */
const COUNTS_JOURNAL_BYTES = 7;
/** The size of a usual checkpoint, so that no further chunk has to be allocated. */
const CHUNK_BYTES = 1 << 23;

const FINISHED_LIMITS: FinishedLimits = {
  recordsPerUser: FINISHED_ORDERS_PER_USER_MAX,
  idsPerList: REMEMBERED_IDS_PER_USER_AND_MARKET_MAX,
};

/** Writes checkpoints, on the thread that owns the StorageWriter. */
export class CheckpointWriter {
  readonly #writer: StorageWriter;
  readonly #limits: FinishedLimits;
  readonly #bytes = new ByteWriter(CHUNK_BYTES);

  constructor(writer: StorageWriter, limits: FinishedLimits = FINISHED_LIMITS) {
    this.#writer = writer;
    this.#limits = limits;
  }

  /**
   * Every row is encoded before the commit begins; when it returns, all of it is on the disk.
   *
   * @throws whatever `rows` throws, StorageError, or InvariantError when a finished order or a trade is written twice;
   *   then nothing is changed.
   */
  write(checkpoint: CheckpointWrite): void {
    const before = checkpointSequence(this.#writer);
    assert(checkpoint.sequence >= before, 'checkpoint: its sequence never goes backwards');
    const hash = storedHashAt(this.#writer, checkpoint.sequence);
    assert(equal(checkpoint.journalHash, hash), 'checkpoint: it names the hash of its journal record');
    this.#bytes.reset();
    const writes = this.#writesOf(checkpoint);

    // After this point no row is encoded any more: the transaction only puts, and sums up what it puts.
    this.#writer.commit(writes, new SumWatch(this.#writer, this.#bytes, checkpoint.rowDone));
  }

  #writesOf(checkpoint: CheckpointWrite): readonly Write[] {
    const counts = new UserCounts(this.#writer);
    const lists = new IdLists(this.#writer);
    const rows = new RowWrites(this.#writer, this.#bytes, { counts, lists, checkpoint: checkpoint.sequence });
    for (const change of checkpoint.rows) {
      checkpoint.rowDone?.();
      rows.add(change);
    }
    const added = rows.end();
    // By age first: what that frees does not count against a user's limit.
    const forgetting = new Forgetting(this.#writer, counts, lists);
    if (checkpoint.forgetBeforeNs !== undefined) forgetting.forgetExpired(checkpoint.forgetBeforeNs);
    forgetting.forgetOverLimit(this.#limits);
    // What goes goes first: an id that is forgotten may be that of an order which this checkpoint adds.
    return [
      ...forgetting.writes(this.#bytes),
      ...added,
      ...counts.writes(this.#bytes),
      ...lists.writes(this.#bytes),
      // mutant: checkpoint-sequence
      checkpointMetaWrite(this.#bytes, checkpoint),
    ];
  }
}

const COMMON = { sequence: safe, journalHash: raw32, stateHash: raw32, clean: flag };
const CHECKPOINT: Field<Checkpoint> = struct<Checkpoint>({ ...COMMON, journalBytes: safe });
/** Up to version 6. */
const CHECKPOINT_6: Field<Omit<Checkpoint, 'journalBytes'>> = struct<Omit<Checkpoint, 'journalBytes'>>(COMMON);

/** The row of a checkpoint. */
export function checkpointMetaWrite(to: ByteWriter, checkpoint: Checkpoint): Write {
  const key = keyWriter().meta(META.checkpoint);
  return { key, value: encodeFrame(to, key, () => CHECKPOINT.write(to, checkpoint)) };
}

/**
 * The last checkpoint, or null when there has never been one.
 *
 * @throws InvariantError when it is damaged, or when the journal does not have the record that it names.
 */
export function readCheckpoint(reader: StorageReader): Checkpoint | null {
  const checkpoint = decodeCheckpoint(reader);
  if (checkpoint === null) return null;
  const hash = journalHashAt(reader, checkpoint.sequence);
  assert(
    equal(checkpoint.journalHash, hash),
    `checkpoint: it does not belong to journal record ${checkpoint.sequence}`,
  );
  return checkpoint;
}

/** The sequence that the tables reflect; 0 before the first checkpoint. */
export function checkpointSequence(reader: StorageReader): Sequence {
  return decodeCheckpoint(reader)?.sequence ?? (0 as Sequence);
}

/** The row of the last checkpoint, not compared with the journal. @param version of the data. */
export function decodeCheckpoint(reader: StorageReader, version: number = DATA_VERSION): Checkpoint | null {
  const key = keyWriter().meta(META.checkpoint);
  const value = reader.get(key);
  return value === null ? null : decodeCheckpointRow(key, value, version);
}

export function decodeCheckpointRow(key: Uint8Array, value: Uint8Array, version: number = DATA_VERSION): Checkpoint {
  if (version >= COUNTS_JOURNAL_BYTES) return decodeFrame(key, value, CHECKPOINT.read);
  return { ...decodeFrame(key, value, CHECKPOINT_6.read), journalBytes: 0 };
}
