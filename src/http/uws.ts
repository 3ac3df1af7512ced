/**
 * uWebSockets.js, loaded with its limits said beforehand: the native server reads this variable once, when it is loaded.
 * It answers a longer head with 431 itself and ends the connection. Built for Node 20 it does so only when the head comes
 * in pieces: one that comes at once it hands on, and request-head.ts refuses it.
 */

import type { AppOptions, TemplatedApp } from 'uWebSockets.js';
import { createRequire } from 'node:module';

/** The head of one request. Credentials, subprotocols and what proxies add fit several times. */
export const HEAD_BYTES_MAX = 8_192;
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);

type Native = typeof import('uWebSockets.js');
/** An import would be evaluated before this file. */
export const uWS: Native = createRequire(import.meta.url)('uWebSockets.js') as Native;

/** PEM files. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Null: plain HTTP. Throws when the files cannot be read or do not fit each other. */
export function createApp(tls: TlsFiles | null): TemplatedApp {
  if (tls === null) return uWS.App();
  const options: AppOptions = { cert_file_name: tls.certFile, key_file_name: tls.keyFile };
  return uWS.SSLApp(options);
}
