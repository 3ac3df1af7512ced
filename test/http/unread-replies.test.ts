// tier: quick
/** Replies that are not read: bounded in bytes for each connection and in all, and in time (AMB-124). */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { UNREAD_REPLIES_MAX, UNREAD_REPLY_BYTES_PER_SECOND } from '../../src/core/limits.ts';
import { staticDocument } from '../../src/http/static-document.ts';
import { UnreadReplies } from '../../src/http/unread-replies.ts';
import { listenWith, type RouteListener } from '../support/listeners.ts';
import { eventually } from '../support/patience.ts';

/** More than two kernels keep of one connection. */
const BYTES = 12 * 1_048_576;
const SMALL_BYTES = 600;
const HELD_MAX = 4 * BYTES;
const PATIENCE_MS = 300;
const LOCAL = '127.0.0.1';

function listenUnread(unread: UnreadReplies): RouteListener {
  return listenWith(
    ({ routes }) => {
      const document = staticDocument('text/plain', Buffer.alloc(BYTES, 'd'), "default-src 'none'");
      const small = 'x'.repeat(SMALL_BYTES);
      routes.add({ method: 'GET', pattern: '/long', handler: (call) => call.reply(Buffer.alloc(BYTES, 'x')) });
      routes.add({ method: 'GET', pattern: '/small', handler: (call) => call.reply(small) });
      routes.add({ method: 'GET', pattern: '/document', handler: (call) => call.replyDocument(document) });
    },
    { unread },
  );
}

interface Reader {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  bytes: number;
}

/** Requests, and reads nothing until it is resumed. */
async function reader(port: number, text: string): Promise<Reader> {
  const socket = connect(port, LOCAL);
  socket.on('error', () => undefined);
  const read: Reader = { socket, closed: new Promise((resolve) => socket.once('close', () => resolve())), bytes: 0 };
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.on('data', (data: Buffer) => {
    read.bytes += data.byteLength;
  });
  socket.pause();
  await new Promise((resolve) => socket.write(text, resolve));
  return read;
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

suite('replies that are not read', () => {
  const unread = new UnreadReplies(HELD_MAX, PATIENCE_MS);
  const listener = listenUnread(unread);
  const { routes } = listener;

  test('a connection holds one reply: the next request ends it, and memory comes back', async () => {
    const first = await reader(listener.port, request('/long'));
    await eventually(() => routes.unreadBytes === BYTES);
    first.socket.write(request('/long'));
    await eventually(() => unread.count === 0);
    assert.equal(routes.unreadBytes, 0);
    first.socket.resume();
    await first.closed;
    assert.ok(first.bytes < BYTES, 'cut off within the first');
  });

  test('all together are bounded: the connections with the most are closed, and a reader that reads has all', async () => {
    const steady = await reader(listener.port, request('/long'));
    steady.socket.resume();
    await eventually(() => steady.bytes > BYTES / 2);
    const idle: Reader[] = [];
    let most = 0;
    for (let each = 0; each < 12; each += 1) {
      idle.push(await reader(listener.port, request('/long')));
      most = Math.max(most, routes.unreadBytes);
    }
    await eventually(() => routes.unreadBytes <= HELD_MAX);
    assert.ok(most <= HELD_MAX + 2 * BYTES, `${most} bytes were held`);
    await eventually(() => steady.bytes > BYTES);
    for (const { socket } of [...idle, steady]) socket.destroy();
    await eventually(() => unread.count === 0);
  });

  test('thousands of short replies on a connection that reads nothing end it before they are memory', async () => {
    const before = process.memoryUsage().rss;
    const idle = await Promise.all(Array.from({ length: 16 }, () => reader(listener.port, request('/small'))));
    for (let round = 0; round < 200; round += 1) {
      for (const { socket } of idle) if (!socket.destroyed) socket.write(request('/small').repeat(100));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 64 * 1_048_576, `${grown} bytes more for ${16 * 200 * 100 * SMALL_BYTES} bytes of replies`);
    for (const { socket } of idle) socket.destroy();
    await eventually(() => unread.count === 0);
  });
});

suite('a reply that drips out', () => {
  const unread = new UnreadReplies(UNREAD_REPLIES_MAX, 0);
  const listener = listenUnread(unread);

  test('has a time for its bytes, a document too: beyond it its connection is closed', async () => {
    for (const path of ['/long', '/document']) {
      const slow = await reader(listener.port, request(path));
      await eventually(() => unread.count === 1);
      const nowMs = performance.now();
      const dueMs = (BYTES / UNREAD_REPLY_BYTES_PER_SECOND) * 1_000;
      unread.sweep(nowMs + dueMs - 10_000);
      assert.equal(unread.count, 1, 'in time');
      unread.sweep(nowMs + dueMs + 10_000);
      assert.equal(unread.count, 0, 'too late');
      slow.socket.resume();
      await slow.closed;
      assert.ok(slow.bytes < BYTES);
    }
  });
});
