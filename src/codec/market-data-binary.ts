/**
 * Frames of the multiplexed market-data socket under the subprotocol `ringbook.md.fbs.v1`: the tables of
 * schemas/market-data.fbs (BMD-01). A frame is encoded once for all its readers; the sequence of each is written into its
 * bytes before they are sent, as in those of the text form (subscription-frames.ts).
 */
import { Builder, ByteBuffer } from 'flatbuffers';
import { must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import type { BookLevel, DepthLevels, QuotedTicker, TradeFigures } from '../core/market-figures.ts';
import { SIDE } from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import { type MarketText, volumeText } from './market-data-json.ts';

/** The slots of schemas/market-data.fbs, by table. */
const FRAME = { fields: 6, kind: 0, sequence: 1, timestampNs: 2, assetId: 3, dataType: 4, data: 5 } as const;
const DEPTH = { fields: 6, bids: 0, asks: 1, sequenceNumber: 2, more: 3, hasChecksum: 4, checksum: 5 } as const;
const BBO = { fields: 3, bid: 0, ask: 1, sequenceNumber: 2 } as const;
const TRADES = { fields: 1, trades: 0 } as const;
const TICKER = {
  ...{ fields: 16, lastPrice: 0, hasDay: 1, open: 2, high: 3, low: 4, volume: 5, priceChange: 6 },
  ...{ changeMilliPercent: 7, timestampNs: 8, bid: 9, ask: 10, markPrice: 11, indexPrice: 12 },
  ...{ interestLong: 13, interestShort: 14, interestNs: 15 },
} as const;
const DATA = { depth: 1, bbo: 2, trades: 3, ticker: 4 } as const;
const LEVEL_BYTES = 16;
const TRADE_BYTES = 40;
const BUILDER_BYTES = 1_024;
/** Of the field `sequence` in the vtable of a frame. */
const SEQUENCE_SLOT: number = 4 + 2 * FRAME.sequence;

export interface BinaryHead {
  readonly isSnapshot: boolean;
  readonly assetId: AssetId;
  readonly timestampNs: TimestampNs;
}

/** A frame for all subscriptions, each with its own sequence. The bytes of `of` are valid until the next call. */
export class EncodedFrame {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #sequenceAt: number;

  /** @param write the data of the frame. @returns its offset. */
  constructor({ isSnapshot, assetId, timestampNs }: BinaryHead, type: number, write: (builder: Builder) => number) {
    const builder = new Builder(BUILDER_BYTES);
    const data = write(builder);
    const asset = builder.createString(assetId);
    builder.startObject(FRAME.fields);
    // Any number that is not the default: the place of the field is what matters.
    builder.addFieldInt64(FRAME.sequence, 1n, 0n);
    builder.addFieldInt64(FRAME.timestampNs, timestampNs, 0n);
    builder.addFieldOffset(FRAME.assetId, asset, 0);
    builder.addFieldOffset(FRAME.data, data, 0);
    builder.addFieldInt8(FRAME.dataType, type, 0);
    builder.addFieldInt8(FRAME.kind, isSnapshot ? 0 : 1, 0);
    builder.finish(builder.endObject());
    this.#bytes = builder.asUint8Array().slice();
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    const buffer = new ByteBuffer(this.#bytes);
    const root = buffer.readInt32(0);
    this.#sequenceAt = root + buffer.__offset(root, SEQUENCE_SLOT);
  }

  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  /** @param sequence from 1, a safe integer. */
  of(sequence: number): Uint8Array {
    this.#view.setBigUint64(this.#sequenceAt, BigInt(sequence), true);
    return this.#bytes;
  }
}

/** A whole book, or changed levels. @param checksum null where none is due. */
export function binaryDepth(head: BinaryHead, levels: DepthLevels, checksum: number | null): EncodedFrame {
  return new EncodedFrame(head, DATA.depth, (builder) => {
    const asks = levelsVector(builder, levels.asks);
    const bids = levelsVector(builder, levels.bids);
    builder.startObject(DEPTH.fields);
    builder.addFieldInt64(DEPTH.sequenceNumber, BigInt(levels.sequenceNumber), 0n);
    builder.addFieldOffset(DEPTH.bids, bids, 0);
    builder.addFieldOffset(DEPTH.asks, asks, 0);
    builder.addFieldInt32(DEPTH.checksum, (checksum ?? 0) | 0, 0);
    builder.addFieldInt8(DEPTH.hasChecksum, checksum === null ? 0 : 1, 0);
    return builder.endObject();
  });
}

export function binaryBest(
  head: BinaryHead,
  best: { readonly bid: BookLevel | null; readonly ask: BookLevel | null; readonly sequenceNumber: number },
): EncodedFrame {
  return new EncodedFrame(head, DATA.bbo, (builder) => {
    builder.startObject(BBO.fields);
    builder.addFieldInt64(BBO.sequenceNumber, BigInt(best.sequenceNumber), 0n);
    addLevel(builder, BBO.bid, best.bid);
    addLevel(builder, BBO.ask, best.ask);
    return builder.endObject();
  });
}

/** @param trades oldest first. */
export function binaryTrades(head: BinaryHead, trades: readonly TradeFigures[]): EncodedFrame {
  return new EncodedFrame(head, DATA.trades, (builder) => {
    builder.startVector(TRADE_BYTES, trades.length, 8);
    for (const trade of trades.toReversed()) {
      builder.prep(8, TRADE_BYTES);
      builder.pad(7);
      builder.writeInt8(trade.takerSide === SIDE.sell ? 1 : 0);
      builder.writeInt64(trade.matchedNs);
      builder.writeInt64(BigInt(trade.quantity));
      builder.writeInt64(BigInt(trade.price));
      builder.writeInt64(BigInt(trade.tradeId));
    }
    const vector = builder.endVector();
    builder.startObject(TRADES.fields);
    builder.addFieldOffset(TRADES.trades, vector, 0);
    return builder.endObject();
  });
}

export function binaryTicker(head: BinaryHead, market: MarketText, { ticker, quotes }: QuotedTicker): EncodedFrame {
  return new EncodedFrame(head, DATA.ticker, (builder) => {
    const { day, lastPrice, asOfNs } = ticker;
    const volume = builder.createString(volumeText(market, day?.volume ?? 0n));
    const { markPrice, indexPrice, openInterest } = quotes;
    const amounts = [markPrice, indexPrice, openInterest?.long ?? null, openInterest?.short ?? null].map((amount) =>
      amount === null ? 0 : builder.createString(format18(amount)),
    );
    const change = day === null || lastPrice === null ? 0n : BigInt(lastPrice) - BigInt(day.open);
    builder.startObject(TICKER.fields);
    builder.addFieldInt64(TICKER.lastPrice, BigInt(lastPrice ?? 0), 0n);
    builder.addFieldInt64(TICKER.open, BigInt(day?.open ?? 0), 0n);
    builder.addFieldInt64(TICKER.high, BigInt(day?.high ?? 0), 0n);
    builder.addFieldInt64(TICKER.low, BigInt(day?.low ?? 0), 0n);
    builder.addFieldInt64(TICKER.priceChange, change, 0n);
    builder.addFieldInt64(TICKER.changeMilliPercent, day?.changeMilliPercent ?? 0n, 0n);
    builder.addFieldInt64(TICKER.timestampNs, asOfNs, 0n);
    builder.addFieldOffset(TICKER.volume, volume, 0);
    const slots = [TICKER.markPrice, TICKER.indexPrice, TICKER.interestLong, TICKER.interestShort];
    for (const [index, slot] of slots.entries()) builder.addFieldOffset(slot, amounts[index] ?? 0, 0);
    builder.addFieldInt64(TICKER.interestNs, openInterest?.changedNs ?? 0n, 0n);
    addLevel(builder, TICKER.bid, quotes.bestBid);
    addLevel(builder, TICKER.ask, quotes.bestAsk);
    builder.addFieldInt8(TICKER.hasDay, day === null ? 0 : 1, 0);
    return builder.endObject();
  });
}

function levelsVector(builder: Builder, levels: readonly number[]): number {
  builder.startVector(LEVEL_BYTES, levels.length / 2, 8);
  for (let at = levels.length - 1; at >= 0; at -= 1) builder.addInt64(BigInt(must(levels[at], 'a figure of a level')));
  return builder.endVector();
}

function addLevel(builder: Builder, slot: number, level: BookLevel | null): void {
  if (level === null) return;
  builder.prep(8, LEVEL_BYTES);
  builder.writeInt64(BigInt(level.quantity));
  builder.writeInt64(BigInt(level.price));
  builder.addFieldStruct(slot, builder.offset(), 0);
}
