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
import { ApiDocuments, DOCUMENT_PATTERNS } from './api/api-documents.ts';
import type { HttpRoutes } from './http-routes.ts';
import { NO_MEMBERS, PAGE_MEMBERS, type Page, Query, type QueryMembers } from './query.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall } from './uws-http.ts';

export interface MarketDataReadParts {
  readonly routes: HttpRoutes;
  readonly marketData: MarketData;
  /** The node clock. */
  readonly clock: Clock;
  /** Charged for every read. */
  readonly budget: SharedBudget;
}

export function addMarketDataReads(parts: MarketDataReadParts): void {
  const { marketData, clock } = parts;
  const depth = new PrintedDepth(marketData);
  const tickers = new LastLength();
  addMarketRead(parts, '/marketdepth/:asset_id', {
    shapeOf: noQuery,
    timesOf: (_, head) => depth.timesOf(head),
    serve: (call, market) => depth.answer(call, market),
  });
  addMarketRead(parts, '/klines/:asset_id', {
    query: { ...PAGE_MEMBERS, end_timestamp_ns: 'once', interval: 'once' },
    shapeOf: klineQueryOf,
    timesOf: ({ limit }) => timesOfRows(limit, KLINE_LIMIT_DEFAULT),
    serve: (call, market, { endNs, width, ...page }) => {
      const nowNs = clock.nowNs();
      const query = { ...page, endNs: endNs ?? nowNs, nowNs };
      if (width === null) call.reply(klinePageJson(market, marketData.klinePage(market.marketIndex, query)));
      else call.reply(widePageJson(market, marketData.widePage(market.marketIndex, { ...query, width })));
    },
  });
  const timesOf = ({ limit }: Page): bigint => timesOfRows(limit, PAGE_LIMIT_DEFAULT);
  addMarketRead(parts, '/trades/:asset_id', {
    query: PAGE_MEMBERS,
    shapeOf: tradePageOf,
    timesOf,
    serve: (call, market, page) => answerTrades(call, marketData, market.marketIndex, page),
  });
  addMarketRead(parts, '/ticker/:asset_id', {
    shapeOf: noQuery,
    serve: (call, market) => call.reply(tickerJson(market, marketData.ticker(market.marketIndex, clock.nowNs()))),
  });
  addRead(parts, '/trades', {
    query: PAGE_MEMBERS,
    shapeOf: tradePageOf,
    timesOf,
    serve: (call, page) => answerTrades(call, marketData, null, page),
  });
  addRead(parts, '/tickers', {
    shapeOf: noQuery,
    timesOf: () => tickers.times,
    serve: (call) => {
      const rows = marketData.tickers(clock.nowNs());
      call.reply(tickers.noted(`[${rows.map((row) => tickerJson(row.market, row)).join(',')}]`));
    },
  });
  addMarketRead(parts, '/openinterest/:asset_id', {
    shapeOf: noQuery,
    serve: (call, market) => call.reply(openInterestJson(market, marketData.openInterest(market.marketIndex))),
  });
  const interests = new LastLength();
  addRead(parts, '/openinterest', {
    shapeOf: noQuery,
    timesOf: () => interests.times,
    serve: (call) => {
      const rows = marketData.openInterests().map(({ market, interest }) => openInterestJson(market, interest));
      call.reply(interests.noted(`[${rows.join(',')}]`));
    },
  });
  const documents = new ApiDocuments('market-data');
  for (const pattern of DOCUMENT_PATTERNS) {
    addRead(parts, pattern, { shapeOf: noQuery, serve: (call) => documents.answer(call) });
  }
}

/** The number of public-read prices for a page of up to `limit` rows. */
export function timesOfRows(limit: number, ordinary: number): bigint {
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
export function marketOf(marketData: MarketData, head: RequestHead): Outcome<MarketDefinition> {
  const assetId = parseAssetId(head.parameters[0] ?? '');
  const market = assetId === null ? undefined : marketData.find(assetId);
  return market === undefined ? rejected(reject('MARKET_NOT_FOUND', 'no such market')) : accepted(market);
}

interface MarketDataRead<Shape, Rest extends unknown[]> {
  /** None by default. */
  readonly query?: QueryMembers;
  readonly shapeOf: (query: Query) => Outcome<Shape>;
  /** The number of public-read prices; 1 by default. */
  readonly timesOf?: (shape: Shape, head: RequestHead) => bigint;
  readonly serve: (call: HttpCall, ...rest: Rest) => void;
}

function addRead<Shape>(
  { routes, clock, budget }: MarketDataReadParts,
  pattern: string,
  { query = NO_MEMBERS, shapeOf, timesOf, serve }: MarketDataRead<Shape, [Shape]>,
): void {
  routes.add({
    method: 'GET',
    pattern,
    query,
    anyOrigin: true,
    handler: (call) => {
      const shape = shapeOf(new Query(call.head.query));
      if (!shape.ok) return call.refuse(shape.reject);
      const times = timesOf?.(shape.value, call.head) ?? 1n;
      const refusal = call.payAddress(PUBLIC_READ_UNITS * times) ?? chargeRead(budget, clock.nowNs(), times);
      if (refusal !== null) return call.refuse(refusal);
      serve(call, shape.value);
    },
  });
}

function addMarketRead<Shape>(
  parts: MarketDataReadParts,
  pattern: string,
  { serve, ...read }: MarketDataRead<Shape, [MarketDefinition, Shape]>,
): void {
  addRead(parts, pattern, {
    ...read,
    serve: (call, shape) => {
      const market = marketOf(parts.marketData, call.head);
      if (market.ok) serve(call, market.value, shape);
      else call.refuse(market.reject);
    },
  });
}

/** Charges the listener's budget for a public read. @returns RATE_LIMITED, or null after the charge. */
export function chargeRead(budget: SharedBudget, now: TimestampNs, times: bigint): Reject | null {
  const short = budget.takePublicRead(now, times);
  if (short === null) return null;
  budget.countRefusal('global');
  return rateLimited('global', short.asked, short.available);
}

function answerTrades(call: HttpCall, marketData: MarketData, marketIndex: number | null, page: Page): void {
  const trades = marketData.trades(marketIndex, page.page, page.limit);
  const texts = trades.map((trade) => publicTradeJson(marketData.definition(trade.marketIndex), trade));
  call.reply(`[${texts.join(',')}]`);
}

function noQuery(): Outcome<null> {
  return accepted(null);
}

function tradePageOf(query: Query): Outcome<Page> {
  return query.page({ limitDefault: PAGE_LIMIT_DEFAULT, limitMax: PAGE_LIMIT_MAX });
}

interface KlineShape extends Page {
  /** Null is now. */
  readonly endNs: TimestampNs | null;
  /** Seconds; null when no interval was given. */
  readonly width: number | null;
}

function klineQueryOf(query: Query): Outcome<KlineShape> {
  const page = query.page({ limitDefault: KLINE_LIMIT_DEFAULT, limitMax: KLINE_LIMIT_MAX });
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
    const market = marketOf(this.#marketData, head);
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
