/**
 * One HTTP exchange with a ringbook service: the headers of wire.md 1, limits on time and size, and the error envelope
 * converted to a RingbookError. Numbers of a reply stay exact: integers are bigints, fractions their text.
 *
 * Sessions are in session.ts, the interpretation of replies in replies.ts.
 */
import { type JsonValue, parseJson } from '../codec/json-tree.ts';
import { Addresses, isLost, isUnserved, PROBE_MS, type SocketWatch } from './addresses.ts';
import { errorOfEnvelope, invalidArgument, malformed, RingbookError } from './errors.ts';
import type { Lifetime } from './lifetime.ts';
import { HttpConnections } from './platform.ts';

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

/** An open WebSocket, as far as the client uses it: that of `ws`, or of a browser. */
export interface Socket {
  readonly readyState: number;
  /** The state in which it can send. */
  readonly OPEN: number;
  send(data: string | Uint8Array): void;
  close(code?: number): void;
  on(event: 'message', listener: (data: Uint8Array) => void): unknown;
  on(event: 'close', listener: (code: number, reason: { toString(): string }) => void): unknown;
}

/** One request to an address. */
export interface HttpRequest {
  readonly base: string;
  readonly exchange: HttpExchange;
  readonly deadlineMs: number;
  /** When no connection is a fault of its own; null: by the deadline. */
  readonly watch: SocketWatch | null;
  readonly lifetime: Lifetime;
}

export interface HttpReply {
  readonly status: number;
  readonly body: Uint8Array;
}

/** The client's deadline for a REST call (wire.md 1). */
const DEADLINE_MS = 10_000;

export class HttpTransport {
  readonly #addresses: Addresses;
  readonly #connections = new HttpConnections();

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
    const { watch, lifetime } = this.#addresses;
    const { status, body } = await this.#connections.exchange({ base, exchange, deadlineMs, watch, lifetime });
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
    this.#connections.close();
  }
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

/** The members that are given, as a query with its `?`; '' for none. */
export function queryText(members: object): string {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined);
  return pairs.length === 0
    ? ''
    : `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}
