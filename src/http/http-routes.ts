/**
 * HTTP on uWebSockets.js: routes, admission, bodies, deadlines.
 *
 *   raw request ─▶ address permitted? ─▶ RequestHead (copied) ─▶ [body, counted] ─▶ scheduled ─▶ handler ─▶ reply / refuse
 *                       │ 429, closed       │ 400, closed       413 │ │ 503           │ throws: 500, reported
 *
 * Invariants
 *   (1) A raw HttpRequest is never kept: everything is copied before the route function returns.
 *   (2) Every request counts towards the work limit of one pass of the event loop (reading-turns.ts), independent of its
 *       reply; requests beyond it wait. If a connection sends another request while one waits, the server closes it, so a
 *       connection has one request in progress, and one that pipelines more than fits a pass is closed.
 *   (3) Incomplete bodies are limited individually, per route, and in total; so are replies (unread-replies.ts).
 *   (4) Requests of an address without budget are rejected before they are parsed, and their connection is closed; below
 *       the negative limit it is closed without a reply. Behind a terminator connections are shared and stay open.
 *   (5) After a request with an ambiguous length, or too long a head, nothing is read (RFC 9112 6.3, 11.2).
 *   (6) A query member that a route does not have is an error of the request, on every path (wire-additions.md 11.3).
 *
 * One call and its reply are in uws-http.ts, the routes themselves in mds-server.ts and oms-routes.ts, sockets in
 * uws-socket.ts.
 */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { assert } from '../core/assert.ts';
import { BODIES_HELD_MAX, BODY_BYTES_MAX, CLOSING_REPLIES_MAX, SMALL_BODY_BYTES_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
import { GrowingBody, HeldBodies } from './held-bodies.ts';
import type { PassedRequest, ReplyTarget } from './passed-requests.ts';
import type { AppRoutes } from './public-app.ts';
import { NO_MEMBERS, queryFault } from './query.ts';
import { laneOf, ReadingTurns } from './reading-turns.ts';
import { briefHead, parameterCountOf, readHead } from './request-head.ts';
import { UnreadReplies } from './unread-replies.ts';
import {
  type CallParts,
  DEADLINE_MS_DEFAULT,
  HttpCall,
  type HttpRoute,
  type Listener,
  type RouteMethod,
} from './uws-http.ts';

const LATE: Reject = reject('TIMEOUT', 'the service did not answer in time');
const NO_ROOM: Reject = reject('SERVICE_UNAVAILABLE', 'too many bodies are on their way');
const TOO_MANY: Reject = reject('SERVICE_UNAVAILABLE', 'too many requests are waiting');
const NO_BODY = new Uint8Array(0);
/**
 * A rejected body up to this length is read and dropped, so that the client can read its 413; beyond it the connection
 * is closed.
 */
const DISCARD_BYTES_MAX = 16 * BODY_BYTES_MAX;
/** From one search for late calls and unread replies to the next; their limits are seconds. */
const SWEEP_MS = 500;
/** Requests that wait for a reply or their body, per listener. Further ones are rejected with 503. */
const PENDING_CALLS_MAX = 16_384;
/** How many of them may have an incomplete body: beyond it the one that has been arriving longest is dropped. */
const BODIES_ARRIVING_MAX = 8_192;

/**
 * The HTTP side of one uWebSockets.js app: routes, deadlines, and an error envelope for every other path.
 *
 * Register all routes and socket paths, then `seal()` once: it adds 426 for plain GETs of socket paths (AMB-97), 405
 * for other methods of known paths and 404 for the rest. `stop()` before the app is closed.
 */
export class HttpRoutes {
  readonly #app: AppRoutes;
  readonly #listener: Listener;
  readonly #methods = new Map<string, Set<RouteMethod>>();
  /** By method and pattern. */
  readonly #routes = new Map<string, HttpRoute>();
  readonly #socketPaths = new Set<string>();
  readonly #methodless = new Set<string>();
  readonly #pending = new Set<HttpCall>();
  /** Work scheduling of this listener; all its other reads use it too. */
  readonly turns: ReadingTurns;
  readonly #unread: UnreadReplies;
  readonly #parts: CallParts;
  /** Bodies that are incomplete or wait to be parsed. */
  readonly #bodies = new HeldBodies<HttpCall>();
  readonly #sweep: NodeJS.Timeout;
  #closing = 0;
  #sealed = false;

  constructor(app: AppRoutes, listener: Listener) {
    this.#app = app;
    this.#listener = listener;
    this.turns = listener.turns ?? new ReadingTurns();
    this.#unread = listener.unread ?? new UnreadReplies();
    const { observer, gate } = listener;
    this.#parts = { observer, gate, unread: this.#unread, planClosing: (work) => this.#planClosing(work) };
    this.#sweep = setInterval(() => {
      this.#refuseLateCalls();
      this.#unread.sweep(performance.now());
    }, SWEEP_MS);
  }

  /** Number of calls that wait for their handler or their body. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Bytes of bodies that are incomplete or wait to be parsed. */
  get heldBytes(): number {
    return this.#bodies.bytes;
  }

  /** Bytes of replies that clients have not read. */
  get unreadBytes(): number {
    return this.#unread.bytes;
  }

  add(route: HttpRoute): void {
    assert(!this.#sealed, 'routes are added before seal()');
    assert(!this.has(route), `route given twice: ${route.method} ${route.pattern}`);
    this.#routes.set(nameOf(route), route);
    for (const pattern of this.pathsOf(route.pattern)) this.#addAt(pattern, route);
  }

  has(route: Pick<HttpRoute, 'method' | 'pattern'>): boolean {
    return this.#routes.has(nameOf(route));
  }

  /** The patterns under which a path is served. */
  pathsOf(pattern: string): readonly string[] {
    const { alsoBelow } = this.#listener;
    return alsoBelow === undefined ? [pattern] : [pattern, `${alsoBelow}${pattern}`];
  }

  #addAt(pattern: string, route: HttpRoute): void {
    const known = this.#methods.get(pattern) ?? new Set<RouteMethod>();
    this.#methods.set(pattern, known.add(route.method));
    const parameterCount = parameterCountOf(pattern);
    const register = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'del' } as const;
    const receive = (response: HttpResponse, request: HttpRequest): void => {
      const call = this.begin(response, request, route, parameterCount);
      if (call === null) return;
      if (readsBody(route)) this.#readBody(call, response, route);
      else this.inTurn(call, () => this.#handle(call, route, NO_BODY));
    };
    this.#app.register((app) => {
      app[register[route.method]](pattern, receive);
      // HEAD is GET without the body of the reply (RFC 9110 9.3.2).
      if (route.method === 'GET') app.head(pattern, receive);
    });
  }

  /** Answers a request that another thread's listener has received; it counts as one of this listener's. */
  answer(request: PassedRequest, response: ReplyTarget, unknown: Reject): void {
    const { head, address, body } = request;
    const route = this.#routes.get(nameOf(request));
    const { late = LATE, deadlineMs = DEADLINE_MS_DEFAULT } = route ?? {};
    const { pattern } = request;
    // The listener of the connection writes the header of origins.
    const about = { pattern, late, deadlineMs, anyOrigin: false };
    const call = new HttpCall(head, response, address, about, this.#parts);
    if (route === undefined) call.refuse(unknown);
    else if (this.#pending.size >= PENDING_CALLS_MAX) call.refuse(TOO_MANY);
    else {
      this.#pending.add(call);
      // mutant: passed-reads-in-turn
      if (!readsBody(route)) this.inTurn(call, () => this.#handle(call, route, NO_BODY));
      else this.#readInTurn(call, route, body);
    }
  }

  /** A plain GET of a WebSocket path, where another route's pattern would take it for its own. */
  addPlainSocketGet(pattern: string, isListed = true): void {
    this.add({ method: 'GET', pattern, query: null, isListed, handler: (call) => call.refusePlainGet() });
  }

  /** Registers a path with a WebSocket stream as its only GET. @param isListed as of an HttpRoute. */
  addSocketPath(pattern: string, isListed = true): void {
    assert(!this.#sealed, 'routes are added before seal()');
    if (isListed) this.#socketPaths.add(pattern);
    for (const path of this.pathsOf(pattern)) if (!this.#methods.has(path)) this.#methods.set(path, new Set());
  }

  /** Registers a path without methods: every request is 405. */
  addMethodless(pattern: string): void {
    assert(!this.#sealed && !this.#methods.has(pattern), 'a path that answers nothing is named once, before seal()');
    this.#methods.set(pattern, new Set());
    this.#methodless.add(pattern);
  }

  /** The registered routes as `GET /orders/user/:user_id`, and sockets by their pattern. */
  served(): { readonly routes: readonly string[]; readonly sockets: readonly string[] } {
    const routes = [...this.#routes].flatMap(([name, { isListed = true }]) => (isListed ? [name] : []));
    return { routes, sockets: [...this.#socketPaths] };
  }

  /** Adds the replies for every path and method without a handler. */
  seal(): void {
    assert(!this.#sealed, 'seal() once');
    this.#sealed = true;
    for (const [pattern, methods] of this.#methods) {
      const parameterCount = parameterCountOf(pattern);
      const isSocket = methods.size === 0 && !this.#methodless.has(pattern);
      const allowed = (isSocket ? ['GET'] : [...methods]).map(allowedForm).join(', ');
      this.#any(pattern, parameterCount, (call) => {
        if (isSocket && (call.head.method === 'GET' || call.head.method === 'HEAD')) call.refusePlainGet();
        else call.refuseMethod(allowed);
      });
    }
    this.#any('/*', 0, (call) => call.refuse(reject('NOT_FOUND', 'no such path')));
  }

  /** Whatever no route of the path takes. */
  #any(pattern: string, parameterCount: number, refuse: (call: HttpCall) => void): void {
    this.#app.register((app) =>
      app.any(pattern, (response, request) => {
        const call = this.begin(response, request, { pattern }, parameterCount);
        if (call === null) return;
        this.inTurn(call, () => {
          refuse(call);
          this.#pending.delete(call);
        });
      }),
    );
  }

  /** Ends the deadline timer; pending replies are dropped. */
  stop(): void {
    clearInterval(this.#sweep);
    this.turns.stop();
    this.#pending.clear();
  }

  /** Creates the call of a request, or null after a rejection. Must run inside the route function. */
  begin(
    response: HttpResponse,
    request: HttpRequest,
    route: Pick<HttpRoute, 'pattern' | 'late' | 'deadlineMs' | 'anyOrigin'>,
    parameterCount: number,
  ): HttpCall | null {
    const { gate } = this.#listener;
    // An address that owns its connections is determined before anything is read.
    const own = gate?.ownsConnections === true ? gate.addressOf(response, '') : null;
    const isRefused = own !== null && gate?.isEmpty(own) === true;
    const { head, verdict, endsConnection } = isRefused ? briefHead(request) : readHead(request, parameterCount);
    const address = own ?? gate?.addressOf(response, head.headers['x-forwarded-for']) ?? '';
    const { pattern, late = LATE, deadlineMs = DEADLINE_MS_DEFAULT, anyOrigin = false } = route;
    const call = new HttpCall(head, response, address, { pattern, late, deadlineMs, anyOrigin }, this.#parts);
    const notAdmitted = gate?.admit(address) ?? null;
    if (notAdmitted !== null) this.#refuseUnread(call, notAdmitted);
    else if (!verdict.ok && endsConnection) call.refuseAndClose(verdict.reject);
    else if (this.#pending.size >= PENDING_CALLS_MAX) call.refuseAndClose(TOO_MANY);
    if (!call.open) return null;
    this.#pending.add(call);
    const refusal = verdict.ok ? (this.#listener.notServing?.(pattern) ?? null) : verdict.reject;
    if (refusal === null) return call;
    this.inTurn(call, () => {
      call.refuse(refusal);
      this.#pending.delete(call);
    });
    return null;
  }

  /** Handles a request without a body now, or in one of the next passes. */
  inTurn(call: HttpCall, handle: () => void): void {
    call.bodyArrived();
    this.turns.take(
      0,
      () => {
        if (!call.open) return;
        call.bodyRead(0);
        handle();
      },
      'reads',
    );
  }

  /** Handles a request without a body in the pass that read it, whatever that pass has done: for upgrades, which may not wait. */
  now(call: HttpCall, handle: () => void): void {
    call.bodyArrived();
    call.bodyRead(0);
    this.turns.note(0);
    this.turns.timed(handle);
  }

  /** Ends tracking of the call. */
  end(call: HttpCall): void {
    this.#pending.delete(call);
  }

  /** Rejects a request of an address with an empty bucket. */
  #refuseUnread(call: HttpCall, reason: Reject): void {
    const { gate } = this.#listener;
    if (gate === null || !gate.ownsConnections) call.refuse(reason);
    else if (gate.isFlooding(call.address)) call.cut();
    else call.refuseAndClose(reason);
  }

  #planClosing(work: () => void): boolean {
    if (this.#closing >= CLOSING_REPLIES_MAX) return false;
    this.#closing += 1;
    const read = (): void => {
      this.#closing -= 1;
      work();
    };
    this.turns.wait('reads', 0, { read });
    return true;
  }

  #readBody(call: HttpCall, response: HttpResponse, route: HttpRoute): void {
    const { bodyBytesMax = SMALL_BODY_BYTES_MAX } = route;
    const announced = Number(call.head.headers['content-length']);
    const tooLarge = reject('PAYLOAD_TOO_LARGE', `a body of this path has at most ${bodyBytesMax} bytes`);
    if (announced > DISCARD_BYTES_MAX) {
      this.#refuseBody(call, tooLarge);
      return;
    }
    if (announced > bodyBytesMax) {
      this.inTurn(call, () => {
        this.#pending.delete(call);
        call.refuse(tooLarge);
      });
      return;
    }
    const body = new GrowingBody();
    let length = 0;
    response.onData((chunk, isLast) => {
      if (!call.open) return;
      length += chunk.byteLength;
      if (length > DISCARD_BYTES_MAX) this.#refuseBody(call, tooLarge);
      else if (length <= bodyBytesMax) {
        if (isLast) this.#bodies.end(call);
        body.append(new Uint8Array(chunk));
        this.#bodies.hold(call, body.heldBytes);
        if (!this.#makeRoom()) this.#refuseBody(call, NO_ROOM);
        else if (isLast && call.open) this.#readInTurn(call, route, body.bytes());
      } else {
        this.#bodies.hold(call, 0);
        // Too long and of unknown length: received bytes are counted and dropped, so that the client reads its 413.
        call.bodyRefused(tooLarge);
        if (isLast) this.inTurn(call, () => call.refuse(tooLarge));
      }
    });
    this.#bodies.begin(call);
    this.#makeRoom();
  }

  /** Drops the longest arriving bodies until the others fit. @returns whether they fit. */
  #makeRoom(): boolean {
    const bytesMax = this.#listener.bodiesHeldMax ?? BODIES_HELD_MAX;
    const arrivingMax = this.#listener.bodiesArrivingMax ?? BODIES_ARRIVING_MAX;
    while (this.#bodies.bytes > bytesMax || this.#bodies.arrivingCount > arrivingMax) {
      const slowest = this.#bodies.longestArriving;
      if (slowest === null) return false;
      this.#refuseBody(slowest, NO_ROOM);
    }
    return true;
  }

  #refuseBody(call: HttpCall, reason: Reject): void {
    this.#forget(call);
    call.refuseAndClose(reason);
  }

  #readInTurn(call: HttpCall, route: HttpRoute, body: Uint8Array): void {
    call.bodyArrived();
    const { byteLength } = body;
    const { urgency, refused, overtakes } = route;
    const read = (handle: () => void): void => {
      this.#bodies.hold(call, 0);
      if (!call.open) return;
      call.bodyRead(byteLength);
      handle();
    };
    const handle = (): void => this.#handle(call, route, body);
    const refuse = (): void =>
      read(() => {
        if (queryFaultOf(call, route) === null && refused?.(call, body) === true) this.#pending.delete(call);
        else handle();
      });
    const lane = laneOf(byteLength, urgency);
    if (overtakes !== undefined && !this.turns.hasRoom(byteLength, lane) && overtakes(call, body))
      this.turns.take(byteLength, () => read(handle), laneOf(byteLength, 'cancel'));
    else this.turns.take(byteLength, () => read(handle), lane, refused && refuse);
  }

  #forget(call: HttpCall): void {
    this.#pending.delete(call);
    this.#bodies.end(call);
    this.#bodies.hold(call, 0);
  }

  #handle(call: HttpCall, route: HttpRoute, body: Uint8Array): void {
    try {
      const fault = queryFaultOf(call, route);
      const later = fault === null ? route.handler(call, body) : call.refuse(fault);
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

  /** Bounded by PENDING_CALLS_MAX; also removes calls that were aborted or answered. */
  #refuseLateCalls(): void {
    const nowMs = performance.now();
    for (const call of this.#pending) {
      if (call.open && nowMs >= call.deadlineMs) call.refuseLate();
      if (!call.open) this.#forget(call);
    }
  }
}

function nameOf({ method, pattern }: Pick<HttpRoute, 'method' | 'pattern'>): string {
  return `${method} ${pattern}`;
}

function readsBody(route: HttpRoute): boolean {
  return route.method !== 'GET' || route.readsBody === true;
}

/** A method in `Allow`. */
function allowedForm(method: string): string {
  return method === 'GET' ? 'GET, HEAD' : method;
}

function queryFaultOf({ head }: HttpCall, { query = NO_MEMBERS }: HttpRoute): Reject | null {
  return query === null ? null : queryFault(head.query, query);
}
