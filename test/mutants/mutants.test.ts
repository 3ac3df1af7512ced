/** The deliberate bugs can be made: each piece is there, once. Whether they are caught, `run.js` tells: it takes minutes. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from './mutants.ts';

const inBuild = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

suite('deliberate bugs', () => {
  test('there are at least sixty, of promises that differ, each in a place of its own', () => {
    assert.ok(MUTANTS.length >= 60);
    assert.equal(new Set(MUTANTS.map(({ breaks }) => breaks)).size, MUTANTS.length);
    assert.equal(new Set(MUTANTS.map(({ file, find }) => `${file} ${find}`)).size, MUTANTS.length);
  });

  for (const { breaks, file, find, put, caughtBy } of MUTANTS) {
    test(`"${breaks}" can be broken, and there is a suite to notice`, () => {
      assert.equal(readFileSync(inBuild(`${file}.js`), 'utf8').split(find).length, 2, `${file} has the piece once`);
      assert.notEqual(find, put);
      assert.ok(existsSync(inBuild(`${caughtBy}.test.js`)), caughtBy);
    });
  }
});
