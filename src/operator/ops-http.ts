/**
 * HTTP for operators on node:http, on the main thread (docs/decisions/0004): routing, the bearer token, bounded bodies,
 * the error envelope, and one audit line for each call that may change something (operator-api.md 2).
 *
 *   request ─▶ token (under /operator) ─▶ route ─▶ leads, recovered? ─▶ body ─▶ handler ─▶ JSON or envelope
 *                │401 429                  │404 405 400 │503              │413 400  │throws: 500
 *
 * Invariants
 *   (1) Every request gets one response; an exception in a handler is logged and returns 500.
 *   (2) Connections, heads, bodies and the time that a request may take to arrive are bounded, and so is the time that a
 *       response may stay unread.
 *   (3) A connection has one request at a time: one that sends another before its response was read is closed. The requests
 *       of all connections start one after the other, with pauses (paced-requests.ts).
 *   (4) A token is never logged; of a change its members are, without secrets (member-changes.ts).
 *   (5) A call that waits for a leader without a lease is answered within ANSWER_MS_MAX: whether it is stored is not known.
 *
 * Not here: the handlers of the routes.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { MemberChange, OperatorCommand } from '../clearing/inputs.ts';
import { errorEnvelope, parseTraceparent, type TraceIds } from '../codec/error-envelope.ts';
import { JsonFraction, type JsonObject, type JsonValue, parseJsonObject } from '../codec/json-tree.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';
import { assert } from '../core/assert.ts';
import { BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { REJECT_STATUS, type Reject, reject } from '../core/reject.ts';
import { membersOf, type QueryDoc, type RouteDoc } from '../http/api/route-doc.ts';
import { Query, queryFault } from '../http/query.ts';
import { ENCODED, isPlain } from '../http/request-head.ts';
import { memberChanges } from './member-changes.ts';
import { includesRole, type OperatorToken, type Role } from './operator-tokens.ts';
import { PacedRequests } from './paced-requests.ts';
import { TokenGuard } from './token-guard.ts';

export type OpsMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface OpsCall {
  /** Values of `{name}` segments, percent-decoded. @throws InvariantError for a name that the pattern lacks. */
  readonly param: (name: string) => string;
  readonly query: Query;
  /** Parsed JSON: plain objects, integers as bigints. `{}` when the request has no body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Name of the token that asks; empty on an open route. */
  readonly by: string;
}

/** A response that is not 200 with JSON. */
export interface RawReply {
  readonly status: number;
  readonly contentType: string;
  readonly text: string | Uint8Array;
  /** Besides those that every response has. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type OpsReply = Outcome<Readonly<Record<string, unknown>>> | RawReply;

interface Served {
  /** A `HEAD` is served wherever a `GET` is. */
  readonly method: OpsMethod;
  /** `/operator/assets/{asset_id}`: segments are literal or one parameter. */
  readonly path: string;
  readonly handler: (call: OpsCall) => OpsReply | Promise<OpsReply>;
  /** About this process alone: also served while clearing recovers, and by a node that does not lead. Open routes always are. */
  readonly whileRecovering?: boolean;
  /** `text`: the body may contain numbers with a fraction, which arrive as JsonFraction. */
  readonly fractions?: 'text';
  /** None unless given; any other member is 400. */
  readonly query?: readonly QueryDoc[];
  /** Of a route under `/operator`: what a token must be for. By default `read` for a GET and `operate` for what changes something. */
  readonly role?: Role;
  /**
   * Whether a change is journaled beside its command with who made it and what it changed (LDG-03). It is for what people do: not for test hooks,
   * and not for a feed of prices, whose commands are journaled themselves.
   */
  readonly isJournaled?: boolean;
  /** The object that the call changes, before and after it; by default what a GET of the same path shows, if there is one. */
  readonly shown?: (call: OpsCall) => OpsReply | Promise<OpsReply>;
}

/** A route: what the document says of it, and how it is served. Under `/operator` it needs the token. */
export interface OpsRoute
  extends Served,
    Pick<RouteDoc, 'area' | 'summary' | 'description' | 'body' | 'reply' | 'media' | 'errors' | 'example'> {}

/** Files of a page, which no document lists. */
export interface OpsFiles extends Served {
  readonly isFile: true;
}

/** What the document prints of a route. */
export function documentOf({ handler: _, ...route }: OpsRoute): RouteDoc {
  const auth = route.path.startsWith(`${OPERATOR_PREFIX}/`) ? 'operator' : 'public';
  return { ...route, auth, cost: null, bodyBytesMax: BODY_BYTES_MAX };
}

/** A call that has changed something. */
type JournaledCall = Omit<Extract<OperatorCommand, { kind: 'operatorCall' }>, 'kind'>;

interface OpsHttpOptions {
  readonly tokens: readonly OperatorToken[];
  /** Resolves when it is journaled and flushed; absent where there is no journal. */
  readonly journal?: (call: JournaledCall) => Promise<unknown>;
  readonly log: Logger;
  readonly isRecovering: () => boolean;
  /** Why a node of a cluster does not serve a call now, if it does not. */
  readonly notServing?: (isChange: boolean) => Reject | null;
  /** Of a leader of a cluster: whether a request cannot be stored now (cluster.md 7.4). Absent on one machine. */
  readonly isOver?: () => boolean;
  /** How long a call waits then, in real milliseconds. Default 5,000. */
  readonly answersWithinMs?: number | undefined;
  /** Host names under which the listener is reached, beside loopback names and addresses (MCH-06). */
  readonly names: readonly string[];
}

/** A response ready to be sent. */
interface Answered {
  readonly route: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** The allowed methods of the path, for a 405. */
  readonly allow?: string;
  /** For the audit line: who asked, and what it changed. */
  readonly by?: string;
  readonly changes?: readonly MemberChange[];
}

interface Matched {
  readonly route: Served;
  readonly params: ReadonlyMap<string, string>;
}

/** A request behind its token. */
interface Asked {
  readonly path: string;
  readonly query: string;
  readonly token: OperatorToken;
  readonly trace: TraceIds;
}

interface Calling extends Pick<Asked, 'path' | 'trace'> {
  readonly query: Query;
  readonly by: string;
}

/** A call that may have changed something: its reply, and the members that are others now. */
interface Changed {
  readonly reply: OpsReply;
  readonly changes: readonly MemberChange[];
}

/** Stands for the token that an open route does not need. */
const OPEN_ROUTE: OperatorToken = { name: '', role: 'operate', hash: Buffer.alloc(0) };
const OPERATOR_PREFIX = '/operator';
/** Of a path in the journal. */
const PATH_LENGTH_MAX = 512;
const UNKNOWN_ROUTE = 'unknown';
const JSON_TYPE = 'application/json';
/**
 * A rejected body up to this length is read and dropped, so that the client can read its 413; for a longer one the
 * connection is closed.
 */
const DISCARD_BYTES_MAX = 16 * BODY_BYTES_MAX;
const CONNECTIONS_MAX = 256;
const HEAD_BYTES_MAX = 16_384;
const HEAD_MS_MAX = 5_000;
const REQUEST_MS_MAX = 30_000;
const IDLE_MS_MAX = 10_000;
/** How long a response may stay unread. */
const UNREAD_MS_MAX = 10_000;
/** How long a request in flight may delay closing. */
const CLOSE_MS_MAX = 2_000;
/** How long a call waits for a leader without a lease, and how often that is looked at. */
const ANSWER_MS_MAX = 5_000;
const LOOK_MS = 250;

/** A name is what a page of another site can point at this listener; an address is not. */
const LOOPBACK_NAME = /^(?:[^.]+\.)*localhost\.?$/;
const NAME_OF_HOST = /^\[([^\]]*)\](?::\d*)?$|^([^:]*)(?::\d*)?$/;
const TWO_HOSTS: Reject = reject('INVALID_REQUEST', 'more than one host header', 'host');
const NO_ROUTE: Reject = reject('NOT_FOUND', 'there is no such route');
const NO_TOKEN: Reject = reject('UNAUTHORIZED', 'the operator token is missing or wrong');
const TOO_MANY_WRONG: Reject = reject('RATE_LIMITED', 'this address has sent too many wrong operator tokens, wait');
const RECOVERING: Reject = reject('SERVICE_UNAVAILABLE', 'the node is recovering');
const HEAD_TOO_LONG: Reject = reject('HEADERS_TOO_LARGE', `a head has at most ${HEAD_BYTES_MAX} bytes`);
const NO_HTTP: Reject = reject('INVALID_REQUEST', 'this is no HTTP request');
/** Also where the node had no processor time to read it: the request may be sound, so it is not called invalid. */
const NOT_ARRIVED: Reject = reject(
  'TIMEOUT',
  `the head did not arrive within ${HEAD_MS_MAX / 1_000} s, or the request within ${REQUEST_MS_MAX / 1_000} s`,
);
/** By the code of node:http's error; any other is NO_HTTP. */
const UNREAD: Readonly<Record<string, Reject>> = {
  HPE_HEADER_OVERFLOW: HEAD_TOO_LONG,
  ERR_HTTP_REQUEST_TIMEOUT: NOT_ARRIVED,
};
const LATE: Reject = reject('TIMEOUT_UNKNOWN_STATE', 'it is not stored in time; the change may have happened');
const FAILED: Reject = reject('INTERNAL_ERROR', 'the node failed to answer; its log says why');

export class OpsHttp {
  readonly #routes: readonly Served[];
  readonly #options: OpsHttpOptions;
  readonly #guard: TokenGuard;
  readonly #names: ReadonlySet<string>;
  readonly #counts = new Map<string, number>();
  readonly #requests = new PacedRequests();
  /** Connections with a request whose response has not been passed to the kernel. */
  readonly #answering = new WeakSet<Duplex>();
  readonly #server: Server;

  constructor(routes: readonly (OpsRoute | OpsFiles)[], options: OpsHttpOptions) {
    assert(options.tokens.length > 0, 'the operator API has a token');
    this.#routes = routes;
    this.#options = options;
    this.#guard = new TokenGuard(options.tokens);
    this.#names = new Set(options.names.map((name) => name.toLowerCase()));
    this.#server = createServer(
      {
        maxHeaderSize: HEAD_BYTES_MAX,
        headersTimeout: HEAD_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: IDLE_MS_MAX,
        connectionsCheckingInterval: HEAD_MS_MAX,
      },
      (request, response) => {
        this.#take(request, response).catch(() => request.socket.destroy());
      },
    );
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      refuseSocket(socket, UNREAD[error.code ?? ''] ?? NO_HTTP);
    });
  }

  /** Tokens that were read again: they are in force from the next request on (LDG-03). */
  replaceTokens(tokens: readonly OperatorToken[]): void {
    assert(tokens.length > 0, 'the operator API has a token');
    this.#guard.replace(tokens);
  }

  /** Responses sent, by `<route> <status>`. Routes are patterns, so the keys are a closed set. */
  requestCounts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** @param at.port 0 selects a free port. @returns the port; rejects when it cannot be opened. */
  listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    return new Promise((resolve, fail) => {
      this.#server.once('error', fail);
      this.#server.listen(at.port, at.host, () => {
        this.#server.off('error', fail);
        this.#server.on('error', (error) => this.#options.log.error({ err: error }, 'the ops listener failed'));
        const address = this.#server.address();
        assert(typeof address === 'object' && address !== null, 'a TCP listener has a port');
        resolve(address.port);
      });
    });
  }

  /** Accepts no new connection and completes within CLOSE_MS_MAX. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    const cut = setTimeout(() => this.#server.closeAllConnections(), CLOSE_MS_MAX);
    this.#server.closeIdleConnections();
    await closed;
    clearTimeout(cut);
  }

  /** A request received behind an unanswered one closes its connection; the rest of the received bytes is dropped. */
  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    if (socket.destroyed) return;
    if (this.#answering.has(socket)) {
      socket.destroy();
      return;
    }
    this.#answering.add(socket);
    response.once('close', () => this.#answering.delete(socket));
    await this.#requests.begin(() => socket.destroyed);
    await this.#serve(request, response);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = performance.now();
    const trace = traceOf(request);
    let answered: Answered | null;
    try {
      answered = await this.#answer(request, trace);
    } catch (error) {
      this.#options.log.error({ err: error, method: request.method, trace: trace.traceId }, 'an operator call failed');
      answered = refusal(UNKNOWN_ROUTE, FAILED, trace);
    }
    if (answered === null) return;
    const key = `${answered.route} ${answered.status}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#audit(request, answered, { startedMs, trace });
    const unread = setTimeout(() => request.socket.destroy(), UNREAD_MS_MAX);
    response.once('close', () => clearTimeout(unread));
    send(response, answered);
  }

  /** @returns null when the client has disconnected. */
  async #answer(request: IncomingMessage, trace: TraceIds): Promise<Answered | null> {
    if (countOf('host', request.rawHeaders) > 1) return refusal(UNKNOWN_ROUTE, TWO_HOSTS, trace);
    const unserved = this.#unservedHost(request);
    if (unserved !== null) return refusal(UNKNOWN_ROUTE, unserved, trace);
    const [path = '', query = ''] = splitTarget(request.url ?? '');
    if (!isPlain(request.headers['content-encoding'] ?? '')) return refusal(UNKNOWN_ROUTE, ENCODED, trace);
    const isOperator = path === OPERATOR_PREFIX || path.startsWith(`${OPERATOR_PREFIX}/`);
    const token = isOperator ? this.#tokenOf(request) : OPEN_ROUTE;
    if ('code' in token) return refusal(UNKNOWN_ROUTE, token, trace);
    const answer = await this.#answerTo(request, { path, query, token, trace });
    return answer === null || !isOperator ? answer : { by: token.name, ...answer };
  }

  /** @returns null when the client has disconnected. */
  async #answerTo(request: IncomingMessage, { path, query, token, trace }: Asked): Promise<Answered | null> {
    const matches = matchAll(this.#routes, path);
    const [first] = matches;
    if (first === undefined) return refusal(UNKNOWN_ROUTE, NO_ROUTE, trace);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const match = matches.find(({ route }) => route.method === method);
    if (match === undefined) {
      const allow = matches.map(({ route }) => (route.method === 'GET' ? 'GET, HEAD' : route.method)).join(', ');
      const answer = refusal(first.route.path, reject('METHOD_NOT_ALLOWED', `this path takes ${allow}`), trace);
      return { ...answer, allow };
    }
    const { path: pattern, whileRecovering, query: members } = match.route;
    const needed = match.route.role ?? (method === 'GET' ? 'read' : 'operate');
    // mutant: operator-role
    if (!includesRole(token.role, needed)) return refusal(pattern, roleRefusal(token, needed), trace);
    const fault = queryFault(query, membersOf(members));
    if (fault !== null) return refusal(pattern, fault, trace);
    const needsClearing = token !== OPEN_ROUTE && whileRecovering !== true;
    const notServing = needsClearing ? (this.#options.notServing?.(method !== 'GET') ?? null) : null;
    // mutant: operator-changes-a-follower
    if (notServing !== null) return refusal(pattern, notServing, trace);
    if (needsClearing && this.#options.isRecovering()) return refusal(pattern, RECOVERING, trace);
    return this.#handle(request, match, { query: new Query(query), trace, by: token.name, path });
  }

  async #handle(
    request: IncomingMessage,
    { route, params }: Matched,
    { query, trace, by, path }: Calling,
  ): Promise<Answered | null> {
    let body: OpsCall['body'] = {};
    if (route.method !== 'GET') {
      const bytes = await readBytes(request);
      if (bytes === null) return null;
      const read =
        typeof bytes === 'string'
          ? rejected(reject(bytes, 'a body has at most 1 MiB'))
          : readPlainBody(bytes, route.fractions);
      if (!read.ok) return refusal(route.path, read.reject, trace);
      body = read.value;
    }
    const param = (name: string): string => {
      const value = params.get(name);
      assert(value !== undefined, `${route.path} has a parameter ${name}`);
      return value;
    };
    try {
      const call = { param, query, body, by };
      if (route.method === 'GET')
        return answerOf(route.path, await this.#inTime(route.handler(call), rejected(LATE)), trace);
      const { reply, changes } = await this.#inTime(this.#change(route, call, path), {
        reply: rejected(LATE),
        changes: [],
      });
      return { ...answerOf(route.path, reply, trace), changes };
    } catch (error) {
      const { log } = this.#options;
      log.error({ err: error, route: route.path, trace: trace.traceId }, 'an operator call failed');
      return refusal(route.path, FAILED, trace);
    }
  }

  /**
   * Makes a change; what it changed is journaled before it is answered. A refused call has changed nothing. Of two calls at the same time each
   * may list what the other one changed: what each asked for stands in its command.
   */
  async #change(route: Served, call: OpsCall, path: string): Promise<Changed> {
    if (route.isJournaled !== true) return { reply: await route.handler(call), changes: [] };
    const show =
      route.shown ?? this.#routes.find((other) => other.method === 'GET' && other.path === route.path)?.handler;
    const before = show === undefined ? null : viewOf(await show(call));
    const reply = await route.handler(call);
    if (!('ok' in reply) || !reply.ok) return { reply, changes: [] };
    const after = show === undefined ? call.body : viewOf(await show(call));
    const changes = memberChanges(before, after);
    const { journal, notServing } = this.#options;
    // A call about this process alone is also served by a node that may not write the journal: its log has it.
    const isWriter = !this.#options.isRecovering() && (notServing?.(true) ?? null) === null;
    if (isWriter) {
      await journal?.({ by: call.by, method: route.method, path: path.slice(0, PATH_LENGTH_MAX), changes });
    }
    return { reply, changes };
  }

  /** What is awaited, or LATE; what comes later is dropped. @param late as what is awaited. */
  async #inTime<Awaited>(asked: Awaited | Promise<Awaited>, late: Awaited): Promise<Awaited> {
    const { isOver, answersWithinMs = ANSWER_MS_MAX } = this.#options;
    if (isOver === undefined || !(asked instanceof Promise)) return asked;
    const sinceMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<Awaited>((resolve) => {
      const look = (): void => {
        // mutant: operator-waits-for-ever
        if (performance.now() - sinceMs >= answersWithinMs && isOver()) resolve(late);
      };
      timer = setInterval(look, Math.min(LOOK_MS, answersWithinMs));
    });
    try {
      return await Promise.race([asked, tooLate]);
    } finally {
      clearInterval(timer);
    }
  }

  /**
   * HOST_NOT_SERVED for a Host header that names neither this machine's loopback nor a name of the configuration: a page
   * whose name leads to this listener by DNS would read it otherwise. Addresses and requests without the header pass.
   */
  #unservedHost({ headers: { host } }: IncomingMessage): Reject | null {
    if (host === undefined || host === '') return null;
    const [, address, name = address] = NAME_OF_HOST.exec(host.toLowerCase()) ?? [];
    if (name !== undefined && (isIP(name) !== 0 || LOOPBACK_NAME.test(name) || this.#names.has(name))) return null;
    return reject('HOST_NOT_SERVED', 'this listener is not served under that host name: add it to "opsNames"');
  }

  #tokenOf({ headers, socket }: IncomingMessage): OperatorToken | Reject {
    const verdict = this.#guard.judge(headers.authorization, socket.remoteAddress);
    if (typeof verdict !== 'string') return verdict;
    return verdict === 'limited' ? TOO_MANY_WRONG : NO_TOKEN;
  }

  #audit(
    request: IncomingMessage,
    { route, status, by = '', changes = [] }: Answered,
    { startedMs, trace }: { readonly startedMs: number; readonly trace: TraceIds },
  ): void {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    const [path] = splitTarget(request.url ?? '');
    const ms = Math.round(performance.now() - startedMs);
    const from = request.socket.remoteAddress ?? null;
    this.#options.log.info(
      { method: request.method, route, path, status, by, changes, ms, from, trace: trace.traceId },
      'operator call',
    );
  }
}

/** @param raw names and values in turn. */
function countOf(header: string, raw: readonly string[]): number {
  return raw.filter((name, at) => at % 2 === 0 && name.toLowerCase() === header).length;
}

function traceOf(request: IncomingMessage): TraceIds {
  const header = request.headers['traceparent'];
  const given = typeof header === 'string' ? parseTraceparent(header) : null;
  return given ?? { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') };
}

/** Path and raw query of a request target. */
function splitTarget(target: string): readonly [string, string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Every route of the path, whatever its method; none when the percent-encoding of the path is malformed. */
function matchAll(routes: readonly Served[], path: string): readonly Matched[] {
  let segments: readonly string[];
  try {
    segments = path.split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
  return routes.flatMap((route) => {
    const params = matchPattern(route.path, segments);
    return params === null ? [] : [{ route, params }];
  });
}

function matchPattern(pattern: string, segments: readonly string[]): ReadonlyMap<string, string> | null {
  const parts = pattern.split('/');
  if (parts.length !== segments.length) return null;
  const params = new Map<string, string>();
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith('{') && segment !== '') params.set(part.slice(1, -1), segment);
    else if (part !== segment) return null;
  }
  return params;
}

/** @returns the whole body, or that it is too large; null when the client disconnected before it was complete. */
async function readBytes(request: IncomingMessage): Promise<Uint8Array | 'PAYLOAD_TOO_LARGE' | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      assert(chunk instanceof Buffer, 'a body arrives as bytes');
      bytes += chunk.length;
      if (bytes > DISCARD_BYTES_MAX) return null;
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch (error) {
    if (request.destroyed) return null;
    throw error;
  }
  return bytes > BODY_BYTES_MAX ? 'PAYLOAD_TOO_LARGE' : Buffer.concat(chunks);
}

/** The object that a read shows; null where it shows none. */
function viewOf(reply: OpsReply): Readonly<Record<string, unknown>> | null {
  return 'ok' in reply && reply.ok ? reply.value : null;
}

function roleRefusal({ name, role }: OperatorToken, needed: Role): Reject {
  const message = `the token "${name}" is for ${role}, and this call needs one for ${needed}`;
  return reject('ROLE_REQUIRED', message);
}

function answerOf(route: string, reply: OpsReply, trace: TraceIds): Answered {
  if (!('ok' in reply)) return { route, ...reply };
  if (!reply.ok) return refusal(route, reply.reject, trace);
  // Views consist of strings, safe integers, bigints and lists; writeJson asserts it.
  return { route, status: 200, contentType: JSON_TYPE, text: writeJson(reply.value as JsonWritable) };
}

function refusal(route: string, reason: Reject, trace: TraceIds): Answered {
  return { route, status: REJECT_STATUS[reason.code], contentType: JSON_TYPE, text: errorEnvelope(reason, trace) };
}

function send(response: ServerResponse, { status, contentType, text, allow, headers = {} }: Answered): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
    ...(allow === undefined ? {} : { allow }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    // An address that has sent too many wrong tokens needs a new connection for each request.
    ...(status === 429 ? { connection: 'close' } : {}),
  });
  response.end(text);
}

/** For bytes that are not HTTP, are too many for a head, or arrive too slowly. */
function refuseSocket(socket: Duplex, reason: Reject): void {
  if (socket.writable) {
    const trace = { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') };
    const status = REJECT_STATUS[reason.code];
    const text = errorEnvelope(reason, trace);
    const head = `content-type: ${JSON_TYPE}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`;
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head}\r\n\r\n${text}`);
  }
  socket.destroy();
}

// Bodies of the operator API as plain objects, the input of clearing's validation: strict JSON, every integer a bigint.

type Plain = Readonly<Record<string, unknown>>;

/**
 * An absent body is an empty object, for calls in which every member has a default.
 *
 * @param fractions `text`: numbers with a fraction are accepted, as JsonFraction.
 */
function readPlainBody(bytes: Uint8Array, fractions: 'refuse' | 'text' = 'refuse'): Outcome<Plain> {
  if (bytes.length === 0) return accepted({});
  const tree = parseJsonObject(bytes, { fractions });
  if (!tree.ok) return tree;
  const marked = markedName(tree.value);
  if (marked !== null) return rejected(reject('INVALID_REQUEST', 'unknown member', marked.slice(0, 64)));
  return accepted(plainObject(tree.value));
}

/**
 * Finds a name that begins with a dollar sign, at any depth. No object of the API has one, and between the node's
 * threads such members encode exact numbers and bytes (messages/plain-values.ts), so they must not be accepted from
 * outside.
 */
function markedName(value: JsonValue): string | null {
  if (value instanceof Map) {
    for (const [name, member] of value) {
      const marked = name.startsWith('$') ? name : markedName(member);
      if (marked !== null) return marked;
    }
  } else if (Array.isArray(value)) {
    for (const item of value) {
      const marked = markedName(item);
      if (marked !== null) return marked;
    }
  }
  return null;
}

/** Without a prototype, so that no member name has a meaning of its own. */
function plainObject(object: JsonObject): Plain {
  const plain: Record<string, unknown> = Object.create(null);
  for (const [name, value] of object) plain[name] = plainValue(value);
  return plain;
}

function plainValue(value: JsonValue): unknown {
  if (value instanceof Map) return plainObject(value);
  if (value instanceof JsonFraction || !Array.isArray(value)) return value;
  return value.map(plainValue);
}
