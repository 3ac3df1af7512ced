// tier: quick
/** What the documents promise, against what the sources can do: codes that are produced, and patterns that others compile. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { CANCEL_WORDS, REMOVAL_WORDS, ROLLBACK_WORDS } from '../../src/core/order-terms.ts';
import { REJECT_CODE, type RejectName } from '../../src/core/reject.ts';
import { infoOf, type ServiceName } from '../../src/http/api/api-documents.ts';
import { asyncApi } from '../../src/http/api/async-api.ts';
import { ERROR_MEANINGS, RESERVED_CODES } from '../../src/http/api/error-table.ts';
import { openApi } from '../../src/http/api/open-api.ts';
import { SERVICE_TABLES } from '../support/service-tables.ts';

/** Texts about codes, those who receive them, and the list of codes that frames can have: none produces one. */
const NO_PRODUCERS = /^(core\/reject|http\/api\/|client\/|cli\/|codec\/shapes\/|codec\/generated\/)/;

/** Where a code is produced: named as a value, not compared with, not in a comment. */
function producedCodes(): ReadonlySet<string> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !NO_PRODUCERS.test(path),
  );
  const code = files
    .map((path) => readFileSync(join('src', path), 'utf8'))
    .join('\n')
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const named = code.matchAll(/(?<![=!]== |case )'([A-Z][A-Z_]+)'|REJECT_CODE\.([A-Z_]+)/g);
  const keyed = code.matchAll(/^\s*([A-Z][A-Z_]+): /gm);
  return new Set([...named, ...keyed].map(([, quoted, member]) => member ?? quoted ?? ''));
}

/** Every value of a member in a document, however deep. */
function* valuesOf(value: unknown, member: string): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, below] of Object.entries(value)) {
    if (name === member) yield below;
    yield* valuesOf(below, member);
  }
}

suite('what the documents promise', () => {
  test('every code is produced somewhere, but for those that are reserved (ERR-10)', () => {
    const produced = producedCodes();
    const never = (Object.keys(REJECT_CODE) as RejectName[]).filter((name) => !produced.has(name));
    assert.deepEqual(never.sort(), [...RESERVED_CODES].sort());
    for (const [name, { means }] of Object.entries(ERROR_MEANINGS)) {
      assert.equal(means.startsWith('reserved'), RESERVED_CODES.includes(name as RejectName), name);
    }
  });

  for (const service of ['orders', 'market-data'] as const) {
    const documents = documentsOf(service);

    test(`${service}: patterns compile in Python and without Unicode properties, and mean the same there`, () => {
      const patterns = [...new Set(documents.flatMap((document) => [...valuesOf(document, 'pattern')]))].map(String);
      for (const pattern of patterns) {
        assert.doesNotMatch(pattern, /\\[pPdDwWsSbB]|\(\?<|\(\?[imsu]/, 'only what every engine reads in the same way');
        assert.doesNotThrow(() => new RegExp(pattern, 'u'), pattern);
      }
      const script = 'import json,re,sys\nfor p in json.load(sys.stdin): re.compile(p)\n';
      const run = spawnSync('python3', ['-c', script], { input: JSON.stringify(patterns), encoding: 'utf8' });
      if (run.error === undefined) assert.equal(run.status, 0, run.stderr);
    });
  }

  test('every reason why an order ended or a fill was undone stands in the documents (DOC-01)', () => {
    const text = JSON.stringify(documentsOf('orders'));
    const missing = [...CANCEL_WORDS, ...REMOVAL_WORDS, ...ROLLBACK_WORDS].filter((word) => !text.includes(word));
    assert.deepEqual(missing, []);
    assert.ok(CANCEL_WORDS.length >= 10 && REMOVAL_WORDS.length >= 5 && ROLLBACK_WORDS.length >= 10);
  });

  test('a name of a sub-account is what its pattern allows: no control character, no half of a pair, not a given name', () => {
    const [pattern] = [...valuesOf(documentsOf('orders'), 'pattern')]
      .map(String)
      .filter((text) => text.includes('Spot'));
    const form = new RegExp(pattern ?? '', 'u');
    for (const name of ['a', 'Ünïcode 😀', 'x'.repeat(32), 'Spots']) assert.match(name, form);
    for (const name of ['', 'Spot', 'Margin', 'a\u0000', 'a\u007f', 'a\u0085', '\ud800', 'x'.repeat(33)]) {
      assert.doesNotMatch(name, form);
    }
  });
});

function documentsOf(service: ServiceName): readonly unknown[] {
  const { routes, streams } = SERVICE_TABLES[service];
  return [openApi(infoOf(service), routes), asyncApi(infoOf(service), streams)].map(
    (text) => JSON.parse(text) as unknown,
  );
}
