/**
 * Frames of the multiplexed market-data socket under the subprotocol `ringbook.md.fbs.v1`: the tables of
 * schemas/market-data.fbs (BMD-01). A frame is encoded once for all its readers (BMD-02); the sequence of each is written into its
 * bytes before they are sent, as in those of the text form (subscription-frames.ts). What one flush sends is one message
 * (packed-frames.ts).
 */
import { Builder, ByteBuffer } from 'flatbuffers';
import { must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import { type AssetId, isToken } from '../core/ids.ts';
import type { BookLevel, DepthLevels, QuotedTicker, TradeFigures } from '../core/market-figures.ts';
import { SIDE } from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import { type MarketText, volumeText } from './market-data-json.ts';

/** The slots of schemas/market-data.fbs, by table. */
const FRAME = {
  ...{ fields: 8, head: 0, assetId: 1, bids: 2, asks: 3, wideBids: 4, wideAsks: 5, trades: 6, ticker: 7 },
} as const;
const TICKER = {
  ...{ fields: 16, lastPrice: 0, hasDay: 1, open: 2, high: 3, low: 4, volume: 5, priceChange: 6 },
  ...{ changeMilliPercent: 7, timestampNs: 8, bid: 9, ask: 10, markPrice: 11, indexPrice: 12 },
  ...{ interestLong: 13, interestShort: 14, interestNs: 15 },
} as const;
const CHANNEL = { depth: 0, bbo: 1, trades: 2, ticker: 3 } as const;
const FLAG = { snapshot: 1, checksum: 2, token: 4 } as const;
const HEAD_BYTES = 32;
const LEVEL_BYTES = 8;
const WIDE_LEVEL_BYTES = 16;
const TRADE_BYTES = 40;
const BUILDER_BYTES = 1_024;
/** Of the field `head` in the vtable of a frame. */
const HEAD_SLOT: number = 4 + 2 * FRAME.head;
const LENGTH_BYTES = 4;
const U32_MAX = 0xff_ff_ff_ff;
const U32 = 0x1_0000_0000;

export interface BinaryHead {
  readonly isSnapshot: boolean;
  readonly assetId: AssetId;
  readonly timestampNs: TimestampNs;
}

/** What a frame has beside its head: a field that is 0 is left out. */
interface Content {
  readonly channel: keyof typeof CHANNEL;
  readonly sequenceNumber?: number;
  /** Null where none is due. */
  readonly checksum?: number | null;
  readonly bids?: readonly number[];
  readonly asks?: readonly number[];
  /** @returns its offset. */
  readonly trades?: (builder: Builder) => number;
  readonly ticker?: (builder: Builder) => number;
}

/** A frame for all subscriptions, each with its own sequence; with its length it is a message. */
export class EncodedFrame {
  readonly bytes: Uint8Array;
  /** Where the sequence lies in `bytes`. */
  readonly sequenceAt: number;
  readonly #view: DataView;

  constructor(head: BinaryHead, content: Content) {
    const builder = new Builder(BUILDER_BYTES);
    const ticker = content.ticker?.(builder) ?? 0;
    const trades = content.trades?.(builder) ?? 0;
    const asks = levelsVector(builder, content.asks ?? []);
    const bids = levelsVector(builder, content.bids ?? []);
    const asset = isToken(head.assetId) ? builder.createString(head.assetId) : 0;
    builder.startObject(FRAME.fields);
    builder.addFieldOffset(FRAME.ticker, ticker, 0);
    builder.addFieldOffset(FRAME.trades, trades, 0);
    for (const [side, slot, wideSlot] of [
      [asks, FRAME.asks, FRAME.wideAsks],
      [bids, FRAME.bids, FRAME.wideBids],
    ] as const) {
      builder.addFieldOffset(side.isWide ? wideSlot : slot, side.offset, 0);
    }
    builder.addFieldOffset(FRAME.assetId, asset, 0);
    writeHead(builder, head, content);
    builder.addFieldStruct(FRAME.head, builder.offset(), 0);
    builder.finishSizePrefixed(builder.endObject());
    this.bytes = builder.asUint8Array().slice();
    this.#view = new DataView(this.bytes.buffer);
    const buffer = new ByteBuffer(this.bytes);
    const root = LENGTH_BYTES + buffer.readInt32(LENGTH_BYTES);
    this.sequenceAt = root + buffer.__offset(root, HEAD_SLOT);
  }

  get byteLength(): number {
    return this.bytes.byteLength;
  }

  /** The message for a reader whose number this is; valid until the next call. @param sequence from 1, a safe integer. */
  of(sequence: number): Uint8Array {
    writeSequence(this.#view, this.sequenceAt, sequence);
    return this.bytes;
  }
}

/** A whole book, or changed levels. @param checksum null where none is due. */
export function binaryDepth(head: BinaryHead, levels: DepthLevels, checksum: number | null): EncodedFrame {
  return new EncodedFrame(head, { channel: 'depth', ...levels, checksum });
}

export function binaryBest(
  head: BinaryHead,
  best: { readonly bid: BookLevel | null; readonly ask: BookLevel | null; readonly sequenceNumber: number },
): EncodedFrame {
  const { sequenceNumber } = best;
  const [bids, asks] = [best.bid, best.ask].map((level) => (level === null ? [] : [level.price, level.quantity]));
  return new EncodedFrame(head, { channel: 'bbo', sequenceNumber, bids: bids ?? [], asks: asks ?? [] });
}

/** @param trades oldest first. */
export function binaryTrades(head: BinaryHead, trades: readonly TradeFigures[]): EncodedFrame {
  return new EncodedFrame(head, {
    channel: 'trades',
    trades: (builder) => {
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
      return builder.endVector();
    },
  });
}

export function binaryTicker(head: BinaryHead, market: MarketText, { ticker, quotes }: QuotedTicker): EncodedFrame {
  const write = (builder: Builder): number => {
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
  };
  return new EncodedFrame(head, { channel: 'ticker', ticker: write });
}

interface SideVector {
  /** 0 for a side without levels. */
  readonly offset: number;
  readonly isWide: boolean;
}

/** @param levels price, quantity, …, best first. */
function levelsVector(builder: Builder, levels: readonly number[]): SideVector {
  if (levels.length === 0) return { offset: 0, isWide: false };
  const isWide = levels.some((figure) => figure > U32_MAX);
  builder.startVector(isWide ? WIDE_LEVEL_BYTES : LEVEL_BYTES, levels.length / 2, isWide ? 8 : 4);
  for (let at = levels.length - 1; at >= 0; at -= 1) {
    const figure = must(levels[at], 'a figure of a level');
    if (isWide) builder.addInt64(BigInt(figure));
    else builder.addInt32(figure | 0);
  }
  return { offset: builder.endVector(), isWide };
}

function writeHead(builder: Builder, { isSnapshot, assetId, timestampNs }: BinaryHead, content: Content): void {
  const { channel, sequenceNumber = 0, checksum = null } = content;
  const isNamed = isToken(assetId);
  const flags = (isSnapshot ? FLAG.snapshot : 0) | (checksum === null ? 0 : FLAG.checksum) | (isNamed ? FLAG.token : 0);
  builder.prep(8, HEAD_BYTES);
  builder.writeInt8(flags);
  builder.writeInt8(CHANNEL[channel]);
  builder.writeInt16(isNamed ? 0 : Number(assetId));
  builder.writeInt32((checksum ?? 0) | 0);
  builder.writeInt64(BigInt(sequenceNumber));
  builder.writeInt64(timestampNs);
  builder.writeInt64(0n);
}

/** @param sequence a safe integer, as 64 bits. */
export function writeSequence(view: DataView, at: number, sequence: number): void {
  view.setUint32(at, sequence % U32, true);
  view.setUint32(at + 4, Math.floor(sequence / U32), true);
}

function addLevel(builder: Builder, slot: number, level: BookLevel | null): void {
  if (level === null) return;
  builder.prep(8, WIDE_LEVEL_BYTES);
  builder.writeInt64(BigInt(level.quantity));
  builder.writeInt64(BigInt(level.price));
  builder.addFieldStruct(slot, builder.offset(), 0);
}
