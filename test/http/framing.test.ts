// tier: quick
/**
 * Where a request begins and ends: every cut of it between packets, lengths that can be read in two ways, versions of the
 * WebSocket protocol (wire.md 1, AMB-97; RFC 9112 6.3, 11.2; RFC 6455 4.4).
 *
 * The native server for Node 20 answers a request line that is cut between packets with 505 (uWebSockets issue 1776);
 * those for Node 22 and later have the correction. docs/operating.md has the consequence for a proxy.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { accepted } from '../../src/core/outcome.ts';
import type { HttpCall } from '../../src/http/uws-http.ts';
import { MDS_LAG } from '../../src/http/uws-socket.ts';
import { frameBytes, OPCODE, RawSocket } from '../fuzz/raw-socket.ts';
import { ask, askUpgrade } from '../support/edge-client.ts';
import { listenWith, RouteListener } from '../support/listeners.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** The first version of Node's binary interface with the correction in its native server. */
const CORRECTED_SINCE = 127;
const cutsRequestLines = Number(process.versions.modules) >= CORRECTED_SINCE;
const handled: string[] = [];
const listener = listenWith(({ routes, hub }) => {
  const echo = (call: HttpCall, body: Uint8Array): void => {
    handled.push(`${call.head.method} ${call.head.query}`);
    call.reply(JSON.stringify({ query: call.head.query, body: Buffer.from(body).toString() }));
  };
  routes.add({ method: 'GET', pattern: '/echo', query: null, handler: echo });
  routes.add({ method: 'POST', pattern: '/echo', query: null, handler: echo });
  routes.add({
    method: 'POST',
    pattern: '/later',
    handler: async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      call.reply('"later"');
    },
  });
  hub.add<null>({
    pattern: '/stream',
    lag: MDS_LAG,
    admit: () => accepted(null),
    opened: () => undefined,
    closed: () => undefined,
  });
});

/** Sends parts, the second when the first has surely been read, and reads until the other side is silent or closes. */
function send(parts: readonly string[], until: RegExp): Promise<{ readonly text: string; readonly isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', noDelay: true });
    let text = '';
    const done = (isClosed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, isClosed });
    };
    const timer = setTimeout(() => done(false), 2_000);
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      if (until.test(text)) done(false);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(true));
    socket.once('connect', () => {
      const [first = '', ...rest] = parts;
      socket.write(first, 'latin1');
      const write = (index: number): void => {
        const part = rest[index];
        if (part === undefined) return;
        setTimeout(() => {
          if (!socket.destroyed) socket.write(part, 'latin1');
          write(index + 1);
        }, 4);
      };
      write(0);
    });
  });
}

const CLOSED_BY_SERVER = /never matches\0/;

suite('a request that is cut between packets', () => {
  test('is answered like a whole one, wherever it is cut, but for its first line on Node 20 (wire.md 1)', async () => {
    const line = 'POST /echo?a=1 HTTP/1.1\r\n';
    const whole = `${line}Host: x\r\nContent-Length: 5\r\n\r\nhello`;
    const answers = await Promise.all(
      Array.from({ length: whole.length - 1 }, (_, index) =>
        send([whole.slice(0, index + 1), whole.slice(index + 1)], /"body":"hello"\}|505/),
      ),
    );
    answers.forEach(({ text }, index) => {
      const isInLine = index + 1 < line.length;
      if (isInLine && !cutsRequestLines) assert.match(text, /^HTTP\/1\.1 (505|200)/, `cut at ${index + 1}`);
      else assert.match(text, /^HTTP\/1\.1 200 OK.*"body":"hello"/s, `cut at ${index + 1}`);
    });
  });

  test('a chunked body too, and one in three pieces', async () => {
    const whole =
      'POST /echo?a=2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n';
    const first = whole.indexOf('Host');
    const cuts = Array.from({ length: whole.length - first - 1 }, (_, index) => first + index);
    const answers = await Promise.all(
      cuts.map((cut) =>
        send([whole.slice(0, cut), whole.slice(cut, cut + 1), whole.slice(cut + 1)], /"body":"hello"\}/),
      ),
    );
    for (const { text } of answers) assert.match(text, /^HTTP\/1\.1 200 OK/);
  });
});

suite('a request whose end is uncertain', () => {
  const inner = 'GET /echo?inner HTTP/1.1\r\nHost: x\r\n\r\n';
  const ambiguous: readonly (readonly [string, string])[] = [
    ['two lengths', `Content-Length: 0\r\nContent-Length: ${inner.length}`],
    ['two lengths, the first empty', `Content-Length:\r\nContent-Length: ${inner.length}`],
    ['an unknown coding', 'Transfer-Encoding: gzip'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
    ['a coding before chunked', 'Transfer-Encoding: gzip, chunked'],
    ['an obscured coding', 'Transfer-Encoding: xchunked'],
    ['a length and a coding', 'Content-Length: 4\r\nTransfer-Encoding: chunked'],
    ['an empty length', 'Content-Length: '],
    ['a signed length', 'Content-Length: +4'],
    ['a list of lengths', 'Content-Length: 4, 4'],
  ];

  for (const [name, headers] of ambiguous) {
    test(`${name}: 400, the connection closes, and nothing behind it is read (RFC 9112 6.3, 11.2)`, async () => {
      handled.length = 0;
      const head = `POST /echo?outer HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`;
      const alone = await send([head], CLOSED_BY_SERVER);
      assert.match(alone.text, /^HTTP\/1\.1 400 /);
      assert.ok(alone.isClosed, 'the connection ends');
      const body = headers.includes('chunked') || headers.includes('gzip') ? '0\r\n\r\n' : '';
      for (const parts of [[`${head}${body}${inner}`], [head, `${body}${inner}`]]) {
        const { text, isClosed } = await send(parts, CLOSED_BY_SERVER);
        assert.ok(isClosed, 'the connection ends');
        assert.doesNotMatch(text, / 200 /);
      }
      assert.deepEqual(handled, []);
    });
  }

  test('one that comes behind an unanswered one ends the connection, as documented', async () => {
    const order = 'POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
    assert.match((await send([order], /later/)).text, /200 OK/);
    const both = await send([order + inner], CLOSED_BY_SERVER);
    assert.ok(both.isClosed);
    assert.equal(both.text, '');
  });
});

suite('a head that says two things, or a body that is coded (MCH-05)', () => {
  test('two Host headers are 400', async () => {
    const { text } = await send(['GET /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'], /"code"/);
    assert.match(text, /^HTTP\/1\.1 400 .*"INVALID_REQUEST".*"field":"host"/s);
  });

  test('a Content-Encoding other than identity is 415, and its body is not handled', async () => {
    handled.length = 0;
    const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Encoding: ';
    for (const coding of ['gzip', 'br', 'identity, gzip', 'x']) {
      const { text } = await send([`${head}${coding}\r\n\r\nhello`], /"code"/);
      assert.match(text, /^HTTP\/1\.1 415 .*"UNSUPPORTED_MEDIA_TYPE"/s, coding);
    }
    assert.deepEqual(handled, []);
    for (const coding of ['identity', 'Identity', '']) {
      const { text } = await send([`${head}${coding}\r\n\r\nhello`], /"body":"hello"\}/);
      assert.match(text, /^HTTP\/1\.1 200 /, coding);
    }
  });
});

suite('a body that is too long', () => {
  test('chunked and never ending: 413 when its time is over, not 504 (AMB-124)', async () => {
    const own = new RouteListener();
    own.routes.add({
      method: 'POST',
      pattern: '/short',
      bodyBytesMax: 16,
      deadlineMs: 100,
      handler: (call) => call.reply('1'),
    });
    const at = await own.open();
    const text = await new Promise<string>((resolve) => {
      const socket = connect(at, '127.0.0.1');
      let got = '';
      socket.on('data', (data: Buffer) => {
        got += data.toString('latin1');
      });
      socket.on('close', () => resolve(got));
      socket.write(`POST /short HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n${'x'.repeat(32)}\r\n`);
    });
    assert.match(text, /^HTTP\/1\.1 413 .*"PAYLOAD_TOO_LARGE"/s);
    own.close();
  });
});

suite('the version of the WebSocket protocol', () => {
  test('other than 13 is 426 and names 13; 13 is upgraded (RFC 6455 4.4)', async () => {
    for (const version of ['12', '8', '0', '13, 12', 'x']) {
      const { status, headers, text } = await askUpgrade(listener.port, '/stream', {
        'sec-websocket-version': version,
      });
      assert.deepEqual([status, headers['sec-websocket-version']], [426, '13'], version);
      assert.equal(JSON.parse(text).error.code, 'UPGRADE_REQUIRED');
    }
    const plain = await ask(listener.port, '/stream');
    assert.deepEqual([plain.status, plain.headers.upgrade], [426, 'websocket']);
  });
});

suite('a message of a socket that is not completed', () => {
  const MESSAGE_BYTES_MAX = 2_097_152;

  async function open(): Promise<RawSocket> {
    const socket = await RawSocket.open(listener.port, '/stream', []);
    assert.ok(socket !== null);
    return socket;
  }

  test('is held up to 2 MiB; a longer one closes its socket with its head, before its bytes have come', async () => {
    const within = await open();
    const beyond = await open();
    const text = { opcode: OPCODE.text };
    within.write(frameBytes(new Uint8Array(1_000), { ...text, announced: BigInt(MESSAGE_BYTES_MAX) }));
    beyond.write(frameBytes(new Uint8Array(0), { ...text, announced: BigInt(MESSAGE_BYTES_MAX + 1) }));
    assert.ok(await beyond.until(() => beyond.isClosed, PATIENCE_MS));
    assert.equal(within.isClosed, false);
    within.destroy();
  });

  test('in pieces is held up to the same length', async () => {
    const socket = await open();
    const piece = new Uint8Array(500_000);
    socket.write(frameBytes(piece, { opcode: OPCODE.text, isFinal: false }));
    for (let count = 0; count < 3; count += 1) {
      socket.write(frameBytes(piece, { opcode: OPCODE.continuation, isFinal: false }));
    }
    // The pong shows that 2,000,000 bytes were read.
    socket.write(frameBytes(new Uint8Array(0), { opcode: OPCODE.ping }));
    assert.ok(await socket.until(() => socket.frames.some(({ opcode }) => opcode === OPCODE.pong), PATIENCE_MS));
    assert.equal(socket.isClosed, false);
    socket.write(frameBytes(piece, { opcode: OPCODE.continuation, isFinal: false }));
    assert.ok(await socket.until(() => socket.isClosed, PATIENCE_MS));
  });
});
