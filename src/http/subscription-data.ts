/**
 * Frames of the channels of the multiplexed market-data socket: what snapshots and updates carry (wire-additions.md
 * 10.3, 10.4). Each is formatted once for all its readers, the snapshot of a book once for its number.
 */

import {
  type BinaryHead,
  binaryBest,
  binaryDepth,
  binaryTicker,
  binaryTrades,
  type EncodedFrame,
} from '../codec/market-data-binary.ts';
import { klinesFrameJson, publicTradeJson, tickerJson } from '../codec/market-data-json.ts';
import {
  bestData,
  bookChecksum,
  CHECKSUM_LEVELS,
  type DepthNumbers,
  depthSnapshotData,
  depthUpdateData,
  type NumberedFrame,
  pricesData,
  SequencedFrame,
} from '../codec/subscription-frames.ts';
import type { SubscribedChannel } from '../codec/subscription-requests.ts';
import { must } from '../core/assert.ts';
import type { AssetId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { BookLevel, DepthLevels, KlineFigures, QuotedTicker, TradeFigures } from '../core/market-figures.ts';
import type { Clock, RawPrice, RawQuantity } from '../core/units.ts';
import type { MarketData } from '../market-data/market-data.ts';
import type { Subscription } from './subscribed-socket.ts';

/** Rows of trades and klines in a snapshot. */
const SNAPSHOT_ROWS = 100;

/** A formatted snapshot of a book. */
interface PrintedBook {
  readonly sequenceNumber: number;
  readonly parts: readonly string[];
  readonly bytes: number;
}

/** Data of the best levels, and the part of it that causes an update. */
interface BestLevels {
  readonly forms: (type: 'snapshot' | 'update') => BothForms;
  readonly levels: string;
}

/** A frame in both forms, each made when its first reader needs it. */
export class BothForms {
  readonly #makeText: () => SequencedFrame;
  readonly #makeBinary: () => EncodedFrame;
  #text: SequencedFrame | null = null;
  #binary: EncodedFrame | null = null;

  constructor(text: () => SequencedFrame, binary: () => EncodedFrame) {
    this.#makeText = text;
    this.#makeBinary = binary;
  }

  in(isBinary: boolean): NumberedFrame {
    if (isBinary) {
      this.#binary ??= this.#makeBinary();
      return this.#binary;
    }
    this.#text ??= this.#makeText();
    return this.#text;
  }
}

interface DepthForms {
  readonly text: (data: string) => SequencedFrame;
  readonly binary: (checksum: number | null) => EncodedFrame;
}

export class ChannelData {
  readonly #marketData: MarketData;
  readonly #clock: Clock;
  /** By market and form of the numbers. */
  readonly #books = new Map<string, PrintedBook>();
  /** By market index. */
  readonly #binaryBooks = new Map<number, { readonly sequenceNumber: number; readonly frame: EncodedFrame }>();

  constructor(marketData: MarketData, clock: Clock) {
    this.#marketData = marketData;
    this.#clock = clock;
  }

  /** @param width seconds for klines, 0 for other channels. */
  frame(
    type: 'snapshot' | 'update',
    channel: SubscribedChannel,
    { assetId }: { readonly assetId: AssetId },
    width: number,
    data: string,
  ): SequencedFrame {
    return new SequencedFrame({ type, channel, assetId, width, timestampNs: this.#clock.nowNs() }, data);
  }

  /** What every binary frame begins with. */
  #head(isSnapshot: boolean, { assetId }: { readonly assetId: AssetId }): BinaryHead {
    return { isSnapshot, assetId, timestampNs: this.#clock.nowNs() };
  }

  /** Trades, oldest first. */
  trades(market: MarketDefinition, trades: readonly TradeFigures[], isSnapshot = false): BothForms {
    const type = isSnapshot ? 'snapshot' : 'update';
    return new BothForms(
      () => this.frame(type, 'trades', market, 0, tradesData(market, trades)),
      () => binaryTrades(this.#head(isSnapshot, market), trades),
    );
  }

  ticker(market: MarketDefinition, ticker: QuotedTicker, isSnapshot = false): BothForms {
    const type = isSnapshot ? 'snapshot' : 'update';
    return new BothForms(
      () => this.frame(type, 'ticker', market, 0, tickerJson(market, ticker)),
      () => binaryTicker(this.#head(isSnapshot, market), market, ticker),
    );
  }

  /** The frames of a snapshot; null while the book is not loaded. */
  snapshotOf(subscription: Subscription): readonly NumberedFrame[] | null {
    const { assetId, marketIndex, options } = subscription;
    const { isBinary } = subscription.socket;
    const { name, width } = options;
    const of = (data: string): SequencedFrame[] => [this.frame('snapshot', name, { assetId }, width, data)];
    if (name === 'prices') return of(this.prices(assetId));
    const marketData = this.#marketData;
    const nowNs = this.#clock.nowNs();
    const market = marketData.definition(must(marketIndex, 'the market of a subscription'));
    switch (name) {
      case 'depth':
        return this.#depthSnapshot(subscription, market);
      case 'bbo':
        return marketData.depthTop(market.marketIndex, 1) === null
          ? null
          : [this.best(market).forms('snapshot').in(isBinary)];
      case 'trades': {
        const trades = marketData.trades(market.marketIndex, 0, SNAPSHOT_ROWS).reverse();
        return [this.trades(market, trades, true).in(isBinary)];
      }
      case 'klines':
        return of(itemsData(market, marketData.newestKlines(market.marketIndex, width, SNAPSHOT_ROWS, nowNs), width));
      case 'ticker':
        return [this.ticker(market, marketData.ticker(market.marketIndex, nowNs), true).in(isBinary)];
    }
  }

  /** Bytes of the book that was printed last in this form; 0 for none. */
  bookBytes(marketIndex: number, numbers: DepthNumbers): number {
    return this.#books.get(bookKey(marketIndex, numbers))?.bytes ?? 0;
  }

  best(market: MarketDefinition): BestLevels {
    const top = this.#marketData.depthTop(market.marketIndex, 1);
    const [bidPrice, bidQuantity] = top?.bids ?? [];
    const [askPrice, askQuantity] = top?.asks ?? [];
    const bid = levelOf(bidPrice, bidQuantity);
    const ask = levelOf(askPrice, askQuantity);
    const best = { bid, ask, sequenceNumber: top?.sequenceNumber ?? 0 };
    const forms = (type: 'snapshot' | 'update'): BothForms =>
      new BothForms(
        () => this.frame(type, 'bbo', market, 0, bestData(market, best)),
        () => binaryBest(this.#head(type === 'snapshot', market), best),
      );
    return { forms, levels: `${bidPrice} ${bidQuantity} ${askPrice} ${askQuantity}` };
  }

  prices(assetId: AssetId): string {
    return pricesData(this.#marketData.prices(assetId, this.#clock.nowNs()));
  }

  /** Called after the diff is part of the published book. */
  depthUpdate(market: MarketDefinition, diff: DepthLevels): DepthUpdate {
    const top = must(this.#marketData.depthTop(market.marketIndex, CHECKSUM_LEVELS), 'a book with a diff');
    return new DepthUpdate(market, diff, top, {
      text: (data) => this.frame('update', 'depth', market, 0, data),
      binary: (checksum) => binaryDepth(this.#head(false, market), diff, checksum),
    });
  }

  #depthSnapshot(subscription: Subscription, market: MarketDefinition): readonly NumberedFrame[] | null {
    if (subscription.socket.isBinary) return this.#binarySnapshot(subscription, market);
    const book = this.#printed(market, subscription.options.numbers);
    if (book === null) return null;
    subscription.depthSequence = book.sequenceNumber;
    return book.parts.map((data) => this.frame('snapshot', 'depth', market, 0, data));
  }

  /** The book in one frame, once for its number. */
  #binarySnapshot(subscription: Subscription, market: MarketDefinition): readonly NumberedFrame[] | null {
    const { marketIndex } = market;
    let known = this.#binaryBooks.get(marketIndex);
    if (known === undefined || known.sequenceNumber !== this.#marketData.depthSequence(marketIndex)) {
      const book = this.#marketData.depthSnapshot(marketIndex);
      if (book === null) return null;
      const frame = binaryDepth(this.#head(true, market), book, bookChecksum(market, book));
      known = { sequenceNumber: book.sequenceNumber, frame };
      this.#binaryBooks.set(marketIndex, known);
    }
    subscription.depthSequence = known.sequenceNumber;
    return [known.frame];
  }

  #printed(market: MarketDefinition, numbers: DepthNumbers): PrintedBook | null {
    const key = bookKey(market.marketIndex, numbers);
    const printed = this.#books.get(key);
    if (printed?.sequenceNumber === this.#marketData.depthSequence(market.marketIndex)) return printed;
    const book = this.#marketData.depthSnapshot(market.marketIndex);
    if (book === null) return null;
    const parts = depthSnapshotData(market, book, numbers);
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    const fresh = { sequenceNumber: book.sequenceNumber, parts, bytes };
    this.#books.set(key, fresh);
    return fresh;
  }
}

/** One diff for all its readers: at most four frames, made when the first of each kind needs it. */
class DepthUpdate {
  readonly #market: MarketDefinition;
  readonly #diff: DepthLevels;
  readonly #top: DepthLevels;
  readonly #frameOf: DepthForms;
  /** By form and whether a checksum is due. */
  readonly #frames: (NumberedFrame | undefined)[] = [];

  /** @param top the best levels of the published book. */
  constructor(market: MarketDefinition, diff: DepthLevels, top: DepthLevels, frameOf: DepthForms) {
    this.#market = market;
    this.#diff = diff;
    this.#top = top;
    this.#frameOf = frameOf;
  }

  /** Whether the published book is that after this diff: not where several diffs are published at once. */
  get isWhole(): boolean {
    return this.#top.sequenceNumber === this.#diff.sequenceNumber;
  }

  frameFor({ options, updates, socket }: Subscription): NumberedFrame {
    const { numbers, checksumEvery } = options;
    // mutant: checksum-every
    const isDue = checksumEvery > 0 && updates % checksumEvery === 0;
    const form = socket.isBinary ? 0 : numbers === 'number' ? 2 : 4;
    const key = form + (isDue ? 1 : 0);
    const made = this.#frames[key];
    if (made !== undefined) return made;
    const checksum = isDue ? bookChecksum(this.#market, this.#top) : null;
    const frame = socket.isBinary
      ? this.#frameOf.binary(checksum)
      : this.#frameOf.text(depthUpdateData(this.#market, this.#diff, numbers, checksum));
    this.#frames[key] = frame;
    return frame;
  }
}

/** Data of `trades`, oldest first. */
function tradesData(market: MarketDefinition, trades: readonly TradeFigures[]): string {
  return `{"trades":[${trades.map((trade) => publicTradeJson(market, trade)).join(',')}]}`;
}

/** Data of `klines`, ascending. */
export function itemsData(market: MarketDefinition, rows: readonly KlineFigures[], width: number): string {
  return `{"items":${klinesFrameJson(market, rows, width)}}`;
}

function bookKey(marketIndex: number, numbers: DepthNumbers): string {
  return `${marketIndex} ${numbers}`;
}

function levelOf(price: number | undefined, quantity: number | undefined): BookLevel | null {
  if (price === undefined || quantity === undefined) return null;
  return { price: price as RawPrice, quantity: quantity as RawQuantity };
}
