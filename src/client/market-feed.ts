/**
 * Many markets and channels of market data on one socket (wire-additions.md 10), and books that check themselves.
 *
 *   const feed = await client.marketFeed();
 *   await feed.subscribe('bbo', { assetIds: ['1', '2'] }, ({ assetId, data }) => …);
 *   const book = await feed.book('1');
 *
 * Each subscription begins with a snapshot. After a lost connection the feed connects again and renews all subscriptions: a
 * snapshot replaces what was received before. A number that was left out, or a book whose checksum differs, renews that
 * subscription only.
 *
 * States of a subscription: waiting ── snapshot with sequence 1 ─▶ live ── gap, checksum, connection ─▶ waiting.
 */
import type { WebSocket } from 'ws';
import { isJsonObject, type JsonObject, type JsonValue, type MemberReader, parseJson } from '../codec/json-tree.ts';
import { crc32c } from '../core/crc32c.ts';
import { parseAssetId } from '../core/ids.ts';
import { parseInterval } from '../core/kline-intervals.ts';
import { errorOfEnvelope, invalidArgument, malformed, RingbookError } from './errors.ts';
import { LocalBook } from './local-book.ts';
import {
  bestLevel,
  type Depth,
  type DepthLevel,
  type Kline,
  type PublicTrade,
  readArray,
  readDepth,
  readKline,
  readObject,
  readPublicTrade,
  readTicker,
  type Ticker,
} from './replies.ts';
import { openSocket } from './socket.ts';

/** The best level of each side; null for an empty one. */
export interface BestLevels {
  readonly bid: DepthLevel | null;
  readonly ask: DepthLevel | null;
  /** Of the book that they are of. */
  readonly sequenceNumber: number;
}

/** USD; null without a stored price. */
export interface AssetPrices {
  readonly markPrice: string | null;
  readonly markSource: 'trade' | 'oracle' | null;
  readonly markTimestampNs: bigint | null;
  readonly oraclePrice: string | null;
  readonly oracleTimestampNs: bigint | null;
}

/** What each channel carries. Books are opened with `book`. */
export interface FeedData {
  readonly bbo: BestLevels;
  /** Oldest first. */
  readonly trades: readonly PublicTrade[];
  /** Ascending; a row that is sent again replaces the one before. */
  readonly klines: readonly Kline[];
  readonly ticker: Ticker;
  readonly prices: AssetPrices;
}
export type FeedChannel = keyof FeedData;

export interface FeedEvent<Channel extends FeedChannel> {
  /** A snapshot replaces what was received before. */
  readonly type: 'snapshot' | 'update';
  readonly channel: Channel;
  readonly assetId: string;
  readonly sequence: number;
  readonly timestampNs: bigint;
  readonly data: FeedData[Channel];
}

export interface FeedAssets {
  /** Markets; for `prices` any asset. */
  readonly assetIds: readonly string[];
  /** For klines, and required there: like `1m`, `4h`, `30S`. */
  readonly interval?: string;
}

export interface BookOptions {
  /** A checksum on every n-th update; 0: on snapshots only. Default 10. */
  readonly checksumEvery?: number;
  /** Called after each change. */
  readonly onChange?: (book: FeedBook) => void;
}

export interface FeedOptions {
  /** Called when the feed has connected again: snapshots follow. */
  readonly onReconnected?: () => void;
}

const RECONNECT_MS = 100;
const RECONNECT_MS_MAX = 5_000;
/** Between two renewals of one subscription. */
const RENEW_MS = 1_000;
/** Subscriptions in one frame. */
const ITEMS_MAX = 20;
const SAFE_MAX = Number.MAX_SAFE_INTEGER;
const CHECKSUM_LEVELS = 10;

/** One channel of one asset. */
interface Entry {
  readonly item: JsonItem;
  /** @returns false when the subscription must begin anew. */
  readonly receive: (frame: FeedFrame) => boolean;
  /** Called when what was received is no longer current. */
  readonly lost: () => void;
  /** The last frame's; 0 while a new snapshot is awaited. */
  sequence: number;
  renewedAtMs: number;
  renewal: ReturnType<typeof setTimeout> | null;
}

interface JsonItem {
  readonly name: string;
  readonly asset_ids: readonly [string];
  readonly interval?: string;
  readonly checksum_every?: number;
}

interface FeedFrame {
  readonly type: 'snapshot' | 'update';
  readonly assetId: string;
  readonly sequence: number;
  readonly timestampNs: bigint;
  readonly data: JsonValue;
}

interface Pending {
  resolve(errors: readonly FeedItemError[]): void;
  reject(error: RingbookError): void;
}

/** What one subscription was refused for. */
export interface FeedItemError {
  readonly channel: string;
  readonly assetId: string;
  readonly code: string;
  readonly message: string;
}

export class MarketFeed {
  readonly #base: string;
  readonly #options: FeedOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Pending>();
  /** Books that wait for their first snapshot. */
  readonly #opening = new Set<(error: RingbookError) => void>();
  #socket: WebSocket | null = null;
  #requests = 0;
  #isClosed = false;
  #retryTimer: ReturnType<typeof setTimeout> | null = null;

  private constructor(base: string, options: FeedOptions) {
    this.#base = base;
    this.#options = options;
  }

  /** @param base of the market-data service. @throws RingbookError when the first connection is rejected. */
  static async open(base: string, options: FeedOptions = {}): Promise<MarketFeed> {
    const feed = new MarketFeed(base, options);
    await feed.#connect();
    return feed;
  }

  /**
   * Subscribes to a channel of some assets, each of which begins with a snapshot. Subscribing again replaces the listener.
   *
   * @throws RingbookError with the code of the first asset that was refused; the others are subscribed.
   */
  async subscribe<Channel extends FeedChannel>(
    channel: Channel,
    { assetIds, interval }: FeedAssets,
    listener: (event: FeedEvent<Channel>) => void,
  ): Promise<void> {
    const read = READERS[channel] as (data: JsonObject) => FeedData[Channel];
    const receive = ({ data, ...frame }: FeedFrame): boolean => {
      listener({ ...frame, channel, data: read(objectOf(data)) });
      return true;
    };
    const keys = assetIds.map((assetId) => {
      const item = { name: channel, asset_ids: [assetId] as const, ...(interval === undefined ? {} : { interval }) };
      return this.#add(item, receive, () => undefined);
    });
    await this.#request('subscribe', keys);
  }

  /** Ends subscriptions. Unknown ones are ignored. */
  async unsubscribe(channel: FeedChannel, { assetIds, interval }: FeedAssets): Promise<void> {
    await this.#end(assetIds.map((assetId) => keyOf(channel, assetId, interval)));
  }

  /** The book of a market, current until it is closed. @throws RingbookError when it is refused. */
  async book(assetId: string, { checksumEvery = 10, onChange }: BookOptions = {}): Promise<FeedBook> {
    const key = keyOf('depth', assetId);
    const book = new FeedBook(() => this.#end([key]));
    const opened = new Promise<void>((resolve, reject) => {
      this.#opening.add(reject);
      const receive = (frame: FeedFrame): boolean => {
        const isSound = book.receive(frame.type, frame.data);
        if (book.isCurrent) {
          this.#opening.delete(reject);
          resolve();
          onChange?.(book);
        }
        return isSound;
      };
      const lost = (): void => book.lost();
      this.#add({ name: 'depth', asset_ids: [assetId], checksum_every: checksumEvery }, receive, lost);
    });
    await Promise.all([this.#request('subscribe', [key]), opened]);
    return book;
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    for (const { renewal } of this.#entries.values()) if (renewal !== null) clearTimeout(renewal);
    this.#entries.clear();
    this.#socket?.close();
    this.#failPending();
    for (const reject of this.#opening) reject(lostError());
    this.#opening.clear();
  }

  #add(item: JsonItem, receive: Entry['receive'], lost: Entry['lost']): string {
    const key = keyOf(item.name, item.asset_ids[0], item.interval);
    const known = this.#entries.get(key)?.renewal ?? null;
    if (known !== null) clearTimeout(known);
    this.#entries.set(key, { item, receive, lost, sequence: 0, renewedAtMs: 0, renewal: null });
    return key;
  }

  async #end(keys: readonly string[]): Promise<void> {
    const known = keys.filter((key) => this.#entries.has(key));
    if (known.length === 0) return;
    await this.#request('unsubscribe', known, true);
  }

  /** Sends the items of these keys. A refused one is removed. */
  async #request(type: 'subscribe' | 'unsubscribe', keys: readonly string[], isLast = false): Promise<void> {
    const failures: FeedItemError[] = [];
    for (let from = 0; from < keys.length; from += ITEMS_MAX) {
      const items = keys.slice(from, from + ITEMS_MAX).flatMap((key) => this.#entries.get(key)?.item ?? []);
      if (isLast) for (const key of keys) this.#entries.delete(key);
      failures.push(...(await this.#send(type, items)));
    }
    if (type === 'unsubscribe') return;
    for (const key of keys) {
      const item = this.#entries.get(key)?.item;
      if (item !== undefined && isRefused(item, failures)) this.#entries.delete(key);
    }
    const [first] = failures;
    if (first === undefined) return;
    const details = { channel: first.channel, asset_id: first.assetId };
    throw new RingbookError({ code: first.code, message: first.message, details });
  }

  #send(type: 'subscribe' | 'unsubscribe', items: readonly JsonItem[]): Promise<readonly FeedItemError[]> {
    const socket = this.#socket;
    if (socket === null || items.length === 0) return Promise.resolve([]);
    this.#requests += 1;
    const id = String(this.#requests);
    const channels = type === 'subscribe' ? items : items.map(({ checksum_every: _, ...item }) => item);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      socket.send(JSON.stringify({ type, id, channels }));
    });
  }

  async #connect(): Promise<void> {
    const target = { base: this.#base, path: '/ws', headers: {} };
    await openSocket(target, (socket) => {
      if (this.#isClosed) {
        socket.close();
        return;
      }
      this.#socket = socket;
      socket.on('message', (data: Buffer) => {
        try {
          this.#received(data);
        } catch (error) {
          // A frame that cannot be read: a new connection begins with snapshots.
          if (!(error instanceof RingbookError)) throw error;
          socket.close();
        }
      });
      socket.on('close', () => this.#lost(socket));
    });
  }

  #received(data: Buffer): void {
    const tree = parseJson(data, { fractions: 'text' });
    if (!tree.ok || !isJsonObject(tree.value)) throw malformed('frame', tree.ok ? NOT_OBJECT : tree.reject);
    const frame = tree.value;
    const id = frame.get('id');
    const pending = typeof id === 'string' ? this.#pending.get(id) : undefined;
    switch (frame.get('type')) {
      case 'snapshot':
      case 'update':
        this.#deliver(frame);
        return;
      case 'subscriptions':
        pending?.resolve(itemErrors(frame));
        break;
      case 'error': {
        const error = errorOfEnvelope(frame, null);
        if (error !== null) pending?.reject(error);
        break;
      }
      default:
    }
    if (typeof id === 'string') this.#pending.delete(id);
  }

  #deliver(object: JsonObject): void {
    const frame = readObject(object, 'frame', (reader) => ({
      type: reader.string('type') === 'snapshot' ? ('snapshot' as const) : ('update' as const),
      channel: reader.string('channel'),
      assetId: reader.string('asset_id'),
      width: reader.has('interval_s') ? reader.integer('interval_s', 1, SAFE_MAX) : 0,
      sequence: reader.integer('sequence', 1, SAFE_MAX),
      timestampNs: reader.u64('timestamp_ns'),
      data: reader.value('data') ?? null,
    }));
    const key = `${frame.channel} ${frame.width} ${frame.assetId}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const isFirst = frame.type === 'snapshot' && frame.sequence === 1;
    // Behind a renewal, frames of the subscription before it may still arrive.
    if (entry.sequence === 0 && !isFirst) return;
    if (!isFirst && frame.sequence !== entry.sequence + 1) {
      this.#renew(key, entry);
      return;
    }
    entry.sequence = frame.sequence;
    if (!entry.receive(frame)) this.#renew(key, entry);
  }

  /** Subscribes again: at once, and again after a while when it was renewed just before. */
  #renew(key: string, entry: Entry): void {
    entry.sequence = 0;
    entry.lost();
    if (entry.renewal !== null || this.#entries.get(key) !== entry) return;
    const waitMs = Math.max(0, entry.renewedAtMs + RENEW_MS - performance.now());
    entry.renewal = setTimeout(() => {
      entry.renewal = null;
      entry.renewedAtMs = performance.now();
      this.#send('subscribe', [entry.item]).then(
        (errors) => {
          if (errors.length > 0) this.#renew(key, entry);
        },
        () => this.#renew(key, entry),
      );
    }, waitMs);
  }

  #lost(socket: WebSocket): void {
    if (this.#socket === socket) this.#socket = null;
    this.#failPending();
    for (const entry of this.#entries.values()) {
      entry.sequence = 0;
      entry.lost();
      if (entry.renewal !== null) clearTimeout(entry.renewal);
      entry.renewal = null;
    }
    if (!this.#isClosed) this.#retry(RECONNECT_MS);
  }

  #failPending(): void {
    for (const pending of this.#pending.values()) pending.reject(lostError());
    this.#pending.clear();
  }

  #retry(delayMs: number): void {
    this.#retryTimer = setTimeout(() => {
      this.#connect().then(
        () => {
          this.#options.onReconnected?.();
          this.#renewAll();
        },
        () => {
          if (!this.#isClosed) this.#retry(Math.min(2 * delayMs, RECONNECT_MS_MAX));
        },
      );
    }, delayMs);
  }

  #renewAll(): void {
    const entries = [...this.#entries];
    for (let from = 0; from < entries.length; from += ITEMS_MAX) {
      const part = entries.slice(from, from + ITEMS_MAX);
      const items = part.map(([, { item }]) => item);
      this.#send('subscribe', items).then(
        (errors) => {
          for (const [key, entry] of part) if (isRefused(entry.item, errors)) this.#renew(key, entry);
        },
        // The connection is lost again: the next one renews them.
        () => undefined,
      );
    }
  }
}

/** A book kept by a feed. Reading one that is not current throws. */
export class FeedBook {
  readonly #end: () => Promise<void>;
  readonly #book = new LocalBook();
  /** Parts of a snapshot that is not complete. */
  #parts: Depth[] = [];
  #resyncs = 0;

  /** @internal */
  constructor(end: () => Promise<void>) {
    this.#end = end;
  }

  get isCurrent(): boolean {
    return this.#book.isCurrent;
  }

  get sequenceNumber(): number {
    return this.#book.sequenceNumber;
  }

  /** How often a gap or a checksum made the book begin anew. */
  get resyncs(): number {
    return this.#resyncs;
  }

  asks(count?: number): readonly DepthLevel[] {
    return this.#book.asks(count);
  }

  bids(count?: number): readonly DepthLevel[] {
    return this.#book.bids(count);
  }

  /** Ends its subscription. */
  close(): Promise<void> {
    return this.#end();
  }

  /** @internal */
  lost(): void {
    this.#book.drop();
    this.#parts = [];
  }

  /** @internal @returns whether the book is sound. */
  receive(type: 'snapshot' | 'update', value: JsonValue): boolean {
    const depth = readDepth(value);
    const { more, checksum } = readObject(value, 'depth', (reader) => ({
      more: reader.has('more') && reader.boolean('more'),
      checksum: reader.has('checksum') ? reader.integer('checksum', 0, 2 ** 32 - 1) : null,
    }));
    if (type === 'snapshot') this.#load(depth, more);
    else if (this.#book.apply(depth) === 'gap') return this.#unsound();
    if (checksum === null || more || checksum === this.#checksum()) return true;
    this.#book.drop();
    return this.#unsound();
  }

  #load(part: Depth, more: boolean): void {
    if (this.#parts[0]?.sequenceNumber !== part.sequenceNumber) this.#parts = [];
    this.#parts.push(part);
    this.#book.drop();
    if (more) return;
    const asks = this.#parts.flatMap((each) => each.asks);
    const bids = this.#parts.flatMap((each) => each.bids);
    this.#parts = [];
    this.#book.load({ asks, bids, sequenceNumber: part.sequenceNumber });
  }

  #unsound(): false {
    this.#resyncs += 1;
    return false;
  }

  #checksum(): number {
    const side = (levels: readonly DepthLevel[]): string =>
      levels.map(({ price, quantity }) => `${price}:${quantity}`).join(',');
    const text = `${side(this.#book.bids(CHECKSUM_LEVELS))}|${side(this.#book.asks(CHECKSUM_LEVELS))}`;
    return crc32c(new TextEncoder().encode(text));
  }
}

function lostError(): RingbookError {
  return new RingbookError({ code: 'CONNECTION_CLOSED', message: 'the connection of the feed ended', retryable: true });
}

function isRefused({ name, asset_ids: [assetId] }: JsonItem, errors: readonly FeedItemError[]): boolean {
  return errors.some((error) => error.channel === name && error.assetId === assetId);
}

const NOT_OBJECT = { code: 'INVALID_REQUEST', message: 'expected an object' } as const;

const READERS: { readonly [Channel in FeedChannel]: (data: JsonObject) => FeedData[Channel] } = {
  bbo: (data) =>
    readObject(data, 'bbo', (reader) => ({
      bid: bestLevel(reader, 'bid'),
      ask: bestLevel(reader, 'ask'),
      sequenceNumber: reader.integer('sequence_number', 0, SAFE_MAX),
    })),
  trades: (data) => readArray(data.get('trades') ?? null, 'trades', readPublicTrade),
  klines: (data) => readArray(data.get('items') ?? null, 'klines', readKline),
  ticker: readTicker,
  prices: (data) =>
    readObject(data, 'prices', (reader) => ({
      markPrice: textOrNull(reader, 'mark_price'),
      markSource: sourceOf(textOrNull(reader, 'mark_source')),
      markTimestampNs: reader.has('mark_timestamp_ns') ? reader.u64('mark_timestamp_ns') : null,
      oraclePrice: textOrNull(reader, 'oracle_price'),
      oracleTimestampNs: reader.has('oracle_timestamp_ns') ? reader.u64('oracle_timestamp_ns') : null,
    })),
};

function textOrNull(reader: MemberReader, name: string): string | null {
  return reader.has(name) ? reader.string(name) : null;
}

function sourceOf(text: string | null): AssetPrices['markSource'] {
  return text === 'trade' || text === 'oracle' ? text : null;
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw malformed('frame', NOT_OBJECT);
  return value;
}

function itemErrors(frame: JsonObject): readonly FeedItemError[] {
  return readArray(frame.get('errors') ?? null, 'errors', (value) =>
    readObject(value, 'error', (reader) => ({
      channel: reader.string('name'),
      assetId: reader.string('asset_id'),
      code: reader.string('code'),
      message: reader.string('message'),
    })),
  );
}

/** As frames name a subscription. @throws RingbookError INVALID_ARGUMENT. */
function keyOf(channel: string, assetId: string, interval?: string): string {
  const asset = parseAssetId(assetId);
  if (asset === null) throw invalidArgument(`${assetId} is not an asset id`, 'assetIds');
  const width = interval === undefined ? null : parseInterval(interval);
  if (channel === 'klines' && width === null) throw invalidArgument('klines need an interval', 'interval');
  if (width?.ok === false) throw invalidArgument(width.reject.message, 'interval');
  return `${channel} ${width?.ok === true ? width.value : 0} ${asset}`;
}
