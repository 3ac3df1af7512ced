/**
 * Processes the events of markets and clearing for market data: the market-data thread without its listener.
 *
 *   start      clearing: market definitions, then `historyReady`  ─▶ trades are read from the tables: of seven days at
 *              once, older ones a part at a time, newest first, for the wider klines
 *   gap        clearing checkpoints and sends `historyReady` again ─▶ missing trades are read; each is published once
 */

import { type ClearingEvent, readClearingEvent, readMark } from '../clearing/effect-codec.ts';
import { riskTermsOf } from '../clearing/registry/registry-assets.ts';
import { readMarkBandAge, readTapeTrades } from '../clearing/registry/stored-settings.ts';
import type { AssetRow } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import type { AssetId } from '../core/ids.ts';
import { MARK_BAND_AGE_NS } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { TradeFigures } from '../core/market-figures.ts';
import type { Side } from '../core/order-terms.ts';
import {
  type Amount18,
  type Clock,
  MILLISECOND_NS,
  type RawPrice,
  type RawQuantity,
  type Sequence,
  type TimestampNs,
} from '../core/units.ts';
import type { Views } from '../core/views.ts';
import {
  DepthCommitted,
  DepthReset,
  FillConfirmed,
  FillRolledBack,
  LevelChanged,
  MarketDecided,
  MarketRiskChanged,
  Matched,
  NodeEvent,
} from '../schema/generated/messages.ts';
import { MarketData, type MarketDataSink } from './market-data.ts';
import { secondOf } from './trade-history.ts';

/** Klines are kept for seven days (KLN-04). */
const HISTORY_NS = 604_800_000_000_000n;
/** A tape keeps its trades for eight days (cluster.md 4). */
const TAPE_NS = 691_200_000_000_000n;
const TRADES_PER_READ = 512;
/** Time for older trades at the start, before the listener opens, and in each tick after it. */
const OLDER_AT_START_NS = 200n * MILLISECOND_NS;
const OLDER_PER_TICK_NS = 2n * MILLISECOND_NS;
/** From the end of one part of the older trades to the next: they take a tenth of the thread. */
export const OLDER_SPACING_MS = 20;
/** Maximum number of records of one market that wait for its definition. */
const EARLY_MAX = 1_024;

/** A trade of the tables: a TradeRow is one. */
export interface StoredTrade extends TradeFigures {
  /** No public trade: neither on the tape nor in klines and tickers (AMB-43, AMB-59). */
  readonly isAutoDeleverage: boolean;
}

/** The table reads of the actor. */
export interface TradeSource {
  /** Newest first. */
  marketTradesSince(marketIndex: number, sinceNs: TimestampNs): Iterable<StoredTrade>;
  /** Oldest first. */
  marketTradesAfter(marketIndex: number, tradeId: Sequence, limit: number): readonly StoredTrade[];
  /** Newest first. */
  marketTrades(request: {
    readonly marketIndex: number;
    readonly below: Sequence | null;
    readonly skip: number;
    readonly limit: number;
  }): readonly StoredTrade[];
}

interface TradesBehind {
  readonly trades: readonly TradeFigures[];
  readonly through: Sequence;
  readonly isAll: boolean;
}

/** The oldest trade of a market that was read from the tables. */
interface OldestRead {
  /** Trades below this id are to be read. */
  readonly below: Sequence;
  /** From this second on all trades were read. */
  readonly readFrom: number;
}

/** The sink of frames; trades that were never published as pending or decided are announced as lost. */
export interface FeedSink extends MarketDataSink {
  tradeEventsLost(): void;
}

export interface MarketDataFeedOptions {
  readonly clock: Clock;
  /** Channel of clearing; every other channel is a market's. */
  readonly clearingChannel: number;
  /** Opens the tables; called after clearing has published `historyReady`. */
  readonly openHistory: () => TradeSource;
  /** Real nanoseconds, monotonic, for pacing. */
  readonly pacingNs: () => bigint;
}

export class MarketDataFeed {
  readonly data: MarketData;
  readonly known: Set<number> = new Set();
  readonly #options: MarketDataFeedOptions;
  readonly #sink: FeedSink;
  /** Last published or read trade, per market. */
  readonly #lastTrades = new Map<number, number>();
  readonly #early = new Map<number, readonly (() => void)[]>();
  /** Markets with older trades in the tables than were read, by the last one that was. */
  readonly #unread = new Map<number, OldestRead>();
  /** By asset, for what binds its mark. */
  readonly #assets = new Map<AssetId, AssetRow>();
  #markBandAgeNs = MARK_BAND_AGE_NS;
  #nextOlderNs = 0n;
  #history: TradeSource | null = null;
  #readsTables = false;

  constructor(sink: FeedSink, options: MarketDataFeedOptions) {
    this.#sink = sink;
    this.#options = options;
    this.data = new MarketData(sink);
  }

  /** Whether everything confirmed before the start has been read. */
  get hasHistory(): boolean {
    return this.#readsTables;
  }

  /** Whether older trades of the tables are still to be read. */
  get hasOlderTrades(): boolean {
    return this.#unread.size > 0;
  }

  /**
   * Confirmed public trades of a market behind one, oldest first, without a hole: of those that are kept, else of the tables.
   *
   * @returns `through`: the last one that was looked at; `isAll`: no other is known now.
   */
  tradesBehind(marketIndex: number, after: Sequence, limit: number): TradesBehind {
    const kept = this.data.tradesBehind(marketIndex, after, limit);
    if (kept !== null) return { trades: kept, through: kept.at(-1)?.tradeId ?? after, isAll: kept.length < limit };
    const from = after === 0 ? this.#beforeFirst(marketIndex) : after;
    const stored = this.#openedHistory().marketTradesAfter(marketIndex, from, limit);
    return { trades: stored.filter(isPublic), through: stored.at(-1)?.tradeId ?? after, isAll: stored.length === 0 };
  }

  /** The id below those that a tape that has none yet begins with: of the last eight days. */
  #beforeFirst(marketIndex: number): Sequence {
    const sinceNs = (this.#options.clock.nowNs() - TAPE_NS) as TimestampNs;
    let first = 1;
    for (const { tradeId } of this.#openedHistory().marketTradesSince(marketIndex, sinceNs)) first = tradeId;
    return (first - 1) as Sequence;
  }

  /** Reads a part of the older trades when one is due. */
  readOlder(): void {
    if (!this.#readsTables || this.#unread.size === 0) return;
    if (this.#options.pacingNs() >= this.#nextOlderNs) this.#readOlder(OLDER_PER_TICK_NS);
  }

  /** Books wait for the definitions of their markets; if that takes too long, the edge's resync recovers. */
  ready(channel: number): boolean {
    return channel === this.#options.clearingChannel || this.#readsTables;
  }

  handle(typeId: number, v: Views, at: number): void {
    switch (typeId) {
      case LevelChanged.typeId:
        this.#onLevel(v, at);
        break;
      case DepthCommitted.typeId:
        this.#onCommit(v, at);
        break;
      case DepthReset.typeId:
        this.#onReset(v, at);
        break;
      case FillConfirmed.typeId:
        this.#onTrade(v, at);
        break;
      case Matched.typeId:
        this.#onMatched(v, at);
        break;
      case FillRolledBack.typeId:
        this.#onRolledBack(v, at);
        break;
      case MarketDecided.typeId:
        this.data.clearingPassed(MarketDecided.marketIndex(v, at), MarketDecided.timeNs(v, at) as TimestampNs);
        break;
      case MarketRiskChanged.typeId:
        this.#onRisk(v, at);
        break;
      case NodeEvent.typeId:
        this.#onClearingEvent(readClearingEvent(v, at));
        break;
      default:
        assert(false, `market data received a message of type ${typeId}`);
    }
  }

  /** Passes due frames to the sink; none before the history is read. */
  publish(): void {
    if (this.#readsTables) this.data.tick({ nowNs: this.#options.clock.nowNs(), pacingNs: this.#options.pacingNs() });
  }

  #onLevel(v: Views, at: number): void {
    const marketIndex = LevelChanged.marketIndex(v, at);
    const side = LevelChanged.side(v, at) as Side;
    const price = LevelChanged.price(v, at) as RawPrice;
    const quantity = LevelChanged.quantity(v, at);
    if (this.known.has(marketIndex)) this.data.levelChanged(marketIndex, side, price, quantity);
    else this.#later(marketIndex, () => this.data.levelChanged(marketIndex, side, price, quantity));
  }

  #onCommit(v: Views, at: number): void {
    const marketIndex = DepthCommitted.marketIndex(v, at);
    const commits = DepthCommitted.commits(v, at) as Sequence;
    if (this.known.has(marketIndex)) this.data.commitDepth(marketIndex, commits);
    else this.#later(marketIndex, () => this.data.commitDepth(marketIndex, commits));
  }

  #onReset(v: Views, at: number): void {
    const marketIndex = DepthReset.marketIndex(v, at);
    const sequence = DepthReset.sequence(v, at);
    const reset = (): void => {
      // A second book means that the channel had a gap, which may contain matches.
      if (this.data.depthSnapshot(marketIndex) !== null) this.#sink.tradeEventsLost();
      this.data.resetDepth(marketIndex, Math.max(sequence, this.data.depthSequence(marketIndex)));
    };
    if (this.known.has(marketIndex)) reset();
    else this.#later(marketIndex, reset);
  }

  /**
   * Defers the event of a market without definition: a new market's events can arrive before its definition, because
   * they use different channels.
   */
  #later(marketIndex: number, work: () => void): void {
    const waiting = this.#early.get(marketIndex) ?? [];
    assert(waiting.length < EARLY_MAX, 'a market is defined soon after it is made');
    this.#early.set(marketIndex, [...waiting, work]);
  }

  #onTrade(v: Views, at: number): void {
    this.#addOnce({
      marketIndex: FillConfirmed.marketIndex(v, at),
      tradeId: FillConfirmed.tradeId(v, at) as Sequence,
      price: FillConfirmed.price(v, at) as RawPrice,
      quantity: FillConfirmed.quantity(v, at) as RawQuantity,
      matchedNs: FillConfirmed.matchedNs(v, at) as TimestampNs,
      takerSide: FillConfirmed.takerSide(v, at) as Side,
    });
  }

  #onMatched(v: Views, at: number): void {
    const trade: TradeFigures = {
      marketIndex: Matched.marketIndex(v, at),
      tradeId: Matched.tradeId(v, at) as Sequence,
      price: Matched.price(v, at) as RawPrice,
      quantity: Matched.quantity(v, at) as RawQuantity,
      matchedNs: Matched.timeNs(v, at) as TimestampNs,
      takerSide: Matched.takerSide(v, at) as Side,
    };
    if (this.known.has(trade.marketIndex)) this.data.tradeMatched(trade);
    else this.#later(trade.marketIndex, () => this.data.tradeMatched(trade));
  }

  #onRolledBack(v: Views, at: number): void {
    this.data.tradeRolledBack({
      marketIndex: FillRolledBack.marketIndex(v, at),
      tradeId: FillRolledBack.tradeId(v, at) as Sequence,
      price: FillRolledBack.price(v, at) as RawPrice,
      quantity: FillRolledBack.quantity(v, at) as RawQuantity,
      matchedNs: FillRolledBack.matchedNs(v, at) as TimestampNs,
      takerSide: FillRolledBack.takerSide(v, at) as Side,
    });
  }

  /** A market without definition: its message was dropped, and the resync that follows sends both. */
  #onRisk(v: Views, at: number): void {
    const marketIndex = MarketRiskChanged.marketIndex(v, at);
    if (!this.known.has(marketIndex)) return;
    const credits = MarketRiskChanged.credits(v, at) as Amount18;
    const borrows = MarketRiskChanged.borrows(v, at) as Amount18;
    const nowNs = this.#readsTables ? this.#options.clock.nowNs() : null;
    this.data.riskChanged(marketIndex, { mark: readMark(v, at), credits, borrows }, nowNs);
  }

  /** Adds each trade once: clearing decides a market's trades in the order of their ids. */
  #addOnce(trade: TradeFigures): void {
    const last = this.#lastTrades.get(trade.marketIndex) ?? 0;
    // mutant: trade-once
    if (trade.tradeId <= last) return;
    this.#lastTrades.set(trade.marketIndex, trade.tradeId);
    this.data.tradeConfirmed(trade);
  }

  #onClearingEvent(event: ClearingEvent): void {
    if (event.kind === 'registryChanged' && event.change.table === 'market') this.#upsert(event.change.row.definition);
    if (event.kind === 'registryChanged' && event.change.table === 'config') {
      this.data.setTapeTrades(readTapeTrades(event.change.row.json));
      this.#markBandAgeChanged(readMarkBandAge(event.change.row.json));
    }
    if (event.kind === 'registryChanged' && event.change.table === 'asset') this.#onAsset(event.change.row);
    if (event.kind === 'priceAccepted') {
      const { asset, price, publishNs: timeNs, isTripped, goodUpdates } = event.row;
      this.data.oracleAccepted(asset, { price, timeNs, isTripped, goodUpdates });
    }
    if (event.kind !== 'historyReady') return;
    if (this.#readsTables) this.#sink.tradeEventsLost();
    for (const marketIndex of this.known) {
      if (this.#readsTables) this.#readMissed(marketIndex);
      else this.#readHistory(marketIndex);
    }
    if (!this.#readsTables) this.#readOlder(OLDER_AT_START_NS);
    this.#readsTables = true;
  }

  #onAsset(row: AssetRow): void {
    this.#assets.set(row.assetId, row);
    this.data.markRuleChanged(row.assetId, riskTermsOf(row, this.#markBandAgeNs).markRule);
  }

  #markBandAgeChanged(ageNs: bigint): void {
    if (ageNs === this.#markBandAgeNs) return;
    this.#markBandAgeNs = ageNs;
    for (const row of this.#assets.values()) this.#onAsset(row);
  }

  #upsert(definition: MarketDefinition): void {
    this.data.upsertMarket(definition);
    this.known.add(definition.marketIndex);
    for (const work of this.#early.get(definition.marketIndex) ?? []) work();
    this.#early.delete(definition.marketIndex);
  }

  #openedHistory(): TradeSource {
    this.#history ??= this.#options.openHistory();
    return this.#history;
  }

  /** Reads seven days for the klines, and the last trade for the ticker. */
  #readHistory(marketIndex: number): void {
    const { clock } = this.#options;
    const history = this.#openedHistory();
    const sinceNs = (clock.nowNs() - HISTORY_NS) as TimestampNs;
    const trades = [...history.marketTradesSince(marketIndex, sinceNs)].reverse();
    const oldest = trades[0];
    const last = trades.some(isPublic) ? [] : lastPublicTrade(history, marketIndex);
    for (const trade of last) this.#addStored(trade);
    this.data.loading(marketIndex, clock.nowNs());
    for (const trade of trades) this.#addStored(trade);
    // A last trade that is older than seven days is read again, for the rows of klines.
    const below = oldest?.tradeId ?? (last[0] === undefined ? null : ((last[0].tradeId + 1) as Sequence));
    if (below !== null) this.#startOlder(marketIndex, { below, readFrom: secondOf(sinceNs) + 1 });
  }

  #startOlder(marketIndex: number, oldest: OldestRead): void {
    this.#unread.set(marketIndex, oldest);
    this.data.olderTrades(marketIndex, [], oldest.readFrom, this.#options.clock.nowNs());
  }

  /** Reads older trades for at most this time, of the market that was read the least. */
  #readOlder(budgetNs: bigint): void {
    const { pacingNs } = this.#options;
    const endNs = pacingNs() + budgetNs;
    while (this.#unread.size > 0) {
      const [marketIndex, oldest] = [...this.#unread].reduce((a, b) => (b[1].readFrom > a[1].readFrom ? b : a));
      this.#readOlderOf(marketIndex, oldest);
      if (pacingNs() >= endNs) break;
    }
    this.#nextOlderNs = pacingNs() + BigInt(OLDER_SPACING_MS) * MILLISECOND_NS;
  }

  #readOlderOf(marketIndex: number, { below }: OldestRead): void {
    const history = this.#openedHistory();
    const trades = history.marketTrades({ marketIndex, below, skip: 0, limit: TRADES_PER_READ });
    const last = trades.at(-1);
    const isAll = last === undefined || trades.length < TRADES_PER_READ;
    // Older trades of the same second as the last one may be there.
    const readFrom = isAll ? 0 : secondOf(last.matchedNs) + 1;
    if (isAll) this.#unread.delete(marketIndex);
    else this.#unread.set(marketIndex, { below: last.tradeId, readFrom });
    this.data.olderTrades(marketIndex, trades.filter(isPublic), readFrom, this.#options.clock.nowNs());
  }

  #addStored(trade: StoredTrade): void {
    // mutant: deleveraging-is-not-public
    if (isPublic(trade)) this.#addOnce(trade);
    else this.#lastTrades.set(trade.marketIndex, Math.max(this.#lastTrades.get(trade.marketIndex) ?? 0, trade.tradeId));
  }

  #readMissed(marketIndex: number): void {
    const history = this.#openedHistory();
    for (;;) {
      const last = (this.#lastTrades.get(marketIndex) ?? 0) as Sequence;
      const trades = history.marketTradesAfter(marketIndex, last, TRADES_PER_READ);
      for (const trade of trades) this.#addStored(trade);
      if (trades.length < TRADES_PER_READ) return;
    }
  }
}

function isPublic({ isAutoDeleverage }: StoredTrade): boolean {
  return !isAutoDeleverage;
}

/** The last one, or none. */
function lastPublicTrade(history: TradeSource, marketIndex: number): readonly StoredTrade[] {
  let below: Sequence | null = null;
  for (;;) {
    const trades = history.marketTrades({ marketIndex, below, skip: 0, limit: TRADES_PER_READ });
    const last = trades.find(isPublic);
    if (last !== undefined) return [last];
    below = trades.at(-1)?.tradeId ?? null;
    if (trades.length < TRADES_PER_READ) return [];
  }
}
