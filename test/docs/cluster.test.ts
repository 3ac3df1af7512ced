// tier: full, 60 s
/**
 * docs/cluster.md does what it says: its commands, in their order and in one shell, set up three NATS servers and two nodes of
 * production on three loopback addresses, hand over, kill the leader, and stop. Skipped where no server can be had.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { ALERTS } from '../../src/client/page/alerts.ts';
import { MetricWindow } from '../../src/client/page/metric-window.ts';
import { must } from '../../src/core/assert.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { examplesOf } from '../support/doc-runner.ts';
import { natsServer } from '../support/nats-servers.ts';
import { CLI } from '../support/ringbook-command.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'docs/cluster.md';
const PATH_MS_MAX = 300_000;
const lacksTools = ['bash', 'curl', 'openssl'].some((name) => spawnSync(name, ['--help']).error !== undefined);
const nats = natsServer();

/** Why the commands cannot run here; false where they can. */
function skipped(): string | false {
  if (lacksTools) return 'bash, curl or openssl is missing';
  if (process.platform !== 'linux') return 'other systems answer on one loopback address only';
  return 'missing' in nats ? nats.missing : false;
}

function commands(): string {
  const shell = examplesOf(PAGE).filter(({ words }) => words[0] === 'sh');
  assert.deepEqual(
    shell.flatMap(({ notRun }) => notRun ?? []),
    ['a machine of its own', 'it waits for more'],
  );
  return shell
    .filter(({ notRun }) => notRun === null)
    .map(({ line, text }) => `echo "# ${PAGE}:${line}"\n${text}`)
    .join('\n');
}

/** Three addresses that no other test of this machine has now. */
function machines(): Readonly<Record<string, string>> {
  const at = `127.${64 + (process.pid % 128)}.${(process.pid >> 7) % 256}`;
  return { M1: `${at}.1`, M2: `${at}.2`, M3: `${at}.3` };
}

suite('several machines, as the page sets them up', { skip: skipped() }, () => {
  const root = temporaryDirectory();
  const home = join(root, 'home');
  const bin = join(root, 'bin');
  let shell: ReturnType<typeof spawn> | null = null;

  after(() => {
    try {
      if (shell?.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
    removeDirectory(root);
  });

  test('every command of docs/cluster.md succeeds, in its order, up to an orderly end', async () => {
    mkdirSync(home);
    mkdirSync(bin);
    symlinkSync(CLI, join(bin, 'ringbook'));
    chmodSync(CLI, 0o755);
    const script = join(root, 'script.sh');
    writeFileSync(script, `set -eu\n${commands()}\necho "# end"\n`);
    shell = spawn('bash', [script], {
      cwd: home,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...bareEnvironment(),
        ...machines(),
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        CLONE: process.cwd(),
        NATS_SERVER: 'path' in nats ? nats.path : '',
      },
    });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const code = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve('too long'), PATH_MS_MAX);
      shell?.once('exit', (status, signal) => {
        clearTimeout(timer);
        resolve(status ?? signal);
      });
    });
    const written = (): string =>
      ['machine-1/states', 'machine-1/log', 'machine-2/states', 'machine-2/log']
        .map((name) => `--- ${name}\n${textOf(join(home, name)).slice(-3_000)}`)
        .join('\n');
    assert.equal(code, 0, `${output.slice(-4_000)}\n${written()}`);
    assert.match(output, /# end\n$/);
    const group = -must(shell.pid, 'the shell ran');
    assert.throws(() => process.kill(group, 0), { code: 'ESRCH' }, 'what the page starts it also ends');
  });

  test('the first node led epochs 1 and 3, the second one epoch 2, after a handover that jumped nothing', () => {
    const led = (machine: string): readonly number[] =>
      textOf(join(home, machine, 'states'))
        .split('\n')
        .filter((line) => line.includes('"state":"leading"'))
        .map((line) => (JSON.parse(line) as { readonly epoch: number }).epoch);
    assert.deepEqual([led('machine-1'), led('machine-2')], [[1, 3], [2]]);
  });

  test('on the pages of a leader and of its standby nothing needs attention', () => {
    for (const name of ['leader.prom', 'standby.prom']) {
      const metrics = new MetricWindow(60_000);
      metrics.add(textOf(join(home, name)), 0);
      const found = ALERTS.filter(({ condition }) => condition.judge(metrics, 60_000, 0).length > 0);
      assert.deepEqual(
        found.map((alert) => alert.name),
        [],
        name,
      );
    }
  });

  test('passwords and keys are readable by their owner alone', () => {
    const { stdout } = spawnSync('find', [home, '-perm', '/077', '-type', 'f'], { encoding: 'utf8' });
    assert.equal(stdout, '');
  });
});

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
