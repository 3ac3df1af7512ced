/**
 * What the client takes of a browser, in the place of platform.ts: `fetch`, `WebSocket`, keys in JavaScript, no files.
 *
 * A browser cannot give a socket headers, so the session is offered as subprotocols (wire.md 9.1). Why a handshake failed is hidden
 * from a page: with a session it is asked by a request with the same token, so that a token that is no longer valid is found out.
 */
import { parseJson } from '../codec/json-tree.ts';
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
import type * as node from './platform.ts';

const HANDSHAKE_MS_MAX = 10_000;

/** What a page has of a WebSocket. The browser answers pings by itself, and closes what is dead. */
interface PageSocket {
  binaryType: 'arraybuffer';
  readonly readyState: number;
  readonly OPEN: number;
  send(data: string | Uint8Array): void;
  close(code?: number): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: string | ArrayBuffer }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
}

declare const WebSocket: new (address: string, protocols: readonly string[]) => PageSocket;

export class HttpConnections implements Pick<node.HttpConnections, 'exchange' | 'close'> {
  async exchange({ base, exchange, deadlineMs, lifetime }: HttpRequest): Promise<HttpReply> {
    const { method, path, body, headers } = exchange;
    const ending = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      ending.abort();
    }, deadlineMs);
    const settled = lifetime.add(() => ending.abort());
    try {
      const all = { accept: 'application/json', ...(body === undefined ? {} : JSON_BODY), ...headers };
      const given = body === undefined ? {} : { body };
      const reply = await fetch(`${base}${path}`, { method, headers: all, signal: ending.signal, ...given });
      return { status: reply.status, body: new Uint8Array(await reply.arrayBuffer()) };
    } catch (error) {
      if (isLate) throw lateReply(deadlineMs);
      const reason = error instanceof Error ? error.message : String(error);
      // A page does not learn whether a connection was made: a read may be repeated, an action may have happened.
      throw method === 'GET' ? unreachableAddress(base, reason) : lostRequest(reason);
    } finally {
      clearTimeout(timer);
      settled();
    }
  }

  close(): void {
    // Idle connections are the browser's.
  }
}

const JSON_BODY = { 'content-type': 'application/json' };

export function openSocket<T>(target: SocketTarget, onOpen: (socket: Socket) => T): Promise<T> {
  const { authorization, 'user-id': userId } = target.headers;
  const session =
    authorization === undefined ? [] : [authorization.replace(/^Bearer /, 'Bearer-'), `User-${userId ?? ''}`];
  const address = `${target.base.replace(/^http/, 'ws')}${target.path}`;
  const socket = new WebSocket(address, [...(target.protocols ?? []), ...session]);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const timer = setTimeout(() => socket.close(), target.watch?.silenceMs ?? HANDSHAKE_MS_MAX);
    const settled = target.lifetime?.add(() => {
      reject(clientClosed());
      socket.close();
    });
    socket.addEventListener('open', () => {
      isOpen = true;
      clearTimeout(timer);
      settled?.();
      resolve(onOpen(new PageConnection(socket)));
    });
    socket.addEventListener('close', ({ code }) => {
      clearTimeout(timer);
      settled?.();
      if (isOpen && code !== 1000) target.onLost?.();
      if (!isOpen) void refusalOf(target).then(reject, reject);
    });
  });
}

/** Why a handshake may have been refused, read with the same session. */
async function refusalOf({ base, headers, lifetime }: SocketTarget): Promise<RingbookError> {
  const { 'user-id': userId } = headers;
  if (userId === undefined || lifetime === undefined) return unreachableAddress(base, 'the handshake failed');
  const exchange = { method: 'GET', path: `/limits/${userId}`, headers } as const;
  const request = { base, exchange, deadlineMs: HANDSHAKE_MS_MAX, watch: null, lifetime };
  const { status, body } = await new HttpConnections().exchange(request);
  const outcome = parseJson(body);
  const refusal = outcome.ok ? errorOfEnvelope(outcome.value, status) : null;
  const message = 'the handshake was refused, and a browser hides why: perhaps the user has too many streams';
  return refusal ?? new RingbookError({ code: 'HANDSHAKE_REFUSED', message, retryable: true });
}

/** As a socket of `ws`: messages are bytes. */
class PageConnection implements Socket {
  readonly #socket: PageSocket;

  constructor(socket: PageSocket) {
    this.#socket = socket;
  }

  get OPEN(): number {
    return this.#socket.OPEN;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** A page may close with 1000, or with a code of its own. */
  close(): void {
    this.#socket.close(1000);
  }

  on(event: 'message', listener: (data: Uint8Array) => void): void;
  on(event: 'close', listener: (code: number, reason: string) => void): void;
  on(event: 'message' | 'close', listener: (...values: never[]) => void): void {
    if (event === 'message') {
      const take = listener as (data: Uint8Array) => void;
      this.#socket.addEventListener('message', ({ data }) =>
        take(typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)),
      );
      return;
    }
    const ended = listener as (code: number, reason: string) => void;
    this.#socket.addEventListener('close', ({ code, reason }) => ended(code, reason));
  }
}

/** Keys sign in JavaScript. */
export function platformKey(): null {
  return null;
}

export function p256Pair(): never {
  throw invalidArgument('a P-256 key of a browser signs by WebAuthn: bring its entry, made with assertionBytes');
}

export function readSecretFile(): never {
  throw invalidArgument('a browser has no key files: keyFromSeed takes the 32 bytes of a key');
}

export function writeSecretFile(): never {
  throw invalidArgument('a browser has no key files');
}

// The compiler compares the two platforms.
void ({ openSocket, platformKey, p256Pair, readSecretFile, writeSecretFile } satisfies Omit<
  typeof node,
  'HttpConnections'
>);
