/**
 * Records that are durable and not in the files of rows yet: one flush of one file makes them so. They go over in whole blocks of
 * rows (row-log.ts), so that rows are compressed together however often they are flushed.
 *
 *   file     "ringbook tail 1\n" │ record │ record │ …
 *   record   bytes of all of it 4 │ CRC-32C of what follows 4 │ sequence 8 │ entry 80 │ leaf hash 32 │ rows, each with a newline
 *
 * A kill tears the last record at any byte: reading ends before the first that is not whole.
 */
import { closeSync, openSync, readFileSync, renameSync } from 'node:fs';
import { crc32c } from '../../core/crc32c.ts';
import { flush } from '../../storage/data-files.ts';
import { storageError } from '../../storage/storage-error.ts';
import { AppendFile } from './append-file.ts';
import { tailFile, tailFolder } from './evidence-paths.ts';
import { type LoggedRecord, RECORD_ENTRY_BYTES, readRecordEntry, writeRecordEntry } from './logged-record.ts';

const MAGIC: Uint8Array = Buffer.from('ringbook tail 1\n', 'latin1');
const CHECKED_FROM = 8;
const ENTRY_AT = 16;
const LEAF_AT = ENTRY_AT + RECORD_ENTRY_BYTES;
const HASH_BYTES = 32;
const ROWS_AT = LEAF_AT + HASH_BYTES;
const NEWLINE = 0x0a;
const INITIAL_BYTES = 1 << 16;
/** A buffer that one large record has made is given up. */
const KEPT_BYTES_MAX = 1 << 22;

/** A record without the hashes of its rows. */
export interface TailRecord extends Omit<LoggedRecord, 'rows'> {
  readonly rows: readonly Uint8Array[];
}

/** Bytes that a record takes in the tail. */
export function tailBytes(record: LoggedRecord): number {
  let bytes = ROWS_AT;
  for (const row of record.rows) bytes += row.bytes.length + 1;
  return bytes;
}

export class TailWriter {
  readonly #file: AppendFile;
  #gathered = Buffer.alloc(INITIAL_BYTES);
  #length = 0;

  private constructor(file: AppendFile) {
    this.#file = file;
  }

  /** A new one with these records, durable under its name before it returns. */
  static begin(folder: string, first: number, records: readonly LoggedRecord[]): TailWriter {
    const path = tailFile(folder, first);
    const fresh = `${path}.new`;
    try {
      closeSync(openSync(fresh, 'w', 0o600));
    } catch (error) {
      throw storageError('writing the evidence', error, folder);
    }
    const file = new AppendFile(fresh);
    file.append(MAGIC);
    const writer = new TailWriter(file);
    for (const record of records) writer.append(record);
    writer.flush();
    renameSync(fresh, path);
    flush(tailFolder(folder));
    return writer;
  }

  append(record: LoggedRecord): void {
    const bytes = tailBytes(record);
    this.#reserve(bytes);
    const to = this.#gathered;
    const at = this.#length;
    to.writeUInt32BE(bytes, at);
    to.writeBigUInt64BE(BigInt(record.sequence), at + CHECKED_FROM);
    writeRecordEntry(to, at + ENTRY_AT, record);
    to.set(record.leafHash, at + LEAF_AT);
    let end = at + ROWS_AT;
    for (const row of record.rows) {
      to.set(row.bytes, end);
      end += row.bytes.length;
      to[end] = NEWLINE;
      end += 1;
    }
    to.writeUInt32BE(crc32c(to, 0, at + CHECKED_FROM, end), at + 4);
    this.#length = end;
    // A storm of records is written in pieces; it is durable with the flush alone.
    if (this.#length >= KEPT_BYTES_MAX) this.#write();
  }

  /** What was appended is durable afterwards. */
  flush(): void {
    this.#write();
    this.#file.flush();
  }

  close(): void {
    this.#file.close();
  }

  #write(): void {
    if (this.#length === 0) return;
    this.#file.append(this.#gathered.subarray(0, this.#length));
    this.#length = 0;
    if (this.#gathered.length > KEPT_BYTES_MAX) this.#gathered = Buffer.alloc(INITIAL_BYTES);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#gathered.length) return;
    let capacity = this.#gathered.length;
    while (capacity < this.#length + bytes) capacity *= 2;
    const grown = Buffer.alloc(capacity);
    this.#gathered.copy(grown, 0, 0, this.#length);
    this.#gathered = grown;
  }
}

/** The records of one file that are whole, in order. A file that is not there has none. */
export function readTail(folder: string, first: number): readonly TailRecord[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(tailFile(folder, first));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw storageError('reading the evidence', error);
  }
  const records: TailRecord[] = [];
  if (bytes.length < MAGIC.length || bytes.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) return records;
  for (let at = MAGIC.length; at + ROWS_AT <= bytes.length; ) {
    const end = at + bytes.readUInt32BE(at);
    if (end < at + ROWS_AT || end > bytes.length) break;
    // mutant: torn-tail
    if (crc32c(bytes, 0, at + CHECKED_FROM, end) !== bytes.readUInt32BE(at + 4)) break;
    const sequence = Number(bytes.readBigUInt64BE(at + CHECKED_FROM));
    records.push({
      ...readRecordEntry(bytes, at + ENTRY_AT, sequence),
      leafHash: Uint8Array.prototype.slice.call(bytes, at + LEAF_AT, at + ROWS_AT),
      rows: linesOf(bytes.subarray(at + ROWS_AT, end)),
    });
    at = end;
  }
  return records;
}

/** Lines of rows, each ended by a newline: views of the bytes. */
export function linesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, at);
    const stop = end < 0 ? bytes.length : end;
    lines.push(bytes.subarray(at, stop));
    at = stop + 1;
  }
  return lines;
}
