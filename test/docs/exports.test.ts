// tier: quick
/** docs/reference/exports.md has the columns that files have, in their order, with their types. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { parquetMetadata } from 'hyparquet';
import { columnsOf, ROW_EXPORT_NAMES } from '../../src/tools/export-columns.ts';
import { MICA_COLUMNS, MICA_FIELDS } from '../../src/tools/mica-orders.ts';
import { STATEMENT_COLUMNS } from '../../src/tools/statement.ts';
import { parsedCsv, writtenTable } from '../support/written-tables.ts';

const PHYSICAL: Readonly<Record<string, string>> = { text: 'BYTE_ARRAY', integer: 'INT64', flag: 'BOOLEAN' };

const STATEMENT = 'Statement of a user';
const MICA = 'Order records of MiCA';

interface Documented {
  readonly name: string;
  readonly type: string;
}

/** The tables of the document by their headings. */
function documented(): ReadonlyMap<string, readonly Documented[]> {
  const sections = readFileSync('docs/reference/exports.md', 'utf8').split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = ''] = section.split('\n');
      const rows = [...section.matchAll(/^\| `(\w+)` \| (\w+) \| (.+) \|$/gm)];
      for (const [, name, , meaning] of rows) assert.match(meaning ?? '', /\.$/, name);
      return [heading, rows.map(([, name = '', type = '']) => ({ name, type }))];
    }),
  );
}

suite('EXP-03 the columns of exports', () => {
  test('EXP-03 every export has its table in the document', () => {
    assert.deepEqual([...documented().keys()], [...ROW_EXPORT_NAMES, STATEMENT, MICA]);
  });

  test('EXP-04 the table of order records has every member of a record, and says of every other field why there is none', () => {
    const [, section = ''] = readFileSync('docs/reference/exports.md', 'utf8').split(`## ${MICA}`);
    const rows = section.split('\n').filter((line) => /^\| [A-K]\. /.test(line));
    assert.equal(rows.length, MICA_FIELDS.length);
    const listed = rows.flatMap((row) => [...(row.split(' | ')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    assert.deepEqual(
      listed,
      MICA_COLUMNS.map(({ name }) => name),
    );
    for (const { field, source, members } of MICA_FIELDS) {
      assert.match(source, /\.$/, field);
      if (members.length === 0) assert.match(source, /^(?:Not |None: |Always |Follows |A setting )/, field);
    }
  });

  test('LDG-02 the columns of a statement are as documented', () => {
    const columns = STATEMENT_COLUMNS.map(({ name, type }) => ({ name, type }));
    assert.deepEqual(documented().get(STATEMENT), columns);
  });

  for (const what of ROW_EXPORT_NAMES) {
    test(`EXP-03 ${what}: header of CSV and schema of Parquet are as documented`, async () => {
      const rows = documented().get(what) ?? [];
      assert.ok(rows.length > 3);
      const [header] = parsedCsv((await writtenTable('csv', columnsOf(what), [])).toString());
      assert.deepEqual(
        header,
        rows.map(({ name }) => name),
      );
      const parquet = await writtenTable('parquet', columnsOf(what), []);
      const { schema } = parquetMetadata(new Uint8Array(parquet).buffer);
      assert.deepEqual(
        schema.slice(1).map(({ name, type }) => [name, type]),
        rows.map(({ name, type }) => [name, PHYSICAL[type]]),
      );
    });
  }
});
