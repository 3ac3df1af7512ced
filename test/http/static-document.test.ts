// tier: quick
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { suite, test } from 'node:test';
import { staticDocument } from '../../src/http/static-document.ts';
import { ask } from '../support/edge-client.ts';
import { listenWith } from '../support/listeners.ts';

/** More than the buffers of two sockets hold. */
const BYTES = 24 * 1_048_576;
const document = staticDocument(
  'text/plain',
  Buffer.from(randomBytes(BYTES / 2).toString('hex')),
  "default-src 'none'",
);
const listener = listenWith(({ routes }) => {
  routes.add({ method: 'GET', pattern: '/document', handler: (call) => call.replyDocument(document) });
});

/** Reads a little, waits, and then the rest. */
function readSlowly(): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port: listener.port, path: '/document', agent: false }, (response) => {
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
    assert.deepEqual(listener.reports.answers, ['/document 200']);
  });

  test('is given up when its reader goes, and the next reader has it whole', async () => {
    await new Promise<void>((resolve) => {
      http.get({ host: '127.0.0.1', port: listener.port, path: '/document', agent: false }, (response) => {
        response.once('data', () => response.destroy());
        response.once('close', resolve);
      });
    });
    assert.ok((await readSlowly()) === Buffer.from(document.body).toString('utf8'));
  });

  test('is not sent to who has it: 304, without a body', async () => {
    const { status, text, headers } = await ask(listener.port, '/document', {
      headers: { 'if-none-match': document.etag },
    });
    assert.deepEqual([status, text, headers['etag']], [304, '', document.etag]);
  });
});
