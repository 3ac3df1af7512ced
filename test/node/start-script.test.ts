// tier: full, 6 s
/** `npm start` as a supervisor has it: a signal to what it started reaches the node (MCH-03). */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { bareEnvironment } from '../support/bare-environment.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

/** The script as npm hands it to `sh -c`, without the build. */
function startScript(): string {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const [build, ...rest] = scripts.start.split(' && ');
  assert.equal(build, 'npm run -s build');
  return rest.join(' && ');
}

suite('npm start', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`MCH-03: ${signal} to the shell of npm start drains the node and leaves no orphan`, async () => {
      const directory = temporaryDirectory();
      const shell = spawn('sh', ['-c', `true && ${startScript()}`], {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: {
          ...bareEnvironment(),
          RINGBOOK_OMS_PORT: '0',
          RINGBOOK_MDS_PORT: '0',
          RINGBOOK_OPS_PORT: '0',
          RINGBOOK_DATA_DIR: directory,
        },
      });
      let ready = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => {
        ready += text;
      });
      const ended = new Promise((resolve) => shell.once('exit', (code, by) => resolve(code ?? by)));
      await eventually(() => ready.includes('\n'));
      const { pid } = JSON.parse(ready) as { readonly pid: number };
      shell.kill(signal);
      assert.equal(await ended, 0);
      await eventually(() => !existsSync(`/proc/${pid}`));
      removeDirectory(directory);
    });
  }

  const skip =
    spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0 ? false : 'no program makes a terminal';
  test('MCH-03: a terminal that is closed drains the node, which ends in order', { skip }, async () => {
    const home = temporaryDirectory();
    // The leader of the session of the terminal is told that it is gone.
    const command = `exec ${process.execPath} dist/src/cli/main.js start 2>${home}/log`;
    const terminal = spawn('script', ['-qfc', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {
        ...bareEnvironment(),
        RINGBOOK_OMS_PORT: '0',
        RINGBOOK_MDS_PORT: '0',
        RINGBOOK_OPS_PORT: '0',
        RINGBOOK_DATA_DIR: join(home, 'data'),
      },
    });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    await eventually(() => shown.includes('"event":"ready"'));
    terminal.kill('SIGKILL');
    const pid = /"pid":([0-9]+)/.exec(shown)?.[1] ?? assert.fail(shown);
    await eventually(() => !existsSync(`/proc/${pid}`));
    const log = readFileSync(join(home, 'log'), 'utf8');
    assert.match(log, /"event":"stopped","why":"SIGHUP"/);
    // Node aborts at its exit where the terminal is gone, if it is left to reset its modes.
    assert.doesNotMatch(log, /Assertion|Check failed/);
    removeDirectory(home);
  });
});
