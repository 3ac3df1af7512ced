/**
 * How far a data directory has been verified, in a small file beside the map:
 *
 *   <data directory>/verified     ringbook verified 1 <transaction> <sequence> <hash of that record, hex>
 *
 * A mark that is torn, or of another journal, counts as none: then everything is verified again.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageError } from './storage-error.ts';

const FILE_NAME = 'verified';
const FORM = /^ringbook verified 1 ([0-9]{1,15}) ([0-9]{1,15}) ([0-9a-f]{64})\n$/;

export interface VerifiedMark {
  /** A transaction of the map: every page written by it or before is verified. */
  readonly txn: number;
  /** The sequence of the last journal record at that time, 0 for none; its hash follows. */
  readonly sequence: number;
  readonly hash: Uint8Array;
}

export function readVerifiedMark(directory: string): VerifiedMark | null {
  let text: string;
  try {
    text = readFileSync(join(directory, FILE_NAME), 'latin1');
  } catch {
    return null;
  }
  const match = FORM.exec(text);
  if (match === null) return null;
  const [, txn, sequence, hash = ''] = match;
  return { txn: Number(txn), sequence: Number(sequence), hash: new Uint8Array(Buffer.from(hash, 'hex')) };
}

/** @throws StorageError when the disk refuses. */
export function writeVerifiedMark(directory: string, { txn, sequence, hash }: VerifiedMark): void {
  const path = join(directory, FILE_NAME);
  const text = `ringbook verified 1 ${txn} ${sequence} ${Buffer.from(hash).toString('hex')}\n`;
  try {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw storageError('noting what is verified', error);
  }
}

/** Called when a map replaces another: its transactions are different ones, whatever its journal is. */
export function forgetVerifiedMark(directory: string): void {
  rmSync(join(directory, FILE_NAME), { force: true });
}
