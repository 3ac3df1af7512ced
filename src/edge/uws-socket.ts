/**
 * WebSocket streams on uWebSockets.js: admission, frames out, text pings, and what happens to a socket that lags.
 *
 *            admit ok                    a send dropped, or 4 MiB or 4,096 messages queued
 *   upgrade ─────────▶ open ───────────────────────────────────────────▶ lagged
 *      │ no             │ finish(code)                       queue empty  │   │ hard-drop time
 *      ▼                ▼                                                 ▼   ▼
 *   HTTP refusal      closed ◀──────────────────────────────── end(code, reason)  cut off
 *
 * Invariants
 *   (1) After a dropped message nothing of the stream is sent: a reader sees a prefix of the stream, never a hole.
 *   (2) A lagged socket is closed or cut within the time of its rule (AMB-94), whatever its peer does.
 *   (3) What waits in memory for slow readers is bounded, per socket and over all sockets of a listener.
 *   (4) The raw socket is used only between its open and its close.
 *
 * Pings go out every 20 s, on busy streams too (WS-07): the server sends one when its idle time less 16 s is over, and
 * counts only what the peer sends. A peer that is silent for 36 s, pongs included, is closed.
 *
 * Not here: what streams carry (mds-server.ts), plain requests (uws-http.ts).
 */

import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { assert, must } from '../core/assert.ts';
import { BODY_BYTES_MAX, SOCKET_LAG_BYTES_MAX, SOCKET_LAG_MESSAGES_MAX } from '../core/limits.ts';
import { LinkedList, ListEntry } from '../core/linked-list.ts';
import { type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isTextPing } from '../wire/stream-frames.ts';
import { Backlog } from './backlog.ts';
import { Connections } from './connections.ts';
import { parameterCountOf, type RequestHead, readHead } from './request-head.ts';
import { uWS } from './uws.ts';
import { type EdgeObserver, type HttpCall, type HttpRoutes, type Listener, newCall } from './uws-http.ts';

/** No frame is longer, inbound or outbound (AMB-95, wire.md 9.1). */
export const FRAME_BYTES_MAX: number = BODY_BYTES_MAX;
/** Sockets of one listener. One more is refused with 503 before its upgrade. */
export const SOCKETS_MAX = 16_384;
/** Where some users have places of their own: the part of them that others may have. */
const PUBLIC_SHARE = 3 / 4;
/** Queued bytes over all sockets of a listener; above it a socket counts as lagged at a sixteenth of the limit. */
const BACKLOG_BYTES_MAX = 536_870_912;
const LAG_BYTES_UNDER_PRESSURE: number = SOCKET_LAG_BYTES_MAX / 16;
/** First part 20 s (a ping goes out), second part 16 s (its pong must have come): see the header. */
const IDLE_SECONDS = 36;
/** The server's own limit is never reached: a socket is lagged before, with room for one frame and a last word. */
const SERVER_BACKLOG_BYTES_MAX: number = SOCKET_LAG_BYTES_MAX + 2 * FRAME_BYTES_MAX;
/** The server cuts off a longer message without a close frame; ones between the two limits are told 1009. */
const SERVER_MESSAGE_BYTES_MAX: number = 2 * FRAME_BYTES_MAX;
const TOO_MANY_SOCKETS: Reject = reject('SERVICE_UNAVAILABLE', 'too many sockets are open');
const PONG: Uint8Array = Buffer.from('{"type":"pong"}');

assert(LAG_BYTES_UNDER_PRESSURE > 65_536, 'a socket may always have one ordinary frame queued');

/** How a stream ends for a reader that falls behind (wire.md 9.2, 9.8, AMB-94). */
export interface LagRule {
  readonly code: 1000 | 1013;
  readonly reason: string;
  /** From falling behind to being cut off, in real milliseconds. */
  readonly hardDropMs: number;
}
export const OMS_LAG: LagRule = { code: 1013, reason: 'resync_required', hardDropMs: 5_000 };
export const MDS_LAG: LagRule = { code: 1000, reason: '', hardDropMs: 1_000 };

export interface StreamRoute<T> {
  /** uWebSockets.js pattern; a plain GET of it is answered with 426 unless an HttpRoute serves it. */
  readonly pattern: string;
  readonly lag: LagRule;
  /** Before the upgrade: what the socket is for, or the refusal as an HTTP answer. */
  admit(head: RequestHead): Outcome<T>;
  opened(socket: StreamSocket<T>): void;
  /** Whether it may take the places that are kept for users with funds. Absent: all places are for everybody. */
  isKept?(data: T): boolean;
  /** Runs once per opened socket, also when it is closed from here. Nothing can be sent any more. */
  closed(socket: StreamSocket<T>): void;
  /** A frame of the client; the bytes are valid during the call only. Absent on one-way streams. */
  message?(socket: StreamSocket<T>, bytes: Uint8Array, isBinary: boolean): void;
  /** Answer to the text `{"type":"ping"}` on one-way streams (WS-09); the v0 form unless given. */
  pong?(socket: StreamSocket<T>): Uint8Array;
  /** The last frame for a socket that lags (v1: RESYNC_REQUIRED, WS-14); none unless given. */
  lastWord?(socket: StreamSocket<T>): Uint8Array | null;
}

/** Sums over the sockets of a hub. */
interface HubTotals {
  backlogBytes: number;
}

/** What the server keeps for a raw socket. It copies the members of this object. */
interface UserData<T> {
  readonly socket: StreamSocket<T>;
  /** Its place among the sockets that give way; null for others. */
  readonly publicEntry: ListEntry<AnySocket> | null;
}

type State = 'connecting' | 'open' | 'lagged' | 'closed';

/** One client of one stream. */
export class StreamSocket<T> {
  readonly data: T;
  /** Of the client; '' where nobody asks. */
  readonly address: string;
  /** The selected subprotocol, '' for none (AMB-90). */
  readonly protocol: string;
  readonly #route: StreamRoute<T>;
  readonly #totals: HubTotals;
  readonly #observer: EdgeObserver;
  readonly #backlog = new Backlog();
  #raw: WebSocket<UserData<T>> | null = null;
  #state: State = 'connecting';
  #backlogBytes = 0;
  #hardDrop: NodeJS.Timeout | undefined;

  constructor(
    data: T,
    from: { readonly address: string; readonly protocol: string },
    route: StreamRoute<T>,
    totals: HubTotals,
    observer: EdgeObserver,
  ) {
    this.data = data;
    this.address = from.address;
    this.protocol = from.protocol;
    this.#route = route;
    this.#totals = totals;
    this.#observer = observer;
  }

  get state(): State {
    return this.#state;
  }

  /** Sends one text frame of UTF-8 bytes. Does nothing unless the socket is open. */
  send(frame: Uint8Array): void {
    if (this.#state !== 'open') return;
    const raw = this.#socket();
    const isTaken = this.#hand(raw, frame);
    this.#measure(raw, isTaken);
  }

  /** Sends several text frames in one write. Does nothing unless the socket is open. */
  sendAll(frames: readonly Uint8Array[]): void {
    const only = frames[0];
    if (only === undefined || this.#state !== 'open') return;
    if (frames.length === 1) {
      this.send(only);
      return;
    }
    const raw = this.#socket();
    let isTaken = true;
    raw.cork(() => {
      isTaken = frames.every((frame) => this.#hand(raw, frame));
    });
    this.#measure(raw, isTaken);
  }

  /** An exception in work for this socket closes it and is reported. */
  guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#observer.failed(`socket ${this.#route.pattern}`, error);
      this.finish(1011, 'internal_error');
    }
  }

  /** Closes with a code once everything sent has been written. */
  finish(code: number, reason: string): void {
    if (this.#state === 'open' || this.#state === 'lagged') this.#socket().end(code, reason);
  }

  /** @internal The upgrade is done. */
  attach(raw: WebSocket<UserData<T>>): void {
    assert(this.#state === 'connecting', 'a socket opens once');
    this.#raw = raw;
    this.#state = 'open';
    this.#route.opened(this);
  }

  /** @internal Some of the queue was written. */
  drained(): void {
    if (this.#state === 'closed') return;
    const raw = this.#socket();
    this.#note(raw.getBufferedAmount());
    if (this.#state === 'lagged' && this.#backlogBytes === 0) raw.end(this.#route.lag.code, this.#route.lag.reason);
  }

  /** @internal The raw socket is gone. */
  detach(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#raw = null;
    this.#note(0);
    clearTimeout(this.#hardDrop);
    this.#route.closed(this);
  }

  #socket(): WebSocket<UserData<T>> {
    return must(this.#raw, 'an open socket has its raw socket');
  }

  /** @returns false when the server dropped the frame. */
  #hand(raw: WebSocket<UserData<T>>, frame: Uint8Array): boolean {
    assert(frame.byteLength <= FRAME_BYTES_MAX, 'outbound frames are at most 1 MiB');
    const result = raw.send(frame, false, false);
    if (result === 2) return false;
    this.#backlog.add(frame.byteLength);
    return true;
  }

  #measure(raw: WebSocket<UserData<T>>, isTaken: boolean): void {
    this.#note(raw.getBufferedAmount());
    const isPressed = this.#totals.backlogBytes > BACKLOG_BYTES_MAX;
    const bytesMax = isPressed ? LAG_BYTES_UNDER_PRESSURE : SOCKET_LAG_BYTES_MAX;
    const keepsUp = isTaken && this.#backlogBytes <= bytesMax && this.#backlog.messages <= SOCKET_LAG_MESSAGES_MAX;
    if (!keepsUp) this.#fallBehind(raw);
  }

  #note(queuedBytes: number): void {
    this.#totals.backlogBytes += queuedBytes - this.#backlogBytes;
    this.#backlogBytes = queuedBytes;
    this.#backlog.settle(queuedBytes);
  }

  #fallBehind(raw: WebSocket<UserData<T>>): void {
    this.#state = 'lagged';
    this.#observer.lagged(this.#route.pattern);
    const lastWord = this.#route.lastWord?.(this) ?? null;
    if (lastWord !== null) raw.send(lastWord, false, false);
    this.#hardDrop = setTimeout(() => raw.close(), this.#route.lag.hardDropMs);
  }
}

/** A socket that gives way, or is closed at the end, whatever it is for. */
type AnySocket = Pick<StreamSocket<unknown>, 'finish'>;

/** All streams of one uWebSockets.js app. */
export class SocketHub {
  readonly #app: TemplatedApp;
  readonly #routes: HttpRoutes;
  readonly #listener: Listener;
  readonly #observer: EdgeObserver;
  readonly #totals: HubTotals = { backlogBytes: 0 };
  readonly #open = new Set<AnySocket>();
  /** Of users without funds, in the order of opening, where users with funds have places of their own. */
  readonly #public = new LinkedList<AnySocket>();
  readonly #connections: Connections;

  constructor(app: TemplatedApp, routes: HttpRoutes, listener: Listener) {
    this.#app = app;
    this.#routes = routes;
    this.#listener = listener;
    this.#observer = listener.observer;
    this.#connections = new Connections(app, listener.gate);
  }

  /** Connections, sockets among them. */
  get connectionCount(): number {
    return this.#connections.count;
  }

  /** Open sockets. */
  get count(): number {
    return this.#open.size;
  }

  /** Bytes that wait for slow readers. */
  get backlogBytes(): number {
    return this.#totals.backlogBytes;
  }

  /** Registers a stream; before `routes.seal()`. */
  add<T>(route: StreamRoute<T>): void {
    this.#routes.addSocketPath(route.pattern);
    const parameterCount = parameterCountOf(route.pattern);
    this.#app.ws<UserData<T>>(route.pattern, {
      compression: uWS.DISABLED,
      maxPayloadLength: SERVER_MESSAGE_BYTES_MAX,
      maxBackpressure: SERVER_BACKLOG_BYTES_MAX,
      idleTimeout: IDLE_SECONDS,
      sendPingsAutomatically: true,
      maxLifetime: 0,
      upgrade: (response, request, context) => this.#upgrade(route, parameterCount, response, request, context),
      open: (raw) => {
        const { socket, publicEntry } = raw.getUserData();
        this.#open.add(socket);
        if (publicEntry !== null) this.#public.append(publicEntry);
        this.#listener.gate?.socketOpened(socket.address);
        socket.guarded(() => socket.attach(raw));
      },
      message: (raw, bytes, isBinary) => {
        const socket = raw.getUserData().socket;
        socket.guarded(() => receive(route, socket, new Uint8Array(bytes), isBinary));
      },
      drain: (raw) => {
        const socket = raw.getUserData().socket;
        socket.guarded(() => socket.drained());
      },
      close: (raw) => {
        const { socket, publicEntry } = raw.getUserData();
        this.#open.delete(socket);
        if (publicEntry !== null && publicEntry.list === this.#public) this.#public.remove(publicEntry);
        this.#connections.socketClosed();
        this.#listener.gate?.socketClosed(socket.address);
        socket.guarded(() => socket.detach());
      },
    });
  }

  /** Closes every socket with a code, before the listener goes. */
  finishAll(code: number, reason: string): void {
    for (const socket of [...this.#open]) socket.finish(code, reason);
  }

  #upgrade<T>(
    route: StreamRoute<T>,
    parameterCount: number,
    response: HttpResponse,
    request: HttpRequest,
    context: us_socket_context_t,
  ): void {
    const { head, verdict } = readHead(request, parameterCount);
    const call = newCall(head, response, route.pattern, this.#listener);
    try {
      const admitted = this.#admit(route, call, verdict);
      if (!admitted.ok) {
        call.refuse(admitted.reject);
        return;
      }
      const protocol = selectSubprotocol(head.headers['sec-websocket-protocol']);
      const { address } = call;
      const socket = new StreamSocket(admitted.value, { address, protocol }, route, this.#totals, this.#observer);
      const publicEntry = route.isKept?.(admitted.value) === false ? new ListEntry<AnySocket>(socket) : null;
      call.handOver();
      response.upgrade<UserData<T>>(
        { socket, publicEntry },
        request.getHeader('sec-websocket-key'),
        protocol,
        '',
        context,
      );
    } catch (error) {
      call.fail(`upgrade ${route.pattern}`, error);
    }
  }

  #admit<T>(route: StreamRoute<T>, { head, address }: HttpCall, verdict: Outcome<null>): Outcome<T> {
    const { gate } = this.#listener;
    const refused = gate?.admit(address) ?? null;
    if (refused !== null) return rejected(refused);
    if (!verdict.ok) return verdict;
    const admitted = route.admit(head);
    if (!admitted.ok) return admitted;
    const refusal = this.#placeFor(address, route.isKept?.(admitted.value) ?? null);
    return refusal === null ? admitted : rejected(refusal);
  }

  /**
   * Room for one more socket. The oldest of a user without funds gives way to one of a user with funds.
   *
   * @param isKept null where nobody has places of their own.
   */
  #placeFor(address: string, isKept: boolean | null): Reject | null {
    const max = this.#listener.socketsMax ?? SOCKETS_MAX;
    const publicFilled = isKept === null ? this.count / max : this.#public.size / (max * PUBLIC_SHARE);
    const filled = isKept === true ? 0 : publicFilled;
    const refused = this.#listener.gate?.admitSocket(address, filled) ?? null;
    if (refused !== null) return refused;
    if (filled >= 1) return TOO_MANY_SOCKETS;
    if (this.count < max) return null;
    const oldest = this.#public.first;
    if (oldest === null) return TOO_MANY_SOCKETS;
    oldest.finish(1013, 'rate_limited');
    return null;
  }
}

function receive<T>(route: StreamRoute<T>, socket: StreamSocket<T>, bytes: Uint8Array, isBinary: boolean): void {
  if (socket.state !== 'open') return;
  if (bytes.byteLength > FRAME_BYTES_MAX) socket.finish(1009, 'message_too_big');
  else if (route.message !== undefined) route.message(socket, bytes, isBinary);
  else if (!isBinary && isTextPing(bytes)) socket.send(route.pong?.(socket) ?? PONG);
}

const TOKEN_FORM = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;

/** The first value a client offered, if it is an RFC 7230 token; '' selects none (AMB-90). */
export function selectSubprotocol(offered: string): string {
  const first = offered.split(',', 1)[0]?.trim() ?? '';
  return TOKEN_FORM.test(first) ? first : '';
}
