/**
 * The market-data listener: public REST and streams over the state of market-data.ts (wire.md 8, 9.3; GEN-04).
 *
 *   MarketData ── frames ─▶ MarketStreams ── channels ─▶ sockets        GET ─▶ MdsServer ── reads ─▶ MarketData
 *
 * REST and WebSocket share paths; the Upgrade header decides. Unknown markets are rejected before the upgrade. Every
 * stream begins with its welcome frame (WS-06). Order of use: streams, then market data with the streams as its sink,
 * then the server; after each `MarketData.tick` call `streams.flush()`.
 *
 * The REST reads are in mds-reads.ts.
 */

import { depthJson, klinesFrameJson, publicTradeJson, tickerJson } from '../codec/market-data-json.ts';
import { type MdsChannel, welcomeFrame } from '../codec/stream-frames.ts';
import { assert } from '../core/assert.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { DepthLevels, KlineFigures, QuotedTicker, TradeFigures } from '../core/market-figures.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import type { Clock } from '../core/units.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import type { MarketData, MarketDataSink, MarketTicker, TradeStatus } from '../market-data/market-data.ts';
import type { AddressGate } from './address-gate.ts';
import { ApiDocuments } from './api/api-documents.ts';
import { MDS_STREAMS } from './api/mds-streams-table.ts';
import { membersOf, patternOf, requestOf } from './api/route-doc.ts';
import { StreamChannel } from './channel.ts';
import { HttpRoutes } from './http-routes.ts';
import { type ClusterPlace, ONE_MACHINE, servingOf } from './leader-route.ts';
import { MarketSubscriptions } from './market-subscriptions.ts';
import { addMarketDataReads, intervalOf, MDS_ROUTES, marketOfPath } from './mds-reads.ts';
import { PassedRequests, type PeerChannel } from './passed-requests.ts';
import { type SocketChannel, SocketsOfPeer } from './passed-sockets.ts';
import { PublicApp } from './public-app.ts';
import { Query, type QueryMembers } from './query.ts';
import { ReadingTurns } from './reading-turns.ts';
import type { RequestHead } from './request-head.ts';
import { MARKET_DATA_PATH, MARKET_DATA_USER_ROUTES } from './user-read-routes.ts';
import type { TlsFiles } from './uws.ts';
import type { EdgeObserver } from './uws-http.ts';
import { FRAME_BYTES_MAX, MDS_LAG, SocketHub, type StreamSocket } from './uws-socket.ts';

/** The stream of a socket. */
type Subscription = { readonly channel: StreamChannel<Subscription> };
type MarketChannelName = 'marketdepth' | 'klines' | 'trades' | 'ticker';
type MarketChannels = Readonly<Record<MarketChannelName, StreamChannel<Subscription>>> & {
  /** Channels of klines at the other widths, by seconds: at most one for each width. */
  readonly wideKlines: Map<number, StreamChannel<Subscription>>;
};

/** The streams: serialises frames of market data, once each, for all subscribers. */
export class MarketStreams implements MarketDataSink {
  readonly #channels: MarketChannels[] = [];
  readonly #touched = new Set<StreamChannel<Subscription>>();
  readonly #onResyncWanted: (marketIndex: number) => void;
  readonly allTrades: StreamChannel<Subscription> = new StreamChannel();
  readonly allTickers: StreamChannel<Subscription> = new StreamChannel();
  readonly tradeEvents: StreamChannel<Subscription> = new StreamChannel();
  /** Subscriptions of the multiplexed socket. */
  readonly subscriptions: MarketSubscriptions = new MarketSubscriptions();

  constructor(onResyncWanted: (marketIndex: number) => void) {
    this.#onResyncWanted = onResyncWanted;
  }

  /** A market's channel; created on first use, so their number is bounded by the markets. */
  of(marketIndex: number, name: MarketChannelName): StreamChannel<Subscription> {
    return this.#of(marketIndex)[name];
  }

  /** The klines of a market at a width. @param width seconds, one of KLINE_WIDTHS. */
  klinesOf(marketIndex: number, width: number): StreamChannel<Subscription> {
    const { klines, wideKlines } = this.#of(marketIndex);
    if (width === 1) return klines;
    let channel = wideKlines.get(width);
    if (channel === undefined) {
      channel = new StreamChannel();
      wideKlines.set(width, channel);
    }
    return channel;
  }

  #of(marketIndex: number): MarketChannels {
    let channels = this.#channels[marketIndex];
    if (channels === undefined) {
      const names = { marketdepth: new StreamChannel<Subscription>(), klines: new StreamChannel<Subscription>() };
      channels = { ...names, trades: new StreamChannel(), ticker: new StreamChannel(), wideKlines: new Map() };
      this.#channels[marketIndex] = channels;
    }
    return channels;
  }

  depthDiff(market: MarketDefinition, diff: DepthLevels): void {
    this.#publish(this.of(market.marketIndex, 'marketdepth'), () => depthJson(market, diff));
    this.subscriptions.depthDiff(market, diff);
  }

  klines(
    market: MarketDefinition,
    rows: readonly KlineFigures[],
    ofWidth: (width: number) => readonly KlineFigures[],
  ): void {
    this.#publish(this.of(market.marketIndex, 'klines'), () => klinesFrameJson(market, rows));
    for (const [width, channel] of this.#of(market.marketIndex).wideKlines) {
      this.#publish(channel, () => klinesFrameJson(market, ofWidth(width), width));
    }
    this.subscriptions.klines(market, ofWidth);
  }

  trade(market: MarketDefinition, trade: TradeFigures): void {
    this.#publish(this.of(market.marketIndex, 'trades'), () => publicTradeJson(market, trade));
    this.#publish(this.allTrades, () => publicTradeJson(market, trade));
    this.subscriptions.trade(market, trade);
  }

  tradeEvent(market: MarketDefinition, trade: TradeFigures, status: TradeStatus): void {
    this.#publish(this.tradeEvents, () => `{"${status}":${publicTradeJson(market, trade, status)}}`);
  }

  /** Trade events are missing: their subscribers are closed as if they had lagged (WS-15). */
  tradeEventsLost(): void {
    this.tradeEvents.finishAll(MDS_LAG.code, MDS_LAG.reason);
  }

  ticker(market: MarketDefinition, ticker: QuotedTicker): void {
    this.#publish(this.of(market.marketIndex, 'ticker'), () => tickerJson(market, ticker));
    this.subscriptions.ticker(market, ticker);
  }

  tickers(changed: readonly MarketTicker[]): void {
    if (this.allTickers.size === 0) return;
    for (const frame of arrayFrames(changed.map((row) => tickerJson(row.market, row)))) {
      this.#publish(this.allTickers, () => frame);
    }
  }

  resyncWanted(marketIndex: number): void {
    this.#onResyncWanted(marketIndex);
  }

  /** Sends the frames published since the last flush, each socket's in one write. */
  flush(): void {
    for (const channel of this.#touched) channel.flush();
    this.#touched.clear();
    this.subscriptions.flush();
  }

  #publish(channel: StreamChannel<Subscription>, text: () => string): void {
    if (channel.size === 0) return;
    channel.publish(text);
    this.#touched.add(channel);
  }
}

/** JSON arrays of all items, each array at most one frame long. Items are ASCII, so characters are bytes. */
export function arrayFrames(items: readonly string[], bytesMax: number = FRAME_BYTES_MAX): string[] {
  const frames: string[] = [];
  let part: string[] = [];
  let bytes = 2;
  for (const item of items) {
    assert(item.length + 2 <= bytesMax, 'one item fits a frame');
    if (bytes + item.length > bytesMax) {
      frames.push(`[${part.join(',')}]`);
      part = [];
      bytes = 2;
    }
    part.push(item);
    bytes += item.length + 1;
  }
  if (part.length > 0) frames.push(`[${part.join(',')}]`);
  return frames;
}

const USER_PATTERNS: ReadonlySet<string> = new Set(MARKET_DATA_USER_ROUTES.map(({ path }) => patternOf(path)));

/** Whether a pattern is of the reads and sessions of users, at the root or below `/market-data`. */
function isOfUser(pattern: string): boolean {
  const isBelow = pattern.startsWith(`${MARKET_DATA_PATH}/`);
  return USER_PATTERNS.has(isBelow ? pattern.slice(MARKET_DATA_PATH.length) : pattern);
}

interface MdsServerOptions {
  readonly marketData: MarketData;
  readonly streams: MarketStreams;
  /** The node clock. */
  readonly clock: Clock;
  /** Charged for reads (LIM-14). */
  readonly budget: SharedBudget;
  readonly observer: EdgeObserver;
  /** The place of this process in its cluster; by default it is the only machine. */
  readonly place?: ClusterPlace;
  /** Null or absent: plain HTTP. */
  readonly tls?: TlsFiles | null;
  /** To the gateway's thread, for logins and reads of users; null or absent: those are 503. */
  readonly peer?: PeerChannel | null;
  /** To the gateway's thread, for the sockets at the order listener; null or absent: there are none. */
  readonly socketPeer?: SocketChannel | null;
  /** Null or absent: addresses are not limited. */
  readonly gate?: AddressGate | null;
  /** Called during long parsing: records the thread's heartbeat. */
  readonly alive?: () => void;
}

export class MdsServer {
  readonly #marketData: MarketData;
  readonly #streams: MarketStreams;
  readonly #app: PublicApp;
  readonly #routes: HttpRoutes;
  readonly #hub: SocketHub;
  readonly #passed: PassedRequests;
  readonly #remote: SocketsOfPeer;
  #hasListened = false;
  #isClosed = false;

  /** Throws when the TLS files cannot be read or do not match. */
  constructor(options: MdsServerOptions) {
    this.#marketData = options.marketData;
    this.#streams = options.streams;
    const { observer, gate = null, peer = null, place = ONE_MACHINE } = options;
    const turns = new ReadingTurns(options.alive);
    const listener = { observer, gate, turns, alsoBelow: MARKET_DATA_PATH, notServing: servingOf(place, isOfUser) };
    this.#app = new PublicApp(options.tls ?? null);
    this.#routes = new HttpRoutes(this.#app, listener);
    this.#hub = new SocketHub(this.#app, this.#routes, listener);
    this.#streams.subscriptions.attach({ ...options, gate, turns });
    this.#addStreams();
    this.#remote = new SocketsOfPeer(this.#hub, options.socketPeer ?? null);
    const documents = new ApiDocuments('market-data', { routes: MDS_ROUTES, streams: MDS_STREAMS });
    addMarketDataReads(this.#routes, { ...options, documents, place });
    this.#passed = new PassedRequests(this.#routes, peer);
    for (const route of MARKET_DATA_USER_ROUTES) {
      this.#passed.add(requestOf(route), `${MARKET_DATA_PATH}${patternOf(route.path)}`);
    }
    this.#routes.seal();
  }

  /** The registered routes; equal to those of the API documents. */
  get served(): ReturnType<HttpRoutes['served']> {
    return this.#routes.served();
  }

  /** Number of open sockets, with those that are connected at the order listener. */
  get socketCount(): number {
    return this.#hub.count;
  }

  /** Bytes queued for slow readers. */
  get backlogBytes(): number {
    return this.#hub.backlogBytes;
  }

  /**
   * Opens the listener; market data must be ready.
   *
   * @param at.port 0 lets the system choose.
   * @returns the open port. Rejects if it is not available.
   */
  listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    assert(!this.#hasListened && !this.#isClosed, 'a server listens once');
    this.#hasListened = true;
    return this.#app.listen(at);
  }

  /** New connections get the certificate that its files have now; open ones stay. As PublicApp's. */
  readCertificateAgain(): Promise<boolean> {
    return this.#app.readAgain();
  }

  /** Closes every socket with 1001, then the listener and its connections, so that the thread can end by itself. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hub.finishAll(1001, 'going_away');
    this.#remote.close();
    this.#passed.close();
    this.#routes.stop();
    this.#app.close();
  }

  #addStreams(): void {
    for (const { path, stream, query } of MDS_STREAMS) {
      if (stream === null) this.#hub.add(this.#streams.subscriptions.route);
      else this.#addStream(patternOf(path), stream, this.#channelOf(stream, path), membersOf(query));
    }
    // Without its own route a plain GET would be parsed as the trades of an asset `events`.
    this.#routes.addPlainSocketGet('/trades/events');
  }

  /** Of the market in the path, where there is one; else of all markets. */
  #channelOf(stream: MdsChannel, path: string): (head: RequestHead) => Outcome<StreamChannel<Subscription>> {
    const { allTrades, allTickers, tradeEvents } = this.#streams;
    switch (stream) {
      case 'klines':
        return (head) => this.#klinesOf(head);
      case 'trade_events':
        return () => accepted(tradeEvents);
      case 'tickers':
        return () => accepted(allTickers);
      default:
        if (!path.includes('{asset_id}')) return () => accepted(allTrades);
        return (head) => {
          const market = this.#marketOf(head);
          return market.ok ? accepted(this.#streams.of(market.value.marketIndex, stream)) : market;
        };
    }
  }

  /** Query first, then the market. */
  #klinesOf(head: RequestHead): Outcome<StreamChannel<Subscription>> {
    const width = intervalOf(new Query(head.query));
    if (!width.ok) return width;
    const market = this.#marketOf(head);
    return market.ok ? accepted(this.#streams.klinesOf(market.value.marketIndex, width.value ?? 1)) : market;
  }

  #addStream(
    pattern: string,
    name: MdsChannel,
    channelOf: (head: RequestHead) => Outcome<StreamChannel<Subscription>>,
    query: QueryMembers,
  ): void {
    const welcome = Buffer.from(welcomeFrame(name));
    this.#hub.add<Subscription>({
      pattern,
      query,
      lag: MDS_LAG,
      admit: (head) => {
        const channel = channelOf(head);
        return channel.ok ? accepted({ channel: channel.value }) : channel;
      },
      opened: (socket: StreamSocket<Subscription>) => {
        socket.send(welcome);
        socket.data.channel.join(socket);
      },
      closed: (socket) => socket.data.channel.leave(socket),
    });
  }

  /** The market of the first path parameter, in any accepted spelling. */
  #marketOf(head: RequestHead): Outcome<MarketDefinition> {
    return marketOfPath(this.#marketData, head);
  }
}
