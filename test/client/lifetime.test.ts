// tier: quick, 3 s
/** `close()` of a client ends everything that it has opened: a program ends by itself. And `/control` outlives its connection. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { WebSocket } from 'ws';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { devKey } from '../../src/client/keys.ts';
import { Lifetime } from '../../src/client/lifetime.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';
import { type Answer, startWireServer, withLogin } from '../support/wire-server.ts';

const PROGRAM = fileURLToPath(new URL('../support/closing-program.js', import.meta.url));
const DEPTH = '{"asks":[],"bids":[],"sequence_number":1}';
const REFUSED: Answer = { status: 503, body: '{"error":{"code":"NOT_READY","message":"later","retryable":true}}' };
const hasCode = (code: string) => (error: unknown) => error instanceof RingbookError && error.code === code;

/** @returns what the program printed when it had ended. */
async function ended(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args], { timeout: PATIENCE_MS });
  return stdout.trim();
}

/** Answers reads and opens sockets until `/lose`; actions have no answer. */
async function withService(body: (base: string, sockets: readonly WebSocket[]) => Promise<void>): Promise<void> {
  const sockets: WebSocket[] = [];
  let isLost = false;
  const server = await startWireServer({
    answer: withLogin(({ path }) => {
      if (path === '/lose') {
        isLost = true;
        for (const socket of sockets) socket.terminate();
      }
      return { body: path.startsWith('/marketdepth') ? DEPTH : '{}' };
    }),
    refuse: () => (isLost ? REFUSED : null),
    socket: (socket, path) => {
      sockets.push(socket);
      if (path.startsWith('/orders')) socket.send('{"type":"sequence","timestamp_ns":1,"sequence":0}');
    },
  });
  try {
    await body(server.base, sockets);
  } finally {
    await server.close();
  }
}

suite('the end of a client', () => {
  test('closes streams, books, feeds and /control: the program ends by itself', async () => {
    await withService(async (base) => {
      const endings = await ended(base, 'healthy');
      assert.match(endings, /after CLIENT_CLOSED/);
      assert.match(endings, /events true/, 'an iterator is done');
      assert.match(endings, /action CONNECTION_CLOSED/, 'the outcome of what is in flight is unknown');
    });
  });

  test('ends what waits to connect again', async () => {
    await withService(async (base) => {
      assert.match(await ended(base, 'lost'), /action CONNECTION_CLOSED.*after CLIENT_CLOSED/);
    });
  });

  test('ends requests and handshakes that a service never answers', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endings = await ended(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, 'silent');
    silent.close();
    assert.deepEqual(endings.split(', ').toSorted(), [
      'after CLIENT_CLOSED',
      'handshake CLIENT_CLOSED',
      'request CONNECTION_CLOSED',
    ]);
  });

  test('each thing is ended once, and what is added later at once', () => {
    const lifetime = new Lifetime();
    const seen: string[] = [];
    const first = lifetime.add(() => seen.push('first'));
    lifetime.add(() => seen.push('second'));
    first();
    lifetime.end();
    lifetime.end();
    lifetime.add(() => seen.push('late'));
    assert.deepEqual(seen, ['second', 'late']);
    assert.throws(() => lifetime.check(), hasCode('CLIENT_CLOSED'));
  });
});

suite('/control of one address', () => {
  test('connects again after a loss, until it is closed', async () => {
    await withService(async (base, sockets) => {
      const client = new RingbookClient({ oms: base, key: devKey('a') });
      const reconnected: number[] = [];
      const control = await client.control({ onReconnected: () => void reconnected.push(1) });
      const pending = control.send(client.signCancel('12', 'in-flight'));
      sockets.at(-1)?.terminate();
      await assert.rejects(pending, hasCode('CONNECTION_CLOSED'));
      await assert.rejects(control.send(client.signCancel('12', 'later')), hasCode('CONNECTION_CLOSED'));
      await eventually(() => reconnected.length === 1);
      assert.ok(control.isOpen);
      client.close();
      await eventually(() => !control.isOpen);
    });
  });

  test('with `reconnect: false` it ends with its connection', async () => {
    await withService(async (base, sockets) => {
      const client = new RingbookClient({ oms: base, key: devKey('a') });
      const closed = new Promise<number>((resolve) => {
        void client.control({ reconnect: false, onClosed: ({ code }) => resolve(code) }).then(() => {
          sockets.at(-1)?.terminate();
        });
      });
      assert.equal(await closed, 1006);
      await new Promise((resolve) => setTimeout(resolve, 250));
      assert.equal(sockets.length, 1);
      client.close();
    });
  });
});
