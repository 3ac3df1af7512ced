// tier: full, 3 s
/** The progress that long commands print. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ProgressReport } from '../../src/cli/data-progress.ts';
import { upgradeData } from '../../src/tools/upgrade-data.ts';
import { oldData } from '../support/old-data.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

class Watched {
  nowMs = 0;
  text = '';
  readonly report: ProgressReport;

  constructor(isTerminal: boolean, isAsked: boolean) {
    this.report = new ProgressReport({
      isTerminal,
      isAsked,
      write: (text) => {
        this.text += text;
      },
      nowMs: () => this.nowMs,
    });
  }

  at(nowMs: number, ...args: Parameters<ProgressReport['report']>): void {
    this.nowMs = nowMs;
    this.report.report(...args);
  }
}

suite('progress', () => {
  test('it prints what is done, of how much, how fast, and what is left, for each step by itself', () => {
    const log = new Watched(false, true);
    log.at(0, 'verifying', 0, 400);
    log.at(2_000, 'verifying', 100, 400);
    log.at(2_500, 'verifying', 150, 400);
    log.at(4_000, 'replaying', 1_000, 3_000);
    log.at(5_000, 'replaying', 1_500, 3_000);
    log.at(6_500, 'copying', 7, 0);
    log.at(7_500, 'copying', 9, 0);
    log.report.end();
    assert.deepEqual(log.text.split('\n'), [
      'verifying: 0 of 400 (0 %)',
      'verifying: 100 of 400 (25 %), 50/s, 6 s left',
      'verifying: 150 of 400 (37 %), 38/s, 7 s left',
      'replaying: 1500 of 3000 (50 %), 500/s, 3 s left',
      'copying: 7',
      'copying: 9, 2/s',
      '',
    ]);
  });

  test('a terminal has one line that is written over, at most ten times a second, and ended', () => {
    const terminal = new Watched(true, false);
    for (let ms = 0; ms < 1_000; ms += 1) terminal.at(ms, 'loading', ms, 1_000);
    terminal.report.end();
    assert.equal(terminal.text.split('\r\u001b[K').length - 1, 10);
    assert.equal(terminal.text.split('\n').length - 1, 1);
    assert.ok(terminal.text.endsWith('\n'));
  });

  test('where there is no terminal nothing is printed by default', () => {
    const quiet = new Watched(false, false);
    quiet.at(0, 'loading', 1, 2);
    quiet.at(5_000, 'loading', 2, 2);
    quiet.report.end();
    assert.equal(quiet.text, '');
  });

  test('every command about a data directory has --progress, and is quiet without', async () => {
    const home = temporaryDirectory();
    const { directory } = oldData(6);
    const run = (...args: string[]): string => {
      const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      return stderr;
    };
    assert.match(
      run('upgrade', directory, '--progress'),
      /^verifying: \d+ of \d+.*\n(?:upgrading: \d+.*\n)+verifying.*\nloading/,
    );
    assert.equal(await upgradeData(directory, () => undefined), null);
    assert.match(run('verify', directory, '--progress'), /^verifying: \d+ of \d+ .*\nloading: \d+ of \d+/);
    assert.equal(run('verify', directory), '');
    assert.match(run('backup', directory, join(home, 'copy'), '--progress'), /^copying: \d+ of \d+/);
    assert.match(run('prune', directory, '--progress'), /\npruning\b/);
    assert.match(run('export', directory, 'journal', '--progress'), /^exporting: 1 of 1 /);
  });
});
