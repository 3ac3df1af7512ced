/**
 * The sockets of the order service: who has which open, what they are told, and when they must go.
 *
 *   node ── orderEvent, userTrade ─▶ UserStreams ── channel of (user, stream, version) ─▶ sockets
 *   control-socket.ts ── answers ──▶ deliver ────── channel of one connection ──────────▶ socket
 *
 * Frames are told now and written together: at the latest when the current turn of the event loop ends, each socket's
 * frames in one write. An event is serialised only if somebody listens, its payload once for both versions.
 *
 * Invariants
 *   (1) A user has an entry exactly while one of their sockets is open; it has at most `streamCap` of them (AMB-96).
 *   (2) A socket whose session is over is closed: at once on logout, within seconds on expiry (AMB-88).
 *   (3) A socket whose path names another user joins no channel (AUT-12).
 */
import type { UserId } from '../core/ids.ts';
import { FILL_STATUS } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { OrderEvent, UserTrade } from '../orders/order-events.ts';
import { orderEvent } from '../wire/order-events.ts';
import {
  controlUnauthorizedFrame,
  eventFrame,
  type OmsChannel,
  pongFrame,
  resyncFrame,
  unauthorizedFrame,
} from '../wire/stream-frames.ts';
import { userTrade } from '../wire/user-trade.ts';
import { Channel } from './channel.ts';
import type { OmsBackend, OmsStreams } from './oms-backend.ts';
import { OTHER_USER, type Session, socketSessionOf, versionOf } from './oms-session.ts';
import type { RequestHead } from './request-head.ts';
import { OMS_LAG, type StreamRoute, type StreamSocket } from './uws-socket.ts';

/** Streams that only tell. `confirmed-trades` is the part of `trades` that is final. */
export type OneWayStream = 'orders' | 'trades' | 'confirmed-trades';
export type OmsStreamName = OneWayStream | 'control';

/** What one socket is for. */
export interface OmsSeat extends Session {
  readonly stream: OmsStreamName;
  readonly version: 0 | 1;
  /** The path names another user: told so and closed once open. */
  readonly isForeign: boolean;
}

type OmsSocket = StreamSocket<OmsSeat>;
type VersionPair = readonly [Channel<OmsSeat>, Channel<OmsSeat>];

interface UserEntry {
  readonly sockets: Set<OmsSocket>;
  readonly channels: Readonly<Record<OneWayStream, VersionPair>>;
}

const WIRE_CHANNEL: Readonly<Record<OmsStreamName, OmsChannel>> = {
  orders: 'orders',
  trades: 'trades',
  'confirmed-trades': 'trades',
  control: 'control',
};
const SESSION_OVER = 'the session is over';
/** Sockets whose session one call of `checkSessions` looks at; a look hashes a token. */
const SESSIONS_CHECKED_MAX = 1_024;

export class UserStreams implements OmsStreams {
  readonly #backend: OmsBackend;
  readonly #users = new Map<UserId, UserEntry>();
  readonly #sockets = new Set<OmsSocket>();
  readonly #touched = new Set<Pick<Channel<OmsSeat>, 'flush'>>();
  /** Where the next `checkSessions` goes on. */
  #checking: Iterator<OmsSocket> = this.#sockets.values();

  constructor(backend: OmsBackend) {
    this.#backend = backend;
  }

  // ---- told by the node

  orderEvent(user: UserId, event: OrderEvent, timestampNs: TimestampNs): void {
    this.#publish(user, 'orders', timestampNs, () => orderEvent(user, event));
  }

  userTrade(user: UserId, trade: UserTrade, timestampNs: TimestampNs): void {
    this.#publish(user, 'trades', timestampNs, () => userTrade(trade));
    if (trade.status !== FILL_STATUS.confirmed) return;
    this.#publish(user, 'confirmed-trades', timestampNs, () => userTrade(trade));
  }

  endSessions(user: UserId): void {
    for (const socket of [...(this.#users.get(user)?.sockets ?? [])]) this.dismiss(socket, SESSION_OVER);
  }

  flush(): void {
    for (const channel of this.#touched) channel.flush();
    this.#touched.clear();
  }

  // ---- asked by the listener

  /** Before an upgrade: the session (401), then room for one more socket of its user (429; AMB-96). */
  admit(head: RequestHead, stream: OmsStreamName, pathUser: UserId | null): Outcome<OmsSeat> {
    const session = socketSessionOf(this.#backend, head);
    if (!session.ok) return session;
    const { user } = session.value;
    const limit = this.#backend.streamCap(user);
    if ((this.#users.get(user)?.sockets.size ?? 0) >= limit) {
      return rejected({ ...reject('RATE_LIMITED', 'too many streams are open'), details: { limit } });
    }
    const isForeign = pathUser !== null && pathUser !== user;
    return accepted({ ...session.value, stream, version: versionOf(head), isForeign });
  }

  /** Open sockets of a user. */
  countOf(user: UserId): number {
    return this.#users.get(user)?.sockets.size ?? 0;
  }

  /** The members that every stream of the order service has in common. */
  common(): Pick<StreamRoute<OmsSeat>, 'lag' | 'opened' | 'closed' | 'pong' | 'lastWord'> {
    return {
      lag: OMS_LAG,
      opened: (socket) => this.#opened(socket),
      closed: (socket) => this.#closed(socket),
      pong: ({ data }) => Buffer.from(pongFrame(data.version, WIRE_CHANNEL[data.stream], this.#backend.nowNs())),
      lastWord: ({ data }) =>
        data.version === 0 ? null : Buffer.from(resyncFrame(WIRE_CHANNEL[data.stream], this.#backend.nowNs())),
    };
  }

  /** Publishes a frame on any channel; it is written when this turn of the event loop ends or with the next `flush`. */
  deliver<T>(channel: Channel<T>, text: () => string): void {
    if (channel.size === 0) return;
    if (this.#touched.size === 0) queueMicrotask(() => this.flush());
    this.#touched.add(channel);
    channel.publish(text);
  }

  hasSession(socket: OmsSocket): boolean {
    return this.#backend.isSession(socket.data.user, socket.data.token);
  }

  /** One word about why, then close 1000; what was told before is written first (AUT-12 to AUT-14, AMB-88). */
  dismiss(socket: OmsSocket, why: string): void {
    this.flush();
    const { stream, version } = socket.data;
    const nowNs = this.#backend.nowNs();
    const frame =
      stream === 'control'
        ? controlUnauthorizedFrame(version, nowNs, why)
        : unauthorizedFrame(version, WIRE_CHANNEL[stream], nowNs, why);
    socket.send(Buffer.from(frame));
    socket.finish(1000, '');
  }

  /** As `dismiss`, for a session that has ended. */
  dismissEnded(socket: OmsSocket): void {
    this.dismiss(socket, SESSION_OVER);
  }

  /** Ends sockets whose token has expired. Call it now and then; each call looks at some, in rounds. */
  checkSessions(): void {
    for (let looked = 0; looked < SESSIONS_CHECKED_MAX; looked += 1) {
      const next = this.#checking.next();
      if (next.done === true) {
        this.#checking = this.#sockets.values();
        return;
      }
      if (!this.hasSession(next.value)) this.dismissEnded(next.value);
    }
  }

  #opened(socket: OmsSocket): void {
    const { user, stream, version, isForeign } = socket.data;
    const entry = this.#users.get(user) ?? newEntry();
    this.#users.set(user, entry);
    entry.sockets.add(socket);
    this.#sockets.add(socket);
    if (isForeign) this.dismiss(socket, OTHER_USER.message);
    else if (stream !== 'control') entry.channels[stream][version].join(socket);
  }

  #closed(socket: OmsSocket): void {
    const { user, stream, version } = socket.data;
    this.#sockets.delete(socket);
    const entry = this.#users.get(user);
    if (entry === undefined) return;
    if (stream !== 'control') entry.channels[stream][version].leave(socket);
    entry.sockets.delete(socket);
    if (entry.sockets.size === 0) this.#users.delete(user);
  }

  #publish(user: UserId, stream: OneWayStream, timestampNs: TimestampNs, payload: () => string): void {
    const entry = this.#users.get(user);
    if (entry === undefined) return;
    let text: string | undefined;
    const textOnce = (): string => {
      text ??= payload();
      return text;
    };
    for (const version of [0, 1] as const) {
      this.deliver(entry.channels[stream][version], () =>
        eventFrame(version, WIRE_CHANNEL[stream], timestampNs, textOnce()),
      );
    }
  }
}

function newEntry(): UserEntry {
  const pair = (): VersionPair => [new Channel(), new Channel()];
  return { sockets: new Set(), channels: { orders: pair(), trades: pair(), 'confirmed-trades': pair() } };
}
