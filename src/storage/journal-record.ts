/**
 * One record of the journal: a batch of inputs, its time, and the hash that chains it to everything before it.
 *
 *     0  magic "RBJ", layout version 1              4
 *     4  payload bytes                              4   u32
 *     8  sequence                                   8
 *    16  time, ns                                   8
 *    24  hash of the record before                 32   zeros for the first
 *    56  epoch                                      8   zero on one machine (cluster.md 5)
 *    64  payload
 *     …  SHA-256 of everything above               32
 *
 * Integers are big-endian. The payload starts at 64, so that a message in it lies on its natural boundary.
 */
import { hash } from 'node:crypto';
import { assert } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';

export const HASH_BYTES = 32;
const HEADER_BYTES = 64;
/** What a record has beside its payload. */
export const RECORD_BYTES: number = HEADER_BYTES + HASH_BYTES;
const MAGIC = 0x52424a01;
const U32 = 0x1_0000_0000;
/** What a record has at most where several machines hold the journal: a message of the stream (cluster.md 5). */
export const REPLICATED_RECORD_BYTES_MAX = 1_000_000;
/** The largest batch of inputs: far above what one drain of the rings can hold. */
const PAYLOAD_BYTES_MAX: number = 1 << 26;
/** What the first record names as the one before it. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

export interface JournalRecord {
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  /** The epoch of the leadership under which it was made: 0 on one machine. */
  readonly epoch: number;
  readonly payload: Uint8Array;
  /** The hash of this record, and, through the chain, of all before it. */
  readonly hash: Uint8Array;
}

/** What a record follows. */
export type RecordBefore = Pick<JournalRecord, 'hash' | 'epoch'>;

/** What the first record follows. */
export const GENESIS: RecordBefore = { hash: GENESIS_HASH, epoch: 0 };

/** Encodes records into one buffer that grows to the largest of them: a record is valid until the next. */
export class RecordEncoder {
  #buffer: Buffer = Buffer.alloc(1 << 16);

  /** @returns the record's bytes, the last 32 of which are its hash. */
  encode(
    { sequence, timeNs, epoch, payload }: Pick<JournalRecord, 'timeNs' | 'epoch' | 'payload'> & { sequence: number },
    previousHash: Uint8Array,
  ): Uint8Array {
    assert(payload.length <= PAYLOAD_BYTES_MAX, 'journal: a payload is within its limit');
    assert(Number.isSafeInteger(sequence) && sequence > 0, 'journal: sequences start at 1');
    assert(previousHash.length === HASH_BYTES, 'journal: a hash has 32 bytes');
    assert(Number.isSafeInteger(epoch) && epoch >= 0, 'journal: an epoch is a number of leaderships');
    const hashAt = HEADER_BYTES + payload.length;
    const buffer = this.#room(hashAt + HASH_BYTES);
    buffer.writeUInt32BE(MAGIC, 0);
    buffer.writeUInt32BE(payload.length, 4);
    buffer.writeUInt32BE(Math.floor(sequence / U32), 8);
    buffer.writeUInt32BE(sequence % U32, 12);
    buffer.writeBigUInt64BE(timeNs, 16);
    buffer.set(previousHash, 24);
    buffer.writeUInt32BE(Math.floor(epoch / U32), 56);
    buffer.writeUInt32BE(epoch % U32, 60);
    buffer.set(payload, HEADER_BYTES);
    buffer.set(sha256(buffer.subarray(0, hashAt)), hashAt);
    return buffer.subarray(0, hashAt + HASH_BYTES);
  }

  #room(byteLength: number): Buffer {
    if (byteLength > this.#buffer.length) {
      this.#buffer = Buffer.alloc(2 ** Math.ceil(Math.log2(byteLength)));
    }
    return this.#buffer;
  }
}

/**
 * Reads the record that should have this sequence and follow that record.
 *
 * @throws InvariantError saying what is wrong: nothing of a damaged journal is skipped or cut off.
 */
export function decodeRecord(bytes: Uint8Array, sequence: number, before: RecordBefore): JournalRecord {
  const record = decodeStandalone(bytes, sequence);
  const named = bytes.subarray(24, 24 + HASH_BYTES);
  assert(equal(named, before.hash), `journal: record ${sequence} does not follow the record before it`);
  checkEpoch(record, before);
  return record;
}

/** @throws InvariantError when the epoch falls, or rises by more than one. */
export function checkEpoch({ sequence, epoch }: { sequence: number; epoch: number }, before: { epoch: number }): void {
  const follows = epoch === before.epoch || epoch === before.epoch + 1;
  // mutant: epochs-in-order
  assert(follows, `journal: record ${sequence} of epoch ${epoch} does not follow one of epoch ${before.epoch}`);
}

/** Like decodeRecord, for a record without its predecessor. */
export function decodeStandalone(bytes: Uint8Array, sequence: number): JournalRecord {
  assert(bytes.length >= HEADER_BYTES + HASH_BYTES, `journal: record ${sequence} has the wrong length`);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  assert(buffer.readUInt32BE(0) === MAGIC, `journal: record ${sequence} has an unknown layout`);
  const hashAt = HEADER_BYTES + buffer.readUInt32BE(4);
  assert(bytes.length === hashAt + HASH_BYTES, `journal: record ${sequence} has the wrong length`);
  const stored = new Uint8Array(buffer.subarray(hashAt));
  // mutant: journal-record-hash
  assert(equal(stored, sha256(buffer.subarray(0, hashAt))), `journal: record ${sequence} has a wrong hash`);
  const found = buffer.readUInt32BE(8) * U32 + buffer.readUInt32BE(12);
  assert(found === sequence, `journal: record ${sequence} calls itself ${found}`);
  const epoch = buffer.readUInt32BE(56) * U32 + buffer.readUInt32BE(60);
  assert(Number.isSafeInteger(epoch), `journal: record ${sequence} has an epoch that is no number of leaderships`);
  return {
    sequence: sequence as Sequence,
    timeNs: buffer.readBigUInt64BE(16) as TimestampNs,
    epoch,
    payload: new Uint8Array(buffer.subarray(HEADER_BYTES, hashAt)),
    hash: stored,
  };
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}
