// tier: full, 40 s
/** A leader that is to hand over or to stop, with whatever comes between (cluster.md 7.1, 7.5): a whole node over three real servers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { operator } from '../support/node-process.ts';
import { PlainClient } from '../support/plain-client.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { PlainKey } from '../support/wire-texts.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const program = natsServer();
const skip = 'missing' in program ? program.missing : false;
/** What a drain waits for answers to orders. */
const DRAIN_MS = 5_000;

async function until<T>(what: string, found: () => T | undefined, withinMs = 30_000): Promise<T> {
  const endMs = Date.now() + withinMs;
  for (;;) {
    const value = found();
    if (value !== undefined) return value;
    if (Date.now() > endMs) assert.fail(`not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}

suite('a step-down of a leader', { skip, timeout: 120_000 }, () => {
  let servers: NatsServers;
  let admin: StreamLog;
  let node: ReturnType<typeof spawn>;
  let ports: { readonly oms: string; readonly ops: string };
  const data = temporaryDirectory();
  let stdout = '';
  let ending: number | null | undefined;

  /** @returns the answer, null without one. */
  async function ask(command: object): Promise<unknown> {
    const answer = await admin.request('a', Buffer.from(JSON.stringify(command)), 2_000);
    return answer === null ? null : JSON.parse(Buffer.from(answer).toString());
  }

  /** Starts the node, and waits until it leads. */
  async function start(): Promise<void> {
    stdout = '';
    ending = undefined;
    node = spawn(process.execPath, [CLI, 'start'], {
      env: {
        ...bareEnvironment(),
        ...{ RINGBOOK_OMS_PORT: '0', RINGBOOK_MDS_PORT: '0', RINGBOOK_OPS_PORT: '0' },
        ...{ RINGBOOK_DATA_DIR: data, RINGBOOK_CLUSTER: 'venue', RINGBOOK_NODE: 'a' },
        ...{ RINGBOOK_NATS: servers.addressOf('nats1'), RINGBOOK_NATS_CREDENTIALS_FILE: servers.credentialsOf('node') },
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    node.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    node.once('exit', (code) => {
      ending = code;
    });
    const ready = await until('the node leads', () => stdout.split('\n').find((line) => line.includes('"ready"')));
    ports = JSON.parse(ready) as typeof ports;
  }

  async function login(): Promise<PlainClient> {
    const port = Number(new URL(ports.oms).port);
    const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;
    return new PlainClient(new PlainKey(1), () => ({ oms: port, mds: 0 }), nowNs).login();
  }

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'venue' });
    const credentialsFile = servers.credentialsOf('node');
    // Both ask this server, which goes on; the stream needs another one.
    const address = servers.addressOf('nats1');
    admin = await StreamLog.connect({
      ...{ cluster: 'venue', node: 'admin', servers: [address], credentialsFile },
      ...{ tls: null, dataVersion: '15' },
    });
    for (let tries = 0; ; tries += 1) {
      try {
        await admin.createJournal({ firstSequence: 1, replicas: 3, bytesMax: 1 << 28 });
        break;
      } catch (error) {
        if (tries > 20) throw error;
        await sleep(500);
      }
    }
    await start();
    assert.equal((await operator(ports, 'PATCH', '/operator/settings', { acks: 'durable' })).status, 200);
  });

  after(async () => {
    node?.kill('SIGKILL');
    await admin?.close();
    servers?.close();
  });

  test('to a node that does not follow is refused, and changes nothing', async () => {
    for (const to of ['phantom', 'a', '', 'x'.repeat(100_000)]) {
      const answer = (await ask({ command: 'stepDown', to })) as { readonly ok: boolean };
      assert.equal(answer.ok, false, `to ${to.slice(0, 10)}`);
    }
    admin.askHandover('phantom');
    await sleep(300);
    assert.match(JSON.stringify(await ask({})), /"state":"leading"/);
  });

  test('is done when the servers answer again, where the lease ended while orders were drained', async () => {
    const user = await login();
    for (const name of ['nats2', 'nats3']) servers.pause(name);
    const order = user.create({ id: 'waits-for-the-stream' });
    await sleep(100);
    const asked = ask({ command: 'stepDown', to: null });
    await until('the lease ends', () => (stdout.includes('"stalled"') ? true : undefined));
    await sleep(DRAIN_MS);
    assert.equal((await order).status, 504);
    assert.equal(await asked, null);
    for (const name of ['nats2', 'nats3']) servers.resume(name);
    // Not a leader that takes no orders and keeps its lease.
    assert.equal(await until('the node ends', () => ending), 75);
    assert.match(stdout, /"handing-over"/);
  });

  test('a stop ends it with 0 within seconds where the stream does not answer, with a record on its way (cluster.md 7.1)', async () => {
    await start();
    const user = await login();
    assert.equal((await user.create({ id: 'rests' })).status, 200);
    for (const name of ['nats2', 'nats3']) servers.pause(name);
    const cancel = user.cancel('rests');
    await until('the lease ends', () => (stdout.includes('"stalled"') ? true : undefined));
    // Not ALREADY_CANCELLED: the next leader may have the order open. It is answered as the first one is.
    const again = user.cancel('rests');
    assert.equal((await cancel).status, 504);
    assert.equal((await again).status, 504);
    node.kill('SIGTERM');
    assert.equal(await until('the node ends', () => ending, 15_000), 0);
    for (const name of ['nats2', 'nats3']) servers.resume(name);
  });
});
