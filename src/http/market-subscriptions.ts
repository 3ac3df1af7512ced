/**
 * The multiplexed market-data socket `/ws`: subscriptions of many sockets, and their publication (wire-additions.md 10).
 *
 *   MarketData ── depth, trades, rows, tickers ─▶ topics ── one frame each ─▶ SubscribedSocket ─▶ one write a flush
 *   client ── subscribe ─▶ charged ─▶ topic, and a snapshot when the queue of the socket is short
 *
 * Snapshots are made in turn, SNAPSHOT_BYTES_PER_PASS in one pass of the event loop, and between two publications: so each
 * is the state after the updates that were sent before it.
 *
 * What one socket sends and misses is in subscribed-socket.ts, what frames carry in subscription-data.ts, the reading of
 * frames of clients in subscription-reader.ts.
 */
import { PackedFrames } from '../codec/packed-frames.ts';
import {
  type ItemError,
  type NumberedFrame,
  type SequencedFrame,
  subscriptionsFrame,
} from '../codec/subscription-frames.ts';
import type { SubscribedChannel, SubscriptionItem, SubscriptionOptions } from '../codec/subscription-requests.ts';
import { must } from '../core/assert.ts';
import { type AssetId, parseAssetId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { DepthLevels, KlineFigures, QuotedTicker, TradeFigures } from '../core/market-figures.ts';
import { accepted } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Clock } from '../core/units.ts';
import { PUBLIC_READ_UNITS } from '../gateway/sessions/address-limits.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import type { MarketData } from '../market-data/market-data.ts';
import type { AddressGate } from './address-gate.ts';
import { chargeRead, timesOfBytes } from './mds-reads.ts';
import { choosesBinaryData } from './oms-session.ts';
import type { ReadingTurns } from './reading-turns.ts';
import { DROPPED_BYTES, SubscribedSocket, Subscription } from './subscribed-socket.ts';
import { type BothForms, ChannelData, itemsData } from './subscription-data.ts';
import { type ClientSocket, SUBSCRIPTION_FRAMES, SubscriptionReader } from './subscription-reader.ts';
import type { EdgeObserver } from './uws-http.ts';
import { type LagRule, MDS_LAG, type StreamRoute } from './uws-socket.ts';

/** How the socket ends for a reader that is too slow even so. */
export const SUBSCRIPTIONS_LAG: LagRule = { ...MDS_LAG, code: 1013, reason: 'resync_required' };
const SUBSCRIPTIONS_MAX = 500;
/** New ones of one frame. */
const SUBSCRIBED_AT_ONCE_MAX = 200;
const TRADES_PER_FRAME = 1_000;
/** Bytes of snapshots that are made in one pass of the event loop, and real milliseconds for them. */
const SNAPSHOT_BYTES_PER_PASS = 1_048_576;
const SNAPSHOT_MS_PER_PASS = 2;
/** From one reading of the prices to the next. */
const PRICES_SPACING_MS = 100;

/** What the listener gives that serves the sockets. */
interface SubscriptionParts {
  readonly marketData: MarketData;
  /** The node clock. */
  readonly clock: Clock;
  /** Charged for each subscription (LIM-14). */
  readonly budget: SharedBudget;
  readonly gate: AddressGate | null;
  readonly turns: ReadingTurns;
  readonly observer: EdgeObserver;
}

interface AttachedParts extends SubscriptionParts {
  readonly data: ChannelData;
  readonly reader: SubscriptionReader;
}

/** The subscriptions of one channel of one asset. */
interface Topic {
  readonly assetId: AssetId;
  readonly subscriptions: Set<Subscription>;
  /** For `bbo` and `prices`: the frame that was published last. */
  last: string;
}

/** @param asset an asset, or what a client wrote for one. */
function topicKey(name: SubscribedChannel, width: number, asset: string): string {
  return `${name} ${width} ${asset}`;
}

export class MarketSubscriptions {
  #parts: AttachedParts | null = null;
  readonly #topics = new Map<string, Topic>();
  /** Topics of prices, which have no event of their own. */
  readonly #prices = new Set<Topic>();
  /** Widths of klines with a topic, by market index. */
  readonly #widths = new Map<number, Set<number>>();
  /** Trades since the last flush, by market index. */
  readonly #trades = new Map<number, TradeFigures[]>();
  readonly #touched: SubscribedSocket[] = [];
  readonly #packed = new PackedFrames();
  /** Sockets with a snapshot due and a queue that is short enough for it. */
  readonly #waiting = new Set<SubscribedSocket>();
  #pricesAtMs = Number.NEGATIVE_INFINITY;
  #isPlanned = false;

  /** @param parts of the listener that serves the sockets; before the first one. */
  attach(parts: SubscriptionParts): void {
    const reader = new SubscriptionReader({
      ...parts,
      serve: (socket, { type, items }, id) => {
        if (type === 'subscribe') this.#subscribe(socket, id, items);
        else this.#unsubscribe(socket, id, items);
      },
    });
    this.#parts = { ...parts, reader, data: new ChannelData(parts.marketData, parts.clock) };
  }

  /** The route of the sockets. */
  get route(): StreamRoute<SubscribedSocket> {
    const welcome = Buffer.from(subscriptionsFrame([], []));
    return {
      pattern: '/ws',
      lag: SUBSCRIPTIONS_LAG,
      frames: SUBSCRIPTION_FRAMES,
      isMixed: true,
      admit: (head) => accepted(new SubscribedSocket(this.#packed, choosesBinaryData(head))),
      opened: (socket) => {
        socket.data.opened(socket);
        socket.send(welcome);
      },
      closed: (socket) => this.#closed(socket.data),
      drained: (socket) => this.#drained(socket.data),
      message: (socket, bytes, isBinary) => this.#of.reader.receive(socket, bytes, isBinary),
    };
  }

  // ---- publication

  /** Called after the diff is part of the published book. */
  depthDiff(market: MarketDefinition, diff: DepthLevels): void {
    this.#publishDepth(market, diff);
    this.#publishBest(market);
  }

  trade(market: MarketDefinition, trade: TradeFigures): void {
    if (this.#topic('trades', market.assetId) === undefined) return;
    const trades = this.#trades.get(market.marketIndex);
    if (trades === undefined) this.#trades.set(market.marketIndex, [trade]);
    else trades.push(trade);
  }

  klines(market: MarketDefinition, ofWidth: (width: number) => readonly KlineFigures[]): void {
    for (const width of this.#widths.get(market.marketIndex) ?? []) {
      const topic = this.#topics.get(topicKey('klines', width, market.assetId));
      if (topic === undefined) continue;
      const frame = this.#update('klines', topic, width, itemsData(market, ofWidth(width), width));
      for (const subscription of topic.subscriptions) this.#add(subscription, frame);
    }
  }

  ticker(market: MarketDefinition, ticker: QuotedTicker): void {
    const topic = this.#topic('ticker', market.assetId);
    if (topic !== undefined) this.#replace(topic, this.#of.data.ticker(market, ticker));
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
    for (const socket of this.#touched) {
      socket.isTouched = false;
      socket.flush();
    }
    this.#touched.length = 0;
  }

  #publishDepth(market: MarketDefinition, diff: DepthLevels): void {
    const topic = this.#topic('depth', market.assetId);
    if (topic === undefined) return;
    const update = this.#of.data.depthUpdate(market, diff);
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
    const best = this.#of.data.best(market);
    if (best.levels === topic.last) return;
    topic.last = best.levels;
    this.#replace(topic, best.forms('update'));
  }

  #publishTrades(): void {
    for (const [marketIndex, trades] of this.#trades) {
      const market = this.#of.marketData.definition(marketIndex);
      const topic = this.#topic('trades', market.assetId);
      if (topic === undefined) continue;
      for (let from = 0; from < trades.length; from += TRADES_PER_FRAME) {
        const forms = this.#of.data.trades(market, trades.slice(from, from + TRADES_PER_FRAME));
        for (const subscription of topic.subscriptions) {
          this.#add(subscription, forms.in(subscription.socket.isBinary));
        }
      }
    }
    this.#trades.clear();
  }

  #publishPrices(): void {
    const nowMs = performance.now();
    if (this.#prices.size === 0 || nowMs - this.#pricesAtMs < PRICES_SPACING_MS) return;
    this.#pricesAtMs = nowMs;
    for (const topic of this.#prices) {
      const data = this.#of.data.prices(topic.assetId);
      if (data === topic.last) continue;
      topic.last = data;
      const frame = this.#update('prices', topic, 0, data);
      this.#replace(topic, { in: () => frame });
    }
  }

  #add(subscription: Subscription, frame: NumberedFrame): void {
    if (subscription.isDue) return;
    subscription.socket.add(subscription, frame);
    this.#touch(subscription.socket);
  }

  #touch(socket: SubscribedSocket): void {
    if (socket.isTouched) return;
    socket.isTouched = true;
    this.#touched.push(socket);
  }

  #replace(topic: Topic, forms: Pick<BothForms, 'in'>): void {
    for (const subscription of topic.subscriptions) {
      if (subscription.isDue) continue;
      subscription.socket.replace(subscription, forms.in(subscription.socket.isBinary));
      this.#touch(subscription.socket);
    }
  }

  #update(name: SubscribedChannel, topic: Topic, width: number, data: string): SequencedFrame {
    return this.#of.data.frame('update', name, topic, width, data);
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
        const frames = this.#of.data.snapshotOf(subscription);
        if (frames === null) continue;
        for (const frame of frames) bytes += frame.byteLength;
        socket.sendSnapshot(subscription, frames);
      }
      // If its queue is long it is added again once that is drained; else it goes behind the others.
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

  // ---- clients

  #subscribe(socket: ClientSocket, id: string | null, items: readonly SubscriptionItem[]): void {
    const fresh = new Set<string>();
    for (const item of items) {
      for (const text of item.assetIds) {
        const key = topicKey(item.name, item.width, parseAssetId(text) ?? text);
        if (!socket.data.subscriptions.has(key)) fresh.add(key);
      }
    }
    if (fresh.size > SUBSCRIBED_AT_ONCE_MAX) {
      const message = `a frame subscribes to at most ${SUBSCRIBED_AT_ONCE_MAX} more`;
      this.#of.reader.refuse(socket, id, reject('INVALID_REQUEST', message, 'channels'));
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
    this.#answer(socket, id, errors);
    if (socket.data.due.size > 0) this.#waiting.add(socket.data);
    this.#planPass();
  }

  #subscribeOne(
    socket: ClientSocket,
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
    const refusal = this.#charge(socket, options, market);
    if (refusal !== null) return { code: 'RATE_LIMITED', message: refusal.message };
    if (known !== undefined) this.#end(key, known);
    const marketIndex = market?.marketIndex ?? null;
    const subscription = new Subscription(socket.data, options, { assetId, marketIndex });
    subscriptions.set(key, subscription);
    this.#join(key, subscription);
    socket.data.due.add(subscription);
    return null;
  }

  /** Charges the address, a large book by its length, and then the listener's budget. @returns null after both charges. */
  #charge(socket: ClientSocket, { name, numbers }: SubscriptionOptions, market?: MarketDefinition): Reject | null {
    const { data, reader, budget, clock } = this.#of;
    const bytes = name === 'depth' && market !== undefined ? data.bookBytes(market.marketIndex, numbers) : 0;
    return reader.pay(socket, PUBLIC_READ_UNITS * timesOfBytes(bytes)) ?? chargeRead(budget, clock.nowNs(), 1n);
  }

  #unsubscribe(socket: ClientSocket, id: string | null, items: readonly SubscriptionItem[]): void {
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

  #answer(socket: ClientSocket, id: string | null, errors: readonly ItemError[]): void {
    this.#of.reader.answer(socket, subscriptionsFrame(socket.data.subscriptions.values(), errors, id));
  }

  #drained(socket: SubscribedSocket): void {
    if (socket.due.size > 0 && socket.hasRoom) this.#waiting.add(socket);
    socket.flush();
    this.#planPass();
  }

  #closed(socket: SubscribedSocket): void {
    this.#of.reader.drop(socket);
    for (const [key, subscription] of socket.subscriptions) this.#leave(key, subscription);
    socket.subscriptions.clear();
    socket.due.clear();
    this.#waiting.delete(socket);
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
    const { marketData, data } = this.#of;
    if (options.name === 'prices') {
      topic.last = data.prices(topic.assetId);
      this.#prices.add(topic);
    }
    if (marketIndex === null) return;
    if (options.name === 'bbo') topic.last = data.best(marketData.definition(marketIndex)).levels;
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

  get #of(): AttachedParts {
    return must(this.#parts, 'a listener serves the sockets');
  }
}
