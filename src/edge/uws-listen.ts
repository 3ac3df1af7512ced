/** Opening a uWebSockets.js listener so that nobody else can share its port. */

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import uWS from 'uWebSockets.js';

/** The native function takes options after host and port; the package's types leave that overload out. */
interface ListensWithOptions {
  listen(host: string, port: number, options: number, opened: (socket: us_listen_socket | false) => void): unknown;
}
/** LIBUS_LISTEN_EXCLUSIVE_PORT. Without it a second node on the port would silently take a share of its connections. */
const EXCLUSIVE_PORT = 1;

/**
 * @param at.port 0 lets the system choose.
 * @returns the port that is open; rejects when it cannot be had. `app.close()` closes it again.
 */
export function listenExclusively(
  app: TemplatedApp,
  at: { readonly host: string; readonly port: number },
): Promise<number> {
  return new Promise((resolve, rejectPromise) => {
    (app as unknown as ListensWithOptions).listen(at.host, at.port, EXCLUSIVE_PORT, (socket) => {
      if (socket === false) rejectPromise(new Error(`cannot listen on ${at.host}:${at.port}`));
      else resolve(uWS.us_socket_local_port(socket));
    });
  });
}
