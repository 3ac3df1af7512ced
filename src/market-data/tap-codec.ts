/**
 * What the leader's market data gives to replicas: messages of plain JSON with bytes behind it. Between its thread and the replicator's
 * they lie in a ring, and `records`, `book` and `registry` travel over the servers as the same bytes (cluster.md 4).
 *
 *   market data ── records, book, registry, trades ──▶ replicator ── rb.C.md.<epoch>.<channel>, answers, tape ──▶ servers
 *               ◀── wanted: a book, the registry, trades ──
 *
 * Bytes of `records`, `book` and `registry` are ring records one behind the other: type, length, payload to a multiple of 8.
 */
import type { TradeFigures } from '../core/market-figures.ts';
import type { Sequence } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import {
  DepthCommitted,
  DepthReset,
  FillConfirmed,
  FillRolledBack,
  LevelChanged,
  MarketDataMessage,
  MarketDecided,
  MarketRiskChanged,
  Matched,
  NodeEvent,
} from '../schema/generated/messages.ts';
import { decodePlain, encodePlain } from '../schema/plain-values.ts';

const RECORD_HEAD_BYTES = 8;

/**
 * Of the records that travel: a process of another layout is refused instead of being misread. A number that changes with the size
 * of any of them, and by hand with the meaning of one.
 */
export const TAP_LAYOUT: number = [
  LevelChanged,
  DepthCommitted,
  DepthReset,
  FillConfirmed,
  FillRolledBack,
  MarketDecided,
  MarketRiskChanged,
  Matched,
  NodeEvent,
].reduce((sum, { typeId, bytes }) => (sum * 31 + typeId * 4_096 + bytes) % 0xffff_ffff, 1);

/** The numbers of the last message of each channel, in the order of channels. */
interface TapPlace {
  /** Of a market-data thread from its start to its end: milliseconds since 1970 at its start. */
  readonly run: number;
  readonly numbers: readonly number[];
}

/** From market data to the replicator. */
export type FromTap =
  /** `number` counts the messages of its channel from 1. `traded`: markets with new public trades. */
  | {
      readonly kind: 'records';
      readonly layout: number;
      readonly run: number;
      readonly channel: number;
      readonly number: number;
      /** Milliseconds of the leader's wall clock. */
      readonly atMs: number;
      readonly traded: readonly number[];
      /** How many markets there are. */
      readonly markets: number;
    }
  /** Behind messages that did not fit and were lost: of channels in which nothing follows, too. */
  | ({ readonly kind: 'numbers'; readonly markets: number } & TapPlace)
  /** A part of an answer: the numbers are those behind which the receiver goes on. */
  | ({
      readonly kind: 'book' | 'registry';
      readonly layout: number;
      readonly request: number;
      readonly part: number;
      readonly isLast: boolean;
      readonly markets: number;
      /** Of a book: the channel of its market, −1 before its first record. Of the registry 0. */
      readonly channel: number;
      /** Of a book. */
      readonly lastTrade: TradeFigures | null;
    } & TapPlace)
  /** Trades of one market behind `after` as lines for the tape, and whether that is all of them now. */
  | {
      readonly kind: 'trades';
      readonly request: number;
      readonly market: number;
      readonly through: Sequence;
      readonly isAll: boolean;
    };

/** From the replicator to market data. */
export type ToTap =
  | { readonly kind: 'registry'; readonly request: number }
  | { readonly kind: 'book'; readonly request: number; readonly market: number }
  | { readonly kind: 'trades'; readonly request: number; readonly market: number; readonly after: Sequence };

/** From a replica's feed to its market data: trades of the tape, before the `historyReady` that they are of. */
export interface TapeMessage {
  readonly kind: 'tape';
  readonly trades: readonly TradeFigures[];
}

/** Where messages are written; −1 of `claim`: no room. */
export interface TapSink {
  readonly views: Views;
  claim(typeId: number, payloadBytes: number): number;
  commit(): void;
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** @returns false, with nothing written, where there is no room. */
export function writeTap(to: TapSink, message: FromTap | ToTap | TapeMessage, bytes: Uint8Array = NO_BYTES): boolean {
  const text = encodePlain(message);
  const dataAt = padded(MarketDataMessage.bytes + text.length);
  const at = to.claim(MarketDataMessage.typeId, dataAt + bytes.length);
  if (at < 0) return false;
  const { views } = to;
  MarketDataMessage.setTextBytes(views, at, text.length);
  MarketDataMessage.setDataBytes(views, at, bytes.length);
  views.u8.set(text, at + MarketDataMessage.bytes);
  views.u8.set(bytes, at + dataAt);
  to.commit();
  return true;
}

const NO_BYTES = new Uint8Array();

/** `bytes` lie where the message does. @throws Error for what is no message. */
export function readTap<Message = FromTap>(
  v: Views,
  at: number,
): { readonly message: Message; readonly bytes: Uint8Array } {
  const textBytes = MarketDataMessage.textBytes(v, at);
  const start = at + MarketDataMessage.bytes;
  const dataAt = at + padded(MarketDataMessage.bytes + textBytes);
  return {
    message: decodePlain<Message>(v.u8.subarray(start, start + textBytes)),
    bytes: v.u8.subarray(dataAt, dataAt + MarketDataMessage.dataBytes(v, at)),
  };
}

/** A message that came over the servers; null for one that is cut or not of this form. */
export function readTapBytes<Message = FromTap>(
  message: Uint8Array,
): { readonly message: Message; readonly bytes: Uint8Array } | null {
  try {
    const copy = new Uint8Array(padded(message.length));
    copy.set(message);
    const v = viewsOf(copy.buffer, 0, copy.length);
    const end = padded(MarketDataMessage.bytes + MarketDataMessage.textBytes(v, 0)) + MarketDataMessage.dataBytes(v, 0);
    return end === message.length ? readTap<Message>(v, 0) : null;
  } catch {
    return null;
  }
}

/** Ring records one behind the other, in a buffer that grows. */
export class RecordsBuffer implements TapSink {
  views: Views = viewsOf(new ArrayBuffer(1 << 12), 0, 1 << 12);
  #length = 0;
  #claimed = 0;

  get length(): number {
    return this.#length;
  }

  claim(typeId: number, payloadBytes: number): number {
    const at = this.#length + RECORD_HEAD_BYTES;
    this.#claimed = RECORD_HEAD_BYTES + padded(payloadBytes);
    this.#grow(this.#length + this.#claimed);
    this.views.u32[this.#length >>> 2] = typeId;
    this.views.u32[(this.#length >>> 2) + 1] = payloadBytes;
    return at;
  }

  commit(): void {
    this.#length += this.#claimed;
  }

  /** A copy of a record. */
  add(typeId: number, v: Views, at: number, bytes: number): void {
    const to = this.claim(typeId, bytes);
    this.views.u8.set(v.u8.subarray(at, at + bytes), to);
    this.commit();
  }

  /** Records that another buffer has. */
  addAll(records: Uint8Array): void {
    this.#grow(this.#length + records.length);
    this.views.u8.set(records, this.#length);
    this.#length += records.length;
  }

  /** Valid until the next record. */
  bytes(): Uint8Array {
    return this.views.u8.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  #grow(bytes: number): void {
    if (bytes <= this.views.u8.length) return;
    const capacity = 2 ** Math.ceil(Math.log2(bytes));
    const views = viewsOf(new ArrayBuffer(capacity), 0, capacity);
    views.u8.set(this.views.u8.subarray(0, this.#length));
    this.views = views;
  }
}

/** One record of a message. */
export interface TapRecord {
  readonly typeId: number;
  readonly v: Views;
  readonly at: number;
  readonly bytes: number;
}

/** The records of a message, from its first byte on. @throws RangeError for bytes that end within one. */
export function* recordsIn(bytes: Uint8Array): Generator<TapRecord, void, undefined> {
  const copy = new Uint8Array(padded(bytes.length));
  copy.set(bytes);
  const v = viewsOf(copy.buffer, 0, copy.length);
  for (let at = 0; at < bytes.length; ) {
    const typeId = v.u32[at >>> 2] ?? 0;
    const length = v.u32[(at >>> 2) + 1] ?? 0;
    const next = at + RECORD_HEAD_BYTES + padded(length);
    if (next > bytes.length) throw new RangeError('a record of market data is cut');
    yield { typeId, v, at: at + RECORD_HEAD_BYTES, bytes: length };
    at = next;
  }
}

/** Where the records of each type have the index of their market; events of clearing have none. */
const MARKET_OF: ReadonlyMap<number, (v: Views, at: number) => number> = new Map([
  [LevelChanged.typeId, LevelChanged.marketIndex],
  [DepthCommitted.typeId, DepthCommitted.marketIndex],
  [DepthReset.typeId, DepthReset.marketIndex],
  [Matched.typeId, Matched.marketIndex],
  [FillConfirmed.typeId, FillConfirmed.marketIndex],
  [FillRolledBack.typeId, FillRolledBack.marketIndex],
  [MarketDecided.typeId, MarketDecided.marketIndex],
  [MarketRiskChanged.typeId, MarketRiskChanged.marketIndex],
]);

/** −1 for a record that is not about one market. */
export function marketOfRecord({ typeId, v, at }: Pick<TapRecord, 'typeId' | 'v' | 'at'>): number {
  return MARKET_OF.get(typeId)?.(v, at) ?? -1;
}
