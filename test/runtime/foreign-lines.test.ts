// tier: quick
/** What is printed to standard error by other means than a logger (MCH-07). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FOREIGN_LINE_MAX, foreignLines } from '../../src/runtime/foreign-lines.ts';
import { aMoment } from '../support/patience.ts';

suite('lines of others on standard error (MCH-07)', () => {
  test('text in any pieces becomes its lines, cut where they are too long, the last one without an end too', async () => {
    const stream = new PassThrough();
    const lines: string[] = [];
    foreignLines(stream, (line) => lines.push(line));
    const umlaut = Buffer.from('ä', 'utf8');
    stream.write('one\ntw');
    stream.write('o\n\n');
    stream.write(umlaut.subarray(0, 1));
    stream.write(umlaut.subarray(1));
    stream.write(`\n${'x'.repeat(3 * FOREIGN_LINE_MAX)}\n`);
    stream.end('last');
    while (lines.at(-1) !== 'last') await aMoment();
    assert.deepEqual(lines, ['one', 'two', 'ä', 'x'.repeat(FOREIGN_LINE_MAX), 'last']);
  });

  test('the console, process.stderr, warnings and workers print nothing of their own', () => {
    const program = fileURLToPath(new URL('../support/printing-main.js', import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    const printed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { readonly printed: string }).printed);
    for (const wanted of ['by the console', 'in two pieces', 'by a worker'])
      assert.ok(printed.includes(wanted), stdout);
    assert.ok(printed.some((line) => line.includes('a warning of the main thread')));
  });
});
