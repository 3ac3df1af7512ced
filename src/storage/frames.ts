/**
 * The frame around every value of the tables.
 *
 *   value   │ layout version 1 │ fields │ CRC-32C 4 │
 *
 * The checksum covers the key and the value before it: it finds a flipped bit, and a row under a wrong key. A value is
 * read as it was written or not at all: damage is an InvariantError.
 */
import { InvariantError } from '../core/assert.ts';
import { crc32c } from '../core/crc32c.ts';
import { ByteReader } from '../schema/byte-reader.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';

export const LAYOUT_VERSION = 1;
const CRC_BYTES = 4;

/** @param write writes the fields. @returns the value, a piece of `to`. */
export function encodeFrame(to: ByteWriter, key: Uint8Array, write: () => void): Uint8Array {
  to.begin();
  to.u8(LAYOUT_VERSION);
  write();
  to.checksum(crc32c(key));
  return to.end();
}

/** @returns the value without its checksum. @throws InvariantError when that is another. */
export function checkFrame(key: Uint8Array, value: Uint8Array): Uint8Array {
  if (value.length <= CRC_BYTES) throw damaged(key, 'too short');
  const body = value.subarray(0, value.length - CRC_BYTES);
  // mutant: row-checksum
  if (checksumAt(value, body.length) !== crc32c(body, crc32c(key))) throw damaged(key, 'damaged');
  return body;
}

/** Where the fields begin. */
export const RECORD_AT = 1;

/**
 * Like checkFrame, for values that lie in place and have one size, of which a start reads a million.
 *
 * @param view begins where the value does. @param recordBytes of the fields. @returns the checksum.
 */
export function checkRecordFrame(key: Uint8Array, value: Uint8Array, view: DataView, recordBytes: number): number {
  const bodyEnd = RECORD_AT + recordBytes;
  if (value.length !== bodyEnd + CRC_BYTES) throw damaged(key, 'of another length than its layout');
  const checksum = crc32c(value, crc32c(key), 0, bodyEnd, view);
  // mutant: record-checksum
  if (checksumAt(value, bodyEnd) !== checksum) throw damaged(key, 'damaged');
  if (value[0] !== LAYOUT_VERSION) throw damaged(key, 'of an unknown layout');
  return checksum;
}

/** Four bytes as they were written. @param at there are so many behind it. */
function checksumAt(value: Uint8Array, at: number): number {
  const upper = ((value[at] as number) << 24) | ((value[at + 1] as number) << 16);
  return (upper | ((value[at + 2] as number) << 8) | (value[at + 3] as number)) >>> 0;
}

export function decodeFrame<T>(key: Uint8Array, value: Uint8Array, read: (from: ByteReader) => T): T {
  const body = checkFrame(key, value);
  const from = new ByteReader(body);
  if (from.u8() !== LAYOUT_VERSION) throw damaged(key, 'of an unknown layout');
  const decoded = read(from);
  if (from.remaining !== 0) throw damaged(key, 'longer than its layout');
  return decoded;
}

function damaged(key: Uint8Array, how: string): InvariantError {
  return new InvariantError(`storage: the value of key ${Buffer.from(key).toString('hex')} is ${how}`);
}
