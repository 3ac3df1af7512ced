/**
 * The REST reads of the market-data listener (wire.md 8): shape 400, rate 429, market 404, answer.
 *
 * Nobody logs in here, so the public share of the budget that all requests share pays (LIM-14), and the address.
 *
 * Not here: the streams (mds-server.ts), the figures (src/market-data).
 */
import { parseAssetId } from '../core/ids.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Clock, TimestampNs } from '../core/units.ts';
import { KLINE_LIMIT_DEFAULT, KLINE_LIMIT_MAX } from '../market-data/klines.ts';
import type { MarketData } from '../market-data/market-data.ts';
import { PUBLIC_READ_UNITS } from '../sessions/address-limits.ts';
import { rateLimited } from '../sessions/rate-limits.ts';
import type { SharedBudget } from '../sessions/shared-budget.ts';
import { depthJson, klinePageJson, publicTradeJson, tickerJson } from '../wire/market-data-json.ts';
import { ApiDocuments, DOCUMENT_PATTERNS } from './api/api-documents.ts';
import { type Page, Query } from './query.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall, HttpRoutes } from './uws-http.ts';

export interface MarketDataReadParts {
  readonly routes: HttpRoutes;
  readonly marketData: MarketData;
  /** The node clock. */
  readonly clock: Clock;
  /** Pays for every read. */
  readonly budget: SharedBudget;
}

export function addMarketDataReads(parts: MarketDataReadParts): void {
  const { marketData, clock } = parts;
  const depth = new PrintedDepth(marketData);
  addMarketRead(parts, '/marketdepth/:asset_id', noQuery, (call, market) => depth.answer(call, market));
  addMarketRead(parts, '/klines/:asset_id', klineQueryOf, (call, market, { endNs, ...page }) => {
    const nowNs = clock.nowNs();
    const rows = marketData.klinePage(market.marketIndex, { ...page, endNs: endNs ?? nowNs, nowNs });
    call.reply(klinePageJson(market, rows));
  });
  addMarketRead(parts, '/trades/:asset_id', tradePageOf, (call, market, page) => {
    answerTrades(call, marketData, market.marketIndex, page);
  });
  addMarketRead(parts, '/ticker/:asset_id', noQuery, (call, market) => {
    call.reply(tickerJson(market, marketData.ticker(market.marketIndex, clock.nowNs())));
  });
  addRead(parts, '/trades', tradePageOf, (call, page) => answerTrades(call, marketData, null, page));
  addRead(parts, '/tickers', noQuery, (call) => {
    const tickers = marketData.tickers(clock.nowNs());
    call.reply(`[${tickers.map(({ market, ticker }) => tickerJson(market, ticker)).join(',')}]`);
  });
  const documents = new ApiDocuments('market-data');
  for (const pattern of DOCUMENT_PATTERNS) addRead(parts, pattern, noQuery, (call) => documents.answer(call));
}

/** The market of the first path parameter, in any accepted spelling. */
export function marketOf(marketData: MarketData, head: RequestHead): Outcome<MarketDefinition> {
  const assetId = parseAssetId(head.parameters[0] ?? '');
  const market = assetId === null ? undefined : marketData.find(assetId);
  return market === undefined ? rejected(reject('MARKET_NOT_FOUND', 'no such market')) : accepted(market);
}

function addRead<Shape>(
  { routes, clock, budget }: MarketDataReadParts,
  pattern: string,
  shapeOf: (query: Query) => Outcome<Shape>,
  serve: (call: HttpCall, shape: Shape) => void,
): void {
  routes.add({
    method: 'GET',
    pattern,
    handler: (call) => {
      const shape = shapeOf(new Query(call.head.query));
      if (!shape.ok) return call.refuse(shape.reject);
      const refusal = call.payAddress(PUBLIC_READ_UNITS) ?? charge(budget, clock.nowNs());
      if (refusal !== null) return call.refuse(refusal);
      serve(call, shape.value);
    },
  });
}

function addMarketRead<Shape>(
  parts: MarketDataReadParts,
  pattern: string,
  shapeOf: (query: Query) => Outcome<Shape>,
  serve: (call: HttpCall, market: MarketDefinition, shape: Shape) => void,
): void {
  addRead(parts, pattern, shapeOf, (call, shape) => {
    const market = marketOf(parts.marketData, call.head);
    if (market.ok) serve(call, market.value, shape);
    else call.refuse(market.reject);
  });
}

function charge(budget: SharedBudget, now: TimestampNs): Reject | null {
  const short = budget.takePublicRead(now);
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

/** Page, limit and `end_timestamp_ns`; null is the present. */
function klineQueryOf(query: Query): Outcome<Page & { readonly endNs: TimestampNs | null }> {
  const page = query.page({ limitDefault: KLINE_LIMIT_DEFAULT, limitMax: KLINE_LIMIT_MAX });
  if (!page.ok) return page;
  const end = query.whole('end_timestamp_ns');
  return end.ok ? accepted({ ...page.value, endNs: end.value as TimestampNs | null }) : end;
}

/** Snapshots as printed, each kept until the next diff of its market. */
class PrintedDepth {
  readonly #marketData: MarketData;
  readonly #printed = new Map<number, { readonly sequenceNumber: number; readonly body: Uint8Array }>();

  constructor(marketData: MarketData) {
    this.#marketData = marketData;
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
