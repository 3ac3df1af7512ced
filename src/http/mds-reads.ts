/**
 * The REST reads of the market-data listener (wire.md 8): shape 400, rate 429, market 404, reply.
 *
 * There is no login here, so reads are charged to the public part of the shared budget (LIM-14), and to the address:
 * the price of a public read for a reply of ordinary length, and once more for each READ_ROWS_PER_PRICE rows beyond the
 * default page and each READ_BYTES_PER_PRICE bytes of a book or of all tickers. Documents have the price of a read.
 *
 * Streams are in mds-server.ts, the figures in src/market-data.
 */

import {
  depthJson,
  klinePageJson,
  openInterestJson,
  publicTradeJson,
  tickerJson,
  widePageJson,
} from '../codec/market-data-json.ts';
import {
  DEPTH,
  KLINE_PAGE,
  OPEN_INTEREST,
  OPEN_INTERESTS,
  PUBLIC_TRADES,
  TICKER,
  TICKERS,
} from '../codec/shapes/market-data-shapes.ts';
import { NANOSECONDS } from '../codec/shapes/shape-kit.ts';
import { must } from '../core/assert.ts';
import { parseAssetId } from '../core/ids.ts';
import { parseInterval } from '../core/kline-intervals.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, READ_BYTES_PER_PRICE, READ_ROWS_PER_PRICE } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Clock, TimestampNs } from '../core/units.ts';
import { PUBLIC_READ_UNITS } from '../gateway/sessions/address-limits.ts';
import { rateLimited } from '../gateway/sessions/rate-limits.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import { KLINE_LIMIT_DEFAULT, KLINE_LIMIT_MAX } from '../market-data/klines.ts';
import type { MarketData } from '../market-data/market-data.ts';
import type { ApiDocuments } from './api/api-documents.ts';
import { DOCUMENT_FILES, DOCUMENT_ROUTES } from './api/document-routes.ts';
import { INTERVAL_QUERY, KLINE_EXAMPLE, TICKER_EXAMPLE, TRADE_EXAMPLE } from './api/mds-streams-table.ts';
import { limitQuery, PAGE_QUERY } from './api/query-docs.ts';
import { type RouteDoc, requestOf } from './api/route-doc.ts';
import type { HttpRoutes } from './http-routes.ts';
import { type ClusterPlace, LEADER_ROUTE, leaderText } from './leader-route.ts';
import { type GatewayRoute, nothing } from './oms-kit.ts';
import { type PageWindow, Query } from './query.ts';
import type { RequestHead } from './request-head.ts';
import { MARKET_DATA_USER_ROUTES } from './user-read-routes.ts';
import type { HttpCall, HttpHandler } from './uws-http.ts';

const DEPTH_EXAMPLE = '{"asks":[[3150.25,2.5]],"bids":[[3149.75,1]],"sequence_number":9001}';
const INTEREST_EXAMPLE = '{"asset_id":"1","long":"410.5","short":"410.5","timestamp_ns":1770000004000000000}';

const READ = { method: 'GET', area: 'Market data', auth: 'public', cost: 'publicRead' } as const;
const TRADES_LIMIT = limitQuery(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX);
const TRADES_QUERY = [PAGE_QUERY, TRADES_LIMIT];
const KLINES_LIMIT = limitQuery(KLINE_LIMIT_DEFAULT, KLINE_LIMIT_MAX);

interface MarketDataReadParts {
  readonly marketData: MarketData;
  /** The node clock. */
  readonly clock: Clock;
  /** Charged for every read. */
  readonly budget: SharedBudget;
  readonly documents: ApiDocuments;
  readonly place: ClusterPlace;
}

/** What the routes of one listener share. */
interface MarketDataKit extends MarketDataReadParts {
  readonly depth: PrintedDepth;
  readonly tickers: LastLength;
  readonly interests: LastLength;
}

interface MarketDataRead<Asked, Rest extends unknown[]> extends RouteDoc {
  readonly auth: 'public';
  readonly cost: 'publicRead';
  readonly read: (query: Query) => Outcome<Asked>;
  /** The number of public-read prices; 1 by default. */
  readonly timesOf?: (kit: MarketDataKit, asked: Asked, head: RequestHead) => bigint;
  readonly serve: (kit: MarketDataKit, call: HttpCall, ...rest: Rest) => void;
}

/** A route of this listener: what documents say of it, and how it is served. */
interface MarketDataRoute extends RouteDoc {
  readonly served: (kit: MarketDataKit) => HttpHandler;
}

function marketDataRead<Asked>(route: MarketDataRead<Asked, [Asked]>): MarketDataRoute {
  const { read, timesOf, serve } = route;
  return {
    ...route,
    served: (kit) => (call) => {
      const asked = read(new Query(call.head.query));
      if (!asked.ok) return call.refuse(asked.reject);
      const times = timesOf?.(kit, asked.value, call.head) ?? 1n;
      const refusal = call.payAddress(PUBLIC_READ_UNITS * times) ?? chargeRead(kit.budget, kit.clock.nowNs(), times);
      if (refusal !== null) return call.refuse(refusal);
      serve(kit, call, asked.value);
    },
  };
}

/** A read of the market in its path. */
function marketRead<Asked>({ serve, ...route }: MarketDataRead<Asked, [MarketDefinition, Asked]>): MarketDataRoute {
  return marketDataRead<Asked>({
    ...route,
    serve: (kit, call, asked) => {
      const market = marketOfPath(kit.marketData, call.head);
      if (market.ok) serve(kit, call, market.value, asked);
      else call.refuse(market.reject);
    },
  });
}

const MARKET_DATA_READS: readonly MarketDataRoute[] = [
  marketRead({
    ...READ,
    path: '/marketdepth/{asset_id}',
    summary: 'The order book',
    description: 'Apply the diffs of `/marketdepth/diff/{asset_id}` with a larger `sequence_number`.',
    reply: DEPTH,
    errors: ['MARKET_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { path: { asset_id: '1' }, reply: DEPTH_EXAMPLE },
    timesOf: ({ depth }, _, head) => depth.timesOf(head),
    read: nothing,
    serve: ({ depth }, call, market) => depth.answer(call, market),
  }),
  marketRead({
    ...READ,
    path: '/klines/{asset_id}',
    summary: 'Candles',
    description: [
      'Page 0 is the newest window; rows ascend inside a page. Without an interval the rows are seconds. Below a minute',
      'rows are kept for seven days, below an hour for 60 days, below a day for two years, wider ones for good. Of an',
      'interval wider than a second the row that is still forming is included.',
    ].join(' '),
    query: [
      PAGE_QUERY,
      KLINES_LIMIT,
      {
        name: 'end_timestamp_ns',
        shape: NANOSECONDS,
        summary: 'the newest close time, inclusive; of an interval wider than a second, open time; by default now',
      },
      INTERVAL_QUERY,
    ],
    reply: KLINE_PAGE,
    errors: ['MARKET_NOT_FOUND'],
    example: {
      path: { asset_id: '1' },
      query: 'limit=60',
      reply: `{"items":[${KLINE_EXAMPLE}],"page":0,"limit":60,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`,
    },
    timesOf: (_, { limit }) => timesOfRows(limit, KLINE_LIMIT_DEFAULT),
    read: klineQueryOf,
    serve: ({ marketData, clock }, call, market, { endNs, width, ...page }) => {
      const nowNs = clock.nowNs();
      const query = { ...page, endNs: endNs ?? nowNs, nowNs };
      if (width === null) call.reply(klinePageJson(market, marketData.klinePage(market.marketIndex, query)));
      else call.reply(widePageJson(market, marketData.widePage(market.marketIndex, { ...query, width })));
    },
  }),
  marketDataRead({
    ...READ,
    path: '/trades',
    summary: 'Confirmed trades of all markets, newest first',
    query: TRADES_QUERY,
    reply: PUBLIC_TRADES,
    example: { query: 'limit=10', reply: `[${TRADE_EXAMPLE}]` },
    timesOf: timesOfPage,
    read: pageOf,
    serve: ({ marketData }, call, page) => answerTrades(call, marketData, null, page),
  }),
  marketRead({
    ...READ,
    path: '/trades/{asset_id}',
    summary: 'Confirmed trades of one market, newest first',
    query: TRADES_QUERY,
    reply: PUBLIC_TRADES,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: `[${TRADE_EXAMPLE}]` },
    timesOf: timesOfPage,
    read: pageOf,
    serve: ({ marketData }, call, { marketIndex }, page) => answerTrades(call, marketData, marketIndex, page),
  }),
  marketRead({
    ...READ,
    path: '/ticker/{asset_id}',
    summary: 'The last 24 hours of one market',
    reply: TICKER,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: TICKER_EXAMPLE },
    read: nothing,
    serve: ({ marketData, clock }, call, market) =>
      call.reply(tickerJson(market, marketData.ticker(market.marketIndex, clock.nowNs()))),
  }),
  marketDataRead({
    ...READ,
    path: '/tickers',
    summary: 'The last 24 hours of every market',
    reply: TICKERS,
    example: { reply: `[${TICKER_EXAMPLE}]` },
    timesOf: ({ tickers }) => tickers.times,
    read: nothing,
    serve: ({ marketData, clock, tickers }, call) => {
      const rows = marketData.tickers(clock.nowNs());
      call.reply(tickers.noted(`[${rows.map((row) => tickerJson(row.market, row)).join(',')}]`));
    },
  }),
  marketDataRead({
    ...READ,
    path: '/openinterest',
    summary: 'Open interest of every market',
    description: 'The open-interest cap counts the larger of the two sides, not their sum.',
    reply: OPEN_INTERESTS,
    example: { reply: `[${INTEREST_EXAMPLE}]` },
    timesOf: ({ interests }) => interests.times,
    read: nothing,
    serve: ({ marketData, interests }, call) => {
      const rows = marketData.openInterests().map(({ market, interest }) => openInterestJson(market, interest));
      call.reply(interests.noted(`[${rows.join(',')}]`));
    },
  }),
  marketRead({
    ...READ,
    path: '/openinterest/{asset_id}',
    summary: 'Open interest of one market',
    reply: OPEN_INTEREST,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: INTEREST_EXAMPLE },
    read: nothing,
    serve: ({ marketData }, call, market) =>
      call.reply(openInterestJson(market, marketData.openInterest(market.marketIndex))),
  }),
];

const DOCUMENTS: readonly MarketDataRoute[] = DOCUMENT_ROUTES.map((route) =>
  marketDataRead({ ...route, read: nothing, serve: ({ documents }, call) => documents.answer(call) }),
);

/** The routes that this listener answers. */
export const MARKET_DATA_ROUTES: readonly MarketDataRoute[] = [...MARKET_DATA_READS, ...DOCUMENTS];

/** Free but for the address, and answered in every state. */
const LEADER: MarketDataRoute = {
  ...LEADER_ROUTE,
  served:
    ({ place }) =>
    (call) => {
      const refusal = call.payAddress(PUBLIC_READ_UNITS);
      if (refusal === null) call.reply(leaderText(place));
      else call.refuse(refusal);
    },
};

/** The routes of the documents of market data. */
export const MDS_ROUTES: readonly (MarketDataRoute | GatewayRoute)[] = [
  ...MARKET_DATA_READS,
  ...MARKET_DATA_USER_ROUTES,
  LEADER,
  ...DOCUMENTS,
];

export function addMarketDataReads(routes: HttpRoutes, parts: MarketDataReadParts): void {
  const lengths = { tickers: new LastLength(), interests: new LastLength() };
  const kit = { ...parts, ...lengths, depth: new PrintedDepth(parts.marketData) };
  for (const route of [...MARKET_DATA_ROUTES, LEADER]) {
    routes.add({ ...requestOf(route), anyOrigin: true, handler: route.served(kit) });
  }
  const document = must(DOCUMENTS[0], 'a listener has documents');
  // Files of the page, like its documents.
  routes.add({ ...requestOf(document), pattern: DOCUMENT_FILES, anyOrigin: true, handler: document.served(kit) });
}

/** The number of public-read prices for a page of up to `limit` rows. */
function timesOfRows(limit: number, ordinary: number): bigint {
  return 1n + BigInt(Math.ceil(Math.max(0, limit - ordinary) / READ_ROWS_PER_PRICE));
}

/** The number of public-read prices for a reply of `bytes`. */
export function timesOfBytes(bytes: number): bigint {
  return 1n + BigInt(Math.floor(bytes / READ_BYTES_PER_PRICE));
}

/** Replies priced by length are priced by the length of the previous one. */
class LastLength {
  #bytes = 0;

  get times(): bigint {
    return timesOfBytes(this.#bytes);
  }

  noted(text: string): string {
    this.#bytes = text.length;
    return text;
  }
}

/** The market of the first path parameter, in any accepted spelling. */
export function marketOfPath(marketData: MarketData, head: RequestHead): Outcome<MarketDefinition> {
  const assetId = parseAssetId(head.parameters[0] ?? '');
  const market = assetId === null ? undefined : marketData.find(assetId);
  return market === undefined ? rejected(reject('MARKET_NOT_FOUND', 'no such market')) : accepted(market);
}

/** Charges the listener's budget for a public read. @returns RATE_LIMITED, or null after the charge. */
export function chargeRead(budget: SharedBudget, now: TimestampNs, times: bigint): Reject | null {
  const short = budget.takePublicRead(now, times);
  if (short === null) return null;
  budget.countRefusal('global');
  return rateLimited('global', short.asked, short.available);
}

function answerTrades(call: HttpCall, marketData: MarketData, marketIndex: number | null, page: PageWindow): void {
  const trades = marketData.trades(marketIndex, page.page, page.limit);
  const texts = trades.map((trade) => publicTradeJson(marketData.definition(trade.marketIndex), trade));
  call.reply(`[${texts.join(',')}]`);
}

function pageOf(query: Query): Outcome<PageWindow> {
  return query.page(TRADES_LIMIT.bounds);
}

function timesOfPage(_: MarketDataKit, { limit }: PageWindow): bigint {
  return timesOfRows(limit, PAGE_LIMIT_DEFAULT);
}

interface KlineShape extends PageWindow {
  /** Null is now. */
  readonly endNs: TimestampNs | null;
  /** Seconds; null when no interval was given. */
  readonly width: number | null;
}

function klineQueryOf(query: Query): Outcome<KlineShape> {
  const page = query.page(KLINES_LIMIT.bounds);
  if (!page.ok) return page;
  const width = intervalOf(query);
  if (!width.ok) return width;
  const end = query.time('end_timestamp_ns');
  return end.ok ? accepted({ ...page.value, width: width.value, endNs: end.value }) : end;
}

/** The width of `interval` in seconds; null when it was not given. */
export function intervalOf(query: Query): Outcome<number | null> {
  const text = query.one('interval');
  if (!text.ok) return text;
  return text.value === null ? accepted(null) : parseInterval(text.value);
}

/** Formatted snapshots, each cached until the next diff of its market. */
class PrintedDepth {
  readonly #marketData: MarketData;
  readonly #printed = new Map<number, { readonly sequenceNumber: number; readonly body: Uint8Array }>();

  constructor(marketData: MarketData) {
    this.#marketData = marketData;
  }

  /** By the length of the previous snapshot. */
  timesOf(head: RequestHead): bigint {
    const market = marketOfPath(this.#marketData, head);
    return market.ok ? timesOfBytes(this.#printed.get(market.value.marketIndex)?.body.byteLength ?? 0) : 1n;
  }

  answer(call: HttpCall, market: MarketDefinition): void {
    const { marketIndex } = market;
    const printed = this.#printed.get(marketIndex);
    if (printed !== undefined && printed.sequenceNumber === this.#marketData.depthSequence(marketIndex)) {
      call.reply(printed.body);
      return;
    }
    const snapshot = this.#marketData.depthSnapshot(marketIndex);
    if (snapshot === null) {
      call.refuse(reject('SERVICE_UNAVAILABLE', 'the order book is not loaded yet'));
      return;
    }
    const body = Buffer.from(depthJson(market, snapshot));
    this.#printed.set(marketIndex, { sequenceNumber: snapshot.sequenceNumber, body });
    call.reply(body);
  }
}
