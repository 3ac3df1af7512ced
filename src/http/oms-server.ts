/**
 * The order service's listener: REST, streams and `/control` in front of the gateway (wire.md 7, 9, 10).
 *
 *   sockets, requests ─▶ OmsServer ─▶ services of the gateway
 *   sockets ◀─ UserStreams ◀─ events of orders and fills, sessions that end
 *
 * REST and WebSocket share `/trades/user/{user_id}`; the Upgrade header decides. Order of use: construct, pass
 * `streams` to the gateway, `listen`; to stop, `stopAccepting`, wait until nothing is in flight, `close`.
 *
 * Routes are in oms-routes.ts, streams in oms-streams.ts, control frames in control-socket.ts.
 */
import { assert, must } from '../core/assert.ts';
import { PENDING_SETTLEMENTS_MAX } from '../core/limits.ts';
import { accepted, rejected } from '../core/outcome.ts';
import type { TimestampNs } from '../core/units.ts';
import { STOPPING } from '../gateway/actions/order-entry.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import { controlOptionsOf } from './action-options.ts';
import type { AddressGate } from './address-gate.ts';
import { ApiDocuments, tradePage } from './api/api-documents.ts';
import { MDS_STREAMS } from './api/mds-streams-table.ts';
import { OMS_STREAMS } from './api/oms-streams-table.ts';
import { membersOf, patternOf } from './api/route-doc.ts';
import { ControlConnections, type ControlPeer } from './control-socket.ts';
import { addDevFaucet, type Credit } from './dev-faucet.ts';
import { HttpRoutes } from './http-routes.ts';
import { LateAnswers } from './late-answers.ts';
import { type ClusterPlace, ONE_MACHINE, servingOf } from './leader-route.ts';
import { SUBSCRIPTIONS_LAG } from './market-subscriptions.ts';
import { MARKET_DATA_ROUTES } from './mds-reads.ts';
import { RouteKit, userOf } from './oms-kit.ts';
import { addOmsRoutes, OMS_ROUTES } from './oms-routes.ts';
import type { OmsSession } from './oms-session.ts';
import { type OmsConnection, UserStreams } from './oms-streams.ts';
import { ADMITS_ALL, type OrderAdmission } from './order-admission.ts';
import { PassedRequests, type PeerChannel } from './passed-requests.ts';
import { PassedSockets, type SocketChannel } from './passed-sockets.ts';
import { PrivateSockets } from './private-socket.ts';
import { PublicApp } from './public-app.ts';
import { ReadingTurns } from './reading-turns.ts';
import { SpareCork } from './spare-cork.ts';
import { SUBSCRIPTION_FRAMES } from './subscription-reader.ts';
import { MARKET_DATA_PATH } from './user-read-routes.ts';
import type { TlsFiles } from './uws.ts';
import type { EdgeObserver } from './uws-http.ts';
import { MDS_LAG, OMS_LAG, SocketHub } from './uws-socket.ts';

/** How sockets are closed. */
interface CloseWords {
  readonly code: number;
  readonly reason: string;
}
const GOING_AWAY: CloseWords = { code: 1_001, reason: 'going_away' };

/** Interval at which a part of the open sockets' tokens is checked again, in real milliseconds. */
const SESSION_CHECK_MS = 1_000;

interface OmsServerOptions {
  readonly services: GatewayServices;
  readonly observer: EdgeObserver;
  /** The place of this process in its cluster; by default it is the only machine. */
  readonly place?: ClusterPlace;
  /** Null or absent: plain HTTP. */
  readonly tls?: TlsFiles | null;
  /** Null or absent: addresses are not limited. */
  readonly gate?: AddressGate | null;
  /** Whether the pages offer the public keys of the seeded users. */
  readonly offersKeys?: boolean;
  /** Books test funds, on a node with the dev seed; null or absent: there is no faucet. */
  readonly faucet?: Credit | null;
  /** To the market-data thread, for its reads at this origin; null or absent: they are 503 here. */
  readonly peer?: PeerChannel | null;
  /** To the market-data thread, for its streams at this origin; null or absent: they are 503 here. */
  readonly socketPeer?: SocketChannel | null;
  /** Records the thread's heartbeat during long parsing. */
  readonly alive?: () => void;
  /** When orders are read, and when they are refused instead; by default all are read. */
  readonly orders?: OrderAdmission;
  /** In a cluster, of a leader that is stalled: what `/control` has not answered for so long is; by default 5 s. */
  readonly answersWithinMs?: number;
  /** Limit of open sockets; by default SOCKETS_MAX. */
  readonly socketsMax?: number;
}

export class OmsServer {
  /** Events of the gateway go here; give it to the gateway before listening. */
  readonly streams: UserStreams;
  readonly #app: PublicApp;
  readonly #routes: HttpRoutes;
  readonly #hub: SocketHub;
  readonly #passed: PassedRequests;
  readonly #passedSockets: PassedSockets;
  readonly #services: GatewayServices;
  readonly #control: ControlConnections;
  readonly #private: PrivateSockets;
  readonly #late: LateAnswers | null;
  readonly #sessionCheck: NodeJS.Timeout;
  readonly #spare = new SpareCork();
  #hasListened = false;
  #isClosed = false;

  /** Throws when the TLS files cannot be read or do not match. */
  constructor(options: OmsServerOptions) {
    const { services, observer, tls = null, gate = null, offersKeys = false } = options;
    const { place = ONE_MACHINE } = options;
    const { orders = ADMITS_ALL } = options;
    const turns = new ReadingTurns(options.alive, undefined, orders);
    const { socketsMax } = options;
    const notServing = servingOf(place);
    const listener = { observer, gate, turns, notServing, ...(socketsMax === undefined ? {} : { socketsMax }) };
    this.#app = new PublicApp(tls);
    this.streams = new UserStreams(services);
    this.#services = services;
    this.#routes = new HttpRoutes(this.#app, listener);
    this.#hub = new SocketHub(this.#app, this.#routes, listener, { spare: this.#spare });
    this.#private = new PrivateSockets({ services, streams: this.streams, gate });
    this.#addStreams();
    const isOver = (): boolean => place.leadership.state() !== 'leading';
    const nowNs = (): TimestampNs => services.nowNs();
    this.#late = place.isCluster ? new LateAnswers({ isOver, nowNs, afterMs: options.answersWithinMs }) : null;
    this.#control = new ControlConnections({
      ...{ services, streams: this.streams, gate, turns, orders, late: this.#late },
      refused: (code) => observer.refused?.(code),
    });
    this.#addControl(this.#control);
    const { faucet = null } = options;
    const page = tradePage({ offersKeys, hasFaucet: faucet !== null });
    const documents = new ApiDocuments('orders', { routes: OMS_ROUTES, streams: OMS_STREAMS }, offersKeys, page);
    const openStreams = ({ user, isReadOnly }: OmsSession): number => this.streams.countOf(user, isReadOnly);
    const kit = new RouteKit({ routes: this.#routes, services, documents, openStreams, place, orders });
    addOmsRoutes(kit);
    if (faucet !== null) addDevFaucet(kit, faucet);
    this.#passed = new PassedRequests(this.#routes, options.peer ?? null);
    this.#passedSockets = new PassedSockets(this.#hub, options.socketPeer ?? null);
    this.#addMarketData();
    this.#routes.seal();
    this.#sessionCheck = setInterval(() => this.streams.checkSessions(), SESSION_CHECK_MS);
  }

  /** The registered routes; equal to those of the API documents. */
  get served(): ReturnType<HttpRoutes['served']> {
    return this.#routes.served();
  }

  /** Number of open sockets. */
  get socketCount(): number {
    return this.#hub.count;
  }

  /** Bytes queued for slow readers. */
  get backlogBytes(): number {
    return this.#hub.backlogBytes;
  }

  /**
   * @param at.port 0 lets the system choose.
   * @returns the open port. Rejects if it is not available.
   */
  async listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    assert(!this.#hasListened && !this.#isClosed, 'a server listens once');
    this.#hasListened = true;
    await this.#spare.open();
    // Closed meanwhile.
    if (this.#isClosed) this.#spare.close();
    return this.#app.listen(at);
  }

  /** New connections get the certificate that its files have now; open ones stay. As PublicApp's. */
  readCertificateAgain(): Promise<boolean> {
    return this.#app.readAgain();
  }

  /**
   * Rejects new sockets and signed actions with 503; pending replies are still sent and reads continue. Sends the
   * shutdown frame to version 1 sockets. Cancels the orders of cancel-on-disconnect connections.
   */
  stopAccepting(): void {
    this.#services.entry.stop();
    this.streams.tellShutdown();
    this.#control.endGroups();
  }

  /** Closes every socket, with 1001, then the listener and its connections, so that the thread can end by itself. */
  close({ code, reason }: CloseWords = GOING_AWAY): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#sessionCheck);
    this.#late?.close();
    this.#private.close();
    this.#control.keepOrders();
    this.streams.flush();
    this.#hub.finishAll(code, reason);
    this.#passed.close();
    this.#passedSockets.close();
    this.#routes.stop();
    this.#spare.close();
    this.#app.close();
  }

  #addStreams(): void {
    for (const { path, stream, query } of OMS_STREAMS) {
      if (stream === 'control') continue;
      if (stream === 'user') {
        this.#hub.add(this.#private.route(patternOf(path)));
        continue;
      }
      const namesUser = path.includes('{user_id}');
      this.#hub.add<OmsConnection>({
        ...this.streams.common(),
        ...(stream === 'pending-settlements' ? { lag: { ...OMS_LAG, messagesMax: PENDING_SETTLEMENTS_MAX } } : {}),
        pattern: patternOf(path),
        query: membersOf(query),
        admit: (head) => {
          if (this.#services.entry.isStopping) return rejected(STOPPING);
          const user = namesUser ? userOf(head) : accepted(null);
          return user.ok ? this.streams.admit(head, stream, user.value) : user;
        },
      });
    }
    // Without their own routes plain GETs would be parsed as trades and positions of users `events` and `ws`.
    for (const pattern of ['/trades/user/events/:user_id', '/positions/ws/:user_id']) {
      this.#routes.addPlainSocketGet(pattern);
    }
  }

  /** Public reads and streams of market data at this origin, at their paths and below MARKET_DATA_PATH (wire-additions.md 8.2). */
  #addMarketData(): void {
    for (const { method, path } of MARKET_DATA_ROUTES) {
      const there = patternOf(path);
      for (const pattern of bothPlaces(there))
        this.#passed.add({ method, pattern, query: null, isListed: false, anyOrigin: true }, there);
    }
    for (const { path } of MDS_STREAMS) {
      const there = patternOf(path);
      const isMultiplexed = there === '/ws';
      const lag = isMultiplexed ? SUBSCRIPTIONS_LAG : MDS_LAG;
      for (const pattern of bothPlaces(there)) {
        this.#passedSockets.add({
          pattern,
          there,
          lag,
          frames: isMultiplexed ? SUBSCRIPTION_FRAMES : undefined,
          isMixed: isMultiplexed,
        });
        // As at the market-data listener.
        if (there === '/trades/events') this.#routes.addPlainSocketGet(pattern, false);
      }
    }
  }

  #addControl(connections: ControlConnections): void {
    const { path, query } = must(
      OMS_STREAMS.find(({ stream }) => stream === 'control'),
      'a stream of control frames',
    );
    this.#hub.add<ControlPeer>({
      ...connections.route(),
      pattern: patternOf(path),
      query: membersOf(query),
      admit: (head) => {
        const options = controlOptionsOf(head);
        if (!options.ok) return options;
        if (this.#services.entry.isStopping) return rejected(STOPPING);
        const connection = this.streams.admit(head, 'control', null);
        return connection.ok ? accepted(connections.begin(connection.value, options.value)) : connection;
      },
    });
  }
}

function bothPlaces(pattern: string): readonly string[] {
  return [pattern, `${MARKET_DATA_PATH}${pattern}`];
}
