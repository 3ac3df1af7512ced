// tier: quick
/** `npm run bench`: what it lists, and what it refuses before anything runs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const BENCH = fileURLToPath(new URL('../../bench', import.meta.url));

function bench(...argv: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(process.execPath, [join(BENCH, 'run.js'), ...argv], { encoding: 'utf8' });
}

suite('npm run bench', () => {
  test('lists every benchmark with a sentence that says what it measures', () => {
    const { status, stdout } = bench('--list');
    assert.equal(status, 0);
    const names = readdirSync(BENCH).flatMap((file) => /^(.+)\.bench\.js$/.exec(file)?.[1] ?? []);
    assert.deepEqual(stdout.match(/^\S+/gm)?.toSorted(), names.toSorted());
    for (const line of stdout.trimEnd().split('\n')) assert.match(line, /^\S+ +\S.{20,}[.?]$/);
  });

  test('has help, and refuses what no benchmark has with exit code 64', () => {
    assert.match(bench('--help').stdout, /^usage: npm run bench/);
    for (const [argv, reason] of [
      [['no-such-benchmark'], /no benchmark matches no-such-benchmark/],
      [['control', '--rounds', '0'], /--rounds takes a whole number/],
      [['--compare', 'a.json'], /--compare takes two results/],
    ] as const) {
      const { status, stderr } = bench(...argv);
      assert.equal(status, 64, argv.join(' '));
      assert.match(stderr, reason);
    }
    const { status, stderr } = bench('control', '--parts', 'rate-7');
    assert.equal(status, 1);
    assert.match(stderr, /control has no part rate-7; it has rate-1000, /);
  });

  test('compares two results', () => {
    const directory = temporaryDirectory();
    try {
      const [a, b] = [join(directory, 'a.json'), join(directory, 'b.json')];
      const result = (value: number): string =>
        JSON.stringify({ name: 'x', rows: [{ label: 'rate', value, unit: '/s' }] });
      writeFileSync(a, result(100));
      writeFileSync(b, result(150));
      const { status, stdout } = bench('--compare', a, b);
      assert.equal(status, 0);
      assert.match(stdout, /rate +100\.0 +150\.0 \/s +1\.500 ×/);
    } finally {
      removeDirectory(directory);
    }
  });
});
