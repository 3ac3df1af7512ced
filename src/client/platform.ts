/**
 * What the client takes of Node.js: HTTP, sockets, native keys, key files. In a browser platform-browser.ts has this place; the
 * rest of the client runs in both.
 */
import { createECDH, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { WebSocket } from 'ws';
import { parseJson } from '../codec/json-tree.ts';
import type { SocketWatch } from './addresses.ts';
import {
  errorOfEnvelope,
  invalidArgument,
  lateReply,
  lostRequest,
  RingbookError,
  unreachableAddress,
} from './errors.ts';
import type { HttpReply, HttpRequest, Socket, SocketTarget } from './http-transport.ts';
import { clientClosed } from './lifetime.ts';

/** A full depth snapshot of 10,000 levels per side is smaller. */
const REPLY_BYTES_MAX = 16_777_216;
const HANDSHAKE_MS_MAX = 10_000;
/** The service pings every 20 s. */
const SILENCE_MS_MAX = 60_000;
/** How long the service may take to answer a close. */
const CLOSE_MS_MAX = 1_000;
/** The service limits every message to 1 MiB. */
const MESSAGE_BYTES_MAX = 1_048_576;

// Requests

export class HttpConnections {
  readonly #agents: { http: HttpAgent | null; https: HttpsAgent | null } = { http: null, https: null };

  /** @throws RingbookError UNREACHABLE, CONNECTION_CLOSED, CLIENT_TIMEOUT, INVALID_RESPONSE. */
  exchange({ base, exchange, deadlineMs, watch, lifetime }: HttpRequest): Promise<HttpReply> {
    const isSecure = base.startsWith('https:');
    const body = exchange.body === undefined ? null : Buffer.from(exchange.body, 'utf8');
    const options: RequestOptions = {
      method: exchange.method,
      agent: this.#agentOf(isSecure),
      signal: AbortSignal.timeout(deadlineMs),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...exchange.headers,
        ...(body === null ? {} : { 'content-length': String(body.length) }),
      },
    };
    const start = isSecure ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const request = start(`${base}${exchange.path}`, options);
      request.once(
        'close',
        lifetime.add(() => request.destroy(new Error('the client was closed'))),
      );
      let isConnected = false;
      request.once('socket', (socket) => {
        // One that another request had is connected already, and would keep a listener for each request.
        isConnected = !socket.connecting;
        if (isConnected) return;
        // A machine that is gone refuses nothing.
        const timer = watch === null ? null : setTimeout(() => request.destroy(new NoConnection()), watch.silenceMs);
        request.once('close', () => clearTimeout(timer ?? undefined));
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          isConnected = true;
          clearTimeout(timer ?? undefined);
        });
      });
      const lost = (error: Error): RingbookError =>
        isTimeout(error) ? lateReply(deadlineMs) : lostRequest(error.message);
      request.once('error', (error) =>
        reject(isConnected ? lost(error) : unreachableAddress(base, connectFault(error, deadlineMs))),
      );
      request.once('response', (response) => readBody(response, lost).then(resolve, reject));
      request.end(body ?? undefined);
    });
  }

  /** Closes idle connections; others can still be opened. */
  close(): void {
    this.#agents.http?.destroy();
    this.#agents.https?.destroy();
  }

  #agentOf(isSecure: boolean): HttpAgent | HttpsAgent {
    const options = { keepAlive: true, maxSockets: 16 };
    if (isSecure) {
      this.#agents.https ??= new HttpsAgent(options);
      return this.#agents.https;
    }
    this.#agents.http ??= new HttpAgent(options);
    return this.#agents.http;
  }
}

class NoConnection extends Error {
  override readonly name = 'TimeoutError';
}

async function readBody(response: IncomingMessage, lost: (error: Error) => RingbookError): Promise<HttpReply> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > REPLY_BYTES_MAX) {
        throw new RingbookError({ code: 'INVALID_RESPONSE', message: `a reply above ${REPLY_BYTES_MAX} bytes` });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof RingbookError ? error : lost(error as Error);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) };
}

/** Why there is no connection. Those of TLS have a code too, such as DEPTH_ZERO_SELF_SIGNED_CERT. */
function connectFault(error: Error & { readonly code?: string }, deadlineMs: number): string {
  if (isTimeout(error)) return `no connection within ${deadlineMs} ms`;
  if (error.code === 'EPROTO') return 'it does not answer in TLS: is its address http:// ?';
  return error.code ?? error.message;
}

function isTimeout(error: Error): boolean {
  return error.name === 'AbortError' || error.name === 'TimeoutError';
}

// Sockets

/**
 * Opens a WebSocket to the service: a handshake answered with an error envelope throws that RingbookError (wire.md
 * 9.1). A connection without any data for a minute, not even the service's ping every 20 s, is dead and is closed, so
 * that the reader gets an error; of several addresses, each is pinged, and three seconds are enough (cluster.md 11).
 *
 * Calls `onOpen` in the event that opens the socket, before any message can be emitted.
 *
 * @throws RingbookError: the error of the service, UNREACHABLE, or CLIENT_CLOSED.
 */
export function openSocket<T>(target: SocketTarget, onOpen: (socket: Socket) => T): Promise<T> {
  const origin = new URL(target.base);
  const handshakeMs = target.watch?.silenceMs ?? HANDSHAKE_MS_MAX;
  const options = {
    headers: { ...target.headers, origin: origin.origin.replace(/^ws/, 'http') },
    handshakeTimeout: handshakeMs,
    closeTimeout: CLOSE_MS_MAX,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  };
  const address = `${target.base.replace(/^http/, 'ws')}${target.path}`;
  const socket = new WebSocket(address, [...(target.protocols ?? [])], options);
  return new Promise((resolve, reject) => {
    const settled = target.lifetime?.add(() => {
      reject(clientClosed());
      socket.terminate();
    });
    socket.once('close', () => settled?.());
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      void refusalOf(response)
        .then(reject, reject)
        .finally(() => socket.terminate());
    });
    socket.on('error', (error) => reject(unreachableAddress(target.base, connectFault(error, handshakeMs))));
    socket.once('open', () => {
      settled?.();
      cutWhenSilent(socket, target.watch ?? null);
      socket.once('close', (code) => {
        if (code !== 1000) target.onLost?.();
      });
      resolve(onOpen(socket as Socket));
    });
  });
}

async function refusalOf(response: IncomingMessage): Promise<RingbookError> {
  const { status, body } = await readBody(response, (error) => lostRequest(error.message));
  const outcome = parseJson(body);
  const refusal = outcome.ok ? errorOfEnvelope(outcome.value, status) : null;
  return refusal ?? new RingbookError({ code: 'INVALID_RESPONSE', message: `handshake answered ${status}`, status });
}

function cutWhenSilent(socket: WebSocket, watch: SocketWatch | null): void {
  const timer = setTimeout(() => socket.terminate(), watch?.silenceMs ?? SILENCE_MS_MAX);
  timer.unref();
  const pings = watch === null ? null : setInterval(() => socket.ping(), watch.pingMs);
  pings?.unref();
  const alive = (): void => {
    timer.refresh();
  };
  socket.on('message', alive).on('ping', alive).on('pong', alive);
  socket.once('close', () => {
    clearTimeout(timer);
    clearInterval(pings ?? undefined);
  });
}

// Keys

/** A key that signs. */
export interface PlatformKey {
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

/** The fixed prefix of a PKCS#8 Ed25519 private key (RFC 8410); the seed follows. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Ed25519 of 32 bytes; null where the platform's crypto has none. */
export function platformKey(seed: Uint8Array): PlatformKey | null {
  try {
    const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
    // The last 32 bytes of an Ed25519 SubjectPublicKeyInfo are the key.
    const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-seed.length);
    return { publicKey, sign: (bytes) => sign(null, bytes, key) };
  } catch {
    return null;
  }
}

/** `publicKey` 33 bytes; `sign` 64 bytes over the SHA-256, s in either half. */
export type P256Pair = PlatformKey;

/** @param secret 32 bytes, a private key of P-256. */
export function p256Pair(secret: Uint8Array): P256Pair {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(secret);
  const point = pair.getPublicKey();
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
  const [x, y] = [text(point.subarray(1, 33)), text(point.subarray(33))];
  const key = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d: text(secret), x, y }, format: 'jwk' });
  return {
    publicKey: Uint8Array.from(pair.getPublicKey(null, 'compressed')),
    sign: (bytes) => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }),
  };
}

// Files

/** The line of a file that holds a secret. @throws RingbookError INVALID_ARGUMENT when others than its owner may read it. */
export function readSecretFile(path: string): string {
  if (!existsSync(path)) throw invalidArgument(`there is no file ${path}`);
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw invalidArgument(`${path} can be read by others; run: chmod 600 ${path}`);
  }
  return readFileSync(path, 'utf8').trim();
}

/** Writes a new file that only its owner can read. @throws an EEXIST error instead of overwriting a secret. */
export function writeSecretFile(path: string, line: string): void {
  writeFileSync(path, `${line}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(path, 0o600);
}
