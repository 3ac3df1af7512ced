/**
 * Public market data of all markets: input from matching and clearing, output to reads and streams.
 *
 *   matching ─ levelChanged, commitDepth, resetDepth ─▶ depth replica ─┐
 *   clearing ─ tradeConfirmed, clearingPassed ─▶ tape, history ────────┼─ tick ─▶ sink: frames to publish
 *   clearing ─ oracleAccepted, riskChanged ────▶ asset figures ────────┤
 *   both ───── tradeMatched, tradeRolledBack ──▶ trade events ─────────┤
 *                                                klines, ticker ───────┘
 *
 * Depth is optimistic: it excludes pending fills (AMB-98). Trade events include pending and rolled-back trades;
 * everything else is computed from confirmed trades only.
 *
 * Every tick has two times (AMB-141): the node clock determines figures (buckets, the rolling day); the pacing clock,
 * real and monotonic, spaces frames, so that a node with a stopped clock still streams.
 *
 * No rings, sockets or JSON here.
 */

import { assert, must } from '../core/assert.ts';
import { type AssetId, compareAssetIds } from '../core/ids.ts';
import { TAPE_TRADES_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type {
  BookLevel,
  DepthLevels,
  InterestFigures,
  KlineFigures,
  KlineFiguresPage,
  MarketQuotes,
  QuotedTicker,
  ShownPrices,
  TickerFigures,
  TradeFigures,
  WidePage,
} from '../core/market-figures.ts';
import type { Side } from '../core/order-terms.ts';
import {
  MILLISECOND_NS,
  type RawPrice,
  type RawQuantity,
  SECOND_NS,
  type Sequence,
  type TimestampNs,
} from '../core/units.ts';
import type { MarkRule, PriceSource } from '../risk/prices.ts';
import { AssetFigures, type MarketRisk } from './asset-figures.ts';
import { DayTicker } from './day-ticker.ts';
import { type BookImage, DepthReplica } from './depth-replica.ts';
import { type KlineRange, Klines } from './klines.ts';
import { Tape, tapePage } from './tape.ts';
import { secondOf, TradeHistory } from './trade-history.ts';
import type { WideQuery } from './wide-klines.ts';

/** Maximum delay of changes for merging them into one diff (AMB-98). */
const DEPTH_MERGE_NS: bigint = 10n * MILLISECOND_NS;
/** Minimum interval between two ticker frames of a market, and between two frames of all tickers (TKR-03). */
const TICKER_SPACING_NS: bigint = SECOND_NS;
/** Interval after which a resync is requested again, in case the first request was lost. */
const RESYNC_REPEAT_NS: bigint = SECOND_NS;
/** Rows in one kline frame: below 1 MiB. */
const KLINE_FRAME_ROWS_MAX = 2_000;

/** Status of a trade on the stream of trade events (wire.md 9.7). */
export type TradeStatus = 'Pending' | 'Confirmed' | 'Rollbacked';

/** Receives frames. Called from `tick` only, except for trade events, which are published immediately. */
export interface MarketDataSink {
  depthDiff(market: MarketDefinition, diff: DepthLevels): void;
  /** @param ofWidth the rows of another width, in seconds, that changed with these; ascending. */
  klines(
    market: MarketDefinition,
    rows: readonly KlineFigures[],
    ofWidth: (width: number) => readonly KlineFigures[],
  ): void;
  trade(market: MarketDefinition, trade: TradeFigures): void;
  /** Every trade is published as pending once, and then as decided once. */
  tradeEvent(market: MarketDefinition, trade: TradeFigures, status: TradeStatus): void;
  ticker(market: MarketDefinition, ticker: QuotedTicker): void;
  /** The tickers that changed since the last call, by asset. */
  tickers(changed: readonly MarketTicker[]): void;
  /** Messages of the market are missing: requests `resetDepth` with the whole book. */
  resyncWanted(marketIndex: number): void;
}

/** A ticker with its market. */
export interface MarketTicker extends QuotedTicker {
  readonly market: MarketDefinition;
}

/** The times of a tick. */
interface TickTimes {
  /** Node clock. */
  readonly nowNs: TimestampNs;
  /** Real time, monotonic, from any origin. */
  readonly pacingNs: bigint;
}

class Market {
  definition: MarketDefinition;
  readonly depth = new DepthReplica();
  readonly tape: Tape;
  readonly klines: Klines;
  readonly ticker: DayTicker;
  readonly history = new TradeHistory();
  clearedNs = 0n as TimestampNs;
  /** Trades up to this id were published as pending, or precede the first possible client. */
  pendingThrough = 0;
  /** Pacing times of the last diff, ticker frame and resync request; null before the first. */
  diffSentNs: bigint | null = null;
  tickerSentNs: bigint | null = null;
  resyncAskedNs: bigint | null = null;
  /** The ticker that was sent last, and the one that was last put into the frame of all tickers. */
  tickerSent: TickerFigures | null = null;
  tickerInAll: TickerFigures | null = null;

  constructor(definition: MarketDefinition, tapeTrades: number) {
    this.definition = definition;
    this.tape = new Tape(tapeTrades);
    this.klines = new Klines(this.history);
    this.ticker = new DayTicker(this.history);
  }
}

export class MarketData {
  readonly #sink: MarketDataSink;
  #tapeTrades: number;
  readonly #markets: Market[] = [];
  readonly #indexOfAsset = new Map<AssetId, number>();
  /** By asset: the order of `/tickers` and of ties in `/trades` (AMB-35, AMB-105). */
  #byAsset: Market[] = [];
  readonly #figures = new AssetFigures();
  #nowNs = 0n as TimestampNs;
  #allTickersSentNs: bigint | null = null;

  /** @param options.tapeTrades public trades kept for each market (`public_trade_cache`). */
  constructor(sink: MarketDataSink, options: { readonly tapeTrades?: number } = {}) {
    this.#sink = sink;
    this.#tapeTrades = options.tapeTrades ?? TAPE_TRADES_MAX;
  }

  /** Sets the number of public trades kept per market (`public_trade_cache`). */
  setTapeTrades(trades: number): void {
    if (trades === this.#tapeTrades) return;
    this.#tapeTrades = trades;
    for (const { tape } of this.#markets) tape.resize(trades);
  }

  /** A new market, which must have the next index, or new settings of an existing one; its decimals never change. */
  upsertMarket(definition: MarketDefinition): void {
    const known = this.#markets[definition.marketIndex];
    if (known !== undefined) {
      assert(known.definition.assetId === definition.assetId, 'a market keeps its asset');
      assert(known.definition.priceDecimals === definition.priceDecimals, 'a market keeps its price decimals');
      assert(known.definition.quantityDecimals === definition.quantityDecimals, 'a market keeps its quantity decimals');
      known.definition = definition;
      return;
    }
    assert(definition.marketIndex === this.#markets.length, 'market indices are dense');
    assert(!this.#indexOfAsset.has(definition.assetId), 'one market for each asset');
    const market = new Market(definition, this.#tapeTrades);
    this.#markets.push(market);
    this.#indexOfAsset.set(definition.assetId, definition.marketIndex);
    this.#byAsset = [...this.#byAsset, market].sort((a, b) =>
      compareAssetIds(a.definition.assetId, b.definition.assetId),
    );
    if (this.#nowNs > 0n) this.#begin(market);
  }

  /** See DepthReplica.levelChanged. */
  levelChanged(marketIndex: number, side: Side, price: RawPrice, quantity: number): void {
    this.#market(marketIndex).depth.levelChanged(side, price, quantity);
  }

  /** Ends a market message. A gap causes `resyncWanted` at the next tick. */
  commitDepth(marketIndex: number, marketSequence: Sequence): void {
    this.#market(marketIndex).depth.commit(marketSequence);
  }

  /** Starts a whole image of the book; see DepthReplica.reset for the base. */
  resetDepth(marketIndex: number, baseSequence: number): void {
    this.#market(marketIndex).depth.reset(baseSequence);
  }

  /** The number of the last diff: the base for a reset within one run. */
  depthSequence(marketIndex: number): number {
    return this.#market(marketIndex).depth.sequenceNumber;
  }

  definitionOf(marketIndex: number): MarketDefinition | undefined {
    return this.#markets[marketIndex]?.definition;
  }

  /** See DepthReplica.image. */
  bookImage(marketIndex: number): BookImage | null {
    return this.#market(marketIndex).depth.image();
  }

  /** The last public trade of a market; null before the first. */
  lastTrade(marketIndex: number): TradeFigures | null {
    const { tape } = this.#market(marketIndex);
    return tape.length === 0 ? null : tape.at(0);
  }

  /** See Tape.behind. */
  tradesBehind(marketIndex: number, tradeId: number, limit: number): readonly TradeFigures[] | null {
    return this.#market(marketIndex).tape.behind(tradeId, limit);
  }

  /** Called once per confirmed trade, in any order. Trades before the first tick are history: readable but not sent. */
  tradeConfirmed(trade: TradeFigures): void {
    const market = this.#market(trade.marketIndex);
    market.tape.add(trade);
    if (market.history.add(trade, this.#nowNs)) market.klines.tradeAdded(trade);
    else market.klines.oldTradeAdded(trade);
    market.ticker.tradeAdded(trade);
    if (this.#nowNs > 0n) this.#sink.trade(market.definition, trade);
    this.#publishPending(market, trade);
    this.#publishEvent(market, trade, 'Confirmed');
  }

  /** Before the start: the trades of the last seven days follow, and no older one. @param nowNs node clock. */
  loading(marketIndex: number, nowNs: TimestampNs): void {
    this.#market(marketIndex).klines.loading(nowNs);
  }

  /**
   * Trades of the tables that are older than those of the start, newest first; only rows of klines are made of them.
   *
   * @param readFrom the first second from which all trades were read; 0 for all there are.
   */
  olderTrades(marketIndex: number, trades: readonly TradeFigures[], readFrom: number, nowNs: TimestampNs): void {
    const { wide } = this.#market(marketIndex).klines;
    for (const trade of trades) wide.tradeAdded(trade, secondOf(nowNs));
    wide.readThrough(readFrom);
  }

  /** A match; it may be decided already, because market and clearing use different channels. */
  tradeMatched(trade: TradeFigures): void {
    this.#publishPending(this.#market(trade.marketIndex), trade);
  }

  /** A match that clearing rejected. Clearing decides the trades of a market in the order of their ids. */
  tradeRolledBack(trade: TradeFigures): void {
    const market = this.#market(trade.marketIndex);
    this.#publishPending(market, trade);
    this.#publishEvent(market, trade, 'Rollbacked');
  }

  /** An oracle price was accepted, or was there at the start. */
  oracleAccepted(asset: AssetId, oracle: PriceSource): void {
    this.#figures.oracleAccepted(asset, oracle);
  }

  /** What binds the mark of an asset (MON-06). */
  markRuleChanged(asset: AssetId, rule: MarkRule): void {
    this.#figures.markRuleChanged(asset, rule);
  }

  /** The last trade and the open interest of a market. @param nowNs null for figures as they were at the start. */
  riskChanged(marketIndex: number, risk: MarketRisk, nowNs: TimestampNs | null): void {
    this.#figures.riskChanged(this.#market(marketIndex).definition.assetId, risk, nowNs);
  }

  /** Everything the market matched before this time is confirmed or rolled back. Never decreases. */
  clearingPassed(marketIndex: number, timeNs: TimestampNs): void {
    const market = this.#market(marketIndex);
    if (timeNs > market.clearedNs) market.clearedNs = timeNs;
  }

  /** Publishes what is due. Called after each drained batch and with every tick of the thread (runtime/actor-ticks.ts). */
  tick({ nowNs, pacingNs }: TickTimes): void {
    assert(nowNs >= this.#nowNs && nowNs > 0n, 'the node clock does not go back');
    const isFirst = this.#nowNs === 0n;
    this.#nowNs = nowNs;
    if (isFirst) for (const market of this.#markets) this.#begin(market);
    for (const market of this.#markets) {
      this.#publishDepth(market, pacingNs);
      this.#publishKlines(market);
      this.#publishTicker(market, pacingNs);
    }
    this.#publishAllTickers(pacingNs);
  }

  /** Whether a book has changed since its last diff, with the next one not due yet. */
  get hasUnsentDepth(): boolean {
    return this.#markets.some(({ depth }) => depth.state === 'live' && depth.hasChanges);
  }

  /** By asset id; undefined for an asset without a market. */
  find(assetId: AssetId): MarketDefinition | undefined {
    const index = this.#indexOfAsset.get(assetId);
    return index === undefined ? undefined : this.#markets[index]?.definition;
  }

  definition(marketIndex: number): MarketDefinition {
    return this.#market(marketIndex).definition;
  }

  /** The book as of the last diff; null before its first image. */
  depthSnapshot(marketIndex: number): DepthLevels | null {
    return this.#market(marketIndex).depth.snapshot();
  }

  klinePage(marketIndex: number, query: KlineRange): KlineFiguresPage {
    return this.#market(marketIndex).klines.page(query);
  }

  /** A page at a requested width: of one second, rows by their close; of wider ones, by their start. */
  widePage(marketIndex: number, { width, ...query }: Omit<WideQuery, 'endNs'> & KlineRange): WidePage {
    const { klines } = this.#market(marketIndex);
    if (width > 1) return klines.wide.page({ width, ...query });
    const truncatedBeforeNs = klines.wide.truncatedBeforeNs(width, query.nowNs);
    return { ...klines.page(query), width, truncatedBeforeNs };
  }

  /** The newest rows of a width, ascending. */
  newestKlines(marketIndex: number, width: number, count: number, nowNs: TimestampNs): readonly KlineFigures[] {
    const { klines } = this.#market(marketIndex);
    if (width > 1) return klines.wide.newest(width, count, nowNs);
    return klines.page({ endNs: nowNs, page: 0, limit: count, nowNs }).rows;
  }

  /** Newest first; of all markets when `marketIndex` is null. */
  trades(marketIndex: number | null, page: number, limit: number): TradeFigures[] {
    const markets = marketIndex === null ? this.#byAsset : [this.#market(marketIndex)];
    return tapePage(
      markets.map((market) => market.tape),
      page,
      limit,
    );
  }

  /** @param nowNs node clock. */
  ticker(marketIndex: number, nowNs: TimestampNs): QuotedTicker {
    return this.#quoted(this.#market(marketIndex), nowNs);
  }

  /** Every market's ticker, by asset. */
  tickers(nowNs: TimestampNs): MarketTicker[] {
    return this.#byAsset.map((market) => ({ market: market.definition, ...this.#quoted(market, nowNs) }));
  }

  /** Null for a market that never had a position. */
  openInterest(marketIndex: number): InterestFigures | null {
    return this.#figures.openInterest(this.#market(marketIndex).definition.assetId);
  }

  /** Every market's open interest, by asset. */
  openInterests(): { readonly market: MarketDefinition; readonly interest: InterestFigures | null }[] {
    return this.#byAsset.map(({ definition }) => ({
      market: definition,
      interest: this.#figures.openInterest(definition.assetId),
    }));
  }

  /** Prices of any asset. @param nowNs node clock. */
  prices(asset: AssetId, nowNs: TimestampNs): ShownPrices {
    return this.#figures.prices(asset, nowNs);
  }

  /** Whether an asset has ever had a price. */
  isPriced(asset: AssetId): boolean {
    return this.#figures.isPriced(asset);
  }

  /** The best levels of each side as of the last diff; null before the first image of the book. */
  depthTop(marketIndex: number, levels: number): DepthLevels | null {
    return this.#market(marketIndex).depth.top(levels);
  }

  #quoted(market: Market, nowNs: TimestampNs, ticker: TickerFigures = market.ticker.at(nowNs)): QuotedTicker {
    return { ticker, quotes: this.#quotes(market, nowNs) };
  }

  #quotes({ definition, depth }: Market, nowNs: TimestampNs): MarketQuotes {
    const { mark, oracle } = this.#figures.prices(definition.assetId, nowNs);
    const top = depth.top(1);
    return {
      markPrice: mark?.price ?? null,
      indexPrice: oracle?.price ?? null,
      bestBid: bestOf(top?.bids),
      bestAsk: bestOf(top?.asks),
      openInterest: this.#figures.openInterest(definition.assetId),
    };
  }

  #publishPending(market: Market, trade: TradeFigures): void {
    if (trade.tradeId <= market.pendingThrough) return;
    market.pendingThrough = trade.tradeId;
    this.#publishEvent(market, trade, 'Pending');
  }

  #publishEvent(market: Market, trade: TradeFigures, status: TradeStatus): void {
    if (this.#nowNs > 0n) this.#sink.tradeEvent(market.definition, trade, status);
  }

  #market(marketIndex: number): Market {
    return must(this.#markets[marketIndex], 'a known market index');
  }

  /** Marks the current state as history: clients read it, streams continue after it. */
  #begin(market: Market): void {
    market.klines.close(this.#nowNs, market.clearedNs);
    market.tickerSent = market.ticker.at(this.#nowNs);
    market.tickerInAll = market.tickerSent;
  }

  #publishDepth(market: Market, pacingNs: bigint): void {
    const { depth } = market;
    if (depth.hasChanges && isDue(market.diffSentNs, DEPTH_MERGE_NS, pacingNs)) {
      market.diffSentNs = pacingNs;
      for (const diff of depth.takeDiffs()) this.#sink.depthDiff(market.definition, diff);
    }
    if (depth.state === 'live') market.resyncAskedNs = null;
    else if (depth.state === 'gap' && isDue(market.resyncAskedNs, RESYNC_REPEAT_NS, pacingNs)) {
      market.resyncAskedNs = pacingNs;
      this.#sink.resyncWanted(market.definition.marketIndex);
    }
  }

  #publishKlines(market: Market): void {
    const rows = market.klines.close(this.#nowNs, market.clearedNs);
    const seconds = rows.map(({ openNs }) => secondOf(openNs));
    for (let from = 0; from < rows.length; from += KLINE_FRAME_ROWS_MAX) {
      const to = from + KLINE_FRAME_ROWS_MAX;
      this.#sink.klines(market.definition, rows.slice(from, to), (width) =>
        width === 1 ? rows.slice(from, to) : market.klines.wide.rowsOf(seconds.slice(from, to), width),
      );
    }
  }

  #publishTicker(market: Market, pacingNs: bigint): void {
    if (!isDue(market.tickerSentNs, TICKER_SPACING_NS, pacingNs)) return;
    const ticker = market.ticker.at(this.#nowNs);
    if (sameFigures(ticker, market.tickerSent)) return;
    market.tickerSent = ticker;
    market.tickerSentNs = pacingNs;
    this.#sink.ticker(market.definition, this.#quoted(market, this.#nowNs, ticker));
  }

  #publishAllTickers(pacingNs: bigint): void {
    if (!isDue(this.#allTickersSentNs, TICKER_SPACING_NS, pacingNs)) return;
    const changed: MarketTicker[] = [];
    for (const market of this.#byAsset) {
      const ticker = market.ticker.at(this.#nowNs);
      if (sameFigures(ticker, market.tickerInAll)) continue;
      market.tickerInAll = ticker;
      changed.push({ market: market.definition, ...this.#quoted(market, this.#nowNs, ticker) });
    }
    if (changed.length === 0) return;
    this.#allTickersSentNs = pacingNs;
    this.#sink.tickers(changed);
  }
}

/** The first level of price, quantity, …; null without one. */
function bestOf(levels: readonly number[] = []): BookLevel | null {
  const [price, quantity] = levels;
  if (price === undefined || quantity === undefined) return null;
  return { price: price as RawPrice, quantity: quantity as RawQuantity };
}

/** "Sent on change only": the time of the figures does not count as change. */
function sameFigures(a: TickerFigures, b: TickerFigures | null): boolean {
  if (a === b) return true;
  if (b === null || a.lastPrice !== b.lastPrice || (a.day === null) !== (b.day === null)) return false;
  if (a.day === null || b.day === null) return true;
  const isSamePrice = a.day.open === b.day.open && a.day.high === b.day.high && a.day.low === b.day.low;
  return isSamePrice && a.day.volume === b.day.volume;
}

function isDue(lastNs: bigint | null, spacingNs: bigint, pacingNs: bigint): boolean {
  return lastNs === null || pacingNs - lastNs >= spacingNs;
}
