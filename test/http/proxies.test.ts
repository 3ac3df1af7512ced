// tier: full
/**
 * What the native server does not answer, through the proxies whose configurations are in `config` (MCH-05): HTTP/1.0, header names
 * with underscores, chunk extensions and trailers, a client that closes its half. Each runs where its program is installed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import WebSocket from 'ws';
import { accepted } from '../../src/core/outcome.ts';
import { MDS_LAG } from '../../src/http/uws-socket.ts';
import { listenWith } from '../support/listeners.ts';
import { eventually } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const listener = listenWith(({ routes, hub }) => {
  routes.add({ method: 'GET', pattern: '/echo', query: null, handler: (call) => call.reply('"got"') });
  routes.add({
    method: 'POST',
    pattern: '/echo',
    query: null,
    handler: (call, body) => call.reply(JSON.stringify(Buffer.from(body).toString())),
  });
  hub.add<null>({
    pattern: '/stream',
    lag: MDS_LAG,
    admit: () => accepted(null),
    opened: (socket) => socket.send(Buffer.from('"welcome"')),
    closed: () => undefined,
  });
});

interface Proxy {
  readonly program: string;
  readonly file: string;
  /** @param path of the configuration. */
  readonly args: (path: string) => readonly string[];
  /** HAProxy passes on the version and the trailers of a request as they are. */
  readonly rewrites: boolean;
}

const PROXIES: readonly Proxy[] = [
  {
    program: 'nginx',
    file: 'nginx.conf',
    args: (path) => ['-e', 'stderr', '-g', `daemon off; pid ${path}.pid;`, '-c', path],
    rewrites: true,
  },
  { program: 'haproxy', file: 'haproxy.cfg', args: (path) => ['-db', '-f', path], rewrites: false },
];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Everything the proxy answers to these bytes. @param ends whether the client closes its half after them. */
function exchange(port: number, request: string, ends = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      if (!ends && text.includes('"') && text.endsWith('"')) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(text));
    if (ends) socket.end(request, 'latin1');
    else socket.write(request, 'latin1');
  });
}

for (const { program, file, args, rewrites } of PROXIES) {
  const skip = spawnSync(program, ['-v']).status === 0 ? false : `${program} is not installed`;
  const passedOn = rewrites ? false : `${program} passes it on`;
  suite(`the listener behind ${program}`, { skip }, () => {
    let proxy: ChildProcess;
    let port = 0;
    let log = '';

    before(async () => {
      port = await freePort();
      const text = readFileSync(join('config', file), 'utf8');
      assert.ok(text.includes('127.0.0.1:8080') && text.includes('127.0.0.1:3032'));
      const path = join(temporaryDirectory(), file);
      writeFileSync(
        path,
        text.replace('127.0.0.1:8080', `127.0.0.1:${port}`).replace('127.0.0.1:3032', `127.0.0.1:${listener.port}`),
      );
      proxy = spawn(program, args(path), { stdio: ['ignore', 'ignore', 'pipe'] });
      proxy.stderr?.on('data', (data: Buffer) => {
        log += data.toString();
      });
      const answers = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${port}/echo`).then(
          ({ ok }) => ok,
          () => false,
        );
      await eventually(
        async () => proxy.exitCode !== null || (await answers()),
        () => log,
      );
      assert.equal(proxy.exitCode, null, log);
    });
    after(() => {
      proxy?.kill('SIGTERM');
    });

    test('a request of HTTP/1.0, with Host and without, is answered', { skip: passedOn }, async () => {
      assert.match(await exchange(port, 'GET /echo HTTP/1.0\r\nHost: x\r\n\r\n'), /^HTTP\/1\.[01] 200 .*"got"$/s);
      assert.match(await exchange(port, 'GET /echo HTTP/1.0\r\n\r\n'), /^HTTP\/1\.[01] 200 .*"got"$/s);
    });

    test('a header name with an underscore does not end the connection', async () => {
      const text = await exchange(port, 'GET /echo HTTP/1.1\r\nHost: x\r\nx_request_id: 1\r\n\r\n');
      assert.match(text, /^HTTP\/1\.1 200 .*"got"/s);
    });

    test('chunk extensions and trailers are ignored', { skip: passedOn }, async () => {
      const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      const text = await exchange(port, `${head}3;name=value\r\nhel\r\n2\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 200 .*"hello"/s);
    });

    test('a client that has closed its half gets its answer', async () => {
      const text = await exchange(port, 'GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', true);
      assert.match(text, /^HTTP\/1\.1 200 .*"got"/s);
    });

    test('a first line in two packets is one request', async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const answer = new Promise<string>((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())));
      socket.write('GET /ec');
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.write('ho HTTP/1.1\r\nHost: x\r\n\r\n');
      assert.match(await answer, /^HTTP\/1\.1 200 /);
      socket.destroy();
    });

    test('a stream opens, and its frames come through', async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`);
      const frame = await new Promise<string>((resolve, reject) => {
        socket.once('message', (data) => resolve(String(data)));
        socket.once('error', reject);
      });
      assert.equal(frame, '"welcome"');
      socket.terminate();
    });
  });
}
