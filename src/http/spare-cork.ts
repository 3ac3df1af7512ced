/**
 * Where a late upgrade is made while no other socket is open (decision 0027): in the cork of a response that never ends, of a
 * connection of this thread to itself. Without one the server prints a warning to standard error, once for each upgrade that
 * a stranger makes, and sends the handshake in twenty small writes (MCH-07).
 *
 * The listener takes one request, with a random path, and is closed before the first client can come.
 */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { createApp } from './uws.ts';
import { listenExclusively } from './uws-listen.ts';

const HOST = '127.0.0.1';
const OPENED_MS_MAX = 2_000;

export class SpareCork {
  #app: TemplatedApp | null = null;
  #client: Socket | null = null;
  #held: HttpResponse | null = null;

  /** Resolves when it can be used, or when this machine does not allow it. */
  async open(): Promise<void> {
    const path = `/${randomBytes(16).toString('hex')}`;
    const app = createApp(null);
    this.#app = app;
    const port = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no connection to itself')), OPENED_MS_MAX);
      const held = (response: HttpResponse): void => {
        response.onAborted(() => {
          this.#held = null;
        });
        this.#held = response;
        clearTimeout(timer);
        resolve(0);
      };
      app.get(path, held);
      listenExclusively(app, { host: HOST, port: 0 }).then(({ port }) => {
        const client = connect(port, HOST, () => client.write(`GET ${path} HTTP/1.1\r\nhost: ${HOST}\r\n\r\n`));
        client.unref().on('error', reject);
        this.#client = client;
      }, reject);
    }).catch(() => null);
    if (port === null) this.close();
  }

  /** Null while there is none: then nothing is corked. */
  get target(): { cork(work: () => void): unknown } | null {
    return this.#held;
  }

  close(): void {
    this.#held = null;
    this.#client?.destroy();
    this.#app?.close();
    this.#client = null;
    this.#app = null;
  }
}
