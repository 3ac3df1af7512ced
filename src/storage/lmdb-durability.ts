/** Clearing's disk: the journal, checkpoints and remembered ids in one LMDB environment (durability.ts). */
import type {
  CheckpointMark,
  Durability,
  DurableIds,
  FollowedRecord,
  JournaledBatch,
  JournalSize,
  Recovery,
  ReplicatedJournal,
  SealedRecord,
  Tombstone,
} from '../clearing/durability.ts';
import type { RowWrite, SignedText } from '../clearing/rows.ts';
import { assert, must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { CLOCK_SKEW_NS, ORDER_LIFE_NS } from '../core/limits.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { CheckpointWriter, checkpointSequence, readCheckpoint } from './checkpoint.ts';
import { keepDropped } from './dropped-records.ts';
import { type EnvironmentOptions, openWriter, type StorageReader, type StorageWriter } from './environment.ts';
import { loadIdWatermarks, loadRememberedIds } from './id-runs.ts';
import {
  type CopiedRecord,
  Journal,
  journalBounds,
  readJournal,
  readJournalStored,
  recordBytesAfter,
  storedHashAt,
} from './journal.ts';
import { decodeStandalone, GENESIS, HASH_BYTES, RECORD_BYTES } from './journal-record.ts';
import { countRows, loadRows } from './load-rows.ts';
import { SignedTexts } from './signed-texts.ts';
import { forgetVerifiedMark } from './verified-mark.ts';

/** A checkpoint that is not the last of a stop carries no state hash: zeros. */
const NO_HASH = new Uint8Array(HASH_BYTES);

/** A finished order may be forgotten once a create with its id would be too old in any case (AMB-08, AMB-10). */
const FORGET_AFTER_NS = ORDER_LIFE_NS + CLOCK_SKEW_NS;

export class LmdbDurability implements Durability, ReplicatedJournal {
  readonly #directory: string;
  readonly #writer: StorageWriter;
  readonly #journal: Journal;
  readonly #checkpoints: CheckpointWriter;
  readonly #texts: SignedTexts;
  /** The bytes of every record that was ever appended to this journal. */
  #appendedBytes: number;

  /** @throws StorageError when the directory is held by another node, damaged or not writable. */
  constructor(directory: string, options: EnvironmentOptions = {}) {
    this.#directory = directory;
    this.#writer = openWriter(directory, options);
    this.#journal = new Journal(this.#writer);
    this.#checkpoints = new CheckpointWriter(this.#writer);
    this.#texts = new SignedTexts(this.#writer);
    this.#appendedBytes = appendedBytesOf(this.#writer);
  }

  get journalSize(): JournalSize {
    const { firstSequence, prunedBytes } = this.#journal;
    return { firstSequence, bytes: this.#appendedBytes - prunedBytes };
  }

  get lastSequence(): Sequence {
    return this.#journal.lastSequence;
  }

  get lastRecord(): Durability['lastRecord'] {
    return { hash: this.#journal.lastHash, epoch: this.#journal.lastEpoch };
  }

  recover(): Recovery {
    return recoveryOf(this.#writer);
  }

  append(timeNs: TimestampNs, payload: Uint8Array): Sequence {
    const sequence = this.#journal.append(timeNs, payload);
    this.#appendedBytes += RECORD_BYTES + payload.length;
    return sequence;
  }

  checkpoint(mark: CheckpointMark, rows: readonly RowWrite[], rowDone: () => void = () => undefined): void {
    const hash = mark.stateHash === null ? NO_HASH : must(parseHex(mark.stateHash, HASH_BYTES), 'a state hash is hex');
    const { lastSequence, lastHash } = this.#journal;
    // In a cluster the tables are behind a last record that is not known to be stored.
    const isBehind = mark.sequence !== lastSequence;
    this.#checkpoints.write({
      sequence: mark.sequence,
      journalHash: isBehind ? storedHashAt(this.#writer, mark.sequence) : lastHash,
      stateHash: hash,
      clean: mark.clean,
      journalBytes: this.#appendedBytes - (isBehind ? recordBytesAfter(this.#writer, mark.sequence) : 0),
      rows,
      forgetBeforeNs: (mark.timeNs - FORGET_AFTER_NS) as TimestampNs,
      rowDone,
    });
  }

  unknownTail(): (SealedRecord & { readonly payload: Uint8Array }) | null {
    const sequence = this.#journal.lastSequence;
    const known = Math.max(checkpointSequence(this.#writer), readJournalStored(this.#writer));
    if (sequence <= known) return null;
    const bytes = this.#journal.bytesAt(sequence);
    const { epoch, hash, payload } = decodeStandalone(bytes, sequence);
    return { sequence, epoch, hash, payload, bytes };
  }

  recoverThrough(last: Sequence): Recovery {
    const { lastSequence } = this.#journal;
    assert(last === lastSequence || last === lastSequence - 1, 'only the last record may be left out');
    return recoveryOf(this.#writer, last);
  }

  placeAt(sequence: Sequence): { readonly hash: Uint8Array; readonly epoch: number } {
    if (sequence === 0) return GENESIS;
    return decodeStandalone(this.#journal.bytesAt(sequence), sequence);
  }

  bytesAt(sequence: Sequence): Uint8Array {
    return this.#journal.bytesAt(sequence);
  }

  markStored(): void {
    this.#journal.markStored();
  }

  /** The file of a record that was dropped before keeps its name: another hash is another file. */
  dropTail(): void {
    const { lastSequence: sequence } = this.#journal;
    const bytes = this.#journal.bytesAt(sequence);
    assert(sequence > checkpointSequence(this.#writer), `the tables reflect record ${sequence}`);
    // It may name this record: another one will be in its place.
    // mutant: mark-of-a-dropped-record
    forgetVerifiedMark(this.#directory);
    // mutant: dropped-is-kept
    keepDropped(this.#directory, sequence, bytes);
    this.#journal.dropLast();
    this.#appendedBytes -= bytes.length;
  }

  seal(timeNs: TimestampNs, payload: Uint8Array, epoch: number): SealedRecord {
    return this.#journal.seal(timeNs, payload, epoch);
  }

  appendSealed(record: SealedRecord, isStored: boolean): void {
    this.#journal.appendSealed(record, isStored);
    this.#appendedBytes += record.bytes.length;
  }

  appendStored(records: readonly Uint8Array[]): readonly FollowedRecord[] {
    const appended = this.#journal.appendStored(records);
    for (const { length } of records) this.#appendedBytes += length;
    return appended;
  }

  signedText(marketIndex: number, orderSequence: Sequence): SignedText | null {
    return this.#texts.find(marketIndex, orderSequence);
  }

  rememberedIds(nowNs: TimestampNs): Iterable<Tombstone> {
    return loadRememberedIds(this.#writer, nowNs);
  }

  idWatermarks(): Iterable<DurableIds> {
    return loadIdWatermarks(this.#writer);
  }

  /** Appends records of another journal, all or none; each must get the hash that it had there. */
  copyRecords(records: readonly CopiedRecord[]): void {
    this.#journal.copy(records);
    for (const { payload } of records) this.#appendedBytes += RECORD_BYTES + payload.length;
  }

  prune(below: Sequence, recordsMax: number): boolean {
    assert(below <= checkpointSequence(this.#writer), 'the journal behind the checkpoint is never pruned');
    return this.#journal.prune(below, recordsMax);
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

function appendedBytesOf(reader: StorageReader): number {
  const checkpoint = readCheckpoint(reader);
  return (checkpoint?.journalBytes ?? 0) + recordBytesAfter(reader, checkpoint?.sequence ?? (0 as Sequence));
}

/**
 * What a start finds.
 *
 * @param lastSequence what is behind it is left out. @throws InvariantError when it contradicts itself.
 */
export function recoveryOf(
  reader: StorageReader,
  lastSequence: Sequence = journalBounds(reader).lastSequence,
): Recovery {
  const found = readCheckpoint(reader);
  const from = ((found?.sequence ?? 0) + 1) as Sequence;
  const lastTimeNs = timeOfRecord(reader, lastSequence);
  return {
    checkpoint:
      found === null
        ? null
        : {
            timeNs: lastTimeNs,
            sequence: found.sequence,
            clean: found.clean,
            stateHash: found.clean ? toHex(found.stateHash) : null,
          },
    rows: loadRows(reader),
    ...countRows(reader),
    lastTimeNs,
    batches: lastSequence >= from ? { [Symbol.iterator]: () => batchesFrom(reader, from, lastSequence) } : [],
    batchCount: lastSequence + 1 - from,
  };
}

function timeOfRecord(reader: StorageReader, sequence: Sequence): TimestampNs {
  if (sequence === 0) return 0n as TimestampNs;
  const [record] = readJournal(reader, sequence);
  return must(record, 'the last record of the journal is there').timeNs;
}

function* batchesFrom(reader: StorageReader, from: Sequence, last: Sequence): Generator<JournaledBatch> {
  for (const { sequence, epoch, payload, hash } of readJournal(reader, from)) {
    if (sequence > last) return;
    yield { sequence, epoch, payload, hash };
  }
}
