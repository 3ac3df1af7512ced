import uWS from 'uWebSockets.js';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, suite, test } from 'node:test';
import { HttpRoutes } from '../../src/http/http-routes.ts';
import { staticDocument } from '../../src/http/static-document.ts';
import { listenExclusively } from '../../src/http/uws-listen.ts';
import { ask } from '../support/edge-client.ts';

/** More than the buffers of two sockets hold. */
const BYTES = 24 * 1_048_576;
const document = staticDocument(
  'text/plain',
  Buffer.from(randomBytes(BYTES / 2).toString('hex')),
  "default-src 'none'",
);
const answered: number[] = [];
const app = uWS.App();
const routes = new HttpRoutes(app, {
  gate: null,
  observer: {
    answered: (_, status) => answered.push(status),
    failed: (_, error) => assert.fail(String(error)),
    lagged: () => undefined,
  },
});
let port = 0;

before(async () => {
  routes.add({ method: 'GET', pattern: '/document', handler: (call) => call.replyDocument(document) });
  routes.seal();
  port = await listenExclusively(app, { host: '127.0.0.1', port: 0 });
});
after(() => {
  routes.stop();
  app.close();
});

/** Reads a little, waits, and then the rest. */
function readSlowly(): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path: '/document', agent: false }, (response) => {
        const parts: Buffer[] = [];
        let pauses = 0;
        response.on('data', (part: Buffer) => {
          parts.push(part);
          if (pauses === 3) return;
          pauses += 1;
          response.pause();
          setTimeout(() => response.resume(), 50);
        });
        response.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
        response.on('error', reject);
      })
      .on('error', reject);
  });
}

suite('a document', () => {
  test('reaches a reader who stops now and then, whole and in order', async () => {
    assert.ok((await readSlowly()) === Buffer.from(document.body).toString('utf8'));
    assert.deepEqual(answered, [200]);
  });

  test('is given up when its reader goes, and the next reader has it whole', async () => {
    await new Promise<void>((resolve) => {
      http.get({ host: '127.0.0.1', port, path: '/document', agent: false }, (response) => {
        response.once('data', () => response.destroy());
        response.once('close', resolve);
      });
    });
    assert.ok((await readSlowly()) === Buffer.from(document.body).toString('utf8'));
  });

  test('is not sent to who has it: 304, without a body', async () => {
    const { status, text, headers } = await ask(port, '/document', { headers: { 'if-none-match': document.etag } });
    assert.deepEqual([status, text, headers['etag']], [304, '', document.etag]);
  });
});
