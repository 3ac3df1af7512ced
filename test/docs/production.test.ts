// tier: full, 13 s
/**
 * docs/production.md does what it says: its commands, in their order and in one shell, lead from an empty directory to a production
 * node with an EVM chain, a confirmed trade, a backup, a restore and an orderly end.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { must } from '../../src/core/assert.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { examplesOf } from '../support/doc-runner.ts';
import { CLI } from '../support/ringbook-command.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'docs/production.md';
const PATH_MS_MAX = 300_000;
const lacksTools = ['bash', 'curl', 'openssl', 'npm'].some((name) => spawnSync(name, ['--help']).error !== undefined);

/** Ports that are free now, and that a script can name before a node has them. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** All commands of the page; the two that are not in a test install it, and are the supervisor's. */
function commands(): string {
  const shell = examplesOf(PAGE).filter(({ words }) => words[0] === 'sh');
  const left = shell.filter(({ notRun }) => notRun !== null);
  assert.deepEqual(
    left.map(({ notRun }) => notRun),
    ['installs, and writes to the system'],
  );
  return shell
    .filter(({ notRun }) => notRun === null)
    .map(({ line, text }) => `echo "# ${PAGE}:${line}"\n${text}`)
    .join('\n');
}

suite('from zero to production', { skip: lacksTools }, () => {
  const root = temporaryDirectory();
  const home = join(root, 'home');
  const bin = join(root, 'bin');
  let shell: ReturnType<typeof spawn> | null = null;

  after(() => {
    // Whatever the script has started and not ended.
    try {
      if (shell?.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
    removeDirectory(root);
  });

  test('every command of docs/production.md succeeds, in its order, up to an orderly end', async () => {
    mkdirSync(home);
    mkdirSync(bin);
    symlinkSync(CLI, join(bin, 'ringbook'));
    chmodSync(CLI, 0o755);
    const script = join(root, 'script.sh');
    writeFileSync(script, `set -eu\n${commands()}\necho "# end"\n`);
    const [oms = 0, mds = 0, ops = 0] = await freePorts(3);
    shell = spawn('bash', [script], {
      cwd: home,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...bareEnvironment(),
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        CLONE: process.cwd(),
        OPS: `http://127.0.0.1:${ops}`,
        RINGBOOK_OMS_PORT: `${oms}`,
        RINGBOOK_MDS_PORT: `${mds}`,
        RINGBOOK_OPS_PORT: `${ops}`,
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
    const log = (): string => readFileSync(join(home, 'node.log'), 'utf8');
    assert.equal(code, 0, `${output.slice(-4_000)}\n${output.includes('node.log') ? log() : ''}`);
    assert.match(output, /# end\n$/);
    const group = -must(shell.pid, 'the shell ran');
    assert.throws(() => process.kill(group, 0), { code: 'ESRCH' }, 'what the page starts it also ends');
  });

  test('the restored backup is the state that the node had, and the fees are of the trade', () => {
    const audit = (name: string): Audit => JSON.parse(readFileSync(join(home, name), 'utf8')) as Audit;
    const restored = audit('restored.json');
    const drained = audit('drained.json');
    assert.ok(restored.sequence > 0 && restored.sequence <= drained.sequence);
    if (restored.sequence === drained.sequence) assert.equal(restored.state_hash, drained.state_hash);
    assert.match(readFileSync(join(home, 'bob.out'), 'utf8'), /^Confirmed +0\.5 at 3000, fee 0\.675 USD/m);
    assert.match(readFileSync(join(home, 'metrics.txt'), 'utf8'), /^ringbook_holdings_deviation\{asset="0"\} 0$/m);
  });
});

interface Audit {
  readonly sequence: number;
  readonly state_hash: string;
}
