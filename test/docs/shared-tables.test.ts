// tier: quick
/** The page of shared tables: every row is complete, and names tests that exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';

const COLUMNS = 6;
const ROWS_MIN = 30;

function rows(): readonly (readonly string[])[] {
  const text = readFileSync('docs/reliability.md', 'utf8');
  const section = /## Shared tables[^\n]*\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:Table|What|---)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

suite('the shared tables of docs/reliability.md', () => {
  test('each has its bound, its cost, what happens when it is full, whom it hurts, and tests that exist', () => {
    const all = rows();
    assert.ok(all.length >= ROWS_MIN, `${all.length} rows`);
    for (const row of all) {
      assert.equal(row.length, COLUMNS, row[0]);
      for (const cell of row) assert.notEqual(cell, '', row[0]);
      const tests = [...(row.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name);
      assert.ok(tests.length > 0, row[0]);
      for (const name of tests) assert.ok(existsSync(`test/${name}.test.ts`), `${row[0]}: test/${name}.test.ts`);
    }
  });

  test('no table is named twice', () => {
    const names = rows().map(([name]) => name);
    assert.equal(new Set(names).size, names.length);
  });
});
