/**
 * The sockets of the order service: open sockets by user, their frames, and when they are closed.
 *
 *   node ── orderEvent, userTrade, … ─▶ UserStreams ── channel of (user, stream, version) ─▶ sockets
 *   control-socket.ts ── replies ────▶ deliver ─────── channel of one connection ──────────▶ socket
 *
 * Frames are queued and written together: at the latest at the end of the current pass of the event loop, each socket's
 * frames in one write. An event is serialised only if it has a subscriber, its payload once for both versions.
 *
 * Invariants
 *   (1) A user has an entry exactly while one of their sockets is open; it has at most `streamCap` of them (AMB-96), and as
 *       many of sessions that only read (RDO-01).
 *   (2) A socket with an ended session is closed: at once on logout, within seconds on expiry (AMB-88).
 *   (3) A socket on another user's path joins no channel (AUT-12).
 *   (4) A reader of sequence numbers gets every number from its first on, in order, or must resync.
 */

import { type AccountEventView, accountEvent } from '../codec/account-events.ts';
import { binaryFailure, binaryResync, binaryShutdown } from '../codec/binary-replies.ts';
import { atRisk, type PositionView, position } from '../codec/margin-replies.ts';
import { orderEvent, type ProtectionTriggeredView, plainOrderEvent } from '../codec/order-events.ts';
import { bareArray } from '../codec/pages.ts';
import { PRIVATE_RESYNC, type PrivateChannel, privateFrame } from '../codec/private-frames.ts';
import { type SettlementEvent, settlementEvent } from '../codec/settlement-events.ts';
import {
  controlUnauthorizedFrame,
  eventFrame,
  numberedFrame,
  type OmsChannel,
  pongFrame,
  resyncFrame,
  sequenceFrame,
  shutdownFrame,
  unauthorizedFrame,
} from '../codec/stream-frames.ts';
import { requestErrorFrame } from '../codec/subscription-frames.ts';
import { userTrade } from '../codec/user-trade.ts';
import type { UserId } from '../core/ids.ts';
import type { AtRiskFigures } from '../core/market-figures.ts';
import { FILL_STATUS } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import type { BookEvent, UserTradeEvent } from '../gateway/orders/book/order-events.ts';
import type { MarginStream, UserEventStreams } from '../gateway/user-streams.ts';
import { StreamChannel } from './channel.ts';
import {
  choosesBinary,
  choosesOtherV1,
  type OmsSession,
  OTHER_USER,
  READ_ONLY,
  socketSessionOf,
  versionOf,
} from './oms-session.ts';
import { Query } from './query.ts';
import { type ReplayRing, ReplayRings } from './replay-rings.ts';
import type { RequestHead } from './request-head.ts';
import { OMS_LAG, type StreamRoute, type StreamSocket } from './uws-socket.ts';

/** One-way streams. `confirmed-trades` is the final part of `trades`; `quoted-orders` is `orders` with quote sets as wholes. */
type OneWayStream = 'orders' | 'quoted-orders' | 'trades' | 'confirmed-trades' | 'account-events' | MarginStream;
/** `at-risk` has the same frames for all users, `pending-settlements` for all market makers. */
export type OmsStreamName = OneWayStream | 'at-risk' | 'pending-settlements' | 'control' | 'user';
/** What the private socket may have (private-socket.ts). */
export type SubscribedStream = 'orders' | 'trades' | 'positions' | 'account-stats' | 'account-events' | 'at-risk';

/** The data of one socket. */
export interface OmsConnection extends OmsSession {
  readonly stream: OmsStreamName;
  readonly version: 0 | 1;
  /** `/control` only: its frames are FlatBuffers, and `version` does not apply. */
  readonly isBinary: boolean;
  /** The path contains another user: it gets a frame with the reason and is closed after opening. */
  readonly isForeign: boolean;
  /** `positions` only: each frame is an object with every position of the user (wire-additions.md 9.2). */
  readonly isObject: boolean;
  /** Set if its frames have sequence numbers; null for the plain stream. */
  readonly numbers: Numbering | null;
}

/** The options of a reader of sequence numbers. */
interface Numbering {
  /** The first number it needs; null: from now on. */
  readonly from: number | null;
}

type OmsSocket = StreamSocket<OmsConnection>;

/** The subscribers of a stream of a user: plain on v0 and on v1, and with numbers, which is v1 too. */
interface Listeners {
  readonly plain: readonly [StreamChannel<OmsConnection>, StreamChannel<OmsConnection>];
  readonly numbered: StreamChannel<OmsConnection>;
  /** For positions: readers of objects on v1. */
  readonly objects: StreamChannel<OmsConnection>;
  /** Private sockets. */
  readonly subscribed: StreamChannel<OmsConnection>;
}

interface UserEntry {
  readonly sockets: Set<OmsSocket>;
  readonly streams: Readonly<Record<OneWayStream, Listeners>>;
}

const WIRE_CHANNEL: Readonly<Record<OmsStreamName, OmsChannel>> = {
  orders: 'orders',
  'quoted-orders': 'orders',
  trades: 'trades',
  'confirmed-trades': 'trades',
  'account-events': 'account_events',
  positions: 'positions',
  'account-stats': 'account_stats',
  'at-risk': 'at_risk',
  'pending-settlements': 'pending_settlements',
  control: 'control',
  user: 'user',
};
/** The channels of the private socket. */
const PRIVATE_CHANNEL: Readonly<Record<SubscribedStream, PrivateChannel>> = {
  orders: 'orders',
  trades: 'trades',
  positions: 'positions',
  'account-stats': 'account_stats',
  'account-events': 'account_events',
  'at-risk': 'at_risk',
};
/** What is at risk has one ring for all users. */
const NO_USER = '' as UserId;
/** A user's sockets that were silent for so long are pinged when another finds no place (PRV-03), real milliseconds. */
const SILENT_MS = 5_000;
const PONG_WITHIN_MS = 3_000;
/** A position takes below 700 bytes, a frame at most 1 MiB (AMB-95). */
const POSITIONS_PER_FRAME = 1_000;
const MAKERS_ONLY = 'only market makers read this stream';
const SESSION_OVER = 'the session is over';
const NOT_KEPT = 'what came since that number is not kept';
/** Sockets checked by one call of `checkSessions`; each check hashes a token. */
const SESSIONS_CHECKED_MAX = 1_024;

/** The data of a private socket. It may get its session by its first frame. */
export class PrivateConnection implements OmsConnection {
  readonly stream = 'user';
  readonly version = 1;
  readonly isBinary = false;
  readonly isForeign = false;
  readonly isObject = false;
  readonly numbers = null;
  /** '' until it has a session. */
  user: UserId = NO_USER;
  byCoSigners = false;
  isReadOnly = false;
  tokenHash = '';

  constructor(session: OmsSession | null = null) {
    if (session !== null) this.begin(session);
  }

  begin({ user, byCoSigners, isReadOnly, tokenHash }: OmsSession): void {
    this.user = user;
    this.byCoSigners = byCoSigners;
    this.isReadOnly = isReadOnly;
    this.tokenHash = tokenHash;
  }
}

/** Holds what a stream publishes from now on, while its state is read. */
interface HeldUpdates {
  /** The number before the first update that is held. */
  readonly last: number;
  release(): void;
}

export class UserStreams implements UserEventStreams {
  readonly #services: GatewayServices;
  readonly #users = new Map<UserId, UserEntry>();
  readonly #sockets = new Set<OmsSocket>();
  /** Readers of what is at risk, on v0 and on v1. */
  readonly #atRisk: readonly [StreamChannel<OmsConnection>, StreamChannel<OmsConnection>] = [
    new StreamChannel(),
    new StreamChannel(),
  ];
  /** Readers of pending settlements, on v0 and on v1, and their sockets. */
  readonly #settlements: readonly [StreamChannel<OmsConnection>, StreamChannel<OmsConnection>] = [
    new StreamChannel(),
    new StreamChannel(),
  ];
  readonly #makers = new Set<OmsSocket>();
  readonly #rings = new ReplayRings();
  /** Readers of sequence numbers. */
  readonly #readers = new Map<OmsSocket, ReplayRing>();
  /** Private sockets that read what is at risk. */
  readonly #atRiskSubscribed = new StreamChannel<OmsConnection>();
  /** The rings of the subscriptions of private sockets. */
  readonly #subscriptions = new Map<OmsSocket, Map<SubscribedStream, ReplayRing>>();
  readonly #touched = new Set<Pick<StreamChannel<OmsConnection>, 'flush'>>();
  /** Where the next `checkSessions` continues. */
  #checking: Iterator<OmsSocket> = this.#sockets.values();

  constructor(services: GatewayServices) {
    this.#services = services;
  }

  /** @param sequence above every number that earlier runs of the node used. Call before the first event. */
  startBehind(sequence: number): void {
    this.#rings.startBehind(sequence);
  }

  // ---- events of the node

  orderEvent(user: UserId, event: BookEvent, timestampNs: TimestampNs): void {
    const isOfSet = event.kind === 'QuoteSetApplied' || event.kind === 'QuoteSetEnded';
    const isOfEntry = 'isEntry' in event && event.isEntry === true;
    const toPlain = !isOfSet && this.#reads(user, 'orders');
    const toQuoted = !isOfEntry && this.#reads(user, 'quoted-orders');
    if (!toPlain && !toQuoted) return;
    const payload = orderEvent(user, event);
    if (toPlain) this.#publish(user, 'orders', timestampNs, payload, plainOrderEvent(user, event) ?? payload);
    if (toQuoted) this.#publish(user, 'quoted-orders', timestampNs, payload);
  }

  protectionTriggered(user: UserId, event: ProtectionTriggeredView): void {
    if (!this.isRead(user, 'orders')) return;
    const payload = orderEvent(user, event);
    for (const stream of ['orders', 'quoted-orders'] as const) this.#publish(user, stream, event.timestampNs, payload);
  }

  userTrade(user: UserId, trade: UserTradeEvent, timestampNs: TimestampNs): void {
    const readsAll = this.isRead(user, 'trades');
    const readsConfirmed = trade.status === FILL_STATUS.confirmed && this.isRead(user, 'confirmed-trades');
    if (!readsAll && !readsConfirmed) return;
    const payload = userTrade(trade);
    if (readsAll) this.#publish(user, 'trades', timestampNs, payload);
    if (readsConfirmed) this.#publish(user, 'confirmed-trades', timestampNs, payload);
  }

  accountEvent(user: UserId, event: AccountEventView): void {
    if (!this.isRead(user, 'account-events')) return;
    this.#publish(user, 'account-events', event.timestampNs, accountEvent(user, event));
  }

  positions(user: UserId, views: readonly PositionView[], timestampNs: TimestampNs): void {
    for (let first = 0; first < views.length; first += POSITIONS_PER_FRAME) {
      if (!this.isRead(user, 'positions')) return;
      const part = views.slice(first, first + POSITIONS_PER_FRAME);
      this.#publish(user, 'positions', timestampNs, bareArray(part.map(position)));
    }
    this.#publishAllPositions(user, timestampNs);
  }

  /** To readers of objects: every position of the user, in as many frames as these need. */
  #publishAllPositions(user: UserId, timestampNs: TimestampNs): void {
    const objects = this.#users.get(user)?.streams.positions.objects;
    if (objects === undefined || objects.size === 0) return;
    const all = this.#services.margin.positions(user, { assetId: null, subAccounts: null });
    const views = all.ok ? all.value : [];
    for (let first = 0; first === 0 || first < views.length; first += POSITIONS_PER_FRAME) {
      const rows = bareArray(views.slice(first, first + POSITIONS_PER_FRAME).map(position));
      const data = `{"user_id":"${user}","positions":${rows},"timestamp_ns":${timestampNs}}`;
      this.deliver(objects, () => eventFrame(1, WIRE_CHANNEL.positions, timestampNs, data));
    }
  }

  accountStats(user: UserId, reply: string, timestampNs: TimestampNs): void {
    this.#publish(user, 'account-stats', timestampNs, reply);
  }

  atRisk(view: AtRiskFigures): void {
    this.#publishSubscribed(NO_USER, 'at-risk', view.timestampNs, () => atRisk(view), this.#atRiskSubscribed);
    for (const version of [0, 1] as const) {
      this.deliver(this.#atRisk[version], () => atRiskFrame(version, view));
    }
  }

  /** To market makers: one that is none any more gets nothing of it, and its socket ends (STR-07). */
  pendingSettlement(event: SettlementEvent): void {
    for (const socket of [...this.#makers]) {
      if (!this.#services.isMarketMaker(socket.data.user)) this.dismiss(socket, MAKERS_ONLY);
    }
    for (const version of [0, 1] as const) {
      const wire = WIRE_CHANNEL['pending-settlements'];
      this.deliver(this.#settlements[version], () =>
        eventFrame(version, wire, event.timestampNs, settlementEvent(event)),
      );
    }
  }

  listens(user: UserId, stream: MarginStream): boolean {
    const listeners = this.#users.get(user)?.streams[stream];
    if (listeners === undefined) return false;
    return listeners.objects.size > 0 || listeners.subscribed.size > 0 || listeners.plain.some(({ size }) => size > 0);
  }

  /** Whether a frame of this stream has a socket, or a ring that keeps it for one. */
  isRead(user: UserId, stream: OneWayStream): boolean {
    return this.#reads(user, stream) || (stream === 'orders' && this.#reads(user, 'quoted-orders'));
  }

  #reads(user: UserId, stream: OneWayStream): boolean {
    const own = this.#users.get(user)?.streams[stream];
    const isWritten = own !== undefined && (own.plain[0].size > 0 || own.plain[1].size > 0 || own.objects.size > 0);
    if (isWritten || this.#rings.of(user, stream) !== undefined) return true;
    return isSubscribable(stream) && this.#rings.of(user, ringOf(stream)) !== undefined;
  }

  *listenersOf(stream: MarginStream): Iterable<UserId> {
    for (const user of this.#users.keys()) if (this.listens(user, stream)) yield user;
  }

  endSessions(user: UserId, tokenHash?: string): void {
    for (const socket of [...(this.#users.get(user)?.sockets ?? [])]) {
      if (tokenHash === undefined || socket.data.tokenHash === tokenHash) this.dismiss(socket, SESSION_OVER);
    }
  }

  readonly #flushAll = (): void => this.flush();

  flush(): void {
    for (const channel of this.#touched) channel.flush();
    this.#touched.clear();
  }

  // ---- calls of the listener

  /**
   * Called before an upgrade: checks sequence numbers, which only some streams have as query members (400), the session (401),
   * then the limit of the user's sockets (429; AMB-96).
   */
  admit(head: RequestHead, named: OmsStreamName, pathUser: UserId | null): Outcome<OmsConnection> {
    const quotes = named === 'orders' ? readsQuoteSets(head) : accepted(false);
    if (!quotes.ok) return quotes;
    const stream = quotes.value ? 'quoted-orders' : named;
    const numbers = numberingOf(head);
    if (!numbers.ok) return numbers;
    const session = socketSessionOf(this.#services, head);
    if (!session.ok) return session;
    const { user, isReadOnly } = session.value;
    if (stream === 'control' && isReadOnly) return rejected(READ_ONLY);
    const refusal = this.refuseMore(session.value);
    if (refusal !== null) return rejected(refusal);
    const isForeign = pathUser !== null && pathUser !== user;
    const isBinary = stream === 'control' && choosesBinary(head);
    const isObject = stream === 'positions' && choosesOtherV1(head);
    const version = versionOf(head);
    return accepted({ ...session.value, stream, version, isBinary, isForeign, isObject, numbers: numbers.value });
  }

  /**
   * The refusal of one more socket of a user at their cap, or null (AMB-96). Sockets that were silent are pinged at once, so
   * that a later try finds the places of those that are gone (PRV-03).
   */
  refuseMore({ user, isReadOnly }: Pick<OmsSession, 'user' | 'isReadOnly'>): Reject | null {
    const limit = this.#services.limits.streamCap(user);
    // mutant: streams-of-a-scope
    if (this.countOf(user, isReadOnly) < limit) return null;
    for (const socket of this.#users.get(user)?.sockets ?? []) {
      const { data } = socket;
      // mutant: control-is-not-probed
      if (data.stream !== 'control' && data.isReadOnly === isReadOnly) socket.probe(SILENT_MS, PONG_WITHIN_MS);
    }
    return { ...reject('RATE_LIMITED', 'too many streams are open'), details: { limit } };
  }

  // ---- private sockets (private-socket.ts)

  /** A private socket has its session: it is one of the user's from now on. */
  enter(socket: OmsSocket): void {
    const { user } = socket.data;
    const entry = this.#users.get(user) ?? newEntry();
    this.#users.set(user, entry);
    entry.sockets.add(socket);
    this.#sockets.add(socket);
  }

  isSubscribed(socket: OmsSocket, stream: SubscribedStream): boolean {
    return this.#subscriptions.get(socket)?.has(stream) === true;
  }

  /** Keeps what is published from now on, until it is released. */
  holdSubscribed(user: UserId, stream: SubscribedStream): HeldUpdates {
    const ring = this.#rings.open(ringUser(user, stream), ringOf(stream));
    return { last: ring.next - 1, release: () => this.#rings.leave(ring, performance.now()) };
  }

  /** Whether everything behind this number is kept. */
  isKeptSince(user: UserId, stream: SubscribedStream, last: number): boolean {
    return (this.#rings.of(ringUser(user, stream), ringOf(stream))?.since(last + 1) ?? null) !== null;
  }

  /** Sends what came behind this number, and from now on what follows. @returns false: that is not kept, nothing was done. */
  joinSubscribed(socket: OmsSocket, stream: SubscribedStream, last: number): boolean {
    const { user } = socket.data;
    const missed = this.#rings.of(ringUser(user, stream), ringOf(stream))?.since(last + 1) ?? null;
    const channel = this.#subscribedOf(user, stream);
    if (missed === null || channel === undefined) return false;
    const own = this.#subscriptions.get(socket) ?? new Map<SubscribedStream, ReplayRing>();
    this.#subscriptions.set(socket, own);
    own.set(stream, this.#rings.open(ringUser(user, stream), ringOf(stream)));
    socket.sendAll(missed);
    channel.join(socket);
    return true;
  }

  /** @returns whether there was one. */
  leaveSubscribed(socket: OmsSocket, stream: SubscribedStream): boolean {
    const own = this.#subscriptions.get(socket);
    const ring = own?.get(stream);
    if (own === undefined || ring === undefined) return false;
    own.delete(stream);
    if (own.size === 0) this.#subscriptions.delete(socket);
    this.#subscribedOf(socket.data.user, stream)?.leave(socket);
    this.#rings.leave(ring, performance.now());
    return true;
  }

  #subscribedOf(user: UserId, stream: SubscribedStream): StreamChannel<OmsConnection> | undefined {
    return stream === 'at-risk' ? this.#atRiskSubscribed : this.#users.get(user)?.streams[stream].subscribed;
  }

  /** An update of private sockets: of one user, or of all. */
  #publishSubscribed(
    user: UserId,
    stream: SubscribedStream,
    timestampNs: TimestampNs,
    payload: () => string,
    channel: StreamChannel<OmsConnection> | undefined,
  ): void {
    const ring = this.#rings.of(user, ringOf(stream));
    if (ring === undefined) return;
    const text = privateFrame('update', PRIVATE_CHANNEL[stream], ring.next, timestampNs, payload());
    const frame = Buffer.from(text, 'utf8');
    this.#rings.append(ring, frame);
    if (channel !== undefined) this.deliverBytes(channel, frame);
  }

  /** Number of a user's open sockets. */
  countAll(user: UserId): number {
    return this.#users.get(user)?.sockets.size ?? 0;
  }

  /** Number of a user's open sockets with sessions of a scope. */
  countOf(user: UserId, isReadOnly: boolean): number {
    let count = 0;
    for (const { data } of this.#users.get(user)?.sockets ?? []) if (data.isReadOnly === isReadOnly) count += 1;
    return count;
  }

  /** The members common to all streams of the order service. */
  common(): Pick<
    StreamRoute<OmsConnection>,
    'lag' | 'opened' | 'closed' | 'pong' | 'lastWord' | 'userOf' | 'isKept' | 'isBinary'
  > {
    return {
      lag: OMS_LAG,
      isKept: ({ user }) => this.#services.isFunded(user),
      opened: (socket) => this.#opened(socket),
      closed: (socket) => this.#closed(socket),
      pong: ({ data }) => Buffer.from(pongFrame(data.version, WIRE_CHANNEL[data.stream], this.#services.nowNs())),
      isBinary: ({ isBinary }) => isBinary,
      userOf: ({ data }) => data.user,
      lastWord: ({ data }) => {
        if (data.isBinary) return binaryResync(this.#services.nowNs());
        if (data.stream === 'user') return Buffer.from(PRIVATE_RESYNC);
        return data.version === 0 ? null : Buffer.from(resyncFrame(WIRE_CHANNEL[data.stream], this.#services.nowNs()));
      },
    };
  }

  /**
   * Publishes a frame on any channel; it is written at the end of this pass of the event loop or at the next `flush`.
   */
  deliver<T>(channel: StreamChannel<T>, text: () => string): void {
    if (channel.size > 0) this.#touch(channel).publish(text);
  }

  /** As `deliver`, for an existing frame. */
  deliverBytes<T>(channel: StreamChannel<T>, frame: Uint8Array): void {
    if (channel.size > 0) this.#touch(channel).publishBytes(frame);
  }

  hasSession(socket: OmsSocket): boolean {
    return this.#services.sessions.isLive(socket.data.user, socket.data.tokenHash);
  }

  /**
   * Sends one frame with the reason, then closes with 1000; earlier frames are written first (AUT-12 to AUT-14,
   * AMB-88).
   */
  dismiss(socket: OmsSocket, why: string): void {
    this.flush();
    socket.send(this.#reasonFrame(socket.data, why));
    socket.finish(1000, '');
  }

  /** The frame that says why a socket ends. */
  #reasonFrame({ stream, version, isBinary }: OmsConnection, why: string): Uint8Array {
    const nowNs = this.#services.nowNs();
    if (stream === 'user') return Buffer.from(requestErrorFrame(null, reject('UNAUTHORIZED', why)));
    if (isBinary) return binaryFailure(0n, nowNs, reject('UNAUTHORIZED', why));
    return Buffer.from(
      stream === 'control'
        ? controlUnauthorizedFrame(version, nowNs, why)
        : unauthorizedFrame(version, WIRE_CHANNEL[stream], nowNs, why),
    );
  }

  /** Sends the shutdown frame to every binary and version 1 socket; version 0 has none. */
  tellShutdown(): void {
    this.flush();
    for (const socket of this.#sockets) {
      const { stream, version, isBinary } = socket.data;
      if (isBinary) socket.send(binaryShutdown(this.#services.nowNs()));
      else if (version === 1) socket.send(Buffer.from(shutdownFrame(WIRE_CHANNEL[stream], this.#services.nowNs())));
    }
  }

  /** As `dismiss`, for a session that has ended. */
  dismissEnded(socket: OmsSocket): void {
    this.dismiss(socket, SESSION_OVER);
  }

  /**
   * Closes sockets with expired tokens, and ends replay rings without readers. Call it periodically; each call checks a
   * part, in rotation.
   */
  checkSessions(): void {
    this.#rings.expire(performance.now());
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
    const { user, stream, version, isForeign, isObject, numbers } = socket.data;
    const entry = this.#users.get(user) ?? newEntry();
    this.#users.set(user, entry);
    entry.sockets.add(socket);
    this.#sockets.add(socket);
    if (isForeign) this.dismiss(socket, OTHER_USER.message);
    else if (stream === 'control' || stream === 'user') return;
    else if (stream === 'at-risk') this.#joinAtRisk(socket);
    else if (stream === 'pending-settlements') this.#joinSettlements(socket);
    else if (isObject) entry.streams[stream].objects.join(socket);
    else if (numbers === null) entry.streams[stream].plain[version].join(socket);
    else this.#replay(socket, stream, numbers, entry.streams[stream].numbered);
  }

  /** What is at risk now comes at once, so that a reader need not wait for a change; nothing if nothing is. */
  #joinAtRisk(socket: OmsSocket): void {
    const { version } = socket.data;
    const view = this.#services.atRisk();
    if (view !== null && view.assets.length > 0) socket.send(Buffer.from(atRiskFrame(version, view)));
    this.#atRisk[version].join(socket);
  }

  #joinSettlements(socket: OmsSocket): void {
    const { user, version } = socket.data;
    // mutant: makers-only
    if (!this.#services.isMarketMaker(user)) {
      this.dismiss(socket, MAKERS_ONLY);
      return;
    }
    this.#makers.add(socket);
    this.#settlements[version].join(socket);
  }

  /** Sends the missed frames, then joins the channel; or requests a resync if they are no longer kept. */
  #replay(socket: OmsSocket, stream: OneWayStream, { from }: Numbering, channel: StreamChannel<OmsConnection>): void {
    const { user } = socket.data;
    const nowNs = this.#services.nowNs();
    const missed = from === null ? [] : (this.#rings.of(user, stream)?.since(from) ?? null);
    if (missed === null) {
      socket.send(Buffer.from(resyncFrame(WIRE_CHANNEL[stream], nowNs, NOT_KEPT)));
      socket.finish(OMS_LAG.code, OMS_LAG.reason);
      return;
    }
    const ring = this.#rings.open(user, stream);
    const last = ring.next - missed.length - 1;
    socket.sendAll([Buffer.from(sequenceFrame(WIRE_CHANNEL[stream], nowNs, last)), ...missed]);
    channel.join(socket);
    this.#readers.set(socket, ring);
  }

  #closed(socket: OmsSocket): void {
    const { user, stream, version } = socket.data;
    this.#sockets.delete(socket);
    const entry = this.#users.get(user);
    if (entry === undefined) return;
    if (stream === 'user') {
      for (const own of [...(this.#subscriptions.get(socket)?.keys() ?? [])]) this.leaveSubscribed(socket, own);
      entry.sockets.delete(socket);
      if (entry.sockets.size === 0) this.#users.delete(user);
      return;
    }
    if (stream === 'at-risk') {
      this.#atRisk[version].leave(socket);
    } else if (stream === 'pending-settlements') {
      this.#makers.delete(socket);
      this.#settlements[version].leave(socket);
    } else if (stream !== 'control') {
      entry.streams[stream].plain[version].leave(socket);
      entry.streams[stream].numbered.leave(socket);
      entry.streams[stream].objects.leave(socket);
    }
    const ring = this.#readers.get(socket);
    if (ring !== undefined) this.#rings.leave(ring, performance.now());
    this.#readers.delete(socket);
    entry.sockets.delete(socket);
    if (entry.sockets.size === 0) this.#users.delete(user);
  }

  /** @param plain the payload on v0. */
  #publish(user: UserId, stream: OneWayStream, timestampNs: TimestampNs, payload: string, plain = payload): void {
    const listeners = this.#users.get(user)?.streams[stream];
    const ring = this.#rings.of(user, stream);
    if (ring !== undefined) {
      const frame = Buffer.from(numberedFrame(WIRE_CHANNEL[stream], timestampNs, payload, ring.next), 'utf8');
      this.#rings.append(ring, frame);
      if (listeners !== undefined) this.#touch(listeners.numbered).publishBytes(frame);
    }
    if (isSubscribable(stream)) {
      this.#publishSubscribed(user, stream, timestampNs, () => payload, listeners?.subscribed);
    }
    for (const version of [0, 1] as const) {
      const channel = listeners?.plain[version];
      if (channel === undefined) continue;
      const own = version === 0 ? plain : payload;
      this.deliver(channel, () => eventFrame(version, WIRE_CHANNEL[stream], timestampNs, own));
    }
  }

  /** Schedules the channel to be written at the end of this pass of the event loop or at the next `flush`. */
  #touch<T>(channel: StreamChannel<T>): StreamChannel<T> {
    if (this.#touched.size === 0) queueMicrotask(this.#flushAll);
    this.#touched.add(channel);
    return channel;
  }
}

function atRiskFrame(version: 0 | 1, view: AtRiskFigures): string {
  return eventFrame(version, WIRE_CHANNEL['at-risk'], view.timestampNs, atRisk(view));
}

function isSubscribable(stream: OneWayStream): stream is Exclude<SubscribedStream, 'at-risk'> {
  return stream in PRIVATE_CHANNEL;
}

/** The name of the ring of a stream's private sockets. */
function ringOf(stream: SubscribedStream): string {
  return `private ${stream}`;
}

function ringUser(user: UserId, stream: SubscribedStream): UserId {
  return stream === 'at-risk' ? NO_USER : user;
}

function newEntry(): UserEntry {
  const listeners = (): Listeners => ({
    plain: [new StreamChannel(), new StreamChannel()],
    numbered: new StreamChannel(),
    objects: new StreamChannel(),
    subscribed: new StreamChannel(),
  });
  return {
    sockets: new Set(),
    streams: {
      orders: listeners(),
      'quoted-orders': listeners(),
      trades: listeners(),
      'confirmed-trades': listeners(),
      'account-events': listeners(),
      positions: listeners(),
      'account-stats': listeners(),
    },
  };
}

/** `?quotes=sets` on v1: quote sets come as wholes. INVALID_REQUEST for another word, and on v0. */
function readsQuoteSets(head: RequestHead): Outcome<boolean> {
  const word = new Query(head.query).one('quotes');
  if (!word.ok) return word;
  if (word.value === null) return accepted(false);
  if (word.value === 'sets' && versionOf(head) === 1) return accepted(true);
  return rejected(reject('INVALID_REQUEST', '`quotes` is `sets`, on version 1 alone', 'quotes'));
}

/** `?sequence=true` or `?from_sequence=N`: numbers on v1, from now on or from N on. INVALID_REQUEST for them on v0. */
function numberingOf(head: RequestHead): Outcome<Numbering | null> {
  const query = new Query(head.query);
  const from = query.whole('from_sequence');
  if (!from.ok) return from;
  const isWanted = query.flag('sequence');
  if (!isWanted.ok) return isWanted;
  if (from.value === null && !isWanted.value) return accepted(null);
  if (versionOf(head) === 0) {
    return rejected(
      reject(
        'INVALID_REQUEST',
        'sequence numbers are on version 1 alone: offer a subprotocol that ends in .ws.v1',
        'sequence',
      ),
    );
  }
  return accepted({ from: from.value === null ? null : Number(from.value) });
}
