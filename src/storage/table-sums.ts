/**
 * How many entries each table has and what their checksums add up to, kept in the commit that changes them. An entry
 * that is missing, doubled or of an older version is sound in itself; the sums show it.
 *
 *   meta 03   │ tables 1 │ table 1, entries 8, sum 8 │ … │      sum: of the CRC-32C at the end of each value, mod 2^48
 *
 * The journal has its chain, and the table of meta its checkpoint: neither is summed.
 */
import { assert } from '../core/assert.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import { keyWriter, META, TABLE } from './key-layout.ts';
import { decodeFrame, encodeFrame } from './row-codecs.ts';

const CRC_BYTES = 4;
const MODULUS = 2 ** 48;

export interface TableSum {
  readonly entries: number;
  readonly sum: number;
}

/** Adds up entries table by table. */
export class TableSums {
  readonly #sums = new Map<number, { entries: number; sum: number }>();

  constructor(from: Iterable<readonly [number, TableSum]> = []) {
    for (const [table, { entries, sum }] of from) this.#sums.set(table, { entries, sum });
  }

  add(key: Uint8Array, value: Uint8Array): void {
    this.#change(key, checksumOf(value), 1);
  }

  remove(key: Uint8Array, checksum: number): void {
    this.#change(key, MODULUS - checksum, -1);
  }

  of(table: number): TableSum {
    return this.#sums.get(table) ?? { entries: 0, sum: 0 };
  }

  /** Tables in use, in their order. */
  *[Symbol.iterator](): Generator<readonly [number, TableSum]> {
    const used = [...this.#sums].filter(([, { entries, sum }]) => entries !== 0 || sum !== 0);
    yield* used.sort(([a], [b]) => a - b);
  }

  #change(key: Uint8Array, sum: number, entries: number): void {
    const table = tableOf(key);
    const found = this.#sums.get(table);
    if (found === undefined) this.#sums.set(table, { entries, sum: sum % MODULUS });
    else {
      found.entries += entries;
      found.sum = (found.sum + sum) % MODULUS;
    }
    assert((found?.entries ?? entries) >= 0, 'storage: a table has no fewer than no entries');
  }
}

/** Whether a table's entries are summed. */
export function isSummed(table: number): boolean {
  return table !== TABLE.meta && table !== TABLE.journal;
}

function tableOf(key: Uint8Array): number {
  const [table = 0] = key;
  return table;
}

/** The checksum that ends a value. */
function checksumOf(value: Uint8Array): number {
  assert(value.length >= CRC_BYTES, 'storage: a value ends with its checksum');
  const [a = 0, b = 0, c = 0, d = 0] = value.subarray(value.length - CRC_BYTES);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
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

/** The sums after these writes, as one more write. Later writes of a key take the place of earlier ones. */
export function sumWrites(reader: StorageReader, to: ByteWriter, writes: readonly Write[]): Write {
  const sums = readTableSums(reader);
  /** Checksums as these writes leave them; null where a key is removed. */
  const written = new Map<string, number | null>();
  for (const { key, value, rule } of writes) {
    if (!isSummed(tableOf(key))) continue;
    const name = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
    let before = written.get(name);
    if (before === undefined) before = rule === undefined || value === null ? checksumIn(reader, key) : null;
    if (before !== null) sums.remove(key, before);
    if (value !== null) sums.add(key, value);
    written.set(name, value === null ? null : checksumOf(value));
  }
  return tableSumsWrite(to, sums);
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

function checksumIn(reader: StorageReader, key: Uint8Array): number | null {
  const value = reader.get(key);
  return value === null ? null : checksumOf(value);
}
