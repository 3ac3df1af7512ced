// tier: quick
/** Tables as CSV, JSON lines and Parquet: what is written reads back, cell for cell. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import type { Cell, Cells, Column } from '../../src/tools/table-writers.ts';
import { propertyParameters } from '../support/property.ts';
import { parsedCsv, writtenTable } from '../support/written-tables.ts';

const COLUMNS: readonly Column[] = [
  { name: 'time', type: 'text', meaning: 'A time.' },
  { name: 'count', type: 'integer', meaning: 'A count.' },
  { name: 'is_spot', type: 'flag', meaning: 'A flag.' },
  { name: 'name', type: 'text', meaning: 'A name.' },
];
const HEADER = ['time', 'count', 'is_spot', 'name'];

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    '"',
    ',',
    '\r',
    '\n',
    '\r\n',
    ' a ',
    '=1+1',
    '-1.5',
    'é€😀',
    '2026-11-29T09:41:26.123456789Z',
    'null',
  ),
);
const row: fc.Arbitrary<Cells> = fc.tuple<Cell[]>(
  fc.option(text),
  fc.option(fc.maxSafeInteger()),
  fc.option(fc.boolean()),
  fc.option(text),
);

function objectOf(cells: Cells): Record<string, Cell> {
  return Object.fromEntries(HEADER.map((name, place) => [name, cells[place] ?? null]));
}

async function readParquet(bytes: Buffer): Promise<Record<string, Cell>[]> {
  const file = new Uint8Array(bytes).buffer;
  const rows = (await parquetReadObjects({ file })) as Record<string, unknown>[];
  return rows.map((found) => {
    const entries = HEADER.map((name) => [name, found[name] ?? null]);
    return Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
    ) as Record<string, Cell>;
  });
}

suite('EXP-02 tables', () => {
  test('EXP-02 any rows read back from CSV, JSON lines and Parquet as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        const csv = parsedCsv((await writtenTable('csv', COLUMNS, rows)).toString());
        const plain = rows.map((cells) => cells.map((cell) => (cell === null ? '' : String(cell))));
        assert.deepEqual(csv, [HEADER, ...plain]);

        const lines = (await writtenTable('jsonl', COLUMNS, rows)).toString().split('\n');
        assert.equal(lines.pop(), '');
        assert.deepEqual(
          lines.map((line) => ({ ...objectOf([]), ...(JSON.parse(line) as object) })),
          rows.map(objectOf),
        );

        assert.deepEqual(await readParquet(await writtenTable('parquet', COLUMNS, rows)), rows.map(objectOf));
      }),
      propertyParameters(60),
    );
  });

  test('EXP-02 the same rows give the same bytes, over several chunks and row groups', async () => {
    const rows: Cells[] = Array.from({ length: 11_000 }, (_, index) => [
      `t${index}`,
      index,
      index % 3 === 0,
      index % 5 === 0 ? null : 'x',
    ]);
    async function* slowly(): AsyncGenerator<Cells> {
      for (const [index, cells] of rows.entries()) {
        if (index % 3_000 === 0) await new Promise((done) => setImmediate(done));
        yield cells;
      }
    }
    for (const format of ['csv', 'jsonl', 'parquet'] as const) {
      const first = await writtenTable(format, COLUMNS, rows);
      assert.ok(first.equals(await writtenTable(format, COLUMNS, slowly())), format);
      if (format !== 'parquet') continue;
      const { row_groups } = parquetMetadata(new Uint8Array(first).buffer);
      assert.deepEqual(
        row_groups.map(({ num_rows }) => num_rows),
        [5_000n, 5_000n, 1_000n],
      );
      assert.deepEqual(await readParquet(first), rows.map(objectOf));
    }
  });

  test('EXP-02 a table without rows is a header, no line, and a file with its columns', async () => {
    assert.equal((await writtenTable('csv', COLUMNS, [])).toString(), 'time,count,is_spot,name\r\n');
    assert.equal((await writtenTable('jsonl', COLUMNS, [])).length, 0);
    const { schema, num_rows } = parquetMetadata(new Uint8Array(await writtenTable('parquet', COLUMNS, [])).buffer);
    assert.deepEqual([num_rows, schema.slice(1).map(({ name }) => name)], [0n, HEADER]);
  });
});
