/**
 * The private socket `GET /user/ws`: the streams of one user over one socket (PRV-01 to PRV-03, wire-additions.md 18).
 *
 *   upgrade with credentials ─▶ entered ─▶ subscribe ─▶ paid? ─▶ snapshot (the state the REST read gives) ─▶ updates
 *   upgrade without any ─▶ first frame `auth` within 5 s ─┘            └ resume: what the ring keeps behind a number
 *
 * A snapshot has the number of the last update before its read began, and what was published since is sent behind it: an
 * update may repeat what its snapshot has, none is missed.
 *
 * Bounds: AUTH_WAITING_MAX sockets without a session, half of them for addresses with few; one subscription a channel, each paid like the read of its state;
 * frames by FRAMES; a reader that is too slow is closed as every stream's (OMS_LAG); rings by ReplayRings.
 */
import { inventoryReply } from '../codec/inventory-reply.ts';
import { atRisk, marginReply, position } from '../codec/margin-replies.ts';
import { pageEnvelope } from '../codec/pages.ts';
import {
  type PrivateChannel,
  type PrivateItemError,
  type PrivateRequest,
  privateFrame,
  privateSubscriptions,
  readPrivateFrame,
} from '../codec/private-frames.ts';
import { pingAnswer, requestErrorFrame } from '../codec/subscription-frames.ts';
import type { UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { AddressGate } from './address-gate.ts';
import type { FrameRule } from './frame-allowance.ts';
import { hasCredentials, sessionOfText, socketSessionOf } from './oms-session.ts';
import { type OmsConnection, PrivateConnection, type SubscribedStream, type UserStreams } from './oms-streams.ts';
import type { RequestHead } from './request-head.ts';
import { FRAME_BYTES_MAX, type StreamRoute, type StreamSocket } from './uws-socket.ts';

const FRAMES: FrameRule = { bytesMax: 4_096, perSecond: 10, burst: 50 };
/** Real milliseconds to the first frame of a socket without credentials. */
const AUTH_WITHIN_MS = 5_000;
const AUTH_WAITING_MAX = 1_024;
/** Sockets of one address that may wait once half of all places are taken. */
const AUTH_WAITING_OF_ADDRESS = 32;
/** Rows of a snapshot: the first page of the REST read. */
const ORDERS_SHOWN = 500;
const TRADES_SHOWN = 100;
const POSITIONS_SHOWN = 1_000;
/** Bytes that a reader has not taken, above which no snapshot begins. */
const BACKLOG_MAX = 1_048_576;
/** How often a snapshot is read again because its updates were not kept meanwhile. */
const READS_MAX = 3;

const TOO_MANY_WAITING: Reject = reject('SERVICE_UNAVAILABLE', 'too many sockets wait for their first frame');
const TOO_MANY_OF_ADDRESS: Reject = reject(
  'RATE_LIMITED',
  'too many sockets of this address wait for their first frame',
);
const AUTH_FIRST: Reject = reject('UNAUTHORIZED', 'the first frame is an auth frame of a live session');
const AUTH_ONCE: Reject = reject('INVALID_REQUEST', 'this socket has its session', 'type');

/** The stream behind a channel. */
const STREAM_OF: Readonly<Record<PrivateChannel, SubscribedStream>> = {
  orders: 'orders',
  trades: 'trades',
  positions: 'positions',
  account_stats: 'account-stats',
  account_events: 'account-events',
  at_risk: 'at-risk',
};
const COST_OF: Readonly<Record<PrivateChannel, Cost>> = {
  orders: 'historyPage',
  trades: 'historyPage',
  positions: 'action',
  account_stats: 'action',
  account_events: 'action',
  at_risk: 'action',
};

type PrivateSocket = StreamSocket<OmsConnection>;

interface PrivateParts {
  readonly services: GatewayServices;
  readonly streams: UserStreams;
  readonly gate: AddressGate | null;
  /** By default AUTH_WITHIN_MS. */
  readonly authWithinMs?: number;
}

export class PrivateSockets {
  readonly #parts: PrivateParts;
  /** Sockets without a session, each with the end of its time. */
  readonly #waiting = new Map<PrivateSocket, NodeJS.Timeout>();
  /** What is read for a subscription now, by socket. */
  readonly #reading = new Map<PrivateSocket, Map<PrivateChannel, object>>();

  constructor(parts: PrivateParts) {
    this.#parts = parts;
  }

  /** Sockets that wait for their first frame. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  route(pattern: string): StreamRoute<OmsConnection> {
    const common = this.#parts.streams.common();
    return {
      ...common,
      pattern,
      frames: FRAMES,
      admit: (head) => this.#admit(head),
      opened: (socket) => this.#opened(socket),
      closed: (socket) => {
        clearTimeout(this.#waiting.get(socket));
        this.#waiting.delete(socket);
        this.#reading.delete(socket);
        common.closed(socket);
      },
      message: (socket, bytes, isBinary) => this.#received(socket, bytes, isBinary),
    };
  }

  /** Ends the timers of sockets that wait. */
  close(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #admit(head: RequestHead): Outcome<OmsConnection> {
    const { services, streams } = this.#parts;
    if (!hasCredentials(head)) {
      return this.#waiting.size >= AUTH_WAITING_MAX ? rejected(TOO_MANY_WAITING) : accepted(new PrivateConnection());
    }
    const session = socketSessionOf(services, head);
    if (!session.ok) return session;
    const refusal = streams.refuseMore(session.value);
    return refusal === null ? accepted(new PrivateConnection(session.value)) : rejected(refusal);
  }

  #opened(socket: PrivateSocket): void {
    const { streams, authWithinMs = AUTH_WITHIN_MS } = this.#parts;
    if (socket.data.user !== '') {
      streams.enter(socket);
      socket.send(Buffer.from(privateSubscriptions([], [])));
      return;
    }
    // mutant: waiting-of-an-address
    if (this.#isCrowding(socket)) {
      this.#end(socket, TOO_MANY_OF_ADDRESS);
      return;
    }
    const late = (): void => {
      if (this.#waiting.delete(socket)) this.#end(socket, AUTH_FIRST);
    };
    this.#waiting.set(socket, setTimeout(late, authWithinMs));
  }

  /** Whether a socket without a session would take one of the places that are kept for other addresses. */
  #isCrowding({ address }: PrivateSocket): boolean {
    if (address === '' || this.#waiting.size < AUTH_WAITING_MAX / 2) return false;
    let own = 0;
    for (const other of this.#waiting.keys()) if (other.address === address) own += 1;
    return own >= AUTH_WAITING_OF_ADDRESS;
  }

  #end(socket: PrivateSocket, why: Reject): void {
    socket.send(Buffer.from(requestErrorFrame(null, why)));
    socket.finish(1000, '');
  }

  #received(socket: PrivateSocket, bytes: Uint8Array, isBinary: boolean): void {
    const { id, request } = readPrivateFrame(bytes, isBinary);
    if (socket.data.user === '') {
      // mutant: auth-first
      if (request.ok && request.value.type === 'auth') this.#authenticate(socket, request.value);
      else this.#refuseFirst(socket, AUTH_FIRST);
      return;
    }
    if (!this.#parts.streams.hasSession(socket)) {
      this.#parts.streams.dismissEnded(socket);
      return;
    }
    if (!request.ok) {
      this.#refuse(socket, id, request.reject);
      return;
    }
    const { value } = request;
    if (value.type === 'ping') socket.send(Buffer.from(pingAnswer(id)));
    else if (value.type === 'auth') this.#refuse(socket, id, AUTH_ONCE);
    else if (value.type === 'unsubscribe') this.#unsubscribe(socket, id, value);
    else this.#subscribe(socket, id, value);
  }

  #authenticate(socket: PrivateSocket, { userText, token }: Extract<PrivateRequest, { type: 'auth' }>): void {
    const { services, streams } = this.#parts;
    const { data } = socket;
    const session = sessionOfText(services, userText, token);
    if (!session.ok) {
      this.#refuseFirst(socket, session.reject);
      return;
    }
    const refusal = streams.refuseMore(session.value);
    if (refusal !== null) {
      this.#refuseFirst(socket, refusal);
      return;
    }
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
    if (data instanceof PrivateConnection) data.begin(session.value);
    streams.enter(socket);
    socket.send(Buffer.from(privateSubscriptions([], [])));
  }

  /** The one frame that a socket without a session may send was another. */
  #refuseFirst(socket: PrivateSocket, why: Reject): void {
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
    this.#parts.gate?.charge(socket.address, why.code);
    this.#end(socket, why);
  }

  #refuse(socket: PrivateSocket, id: string | null, why: Reject): void {
    const { gate } = this.#parts;
    gate?.charge(socket.address, why.code);
    socket.send(Buffer.from(requestErrorFrame(id, why)));
    if (gate?.isFlooding(socket.address) === true) socket.finish(1013, 'rate_limited');
  }

  // ---- subscriptions

  #unsubscribe(
    socket: PrivateSocket,
    id: string | null,
    { items }: Extract<PrivateRequest, { readonly items: unknown }>,
  ): void {
    const errors: PrivateItemError[] = [];
    for (const { name } of items) {
      if (!this.#leave(socket, name))
        errors.push({ name, code: 'NOT_SUBSCRIBED', message: `no subscription of ${name}` });
    }
    this.#answer(socket, id, errors);
  }

  #leave(socket: PrivateSocket, name: PrivateChannel): boolean {
    const wasReading = this.#reading.get(socket)?.delete(name) === true;
    return this.#parts.streams.leaveSubscribed(socket, STREAM_OF[name]) || wasReading;
  }

  #subscribe(
    socket: PrivateSocket,
    id: string | null,
    { items }: Extract<PrivateRequest, { readonly items: unknown }>,
  ): void {
    const { services } = this.#parts;
    const { user } = socket.data;
    const errors: PrivateItemError[] = [];
    const begun: { readonly name: PrivateChannel; readonly resume: number | null }[] = [];
    for (const item of items) {
      const { name } = item;
      const isLong = socket.backlogBytes > BACKLOG_MAX;
      const refusal = isLong ? null : services.limits.charge(user, COST_OF[name], services.nowNs());
      if (isLong) errors.push({ name, code: 'SERVICE_UNAVAILABLE', message: 'read what was sent first' });
      else if (refusal !== null) errors.push({ name, code: 'RATE_LIMITED', message: refusal.message });
      else begun.push(item);
    }
    const reading = this.#reading.get(socket) ?? new Map<PrivateChannel, object>();
    this.#reading.set(socket, reading);
    for (const { name } of begun) {
      this.#leave(socket, name);
      reading.set(name, {});
    }
    this.#answer(socket, id, errors);
    for (const { name, resume } of begun) this.#begin(socket, name, resume);
  }

  #answer(socket: PrivateSocket, id: string | null, errors: readonly PrivateItemError[]): void {
    const names = new Set([...(this.#reading.get(socket)?.keys() ?? [])]);
    for (const name of Object.keys(STREAM_OF) as PrivateChannel[]) {
      if (this.#parts.streams.isSubscribed(socket, STREAM_OF[name])) names.add(name);
    }
    socket.send(Buffer.from(privateSubscriptions(names, errors, id)));
  }

  #begin(socket: PrivateSocket, name: PrivateChannel, resume: number | null): void {
    const token = this.#reading.get(socket)?.get(name);
    // mutant: resume-behind-the-ring
    if (resume !== null && this.#parts.streams.joinSubscribed(socket, STREAM_OF[name], resume)) {
      this.#reading.get(socket)?.delete(name);
      return;
    }
    void this.#read(socket, name, token).catch(() => {
      if (this.#isCurrent(socket, name, token)) {
        this.#reading.get(socket)?.delete(name);
        socket.finish(1011, 'internal_error');
      }
    });
  }

  #isCurrent(socket: PrivateSocket, name: PrivateChannel, token: object | undefined): boolean {
    return token !== undefined && socket.state === 'open' && this.#reading.get(socket)?.get(name) === token;
  }

  /** Reads the state, sends it, and what was published since the read began; then the socket gets what follows. */
  async #read(socket: PrivateSocket, name: PrivateChannel, token: object | undefined): Promise<void> {
    const { streams, services } = this.#parts;
    const { user } = socket.data;
    const stream = STREAM_OF[name];
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const hold = streams.holdSubscribed(user, stream);
      try {
        const data = await this.#stateOf(user, name);
        if (!this.#isCurrent(socket, name, token)) return;
        if (!data.ok) {
          this.#fail(socket, name, data.reject);
          return;
        }
        const text = privateFrame('snapshot', name, hold.last, services.nowNs(), data.value);
        const frame = Buffer.from(
          text.length > FRAME_BYTES_MAX ? privateFrame('snapshot', name, hold.last, services.nowNs(), 'null') : text,
        );
        if (!streams.isKeptSince(user, stream, hold.last)) continue;
        socket.send(frame);
        streams.joinSubscribed(socket, stream, hold.last);
        this.#reading.get(socket)?.delete(name);
        return;
      } finally {
        hold.release();
      }
    }
    if (this.#isCurrent(socket, name, token)) {
      this.#fail(socket, name, reject('SERVICE_UNAVAILABLE', 'more was published than is kept, subscribe again'));
    }
  }

  #fail(socket: PrivateSocket, name: PrivateChannel, { code, message }: Reject): void {
    this.#reading.get(socket)?.delete(name);
    const word = code === 'PRICING_UNAVAILABLE' || code === 'RATE_LIMITED' ? code : 'SERVICE_UNAVAILABLE';
    this.#answer(socket, null, [{ name, code: word, message }]);
  }

  /** The state of a channel: the reply of its REST read. */
  async #stateOf(user: UserId, name: PrivateChannel): Promise<Outcome<string>> {
    const { queries, margin, atRisk: risk } = this.#parts.services;
    const window = { user, assetId: null, subAccounts: null, page: 0 } as const;
    switch (name) {
      case 'orders': {
        const limit = ORDERS_SHOWN;
        const page = await queries.orderPage({ ...window, limit, openOnly: true });
        return page.ok ? accepted(pageEnvelope('orders', { ...page.value, page: 0, limit })) : page;
      }
      case 'trades': {
        const limit = TRADES_SHOWN;
        const page = await queries.tradePage({ ...window, limit });
        return page.ok ? accepted(pageEnvelope('trades', { ...page.value, page: 0, limit })) : page;
      }
      case 'positions': {
        const found = margin.positions(user, { assetId: null, subAccounts: null });
        if (!found.ok) return found;
        const rows = found.value.slice(0, POSITIONS_SHOWN).map(position);
        const total = found.value.length;
        return accepted(pageEnvelope('positions', { rows, page: 0, limit: POSITIONS_SHOWN, total }));
      }
      case 'account_stats':
        return accepted(marginReply(margin.figures(user, null), false));
      case 'account_events':
        return accepted(inventoryReply(queries.inventory(user, null)));
      case 'at_risk': {
        const view = risk.call(this.#parts.services);
        return accepted(view === null ? 'null' : atRisk(view));
      }
    }
  }
}
