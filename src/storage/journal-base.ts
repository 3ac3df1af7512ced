/**
 * Where a journal begins that does not go back to its first record, because what came before was pruned, or belongs to
 * an older version of the data:
 *
 *   meta 04   │ sequence 8 │ hash of that record 32 │ bytes of the records that are gone 8 │
 *
 * The record at the base is there and is the anchor of the chain: its hash stands for everything before it. A journal
 * without a base begins with record 1.
 */
import type { Sequence } from '../core/units.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { HASH_BYTES } from './journal-record.ts';
import { keyWriter, META } from './key-layout.ts';

export interface JournalBase {
  readonly sequence: Sequence;
  readonly hash: Uint8Array;
  readonly prunedBytes: number;
}

/** Null where the journal begins with record 1. @throws InvariantError when the row is damaged. */
export function readJournalBase(reader: StorageReader): JournalBase | null {
  const key = keyWriter().meta(META.journalBase);
  const value = reader.get(key);
  return value === null ? null : decodeJournalBase(key, value);
}

export function decodeJournalBase(key: Uint8Array, value: Uint8Array): JournalBase {
  return decodeFrame(key, value, (from) => ({
    sequence: from.safe() as Sequence,
    hash: from.raw(HASH_BYTES),
    prunedBytes: from.safe(),
  }));
}

export function journalBaseWrite(to: ByteWriter, { sequence, hash, prunedBytes }: JournalBase): Write {
  const key = keyWriter().meta(META.journalBase);
  const value = encodeFrame(to, key, () => {
    to.safe(sequence);
    to.raw(hash);
    to.safe(prunedBytes);
  });
  return { key, value };
}
