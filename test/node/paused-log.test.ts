// tier: full
/**
 * Nothing that reads, or does not read, the output of a node stops it (MCH-01), and standard error holds lines of JSON
 * whatever strangers do (MCH-07): whole nodes with pipes that are never read, full disks and closed ends.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../support/bare-environment.ts';
import { cueEnvironment, giveCue } from '../support/fault-cue.ts';
import { metricOf, operator } from '../support/node-process.ts';
import { aMoment, eventually, SLOWEST } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const FAULTY = fileURLToPath(new URL('../support/faulty-node-main.js', import.meta.url));

const CALLS_AT_ONCE = 20;
const ATTEMPTS_MAX = 3;
const UPGRADE =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
/** A connection that is upgraded, or waits for more, is left after this. */
const LEFT_AFTER_MS = 60;

/** Sends bytes on a connection of its own, and leaves it. */
async function sent(address: string, bytes: string): Promise<void> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.on('connect', () => socket.write(bytes, 'latin1'));
  socket.resume();
  await Promise.race([new Promise((resolve) => socket.once('close', resolve)), aMoment(LEFT_AFTER_MS)]);
  socket.destroy();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : assert.fail('a port');
}

/** A node whose standard streams go where the shell sends them. */
class ShellNode {
  readonly child: ChildProcess;
  readonly ops: string;
  readonly mds: string;
  readonly oms: string;
  readonly home: string;
  readonly ended: Promise<number | string>;

  private constructor(child: ChildProcess, home: string, ports: readonly number[]) {
    this.child = child;
    this.home = home;
    this.ops = `http://127.0.0.1:${ports[0]}`;
    this.mds = `http://127.0.0.1:${ports[1]}`;
    this.oms = `http://127.0.0.1:${ports[2]}`;
    this.ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown')));
  }

  /** @param redirections of bash; `$HOME_OF_TEST` is a directory. Begins anew where another process took a port. */
  static async start(redirections: string, program: string = CLI, env: NodeJS.ProcessEnv = {}): Promise<ShellNode> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ShellNode.#startOnce(redirections, program, env);
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  static async #startOnce(redirections: string, program: string, env: NodeJS.ProcessEnv): Promise<ShellNode> {
    const home = temporaryDirectory();
    const ports = [await freePort(), await freePort(), await freePort()];
    const child = spawn('bash', ['-c', `exec "$@" ${redirections}`, 'bash', process.execPath, program, 'start'], {
      stdio: 'ignore',
      env: {
        ...bareEnvironment(),
        RINGBOOK_CONFIG: 'dev',
        RINGBOOK_LOG_LEVEL: 'info',
        RINGBOOK_OMS_PORT: `${ports[2]}`,
        RINGBOOK_OPS_PORT: `${ports[0]}`,
        RINGBOOK_MDS_PORT: `${ports[1]}`,
        RINGBOOK_DATA_DIR: join(home, 'data'),
        HOME_OF_TEST: home,
        ...env,
      },
    });
    const node = new ShellNode(child, home, ports);
    started.push(node);
    await eventually(async () => {
      assert.equal(child.exitCode, null, 'it does not end');
      return fetch(`${node.ops}/readyz`).then(
        (reply) => reply.status === 200,
        () => false,
      );
    });
    return node;
  }

  /** Operator calls with audit lines, each of which has to be answered. */
  async calls(count: number): Promise<void> {
    for (let index = 0; index < count; index += CALLS_AT_ONCE) {
      const calls = Array.from({ length: CALLS_AT_ONCE }, () => operator(this, 'PATCH', '/operator/settings', {}));
      for (const { status } of await Promise.all(calls)) assert.ok(status === 200 || status === 400, `${status}`);
    }
  }

  async callsUntilDropped(): Promise<void> {
    for (let count = 0; (await this.dropped()) === 0; count += 100) {
      assert.ok(count < 20_000, 'a bounded buffer drops lines');
      await this.calls(100);
    }
  }

  dropped(): Promise<number> {
    return metricOf(this, 'ringbook_log_lines_dropped_total');
  }

  /** @returns how it ended, in milliseconds too. */
  async stop(): Promise<readonly [number | string, number]> {
    const fromMs = performance.now();
    this.child.kill('SIGTERM');
    return [await this.ended, performance.now() - fromMs];
  }
}

const started: ShellNode[] = [];

suite('the output of a node', () => {
  after(() => {
    for (const { child, home } of started) {
      child.kill('SIGKILL');
      removeDirectory(home);
    }
  });

  test('MCH-01: a standard error that nobody reads stops nothing: every call is answered, lines are dropped and counted, SIGTERM ends it with 0', async () => {
    const node = await ShellNode.start('2> >(sleep 600)');
    await node.callsUntilDropped();
    assert.equal((await fetch(`${node.mds}/markets`)).status === 500, false);
    const [how, ms] = await node.stop();
    assert.equal(how, 0);
    assert.ok(ms < SLOWEST * 5_000, `${ms} ms`);
  });

  test('MCH-01: when its reader goes on, the lines come, one says how many are missing, and all are JSON', async () => {
    const node = await ShellNode.start(
      '2> >(while [ ! -e "$HOME_OF_TEST/go" ]; do sleep 0.1; done; cat > "$HOME_OF_TEST/log")',
    );
    await node.callsUntilDropped();
    writeFileSync(join(node.home, 'go'), '');
    const log = (): string => {
      try {
        return readFileSync(join(node.home, 'log'), 'utf8');
      } catch {
        return '';
      }
    };
    await eventually(() => log().includes('log-lines-dropped'));
    assert.equal((await node.stop())[0], 0);
    await eventually(() => log().includes('"event":"stopped"'));
    const lines = log()
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    for (const line of lines) JSON.parse(line);
    const dropped = lines
      .map((line) => JSON.parse(line) as { event?: string; lines?: number })
      .find(({ event }) => event === 'log-lines-dropped');
    assert.ok((dropped?.lines ?? 0) > 0);
  });

  test('MCH-01: a broken invariant ends a node with 70 whose standard error is not read', async () => {
    const cue = join(temporaryDirectory(), 'cue');
    const node = await ShellNode.start('2> >(sleep 600)', FAULTY, cueEnvironment(cue));
    await node.callsUntilDropped();
    const fromMs = performance.now();
    giveCue(cue, 'clearing', 'throws');
    assert.equal(await node.ended, 70);
    assert.ok(performance.now() - fromMs < SLOWEST * 4_000);
  });

  test('MCH-01: a main thread that hangs is killed though standard error is not read', async () => {
    const cue = join(temporaryDirectory(), 'cue');
    const node = await ShellNode.start('2> >(sleep 600)', FAULTY, cueEnvironment(cue));
    await node.callsUntilDropped();
    giveCue(cue, 'main', 'loops');
    assert.equal(await node.ended, 'SIGKILL');
  });

  for (const [what, redirections] of [
    ['a full disk', '1>/dev/full 2>/dev/full'],
    ['a closed reader', '1> >(true) 2> >(true)'],
    ['closed streams', '1>&- 2>&-'],
    ['a standard output that nobody reads', '1> >(sleep 600) 2>/dev/null'],
  ] as const) {
    test(`MCH-01: ${what} stops nothing`, async () => {
      const node = await ShellNode.start(redirections);
      await node.calls(300);
      if (what === 'a full disk') assert.ok((await node.dropped()) >= 300);
      assert.equal((await node.stop())[0], 0);
    });
  }

  test('MCH-07: every line of standard error is JSON but the welcome of dev, whatever strangers send', async () => {
    const node = await ShellNode.start('2>"$HOME_OF_TEST/log"', CLI, { RINGBOOK_LOG_LEVEL: 'trace' });
    const paths = [
      '/ws',
      '/market-data',
      '/market-data/v1',
      '/orders',
      '/control',
      '/account',
      '/nope',
      '/%zz',
      '/readyz',
    ];
    const heads = [
      UPGRADE,
      '',
      'x_y: 1\r\n',
      'content-length: 9\r\n',
      'transfer-encoding: chunked\r\n',
      `x: ${'y'.repeat(20_000)}\r\n`,
    ];
    const addresses = [node.oms, node.mds, node.ops];
    for (const address of addresses) {
      for (const method of ['GET', 'POST', 'PATCH']) {
        for (const path of paths) {
          await Promise.all(heads.map((head) => sent(address, `${method} ${path} HTTP/1.1\r\nhost: a\r\n${head}\r\n`)));
        }
      }
      await sent(address, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03');
      // One after the other, so that no other socket is open: the late upgrades of issue 30.
      for (let index = 0; index < 10; index += 1) await sent(address, `GET /ws HTTP/1.1\r\nhost: a\r\n${UPGRADE}\r\n`);
    }
    assert.equal((await node.stop())[0], 0);
    const lines = readFileSync(join(node.home, 'log'), 'utf8').split('\n');
    const welcomeEnd = lines.findIndex((line) => line.includes('or in a browser'));
    assert.ok(welcomeEnd > 0);
    const foreign = lines.filter((line, index) => line !== '' && !line.startsWith('{') && index > welcomeEnd);
    assert.deepEqual(foreign, []);
    for (const line of lines) if (line.startsWith('{')) JSON.parse(line);
  });

  test('MCH-03: a stop is logged with its reason, its time and what was left', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const node = await ShellNode.start('2>"$HOME_OF_TEST/log"');
      // No debugger listens after it.
      node.child.kill('SIGUSR1');
      await aMoment(200);
      node.child.kill(signal);
      assert.equal(await node.ended, 0);
      const text = readFileSync(join(node.home, 'log'), 'utf8');
      assert.doesNotMatch(text, /Debugger/);
      const line = text.split('\n').find((each) => each.includes('"event":"stopped"'));
      const { why, ms, in_flight, unanswered } = JSON.parse(line ?? '{}') as Record<string, unknown>;
      assert.deepEqual([why, in_flight, unanswered, typeof ms], [signal, 0, 0, 'number']);
    }
  });
});
