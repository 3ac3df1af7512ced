/**
 * Frames of market data as FlatBuffers (schemas/market-data.fbs, BMD-01), read into what their text form gives.
 *
 *   message ─▶ frames, each behind its length ─▶ tables by slots ─▶ raw integers of the book, with the decimals of the market
 *           ─▶ the values of the feed
 *
 * Slots that this reader does not have are passed over: fields are only ever added. A read outside of the frame throws a
 * RangeError of the DataView, which `readBinaryMessage` gives as INVALID_RESPONSE.
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

/** The slots of schemas/market-data.fbs, by table. */
const FRAME = { head: 0, assetId: 1, bids: 2, asks: 3, wideBids: 4, wideAsks: 5, trades: 6, ticker: 7 } as const;
const TICKER = {
  ...{ lastPrice: 0, hasDay: 1, open: 2, high: 3, low: 4, volume: 5, priceChange: 6, changeMilliPercent: 7 },
  ...{ timestampNs: 8, bid: 9, ask: 10, markPrice: 11, indexPrice: 12 },
  ...{ interestLong: 13, interestShort: 14, interestNs: 15 },
} as const;
const TRADE = { tradeId: 0, price: 8, quantity: 16, timestampNs: 24, buyerIsMaker: 32 } as const;
const HEAD = {
  sequence: 0,
  timestampNs: 8,
  sequenceNumber: 16,
  checksum: 24,
  asset: 28,
  channel: 30,
  flags: 31,
} as const;
const FLAG = { snapshot: 1, checksum: 2, token: 4 } as const;
const LENGTH_BYTES = 4;
const LEVEL_BYTES = 8;
const WIDE_LEVEL_BYTES = 16;
const TRADE_BYTES = 40;
const VTABLE_HEAD_BYTES = 4;
/** `change_milli_percent` has three decimals. */
const PERCENT_DECIMALS = 3;

const BRACE = 0x7b;
const utf8 = new TextDecoder();

/** Whether a message is of these: JSON text begins with `{`, which is odd, and the length of a frame is not. */
export function isBinaryFrame(bytes: Uint8Array): boolean {
  return bytes[0] !== BRACE;
}

/**
 * The frames of a message, in order.
 *
 * @param decimalsOf the decimals of a market; undefined for one that was not subscribed.
 * @returns without frames of a kind that this version lacks, and of a market that was not subscribed.
 * @throws RingbookError INVALID_RESPONSE for a message that is not sound.
 */
export function readBinaryMessage(
  bytes: Uint8Array,
  decimalsOf: (assetId: string) => BookDecimals | undefined,
): readonly (BinaryHead & BinaryData)[] {
  try {
    const frames: (BinaryHead & BinaryData)[] = [];
    const whole = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.byteLength; ) {
      const length = whole.getUint32(at, true);
      // A DataView of more than there is throws too.
      const view = new DataView(bytes.buffer, bytes.byteOffset + at + LENGTH_BYTES, withinRest(bytes, at, length));
      const frame = readFrame(view, decimalsOf);
      if (frame !== null) frames.push(frame);
      at += LENGTH_BYTES + length;
    }
    return frames;
  } catch (error) {
    if (error instanceof RangeError) throw invalidResponse('frame', 'a FlatBuffers frame that is cut or damaged');
    throw error;
  }
}

/** @throws RangeError for a length that reaches beyond the message. */
function withinRest(bytes: Uint8Array, at: number, length: number): number {
  if (length > bytes.byteLength - at - LENGTH_BYTES) throw new RangeError('beyond the message');
  return length;
}

function readFrame(
  view: DataView,
  decimalsOf: (assetId: string) => BookDecimals | undefined,
): (BinaryHead & BinaryData) | null {
  const root = new Table(view, view.getUint32(0, true));
  const head = root.place(FRAME.head);
  if (head === 0) throw new RangeError('a frame without a head');
  const flags = view.getUint8(head + HEAD.flags);
  const isToken = (flags & FLAG.token) !== 0;
  const assetId = isToken ? (root.text(FRAME.assetId) ?? '') : String(view.getUint16(head + HEAD.asset, true));
  const decimals = decimalsOf(assetId);
  if (decimals === undefined) return null;
  const read = readData(root, head, assetId, decimals);
  if (read === null) return null;
  const type = (flags & FLAG.snapshot) !== 0 ? 'snapshot' : 'update';
  const sequence = safeOf(view.getBigUint64(head + HEAD.sequence, true));
  return { type, assetId, sequence, timestampNs: view.getBigInt64(head + HEAD.timestampNs, true), ...read };
}

function readData(root: Table, head: number, assetId: string, decimals: BookDecimals): BinaryData | null {
  const { view } = root;
  const figures = new Figures(decimals);
  const sequenceNumber = safeOf(view.getBigUint64(head + HEAD.sequenceNumber, true));
  const asks = (): readonly DepthLevel[] => figures.levels(root, FRAME.asks, FRAME.wideAsks);
  const bids = (): readonly DepthLevel[] => figures.levels(root, FRAME.bids, FRAME.wideBids);
  switch (view.getUint8(head + HEAD.channel)) {
    case 0: {
      const hasChecksum = (view.getUint8(head + HEAD.flags) & FLAG.checksum) !== 0;
      const checksum = hasChecksum ? view.getUint32(head + HEAD.checksum, true) : null;
      return {
        channel: 'depth',
        data: { depth: { asks: asks(), bids: bids(), sequenceNumber }, more: false, checksum },
      };
    }
    case 1:
      return { channel: 'bbo', data: { bid: bids()[0] ?? null, ask: asks()[0] ?? null, sequenceNumber } };
    case 2:
      return { channel: 'trades', data: readTrades(root, assetId, figures) };
    case 3: {
      const ticker = root.table(FRAME.ticker);
      if (ticker === null) throw new RangeError('a ticker without its table');
      return { channel: 'ticker', data: readTicker(ticker, assetId, figures) };
    }
    default:
      return null;
  }
}

function readTrades(table: Table, assetId: string, figures: Figures): readonly PublicTrade[] {
  const { view } = table;
  return table.structs(FRAME.trades, TRADE_BYTES).map((at) => ({
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

  /** A side, in either form. */
  levels(table: Table, slot: number, wideSlot: number): readonly DepthLevel[] {
    const { view } = table;
    const narrow = table.structs(slot, LEVEL_BYTES).map((at) => ({
      price: this.price(BigInt(view.getUint32(at, true))),
      quantity: this.quantity(BigInt(view.getUint32(at + 4, true))),
    }));
    const wide = table.structs(wideSlot, WIDE_LEVEL_BYTES).map((at) => this.#levelAt(view, at));
    return wide.length === 0 ? narrow : [...narrow, ...wide];
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

  long(slot: number): bigint {
    const at = this.place(slot);
    return at === 0 ? 0n : this.view.getBigInt64(at, true);
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
