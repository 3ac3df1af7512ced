/**
 * The multiplexed market-data socket `/ws`: subscriptions of many sockets, and their publication (wire-additions.md 10).
 *
 *   MarketData ── depth, trades, rows, tickers ─▶ topics ── one SequencedFrame each ─▶ SubscribedSocket ─▶ one write a flush
 *   client ── subscribe ─▶ charged ─▶ topic, and a snapshot when the socket has room
 *
 * Snapshots are made in turn, SNAPSHOT_BYTES_PER_PASS in one pass of the event loop, and between two publications: so each
 * is the state after the updates that were sent before it. A snapshot of a book is formatted once for its number.
 *
 * What one socket sends and misses is in subscribed-socket.ts, the frames in src/codec.
 */
import { klinesFrameJson, publicTradeJson, tickerJson } from '../codec/market-data-json.ts';
import {
  bestData,
  bookChecksum,
  CHECKSUM_LEVELS,
  type DepthNumbers,
  depthSnapshotData,
  depthUpdateData,
  type ItemError,
  pingAnswer,
  pricesData,
  requestErrorFrame,
  SequencedFrame,
  subscriptionsFrame,
} from '../codec/subscription-frames.ts';
import {
  BINARY_FRAME,
  type ClientFrame,
  readClientFrame,
  type SubscribedChannel,
  type SubscriptionItem,
  type SubscriptionOptions,
} from '../codec/subscription-requests.ts';
import { must } from '../core/assert.ts';
import { type AssetId, parseAssetId } from '../core/ids.ts';
import { READ_BYTES_PER_PRICE } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { BookLevel, DepthLevels, Kline, PublicTrade, QuotedTicker } from '../core/market-figures.ts';
import { accepted } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Clock, RawPrice, RawQuantity } from '../core/units.ts';
import { PUBLIC_READ_UNITS, unitsOfBytes } from '../gateway/sessions/address-limits.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import type { MarketData } from '../market-data/market-data.ts';
import type { AddressGate } from './address-gate.ts';
import type { FrameRule } from './frame-allowance.ts';
import { laneOf, type ReadingTurns } from './reading-turns.ts';
import { DROPPED_BYTES, SubscribedSocket, Subscription } from './subscribed-socket.ts';
import type { LagRule, StreamRoute, StreamSocket } from './uws-socket.ts';

/** How the socket ends for a reader that is too slow even so. */
export const SUBSCRIPTIONS_LAG: LagRule = {
  code: 1013,
  reason: 'resync_required',
  hardDropMs: 1_000,
  messagesMax: 4_096,
};
const SUBSCRIPTIONS_MAX = 500;
/** New ones of one frame. */
const SUBSCRIBED_AT_ONCE_MAX = 200;
/** Frames of a client. */
export const SUBSCRIPTION_FRAMES: FrameRule = { bytesMax: 65_536, perSecond: 10, burst: 50 };
/** Frames that wait to be read: of one socket, of all, and of a socket that may add to them when all have so many. */
const READING_BYTES_MAX = 131_072;
const READING_BYTES_ALL_MAX = 16_777_216;
const READING_BYTES_SMALL = 8_192;
/** Assets of a frame for which its address pays a unit, before they are looked up. */
const ASSETS_PER_UNIT = 20;
const SNAPSHOT_ROWS = 100;
const TRADES_PER_FRAME = 1_000;
/** Bytes of snapshots that are made in one pass of the event loop, and real milliseconds for them. */
const SNAPSHOT_BYTES_PER_PASS = 1_048_576;
const SNAPSHOT_MS_PER_PASS = 2;
const RATE_LIMITED: Reject = reject('RATE_LIMITED', 'the budget of requests is used up; it refills all the time');
/** Between two looks at the prices. */
const PRICES_SPACING_MS = 100;

export interface SubscriptionParts {
  readonly marketData: MarketData;
  /** The node clock. */
  readonly clock: Clock;
  /** Charged for each subscription (LIM-14). */
  readonly budget: SharedBudget;
  readonly gate: AddressGate | null;
  /** Of the listener: frames are read within what a pass of the event loop may take. */
  readonly turns: ReadingTurns;
}

/** The subscriptions of one channel of one asset. */
interface Topic {
  readonly assetId: AssetId;
  readonly subscriptions: Set<Subscription>;
  /** Of `bbo` and `prices`: what was published last. */
  last: string;
}

/** A formatted snapshot of a book. */
interface PrintedBook {
  readonly sequenceNumber: number;
  readonly parts: readonly string[];
  readonly bytes: number;
}

function topicKey(name: SubscribedChannel, width: number, assetId: AssetId): string {
  return `${name} ${width} ${assetId}`;
}

export class MarketSubscriptions {
  #parts: SubscriptionParts | null = null;
  readonly #topics = new Map<string, Topic>();
  /** Topics of prices, which have no event of their own. */
  readonly #prices = new Set<Topic>();
  /** Widths of klines with a topic, by market index. */
  readonly #widths = new Map<number, Set<number>>();
  /** Trades since the last flush, by market index. */
  readonly #trades = new Map<number, PublicTrade[]>();
  readonly #touched = new Set<SubscribedSocket>();
  /** Sockets with a snapshot due and room for it. */
  readonly #waiting = new Set<SubscribedSocket>();
  readonly #books = new Map<string, PrintedBook>();
  #pricesAtMs = Number.NEGATIVE_INFINITY;
  /** Bytes of the frames that wait to be read. */
  #readingBytes = 0;
  #isPlanned = false;

  /** @param parts of the listener that serves the sockets; before the first one. */
  attach(parts: SubscriptionParts): void {
    this.#parts = parts;
  }

  /** The route of the sockets. */
  get route(): StreamRoute<SubscribedSocket> {
    const welcome = Buffer.from(subscriptionsFrame([], []));
    return {
      pattern: '/ws',
      lag: SUBSCRIPTIONS_LAG,
      frames: SUBSCRIPTION_FRAMES,
      admit: () => accepted(new SubscribedSocket()),
      opened: (socket) => {
        socket.data.opened(socket);
        socket.send(welcome);
      },
      closed: (socket) => this.#closed(socket.data),
      drained: (socket) => this.#drained(socket.data),
      message: (socket, bytes, isBinary) => this.#receive(socket, bytes, isBinary),
    };
  }

  // ---- publication

  /** Called after the diff is part of the published book. */
  depthDiff(market: MarketDefinition, diff: DepthLevels): void {
    this.#publishDepth(market, diff);
    this.#publishBest(market);
  }

  trade(market: MarketDefinition, trade: PublicTrade): void {
    if (this.#topic('trades', market.assetId) === undefined) return;
    const trades = this.#trades.get(market.marketIndex);
    if (trades === undefined) this.#trades.set(market.marketIndex, [trade]);
    else trades.push(trade);
  }

  klines(market: MarketDefinition, ofWidth: (width: number) => readonly Kline[]): void {
    for (const width of this.#widths.get(market.marketIndex) ?? []) {
      const topic = this.#topics.get(topicKey('klines', width, market.assetId));
      if (topic === undefined) continue;
      const frame = this.#frame('update', 'klines', topic, width, itemsData(market, ofWidth(width), width));
      for (const subscription of topic.subscriptions) this.#add(subscription, frame);
    }
  }

  ticker(market: MarketDefinition, ticker: QuotedTicker): void {
    const topic = this.#topic('ticker', market.assetId);
    if (topic !== undefined) this.#replace('ticker', topic, tickerJson(market, ticker));
  }

  /** Sends what was published since the last flush, each socket's in one write, and then the snapshots that are due. */
  flush(): void {
    this.#send();
    this.#serve();
  }

  #send(): void {
    if (this.#topics.size === 0) return;
    this.#publishTrades();
    this.#publishPrices();
    for (const socket of this.#touched) socket.flush();
    this.#touched.clear();
  }

  #publishDepth(market: MarketDefinition, diff: DepthLevels): void {
    const topic = this.#topic('depth', market.assetId);
    if (topic === undefined) return;
    const top = must(this.#of.marketData.depthTop(market.marketIndex, CHECKSUM_LEVELS), 'a book with a diff');
    const update = new DepthUpdate(market, diff, top, (data) => this.#frame('update', 'depth', market, 0, data));
    for (const subscription of topic.subscriptions) {
      if (subscription.isDue) continue;
      const { socket, depthSequence } = subscription;
      const isNext = diff.sequenceNumber === depthSequence + 1 && update.isWhole;
      if (!isNext || socket.backlogBytes > DROPPED_BYTES) {
        // A later diff, or one that another follows at once, has no checksum of its own: the book is sent anew.
        socket.wantSnapshot(subscription);
        this.#waiting.add(socket);
        continue;
      }
      subscription.depthSequence = diff.sequenceNumber;
      subscription.updates += 1;
      this.#add(subscription, update.frameFor(subscription));
    }
  }

  #publishBest(market: MarketDefinition): void {
    const topic = this.#topic('bbo', market.assetId);
    if (topic === undefined) return;
    const best = this.#best(market);
    if (best.levels === topic.last) return;
    topic.last = best.levels;
    this.#replace('bbo', topic, best.data);
  }

  /** Data of the best levels, and the part of it that causes an update. */
  #best(market: MarketDefinition): { readonly data: string; readonly levels: string } {
    const top = this.#of.marketData.depthTop(market.marketIndex, 1);
    const [bidPrice, bidQuantity] = top?.bids ?? [];
    const [askPrice, askQuantity] = top?.asks ?? [];
    const bid = levelOf(bidPrice, bidQuantity);
    const ask = levelOf(askPrice, askQuantity);
    const data = bestData(market, { bid, ask, sequenceNumber: top?.sequenceNumber ?? 0 });
    return { data, levels: `${bidPrice} ${bidQuantity} ${askPrice} ${askQuantity}` };
  }

  #publishTrades(): void {
    for (const [marketIndex, trades] of this.#trades) {
      const market = this.#of.marketData.definition(marketIndex);
      const topic = this.#topic('trades', market.assetId);
      if (topic === undefined) continue;
      for (let from = 0; from < trades.length; from += TRADES_PER_FRAME) {
        const data = tradesData(market, trades.slice(from, from + TRADES_PER_FRAME));
        const frame = this.#frame('update', 'trades', topic, 0, data);
        for (const subscription of topic.subscriptions) this.#add(subscription, frame);
      }
    }
    this.#trades.clear();
  }

  #publishPrices(): void {
    const nowMs = performance.now();
    if (this.#prices.size === 0 || nowMs - this.#pricesAtMs < PRICES_SPACING_MS) return;
    this.#pricesAtMs = nowMs;
    const { marketData, clock } = this.#of;
    for (const topic of this.#prices) {
      const data = pricesData(marketData.prices(topic.assetId, clock.nowNs()));
      if (data === topic.last) continue;
      topic.last = data;
      this.#replace('prices', topic, data);
    }
  }

  #add(subscription: Subscription, frame: SequencedFrame): void {
    if (subscription.isDue) return;
    subscription.socket.add(subscription, frame);
    this.#touched.add(subscription.socket);
  }

  #replace(name: 'bbo' | 'ticker' | 'prices', topic: Topic, data: string): void {
    const frame = this.#frame('update', name, topic, 0, data);
    for (const subscription of topic.subscriptions) {
      if (subscription.isDue) continue;
      subscription.socket.replace(subscription, frame);
      this.#touched.add(subscription.socket);
    }
  }

  #frame(
    type: 'snapshot' | 'update',
    channel: SubscribedChannel,
    { assetId }: Pick<Topic, 'assetId'>,
    width: number,
    data: string,
  ): SequencedFrame {
    return new SequencedFrame({ type, channel, assetId, width, timestampNs: this.#of.clock.nowNs() }, data);
  }

  // ---- snapshots

  /** Called once in a pass of the event loop, and after a publication: never for each frame of a client. */
  #serve(): void {
    let bytes = 0;
    const untilMs = performance.now() + SNAPSHOT_MS_PER_PASS;
    const isSpent = (): boolean => bytes >= SNAPSHOT_BYTES_PER_PASS || performance.now() > untilMs;
    for (const socket of [...this.#waiting]) {
      for (const subscription of [...socket.due]) {
        if (!socket.hasRoom || isSpent()) break;
        const frames = this.#snapshotOf(subscription);
        if (frames === null) continue;
        for (const frame of frames) bytes += frame.byteLength;
        socket.sendSnapshot(subscription, frames);
      }
      // Without room it comes back when its queue is shorter; else behind the others.
      this.#waiting.delete(socket);
      if (socket.due.size > 0 && socket.hasRoom) this.#waiting.add(socket);
      if (isSpent()) break;
    }
    if (isSpent()) this.#planPass();
  }

  #planPass(): void {
    if (this.#isPlanned || this.#waiting.size === 0) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.flush();
    });
  }

  /** @returns null while the book is not loaded. */
  #snapshotOf(subscription: Subscription): readonly SequencedFrame[] | null {
    const { assetId, marketIndex, options } = subscription;
    const { marketData, clock } = this.#of;
    const { name, width } = options;
    const of = (data: string): SequencedFrame[] => [this.#frame('snapshot', name, { assetId }, width, data)];
    if (name === 'prices') return of(pricesData(marketData.prices(assetId, clock.nowNs())));
    const market = marketData.definition(must(marketIndex, 'the market of a subscription'));
    switch (name) {
      case 'depth':
        return this.#depthSnapshot(subscription, market);
      case 'bbo':
        return marketData.depthTop(market.marketIndex, 1) === null ? null : of(this.#best(market).data);
      case 'trades':
        return of(tradesData(market, marketData.trades(market.marketIndex, 0, SNAPSHOT_ROWS).reverse()));
      case 'klines':
        return of(
          itemsData(market, marketData.newestKlines(market.marketIndex, width, SNAPSHOT_ROWS, clock.nowNs()), width),
        );
      case 'ticker':
        return of(tickerJson(market, marketData.ticker(market.marketIndex, clock.nowNs())));
    }
  }

  #depthSnapshot(subscription: Subscription, market: MarketDefinition): readonly SequencedFrame[] | null {
    const book = this.#printed(market, subscription.options.numbers);
    if (book === null) return null;
    subscription.depthSequence = book.sequenceNumber;
    return book.parts.map((data) => this.#frame('snapshot', 'depth', market, 0, data));
  }

  #printed(market: MarketDefinition, numbers: DepthNumbers): PrintedBook | null {
    const key = `${market.marketIndex} ${numbers}`;
    const printed = this.#books.get(key);
    const { marketData } = this.#of;
    if (printed?.sequenceNumber === marketData.depthSequence(market.marketIndex)) return printed;
    const book = marketData.depthSnapshot(market.marketIndex);
    if (book === null) return null;
    const parts = depthSnapshotData(market, book, numbers);
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    const fresh = { sequenceNumber: book.sequenceNumber, parts, bytes };
    this.#books.set(key, fresh);
    return fresh;
  }

  // ---- clients

  #receive(socket: StreamSocket<SubscribedSocket>, bytes: Uint8Array, isBinary: boolean): void {
    const { turns } = this.#of;
    const { reading } = socket.data;
    const lane = laneOf(bytes.byteLength);
    if (reading.head() === undefined && turns.hasRoom(bytes.byteLength, lane)) {
      turns.note(bytes.byteLength);
      turns.timed(() => this.#read(socket, bytes, isBinary));
      return;
    }
    if (!this.#mayWait(socket.data, bytes.byteLength)) {
      socket.finish(1008, 'too_many_frames');
      return;
    }
    // The bytes are valid in this call alone.
    const copy = Uint8Array.prototype.slice.call(bytes);
    this.#countReading(socket.data, copy.byteLength);
    const read = (): void => {
      this.#countReading(socket.data, -copy.byteLength);
      this.#read(socket, copy, isBinary);
    };
    turns.wait(lane, copy.byteLength, { read, source: reading });
  }

  #mayWait({ readingBytes }: SubscribedSocket, more: number): boolean {
    if (readingBytes + more > READING_BYTES_MAX) return false;
    return this.#readingBytes + more <= READING_BYTES_ALL_MAX || readingBytes + more <= READING_BYTES_SMALL;
  }

  #countReading(socket: SubscribedSocket, bytes: number): void {
    socket.readingBytes += bytes;
    this.#readingBytes += bytes;
  }

  #read(socket: StreamSocket<SubscribedSocket>, bytes: Uint8Array, isBinary: boolean): void {
    if (!this.#pays(socket, unitsOfBytes(bytes.byteLength))) {
      this.#refuse(socket, { id: null }, RATE_LIMITED);
      return;
    }
    const frame = isBinary ? BINARY_FRAME : readClientFrame(bytes);
    const { id, request } = frame;
    const assets = request.ok && request.value.type !== 'ping' ? countAssets(request.value.items) : 0;
    // mutant: free-frames
    if (!this.#pays(socket, BigInt(Math.floor(assets / ASSETS_PER_UNIT)))) this.#refuse(socket, frame, RATE_LIMITED);
    else if (!request.ok) this.#refuse(socket, frame, request.reject);
    else if (request.value.type === 'ping') socket.send(Buffer.from(pingAnswer(id)));
    else if (request.value.type === 'subscribe') this.#subscribe(socket, frame, request.value.items);
    else this.#unsubscribe(socket, id, request.value.items);
  }

  /** Charges the address as for a public read. @returns whether it had the units. */
  #pays({ address }: StreamSocket<SubscribedSocket>, units: bigint): boolean {
    const { gate } = this.#of;
    return gate === null || units === 0n || gate.pay(address, units) === null;
  }

  #refuse(socket: StreamSocket<SubscribedSocket>, { id }: Pick<ClientFrame, 'id'>, fault: Reject): void {
    this.#of.gate?.charge(socket.address, fault.code);
    socket.send(Buffer.from(requestErrorFrame(id, fault)));
  }

  #subscribe(socket: StreamSocket<SubscribedSocket>, frame: ClientFrame, items: readonly SubscriptionItem[]): void {
    const fresh = new Set<string>();
    for (const item of items) {
      for (const text of item.assetIds) {
        const key = `${item.name} ${item.width} ${parseAssetId(text) ?? text}`;
        if (!socket.data.subscriptions.has(key)) fresh.add(key);
      }
    }
    if (fresh.size > SUBSCRIBED_AT_ONCE_MAX) {
      const message = `a frame subscribes to at most ${SUBSCRIBED_AT_ONCE_MAX} more`;
      this.#refuse(socket, frame, reject('INVALID_REQUEST', message, 'channels'));
      return;
    }
    // What was published so far is sent before the subscription begins.
    this.#send();
    const errors: ItemError[] = [];
    for (const item of items) {
      for (const assetId of item.assetIds) {
        const fault = this.#subscribeOne(socket, item, assetId);
        if (fault !== null) errors.push({ name: item.name, assetId, ...fault });
      }
    }
    this.#answer(socket, frame.id, errors);
    if (socket.data.due.size > 0) this.#waiting.add(socket.data);
    this.#planPass();
  }

  #subscribeOne(
    socket: StreamSocket<SubscribedSocket>,
    { assetIds: _, ...options }: SubscriptionItem,
    text: string,
  ): Pick<ItemError, 'code' | 'message'> | null {
    const assetId = parseAssetId(text);
    const { marketData } = this.#of;
    const market = assetId === null ? undefined : marketData.find(assetId);
    const isKnown =
      market !== undefined || (options.name === 'prices' && assetId !== null && marketData.isPriced(assetId));
    if (assetId === null || !isKnown) return { code: 'MARKET_NOT_FOUND', message: `no market ${text}` };
    const { subscriptions } = socket.data;
    const key = topicKey(options.name, options.width, assetId);
    const known = subscriptions.get(key);
    if (known === undefined && subscriptions.size >= SUBSCRIPTIONS_MAX) {
      return { code: 'TOO_MANY_SUBSCRIPTIONS', message: `a socket has at most ${SUBSCRIPTIONS_MAX} subscriptions` };
    }
    if (!this.#charge(socket, options, market)) {
      return { code: 'RATE_LIMITED', message: RATE_LIMITED.message };
    }
    if (known !== undefined) this.#end(key, known);
    const marketIndex = market?.marketIndex ?? null;
    const subscription = new Subscription(socket.data, options, { assetId, marketIndex });
    subscriptions.set(key, subscription);
    this.#join(key, subscription);
    socket.data.due.add(subscription);
    return null;
  }

  /** Charges the address, a large book by its length, and then the listener's budget. @returns whether both had it. */
  #charge(
    socket: StreamSocket<SubscribedSocket>,
    { name, numbers }: SubscriptionOptions,
    market?: MarketDefinition,
  ): boolean {
    const { gate, budget, clock } = this.#of;
    const bytes = name === 'depth' ? (this.#books.get(`${market?.marketIndex} ${numbers}`)?.bytes ?? 0) : 0;
    const units = PUBLIC_READ_UNITS * (1n + BigInt(Math.floor(bytes / READ_BYTES_PER_PRICE)));
    if (gate !== null && gate.pay(socket.address, units) !== null) return false;
    if (budget.takePublicRead(clock.nowNs()) === null) return true;
    budget.countRefusal('global');
    return false;
  }

  #unsubscribe(socket: StreamSocket<SubscribedSocket>, id: string | null, items: readonly SubscriptionItem[]): void {
    const errors: ItemError[] = [];
    const { subscriptions } = socket.data;
    for (const { name, width, assetIds } of items) {
      for (const assetId of assetIds) {
        const asset = parseAssetId(assetId);
        const key = asset === null ? '' : topicKey(name, width, asset);
        const known = subscriptions.get(key);
        if (known !== undefined) this.#end(key, known);
        else errors.push({ name, assetId, code: 'NOT_SUBSCRIBED', message: `no subscription of ${name} ${assetId}` });
      }
    }
    this.#answer(socket, id, errors);
  }

  #answer(socket: StreamSocket<SubscribedSocket>, id: string | null, errors: readonly ItemError[]): void {
    socket.send(Buffer.from(subscriptionsFrame(socket.data.subscriptions.values(), errors, id)));
  }

  #drained(socket: SubscribedSocket): void {
    if (socket.due.size > 0 && socket.hasRoom) this.#waiting.add(socket);
    socket.flush();
    this.#planPass();
  }

  #closed(socket: SubscribedSocket): void {
    this.#of.turns.drop(socket.reading);
    this.#countReading(socket, -socket.readingBytes);
    for (const [key, subscription] of socket.subscriptions) this.#leave(key, subscription);
    socket.subscriptions.clear();
    socket.due.clear();
    this.#waiting.delete(socket);
    this.#touched.delete(socket);
  }

  // ---- topics

  #join(key: string, subscription: Subscription): void {
    let topic = this.#topics.get(key);
    if (topic === undefined) {
      topic = { assetId: subscription.assetId, subscriptions: new Set(), last: '' };
      this.#topics.set(key, topic);
      this.#begin(topic, subscription);
    }
    topic.subscriptions.add(subscription);
  }

  /** What a new topic starts from: an update is sent when it is different. */
  #begin(topic: Topic, { options, marketIndex }: Subscription): void {
    const { marketData, clock } = this.#of;
    if (options.name === 'prices') {
      topic.last = pricesData(marketData.prices(topic.assetId, clock.nowNs()));
      this.#prices.add(topic);
    }
    if (marketIndex === null) return;
    if (options.name === 'bbo') topic.last = this.#best(marketData.definition(marketIndex)).levels;
    if (options.name !== 'klines') return;
    const widths = this.#widths.get(marketIndex);
    if (widths === undefined) this.#widths.set(marketIndex, new Set([options.width]));
    else widths.add(options.width);
  }

  #end(key: string, subscription: Subscription): void {
    subscription.socket.subscriptions.delete(key);
    subscription.socket.due.delete(subscription);
    subscription.socket.forget(subscription);
    this.#leave(key, subscription);
  }

  #leave(key: string, subscription: Subscription): void {
    const topic = this.#topics.get(key);
    if (topic === undefined) return;
    topic.subscriptions.delete(subscription);
    if (topic.subscriptions.size > 0) return;
    this.#topics.delete(key);
    this.#prices.delete(topic);
    const { options, marketIndex } = subscription;
    if (options.name === 'klines' && marketIndex !== null) this.#widths.get(marketIndex)?.delete(options.width);
  }

  #topic(name: SubscribedChannel, assetId: AssetId): Topic | undefined {
    return this.#topics.size === 0 ? undefined : this.#topics.get(topicKey(name, 0, assetId));
  }

  get #of(): SubscriptionParts {
    return must(this.#parts, 'a listener serves the sockets');
  }
}

/** One diff for all its readers: at most four frames, made when the first of each kind needs it. */
class DepthUpdate {
  readonly #market: MarketDefinition;
  readonly #diff: DepthLevels;
  readonly #top: DepthLevels;
  readonly #frameOf: (data: string) => SequencedFrame;
  readonly #frames = new Map<string, SequencedFrame>();

  /** @param top the best levels of the published book. */
  constructor(
    market: MarketDefinition,
    diff: DepthLevels,
    top: DepthLevels,
    frameOf: (data: string) => SequencedFrame,
  ) {
    this.#market = market;
    this.#diff = diff;
    this.#top = top;
    this.#frameOf = frameOf;
  }

  /** Whether the published book is that after this diff: not where several diffs are published at once. */
  get isWhole(): boolean {
    return this.#top.sequenceNumber === this.#diff.sequenceNumber;
  }

  frameFor({ options, updates }: Subscription): SequencedFrame {
    const { numbers, checksumEvery } = options;
    // mutant: checksum-every
    const isDue = checksumEvery > 0 && updates % checksumEvery === 0;
    const key = `${numbers} ${isDue}`;
    const made = this.#frames.get(key);
    if (made !== undefined) return made;
    const checksum = isDue ? bookChecksum(this.#market, this.#top) : null;
    const frame = this.#frameOf(depthUpdateData(this.#market, this.#diff, numbers, checksum));
    this.#frames.set(key, frame);
    return frame;
  }
}

function countAssets(items: readonly SubscriptionItem[]): number {
  return items.reduce((sum, { assetIds }) => sum + assetIds.length, 0);
}

function levelOf(price: number | undefined, quantity: number | undefined): BookLevel | null {
  if (price === undefined || quantity === undefined) return null;
  return { price: price as RawPrice, quantity: quantity as RawQuantity };
}

function tradesData(market: MarketDefinition, trades: readonly PublicTrade[]): string {
  return `{"trades":[${trades.map((trade) => publicTradeJson(market, trade)).join(',')}]}`;
}

function itemsData(market: MarketDefinition, rows: readonly Kline[], width: number): string {
  return `{"items":${klinesFrameJson(market, rows, width)}}`;
}
