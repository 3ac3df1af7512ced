/** Opens a uWebSockets.js listener with exclusive use of its port. */

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { uWS } from './uws.ts';

/** The native function accepts options after host and port; the package's types lack that overload. */
interface ListensWithOptions {
  listen(host: string, port: number, options: number, opened: (socket: us_listen_socket | false) => void): unknown;
}
/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT. Without it a second node on the port would silently receive a part of its connections.
 */
const EXCLUSIVE_PORT = 1;

interface Listening {
  readonly port: number;
  readonly socket: us_listen_socket;
}

/** A port chosen by the system can be lost between the two openings; then another one is chosen. */
const CHOICES_MAX = 8;

/**
 * @param at.port 0 lets the system choose.
 * @returns the open port and its socket; rejects if it is not available. `app.close()` closes it.
 */
export async function listenExclusively(
  app: TemplatedApp,
  at: { readonly host: string; readonly port: number },
): Promise<Listening> {
  if (at.port !== 0) return listening(opened(await open(app, at.host, at.port), at));
  for (let choice = 0; choice < CHOICES_MAX; choice += 1) {
    // A socket opened on port 0 lacks SO_REUSEADDR, and so do its connections: while one of them is in TIME_WAIT the
    // port cannot be opened again. A restarted market-data thread must do so, so the chosen port is reopened by number.
    const chosen = opened(await open(app, at.host, 0), at);
    const port = portOf(chosen);
    uWS.us_listen_socket_close(chosen);
    const again = await open(app, at.host, port);
    if (again !== null) return listening(again);
  }
  throw new Error(`cannot listen on ${at.host}: no chosen port stayed free`);
}

function open(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket | null> {
  return new Promise((resolve) => {
    const done = (socket: us_listen_socket | false): void => resolve(socket === false ? null : socket);
    (app as unknown as ListensWithOptions).listen(host, port, EXCLUSIVE_PORT, done);
  });
}

function opened(
  socket: us_listen_socket | null,
  at: { readonly host: string; readonly port: number },
): us_listen_socket {
  if (socket === null) throw new Error(`cannot listen on ${at.host}:${at.port}`);
  return socket;
}

function listening(socket: us_listen_socket): Listening {
  return { port: portOf(socket), socket };
}

function portOf(socket: us_listen_socket): number {
  return uWS.us_socket_local_port(socket);
}
