// tier: quick
/** Every requirement and every decision is named by a test, except decisions on what is not offered. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';

/** Decisions without a test of their own, by what their turn comes with. */
const LATER_DECISIONS: Readonly<Record<string, readonly number[]>> = {
  'stamps of latency, which are optional and not offered': [125],
};

const LATER_CHAINS: readonly string[] = [];

/** `SES-03 to SES-05` and `WS-01 to 04` name what lies between, too. */
function idsNamedIn(text: string): string[] {
  const names = text.matchAll(/\b([A-Z]{2,3})-(\d{2,3})(?: to (?:[A-Z]{2,3}-)?(\d{2,3}))?/g);
  return [...names].flatMap(([, area = '', first = '', last = first]) =>
    Array.from({ length: Math.max(1, Number(last) - Number(first) + 1) }, (_, index) => {
      return `${area}-${String(Number(first) + index).padStart(2, '0')}`;
    }),
  );
}

function testTitles(): string {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  const titles = files.flatMap(
    (file) =>
      readFileSync(join('test', file), 'utf8').match(/\b(?:test|suite)\(\s*(['"`])(?:(?!\1)[^\\]|\\.)*\1/g) ?? [],
  );
  return titles.join('\n');
}

suite('requirement ids', () => {
  const requirements = readFileSync('docs/reference/requirements.md', 'utf8');
  const all = [...requirements.matchAll(/^- \*\*((?!AMB)[A-Z]+-\d\d)\*\*/gm)].map(([, id = '']) => id);
  const named = new Set(idsNamedIn(testTitles()));

  test('the document numbers 566 requirements', () => {
    assert.equal(all.length, 566);
  });

  test('every requirement id is named by a test', () => {
    assert.deepEqual(
      all.filter((id) => !named.has(id)),
      [],
    );
  });

  test('every decision on money, chains and machines is named by a test, but for those of later work', () => {
    const money = readFileSync('docs/reference/decisions-money.md', 'utf8');
    const decided = [...money.matchAll(/^(?:\*\*|\| )((?:MON|CHN|MCH)-\d\d)\b/gm)].map(([, id = '']) => id);
    assert.equal(decided.length, 33);
    assert.deepEqual(
      decided.filter((id) => !named.has(id)),
      LATER_CHAINS,
    );
  });

  test('every decision is named by a test, but for those of later work', () => {
    const decisions = [...requirements.matchAll(/^- \*\*(AMB-\d+)\*\*/gm)].map(([, id = '']) => id);
    assert.equal(decisions.length, 142);
    const later = Object.values(LATER_DECISIONS)
      .flat()
      .map((number) => `AMB-${number}`);
    assert.deepEqual(
      decisions.filter((id) => !named.has(id)),
      later.sort((a, b) => decisions.indexOf(a) - decisions.indexOf(b)),
    );
  });
});
