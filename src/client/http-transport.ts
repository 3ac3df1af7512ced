/**
 * One HTTP exchange with a ringbook service: the headers of wire.md 1, limits on time and size, and the error envelope
 * converted to a RingbookError. Numbers of a reply stay exact: integers are bigints, fractions their text.
 *
 * Sessions are in session.ts, the interpretation of replies in replies.ts.
 */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { type JsonValue, parseJson } from '../codec/json-tree.ts';
import { Addresses, isLost, isUnserved, PROBE_MS, type SocketWatch } from './addresses.ts';
import { errorOfEnvelope, invalidArgument, malformed, RingbookError } from './errors.ts';
import type { Lifetime } from './lifetime.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpExchange {
  readonly method: HttpMethod;
  /** Path and query, percent-encoded, from the service root. */
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses outside 2xx with a body that is a normal reply. */
  readonly accept?: readonly number[];
}

/** Where a socket is opened. It is here, without the types of `ws`, which programs that import the SDK need not have. */
export interface SocketTarget {
  /** `http…` or `ws…` base of the service. */
  readonly base: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Offered subprotocols, `svc.ws.v1` for v1. */
  readonly protocols?: readonly string[];
  /** How a dead connection is found out; left out: by the silence of the service. */
  readonly watch?: SocketWatch;
  /** Called when an open connection ends other than by a close of the caller (1000). */
  readonly onLost?: () => unknown;
  /** Of the client: its end ends a handshake. */
  readonly lifetime?: Lifetime;
}

/** The client's deadline for a REST call (wire.md 1). */
const DEADLINE_MS = 10_000;
/** A full depth snapshot of 10,000 levels per side is smaller. */
const REPLY_BYTES_MAX = 16_777_216;

export class HttpTransport {
  readonly #addresses: Addresses;
  readonly #agents: { http: HttpAgent | null; https: HttpsAgent | null } = { http: null, https: null };

  /** @param service an address `http://host:port` or `https://host:port`, or several. @throws RingbookError INVALID_ARGUMENT. */
  constructor(service: string | Addresses) {
    this.#addresses = typeof service === 'string' ? Addresses.one(baseAddress(service)) : service;
  }

  /**
   * With several addresses, what had no effect is repeated at the one that serves: a request without a connection, one that is
   * answered with NOT_LEADER, and reads.
   *
   * @throws RingbookError: the service's error, UNREACHABLE, CONNECTION_CLOSED, CLIENT_CLOSED, CLIENT_TIMEOUT or
   *   INVALID_RESPONSE.
   */
  exchange(exchange: HttpExchange): Promise<JsonValue> {
    const isRead = exchange.method === 'GET';
    return this.#addresses.serve(
      (base) => this.#once(base, exchange, DEADLINE_MS),
      (error) => isUnserved(error) || (isRead && isLost(error)),
    );
  }

  /** A read of one address, whether it serves or not. @throws RingbookError */
  probe(base: string, path: string): Promise<JsonValue> {
    return this.#once(base, { method: 'GET', path }, PROBE_MS);
  }

  async #once(base: string, exchange: HttpExchange, deadlineMs: number): Promise<JsonValue> {
    const { status, body } = await this.#roundTrip(base, exchange, deadlineMs);
    const isSuccess = (status >= 200 && status < 300) || exchange.accept?.includes(status) === true;
    if (isSuccess && body.length === 0) return new Map();
    const outcome = parseJson(body, { fractions: 'text' });
    if (isSuccess) {
      if (!outcome.ok) throw malformed(`${exchange.method} ${exchange.path}`, outcome.reject);
      return outcome.value ?? new Map();
    }
    const refusal = outcome.ok ? errorOfEnvelope(outcome.value, status) : null;
    throw refusal ?? new RingbookError({ code: 'INVALID_RESPONSE', message: `HTTP ${status} without a code`, status });
  }

  /** Closes idle connections; the transport can still be used. */
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

  #roundTrip(base: string, exchange: HttpExchange, deadlineMs: number): Promise<{ status: number; body: Uint8Array }> {
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
        this.#addresses.lifetime.add(() => request.destroy(new Error('the client was closed'))),
      );
      let isConnected = false;
      request.once('socket', (socket) => {
        // One that another request had is connected already, and would keep a listener for each request.
        isConnected = !socket.connecting;
        if (isConnected) return;
        // A machine that is gone refuses nothing.
        const watch = this.#addresses.watch;
        const timer = watch === null ? null : setTimeout(() => request.destroy(new NoConnection()), watch.silenceMs);
        request.once('close', () => clearTimeout(timer ?? undefined));
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          isConnected = true;
          clearTimeout(timer ?? undefined);
        });
      });
      request.once('error', (error) =>
        reject(isConnected ? transportError(error) : unreachableAddress(base, connectFault(error))),
      );
      request.once('response', (response) => readBody(response).then(resolve, reject));
      request.end(body ?? undefined);
    });
  }
}

class NoConnection extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * The address of a service: scheme, host and port, and a path before its routes where a gateway has one.
 *
 * @param member the caller's, for the error.
 * @returns it without a slash at its end. @throws RingbookError INVALID_ARGUMENT for anything else.
 */
export function baseAddress(text: string, member?: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && `${url.search}${url.hash}${url.username}` === '') {
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  }
  throw invalidArgument(`${JSON.stringify(text)} is not an address like "http://127.0.0.1:3032"`, member);
}

async function readBody(response: IncomingMessage): Promise<{ status: number; body: Uint8Array }> {
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
    throw error instanceof RingbookError ? error : transportError(error as Error);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) };
}

/** Of a request that may have been received: its outcome is unknown. */
function transportError(error: Error): RingbookError {
  return isTimeout(error)
    ? new RingbookError({ code: 'CLIENT_TIMEOUT', message: `no answer within ${DEADLINE_MS} ms` })
    : new RingbookError({ code: 'CONNECTION_CLOSED', message: error.message });
}

/** Why there is no connection. Those of TLS have a code too, such as DEPTH_ZERO_SELF_SIGNED_CERT. */
export function connectFault(error: Error & { readonly code?: string }): string {
  if (isTimeout(error)) return `no connection within ${DEADLINE_MS} ms`;
  if (error.code === 'EPROTO') return 'it does not answer in TLS: is its address http:// ?';
  return error.code ?? error.message;
}

function isTimeout(error: Error): boolean {
  return error.name === 'AbortError' || error.name === 'TimeoutError';
}

export function unreachableAddress(origin: string, reason: string): RingbookError {
  return new RingbookError({
    code: 'UNREACHABLE',
    message: `${origin} cannot be reached (${reason})`,
    retryable: true,
  });
}

/** The members that are given, as a query with its `?`; '' for none. */
export function queryText(members: object): string {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined);
  return pairs.length === 0
    ? ''
    : `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}
