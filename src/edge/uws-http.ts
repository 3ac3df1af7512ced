/**
 * HTTP on uWebSockets.js: the one wrapper around its raw request and response.
 *
 *   raw request ─▶ address let in? ─▶ RequestHead (copied) ─▶ [body, counted] ─▶ handler ─▶ reply / refuse ─▶ cork, once
 *                       │ 429             │ 400           413 │ │ 503            │ throws: 500, reported
 *
 * Invariants
 *   (1) A raw HttpRequest is never kept: everything is copied before the route function returns.
 *   (2) Every raw HttpResponse has an abort handler before anything else happens, and is touched only while it is open.
 *   (3) A call is answered at most once; the deadline answers it if nobody else does, so none hangs for ever.
 *   (4) Only constants become header names and values.
 *   (5) A refusal is charged to the address it went to, where there is a gate (AMB-91), with the bytes read for it.
 *   (6) Bodies under way are bounded one by one, by their route, and all together; a bounded number of bytes is handed
 *       to handlers in one turn of the event loop (reading-turns.ts).
 *
 * Not here: routes and their meaning (mds-server.ts), sockets (uws-socket.ts).
 */

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import { BODIES_HELD_MAX, BODY_BYTES_MAX, SMALL_BODY_BYTES_MAX } from '../core/limits.ts';
import { REJECT_STATUS, type Reject, reject } from '../core/reject.ts';
import { errorEnvelope, parseTraceparent, type TraceIds } from '../wire/error-envelope.ts';
import type { AddressGate } from './address-gate.ts';
import { GrowingBody, HeldBodies } from './held-bodies.ts';
import { ReadingTurns } from './reading-turns.ts';
import { parameterCountOf, type RequestHead, readHead } from './request-head.ts';
import { type StaticDocument, sendDocument } from './static-document.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A handler answers its call now or later; `body` is empty for GET. A rejected promise is answered with 500. */
export type HttpHandler = (call: HttpCall, body: Uint8Array) => void | Promise<void>;

export interface HttpRoute {
  readonly method: HttpMethod;
  /** uWebSockets.js pattern: `/orders/:user_id`. A static segment wins over a parameter. */
  readonly pattern: string;
  readonly handler: HttpHandler;
  /** The longest body that is read; SMALL_BODY_BYTES_MAX unless given. A longer one is 413. */
  readonly bodyBytesMax?: number;
  /** What the client is told when the handler has not answered within `deadlineMs`; 504 TIMEOUT unless given. */
  readonly late?: Reject;
  readonly deadlineMs?: number;
}

/** What a listener tells its owner. None of these may throw. */
export interface EdgeObserver {
  /** After each answered request: the route's pattern and the status. */
  answered(pattern: string, status: number): void;
  /** An exception out of a handler. The client has its 500 already; an InvariantError should stop the node. */
  failed(where: string, error: unknown): void;
  /** A socket fell behind and is being closed (AMB-94). */
  lagged(pattern: string): void;
}

const STATUS_LINE: Readonly<Record<number, string>> = {
  200: '200 OK',
  202: '202 Accepted',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  413: '413 Payload Too Large',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
};
for (const status of Object.values(REJECT_STATUS)) {
  assert(STATUS_LINE[status] !== undefined, `a status line for ${status}`);
}

const LATE: Reject = reject('TIMEOUT', 'the service did not answer in time');
const SLOW_BODY: Reject = reject('TIMEOUT', 'the body did not arrive in time');
const NOT_READ: Reject = reject('SERVICE_UNAVAILABLE', 'too many bodies wait to be read');
const NO_ROOM: Reject = reject('SERVICE_UNAVAILABLE', 'too many bodies are on their way');
const NO_BODY = new Uint8Array(0);
/** A refused body up to this length is read and dropped, so that the client can read its 413; a longer one is cut. */
const DISCARD_BYTES_MAX = 16 * BODY_BYTES_MAX;

export const DEADLINE_MS_DEFAULT = 5_000;
const SWEEP_MS = 100;
/** Requests that wait for an answer or their body at the same time, per listener. More are refused with 503. */
export const PENDING_CALLS_MAX = 16_384;

/** What every call of a listener shares. */
export interface Listener {
  readonly observer: EdgeObserver;
  /** Null: addresses are not limited. */
  readonly gate: AddressGate | null;
  /** When bodies are read; turns of its own unless given. */
  readonly turns?: ReadingTurns;
  /** Bytes of all bodies that are on their way or wait; BODIES_HELD_MAX unless given. */
  readonly bodiesHeldMax?: number;
  /** Open sockets; SOCKETS_MAX unless given. */
  readonly socketsMax?: number;
}

/** One request and its answer. Lives until answered or aborted; afterwards every method does nothing. */
export class HttpCall {
  readonly head: RequestHead;
  /** Real milliseconds (monotonic) at which the listener answers for the handler. */
  readonly deadlineMs: number;
  readonly #late: Reject;
  readonly #response: HttpResponse;
  readonly #pattern: string;
  readonly #listener: Listener;
  /** Of the client; '' where nobody asks. */
  readonly address: string;
  #open = true;
  #body: 'arriving' | 'waiting' | 'handled' = 'arriving';
  /** Of the body that was read and that nobody has paid for. */
  #unpaidBytes = 0;

  constructor(
    head: RequestHead,
    response: HttpResponse,
    route: { readonly pattern: string; readonly late: Reject; readonly deadlineMs: number },
    listener: Listener,
  ) {
    this.head = head;
    this.address = listener.gate?.addressOf(response, head.headers['x-forwarded-for']) ?? '';
    this.deadlineMs = route.deadlineMs;
    this.#late = route.late;
    this.#response = response;
    this.#pattern = route.pattern;
    this.#listener = listener;
    response.onAborted(() => {
      this.#open = false;
    });
  }

  /** False once answered or when the client is gone: work for this call may stop. */
  get open(): boolean {
    return this.#open;
  }

  /** Answers 200 (or `status`) with JSON. */
  reply(body: string | Uint8Array, status = 200): void {
    this.#end(status, body, undefined, false);
  }

  /** Answers with something that never changes; 304 to whoever has it already. */
  replyDocument(document: StaticDocument): void {
    if (!this.#open) return;
    this.#open = false;
    this.#listener.observer.answered(this.#pattern, sendDocument(this.#response, this.head, document));
  }

  /** Answers 200 with JSON, and that the route will go away (MRG-28, VER-03). */
  replyDeprecated(body: string): void {
    this.#end(200, body, ['Deprecation', 'true'], false);
  }

  /** Answers with the error envelope and the status of the code. */
  refuse(reason: Reject): void {
    this.#refused(reason, undefined, false);
  }

  /** 405, with the methods that the path does have; '' for none. */
  refuseMethod(allowed: string): void {
    const reason = reject('METHOD_NOT_ALLOWED', `this path answers ${allowed === '' ? 'nothing' : allowed}`);
    this.#refused(reason, ['Allow', allowed], false);
  }

  /** 426: the path is a WebSocket stream. */
  refusePlainGet(): void {
    const reason = reject('UPGRADE_REQUIRED', 'this path is a WebSocket stream');
    this.#refused(reason, ['Upgrade', 'websocket'], false);
  }

  /** The body is here, and will be read when its turn comes. */
  bodyArrived(): void {
    this.#body = 'waiting';
  }

  /** The body is read now; from now on lateness is the handler's. */
  bodyRead(bytes: number): void {
    this.#body = 'handled';
    this.#unpaidBytes = bytes;
  }

  /** The address pays for the bytes that were read for it, also when all is well: nobody has logged in. */
  chargeBody(): void {
    this.#listener.gate?.chargeBytes(this.address, this.#unpaidBytes);
    this.#unpaidBytes = 0;
  }

  /** The address pays in advance, for what is answered without a session. @returns RATE_LIMITED, or null. */
  payAddress(units: bigint): Reject | null {
    return this.#listener.gate?.pay(this.address, units) ?? null;
  }

  /** The deadline is over. A body that is still on its way is not waited for, and its address pays for the wait. */
  refuseLate(): void {
    if (this.#body === 'handled') this.refuse(this.#late);
    else if (this.#body === 'waiting') this.refuse(NOT_READ);
    else {
      if (this.#open) this.#listener.gate?.chargeStalled(this.address);
      this.refuseAndClose(SLOW_BODY);
    }
  }

  /** Refuses and ends the connection, for a body nobody will read to its end. */
  refuseAndClose(reason: Reject): void {
    this.#refused(reason, undefined, true);
  }

  /** The response is about to become a WebSocket: this call is over and answers nothing. */
  handOver(): void {
    assert(this.#open, 'only an open call is upgraded');
    this.#open = false;
  }

  /** Answers 500 and reports the exception to the owner of the listener. */
  fail(where: string, error: unknown): void {
    this.refuse(reject('INTERNAL_ERROR', 'the request failed inside the service'));
    this.#listener.observer.failed(where, error);
  }

  #refused(reason: Reject, header: readonly [string, string] | undefined, close: boolean): void {
    if (!this.#open) return;
    this.#listener.gate?.charge(this.address, reason.code, this.#unpaidBytes);
    const trace = parseTraceparent(this.head.headers.traceparent) ?? newTraceIds();
    this.#end(REJECT_STATUS[reason.code], errorEnvelope(reason, trace), header, close);
  }

  #end(status: number, body: string | Uint8Array, header: readonly [string, string] | undefined, close: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    const response = this.#response;
    response.cork(() => {
      response.writeStatus(STATUS_LINE[status] ?? `${status}`);
      response.writeHeader('Content-Type', 'application/json');
      if (header !== undefined) response.writeHeader(header[0], header[1]);
      // A HEAD that is told the length of the body it does not get is never over for the server: it would keep its
      // connection, without a timer, for as long as the client likes.
      if (this.head.method !== 'HEAD') response.end(body, close);
      else if (close) response.end('', true);
      else response.endWithoutBody();
    });
    this.#listener.observer.answered(this.#pattern, status);
  }
}

/** A call with its abort handler in place. */
export function newCall(
  head: RequestHead,
  response: HttpResponse,
  pattern: string,
  listener: Listener,
  lateness: Pick<HttpRoute, 'late' | 'deadlineMs'> = {},
): HttpCall {
  const deadlineMs = performance.now() + (lateness.deadlineMs ?? DEADLINE_MS_DEFAULT);
  return new HttpCall(head, response, { pattern, late: lateness.late ?? LATE, deadlineMs }, listener);
}

function newTraceIds(): TraceIds {
  const text = toHex(randomBytes(24));
  return { traceId: text.slice(0, 32), spanId: text.slice(32) };
}

/**
 * The HTTP side of one uWebSockets.js app: routes, deadlines, and an envelope for everything that is not a route.
 *
 * Register all routes and socket paths, then `seal()` once: it adds 426 for plain GETs of socket paths (AMB-97), 405
 * for other methods of known paths and 404 for the rest. `stop()` before the app is closed.
 */
export class HttpRoutes {
  readonly #app: TemplatedApp;
  readonly #listener: Listener;
  readonly #methods = new Map<string, Set<HttpMethod>>();
  readonly #socketPaths = new Set<string>();
  readonly #methodless = new Set<string>();
  readonly #pending = new Set<HttpCall>();
  readonly #turns: ReadingTurns;
  /** Bodies that are on their way or wait to be read. */
  readonly #bodies = new HeldBodies<HttpCall>();
  readonly #sweep: NodeJS.Timeout;
  #sealed = false;

  constructor(app: TemplatedApp, listener: Listener) {
    this.#app = app;
    this.#listener = listener;
    this.#turns = listener.turns ?? new ReadingTurns();
    this.#sweep = setInterval(() => this.#refuseLateCalls(), SWEEP_MS);
  }

  /** Calls that wait for their handler or their body now. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Bytes of bodies that are on their way or wait to be read. */
  get heldBytes(): number {
    return this.#bodies.bytes;
  }

  add(route: HttpRoute): void {
    assert(!this.#sealed, 'routes are added before seal()');
    const known = this.#methods.get(route.pattern) ?? new Set<HttpMethod>();
    assert(!known.has(route.method), `route given twice: ${route.method} ${route.pattern}`);
    this.#methods.set(route.pattern, known.add(route.method));
    const parameterCount = parameterCountOf(route.pattern);
    const register = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'del' } as const;
    this.#app[register[route.method]](route.pattern, (response, request) => {
      const call = this.#begin(response, request, route, parameterCount);
      if (call === null) return;
      if (route.method === 'GET') {
        call.bodyRead(0);
        this.#handle(call, route, NO_BODY);
      } else this.#readBody(call, response, route);
    });
  }

  /** Makes a path known whose GET exists as a WebSocket only. */
  addSocketPath(pattern: string): void {
    assert(!this.#sealed, 'routes are added before seal()');
    this.#socketPaths.add(pattern);
    if (!this.#methods.has(pattern)) this.#methods.set(pattern, new Set());
  }

  /** Makes a path known that answers nothing: every method is 405. */
  addMethodless(pattern: string): void {
    assert(!this.#sealed && !this.#methods.has(pattern), 'a path that answers nothing is named once, before seal()');
    this.#methods.set(pattern, new Set());
    this.#methodless.add(pattern);
  }

  /** What is registered: routes as `GET /orders/user/:user_id`, sockets by their pattern. */
  served(): { readonly routes: readonly string[]; readonly sockets: readonly string[] } {
    const routes = [...this.#methods].flatMap(([pattern, methods]) => [...methods].map((name) => `${name} ${pattern}`));
    return { routes, sockets: [...this.#socketPaths] };
  }

  /** Answers for every path and method without a handler. */
  seal(): void {
    assert(!this.#sealed, 'seal() once');
    this.#sealed = true;
    for (const [pattern, methods] of this.#methods) {
      const parameterCount = parameterCountOf(pattern);
      const isSocket = methods.size === 0 && !this.#methodless.has(pattern);
      const allowed = isSocket ? 'GET' : [...methods].join(', ');
      this.#app.any(pattern, (response, request) => {
        const call = this.#begin(response, request, { pattern }, parameterCount);
        if (call === null) return;
        if (isSocket && call.head.method === 'GET') call.refusePlainGet();
        else call.refuseMethod(allowed);
        this.#pending.delete(call);
      });
    }
    this.#app.any('/*', (response, request) => {
      const call = this.#begin(response, request, { pattern: '/*' }, 0);
      if (call === null) return;
      call.refuse(reject('NOT_FOUND', 'no such path'));
      this.#pending.delete(call);
    });
  }

  /** Ends the deadline timer; answers that are still owed are given up. */
  stop(): void {
    clearInterval(this.#sweep);
    this.#turns.stop();
    this.#pending.clear();
  }

  /** The call of a request, or null when it has been refused already. */
  #begin(
    response: HttpResponse,
    request: HttpRequest,
    route: Pick<HttpRoute, 'pattern' | 'late' | 'deadlineMs'>,
    parameterCount: number,
  ): HttpCall | null {
    const { head, verdict } = readHead(request, parameterCount);
    const call = newCall(head, response, route.pattern, this.#listener, route);
    const notAdmitted = this.#listener.gate?.admit(call.address) ?? null;
    if (notAdmitted !== null) call.refuse(notAdmitted);
    else if (!verdict.ok) call.refuse(verdict.reject);
    else if (this.#pending.size >= PENDING_CALLS_MAX) {
      call.refuse(reject('SERVICE_UNAVAILABLE', 'too many requests are waiting'));
    }
    if (!call.open) return null;
    this.#pending.add(call);
    return call;
  }

  #readBody(call: HttpCall, response: HttpResponse, route: HttpRoute): void {
    const { bodyBytesMax = SMALL_BODY_BYTES_MAX } = route;
    const announced = Number(call.head.headers['content-length']);
    const tooLarge = reject('PAYLOAD_TOO_LARGE', `a body of this path has at most ${bodyBytesMax} bytes`);
    if (announced > bodyBytesMax) {
      this.#pending.delete(call);
      if (announced > DISCARD_BYTES_MAX) call.refuseAndClose(tooLarge);
      else call.refuse(tooLarge);
      return;
    }
    const body = new GrowingBody();
    let length = 0;
    response.onData((chunk, isLast) => {
      if (!call.open) return;
      length += chunk.byteLength;
      if (length > DISCARD_BYTES_MAX) this.#refuseBody(call, tooLarge);
      else if (length <= bodyBytesMax) {
        body.append(new Uint8Array(chunk));
        this.#bodies.hold(call, body.heldBytes);
        if (this.#bodies.bytes > (this.#listener.bodiesHeldMax ?? BODIES_HELD_MAX)) this.#refuseBody(call, NO_ROOM);
        else if (isLast) this.#readInTurn(call, route, body.bytes());
      } else {
        this.#bodies.hold(call, 0);
        // Too long and of unknown length: what came is counted and dropped, so that the client reads its 413.
        if (isLast) call.refuse(tooLarge);
      }
    });
  }

  #refuseBody(call: HttpCall, reason: Reject): void {
    this.#forget(call);
    call.refuseAndClose(reason);
  }

  #readInTurn(call: HttpCall, route: HttpRoute, body: Uint8Array): void {
    call.bodyArrived();
    this.#turns.take(body.byteLength, () => {
      this.#bodies.hold(call, 0);
      if (!call.open) return;
      call.bodyRead(body.byteLength);
      this.#handle(call, route, body);
    });
  }

  #forget(call: HttpCall): void {
    this.#pending.delete(call);
    this.#bodies.hold(call, 0);
  }

  #handle(call: HttpCall, route: HttpRoute, body: Uint8Array): void {
    try {
      const later = route.handler(call, body);
      if (later === undefined) {
        if (!call.open) this.#pending.delete(call);
        return;
      }
      later
        .catch((error: unknown) => call.fail(`${route.method} ${route.pattern}`, error))
        .finally(() => this.#pending.delete(call));
    } catch (error) {
      call.fail(`${route.method} ${route.pattern}`, error);
      this.#pending.delete(call);
    }
  }

  /** Bounded by PENDING_CALLS_MAX; also forgets the calls whose client went away or that were answered later. */
  #refuseLateCalls(): void {
    const nowMs = performance.now();
    for (const call of this.#pending) {
      if (call.open && nowMs >= call.deadlineMs) call.refuseLate();
      if (!call.open) this.#forget(call);
    }
  }
}
