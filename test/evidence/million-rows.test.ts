// tier: full, 190 s
/** A million rows are written in bounded memory, in each format. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TABLE_FORMATS } from '../../src/tools/table-writers.ts';

const CHILD = fileURLToPath(new URL('../support/million-rows-child.js', import.meta.url));
const MIB_MAX = 300;

suite('EXP-02 a million rows', () => {
  for (const format of TABLE_FORMATS) {
    test(`EXP-02 ${format} takes at most ${MIB_MAX} MiB`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [CHILD, format], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      const [rows = 0, mib = 0] = stdout.trim().split(' ').map(Number);
      assert.equal(rows, 1_000_000);
      assert.ok(mib > 0 && mib <= MIB_MAX, `${mib} MiB`);
    });
  }
});
