/**
 * One HTTP request and its reply: the only wrapper around a raw response of uWebSockets.js.
 *
 *   open ── reply, refuse ─▶ answered: written now, in one cork; the unaccepted rest stays pending (unread-replies.ts)
 *     │ refuseAndClose
 *     ▼
 *   closing: written in a later pass of the event loop, then the connection is closed
 *
 * Invariants
 *   (1) Every raw HttpResponse has an abort handler before anything else happens, and is used only while it is open.
 *   (2) A call is answered at most once; without a handler's reply the deadline answers it, so none waits indefinitely.
 *   (3) Header names and values are constants.
 *   (4) An error is charged to its address, if there is a gate (AMB-91), with the bytes read for it.
 *   (5) No request after one that closes its connection is answered. The server's parser continues with the bytes after it
 *       and would answer them if the error were written at once; while it waits, the next request ends the
 *       connection.
 *
 * Routes and scheduling are in http-routes.ts, sockets in uws-socket.ts.
 */

import { randomBytes } from 'node:crypto';
import { errorEnvelope, parseTraceparent, type TraceIds } from '../codec/error-envelope.ts';
import { assert } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import { REJECT_STATUS, type Reject, type RejectName, reject } from '../core/reject.ts';
import type { AddressGate } from './address-gate.ts';
import type { PassedReply, ReplyTarget } from './passed-requests.ts';
import type { QueryMembers } from './query.ts';
import type { ReadingTurns, Urgency } from './reading-turns.ts';
import type { RequestHead } from './request-head.ts';
import { type StaticDocument, sendDocument } from './static-document.ts';
import type { UnreadReplies } from './unread-replies.ts';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A handler answers its call now or later; `body` is empty for a GET that does not read it. A rejected promise is answered with 500. */
export type HttpHandler = (call: HttpCall, body: Uint8Array) => void | Promise<void>;

export interface HttpRoute {
  readonly method: RouteMethod;
  /** uWebSockets.js pattern: `/orders/:user_id`. A static segment takes precedence over a parameter. */
  readonly pattern: string;
  readonly handler: HttpHandler;
  /** Its query members, none by default, others are 400 (wire-additions.md 11.3); null where the handler reads the query itself. */
  readonly query?: QueryMembers | null;
  /** False: it is another listener's, and not among this one's routes in the API documents. */
  readonly isListed?: boolean;
  /** Pages of any origin may read its replies in a browser, without credentials (MCH-06); by default none may. */
  readonly anyOrigin?: boolean;
  /** Whether the body of a GET is read, as that of every other method is. */
  readonly readsBody?: boolean;
  /** Limit of the body; by default SMALL_BODY_BYTES_MAX. A longer one is 413. */
  readonly bodyBytesMax?: number;
  /** The error when the handler has not answered within `deadlineMs`; by default 504 TIMEOUT. */
  readonly late?: Reject;
  readonly deadlineMs?: number;
  /** When its body is read; by default after cancels, a short one before orders. */
  readonly urgency?: Urgency;
  /** Of an order that would wait: whether it is read as a cancel is; none is unless given. */
  readonly overtakes?: (call: HttpCall, body: Uint8Array) => boolean;
  /** Instead of the handler for an order that has waited too long. @returns false when the handler is to answer. */
  readonly refused?: (call: HttpCall, body: Uint8Array) => boolean;
}

/** Callbacks of a listener. They must not throw. */
export interface EdgeObserver {
  /**
   * After each answered request.
   *
   * @param isRead whether it was a GET or a HEAD.
   * @param ms since its head was read.
   */
  answered(pattern: string, status: number, isRead: boolean, ms: number): void;
  /** A client is refused with this code, whatever carries it; not called unless given. */
  refused?(code: RejectName): void;
  /** An exception of a handler. The client has its 500 already; an InvariantError should stop the node. */
  failed(where: string, error: unknown): void;
  /** A socket lagged and is being closed (AMB-94, MCH-08). */
  lagged(socket: LaggedSocket): void;
}

/** A connection that is closed because its client does not read. */
export interface LaggedSocket {
  /** Its path, with parameters as the route has them. */
  readonly path: string;
  /** The address of the client; '' if addresses are not limited. */
  readonly address: string;
  /** The user of its session; null for public streams. */
  readonly user: string | null;
  /** Sent and not received. */
  readonly bytes: number;
}

const STATUS_LINE: Readonly<Record<number, string>> = {
  200: '200 OK',
  202: '202 Accepted',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  410: '410 Gone',
  413: '413 Payload Too Large',
  414: '414 URI Too Long',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
};
for (const status of Object.values(REJECT_STATUS)) {
  assert(STATUS_LINE[status] !== undefined, `a status line for ${status}`);
}

type Headers = readonly (readonly [name: string, value: string])[];
const ANY_ORIGIN: Headers = [['Access-Control-Allow-Origin', '*']];
const JSON_HEADERS: Headers = [['Content-Type', 'application/json']];

const SLOW_BODY: Reject = reject('TIMEOUT', 'the body did not arrive in time');
const NOT_READ: Reject = reject('SERVICE_UNAVAILABLE', 'too many requests wait to be read');

export const DEADLINE_MS_DEFAULT = 5_000;

/** Common objects of all calls of a listener. */
export interface Listener {
  readonly observer: EdgeObserver;
  /** Null: addresses are not limited. */
  readonly gate: AddressGate | null;
  /** Why a request for this pattern is not answered now, whatever it holds; null: it is. By default all are. */
  readonly notServing?: ((pattern: string) => Reject | null) | undefined;
  /** Schedules the handling of requests; by default the listener's own. */
  readonly turns?: ReadingTurns;
  /** Limit of the bytes of all bodies that are incomplete or wait; by default BODIES_HELD_MAX. */
  readonly bodiesHeldMax?: number;
  /** Limit of incomplete bodies; by default half of the calls that may wait. */
  readonly bodiesArrivingMax?: number;
  /** Limit of open sockets; by default SOCKETS_MAX. */
  readonly socketsMax?: number;
  /** Every path is served below this one too, such as `/market-data`; by default at the root only. */
  readonly alsoBelow?: string;
  /** Replies that clients have not read; by default with the limits of limits.ts. */
  readonly unread?: UnreadReplies;
}

/** The parts of its listener that a call uses. */
export interface CallParts {
  readonly observer: EdgeObserver;
  readonly gate: AddressGate | null;
  readonly unread: UnreadReplies;
  /** Schedules work for a later pass. @returns false when too much is scheduled. */
  readonly planClosing: (work: () => void) => boolean;
}

/** The reply of a call without a handler's reply. */
interface CallRoute {
  readonly pattern: string;
  readonly late: Reject;
  /** Real milliseconds. */
  readonly deadlineMs: number;
  readonly anyOrigin: boolean;
}

/** One request and its reply. Valid until answered or aborted; afterwards every method has no effect. */
export class HttpCall {
  readonly head: RequestHead;
  /** Real milliseconds (monotonic) at which the listener answers instead of the handler. */
  readonly deadlineMs: number;
  /** The address of the client; '' if addresses are not limited. */
  readonly address: string;
  readonly #route: CallRoute;
  readonly #response: ReplyTarget;
  readonly #parts: CallParts;
  #state: 'open' | 'closing' | 'done' = 'open';
  #body: 'arriving' | 'waiting' | 'handled' = 'arriving';
  /** The error for a rejected body that is not complete yet. */
  #bodyFault: Reject | null = null;
  /** Bytes of the body that are read but not charged. */
  #unpaidBytes = 0;

  constructor(head: RequestHead, response: ReplyTarget, address: string, route: CallRoute, parts: CallParts) {
    this.head = head;
    this.address = address;
    this.deadlineMs = performance.now() + route.deadlineMs;
    this.#route = route;
    this.#response = response;
    this.#parts = parts;
    response.onAborted(() => {
      this.#state = 'done';
      parts.unread.forget(this);
    });
  }

  /** False once answered or when the client has disconnected: work for this call may stop. */
  get open(): boolean {
    return this.#state === 'open';
  }

  /** Answers 200 (or `status`) with JSON. */
  reply(body: string | Uint8Array, status = 200): void {
    this.#answer(status, body, JSON_HEADERS);
  }

  /** Answers 200 with bytes that are no JSON. */
  replyAs(body: string | Uint8Array, media: string): void {
    this.#answer(200, body, [['Content-Type', media]]);
  }

  /** Replies with a constant document; 304 to a client that has it already. */
  replyDocument(document: StaticDocument): void {
    if (!this.open) return;
    this.#state = 'done';
    const { observer, unread } = this.#parts;
    const isHead = this.head.method === 'HEAD';
    const send = (body: Uint8Array): void => {
      if (isHead) endHead(this.#response, body.byteLength, false);
      else unread.send(this, this.#response, body, false);
    };
    const extra = this.#route.anyOrigin ? ANY_ORIGIN : [];
    this.#answered(observer, sendDocument(this.#response, this.head, { document, extra, send }));
  }

  /** Replies what another thread has answered for this listener. */
  relay({ status, headers, body, refusal }: PassedReply): void {
    if (!this.open) return;
    if (refusal !== null) this.#parts.gate?.charge(this.address, refusal, this.#unpaidBytes);
    this.#state = 'done';
    this.#write(status, body, headers, false);
  }

  /** Replies 200 with JSON and a deprecation header (MRG-28, VER-03). */
  replyDeprecated(body: string): void {
    this.#answer(200, body, [...JSON_HEADERS, ['Deprecation', 'true']]);
  }

  /** Replies with the error envelope and the status of the code. */
  refuse(reason: Reject): void {
    this.#refuse(reason, undefined);
  }

  /** 405, with the methods of the path; '' for none. */
  refuseMethod(allowed: string): void {
    const reason = reject('METHOD_NOT_ALLOWED', `this path answers ${allowed === '' ? 'nothing' : allowed}`);
    this.#refuse(reason, ['Allow', allowed]);
  }

  /** 426: the path is a WebSocket stream. */
  refusePlainGet(): void {
    const reason = reject('UPGRADE_REQUIRED', 'this path is a WebSocket stream');
    this.#refuse(reason, ['Upgrade', 'websocket']);
  }

  /** 426: another version of the WebSocket protocol (RFC 6455 4.4). */
  refuseSocketVersion(): void {
    const reason = reject('UPGRADE_REQUIRED', 'the version of the WebSocket protocol is 13');
    this.#refuse(reason, ['Sec-WebSocket-Version', '13']);
  }

  /** The request is complete and will be handled when scheduled. */
  bodyArrived(): void {
    this.#body = 'waiting';
  }

  /** The body is too long; it is read to its end, so that the client reads the error. */
  bodyRefused(reason: Reject): void {
    this.#bodyFault = reason;
  }

  /** The body is parsed now; from now on the handler is responsible for the deadline. */
  bodyRead(bytes: number): void {
    this.#body = 'handled';
    this.#unpaidBytes = bytes;
  }

  /** Charges the address for the bytes read for it, also for a successful request: there is no session. */
  chargeBody(): void {
    this.#parts.gate?.chargeBytes(this.address, this.#unpaidBytes);
    this.#unpaidBytes = 0;
  }

  /** Charges the address in advance, for replies without a session. @returns RATE_LIMITED, or null. */
  payAddress(units: bigint): Reject | null {
    return this.#parts.gate?.pay(this.address, units) ?? null;
  }

  /** Replies after the deadline. An incomplete body is not awaited, and its address is charged. */
  refuseLate(): void {
    if (this.#body === 'handled') this.refuse(this.#route.late);
    else if (this.#body === 'waiting') this.refuse(NOT_READ);
    else {
      if (this.open) this.#parts.gate?.chargeStalled(this.address);
      this.refuseAndClose(this.#bodyFault ?? SLOW_BODY);
    }
  }

  /** Rejects in a later pass and closes the connection: bytes after the request are never read. */
  refuseAndClose(reason: Reject): void {
    if (!this.open) return;
    this.#response.refusing?.(reason.code);
    const text = this.#charged(reason);
    this.#state = 'closing';
    const isPlanned = this.#parts.planClosing(() => {
      if (this.#state !== 'closing') return;
      this.#state = 'done';
      this.#write(REJECT_STATUS[reason.code], text, JSON_HEADERS, true);
    });
    if (!isPlanned) this.cut();
  }

  /** Counts a refusal that is a part of a reply; those of whole requests are counted by themselves. */
  countRefusal({ code }: Reject): void {
    this.#parts.observer.refused?.(code);
  }

  /** Closes the connection without a reply. */
  cut(): void {
    if (this.#state === 'done') return;
    this.#state = 'done';
    this.#response.close();
  }

  /**
   * Becomes a WebSocket: this call is complete without a reply. Never in a cork of its own response, after which the server
   * may close what was upgraded (decision 0027); in that of another socket it prints no warning.
   */
  handOver(upgrade: () => void, other: { cork(work: () => void): unknown } | null): void {
    assert(this.open, 'only an open call is upgraded');
    this.#state = 'done';
    if (other === null) upgrade();
    else other.cork(upgrade);
  }

  /** Replies 500 and reports the exception to the owner of the listener. */
  fail(where: string, error: unknown): void {
    this.refuse(reject('INTERNAL_ERROR', 'the request failed inside the service'));
    this.#parts.observer.failed(where, error);
  }

  #refuse(reason: Reject, header: readonly [string, string] | undefined): void {
    if (!this.open) return;
    this.#response.refusing?.(reason.code);
    const headers = header === undefined ? JSON_HEADERS : [...JSON_HEADERS, header];
    this.#answer(REJECT_STATUS[reason.code], this.#charged(reason), headers);
  }

  /** Charges the address. @returns the envelope. */
  #charged(reason: Reject): string {
    this.#parts.gate?.charge(this.address, reason.code, this.#unpaidBytes);
    // mutant: refusal-counted
    this.countRefusal(reason);
    return errorEnvelope(reason, parseTraceparent(this.head.headers.traceparent) ?? newTraceIds());
  }

  #answer(status: number, body: string | Uint8Array, headers: Headers): void {
    if (!this.open) return;
    this.#state = 'done';
    this.#write(status, body, headers, false);
  }

  #write(status: number, body: string | Uint8Array, headers: Headers, close: boolean): void {
    const response = this.#response;
    const isHead = this.head.method === 'HEAD';
    response.cork(() => {
      response.writeStatus(STATUS_LINE[status] ?? `${status}`);
      for (const [name, value] of headers) response.writeHeader(name, value);
      if (this.#route.anyOrigin) for (const [name, value] of ANY_ORIGIN) response.writeHeader(name, value);
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      // Without a length: of a 304 it would be that of the document (RFC 9110 8.6).
      if (status === 304) response.endWithoutBody();
      else if (isHead) endHead(response, bytes.byteLength, close);
      else if (close) response.end(bytes, true);
      else this.#parts.unread.send(this, response, bytes, true);
    });
    this.#answered(this.#parts.observer, status);
  }

  /** When its head arrived; real milliseconds, monotonic. */
  get arrivedMs(): number {
    return this.deadlineMs - this.#route.deadlineMs;
  }

  #answered(observer: EdgeObserver, status: number): void {
    const { method } = this.head;
    const ms = performance.now() - this.arrivedMs;
    observer.answered(this.#route.pattern, status, method === 'GET' || method === 'HEAD', ms);
  }
}

/**
 * Ends a reply to HEAD, with the length of the body that GET has. The length is an ordinary header: a length that the
 * server itself announces without a body never completes, and keeps the connection open without a timer. So a reply that
 * closes its connection has the length 0.
 */
function endHead(response: ReplyTarget, bytes: number, close: boolean): void {
  if (close) {
    response.end('', true);
    return;
  }
  response.writeHeader('Content-Length', String(bytes));
  response.endWithoutBody();
}

function newTraceIds(): TraceIds {
  const text = toHex(randomBytes(24));
  return { traceId: text.slice(0, 32), spanId: text.slice(32) };
}
