/**
 * The market-data thread: depth from the markets, confirmed trades from clearing, history from the tables, its own
 * public listener.
 *
 *   start      clearing: market definitions, then `historyReady`  ─▶ trades are read from the tables ─▶ listener opens
 *   gap        clearing checkpoints and says `historyReady` again ─▶ what is missing is read; nothing is told twice
 *
 * It may be restarted alone: rings and port stay, its state is read anew.
 */
import { assert } from '../core/assert.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { PublicTrade } from '../core/market-figures.ts';
import type { Side } from '../core/order-terms.ts';
import type { Clock, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { MarketStreams, MdsServer } from '../edge/mds-server.ts';
import { MarketData } from '../market-data/market-data.ts';
import {
  DepthCommitted,
  DepthReset,
  FillConfirmed,
  FillRolledBack,
  LevelChanged,
  MarketDecided,
  Matched,
  NodeEvent,
} from '../messages/generated/messages.ts';
import { decodePlain } from '../messages/plain-values.ts';
import type { Actor } from '../runtime/actor.ts';
import type { SharedBudget } from '../sessions/shared-budget.ts';
import type { EdgeMetrics } from './edge-metrics.ts';
import type { NodeNews } from './effect-codec.ts';
import { MDS_LISTEN_FAILED, type NodeWords } from './node-words.ts';
import { gateOf, type ListenerSettings } from './public-listeners.ts';

/** Klines are kept for seven days (KLN-04). */
const HISTORY_NS = 604_800_000_000_000n;
const TRADES_PER_READ = 512;
/** Records of one market that may wait for its definition. */
const EARLY_MAX = 1_024;

/** What the actor reads of the tables; a TradeRow is also a PublicTrade. */
export interface TradeHistory {
  /** Newest first. */
  marketTradesSince(marketIndex: number, sinceNs: TimestampNs): Iterable<PublicTrade>;
  /** Oldest first. */
  marketTradesAfter(marketIndex: number, tradeId: Sequence, limit: number): readonly PublicTrade[];
  /** Newest first. */
  marketTrades(request: {
    readonly marketIndex: number;
    readonly below: Sequence | null;
    readonly skip: number;
    readonly limit: number;
  }): readonly PublicTrade[];
}

export interface MarketDataOptions {
  readonly clock: Clock;
  /** Lane that clearing writes; every other lane is a market's. */
  readonly clearingLane: number;
  /** Opens the tables; asked for once clearing has said that they are there. */
  readonly openHistory: () => TradeHistory;
  readonly words: NodeWords;
  readonly budget: SharedBudget;
  readonly listener: ListenerSettings;
  readonly counted: EdgeMetrics;
  /** An exception out of a handler or a socket. */
  readonly failed: (where: string, error: unknown) => void;
  /** Real nanoseconds, monotonic, for pacing. */
  readonly pacingNs: () => bigint;
}

export class MarketDataActor implements Actor {
  readonly name = 'market-data';
  private readonly options: MarketDataOptions;
  private readonly streams: MarketStreams;
  private readonly data: MarketData;
  private readonly server: MdsServer;
  /** Last trade told or read, per market. */
  private readonly lastTrades = new Map<number, number>();
  private readonly known = new Set<number>();
  private readonly early = new Map<number, readonly (() => void)[]>();
  private history: TradeHistory | null = null;
  private hasHistory = false;
  private isListening = false;

  constructor(options: MarketDataOptions) {
    this.options = options;
    // The edge of a market heals its own gaps: a whole book comes without being asked for.
    this.streams = new MarketStreams(() => undefined);
    this.data = new MarketData(this.streams);
    const { clock, counted, failed, budget, listener } = options;
    const gate = gateOf(listener.addresses, budget);
    this.server = new MdsServer({
      marketData: this.data,
      streams: this.streams,
      clock,
      observer: { answered: () => undefined, failed, lagged: () => counted.lagged() },
      budget,
      gate,
      tls: listener.tls,
    });
  }

  start(): void {}

  /** Books wait until the markets they belong to are known; if that takes too long, their edge heals itself. */
  ready(lane: number): boolean {
    return lane === this.options.clearingLane || this.hasHistory;
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    switch (typeId) {
      case LevelChanged.typeId:
        this.onLevel(v, at);
        break;
      case DepthCommitted.typeId:
        this.onCommit(v, at);
        break;
      case DepthReset.typeId:
        this.onReset(v, at);
        break;
      case FillConfirmed.typeId:
        this.onTrade(v, at);
        break;
      case Matched.typeId:
        this.onMatched(v, at);
        break;
      case FillRolledBack.typeId:
        this.onRolledBack(v, at);
        break;
      case MarketDecided.typeId:
        this.data.clearingPassed(MarketDecided.marketIndex(v, at), MarketDecided.timeNs(v, at) as TimestampNs);
        break;
      case NodeEvent.typeId: {
        const start = at + NodeEvent.bytes;
        this.onNews(decodePlain<NodeNews>(v.u8.subarray(start, start + NodeEvent.textBytes(v, at))));
        break;
      }
      default:
        assert(false, `market data received a message of type ${typeId}`);
    }
  }

  endBatch(): void {
    this.publish();
  }

  tick(): void {
    this.publish();
    this.options.counted.level(this.server);
    this.listenWhenAllowed();
  }

  stop(): void {
    this.server.close();
  }

  halt(): void {
    this.server.close();
  }

  private publish(): void {
    if (!this.hasHistory) return;
    this.data.tick({ nowNs: this.options.clock.nowNs(), pacingNs: this.options.pacingNs() });
    this.streams.flush();
    this.options.words.setDepthWaits(this.data.hasUnsentDepth);
    for (const index of this.known) this.options.words.setDepthSequence(index, this.data.depthSequence(index));
  }

  private listenWhenAllowed(): void {
    const { words, listener } = this.options;
    if (this.isListening || !this.hasHistory || !words.mayListen()) return;
    this.isListening = true;
    // After a restart the port that clients know is taken again, also when the system chose it.
    const known = words.mdsPort();
    this.server.listen({ host: listener.host, port: known > 0 ? known : listener.port }).then(
      (open) => words.setMdsPort(open),
      (error: unknown) => {
        // A node that once served market data and cannot any more must not go on without: this thread dies again.
        if (known > 0) throw error;
        words.setMdsPort(MDS_LISTEN_FAILED);
      },
    );
  }

  private onLevel(v: Views, at: number): void {
    const marketIndex = LevelChanged.marketIndex(v, at);
    const side = LevelChanged.side(v, at) as Side;
    const price = LevelChanged.price(v, at) as RawPrice;
    const quantity = LevelChanged.quantity(v, at);
    if (this.known.has(marketIndex)) this.data.levelChanged(marketIndex, side, price, quantity);
    else this.later(marketIndex, () => this.data.levelChanged(marketIndex, side, price, quantity));
  }

  private onCommit(v: Views, at: number): void {
    const marketIndex = DepthCommitted.marketIndex(v, at);
    const commits = DepthCommitted.commits(v, at) as Sequence;
    if (this.known.has(marketIndex)) this.data.commitDepth(marketIndex, commits);
    else this.later(marketIndex, () => this.data.commitDepth(marketIndex, commits));
  }

  private onReset(v: Views, at: number): void {
    const marketIndex = DepthReset.marketIndex(v, at);
    const sequence = DepthReset.sequence(v, at);
    const reset = (): void => {
      // A book that comes again means that the lane had a gap: matches may be lost in it.
      if (this.data.depthSnapshot(marketIndex) !== null) this.streams.tradeEventsLost();
      this.data.resetDepth(marketIndex, Math.max(sequence, this.data.depthSequence(marketIndex)));
    };
    if (this.known.has(marketIndex)) reset();
    else this.later(marketIndex, reset);
  }

  /** A market that was just made may speak here before clearing has told its definition: the two lanes race. */
  private later(marketIndex: number, work: () => void): void {
    const waiting = this.early.get(marketIndex) ?? [];
    assert(waiting.length < EARLY_MAX, 'a market is defined soon after it is made');
    this.early.set(marketIndex, [...waiting, work]);
  }

  private onTrade(v: Views, at: number): void {
    this.tell({
      marketIndex: FillConfirmed.marketIndex(v, at),
      tradeId: FillConfirmed.tradeId(v, at) as Sequence,
      price: FillConfirmed.price(v, at) as RawPrice,
      quantity: FillConfirmed.quantity(v, at) as RawQuantity,
      matchedNs: FillConfirmed.matchedNs(v, at) as TimestampNs,
      takerSide: FillConfirmed.takerSide(v, at) as Side,
    });
  }

  private onMatched(v: Views, at: number): void {
    const trade: PublicTrade = {
      marketIndex: Matched.marketIndex(v, at),
      tradeId: Matched.tradeId(v, at) as Sequence,
      price: Matched.price(v, at) as RawPrice,
      quantity: Matched.quantity(v, at) as RawQuantity,
      matchedNs: Matched.timeNs(v, at) as TimestampNs,
      takerSide: Matched.takerSide(v, at) as Side,
    };
    if (this.known.has(trade.marketIndex)) this.data.tradeMatched(trade);
    else this.later(trade.marketIndex, () => this.data.tradeMatched(trade));
  }

  private onRolledBack(v: Views, at: number): void {
    this.data.tradeRolledBack({
      marketIndex: FillRolledBack.marketIndex(v, at),
      tradeId: FillRolledBack.tradeId(v, at) as Sequence,
      price: FillRolledBack.price(v, at) as RawPrice,
      quantity: FillRolledBack.quantity(v, at) as RawQuantity,
      matchedNs: FillRolledBack.matchedNs(v, at) as TimestampNs,
      takerSide: FillRolledBack.takerSide(v, at) as Side,
    });
  }

  /** Each trade once: clearing decides a market's trades in the order of their ids. */
  private tell(trade: PublicTrade): void {
    const last = this.lastTrades.get(trade.marketIndex) ?? 0;
    if (trade.tradeId <= last) return;
    this.lastTrades.set(trade.marketIndex, trade.tradeId);
    this.data.tradeConfirmed(trade);
  }

  private onNews(news: NodeNews): void {
    if (news.kind === 'registryChanged' && news.change.table === 'market') this.upsert(news.change.row.definition);
    if (news.kind !== 'historyReady') return;
    if (this.hasHistory) this.streams.tradeEventsLost();
    for (const marketIndex of this.known) {
      if (this.hasHistory) this.readMissed(marketIndex);
      else this.readHistory(marketIndex);
    }
    this.hasHistory = true;
  }

  private upsert(definition: MarketDefinition): void {
    this.data.upsertMarket(definition);
    this.known.add(definition.marketIndex);
    for (const work of this.early.get(definition.marketIndex) ?? []) work();
    this.early.delete(definition.marketIndex);
  }

  private openedHistory(): TradeHistory {
    this.history ??= this.options.openHistory();
    return this.history;
  }

  /** Seven days for the klines, and the last trade ever for the ticker. */
  private readHistory(marketIndex: number): void {
    const { clock } = this.options;
    const history = this.openedHistory();
    const sinceNs = (clock.nowNs() - HISTORY_NS) as TimestampNs;
    const trades = [...history.marketTradesSince(marketIndex, sinceNs)].reverse();
    if (trades.length === 0) trades.push(...history.marketTrades({ marketIndex, below: null, skip: 0, limit: 1 }));
    for (const trade of trades) this.tell(trade);
  }

  private readMissed(marketIndex: number): void {
    const history = this.openedHistory();
    for (;;) {
      const last = (this.lastTrades.get(marketIndex) ?? 0) as Sequence;
      const trades = history.marketTradesAfter(marketIndex, last, TRADES_PER_READ);
      for (const trade of trades) this.tell(trade);
      if (trades.length < TRADES_PER_READ) return;
    }
  }
}
