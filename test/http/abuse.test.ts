// tier: quick, 6 s
/**
 * What is no request, or only half of one, over raw sockets: a clear answer or the end of the connection, and the next
 * client is served as ever.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { afterEach, suite, test } from 'node:test';
import { HEAD_BYTES_MAX } from '../../src/http/uws.ts';
import type { HttpCall } from '../../src/http/uws-http.ts';
import { ask } from '../support/edge-client.ts';
import { listenWith } from '../support/listeners.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';

const SHORT_MS = 150;
const listener = listenWith(({ routes, hub }) => {
  const echo = (call: HttpCall, body: Uint8Array): void => call.reply(JSON.stringify({ bytes: body.length }));
  routes.add({ method: 'GET', pattern: '/here', handler: echo });
  routes.add({ method: 'POST', pattern: '/here', handler: echo, deadlineMs: SHORT_MS });
  routes.add({ method: 'POST', pattern: '/patient', handler: echo, deadlineMs: PATIENCE_MS });
  // The hub counts connections from the first on.
  assert.equal(hub.connectionCount, 0);
});
afterEach(async () => {
  const { status, text } = await ask(listener.port, '/here');
  assert.deepEqual([status, text], [200, '{"bytes":0}'], 'the next client is served');
  assert.equal(listener.routes.pendingCount, 0);
});

interface Told {
  /** First line, then the body. */
  readonly status: string;
  readonly body: string;
}

/** Sends parts, each in a segment of its own, and reads until the other side ends the connection. */
function send(...parts: readonly string[]): Promise<Told> {
  return new Promise((resolve) => {
    const socket = connect(listener.port, '127.0.0.1');
    socket.setNoDelay(true);
    let text = '';
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n', 2);
      resolve({ status: head.split('\r\n', 1)[0] ?? '', body });
    });
    const write = (index: number): void => {
      const part = parts[index];
      if (part === undefined || socket.destroyed) return;
      socket.write(part, 'latin1', () => setTimeout(() => write(index + 1), 5));
    };
    socket.once('connect', () => write(0));
  });
}

const codeOf = ({ body }: Told): string => JSON.parse(body).error.code;
const CLOSE = 'Connection: close\r\n';

suite('what is no request', () => {
  test('another protocol, an old version, contradicting lengths: 400 or 505, and the connection ends', async () => {
    for (const [bytes, status] of [
      ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', /^HTTP\/1\.1 (400|505)/],
      ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /505/],
      ['GET /here HTTP/1.0\r\nHost: x\r\n\r\n', /505/],
      ['POST /here HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', /400/],
      ['POST /here HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', /400/],
      ['POST /here HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n', /400|504/],
    ] as const) {
      assert.match((await send(bytes)).status, status, JSON.stringify(bytes));
    }
  });

  test('a head far above the limit that comes in pieces: 431 of the native server, and the connection ends', async () => {
    const filler = 'a'.repeat(HEAD_BYTES_MAX);
    const parts = [`x-filler: ${filler}`, filler, filler, '\r\n\r\n'];
    const { status } = await send('GET /here HTTP/1.1\r\nHost: x\r\n', ...parts);
    assert.match(status, /431/);
  });

  test('a head above the limit that comes at once: 431 with the envelope', async () => {
    const filler = 'a'.repeat(HEAD_BYTES_MAX);
    const told = await send(`GET /here HTTP/1.1\r\nHost: x\r\nx: ${filler}\r\n${CLOSE}\r\n`);
    assert.match(told.status, /431/);
    assert.equal(codeOf(told), 'HEADERS_TOO_LARGE');
  });

  test('unknown methods and paths have the envelope, 404 or 405, HEAD is GET without its body', async () => {
    assert.equal(codeOf(await send(`BREW /here HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`)), 'METHOD_NOT_ALLOWED');
    assert.equal(codeOf(await send(`OPTIONS /here HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`)), 'METHOD_NOT_ALLOWED');
    assert.equal(codeOf(await send(`GET /nowhere/%ff HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`)), 'NOT_FOUND');
    assert.equal(codeOf(await send(`GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`)), 'NOT_FOUND');
    const head = await send(`HEAD /here HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`);
    assert.match(head.status, /200/);
    assert.equal(head.body, '');
  });
});

suite('half of a request', () => {
  test('a body that does not arrive in time is answered 504 and its connection ends', async () => {
    const told = await send('POST /here HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n', 'abc');
    assert.match(told.status, /504/);
    assert.equal(codeOf(told), 'TIMEOUT');
    assert.match(told.body, /body did not arrive/);
  });

  test('a body in very many pieces is whole, as long as it is in time', async () => {
    const told = await send(`POST /patient HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n${CLOSE}\r\n`, ...'0123456789');
    assert.equal(told.body, '{"bytes":10}');
  });

  test('a body far above the limit is refused by its length alone', async () => {
    const told = await send('POST /here HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n');
    assert.match(told.status, /413/);
    assert.equal(codeOf(told), 'PAYLOAD_TOO_LARGE');
  });

  test('connections that send nothing, or stop in their head, are counted and closed within seconds, unanswered', async () => {
    const before = listener.hub.connectionCount;
    const silent = [...Array.from({ length: 20 }, () => send()), send('GET /here HTTP/1.1\r\nHo')];
    await eventually(() => listener.hub.connectionCount >= before + 21);
    for (const told of await Promise.all(silent)) assert.equal(told.status, '');
    await eventually(() => listener.hub.connectionCount <= before);
  });
});
