// tier: quick, 4 s
/** Requests that one listener passes to the thread of the other (wire-additions.md 8). */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { reject } from '../../src/core/reject.ts';
import { PassedRequests, type PeerChannel } from '../../src/http/passed-requests.ts';
import { type Lane, ReadingTurns } from '../../src/http/reading-turns.ts';
import { staticDocument } from '../../src/http/static-document.ts';
import { ask } from '../support/edge-client.ts';
import { RouteListener } from '../support/listeners.ts';

/** Requests that may wait here. */
const WAITING_MAX = 8;
type Receiver = Parameters<PeerChannel['receive']>[0];
type Message = Parameters<Receiver>[0];

/** Two ends that copy as threads do. What is held is not delivered. */
class Pair {
  isHeld = false;
  held: Message[] = [];
  readonly #receivers: Receiver[] = [];

  end(own: 0 | 1): PeerChannel {
    return {
      post: (message) => {
        const copy = structuredClone(message);
        if (this.isHeld && own === 0) this.held.push(copy);
        else setImmediate(() => this.#receivers[1 - own]?.(copy));
      },
      receive: (receiver) => {
        this.#receivers[own] = receiver;
      },
      close: () => undefined,
    };
  }
}

/** The lanes of the work of a listener. */
class LaneList extends ReadingTurns {
  readonly lanes: Lane[] = [];

  override take(bytes: number, read: () => void, lane: Lane, refuse?: () => void): void {
    this.lanes.push(lane);
    super.take(bytes, read, lane, refuse);
  }
}

suite('requests that another thread answers', () => {
  const pair = new Pair();
  const turns = new LaneList();
  const front = new RouteListener();
  const back = new RouteListener({ turns });
  const document = staticDocument('text/plain', Buffer.from('constant'), "default-src 'none'");

  before(async () => {
    back.routes.add({
      method: 'GET',
      pattern: '/hidden/:name',
      query: { page: 'once' },
      handler: (call) => {
        const { parameters, query, headers } = call.head;
        call.reply(JSON.stringify({ parameters, query, user: headers['user-id'] }));
      },
    });
    back.routes.add({
      method: 'POST',
      pattern: '/hidden',
      bodyBytesMax: 100_000,
      handler: async (call, body) => {
        await Promise.resolve();
        call.reply(JSON.stringify({ bytes: body.length, sum: body.reduce((sum, byte) => sum + byte, 0) }), 202);
      },
    });
    back.routes.add({
      method: 'GET',
      pattern: '/refused',
      handler: (call) => call.refuse(reject('MARKET_NOT_FOUND', 'no such market')),
    });
    back.routes.add({
      method: 'GET',
      pattern: '/throws',
      handler: () => {
        throw new Error('there');
      },
    });
    back.routes.add({ method: 'GET', pattern: '/document', handler: (call) => call.replyDocument(document) });
    const passed = new PassedRequests(front.routes, pair.end(0), WAITING_MAX);
    new PassedRequests(back.routes, pair.end(1));
    passed.add({ method: 'GET', pattern: '/shown/:name', query: null }, '/hidden/:name');
    passed.add({ method: 'POST', pattern: '/shown', bodyBytesMax: 100_000 }, '/hidden');
    for (const pattern of ['/document', '/refused', '/throws', '/missing', '/slow']) {
      passed.add({ method: 'GET', pattern, query: null, ...(pattern === '/slow' ? { deadlineMs: 3_000 } : {}) });
    }
    await front.open();
    await back.open();
  });
  after(() => {
    front.close();
    back.close();
  });

  test('head, parameters, query and body arrive, status, headers and body come back', async () => {
    const read = await ask(front.port, '/shown/a%20b?page=1', { headers: { 'User-Id': 'me' } });
    assert.deepEqual(JSON.parse(read.text), { parameters: ['a b'], query: 'page=1', user: 'me' });
    assert.equal(read.headers['content-type'], 'application/json');
    const body = Buffer.alloc(70_000, 3);
    const sent = await ask(front.port, '/shown', { method: 'POST', body });
    assert.deepEqual([sent.status, JSON.parse(sent.text)], [202, { bytes: 70_000, sum: 210_000 }]);
    const head = await ask(front.port, '/shown/x', { method: 'HEAD' });
    const get = await ask(front.port, '/shown/x');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers['content-length'], String(get.text.length));
  });

  test('a document that its client has is 304 without a length, for GET and HEAD (RFC 9110 8.6)', async () => {
    const get = await ask(front.port, '/document');
    assert.deepEqual([get.status, get.text], [200, 'constant']);
    for (const method of ['GET', 'HEAD']) {
      const known = await ask(front.port, '/document', { method, headers: { 'If-None-Match': document.etag } });
      assert.deepEqual([known.status, known.text, known.headers['etag']], [304, '', document.etag]);
      assert.equal(known.headers['content-length'], undefined);
    }
  });

  test('a read waits among the reads of that thread, behind its orders; a request with a body by its length', async () => {
    turns.lanes.length = 0;
    assert.equal((await ask(front.port, '/shown/x')).status, 200);
    assert.equal((await ask(front.port, '/shown', { method: 'POST', body: Buffer.alloc(10) })).status, 202);
    assert.deepEqual(turns.lanes, ['reads', 'quick']);
  });

  test('the rules of the route there hold: its query members, its errors, its exceptions', async () => {
    const codeOf = async (path: string): Promise<string> =>
      (JSON.parse((await ask(front.port, path)).text) as { error: { code: string } }).error.code;
    assert.equal(await codeOf('/shown/x?limit=1'), 'INVALID_REQUEST');
    assert.equal(await codeOf('/refused'), 'MARKET_NOT_FOUND');
    assert.equal(await codeOf('/missing'), 'NOT_FOUND');
    assert.equal(await codeOf('/throws'), 'INTERNAL_ERROR');
    assert.deepEqual(back.reports.failures.splice(0), ['GET /throws: there']);
  });

  test('so many wait and no more; each is answered by its deadline when the other thread is silent, and room comes back', async () => {
    pair.isHeld = true;
    const waiting = Array.from({ length: WAITING_MAX }, () => ask(front.port, '/slow'));
    while (pair.held.length < WAITING_MAX) await new Promise((next) => setTimeout(next, 5));
    const over = await ask(front.port, '/shown/x');
    assert.equal(over.status, 503, over.text);
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 504);
    pair.isHeld = false;
    assert.equal((await ask(front.port, '/shown/x')).status, 200);
  });

  test('a request of a client that has left counts until its deadline: the other thread has it still', async () => {
    pair.isHeld = true;
    pair.held = [];
    const clients = Array.from({ length: WAITING_MAX }, () => connect(front.port, '127.0.0.1'));
    for (const client of clients) client.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n');
    while (pair.held.length < WAITING_MAX) await new Promise((next) => setTimeout(next, 5));
    for (const client of clients) client.destroy();
    await new Promise((next) => setTimeout(next, 100));
    assert.equal((await ask(front.port, '/shown/x')).status, 503);
    pair.isHeld = false;
    let status = 503;
    while (status === 503) {
      await new Promise((next) => setTimeout(next, 100));
      ({ status } = await ask(front.port, '/shown/x'));
    }
    assert.equal(status, 200);
  });

  test('a thread that begins anew has other ids: a late reply to its predecessor is for no client', async () => {
    const ids: number[] = [];
    for (let life = 0; life < 2; life += 1) {
      const listener = new RouteListener();
      const channel = { post: ({ id }: Message) => ids.push(id), receive: () => undefined, close: () => undefined };
      new PassedRequests(listener.routes, channel).add({ method: 'GET', pattern: '/shown', deadlineMs: 10 });
      await listener.open();
      assert.equal((await ask(listener.port, '/shown')).status, 504);
      listener.close();
    }
    assert.equal(ids.length, 2);
    assert.ok(Math.abs((ids[0] ?? 0) - (ids[1] ?? 0)) > 1_000, ids.join(' '));
  });

  test('without another thread it is 503', async () => {
    const alone = new RouteListener();
    new PassedRequests(alone.routes, null).add({ method: 'GET', pattern: '/shown' });
    await alone.open();
    assert.equal((await ask(alone.port, '/shown')).status, 503);
    alone.close();
  });
});
