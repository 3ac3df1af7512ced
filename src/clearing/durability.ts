/**
 * What the clearing actor needs of the disk. The node implements it on LMDB (lmdb-durability.ts), the simulation in
 * memory, which loses what was not flushed.
 */

import type { OrderId, UserId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { RowWrite, SignedText } from './rows.ts';

/** An order id that is taken for 30 days after its creation (AMB-08). */
export interface Tombstone {
  readonly marketIndex: number;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly creationNs: TimestampNs;
  /** Whether a cancel of it is answered ALREADY_CANCELLED (AMB-23). */
  readonly wasCancelled: boolean;
}

/** Stands for the ids that were forgotten: a create that was signed at or before this time may be a replay (AMB-08). */
export interface DurableIds {
  readonly marketIndex: number;
  readonly user: UserId;
  readonly creationNs: TimestampNs;
}

export interface JournaledBatch {
  readonly sequence: Sequence;
  readonly epoch: number;
  readonly payload: Uint8Array;
  readonly hash: Uint8Array;
}

export interface CheckpointMark {
  /** When it is taken: what is over by then may be forgotten. */
  readonly timeNs: TimestampNs;
  /** Last journal sequence that the rows reflect. */
  readonly sequence: Sequence;
  /** True for the last one of an orderly stop: nothing was announced that is not in it. */
  readonly clean: boolean;
  /** Only an orderly stop pays for it. */
  readonly stateHash: string | null;
}

export interface Recovery {
  /** null when nothing was ever checkpointed. */
  readonly checkpoint: CheckpointMark | null;
  /**
   * The rows of the checkpoint, in clearing's LOAD_ORDER, without history and signed texts. That of an order may be an
   * accessor, which is valid until the next row.
   */
  readonly rows: Iterable<RowWrite>;
  readonly rowCount: number;
  /** How many of the rows are orders; these come last. */
  readonly orderCount: number;
  /** Time of the last journal record, 0n when there is none: the clock must not go behind it. */
  readonly lastTimeNs: TimestampNs;
  /** The journal behind the checkpoint, verified. */
  readonly batches: Iterable<JournaledBatch>;
  readonly batchCount: number;
}

/** The records that are there. */
export interface JournalSize {
  /** Where it begins, or will begin. */
  readonly firstSequence: Sequence;
  readonly bytes: number;
}

/** A record that is made and not written. */
export interface SealedRecord {
  readonly sequence: Sequence;
  readonly epoch: number;
  /** The whole record; valid until the next one is sealed. */
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
}

/** A record that came from a stream, verified and on the disk. */
export interface FollowedRecord extends JournaledBatch {
  readonly timeNs: TimestampNs;
}

/**
 * The journal of a node of a cluster (replicated-log.ts): a record is made before it is written, comes from elsewhere, or
 * turns out not to be in the stream.
 */
export interface ReplicatedJournal {
  /** The last record, unless it is known to be stored: by the tables, by its row, or because it is none. */
  unknownTail(): (SealedRecord & Pick<JournaledBatch, 'payload'>) | null;
  /** What is there up to `last`, which is the last record or the one before it. */
  recoverThrough(last: Sequence): Recovery;
  /** Place of a record that is there; zeros and epoch 0 for sequence 0. */
  placeAt(sequence: Sequence): { readonly hash: Uint8Array; readonly epoch: number };
  /** The whole record, for a sequence that is there. */
  bytesAt(sequence: Sequence): Uint8Array;
  /** The unknown tail is stored, on the disk when it returns. */
  markStored(): void;
  /** The unknown tail goes into `dropped/`, which is on the disk before it leaves the journal. */
  dropTail(): void;
  /** The next record. @param payload copied. */
  seal(timeNs: TimestampNs, payload: Uint8Array, epoch: number): SealedRecord;
  /** On the disk when it returns. @param isStored whether the stream is known to have it. @throws when it cannot be. */
  appendSealed(record: SealedRecord, isStored: boolean): void;
  /** Records of the stream: on the disk when it returns. @throws InvariantError when one does not follow: then none is. */
  appendStored(records: readonly Uint8Array[]): readonly FollowedRecord[];
}

export interface Durability {
  recover(): Recovery;
  /** On the disk when it returns. @throws when it cannot be: the node ends. */
  append(timeNs: TimestampNs, payload: Uint8Array): Sequence;
  /**
   * All rows or none, on the disk when it returns.
   *
   * @param rowDone called with each row that is encoded and each that is written: a storm changes 100,000 at once.
   */
  checkpoint(mark: CheckpointMark, rows: readonly RowWrite[], rowDone?: () => void): void;
  /**
   * Removes the oldest journal records below a snapshot, at most so many and some MiB; the checkpoint is at `below` or
   * behind it.
   *
   * @returns whether all of them are gone.
   */
  prune(below: Sequence, recordsMax: number): boolean;
  readonly journalSize: JournalSize;
  /** Hash and epoch of the record that was appended last. */
  readonly lastRecord: { readonly hash: Uint8Array; readonly epoch: number };
  /** What was signed of an order that a checkpoint has written; null when there is nothing of it. */
  signedText(marketIndex: number, orderSequence: Sequence): SignedText | null;
  /** Order ids of finished orders that stay taken (AMB-08). */
  rememberedIds(nowNs: TimestampNs): Iterable<Tombstone>;
  /** Up to which creation time a user's forgotten ids may come back as replays (AMB-08). */
  idWatermarks(): Iterable<DurableIds>;
  close(): void | Promise<void>;
}
