// tier: quick
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { BODY_BYTES_MAX, SMALL_BODY_BYTES_MAX } from '../../src/core/limits.ts';
import { reject } from '../../src/core/reject.ts';
import { Query } from '../../src/http/query.ts';
import type { HttpCall } from '../../src/http/uws-http.ts';
import { ask } from '../support/edge-client.ts';
import { listenWith } from '../support/listeners.ts';

const kept: HttpCall[] = [];
const listener = listenWith(({ routes }) => {
  const echo = (call: HttpCall, body: Uint8Array): void => {
    const { method, path, query, parameters, headers } = call.head;
    const sum = body.reduce((total, byte) => (total * 31 + byte) % 1_000_003, 7);
    call.reply(JSON.stringify({ method, path, query, parameters, user: headers['user-id'], bytes: body.length, sum }));
  };
  routes.add({ method: 'POST', pattern: '/echo/:a/:b', query: null, handler: echo, bodyBytesMax: BODY_BYTES_MAX });
  routes.add({ method: 'DELETE', pattern: '/echo/:a/:b', query: null, handler: echo, bodyBytesMax: BODY_BYTES_MAX });
  routes.add({ method: 'PUT', pattern: '/echo/:a/:b', handler: echo });
  routes.add({
    method: 'GET',
    pattern: '/throws',
    handler: () => {
      throw new Error('at once');
    },
  });
  routes.add({
    method: 'GET',
    pattern: '/rejects',
    handler: async () => {
      await Promise.resolve();
      throw new Error('later');
    },
  });
  routes.add({ method: 'GET', pattern: '/silent', handler: (call) => void kept.push(call), deadlineMs: 20 });
  routes.add({
    method: 'GET',
    pattern: '/busy',
    handler: (call) => void kept.push(call),
    deadlineMs: 20,
    late: reject('SERVICE_UNAVAILABLE', 'busy'),
  });
  routes.add({
    method: 'GET',
    pattern: '/refused',
    handler: (call) =>
      call.refuse({ code: 'RATE_LIMITED', message: 'say "no"', field: 'x', details: { limit: 2n ** 63n, name: null } }),
  });
});

const errorOf = (text: string): { code: string; retryable: boolean; trace_id: string; span_id: string } =>
  JSON.parse(text).error;

suite('HTTP on uWebSockets.js', () => {
  test('a handler gets the head decoded and the body whole, DELETE bodies too (wire.md 1)', async () => {
    const body = Buffer.alloc(300_000, 'ringbook');
    const sum = body.reduce((total, byte) => (total * 31 + byte) % 1_000_003, 7);
    for (const method of ['POST', 'DELETE']) {
      const { status, text } = await ask(listener.port, '/echo/a%2Fb/c@d?x=1&y=%20', {
        method,
        body,
        headers: { 'User-Id': 'me' },
      });
      assert.equal(status, 200);
      assert.deepEqual(JSON.parse(text), {
        method,
        path: '/echo/a%2Fb/c@d',
        query: 'x=1&y=%20',
        parameters: ['a/b', 'c@d'],
        user: 'me',
        bytes: 300_000,
        sum,
      });
    }
    assert.equal(JSON.parse((await ask(listener.port, '/echo/a/b', { method: 'POST' })).text).bytes, 0);
  });

  test('a body as long as its route allows is read, one byte more is 413 with the limit, announced or not (AMB-124)', async () => {
    for (const [method, most] of [
      ['POST', BODY_BYTES_MAX],
      ['PUT', SMALL_BODY_BYTES_MAX],
    ] as const) {
      for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }]) {
        const fits = await ask(listener.port, '/echo/a/b', { method, body: Buffer.alloc(most), headers });
        assert.equal(JSON.parse(fits.text).bytes, most);
        const over = await ask(listener.port, '/echo/a/b', { method, body: Buffer.alloc(most + 1), headers });
        assert.equal(over.status, 413);
        assert.equal(errorOf(over.text).code, 'PAYLOAD_TOO_LARGE');
        assert.match(over.text, new RegExp(`at most ${most} bytes`));
      }
    }
    assert.equal(listener.routes.heldBytes, 0);
  });

  test('a body without end is cut off', async () => {
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /echo/a/b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536), Buffer.from('\r\n')]);
    const isClosed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
    const push = (): void => {
      while (!socket.destroyed && socket.write(chunk));
      if (!socket.destroyed) socket.once('drain', push);
    };
    push();
    assert.ok(await isClosed);
  });

  test('two of one security header are refused, whichever comes first', async () => {
    for (const name of ['Authorization', 'User-Id']) {
      const { status, text } = await ask(listener.port, '/echo/a/b', {
        method: 'POST',
        headers: { [name]: ['one', 'two'] },
      });
      assert.equal(status, 400, name);
      assert.equal(errorOf(text).code, 'INVALID_REQUEST');
    }
  });

  test('an exception is 500 for its request, reported once, and nothing else', async () => {
    for (const [path, message] of [
      ['/throws', 'at once'],
      ['/rejects', 'later'],
    ] as const) {
      const { status, text } = await ask(listener.port, path);
      assert.equal(status, 500);
      assert.equal(errorOf(text).code, 'INTERNAL_ERROR');
      assert.ok(!text.includes(message), 'what failed inside is not told');
    }
    assert.deepEqual(listener.reports.failures.splice(0), ['GET /throws: at once', 'GET /rejects: later']);
  });

  test('a handler that is late is answered for, and its own answer is dropped', async () => {
    const timeout = await ask(listener.port, '/silent');
    assert.deepEqual([timeout.status, errorOf(timeout.text).code], [504, 'TIMEOUT']);
    const busy = await ask(listener.port, '/busy');
    assert.deepEqual(
      [busy.status, errorOf(busy.text).code, errorOf(busy.text).retryable],
      [503, 'SERVICE_UNAVAILABLE', true],
    );
    for (const call of kept) {
      assert.equal(call.open, false);
      call.reply('{}');
    }
    assert.deepEqual(listener.reports.answers.slice(-2), ['/silent 504', '/busy 503']);
    assert.equal(listener.routes.pendingCount, 0);
  });

  test('a client that leaves closes its call', async () => {
    kept.length = 0;
    const socket = connect(listener.port, '127.0.0.1');
    socket.write('GET /silent HTTP/1.1\r\nHost: x\r\n\r\n');
    while (kept.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    while (kept[0]?.open) await new Promise((resolve) => setImmediate(resolve));
    kept[0]?.reply('{}');
  });

  test('the envelope carries details and the ids of traceparent (AMB-103, ERR-10)', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const sent = await ask(listener.port, '/refused', { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
    assert.equal(sent.status, 429);
    assert.equal(
      sent.text,
      '{"error":{"code":"RATE_LIMITED","message":"say \\"no\\"","retryable":true,' +
        '"details":{"field":"x","limit":9223372036854775808,"name":null},' +
        `"trace_id":"${trace}","span_id":"b7ad6b7169203331"}}`,
    );
    for (const traceparent of ['', 'x', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`]) {
      const { trace_id, span_id } = errorOf((await ask(listener.port, '/refused', { headers: { traceparent } })).text);
      assert.match(`${trace_id} ${span_id}`, /^[0-9a-f]{32} [0-9a-f]{16}$/);
      assert.match(trace_id, /[^0]/);
    }
  });

  test('405 names the methods a path has', async () => {
    const { status, headers } = await ask(listener.port, '/echo/a/b', { method: 'PATCH' });
    assert.deepEqual([status, headers.allow], [405, 'POST, DELETE, PUT']);
  });

  test('pages: defaults, caps, and what is no whole number (AMB-105)', () => {
    const bounds = { limitDefault: 100, limitMax: 1_000 };
    const page = (raw: string): unknown => {
      const outcome = new Query(raw).page(bounds);
      return outcome.ok ? outcome.value : outcome.reject.code;
    };
    assert.deepEqual(page(''), { page: 0, limit: 100 });
    assert.deepEqual(page('page=3&limit=40&other=x'), { page: 3, limit: 40 });
    assert.deepEqual(page('limit=99999999999999999999'), { page: 0, limit: 1_000 });
    for (const raw of [
      'limit=0',
      'limit=-1',
      'limit=1e2',
      'limit=',
      'page=1.0',
      'page=9007199254740992',
      'page=1&page=1',
    ]) {
      assert.equal(page(raw), 'INVALID_REQUEST', raw);
    }
    assert.deepEqual(new Query('a=1&a=2').all('a'), ['1', '2']);
  });
});
