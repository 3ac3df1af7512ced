/**
 * WebSocket streams on uWebSockets.js: admission, sent frames, text pings, and lagging sockets.
 *
 *            admit ok                    a send dropped, or 4 MiB or 4,096 messages queued
 *   upgrade ─────────▶ open ───────────────────────────────────────────▶ lagged
 *      │ no             │ finish(code)                       queue empty  │   │ hard-drop time
 *      ▼                ▼                                                 ▼   ▼
 *   HTTP error        closed ◀──────────────────────────────── end(code, reason)  cut off
 *
 * Invariants
 *   (1) After a dropped message nothing of the stream is sent: a reader gets a prefix of the stream, never a gap.
 *   (2) A lagged socket is closed or cut off within the time of its rule (AMB-94), independent of its peer.
 *   (3) Memory queued for slow readers is limited per socket and in total for a listener: beyond
 *       SOCKETS_LAG_BYTES_MAX the sockets with the longest queues are cut off at once.
 *   (4) The raw socket is used only between its open and its close.
 *   (5) Frames without work are counted before they are processed (frame-allowance.ts); a socket beyond the limit
 *       is closed, and its address is charged.
 *
 * Pings are sent every 20 s, independent of traffic (WS-07). A peer without any data for 36 s, pongs included, is
 * closed.
 *
 * The streams' content is in mds-server.ts and oms-streams.ts, plain requests in http-routes.ts.
 */
import type { HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js';
import { isTextPing } from '../codec/stream-frames.ts';
import { assert, must } from '../core/assert.ts';
import {
  ACTION_BYTES_MIN,
  BODY_BYTES_MAX,
  SOCKET_LAG_BYTES_MAX,
  SOCKET_LAG_MESSAGES_MAX,
  SOCKET_PING_MS,
  SOCKET_SILENT_SECONDS,
  SOCKETS_LAG_BYTES_MAX,
  SOCKETS_LAG_BYTES_PRESSED,
} from '../core/limits.ts';
import { LinkedList, ListEntry } from '../core/linked-list.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { AddressGate } from './address-gate.ts';
import { FrameAllowance, FrameCrowd, FrameRate, type FrameRule } from './frame-allowance.ts';
import type { HttpRoutes } from './http-routes.ts';
import type { AppRoutes } from './public-app.ts';
import { NO_MEMBERS, type QueryMembers, queryFault } from './query.ts';
import { parameterCountOf, type RequestHead } from './request-head.ts';
import { uWS } from './uws.ts';
import type { EdgeObserver, HttpCall, Listener } from './uws-http.ts';

/** Limit of a frame, inbound and outbound (AMB-95, wire.md 9.1). */
export const FRAME_BYTES_MAX: number = BODY_BYTES_MAX;
/** Sockets of one listener. Further ones are rejected with 503 before the upgrade. */
const SOCKETS_MAX = 16_384;
/** Where users with funds have reserved places: the fraction available to the others. */
const PUBLIC_SHARE = 3 / 4;
const LAG_BYTES_UNDER_PRESSURE: number = SOCKET_LAG_BYTES_MAX / 16;
/** Cutting off the longest queues continues until this fraction of the limit is left, so that it is rare. */
const KEPT_NUMERATOR = 7;
const KEPT_DENOMINATOR = 8;
/** The server's own limit is never reached: a socket lags before, with capacity for one frame and a last one. */
const SERVER_BACKLOG_BYTES_MAX: number = SOCKET_LAG_BYTES_MAX + 2 * FRAME_BYTES_MAX;
/** The server closes on a longer message without a close frame; messages between the two limits get 1009. */
const SERVER_MESSAGE_BYTES_MAX: number = 2 * FRAME_BYTES_MAX;
const BRACE = 0x7b;
/** What the server answers to a frame: nothing is queued, or it was dropped. */
const PASSED = 1;
const DROPPED = 2;
const NO_STREAM: Reject = reject('NOT_FOUND', 'no such path');
const TOO_MANY_SOCKETS: Reject = reject('SERVICE_UNAVAILABLE', 'too many sockets are open');
/** RFC 6455 4.1. */
const PROTOCOL_VERSION = '13';
const PONG: Uint8Array = Buffer.from('{"type":"pong"}');

assert(LAG_BYTES_UNDER_PRESSURE > 65_536, 'a socket may always have one ordinary frame queued');

/** How a stream ends for a lagging reader (wire.md 9.2, 9.8, AMB-94). */
export interface LagRule {
  readonly code: 1000 | 1013;
  readonly reason: string;
  /** Real milliseconds from lagging to being cut off. */
  readonly hardDropMs: number;
  /** Queued messages at which a reader lags, at most SOCKET_LAG_MESSAGES_MAX. */
  readonly messagesMax: number;
}
export const OMS_LAG: LagRule = {
  code: 1013,
  reason: 'resync_required',
  hardDropMs: 5_000,
  messagesMax: SOCKET_LAG_MESSAGES_MAX,
};
export const MDS_LAG: LagRule = { code: 1000, reason: '', hardDropMs: 1_000, messagesMax: SOCKET_LAG_MESSAGES_MAX };

/** A stream, without its admission. */
interface SocketRoute<T> {
  /** uWebSockets.js pattern; a plain GET of it is answered with 426 unless an HttpRoute serves it. */
  readonly pattern: string;
  readonly lag: LagRule;
  /** For a stream that reads frames: what a client may send; by default any number of frames, of at most FRAME_BYTES_MAX. */
  readonly frames?: FrameRule;
  opened(socket: StreamSocket<T>): void;
  /** Whether it may use the places reserved for users with funds. Absent: no reserved places. */
  isKept?(data: T): boolean;
  /** Called once per opened socket, also when the node closes it. Nothing can be sent any more. */
  closed(socket: StreamSocket<T>): void;
  /** A part of the queue was written, and the socket does not lag. */
  drained?(socket: StreamSocket<T>): void;
  /** A frame of the client; the bytes are valid during the call only. Absent on one-way streams. */
  message?(socket: StreamSocket<T>, bytes: Uint8Array, isBinary: boolean): void;
  /** Reply to the text `{"type":"ping"}` on one-way streams (WS-09); by default the v0 form. */
  pong?(socket: StreamSocket<T>): Uint8Array;
  /** Its frames are text where they begin with a brace, as all JSON objects do, and binary otherwise; all text unless given. */
  readonly isMixed?: boolean;
  /** Whether its frames are binary; text unless given. */
  isBinary?(data: T): boolean;
  /** The user of its session; by default none. */
  userOf?(socket: StreamSocket<T>): string;
  /** The last frame for a lagging socket (v1: RESYNC_REQUIRED, WS-14); by default none. */
  lastWord?(socket: StreamSocket<T>): Uint8Array | null;
}

export interface StreamRoute<T> extends SocketRoute<T> {
  /** Query members of the upgrade, none by default; others are 400 (wire-additions.md 11.3). */
  readonly query?: QueryMembers;
  /** Called before the upgrade: the socket's data, or the error of the HTTP reply. */
  admit(head: RequestHead): Outcome<T>;
}

/** What a socket uses of its connection, or of one that another thread has (passed-sockets.ts). */
export interface SocketPath {
  /** @returns 1 when nothing is queued behind it, 0 when it or a part of it is, 2 for a dropped frame. */
  send(frame: Uint8Array, isBinary: boolean, compress: boolean): number;
  getBufferedAmount(): number;
  cork(work: () => void): unknown;
  end(code: number, reason: string): unknown;
  close(): unknown;
  ping(): unknown;
}

/** A socket with its connection at the listener of another thread. */
export interface RemoteSocket {
  open(): void;
  /** Its client has received more. */
  drained(): void;
  /** A frame of the client; the rule of the stream was applied there. */
  received(bytes: Uint8Array, isBinary: boolean): void;
  closed(): void;
}

/** Decides about an upgrade. @param done upgrades or refuses a call that is open. @returns whether it upgraded. */
type Admission<T> = (call: HttpCall, done: (admitted: Outcome<T>) => boolean) => void;

/** Limits of a hub; by default those of limits.ts. */
export interface HubBounds {
  /** Interval between two pings of a socket. */
  readonly pingMs?: number;
  /**
   * Queued bytes of all sockets: above the first limit a socket lags earlier, above the second the longest queues are
   * cut off.
   */
  readonly pressedBytes?: number;
  readonly backlogBytesMax?: number;
  /** Where upgrades are corked while no socket is open (spare-cork.ts). */
  readonly spare?: { readonly target: { cork(work: () => void): unknown } | null };
}

/** Common state of the sockets of a hub. */
interface HubTotals {
  backlogBytes: number;
  /** Queued bytes above which a socket lags. */
  readonly lagBytes: number;
  readonly pressedBytes: number;
  readonly backlogBytesMax: number;
  readonly crowd: FrameCrowd;
  /** Called when the backlog of all sockets is too large. */
  readonly cutLongest: () => void;
}

/** The server's data of a raw socket. It copies the members of this object. */
interface UserData<T> {
  readonly socket: StreamSocket<T>;
  /** Its entry in the list of sockets that can be evicted; null for others. */
  readonly publicEntry: ListEntry<AnySocket> | null;
}

type State = 'connecting' | 'open' | 'lagged' | 'closed';

/** One client of one stream. */
export class StreamSocket<T> {
  readonly data: T;
  /** The address of the client; '' if addresses are not limited. */
  readonly address: string;
  /** The selected subprotocol, '' for none (AMB-90). */
  readonly protocol: string;
  readonly #route: SocketRoute<T>;
  readonly #isBinary: boolean;
  readonly #totals: HubTotals;
  readonly #observer: EdgeObserver;
  readonly #backlog = new Backlog();
  #raw: SocketPath | null = null;
  #state: State = 'connecting';
  readonly #allowance = new FrameAllowance(performance.now());
  readonly #rate: FrameRate | null;
  #backlogBytes = 0;
  #hardDrop: NodeJS.Timeout | undefined;
  #heardMs = nowMs();
  #probe: NodeJS.Timeout | null = null;

  constructor(
    data: T,
    from: { readonly address: string; readonly protocol: string },
    route: SocketRoute<T>,
    totals: HubTotals,
    observer: EdgeObserver,
  ) {
    this.data = data;
    this.address = from.address;
    this.protocol = from.protocol;
    this.#route = route;
    this.#rate = route.frames === undefined ? null : new FrameRate(route.frames, performance.now());
    this.#isBinary = route.isBinary?.(data) === true;
    this.#totals = totals;
    this.#observer = observer;
  }

  get state(): State {
    return this.#state;
  }

  /** Bytes that its client has not received. */
  get backlogBytes(): number {
    return this.#backlogBytes;
  }

  /** Bytes that its client has not received and that count here. */
  backlogOf(totals: HubTotals): number {
    return this.#totals === totals ? this.#backlogBytes : 0;
  }

  /** Sends one frame: text of UTF-8 bytes, or binary as its route has it. No effect unless the socket is open. */
  send(frame: Uint8Array): void {
    if (this.#state !== 'open') return;
    const raw = this.#socket();
    const result = this.#pass(raw, frame);
    // A frame that the kernel has taken changes nothing of an empty queue.
    if (result === PASSED && this.#backlogBytes === 0) return;
    if (result !== DROPPED) this.#backlog.add(frame.byteLength);
    this.#measure(raw, result !== DROPPED);
  }

  /** Sends several frames in one write. No effect unless the socket is open. */
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

  /** Sends `count` frames in one write. @param frameAt called in order; its bytes are copied before the next call. */
  sendEach(count: number, frameAt: (index: number) => Uint8Array): void {
    if (this.#state !== 'open' || count === 0) return;
    if (count === 1) {
      this.send(frameAt(0));
      return;
    }
    const raw = this.#socket();
    let isTaken = true;
    raw.cork(() => {
      for (let index = 0; index < count && isTaken; index += 1) isTaken = this.#hand(raw, frameAt(index));
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

  /** Closes with a code after everything sent has been written. */
  finish(code: number, reason: string): void {
    if (this.#state === 'open' || this.#state === 'lagged') this.#socket().end(code, reason);
  }

  /** @internal Called after the upgrade. */
  attach(raw: SocketPath): void {
    assert(this.#state === 'connecting', 'a socket opens once');
    this.#raw = raw;
    this.#state = 'open';
    this.#route.opened(this);
  }

  /** @internal Counts a frame without work. @returns whether the limit is exceeded. */
  isFlooding(): boolean {
    return !this.#allowance.take(this.#totals.crowd, nowMs);
  }

  /** @internal Counts a frame of a stream that reads them. @returns whether the rule allows it. */
  takesFrame(): boolean {
    return this.#rate === null || this.#rate.take(nowMs());
  }

  /** @internal Pings the client. A socket with a queue needs no ping: the queue shows whether the client is there. */
  ping(): void {
    if (this.#state === 'open' && this.#backlogBytes === 0) this.#socket().ping();
  }

  /** Something of its client has arrived. */
  heard(): void {
    this.#heardMs = nowMs();
  }

  /**
   * Pings a client that was silent, and closes the socket unless something of it arrives in time (PRV-03). No effect on one
   * that sent something, or is probed already.
   */
  probe(silentMs: number, withinMs: number): void {
    const probedMs = nowMs();
    if (this.#state !== 'open' || this.#probe !== null || probedMs - this.#heardMs < silentMs) return;
    this.#socket().ping();
    this.#probe = setTimeout(() => {
      this.#probe = null;
      // mutant: answered-probe
      if (this.#heardMs < probedMs) this.cut();
    }, withinMs);
  }

  /** @internal Closes it at once, dropping its queue. */
  cut(): void {
    if (this.#state === 'open' || this.#state === 'lagged') this.#socket().close();
  }

  /** @internal As `cut`, because its queue is among the longest. */
  cutForLag(): void {
    if (this.#state === 'open') this.#reportLag();
    this.cut();
  }

  /** @internal Does something while the server collects what this socket is sent. */
  cork(work: () => void): void {
    if (this.#raw === null) work();
    else this.#raw.cork(work);
  }

  /** @internal Called when a part of the queue was written. */
  drained(): void {
    if (this.#state === 'closed') return;
    const raw = this.#socket();
    this.#note(raw.getBufferedAmount());
    if (this.#state === 'open') this.#route.drained?.(this);
    else if (this.#backlogBytes === 0) raw.end(this.#route.lag.code, this.#route.lag.reason);
  }

  /** @internal Called when the raw socket is closed. */
  detach(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#raw = null;
    this.#note(0);
    clearTimeout(this.#hardDrop);
    if (this.#probe !== null) clearTimeout(this.#probe);
    this.#route.closed(this);
  }

  #socket(): SocketPath {
    return must(this.#raw, 'an open socket has its raw socket');
  }

  /** @returns false when the server dropped the frame. */
  #hand(raw: SocketPath, frame: Uint8Array): boolean {
    if (this.#pass(raw, frame) === DROPPED) return false;
    this.#backlog.add(frame.byteLength);
    return true;
  }

  #pass(raw: SocketPath, frame: Uint8Array): number {
    assert(frame.byteLength <= FRAME_BYTES_MAX, 'outbound frames are at most 1 MiB');
    const isBinary = this.#isBinary || (this.#route.isMixed === true && frame[0] !== BRACE);
    return raw.send(frame, isBinary, false);
  }

  #measure(raw: SocketPath, isTaken: boolean): void {
    this.#note(raw.getBufferedAmount());
    const isPressed = this.#totals.backlogBytes > this.#totals.pressedBytes;
    const bytesMax = isPressed ? LAG_BYTES_UNDER_PRESSURE : this.#totals.lagBytes;
    const keepsUp = isTaken && this.#backlogBytes <= bytesMax && this.#backlog.messages <= this.#route.lag.messagesMax;
    if (!keepsUp) this.#fallBehind(raw);
    if (this.#totals.backlogBytes > this.#totals.backlogBytesMax) this.#totals.cutLongest();
  }

  #note(queuedBytes: number): void {
    this.#totals.backlogBytes += queuedBytes - this.#backlogBytes;
    this.#backlogBytes = queuedBytes;
    this.#backlog.settle(queuedBytes);
  }

  #reportLag(): void {
    this.#observer.lagged({
      path: this.#route.pattern,
      address: this.address,
      user: this.#route.userOf?.(this) ?? null,
      bytes: this.#backlogBytes,
    });
  }

  #fallBehind(raw: SocketPath): void {
    this.#state = 'lagged';
    this.#reportLag();
    const lastWord = this.#route.lastWord?.(this) ?? null;
    if (lastWord !== null) raw.send(lastWord, this.#isBinary, false);
    this.#hardDrop = setTimeout(() => raw.close(), this.#route.lag.hardDropMs);
  }
}

const nowMs = (): number => performance.now();

/** A socket of any stream. */
type AnySocket = Pick<StreamSocket<unknown>, 'finish' | 'ping' | 'cutForLag' | 'cork' | 'backlogOf'>;

/** All streams of one uWebSockets.js app. */
export class SocketHub {
  readonly #app: AppRoutes;
  readonly #routes: HttpRoutes;
  readonly #listener: Listener;
  readonly #observer: EdgeObserver;
  readonly #totals: HubTotals;
  /** The open sockets, each with its ping group. */
  readonly #open = new Map<AnySocket, Set<AnySocket>>();
  readonly #pings: SocketPings<AnySocket>;
  readonly #spare: HubBounds['spare'] | null;
  /** Sockets of users without funds, in the order of opening, where users with funds have reserved places. */
  readonly #public = new LinkedList<AnySocket>();
  readonly #connections: Connections;
  /** Totals of sockets with streams on another thread: their queues are counted and bounded there. */
  readonly #remoteTotals: HubTotals;
  /** Opens a socket for a connection at another listener, by pattern. */
  readonly #remote = new Map<string, RemoteOpening>();

  constructor(app: AppRoutes, routes: HttpRoutes, listener: Listener, bounds: HubBounds = {}) {
    const { pingMs, pressedBytes = SOCKETS_LAG_BYTES_PRESSED, backlogBytesMax = SOCKETS_LAG_BYTES_MAX } = bounds;
    this.#spare = bounds.spare ?? null;
    this.#app = app;
    this.#routes = routes;
    this.#listener = listener;
    this.#observer = listener.observer;
    this.#connections = new Connections(app, listener.gate);
    this.#pings = new SocketPings(pingMs);
    const crowd = new FrameCrowd(() => routes.turns.turnNumber);
    const cutLongest = (): void => this.#cutLongest();
    this.#totals = {
      backlogBytes: 0,
      lagBytes: SOCKET_LAG_BYTES_MAX,
      pressedBytes,
      backlogBytesMax,
      crowd,
      cutLongest,
    };
    // The frame by which a socket lags there is sent, and a last one.
    const lagBytes = SOCKET_LAG_BYTES_MAX + FRAME_BYTES_MAX;
    const unlimited = { lagBytes, pressedBytes: Number.POSITIVE_INFINITY, backlogBytesMax: Number.POSITIVE_INFINITY };
    this.#remoteTotals = { backlogBytes: 0, ...unlimited, crowd, cutLongest };
  }

  /** Number of connections, including sockets. */
  get connectionCount(): number {
    return this.#connections.count;
  }

  /** Number of open sockets. */
  get count(): number {
    return this.#open.size;
  }

  /** Bytes queued for slow readers. */
  get backlogBytes(): number {
    return this.#totals.backlogBytes + this.#remoteTotals.backlogBytes;
  }

  /** Registers a stream; before `routes.seal()`. */
  add<T>(route: StreamRoute<T>): void {
    this.#routes.addSocketPath(route.pattern);
    this.#remote.set(route.pattern, (from, target) => this.#openRemote(route, from, target));
    this.#addAll(route, this.#totals, (call, done) => void done(admittedBy(route, call.head)));
  }

  /** Registers a stream of another thread, which admits its sockets; before `routes.seal()`. */
  addRemote<T>(route: SocketRoute<T>, admit: Admission<T>): void {
    this.#routes.addSocketPath(route.pattern, false);
    this.#addAll(route, this.#remoteTotals, admit);
  }

  /** Opens a socket of a stream for the listener of another thread, which has its connection. */
  openRemote(pattern: string, from: RemoteClient, target: SocketPath): Outcome<RemoteSocket> {
    return this.#remote.get(pattern)?.(from, target) ?? rejected(NO_STREAM);
  }

  #openRemote<T>(route: StreamRoute<T>, { head, address }: RemoteClient, target: SocketPath): Outcome<RemoteSocket> {
    const admitted = admittedBy(route, head);
    if (!admitted.ok) return admitted;
    if (this.count >= (this.#listener.socketsMax ?? SOCKETS_MAX)) return rejected(TOO_MANY_SOCKETS);
    const protocol = selectSubprotocol(head.headers['sec-websocket-protocol']);
    const socket = new StreamSocket(admitted.value, { address, protocol }, route, this.#totals, this.#observer);
    return accepted({
      open: () => {
        this.#open.set(socket, this.#pings.add(socket));
        socket.guarded(() => socket.attach(target));
      },
      drained: () => socket.guarded(() => socket.drained()),
      received: (bytes, isBinary) =>
        socket.guarded(() => {
          if (socket.state === 'open') route.message?.(socket, bytes, isBinary);
        }),
      closed: () => {
        this.#open.get(socket)?.delete(socket);
        this.#open.delete(socket);
        socket.guarded(() => socket.detach());
      },
    });
  }

  #addAll<T>(route: SocketRoute<T>, totals: HubTotals, admit: Admission<T>): void {
    for (const pattern of this.#routes.pathsOf(route.pattern)) this.#addAt(pattern, route, totals, admit);
  }

  #addAt<T>(pattern: string, route: SocketRoute<T>, totals: HubTotals, admit: Admission<T>): void {
    const parameterCount = parameterCountOf(pattern);
    const behavior: WebSocketBehavior<UserData<T>> = {
      compression: uWS.DISABLED,
      maxPayloadLength: SERVER_MESSAGE_BYTES_MAX,
      maxBackpressure: SERVER_BACKLOG_BYTES_MAX,
      idleTimeout: SOCKET_SILENT_SECONDS,
      sendPingsAutomatically: false,
      maxLifetime: 0,
      upgrade: (response, request, context) => {
        const key = request.getHeader('sec-websocket-key');
        const version = request.getHeader('sec-websocket-version');
        const call = this.#routes.begin(response, request, route, parameterCount);
        if (call === null) return;
        const upgrade = (data: T): void => this.#open101(route, totals, call, data, { response, key, context });
        // Not in a later pass: the server closes some connections that are upgraded after their handler has returned, without
        // a close frame (decision 0027, issue 1929 of uWebSockets). What an upgrade costs is paid before this.
        // mutant: upgrade-at-once
        this.#routes.now(call, () => this.#decide(route, call, version, { admit, upgrade }));
      },
      open: (raw) => {
        const { socket, publicEntry } = raw.getUserData();
        this.#open.set(socket, this.#pings.add(socket));
        if (publicEntry !== null) this.#public.append(publicEntry);
        this.#listener.gate?.socketOpened(socket.address);
        socket.guarded(() => socket.attach(raw));
      },
      message: (raw, bytes, isBinary) => {
        const { socket } = raw.getUserData();
        socket.heard();
        const hasWork = route.message !== undefined && bytes.byteLength >= ACTION_BYTES_MIN;
        if (!hasWork && this.#refusesFrame(socket)) return;
        socket.guarded(() => receive(route, socket, new Uint8Array(bytes), isBinary));
      },
      ping: (raw) => this.#idleFrame(raw.getUserData().socket),
      pong: (raw) => this.#idleFrame(raw.getUserData().socket),
      drain: (raw) => {
        const socket = raw.getUserData().socket;
        socket.guarded(() => socket.drained());
      },
      close: (raw) => {
        const { socket, publicEntry } = raw.getUserData();
        this.#open.get(socket)?.delete(socket);
        this.#open.delete(socket);
        if (publicEntry !== null && publicEntry.list === this.#public) this.#public.remove(publicEntry);
        this.#connections.socketClosed();
        this.#listener.gate?.socketClosed(socket.address);
        socket.guarded(() => socket.detach());
      },
    };
    this.#app.register((app) => app.ws<UserData<T>>(pattern, behavior));
  }

  /** Closes every socket with a code, before the listener is closed. */
  finishAll(code: number, reason: string): void {
    this.#pings.stop();
    for (const socket of [...this.#open.keys()]) socket.finish(code, reason);
  }

  #idleFrame(socket: StreamSocket<never> | StreamSocket<unknown>): void {
    socket.heard();
    this.#refusesFrame(socket);
  }

  /** Counts a frame without work, where addresses are limited. @returns true when the socket was closed for it. */
  #refusesFrame(socket: StreamSocket<never> | StreamSocket<unknown>): boolean {
    const { gate } = this.#listener;
    if (gate === null) return false;
    this.#routes.turns.note(0);
    if (!socket.isFlooding()) return false;
    gate.chargeFlood(socket.address);
    socket.guarded(() => socket.finish(1013, 'rate_limited'));
    return true;
  }

  /** Bounded by SOCKETS_MAX; each time an eighth of the limit is freed. */
  #cutLongest(): void {
    const totals = this.#totals;
    const keptBytes = (totals.backlogBytesMax / KEPT_DENOMINATOR) * KEPT_NUMERATOR;
    // Sockets with streams on another thread are cut off there.
    const longest = [...this.#open.keys()].sort((a, b) => b.backlogOf(totals) - a.backlogOf(totals));
    for (const socket of longest) {
      if (totals.backlogBytes <= keptBytes) return;
      socket.cutForLag();
    }
  }

  /** Admits a call, now or later, and then upgrades or refuses it. */
  #decide<T>(
    route: SocketRoute<T>,
    call: HttpCall,
    version: string,
    { admit, upgrade }: { readonly admit: Admission<T>; readonly upgrade: (data: T) => void },
  ): void {
    const guarded = (work: () => boolean): boolean => {
      try {
        return work();
      } catch (error) {
        this.#routes.end(call);
        call.fail(`upgrade ${route.pattern}`, error);
        return false;
      }
    };
    const done = (admitted: Outcome<T>): boolean => {
      this.#routes.end(call);
      return guarded(() => this.#settle(route, call, admitted, upgrade));
    };
    guarded(() => {
      if (version === PROTOCOL_VERSION) admit(call, done);
      else {
        this.#routes.end(call);
        call.refuseSocketVersion();
      }
      return true;
    });
  }

  /** @returns whether the call became a socket. */
  #settle<T>(route: SocketRoute<T>, call: HttpCall, admitted: Outcome<T>, upgrade: (data: T) => void): boolean {
    if (!call.open) return false;
    const refusal = admitted.ok
      ? this.#placeFor(call.address, route.isKept?.(admitted.value) ?? null)
      : admitted.reject;
    if (refusal !== null) call.refuse(refusal);
    else if (admitted.ok) upgrade(admitted.value);
    return refusal === null;
  }

  #open101<T>(
    route: SocketRoute<T>,
    totals: HubTotals,
    call: HttpCall,
    data: T,
    raw: { readonly response: HttpResponse; readonly key: string; readonly context: us_socket_context_t },
  ): void {
    const { address, head } = call;
    const { response, key, context } = raw;
    const protocol = selectSubprotocol(head.headers['sec-websocket-protocol']);
    const socket = new StreamSocket(data, { address, protocol }, route, totals, this.#observer);
    const publicEntry = route.isKept?.(data) === false ? new ListEntry<AnySocket>(socket) : null;
    const [other] = this.#open.keys();
    const upgrade = (): void => response.upgrade<UserData<T>>({ socket, publicEntry }, key, protocol, '', context);
    call.handOver(upgrade, other ?? this.#spare?.target ?? null);
  }

  /**
   * Reserves a place for one more socket. Evicts the oldest socket of a user without funds for one of a user with
   * funds.
   *
   * @param isKept null where there are no reserved places.
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

/** The client of a connection at another listener. */
interface RemoteClient {
  readonly head: RequestHead;
  readonly address: string;
}

type RemoteOpening = (from: RemoteClient, target: SocketPath) => Outcome<RemoteSocket>;

/** Query first. */
function admittedBy<T>(route: StreamRoute<T>, head: RequestHead): Outcome<T> {
  const fault = queryFault(head.query, route.query ?? NO_MEMBERS);
  return fault === null ? route.admit(head) : rejected(fault);
}

function receive<T>(route: SocketRoute<T>, socket: StreamSocket<T>, bytes: Uint8Array, isBinary: boolean): void {
  if (socket.state !== 'open') return;
  if (bytes.byteLength > (route.frames?.bytesMax ?? FRAME_BYTES_MAX)) socket.finish(1009, 'message_too_big');
  else if (!socket.takesFrame()) socket.finish(1008, 'too_many_frames');
  else if (route.message !== undefined) route.message(socket, bytes, isBinary);
  else if (!isBinary && isTextPing(bytes)) socket.send(route.pong?.(socket) ?? PONG);
}

const TOKEN_FORM = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;

/** The first value a client offered, if it is an RFC 7230 token; '' selects none (AMB-90). */
export function selectSubprotocol(offered: string): string {
  const first = offered.split(',', 1)[0]?.trim() ?? '';
  return TOKEN_FORM.test(first) ? first : '';
}

// Counts the connections of one listener from accept to close, including those that never send anything.
//
// The server closes a connection that has not sent a complete head within ten seconds, and idle ones between requests
// likewise. So with a limit on how fast one address may open them (AddressGate) and one on their total, half-open
// connections cannot use up the process's descriptors. The fuller the table, the more a connection costs its address,
// so that the last places are for addresses with few connections (address-limits.ts). The server does not report which
// connection has ended, so they cannot be counted per address.

/** Twice the sockets of a listener: half is reserved for requests. */
const CONNECTIONS_MAX = 32_768;

/** The native function exists but is missing in the package's types. */
interface FiltersConnections {
  filter(changed: (response: HttpResponse, change: 1 | -1) => void): void;
}

class Connections {
  readonly #gate: AddressGate | null;
  #count = 0;

  constructor(app: AppRoutes, gate: AddressGate | null) {
    this.#gate = gate;
    const changed = (response: HttpResponse, change: 1 | -1): void => this.#changed(response, change);
    app.register((registered) => (registered as unknown as FiltersConnections).filter(changed));
  }

  get count(): number {
    return this.#count;
  }

  /** Called when a connection that had become a WebSocket is closed; the server does not report those. */
  socketClosed(): void {
    this.#count -= 1;
  }

  #changed(response: HttpResponse, change: 1 | -1): void {
    this.#count += change;
    if (change === -1) return;
    const isTaken =
      this.#count <= CONNECTIONS_MAX && this.#gate?.connected(response, this.#count / CONNECTIONS_MAX) !== false;
    if (!isTaken) response.close();
  }
}

// Pings every socket once per SOCKET_PING_MS, independent of its traffic (WS-07), with one timer for all sockets.
//
// Sockets are divided into as many groups as the timer has steps in that time; a socket joins the group that was pinged
// last, so its first ping comes after SOCKET_PING_MS, and each step pings one group. A timer on a busy thread fires late:
// it then takes all steps that are due, since a client that is not pinged in time is closed as silent.

const STEP_MS = 250;

interface Pinged {
  ping(): void;
}

export class SocketPings<Socket extends Pinged> {
  readonly #groups: readonly Set<Socket>[];
  readonly #timer: NodeJS.Timeout;
  readonly #stepMs: number;
  readonly #sinceMs: number = nowMs();
  /** Steps taken since then; modulo the groups, the index of the one that was pinged last. */
  #steps = 0;

  /** @param periodMs interval between two pings of a socket. */
  constructor(periodMs: number = SOCKET_PING_MS, stepMs: number = STEP_MS) {
    this.#groups = Array.from({ length: Math.max(1, Math.round(periodMs / stepMs)) }, () => new Set<Socket>());
    this.#stepMs = stepMs;
    this.#timer = setInterval(() => this.#step(), stepMs);
    this.#timer.unref();
  }

  /** @returns its group, for `remove`. */
  add(socket: Socket): Set<Socket> {
    const group = this.#groups[this.#steps % this.#groups.length] ?? new Set<Socket>();
    group.add(socket);
    return group;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #step(): void {
    const due = Math.floor((nowMs() - this.#sinceMs) / this.#stepMs);
    // After a longer pause than a period, each group once.
    this.#steps = Math.max(this.#steps, due - this.#groups.length);
    while (this.#steps < due) {
      this.#steps += 1;
      for (const socket of this.#groups[this.#steps % this.#groups.length] ?? []) socket.ping();
    }
  }
}

// The backlog of one socket: the sent messages that its kernel has not accepted yet.
//
// The server reports queued bytes only, so the ends of queued messages are stored as byte positions in the stream since
// the queue was last empty:
//
//   accepted by the kernel       queued
//   ├───────────────┼──────────────────────┤ #streamBytes
//        end   end      end    end       end
//                   └ a message is queued while its end lies beyond this point
//
// Exact except for the few bytes of protocol pings that the server queues itself. Allocates nothing for a socket
// without backlog.

/** One more than the limit, so that the message which exceeds it is still counted. */
const CAPACITY = SOCKET_LAG_MESSAGES_MAX + 1;

/** Bytes of a frame header from a server (RFC 6455 5.2; servers do not mask). */
export function frameHeaderBytes(payloadBytes: number): number {
  return payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10;
}

export class Backlog {
  #ends: Float64Array | null = null;
  #first = 0;
  #count = 0;
  #streamBytes = 0;

  /** Queued messages, up to one above the limit. */
  get messages(): number {
    return this.#count;
  }

  /** Adds a message passed to the server. Call `settle` after one or several of these. */
  add(payloadBytes: number): void {
    this.#streamBytes += payloadBytes + frameHeaderBytes(payloadBytes);
    if (this.#count === CAPACITY) return;
    this.#ends ??= new Float64Array(CAPACITY);
    this.#ends[(this.#first + this.#count) % CAPACITY] = this.#streamBytes;
    this.#count += 1;
  }

  /** @param queuedBytes as reported by the server, not yet accepted by the kernel. */
  settle(queuedBytes: number): void {
    if (queuedBytes === 0) {
      this.#count = 0;
      this.#streamBytes = 0;
      return;
    }
    const taken = this.#streamBytes - queuedBytes;
    while (this.#count > 0 && (this.#ends?.[this.#first] ?? 0) <= taken) {
      this.#first = (this.#first + 1) % CAPACITY;
      this.#count -= 1;
    }
    assert(this.#count >= 0, 'backlog: a count');
  }
}
