/**
 * The files of rows: gzip members one behind the other, each of some 64 KiB of rows, so that every `zcat` reads the file and a
 * reader of this program any block of it. A member holds whole rows, each with a newline.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { assert } from '../../core/assert.ts';
import { StorageError, storageError } from '../../storage/storage-error.ts';
import { rowsFile } from './evidence-paths.ts';
import type { LoggedRow } from './logged-record.ts';

/** A block ends with the record in which it has so many bytes of rows. */
export const BLOCK_BYTES: number = 64 * 1_024;
/** Within a record that has more: one of a sweep may have tens of MiB. */
export const BLOCK_BYTES_MAX: number = 2 * BLOCK_BYTES;
/** A block has fewer bytes than this, were its last row the longest there is. */
const UNPACKED_BYTES_MAX = 1 << 26;
const LEVEL = 4;
const NEWLINE = 0x0a;

/** Where a block is. */
export interface RowBlockPlace {
  /** The first sequence of the file. */
  readonly file: number;
  readonly offset: number;
  readonly bytes: number;
}

/** @returns the member with these rows. */
export function packRows(rows: readonly LoggedRow[], rawBytes: number): Uint8Array {
  const raw = Buffer.allocUnsafe(rawBytes);
  let at = 0;
  for (const { bytes } of rows) {
    raw.set(bytes, at);
    at += bytes.length;
    raw[at] = NEWLINE;
    at += 1;
  }
  assert(at === rawBytes, 'evidence: a block has the bytes of its rows');
  return gzipSync(raw, { level: LEVEL });
}

/** The rows of a block as lines. @throws StorageError when the file is gone; Error when it is damaged. */
export function readBlock(folder: string, { file, offset, bytes }: RowBlockPlace): Uint8Array {
  const path = rowsFile(folder, file);
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    throw storageError('reading the evidence', error);
  }
  try {
    const packed = Buffer.allocUnsafe(bytes);
    const found = readSync(descriptor, packed, 0, bytes, offset);
    if (found !== bytes) throw new StorageError(`${path} ends within the rows from byte ${offset} on`);
    return gunzipSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(`${path} is damaged at byte ${offset}`, { cause: error });
  } finally {
    closeSync(descriptor);
  }
}
