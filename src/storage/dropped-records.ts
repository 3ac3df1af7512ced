/**
 * Records that were in the own journal and not in the stream of the cluster, which has others in their place or none: kept as
 * they were, one file each, until an operator acknowledges them (cluster.md 7.1).
 *
 *   <data directory>/dropped/<sequence, 16 digits>-<first 16 hex digits of its hash>.record
 *                                                                                   .acknowledged   after that
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '../core/hex.ts';
import { flush, makeDirectory } from './data-files.ts';
import { HASH_BYTES } from './journal-record.ts';
import { storageError } from './storage-error.ts';

const DROPPED = 'dropped';
const NEW = '.record';
const ACKNOWLEDGED = '.acknowledged';
const SEQUENCE_DIGITS = 16;
const HASH_PREFIX_BYTES = 8;

/** The record is on the disk when it returns. @throws StorageError when the disk refuses. */
export function keepDropped(directory: string, sequence: number, bytes: Uint8Array): void {
  const home = join(directory, DROPPED);
  const hashAt = bytes.length - HASH_BYTES;
  const name = `${String(sequence).padStart(SEQUENCE_DIGITS, '0')}-${toHex(bytes.subarray(hashAt, hashAt + HASH_PREFIX_BYTES))}`;
  try {
    makeDirectory(home);
    const descriptor = openSync(join(home, `${name}${NEW}`), 'w', 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    flush(home);
    flush(directory);
  } catch (error) {
    throw storageError('keeping a dropped record', error);
  }
}

/** Names of the records that nobody has acknowledged, the oldest first. */
export function droppedRecords(directory: string): readonly string[] {
  const home = join(directory, DROPPED);
  if (!existsSync(home)) return [];
  return readdirSync(home)
    .filter((name) => name.endsWith(NEW))
    .map((name) => name.slice(0, -NEW.length))
    .sort();
}

/** They stay, under other names. @returns those that were not acknowledged before. */
export function acknowledgeDropped(directory: string): readonly string[] {
  const names = droppedRecords(directory);
  const home = join(directory, DROPPED);
  for (const name of names) renameSync(join(home, `${name}${NEW}`), join(home, `${name}${ACKNOWLEDGED}`));
  if (names.length > 0) flush(home);
  return names;
}
