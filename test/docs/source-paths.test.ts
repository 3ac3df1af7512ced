// tier: quick
/** The documents for developers name files, each of which is there; and the lines of all documents are short. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';

const DOCUMENTS = ['docs/architecture.md', 'docs/changing.md'];
const PATH_FORM = /`((?:src|schemas|test|bench|workers|config|page|docs)\/[\w./-]+)`/g;

suite('source paths in documents', () => {
  for (const document of DOCUMENTS) {
    test(`every path that ${document} names exists`, () => {
      const paths = [...readFileSync(document, 'utf8').matchAll(PATH_FORM)].map(([, path = '']) => path);
      assert.ok(paths.length > 20, `${paths.length} paths`);
      assert.deepEqual(
        paths.filter((path) => !existsSync(path)),
        [],
      );
    });
  }

  test('the order of modules in docs/architecture.md has every folder of src', () => {
    const rows = [...readFileSync('docs/architecture.md', 'utf8').matchAll(/^\| (.*?) \|/gm)].map(
      ([, first = '']) => first,
    );
    const named = new Set(
      rows.flatMap((first) => [...first.matchAll(/`src\/([\w-]+)`/g)].map(([, module = '']) => module)),
    );
    const table = /const TABLE[\s\S]*?^};/m.exec(readFileSync('test/tidy.test.ts', 'utf8'))?.[0] ?? '';
    const modules = [...table.matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, module = '']) => module);
    assert.ok(modules.length > 15);
    assert.deepEqual(
      modules.filter((module) => !named.has(module)),
      [],
    );
  });

  test('no line of a page is wider than 125 characters, but for tables and what is shown as code', () => {
    const pages = [...readdirSync('.'), ...readdirSync('docs').map((name) => `docs/${name}`)].filter(
      (path) => path.endsWith('.md') && path !== 'CHANGELOG.md',
    );
    assert.ok(pages.length > 20);
    const wide = pages.flatMap((page) => {
      let isCode = false;
      return readFileSync(page, 'utf8')
        .split('\n')
        .map((line, at) => {
          if (/^\s*```/.test(line)) isCode = !isCode;
          return !isCode && line.length > 125 && !/^(?:\s*[|#`]| {4}\{)/.test(line) ? `${page}:${at + 1}` : '';
        })
        .filter((place) => place !== '');
    });
    assert.deepEqual(wide, []);
  });

  test('no two decision records have one number', () => {
    const numbers = readdirSync('docs/decisions').flatMap((name) => /^(\d{4})-/.exec(name)?.[1] ?? []);
    assert.ok(numbers.length > 40);
    assert.equal(new Set(numbers).size, numbers.length, numbers.join(' '));
  });
});
