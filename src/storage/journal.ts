/**
 * The journal: the truth from which everything else follows. Records are appended one flushed commit each, numbered
 * from 1 without a gap, chained by hash, and never changed: but for the last one in a cluster, which may turn out not to be
 * in its stream (dropLast).
 *
 * Invariants
 *   (1) first ≤ n ≤ last has a record, and no other n has one.
 *   (2) Each record names the hash of the one before it; record 1 names zeros.
 *   (3) When `append` has returned, the record is on the disk.
 *   (4) Where first is above 1, first is the base, which has its hash.
 *
 * A crash leaves the last record whole or absent, as a commit is one LMDB transaction: there is no torn tail to cut, and
 * so any gap, wrong hash or wrong length is damage: an InvariantError, and nothing is cut off.
 *
 * Records go from the oldest on, when a snapshot has taken their place (`prune`).
 */
import type { SealedRecord } from '../clearing/durability.ts';
import { assert, must } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { ByteWriter } from '../schema/byte-writer.ts';
import { type Field, raw32, safe, struct } from '../schema/row-fields.ts';
import type { StorageReader, StorageWriter, Write } from './environment.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import {
  checkEpoch,
  decodeRecord,
  decodeStandalone,
  equal,
  GENESIS,
  GENESIS_HASH,
  HASH_BYTES,
  type JournalRecord,
  REPLICATED_RECORD_BYTES_MAX,
  type RecordBefore,
  RecordEncoder,
} from './journal-record.ts';
import { endOf, KeyWriter, keyWriter, META, TABLE } from './key-layout.ts';

const NOTHING = 0 as Sequence;
const KEY_CHUNK_BYTES = 64;
const RECORDS_PER_STEP = 64;
/** What one commit of a prune reads and frees, one record more at most: milliseconds, whatever the records' size. */
const PRUNED_BYTES_PER_COMMIT = 1 << 22;

/** A record that was written before, here or elsewhere. */
export interface CopiedRecord {
  readonly sequence: number;
  readonly timeNs: TimestampNs;
  readonly epoch: number;
  readonly payload: Uint8Array;
  readonly hash: Uint8Array;
}

interface JournalBounds {
  /** 0 when the journal is empty. */
  readonly firstSequence: Sequence;
  readonly lastSequence: Sequence;
  /** The hash of the last record; zeros when there is none. */
  readonly lastHash: Uint8Array;
  readonly lastEpoch: number;
}

/** Where the journal begins and ends. @throws InvariantError when its last record is damaged. */
export function journalBounds(reader: StorageReader): JournalBounds {
  const from = keyWriter().table(TABLE.journal);
  const range = { from, to: endOf(from), limit: 1 };
  const [first] = reader.range(range);
  const [last] = reader.range({ ...range, newestFirst: true });
  if (first === undefined || last === undefined) {
    return { firstSequence: NOTHING, lastSequence: NOTHING, lastHash: GENESIS_HASH, lastEpoch: 0 };
  }
  const lastSequence = sequenceOf(last.key);
  const { hash: lastHash, epoch: lastEpoch } = decodeStandalone(last.value, lastSequence);
  return { firstSequence: sequenceOf(first.key), lastSequence, lastHash, lastEpoch };
}

/**
 * The records from `fromSequence` to the end, each verified and chained to the one before it, which is read as well.
 *
 * @param fromSequence from firstSequence to lastSequence + 1.
 * @throws InvariantError at the first record that is missing or damaged.
 */
export function* readJournal(reader: StorageReader, fromSequence: Sequence): Generator<JournalRecord, void, undefined> {
  const { firstSequence, lastSequence } = journalBounds(reader);
  const start = Math.max(firstSequence, 1);
  assert(
    fromSequence >= start && fromSequence <= lastSequence + 1,
    `journal: it holds ${firstSequence} to ${lastSequence} and cannot be read from ${fromSequence}`,
  );
  const keys = keyWriter();
  let before = recordBefore(reader, keys, fromSequence, firstSequence);
  for (let sequence = fromSequence as number; sequence <= lastSequence; sequence += 1) {
    const bytes = recordBytes(reader, keys, sequence);
    const record = before === null ? decodeStandalone(bytes, sequence) : decodeRecord(bytes, sequence, before);
    yield record;
    before = record;
  }
}

/** A record with its bytes as they lie. */
export interface WholeRecord extends JournalRecord {
  readonly bytes: Uint8Array;
}

/** As readJournal. */
export function* readWholeRecords(
  reader: StorageReader,
  fromSequence: Sequence,
): Generator<WholeRecord, void, undefined> {
  for (const record of readJournal(reader, fromSequence))
    yield { ...record, bytes: Uint8Array.from(recordBytes(reader, keyWriter(), record.sequence)) };
}

/** What the records behind `sequence` take, unread. */
export function recordBytesAfter(reader: StorageReader, sequence: Sequence): number {
  const from = keyWriter().journal(sequence + 1);
  const to = endOf(keyWriter().table(TABLE.journal));
  let bytes = 0;
  for (const { value } of reader.entries({ from, to, perStep: RECORDS_PER_STEP })) bytes += value.length;
  return bytes;
}

/** The hash of one record, zeros for sequence 0. @throws InvariantError when it is missing or damaged. */
export function journalHashAt(reader: StorageReader, sequence: Sequence): Uint8Array {
  if (sequence === NOTHING) return GENESIS_HASH;
  return decodeStandalone(recordBytes(reader, keyWriter(), sequence), sequence).hash;
}

/** When a record was made. @throws InvariantError when it is missing or damaged. */
export function journalTimeAt(reader: StorageReader, sequence: Sequence): TimestampNs {
  return decodeStandalone(recordBytes(reader, keyWriter(), sequence), sequence).timeNs;
}

/** Place and time of a record that this process has written or checked: like journalHashAt, but not computed anew. */
export function storedHashAt(reader: StorageReader, sequence: Sequence): Uint8Array {
  if (sequence === NOTHING) return GENESIS_HASH;
  const bytes = recordBytes(reader, keyWriter(), sequence);
  return bytes.subarray(bytes.length - HASH_BYTES);
}

/** What the record at `sequence` must follow; null when its predecessor was pruned. */
function recordBefore(reader: StorageReader, keys: KeyWriter, sequence: number, first: number): RecordBefore | null {
  if (sequence === 1) return GENESIS;
  if (sequence === first) return null;
  return decodeStandalone(recordBytes(reader, keys, sequence - 1), sequence - 1);
}

function recordBytes(reader: StorageReader, keys: KeyWriter, sequence: number): Uint8Array {
  return must(reader.get(keys.journal(sequence)), `journal: record ${sequence} is missing`);
}

function sequenceOf(key: Uint8Array): Sequence {
  return Number(Buffer.from(key.buffer, key.byteOffset, key.byteLength).readBigUInt64BE(1)) as Sequence;
}

/** Appends. One per node, on the thread that owns the StorageWriter. */
export class Journal {
  readonly #writer: StorageWriter;
  readonly #encoder = new RecordEncoder();
  readonly #keyBytes = new ByteWriter(KEY_CHUNK_BYTES);
  readonly #keys = new KeyWriter(this.#keyBytes);
  #firstSequence: Sequence;
  #prunedBytes: number;
  #lastSequence: Sequence;
  #lastHash: Uint8Array;
  #lastEpoch: number;

  constructor(writer: StorageWriter) {
    const bounds = journalBounds(writer);
    this.#writer = writer;
    this.#firstSequence = bounds.firstSequence === NOTHING ? (1 as Sequence) : bounds.firstSequence;
    this.#prunedBytes = readJournalBase(writer)?.prunedBytes ?? 0;
    this.#lastSequence = bounds.lastSequence;
    this.#lastHash = bounds.lastHash;
    this.#lastEpoch = bounds.lastEpoch;
  }

  /** The oldest record there is, or will be when the journal is empty. */
  get firstSequence(): Sequence {
    return this.#firstSequence;
  }

  /** 0 when the journal is empty. */
  get lastSequence(): Sequence {
    return this.#lastSequence;
  }

  get lastHash(): Uint8Array {
    return this.#lastHash;
  }

  /** The bytes of all records that were ever pruned. */
  get prunedBytes(): number {
    return this.#prunedBytes;
  }

  /** The epoch of the last record; 0 if there is none, and on one machine. */
  get lastEpoch(): number {
    return this.#lastEpoch;
  }

  /**
   * Writes one record, of the epoch of the one before, and flushes it.
   *
   * @param payload copied before anything is written; at most PAYLOAD_BYTES_MAX.
   * @returns its sequence. @throws StorageError when it could not be made durable; then it is not there.
   */
  append(timeNs: TimestampNs, payload: Uint8Array): Sequence {
    const sealed = this.seal(timeNs, payload, this.#lastEpoch);
    this.appendSealed(sealed);
    return sealed.sequence;
  }

  /**
   * Makes the next record and writes nothing: it may never be. Its bytes are valid until the next call.
   *
   * @param payload copied. @param epoch that of the last record, or one more.
   */
  seal(timeNs: TimestampNs, payload: Uint8Array, epoch: number): SealedRecord {
    const sequence = (this.#lastSequence + 1) as Sequence;
    checkEpoch({ sequence, epoch }, { epoch: this.#lastEpoch });
    const bytes = this.#encoder.encode({ sequence, timeNs, epoch, payload }, this.#lastHash);
    return { sequence, epoch, bytes, hash: new Uint8Array(bytes.subarray(bytes.length - HASH_BYTES)) };
  }

  /**
   * Writes the record that was sealed last, and flushes it.
   *
   * @param isStored whether the stream is known to have it (journalStoredWrite).
   * @throws StorageError when it could not be made durable; then it is not there.
   */
  appendSealed({ sequence, epoch, bytes, hash }: SealedRecord, isStored = false): void {
    assert(
      sequence === this.#lastSequence + 1,
      `journal: record ${this.#lastSequence + 1} comes next, not ${sequence}`,
    );
    this.#keyBytes.reset();
    const write: Write = { key: this.#keys.journal(sequence), value: bytes, rule: 'append' };
    this.#writer.commit(isStored ? [write, journalStoredWrite(this.#keyBytes, sequence)] : [write]);
    this.#lastSequence = sequence;
    // mutant: journal-chain
    this.#lastHash = hash;
    this.#lastEpoch = epoch;
  }

  /**
   * Appends the next records as they came from the stream, in one flushed commit: they are stored.
   *
   * @throws InvariantError when one does not follow the one before it: then none is there.
   */
  appendStored(records: readonly Uint8Array[]): readonly JournalRecord[] {
    let before: RecordBefore = { hash: this.#lastHash, epoch: this.#lastEpoch };
    this.#keyBytes.reset();
    const decoded = records.map((bytes, index) => {
      assert(bytes.length <= REPLICATED_RECORD_BYTES_MAX, 'journal: a record of the stream is within its limit');
      const record = decodeRecord(bytes, this.#lastSequence + 1 + index, before);
      before = record;
      return record;
    });
    const last = decoded.at(-1);
    if (last === undefined) return decoded;
    const writes = decoded.map(({ sequence }, index): Write => {
      return { key: this.#keys.journal(sequence), value: must(records[index], 'a record'), rule: 'append' };
    });
    this.#writer.commit([...writes, journalStoredWrite(this.#keyBytes, last.sequence)]);
    this.#lastSequence = last.sequence;
    this.#lastHash = last.hash;
    this.#lastEpoch = last.epoch;
    return decoded;
  }

  /** The stream is known to have the last record. */
  markStored(): void {
    this.#keyBytes.reset();
    this.#writer.commit([journalStoredWrite(this.#keyBytes, this.#lastSequence)]);
  }

  /** The bytes of a record that is there. */
  bytesAt(sequence: Sequence): Uint8Array {
    return Uint8Array.from(recordBytes(this.#writer, this.#keys, sequence));
  }

  /**
   * Removes the last record, which the stream does not have, in one flushed commit.
   *
   * @throws InvariantError when it is known to be stored, or is the base.
   */
  dropLast(): void {
    const sequence = this.#lastSequence;
    assert(sequence > 0 && sequence > readJournalStored(this.#writer), `journal: record ${sequence} is stored`);
    const base = readJournalBase(this.#writer)?.sequence ?? 0;
    assert(sequence > base, `journal: record ${sequence} is its base`);
    this.#keyBytes.reset();
    this.#writer.commit([{ key: this.#keys.journal(sequence), value: null }]);
    const { lastSequence, lastHash, lastEpoch } = journalBounds(this.#writer);
    this.#lastSequence = lastSequence;
    this.#lastHash = lastHash;
    this.#lastEpoch = lastEpoch;
  }

  /**
   * Appends the next records of another journal in one flushed commit.
   *
   * @throws InvariantError when one is not the next, or does not get the hash that it had: then none is there.
   */
  copy(records: readonly CopiedRecord[]): void {
    let before: RecordBefore = { hash: this.#lastHash, epoch: this.#lastEpoch };
    this.#keyBytes.reset();
    const writes = records.map((record, index) => {
      const sequence = this.#lastSequence + 1 + index;
      assert(record.sequence === sequence, `journal: record ${sequence} comes next, not ${record.sequence}`);
      checkEpoch(record, before);
      const value = new Uint8Array(this.#encoder.encode(record, before.hash));
      before = { hash: value.subarray(value.length - HASH_BYTES), epoch: record.epoch };
      // mutant: copied-record
      assert(equal(before.hash, record.hash), `journal: record ${sequence} is not what it was`);
      return { key: this.#keys.journal(sequence), value, rule: 'append' as const };
    });
    this.#writer.commit(writes);
    this.#lastSequence = (this.#lastSequence + records.length) as Sequence;
    this.#lastHash = new Uint8Array(before.hash);
    this.#lastEpoch = before.epoch;
  }

  /**
   * Removes the oldest records, in one flushed commit of some MiB at most; one goes in any case.
   *
   * @param below none from this one on goes; it is there.
   * @param recordsMax how many go at most.
   * @returns whether everything below is gone.
   */
  prune(below: Sequence, recordsMax: number): boolean {
    assert(
      below <= this.#lastSequence,
      `journal: it ends at ${this.#lastSequence} and cannot be pruned below ${below}`,
    );
    const first = this.#firstSequence;
    if (first >= below) return true;
    const end = Math.min(below, first + recordsMax);
    this.#keyBytes.reset();
    const writes: Write[] = [];
    let bytes = 0;
    let next = first as number;
    for (; next < end && bytes < PRUNED_BYTES_PER_COMMIT; next += 1) {
      // One after the other, only to be measured: together they may be larger than memory.
      const key = this.#keys.journal(next);
      bytes += must(this.#writer.get(key), `journal: record ${next} is missing`).length;
      writes.push({ key, value: null });
    }
    const prunedBytes = this.#prunedBytes + bytes;
    const sequence = next as Sequence;
    const hash = journalHashAt(this.#writer, sequence);
    writes.push(journalBaseWrite(this.#keyBytes, { sequence, hash, prunedBytes }));
    this.#writer.commit(writes);
    this.#firstSequence = sequence;
    this.#prunedBytes = prunedBytes;
    return sequence === below;
  }
}

/**
 * Where a journal begins that does not go back to its first record, because what came before was pruned, or belongs to
 * an older version of the data:
 *
 *   meta 04   │ sequence 8 │ hash of that record 32 │ bytes of the records that are gone 8 │
 *
 * The record at the base is there and is the anchor of the chain: its hash stands for everything before it. A journal
 * without a base begins with record 1.
 */
export interface JournalBase {
  readonly sequence: Sequence;
  readonly hash: Uint8Array;
  readonly prunedBytes: number;
}

const BASE: Field<JournalBase> = struct<JournalBase>({ sequence: safe, hash: raw32, prunedBytes: safe });

/** Null where the journal begins with record 1. @throws InvariantError when the row is damaged. */
function readJournalBase(reader: StorageReader): JournalBase | null {
  const key = keyWriter().meta(META.journalBase);
  const value = reader.get(key);
  return value === null ? null : decodeJournalBase(key, value);
}

export function decodeJournalBase(key: Uint8Array, value: Uint8Array): JournalBase {
  return decodeFrame(key, value, BASE.read);
}

export function journalBaseWrite(to: ByteWriter, base: JournalBase): Write {
  const key = keyWriter().meta(META.journalBase);
  return { key, value: encodeFrame(to, key, () => BASE.write(to, base)) };
}

/**
 * Up to which record the stream of a cluster is known to have the journal (cluster.md 6):
 *
 *   meta 05   │ sequence 8 │
 *
 * It is written with each record that came from the stream, and with each takeover. Of records that this node appended as a
 * leader each is stored when there is a later one, as that was begun when this one was stored; so at most the last record
 * is unknown. On one machine there is no such row.
 */
const STORED: Field<{ readonly sequence: Sequence }> = struct<{ readonly sequence: Sequence }>({ sequence: safe });

/** 0 where no record is known to be stored by this row. @throws InvariantError when the row is damaged. */
export function readJournalStored(reader: StorageReader): Sequence {
  const key = keyWriter().meta(META.journalStored);
  const value = reader.get(key);
  return value === null ? NOTHING : decodeJournalStored(key, value);
}

export function decodeJournalStored(key: Uint8Array, value: Uint8Array): Sequence {
  return decodeFrame(key, value, STORED.read).sequence;
}

function journalStoredWrite(to: ByteWriter, sequence: Sequence): Write {
  const key = keyWriter().meta(META.journalStored);
  return { key, value: encodeFrame(to, key, () => STORED.write(to, { sequence })) };
}
