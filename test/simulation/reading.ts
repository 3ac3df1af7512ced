/**
 * Readers of public market data: a book rebuilt from a snapshot and diffs, trades in order, published through the
 * node's own feed over channels that drop when they are full.
 */
import assert from 'node:assert/strict';
import { MARKET_DATA } from '../../src/core/actor-names.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import type { DepthLevels, TradeFigures } from '../../src/core/market-figures.ts';
import type { Side } from '../../src/core/order-terms.ts';
import type { Clock, Sequence, TimestampNs } from '../../src/core/units.ts';
import type { Views } from '../../src/core/views.ts';
import {
  type FeedSink,
  MarketDataFeed,
  type StoredTrade,
  type TradeSource,
} from '../../src/market-data/market-data-feed.ts';
import type { Actor } from '../../src/runtime/actor.ts';
import type { MemoryDurability } from '../support/memory-durability.ts';

/** What a reader has of one book. */
class ReadBook {
  readonly sides: readonly [Map<number, number>, Map<number, number>] = [new Map(), new Map()];
  sequence = -1;

  start(image: DepthLevels): void {
    for (const side of this.sides) side.clear();
    this.apply(image);
  }

  apply({ bids, asks, sequenceNumber }: DepthLevels): void {
    for (const [levels, side] of [[bids, 0] as const, [asks, 1] as const]) {
      const book = this.sides[side];
      for (let at = 0; at < levels.length; at += 2) {
        const [price = 0, quantity = 0] = levels.slice(at, at + 2);
        if (quantity === 0) book.delete(price);
        else book.set(price, quantity);
      }
    }
    this.sequence = sequenceNumber;
  }
}

export class Readers implements Actor, FeedSink {
  readonly name: string = MARKET_DATA;
  readonly feed: MarketDataFeed;
  readonly #books = new Map<number, ReadBook>();
  /** Last published trade of each market. */
  readonly lastTrades: Map<number, number> = new Map();
  diffs = 0;
  trades = 0;
  resyncs = 0;
  gaps = 0;

  /** @param clearingChannel the channel of this actor that clearing writes. */
  constructor(clock: Clock, clearingChannel: number, durability: MemoryDurability) {
    const openHistory = (): TradeSource => historyOf(durability);
    this.feed = new MarketDataFeed(this, { clock, clearingChannel, openHistory, pacingNs: () => clock.nowNs() });
  }

  start(): void {}
  stop(): void {}

  ready(channel: number): boolean {
    return this.feed.ready(channel);
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    this.feed.handle(typeId, v, at);
  }

  endBatch(): void {
    this.feed.publish();
  }

  tick(): void {
    this.feed.publish();
  }

  /** The levels of one side, best first. */
  book(marketIndex: number, side: Side): readonly (readonly [number, number])[] {
    const levels = [...(this.#books.get(marketIndex)?.sides[side] ?? [])];
    return levels.sort(([a], [b]) => (side === 0 ? b - a : a - b));
  }

  // ---- what the feed publishes

  depthDiff({ marketIndex }: MarketDefinition, diff: DepthLevels): void {
    const book = this.#books.get(marketIndex) ?? new ReadBook();
    this.#books.set(marketIndex, book);
    this.diffs += 1;
    if (diff.sequenceNumber === book.sequence + 1) book.apply(diff);
    else {
      assert.ok(diff.sequenceNumber > book.sequence, 'diffs go forward');
      this.resyncs += 1;
      book.start(diff.sequenceNumber === 1 ? diff : (this.feed.data.depthSnapshot(marketIndex) ?? diff));
    }
  }

  trade({ marketIndex }: MarketDefinition, trade: TradeFigures): void {
    const last = this.lastTrades.get(marketIndex) ?? 0;
    assert.ok(trade.tradeId > last, 'public trades are told once, in the order of their ids');
    this.lastTrades.set(marketIndex, trade.tradeId);
    this.trades += 1;
  }

  tradeEventsLost(): void {
    this.gaps += 1;
  }

  tradeEvent(): void {}
  klines(): void {}
  ticker(): void {}
  tickers(): void {}
  resyncWanted(): void {}
}

/** Confirmed trades as the tables hold them. */
function historyOf(durability: MemoryDurability): TradeSource {
  const of = (marketIndex: number): StoredTrade[] =>
    durability.trades().filter((trade) => trade.marketIndex === marketIndex);
  return {
    *marketTradesSince(marketIndex, sinceNs: TimestampNs): Generator<StoredTrade> {
      for (const trade of of(marketIndex).reverse()) if (trade.matchedNs >= sinceNs) yield trade;
    },
    marketTradesAfter: (marketIndex, tradeId: Sequence, limit) =>
      of(marketIndex)
        .filter((trade) => trade.tradeId > tradeId)
        .slice(0, limit),
    marketTrades: ({ marketIndex, below, skip, limit }) =>
      of(marketIndex)
        .filter((trade) => below === null || trade.tradeId < below)
        .reverse()
        .slice(skip, skip + limit),
  };
}
