/**
 * Many markets and channels of market data on one socket (wire-additions.md 10), and books that check themselves.
 *
 *   const feed = await client.marketFeed();
 *   await feed.subscribe('bbo', { assetIds: ['1', '2'] }, ({ assetId, data }) => …);
 *   const book = await feed.book('1');
 *
 * Each subscription begins with a snapshot. After a lost connection the feed connects again and renews all subscriptions: a
 * snapshot replaces what was received before. A number that was left out, or a book whose checksum differs, renews that
 * subscription only; a renewal that is refused is repeated, more and more rarely.
 *
 * States of a subscription: waiting ── snapshot with sequence 1 ─▶ live ── gap, checksum, connection ─▶ waiting.
 *
 * How requests become frames is in feed-requests.ts.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import type { BookDecimals } from '../core/arithmetic.ts';
import { crc32c } from '../core/crc32c.ts';
import type { AssetId } from '../core/ids.ts';
import { parseInterval } from '../core/kline-intervals.ts';
import { Addresses, isUnserved } from './addresses.ts';
import {
  BINARY_MARKET_DATA,
  type BinaryData,
  type DepthPart,
  isBinaryFrame,
  readBinaryMessage,
} from './binary-market-data.ts';
import { errorOfEnvelope, invalidArgument, malformed, RingbookError } from './errors.ts';
import { type FeedItemError, FeedRequests, type JsonItem } from './feed-requests.ts';
import type { Socket } from './http-transport.ts';
import { BookView, LocalBook } from './local-book.ts';
import { openSocket } from './platform.ts';
import { readArray, readObject, stringOrNull } from './read-members.ts';
import {
  type Depth,
  type DepthLevel,
  type Kline,
  type PublicTrade,
  readBestLevel,
  readDepth,
  readKline,
  readPublicTrade,
  readTicker,
  type Ticker,
} from './replies.ts';
import { assetOf } from './signed-actions.ts';
import { RECONNECT_MS, RECONNECT_MS_MAX, Reconnection } from './socket.ts';

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
  /** Markets, by id or symbol; for `prices` any asset. */
  readonly assetIds: readonly string[];
  /** For klines, and required there: like `1m`, `4h`, `30S`. */
  readonly interval?: string;
}

export interface BookOptions {
  /** A checksum on every n-th update; 0: on snapshots only. Default 10. */
  readonly checksumEvery?: number;
  /** Called after each change. */
  readonly onChange?: (book: FeedBook) => void;
  /** Called when the book is no longer current: the next change has a new one. */
  readonly onStale?: (book: FeedBook) => void;
}

export interface FeedOptions {
  /**
   * `binary`: the service sends depth, bbo, trades and ticker as FlatBuffers (wire-additions.md 10.6), with the same events in
   * fewer bytes. By default `text`.
   */
  readonly format?: 'text' | 'binary';
  /** Called when the feed has connected again: snapshots follow. */
  readonly onReconnected?: () => void;
}

/** Between two renewals of one subscription; twice as long after each that was refused, RENEW_DOUBLED_MAX times. */
const RENEW_MS = 1_000;
const RENEW_DOUBLED_MAX = 4;
/** A connection that ends sooner is followed by longer pauses. */
const STABLE_MS = 5_000;
const CHECKSUM_EVERY_MAX = 1_000;
const SAFE_MAX = Number.MAX_SAFE_INTEGER;
const CHECKSUM_LEVELS = 10;

/** One channel of one asset. */
interface Entry extends Subscriber {
  readonly key: string;
  readonly item: JsonItem;
  /** The last frame's; 0 while a new snapshot is awaited. */
  sequence: number;
  renewedAtMs: number;
  /** Renewals that were refused since the last snapshot. */
  refusals: number;
  renewal: ReturnType<typeof setTimeout> | null;
}

interface Subscriber {
  readonly receive: (frame: FeedFrame) => Received;
  /** Called when what was received is no longer current. */
  readonly lost: () => void;
  /** Called when nothing more is received: it was ended, refused or replaced. */
  readonly ended: (error: RingbookError) => void;
}

interface Received {
  /** False when the subscription must begin anew. */
  readonly isSound: boolean;
  /** Calls the listener of the caller, whose exceptions are not faults of a frame. */
  readonly notify: (() => void) | null;
}

interface FeedFrame {
  readonly type: 'snapshot' | 'update';
  readonly assetId: string;
  readonly sequence: number;
  readonly timestampNs: bigint;
  /** As JSON, or read from FlatBuffers. */
  readonly data: { readonly json: JsonValue } | { readonly read: BinaryData['data'] };
}

/** The id of an asset that is named by it or by its symbol. @throws RingbookError INVALID_ARGUMENT. */
type NamedAsset = (name: string) => Promise<AssetId>;

/** The decimals of a market. @throws RingbookError MARKET_NOT_FOUND. */
type DecimalsOf = (assetId: AssetId) => Promise<BookDecimals>;

export class MarketFeed {
  readonly #addresses: Addresses;
  readonly #options: FeedOptions;
  readonly #asset: NamedAsset;
  readonly #decimalsOf: DecimalsOf | null;
  /** Of the markets whose frames may be FlatBuffers. */
  readonly #decimals = new Map<string, BookDecimals>();
  readonly #entries = new Map<string, Entry>();
  readonly #requests = new FeedRequests();
  readonly #reconnection: Reconnection<void>;
  #socket: Socket | null = null;
  #connectedAtMs = 0;
  #shortConnections = 0;
  #isClosed = false;
  readonly #ended: () => void;

  private constructor(addresses: Addresses, options: FeedOptions, asset: NamedAsset, decimalsOf: DecimalsOf | null) {
    this.#asset = asset;
    this.#decimalsOf = decimalsOf;
    this.#addresses = addresses;
    this.#options = options;
    this.#reconnection = new Reconnection(
      () => this.#connect(),
      () => this.#reconnected(),
    );
    this.#ended = addresses.lifetime.add(() => this.close());
  }

  /**
   * @param service address of the market-data service, or several.
   * @param asset the id of a named asset; without it ids alone are taken.
   * @param decimalsOf needed for `binary`, whose frames have raw integers.
   * @throws RingbookError when the first connection is rejected.
   */
  static async open(
    service: string | Addresses,
    options: FeedOptions = {},
    asset: NamedAsset = (id) => Promise.resolve(assetOf(id)),
    decimalsOf: DecimalsOf | null = null,
  ): Promise<MarketFeed> {
    if (options.format === 'binary' && decimalsOf === null) {
      throw invalidArgument('a binary feed needs the decimals of markets', 'format');
    }
    const addresses = typeof service === 'string' ? Addresses.one(service) : service;
    const feed = new MarketFeed(addresses, options, asset, decimalsOf);
    try {
      await feed.#connect();
    } catch (error) {
      feed.close();
      throw error;
    }
    return feed;
  }

  /**
   * Subscribes to a channel of some assets, each of which begins with a snapshot. Subscribing again replaces the listener,
   * of which exceptions are not caught.
   *
   * @throws RingbookError with the code of the first asset that was refused; the others are subscribed. CONNECTION_CLOSED:
   *   those that the service had not confirmed are not.
   */
  async subscribe<Channel extends FeedChannel>(
    channel: Channel,
    { assetIds, interval }: FeedAssets,
    listener: (event: FeedEvent<Channel>) => void,
  ): Promise<void> {
    const read = READERS[channel] as (data: JsonObject) => FeedData[Channel];
    const receive = ({ data, ...frame }: FeedFrame): Received => {
      // Of FlatBuffers the channel is that of the entry, so it is the data of this channel.
      const own = 'json' in data ? read(objectOf(data.json)) : (data.read as FeedData[Channel]);
      const event = { ...frame, channel, data: own };
      return { isSound: true, notify: () => listener(event) };
    };
    const nothing = (): void => undefined;
    const ids = await Promise.all(assetIds.map(this.#asset));
    if (this.#isBinary && isInBinary(channel)) await Promise.all(ids.map((id) => this.#needDecimals(id)));
    const entries = ids.map((assetId) => {
      const item = { name: channel, asset_ids: [assetId] as const, ...(interval === undefined ? {} : { interval }) };
      return this.#add(item, { receive, lost: nothing, ended: nothing });
    });
    await this.#subscribe(entries);
  }

  /** Ends subscriptions. Unknown ones are ignored. */
  async unsubscribe(channel: FeedChannel, { assetIds, interval }: FeedAssets): Promise<void> {
    const ids = await Promise.all(assetIds.map(this.#asset));
    await this.#unsubscribe(ids.flatMap((assetId) => this.#entries.get(keyOf(channel, assetId, interval)) ?? []));
  }

  /**
   * The book of a market, current until it is closed. Another book of the same market takes its place.
   *
   * @throws RingbookError when it is refused.
   */
  async book(market: string, { checksumEvery = 10, onChange, onStale }: BookOptions = {}): Promise<FeedBook> {
    if (!Number.isInteger(checksumEvery) || checksumEvery < 0 || checksumEvery > CHECKSUM_EVERY_MAX) {
      throw invalidArgument(`an integer from 0 to ${CHECKSUM_EVERY_MAX}`, 'checksumEvery');
    }
    const assetId = await this.#asset(market);
    if (this.#isBinary) await this.#needDecimals(assetId);
    const opened = deferred();
    const book = new FeedBook(() => this.#unsubscribe([entry]));
    let wasCurrent = false;
    const receive = (frame: FeedFrame): Received => {
      const { data } = frame;
      const part = 'json' in data ? readDepthPart(data.json) : (data.read as DepthPart);
      const isSound = book.receive(frame.type, part);
      const hasEnded = wasCurrent && !book.isCurrent;
      wasCurrent = book.isCurrent;
      if (wasCurrent) opened.resolve();
      const listener = wasCurrent ? onChange : hasEnded ? onStale : undefined;
      return { isSound, notify: listener === undefined ? null : () => listener(book) };
    };
    const lost = (): void => {
      book.lost();
      if (wasCurrent) onStale?.(book);
      wasCurrent = false;
    };
    const item = { name: 'depth', asset_ids: [assetId] as const, checksum_every: checksumEvery };
    const entry = this.#add(item, { receive, lost, ended: opened.reject });
    await Promise.all([this.#subscribe([entry]), opened.promise]);
    return book;
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    this.#ended();
    this.#reconnection.end();
    for (const entry of this.#entries.values()) this.#remove(entry);
    this.#socket?.close(1000);
    this.#requests.lost(lostError());
  }

  get #isBinary(): boolean {
    return this.#options.format === 'binary';
  }

  /** Reads what frames of a market in FlatBuffers need. One that does not exist is refused by the service. */
  async #needDecimals(assetId: AssetId): Promise<void> {
    if (this.#decimalsOf === null || this.#decimals.has(assetId)) return;
    try {
      this.#decimals.set(assetId, await this.#decimalsOf(assetId));
    } catch (error) {
      if (!(error instanceof RingbookError && error.code === 'MARKET_NOT_FOUND')) throw error;
    }
  }

  /** @throws RingbookError INVALID_ARGUMENT; CONNECTION_CLOSED once the feed is closed. */
  #add(item: JsonItem, subscriber: Subscriber): Entry {
    const key = keyOf(item.name, item.asset_ids[0], item.interval);
    if (this.#isClosed) throw lostError();
    const known = this.#entries.get(key);
    if (known !== undefined) this.#remove(known);
    const entry = { ...subscriber, key, item, sequence: 0, renewedAtMs: 0, refusals: 0, renewal: null };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Unless another one has taken its place. */
  #remove(entry: Entry, error: RingbookError = lostError()): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    if (entry.renewal !== null) clearTimeout(entry.renewal);
    entry.lost();
    entry.ended(error);
  }

  /** What is refused, or was on its way when the connection was lost, is removed. */
  async #subscribe(entries: readonly Entry[]): Promise<void> {
    const refusals = await Promise.all(
      entries.map(async (entry) => {
        const refusal = await this.#request(entry);
        if (refusal !== null) this.#remove(entry, refusal);
        return refusal;
      }),
    );
    const first = refusals.find((refusal) => refusal !== null);
    if (first !== undefined) throw first;
  }

  async #unsubscribe(entries: readonly Entry[]): Promise<void> {
    const known = entries.filter((entry) => this.#entries.get(entry.key) === entry);
    for (const entry of known) this.#remove(entry);
    await Promise.all(known.map(({ item }) => this.#requests.add('unsubscribe', item)));
  }

  /** @returns why it is not subscribed. Without a connection the next one subscribes to all entries. */
  async #request({ item }: Entry): Promise<RingbookError | null> {
    try {
      const refusal = await this.#requests.add('subscribe', item);
      return refusal === null ? null : errorOfItem(refusal);
    } catch (error) {
      if (error instanceof RingbookError) return error;
      throw error;
    }
  }

  async #connect(): Promise<void> {
    await this.#addresses.serve((base) => this.#open(base), isUnserved);
  }

  #open(base: string): Promise<void> {
    const protocols = this.#isBinary ? [BINARY_MARKET_DATA] : [];
    return openSocket({ ...this.#addresses.target(base, '/ws', {}), protocols }, (socket) => {
      if (this.#isClosed) {
        socket.close();
        return;
      }
      this.#socket = socket;
      this.#connectedAtMs = performance.now();
      this.#requests.open((text) => socket.send(text));
      socket.on('message', (data: Uint8Array) => {
        let notifications: readonly Received['notify'][] = [];
        try {
          notifications = this.#received(data);
        } catch (error) {
          // A frame that cannot be read: a new connection begins with snapshots.
          if (!(error instanceof RingbookError)) throw error;
          socket.close();
        }
        for (const notify of notifications) if (notify !== null) notifyListener(notify);
      });
      socket.on('close', () => this.#lost(socket));
    });
  }

  #received(data: Uint8Array): readonly Received['notify'][] {
    if (!this.#isBinary || !isBinaryFrame(data)) return [this.#receivedText(data)];
    const frames = readBinaryMessage(data, (assetId) => this.#decimals.get(assetId));
    return frames.map((frame) => this.#deliver({ ...frame, width: 0, data: { read: frame.data } }));
  }

  #receivedText(data: Uint8Array): Received['notify'] {
    const tree = parseJson(data, { fractions: 'text' });
    if (!tree.ok || !isJsonObject(tree.value)) throw malformed('frame', tree.ok ? NOT_OBJECT : tree.reject);
    const frame = tree.value;
    const id = frame.get('id');
    switch (frame.get('type')) {
      case 'snapshot':
      case 'update':
        return this.#deliver(textFrame(frame));
      case 'subscriptions':
        if (typeof id === 'string') this.#requests.answered(id, itemErrors(frame));
        return null;
      case 'error': {
        const error = errorOfEnvelope(frame, null);
        if (error !== null) this.#requests.failed(typeof id === 'string' ? id : null, error);
        return null;
      }
      default:
        return null;
    }
  }

  #deliver(named: NamedFrame): Received['notify'] {
    const { channel, width, ...frame } = named;
    const key = `${channel} ${width} ${frame.assetId}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    const isFirst = frame.type === 'snapshot' && frame.sequence === 1;
    // Behind a renewal, frames of the subscription before it may still arrive.
    if (entry.sequence === 0 && !isFirst) return null;
    if (!isFirst && frame.sequence !== entry.sequence + 1) {
      this.#renew(entry);
      return null;
    }
    entry.sequence = frame.sequence;
    if (isFirst) entry.refusals = 0;
    const { isSound, notify } = entry.receive(frame);
    if (!isSound) this.#renew(entry);
    return notify;
  }

  /** Subscribes again: at once, and again after a while when it was renewed just before. */
  #renew(entry: Entry): void {
    entry.sequence = 0;
    entry.lost();
    if (entry.renewal !== null || this.#entries.get(entry.key) !== entry) return;
    const spacingMs = RENEW_MS * 2 ** Math.min(entry.refusals, RENEW_DOUBLED_MAX);
    const waitMs = Math.max(0, entry.renewedAtMs + spacingMs - performance.now());
    entry.renewal = setTimeout(() => {
      entry.renewal = null;
      void this.#requestAgain(entry);
    }, waitMs);
  }

  /** Of a subscription that was confirmed before: it is repeated until it is confirmed again. */
  async #requestAgain(entry: Entry): Promise<void> {
    const socket = this.#socket;
    entry.renewedAtMs = performance.now();
    const refusal = await this.#request(entry);
    // The next connection subscribes to all entries.
    if (refusal === null || socket !== this.#socket) return;
    entry.refusals += 1;
    this.#renew(entry);
  }

  #lost(socket: Socket): void {
    if (this.#socket === socket) this.#socket = null;
    this.#requests.lost(lostError());
    for (const entry of this.#entries.values()) {
      entry.sequence = 0;
      entry.lost();
      if (entry.renewal !== null) clearTimeout(entry.renewal);
      entry.renewal = null;
    }
    if (!this.#isClosed) this.#reconnect();
  }

  #reconnect(): void {
    const isShort = performance.now() - this.#connectedAtMs < STABLE_MS;
    this.#shortConnections = isShort ? this.#shortConnections + 1 : 0;
    this.#reconnection.begin(Math.min(RECONNECT_MS * 2 ** this.#shortConnections, RECONNECT_MS_MAX));
  }

  /** Snapshots follow. */
  #reconnected(): void {
    if (this.#isClosed) return;
    this.#options.onReconnected?.();
    for (const entry of this.#entries.values()) void this.#requestAgain(entry);
  }
}

/** A book kept by a feed. Reading one that is not current throws. */
export class FeedBook extends BookView {
  readonly #end: () => Promise<void>;
  readonly #book: LocalBook;
  /** Parts of a snapshot that is not complete. */
  #parts: Depth[] = [];
  #resyncs = 0;

  /** @internal */
  constructor(end: () => Promise<void>) {
    const book = new LocalBook();
    super(book);
    this.#book = book;
    this.#end = end;
  }

  /** How often a gap or a checksum made the book begin anew. */
  get resyncs(): number {
    return this.#resyncs;
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
  receive(type: 'snapshot' | 'update', { depth, more, checksum }: DepthPart): boolean {
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

/** A frame with what names its subscription. */
interface NamedFrame extends FeedFrame {
  readonly channel: string;
  /** Seconds of klines; else 0. */
  readonly width: number;
}

function textFrame(object: JsonObject): NamedFrame {
  return readObject(object, 'frame', (reader) => ({
    type: reader.string('type') === 'snapshot' ? ('snapshot' as const) : ('update' as const),
    channel: reader.string('channel'),
    assetId: reader.string('asset_id'),
    width: reader.has('interval_s') ? reader.integer('interval_s', 1, SAFE_MAX) : 0,
    sequence: reader.integer('sequence', 1, SAFE_MAX),
    timestampNs: reader.u64('timestamp_ns'),
    data: { json: reader.value('data') ?? null },
  }));
}

function readDepthPart(value: JsonValue): DepthPart {
  return readObject(value, 'depth', (reader) => ({
    depth: readDepth(value),
    more: reader.has('more') && reader.boolean('more'),
    checksum: reader.has('checksum') ? reader.integer('checksum', 0, 2 ** 32 - 1) : null,
  }));
}

/** Whether FlatBuffers have this channel; the others are text always. */
function isInBinary(channel: FeedChannel): boolean {
  return channel === 'bbo' || channel === 'trades' || channel === 'ticker';
}

/** An exception of a listener is uncaught, as one of an event emitter, but the socket that reads is not interrupted. */
function notifyListener(notify: () => void): void {
  try {
    notify();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: RingbookError) => void;
}

function deferred(): Deferred {
  let resolve: Deferred['resolve'] = () => undefined;
  let reject: Deferred['reject'] = () => undefined;
  const promise = new Promise<void>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

function errorOfItem({ channel, assetId, code, message }: FeedItemError): RingbookError {
  return new RingbookError({ code, message, details: { channel, asset_id: assetId } });
}

const NOT_OBJECT = { code: 'INVALID_REQUEST', message: 'expected an object' } as const;

const READERS: { readonly [Channel in FeedChannel]: (data: JsonObject) => FeedData[Channel] } = {
  bbo: (data) =>
    readObject(data, 'bbo', (reader) => ({
      bid: readBestLevel(reader.value('bid') ?? null),
      ask: readBestLevel(reader.value('ask') ?? null),
      sequenceNumber: reader.integer('sequence_number', 0, SAFE_MAX),
    })),
  trades: (data) => readArray(data.get('trades') ?? null, 'trades', readPublicTrade),
  klines: (data) => readArray(data.get('items') ?? null, 'klines', readKline),
  ticker: readTicker,
  prices: (data) =>
    readObject(data, 'prices', (reader) => ({
      markPrice: stringOrNull(reader, 'mark_price'),
      markSource: sourceOf(stringOrNull(reader, 'mark_source')),
      markTimestampNs: reader.has('mark_timestamp_ns') ? reader.u64('mark_timestamp_ns') : null,
      oraclePrice: stringOrNull(reader, 'oracle_price'),
      oracleTimestampNs: reader.has('oracle_timestamp_ns') ? reader.u64('oracle_timestamp_ns') : null,
    })),
};

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
  const width = interval === undefined ? null : parseInterval(interval);
  if (channel === 'klines' && width === null) throw invalidArgument('klines need an interval', 'interval');
  if (width?.ok === false) throw invalidArgument(width.reject.message, 'interval');
  return `${channel} ${width?.ok === true ? width.value : 0} ${assetId}`;
}
