/**
 * Frames of market data as FlatBuffers (schemas/market-data.fbs, BMD-01), read into what their text form gives.
 *
 *   bytes ─▶ tables by slots ─▶ raw integers of the book, with the decimals of the market ─▶ the values of the feed
 *
 * Slots that this reader does not have are passed over: fields are only ever added. A read outside of the frame throws a
 * RangeError of the DataView, which `readBinaryFrame` gives as INVALID_RESPONSE.
 */
import type { BookDecimals } from '../core/arithmetic.ts';
import { formatScaled } from '../core/decimal.ts';
import { invalidResponse } from './errors.ts';
import type { BestLevels } from './market-feed.ts';
import type { Depth, DepthLevel, PublicTrade, Ticker } from './replies.ts';

/** The subprotocol of these frames. */
export const BINARY_MARKET_DATA = 'ringbook.md.fbs.v1';

/** A whole book, a part of one, or changed levels. */
export interface DepthPart {
  readonly depth: Depth;
  /** A further part of the same snapshot follows. */
  readonly more: boolean;
  /** CRC-32C of the text form; null where none is due. */
  readonly checksum: number | null;
}

interface BinaryHead {
  readonly type: 'snapshot' | 'update';
  readonly assetId: string;
  readonly sequence: number;
  readonly timestampNs: bigint;
}

export type BinaryData =
  | { readonly channel: 'depth'; readonly data: DepthPart }
  | { readonly channel: 'bbo'; readonly data: BestLevels }
  | { readonly channel: 'trades'; readonly data: readonly PublicTrade[] }
  | { readonly channel: 'ticker'; readonly data: Ticker };

/** The slots of schemas/market-data.fbs, by table; a union has two. */
const FRAME = { kind: 0, sequence: 1, timestampNs: 2, assetId: 3, dataType: 4, data: 5 } as const;
const DEPTH = { bids: 0, asks: 1, sequenceNumber: 2, more: 3, hasChecksum: 4, checksum: 5 } as const;
const BBO = { bid: 0, ask: 1, sequenceNumber: 2 } as const;
const TRADES = { trades: 0 } as const;
const TICKER = {
  ...{ lastPrice: 0, hasDay: 1, open: 2, high: 3, low: 4, volume: 5, priceChange: 6, changeMilliPercent: 7 },
  ...{ timestampNs: 8, bid: 9, ask: 10, markPrice: 11, indexPrice: 12 },
  ...{ interestLong: 13, interestShort: 14, interestNs: 15 },
} as const;
const TRADE = { tradeId: 0, price: 8, quantity: 16, timestampNs: 24, buyerIsMaker: 32 } as const;
const LEVEL_BYTES = 16;
const TRADE_BYTES = 40;
const VTABLE_HEAD_BYTES = 4;
/** `change_milli_percent` has three decimals. */
const PERCENT_DECIMALS = 3;

const BRACE = 0x7b;
const utf8 = new TextDecoder();

/** Whether a frame is one of these: JSON text begins with `{`, which is the low byte of no multiple of 4. */
export function isBinaryFrame(bytes: Uint8Array): boolean {
  return bytes[0] !== BRACE;
}

/**
 * @param decimalsOf the decimals of a market; undefined for one that was not subscribed.
 * @returns null for a frame of a kind that this version lacks, and of a market that was not subscribed.
 * @throws RingbookError INVALID_RESPONSE for a frame that is not sound.
 */
export function readBinaryFrame(
  bytes: Uint8Array,
  decimalsOf: (assetId: string) => BookDecimals | undefined,
): (BinaryHead & BinaryData) | null {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const root = new Table(view, view.getUint32(0, true));
    const assetId = root.text(FRAME.assetId) ?? '';
    const data = root.table(FRAME.data);
    const decimals = decimalsOf(assetId);
    if (data === null || decimals === undefined) return null;
    const read = readData(root.byte(FRAME.dataType), data, assetId, decimals);
    if (read === null) return null;
    const type = root.byte(FRAME.kind) === 0 ? 'snapshot' : 'update';
    const sequence = root.safe(FRAME.sequence);
    return { type, assetId, sequence, timestampNs: root.long(FRAME.timestampNs), ...read };
  } catch (error) {
    if (error instanceof RangeError) throw invalidResponse('frame', 'a FlatBuffers frame that is cut or damaged');
    throw error;
  }
}

function readData(type: number, table: Table, assetId: string, decimals: BookDecimals): BinaryData | null {
  const figures = new Figures(decimals);
  switch (type) {
    case 1:
      return { channel: 'depth', data: readDepthPart(table, figures) };
    case 2: {
      const [bid, ask] = [figures.level(table, BBO.bid), figures.level(table, BBO.ask)];
      return { channel: 'bbo', data: { bid, ask, sequenceNumber: table.safe(BBO.sequenceNumber) } };
    }
    case 3:
      return { channel: 'trades', data: readTrades(table, assetId, figures) };
    case 4:
      return { channel: 'ticker', data: readTicker(table, assetId, figures) };
    default:
      return null;
  }
}

function readDepthPart(table: Table, figures: Figures): DepthPart {
  const depth = {
    asks: figures.levels(table, DEPTH.asks),
    bids: figures.levels(table, DEPTH.bids),
    sequenceNumber: table.safe(DEPTH.sequenceNumber),
  };
  const checksum = table.byte(DEPTH.hasChecksum) === 0 ? null : table.uint(DEPTH.checksum);
  return { depth, more: table.byte(DEPTH.more) !== 0, checksum };
}

function readTrades(table: Table, assetId: string, figures: Figures): readonly PublicTrade[] {
  const { view } = table;
  return table.structs(TRADES.trades, TRADE_BYTES).map((at) => ({
    assetId,
    tradeId: safeOf(view.getBigUint64(at + TRADE.tradeId, true)),
    price: figures.price(view.getBigInt64(at + TRADE.price, true)),
    quantity: figures.quantity(view.getBigInt64(at + TRADE.quantity, true)),
    timestampNs: view.getBigInt64(at + TRADE.timestampNs, true),
    buyerIsMaker: view.getUint8(at + TRADE.buyerIsMaker) !== 0,
  }));
}

function readTicker(table: Table, assetId: string, figures: Figures): Ticker {
  const last = table.long(TICKER.lastPrice);
  const hasDay = table.byte(TICKER.hasDay) !== 0;
  const ofDay = (slot: number): string | null => (hasDay ? figures.price(table.long(slot)) : null);
  const [long, short] = [table.text(TICKER.interestLong), table.text(TICKER.interestShort)];
  const hasInterest = long !== null && short !== null;
  return {
    assetId,
    lastPrice: last === 0n ? null : figures.price(last),
    open: ofDay(TICKER.open),
    high: ofDay(TICKER.high),
    low: ofDay(TICKER.low),
    volume: table.text(TICKER.volume) ?? '0',
    priceChange: last === 0n ? null : ofDay(TICKER.priceChange),
    priceChangePercent: hasDay ? formatScaled(table.long(TICKER.changeMilliPercent), PERCENT_DECIMALS) : null,
    timestampNs: table.long(TICKER.timestampNs),
    markPrice: table.text(TICKER.markPrice),
    indexPrice: table.text(TICKER.indexPrice),
    bestBid: figures.level(table, TICKER.bid),
    bestAsk: figures.level(table, TICKER.ask),
    openInterest: hasInterest ? { long, short, timestampNs: table.long(TICKER.interestNs) } : null,
  };
}

/** Raw integers of a market as decimals. */
class Figures {
  readonly #decimals: BookDecimals;

  constructor(decimals: BookDecimals) {
    this.#decimals = decimals;
  }

  price(raw: bigint): string {
    return formatScaled(raw, this.#decimals.priceDecimals);
  }

  quantity(raw: bigint): string {
    return formatScaled(raw, this.#decimals.quantityDecimals);
  }

  /** A struct in a table; null for an absent one. */
  level(table: Table, slot: number): DepthLevel | null {
    const at = table.place(slot);
    return at === 0 ? null : this.#levelAt(table.view, at);
  }

  levels(table: Table, slot: number): readonly DepthLevel[] {
    return table.structs(slot, LEVEL_BYTES).map((at) => this.#levelAt(table.view, at));
  }

  #levelAt(view: DataView, at: number): DepthLevel {
    return { price: this.price(view.getBigInt64(at, true)), quantity: this.quantity(view.getBigInt64(at + 8, true)) };
  }
}

/** A table at its place in a frame. An absent field is 0, or null. */
class Table {
  readonly view: DataView;
  readonly #at: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;

  constructor(view: DataView, at: number) {
    this.view = view;
    this.#at = at;
    this.#vtable = at - view.getInt32(at, true);
    this.#vtableBytes = view.getUint16(this.#vtable, true);
  }

  /** Where a field lies; 0 for absent. */
  place(slot: number): number {
    const entry = VTABLE_HEAD_BYTES + 2 * slot;
    if (entry + 2 > this.#vtableBytes) return 0;
    const within = this.view.getUint16(this.#vtable + entry, true);
    return within === 0 ? 0 : this.#at + within;
  }

  byte(slot: number): number {
    const at = this.place(slot);
    return at === 0 ? 0 : this.view.getUint8(at);
  }

  uint(slot: number): number {
    const at = this.place(slot);
    return at === 0 ? 0 : this.view.getUint32(at, true);
  }

  long(slot: number): bigint {
    const at = this.place(slot);
    return at === 0 ? 0n : this.view.getBigInt64(at, true);
  }

  /** @throws RangeError above 2^53 − 1. */
  safe(slot: number): number {
    const at = this.place(slot);
    return at === 0 ? 0 : safeOf(this.view.getBigUint64(at, true));
  }

  text(slot: number): string | null {
    const at = this.#target(slot);
    if (at === 0) return null;
    const bytes = this.view.getUint32(at, true);
    return utf8.decode(new Uint8Array(this.view.buffer, this.view.byteOffset + at + 4, this.#within(at + 4, bytes)));
  }

  table(slot: number): Table | null {
    const at = this.#target(slot);
    return at === 0 ? null : new Table(this.view, at);
  }

  /** The places of the structs of a vector. */
  structs(slot: number, bytes: number): readonly number[] {
    const at = this.#target(slot);
    if (at === 0) return [];
    const count = this.view.getUint32(at, true);
    this.#within(at + 4, count * bytes);
    return Array.from({ length: count }, (_, index) => at + 4 + index * bytes);
  }

  #target(slot: number): number {
    const at = this.place(slot);
    return at === 0 ? 0 : at + this.view.getUint32(at, true);
  }

  /** @throws RangeError for what reaches beyond the frame, before anything of that length is made. */
  #within(at: number, bytes: number): number {
    if (at + bytes > this.view.byteLength) throw new RangeError('beyond the frame');
    return bytes;
  }
}

function safeOf(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('above 2^53 − 1');
  return Number(value);
}
