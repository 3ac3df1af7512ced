/**
 * How many entries each table has and what their checksums add up to, kept in the commit that changes them. An entry
 * that is missing, doubled or of an older version is sound in itself; the sums show it.
 *
 *   meta 03   │ tables 1 │ table 1, entries 8, sum 8 │ … │      sum: of the CRC-32C at the end of each value, mod 2^48
 *
 * The journal has its chain, and the table of meta its checkpoint: neither is summed.
 */
import { assert } from '../core/assert.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { CommitWatch, StorageReader, Write } from './environment.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { keyWriter, META, TABLE } from './key-layout.ts';

const CRC_BYTES = 4;
const MODULUS = 2 ** 48;

interface TableSum {
  readonly entries: number;
  readonly sum: number;
}

/** Tables are numbered by one byte. */
const TABLE_COUNT = 256;

/** Adds up entries table by table. */
export class TableSums {
  readonly #entries = new Float64Array(TABLE_COUNT);
  readonly #sums = new Float64Array(TABLE_COUNT);

  constructor(from: Iterable<readonly [number, TableSum]> = []) {
    for (const [table, { entries, sum }] of from) {
      this.#entries[table] = entries;
      this.#sums[table] = sum;
    }
  }

  add(key: Uint8Array, value: Uint8Array): void {
    this.#change(tableOf(key), checksumOf(value), 1);
  }

  /** Adds an entry of that table by its checksum. */
  addChecksum(table: number, checksum: number): void {
    this.#change(table, checksum, 1);
  }

  remove(key: Uint8Array, checksum: number): void {
    this.#change(tableOf(key), MODULUS - checksum, -1);
  }

  of(table: number): TableSum {
    return { entries: this.#entries[table] ?? 0, sum: this.#sums[table] ?? 0 };
  }

  /** Tables in use, in their order. */
  *[Symbol.iterator](): Generator<readonly [number, TableSum]> {
    for (let table = 0; table < TABLE_COUNT; table += 1) {
      const found = this.of(table);
      if (found.entries !== 0 || found.sum !== 0) yield [table, found];
    }
  }

  /** @param sum from 0 to MODULUS. */
  #change(table: number, sum: number, entries: number): void {
    const count = (this.#entries[table] ?? 0) + entries;
    assert(count >= 0, 'storage: a table has no fewer than no entries');
    this.#entries[table] = count;
    const total = (this.#sums[table] ?? 0) + sum;
    this.#sums[table] = total < MODULUS ? total : total - MODULUS;
  }
}

/** Whether a table's entries are summed. */
export function isSummed(table: number): boolean {
  return table !== TABLE.meta && table !== TABLE.journal;
}

function tableOf(key: Uint8Array): number {
  return key[0] ?? 0;
}

/** The checksum that ends a value. */
function checksumOf(value: Uint8Array): number {
  assert(value.length >= CRC_BYTES, 'storage: a value ends with its checksum');
  const at = value.length - CRC_BYTES;
  const high = ((value[at] ?? 0) << 24) | ((value[at + 1] ?? 0) << 16);
  return (high | ((value[at + 2] ?? 0) << 8) | (value[at + 3] ?? 0)) >>> 0;
}

export function readTableSums(reader: StorageReader): TableSums {
  const key = keyWriter().meta(META.tableSums);
  const value = reader.get(key);
  return value === null ? new TableSums() : decodeTableSums(key, value);
}

export function decodeTableSums(key: Uint8Array, value: Uint8Array): TableSums {
  return decodeFrame(key, value, (from) => {
    const tables = Array.from({ length: from.u8() }, () => {
      return [from.u8(), { entries: from.safe(), sum: from.safe() }] as const;
    });
    return new TableSums(tables);
  });
}

/** Keeps the sums with the writes of one commit, and writes them as its last. */
export class SumWatch implements CommitWatch {
  readonly #sums: TableSums;
  readonly #to: ByteWriter;
  readonly #written: () => void;

  /** @param written called with every write. */
  constructor(reader: StorageReader, to: ByteWriter, written: () => void = () => undefined) {
    this.#sums = readTableSums(reader);
    this.#to = to;
    this.#written = written;
  }

  change(key: Uint8Array, before: Uint8Array | null, after: Uint8Array | null): void {
    this.#written();
    if (!isSummed(tableOf(key))) return;
    // mutant: sums-follow-removals
    if (before !== null) this.#sums.remove(key, checksumOf(before));
    if (after !== null) this.#sums.add(key, after);
  }

  end(): readonly Write[] {
    return [tableSumsWrite(this.#to, this.#sums)];
  }
}

/** The row of the sums. */
export function tableSumsWrite(to: ByteWriter, sums: TableSums): Write {
  const key = keyWriter().meta(META.tableSums);
  const tables = [...sums];
  const value = encodeFrame(to, key, () => {
    to.u8(tables.length);
    for (const [table, { entries, sum }] of tables) {
      to.u8(table);
      to.safe(entries);
      to.safe(sum);
    }
  });
  return { key, value };
}

/** @throws InvariantError when a table is not what was written. */
export function checkSum(table: string, found: TableSum, written: TableSum): void {
  assert(
    found.entries === written.entries && found.sum === written.sum,
    `storage: the ${found.entries} entries of table ${table} are not the ${written.entries} that were written`,
  );
}
