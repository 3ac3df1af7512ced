// tier: quick
/** The deliberate bugs can be made: each site is in the program once. Whether they are caught, run.ts finds out in minutes. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from './mutants.ts';
import { mutated, sitesIn } from './sites.ts';

const BUILD = fileURLToPath(new URL('../..', import.meta.url));
const SITES = sitesIn(BUILD);

suite('deliberate bugs', () => {
  test('there are at least a hundred, each of a different promise and at a site of its own', () => {
    assert.ok(MUTANTS.length >= 100);
    assert.equal(new Set(MUTANTS.map(({ breaks }) => breaks)).size, MUTANTS.length);
    assert.equal(new Set(MUTANTS.map(({ site }) => site)).size, MUTANTS.length);
  });

  test('every site of the source has its bug', () => {
    const used = new Set(MUTANTS.map(({ site }) => site));
    assert.deepEqual(
      [...SITES.keys()].filter((id) => !used.has(id)),
      [],
    );
  });

  for (const mutant of MUTANTS) {
    test(`"${mutant.breaks}" can be broken at ${mutant.site}`, () => {
      const sites = SITES.get(mutant.site) ?? [];
      const where = sites.map(({ file }) => file).join(', ');
      assert.equal(sites.length, 1, `\`// mutant: ${mutant.site}\` stands once in src, before its statement: ${where}`);
      for (const site of sites) {
        const text = mutated(BUILD, mutant, site);
        assert.notEqual(text.with, text.without);
      }
      assert.ok(existsSync(join(BUILD, `${mutant.caughtBy}.test.js`)), mutant.caughtBy);
    });
  }
});
