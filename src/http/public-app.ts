/**
 * The uWebSockets.js app of a public listener, whose certificate can be read again while it serves (LDG-03).
 *
 * An app keeps the certificate that it was made with. So `readAgain` makes a second app with the same routes and lets it listen in the
 * place of the first, which takes no further connection and serves those that it has until the listener closes: open sockets stay. One app stays
 * in memory for each time that the files were read.
 */
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { assert } from '../core/assert.ts';
import { createApp, type TlsFiles, uWS } from './uws.ts';
import { listenExclusively } from './uws-listen.ts';

/** Where routes are registered. */
export interface AppRoutes {
  /** @param add is called for the app now, and for each later one. */
  register(add: (app: TemplatedApp) => void): void;
}

export class PublicApp implements AppRoutes {
  readonly #tls: TlsFiles | null;
  readonly #registrations: ((app: TemplatedApp) => void)[] = [];
  /** The last one listens. */
  readonly #apps: TemplatedApp[];
  #open: { readonly socket: us_listen_socket; readonly host: string; readonly port: number } | null = null;

  /** Throws when the TLS files cannot be read or do not match. */
  constructor(tls: TlsFiles | null) {
    this.#tls = tls;
    this.#apps = [createApp(tls)];
  }

  register(add: (app: TemplatedApp) => void): void {
    this.#registrations.push(add);
    for (const app of this.#apps) add(app);
  }

  /**
   * @param at.port 0 lets the system choose.
   * @returns the open port. Rejects if it is not available.
   */
  async listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    const { socket, port } = await listenExclusively(this.#current, at);
    this.#open = { socket, host: at.host, port };
    return port;
  }

  /**
   * Serves new connections with the certificate that its files have now; nothing without TLS, and before it listens. The files have passed
   * `tlsFault`.
   *
   * @returns whether there was something to read. Rejects when the port cannot be opened again: then nothing listens.
   */
  async readAgain(): Promise<boolean> {
    if (this.#tls === null || this.#open === null) return false;
    const app = createApp(this.#tls);
    for (const add of this.#registrations) add(app);
    const { socket, host, port } = this.#open;
    this.#apps.push(app);
    uWS.us_listen_socket_close(socket);
    await this.listen({ host, port });
    return true;
  }

  /** Closes the listener and the connections of all apps. */
  close(): void {
    for (const app of this.#apps) app.close();
  }

  get #current(): TemplatedApp {
    const app = this.#apps.at(-1);
    assert(app !== undefined, 'there is always an app');
    return app;
  }
}
