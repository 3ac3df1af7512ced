/**
 * uWebSockets.js, loaded with its limits set before: the native server reads this environment variable once, at load.
 *
 * Its own limit is twice that of a head (request-head.ts), so that a head a little too long gets the error envelope
 * however it arrives; to one beyond its limit that arrives in pieces, on Node 22
 * and later to any, it replies 431 by itself, without an envelope, and closes the connection.
 */

import type { AppOptions, TemplatedApp } from 'uWebSockets.js';
import { createRequire } from 'node:module';

/** Limit of the request line and the headers of one request together: several times the size of credentials, subprotocols and proxy headers. */
export const HEAD_BYTES_MAX = 8_192;
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(2 * HEAD_BYTES_MAX);

type Native = typeof import('uWebSockets.js') & { _cfg(key: string): void };
/** require, because an import would be evaluated before this file's statements. */
export const uWS: Native = createRequire(import.meta.url)('uWebSockets.js') as Native;
// Without it every response names the server and its version in a header of its own.
uWS._cfg('silent');

/** PEM files. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** @param tls null for plain HTTP. Throws when the files cannot be read or do not match. */
export function createApp(tls: TlsFiles | null): TemplatedApp {
  if (tls === null) return uWS.App();
  const options: AppOptions = { cert_file_name: tls.certFile, key_file_name: tls.keyFile };
  return uWS.SSLApp(options);
}
