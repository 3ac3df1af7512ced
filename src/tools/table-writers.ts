/**
 * Tables of any length as CSV, JSON lines or Parquet, in bounded memory (EXP-02): rows are taken from an iterator some
 * hundreds at a time, and no faster than the output takes them.
 *
 *   csv      RFC 4180: UTF-8 without a mark, a header, CRLF, quotes where they are needed; a cell without a value is empty
 *   jsonl    one object a line, members in the order of the columns; a cell without a value is no member
 *   parquet  text as STRING, integers as INT64, flags as BOOLEAN; row groups of PARQUET_GROUP_ROWS; Snappy
 *
 * The values are the same in every format, and the same rows give the same bytes. The libraries are loaded when a format is
 * asked for.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { must } from '../core/assert.ts';

export const TABLE_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** `integer`: a safe one. */
export type ColumnType = 'text' | 'integer' | 'flag';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** One sentence. */
  readonly meaning: string;
  /** Every value there is, where they are few. */
  readonly words?: readonly string[];
}

/** Of its column's type; null for no value. */
export type Cell = string | number | boolean | null;
/** As many as there are columns. */
export type Cells = readonly Cell[];

export interface Written {
  readonly rows: number;
  readonly bytes: number;
}

const CHUNK_ROWS = 500;
/** A group lies in memory until it is written: some 10 MiB of rows with forty columns. */
const PARQUET_GROUP_ROWS = 5_000;
/** Line breaks are quoted one by one as well: the library quotes a cell for the delimiter of records alone. */
const BREAKS = /[\r\n]/;
const PARQUET_TYPES = { text: 'STRING', integer: 'INT64', flag: 'BOOLEAN' } as const;

type Rows = Iterable<Cells> | AsyncIterable<Cells>;

/**
 * Writes a table and leaves the output open.
 *
 * @param wrote called with how many rows were written so far, each time some are.
 */
export async function writeTable(
  format: TableFormat,
  columns: readonly Column[],
  rows: Rows,
  to: Writable,
  wrote: (rows: number) => void = () => undefined,
): Promise<Written> {
  if (format === 'parquet') return writeParquet(columns, rows, to, wrote);
  const textOf = format === 'csv' ? await csvText() : (chunk: readonly Cells[]) => jsonText(columns, chunk);
  const output = new Output(to);
  if (format === 'csv') await output.write(textOf([columns.map(({ name }) => name)]));
  let count = 0;
  for await (const chunk of chunksOf(rows, CHUNK_ROWS)) {
    await output.write(textOf(chunk));
    count += chunk.length;
    wrote(count);
  }
  return { rows: count, bytes: output.bytes };
}

async function* chunksOf(rows: Rows, size: number): AsyncGenerator<readonly Cells[], void, undefined> {
  let chunk: Cells[] = [];
  for await (const row of rows) {
    chunk.push(row);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Waits where the output is full. */
class Output {
  bytes = 0;
  readonly #to: Writable;

  constructor(to: Writable) {
    this.#to = to;
  }

  async write(data: string | Uint8Array): Promise<void> {
    this.bytes += typeof data === 'string' ? Buffer.byteLength(data) : data.length;
    if (data.length > 0 && !this.#to.write(data)) await once(this.#to, 'drain');
  }
}

async function csvText(): Promise<(chunk: readonly Cells[]) => string> {
  const { stringify } = await import('csv-stringify/sync');
  const cast = { boolean: String };
  return (chunk) => stringify([...chunk] as Cell[][], { record_delimiter: 'windows', quoted_match: BREAKS, cast });
}

function jsonText(columns: readonly Column[], chunk: readonly Cells[]): string {
  let text = '';
  for (const row of chunk) {
    const members: Record<string, Cell> = {};
    for (const [place, cell] of row.entries())
      if (cell !== null) members[must(columns[place], 'a cell has a column').name] = cell;
    text += `${JSON.stringify(members)}\n`;
  }
  return text;
}

async function writeParquet(
  columns: readonly Column[],
  rows: Rows,
  to: Writable,
  wrote: (rows: number) => void,
): Promise<Written> {
  const { ByteWriter, parquetWriteRows } = await import('hyparquet-writer');
  const output = new Output(to);
  /** Each group goes out when it is complete. */
  class GroupWriter extends ByteWriter {
    async flush(): Promise<void> {
      const bytes = Uint8Array.from(this.getBytes());
      this.index = 0;
      await output.write(bytes);
      wrote(count);
    }

    override finish(): Promise<void> {
      return this.flush();
    }
  }
  let count = 0;
  async function* members(): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
    for await (const row of rows) {
      count += 1;
      yield Object.fromEntries(columns.map((column, place) => [column.name, parquetValue(column, row[place] ?? null)]));
    }
  }
  await parquetWriteRows({
    writer: new GroupWriter(),
    rows: members() as AsyncIterable<Record<string, unknown>>,
    columns: columns.map(({ name, type }) => ({ name, type: PARQUET_TYPES[type], nullable: true })),
    rowGroupSize: PARQUET_GROUP_ROWS,
    createdBy: 'ringbook',
  });
  return { rows: count, bytes: output.bytes };
}

function parquetValue({ type }: Column, cell: Cell): string | bigint | boolean | null {
  return type === 'integer' && typeof cell === 'number' ? BigInt(cell) : (cell as string | boolean | null);
}
