// tier: quick
/** Every test file states its tier, and the share of each campaign grows from `npm test` to a night. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { extentOf, SHARES } from './support/shares.ts';
import { selectFiles, testFiles } from './support/test-files.ts';

/** Of `npm test` on two cores: estimated seconds of its files, at the share of CI. */
const QUICK_SECONDS_MAX = 420;
/** What no file of the quick tier may need: a newcomer has neither. */
const TOOLS = /support\/(?:anvil|browser|trade-page)\.ts'/;

suite('tiers of test files', () => {
  const files = testFiles('test');

  test('every test file states its tier in its first line', () => {
    assert.ok(files.length > 400);
    assert.deepEqual(
      files.filter(({ tier }) => tier !== 'quick' && tier !== 'full'),
      [],
    );
  });

  test('the quick tier fits into four minutes, and needs no browser and no chain', () => {
    const quick = selectFiles(files, { tier: 'quick', parts: [] });
    const seconds = quick.reduce((sum, file) => sum + file.seconds, 0);
    assert.ok(seconds <= QUICK_SECONDS_MAX, `${seconds} s`);
    const needy = quick.filter(({ name }) => TOOLS.test(readFileSync(`test/${name}.test.ts`, 'utf8')));
    assert.deepEqual(needy, []);
  });

  test('a selection by tier and by parts of paths has what both name', () => {
    const selected = selectFiles(files, { tier: 'full', parts: ['pages/'] }).map(({ name }) => name);
    assert.ok(selected.length > 2 && selected.every((name) => name.startsWith('pages/')), selected.join());
  });

  test('no campaign runs more in a shorter extent, and an unknown extent is an error', () => {
    for (const [campaign, { quick, ci, command }] of Object.entries(SHARES)) {
      assert.ok(0 < quick && quick <= ci && ci <= command, campaign);
    }
    assert.equal(extentOf({}), 'ci');
    assert.throws(() => extentOf({ RINGBOOK_SHARE: 'all' }), /RINGBOOK_SHARE is quick, ci, command, not all/);
  });
});
