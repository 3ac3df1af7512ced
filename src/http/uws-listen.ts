/** Opening a uWebSockets.js listener so that nobody else can share its port. */

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { uWS } from './uws.ts';

/** The native function takes options after host and port; the package's types leave that overload out. */
interface ListensWithOptions {
  listen(host: string, port: number, options: number, opened: (socket: us_listen_socket | false) => void): unknown;
}
/** LIBUS_LISTEN_EXCLUSIVE_PORT. Without it a second node on the port would silently take a share of its connections. */
const EXCLUSIVE_PORT = 1;

/** A port that the system chose can be lost between the two openings; then it chooses again. */
const CHOICES_MAX = 8;

/**
 * @param at.port 0 lets the system choose.
 * @returns the port that is open; rejects when it cannot be had. `app.close()` closes it again.
 */
export async function listenExclusively(
  app: TemplatedApp,
  at: { readonly host: string; readonly port: number },
): Promise<number> {
  if (at.port !== 0) return portOf(opened(await open(app, at.host, at.port), at));
  for (let choice = 0; choice < CHOICES_MAX; choice += 1) {
    // Opened on port 0 a socket lacks SO_REUSEADDR, and so do its connections: while one of them is in TIME_WAIT nobody
    // can listen here again. A restarted market-data thread must, so the chosen port is opened a second time by number.
    const chosen = opened(await open(app, at.host, 0), at);
    const port = portOf(chosen);
    uWS.us_listen_socket_close(chosen);
    if ((await open(app, at.host, port)) !== null) return port;
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

function portOf(socket: us_listen_socket): number {
  return uWS.us_socket_local_port(socket);
}
