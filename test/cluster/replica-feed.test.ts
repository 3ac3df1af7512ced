// tier: quick
/**
 * Market data of a leader, its publisher and a replica's feed in one process, with servers that lose, repeat and delay: whatever was
 * lost, the replica has the leader's books and trades once nothing is lost any more, and the tape has no hole (cluster.md 4).
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { MarketDataPublisher } from '../../src/cluster/market-data-publisher.ts';
import { ReplicaFeed } from '../../src/cluster/replica-feed.ts';
import type { TapeLines } from '../../src/cluster/stream-log.ts';
import type { TradeFigures } from '../../src/core/market-figures.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Clock, Sequence, TimestampNs } from '../../src/core/units.ts';
import { type FeedSink, MarketDataFeed, type StoredTrade } from '../../src/market-data/market-data-feed.ts';
import { MarketDataTap } from '../../src/market-data/market-data-tap.ts';
import {
  RecordsBuffer,
  readTap,
  recordsIn,
  type TapeMessage,
  type TapRecord,
  type TapSink,
} from '../../src/market-data/tap-codec.ts';
import { TapeStore } from '../../src/market-data/tape-store.ts';
import {
  DepthCommitted,
  DepthReset,
  FillConfirmed,
  LevelChanged,
  MarketDataMessage,
  NodeEvent,
} from '../../src/schema/generated/messages.ts';
import { encodePlain } from '../../src/schema/plain-values.ts';
import { marketOf, SECOND, START_NS } from '../support/market-figures.ts';
import { propertyParameters, storyOf } from '../support/property.ts';

const MARKETS = 2;
/** Lanes of the leader's market data: one of each market, then clearing. */
const CLEARING = MARKETS;
const TAPE_BATCH = 3;

const nothing = (): void => undefined;
const SINK: FeedSink = {
  depthDiff: nothing,
  klines: nothing,
  trade: nothing,
  tradeEvent: nothing,
  ticker: nothing,
  tickers: nothing,
  resyncWanted: nothing,
  tradeEventsLost: nothing,
};
const clock: Clock = { nowNs: () => (START_NS + 3_600n * SECOND) as TimestampNs };

/** An edge whose receiver is called at each flush; it may lose everything for a while, as a full ring does. */
class Edge implements TapSink {
  readonly #records = new RecordsBuffer();
  readonly #received: (record: TapRecord) => void;
  isFull = false;
  isResyncWanted = false;
  #gap = false;

  constructor(received: (record: TapRecord) => void) {
    this.#received = received;
  }

  get views(): RecordsBuffer['views'] {
    return this.#records.views;
  }

  claim(typeId: number, payloadBytes: number): number {
    if (this.isFull) this.#gap = true;
    return this.#gap ? -1 : this.#records.claim(typeId, payloadBytes);
  }

  commit(): void {
    this.#records.commit();
  }

  flush(): void {
    const bytes = this.#records.bytes().slice();
    this.#records.clear();
    for (const record of recordsIn(bytes)) this.#received(record);
  }

  hasRoom(): boolean {
    return !this.isFull;
  }

  /** A receiver that begins anew leaves what is there. */
  skip(): void {
    this.#records.clear();
  }

  needsResync(): boolean {
    if (this.isResyncWanted) this.#gap = true;
    this.isResyncWanted = false;
    return this.#gap;
  }

  beginResync(): void {
    this.#gap = false;
  }
}

/** What the exchange is: by it a market-data thread begins anew. */
interface Truth {
  readonly books: Map<string, { readonly side: number; readonly price: number; readonly quantity: number }>[];
  readonly commits: number[];
  readonly trades: StoredTrade[];
}

/** Writes the records of markets and clearing. */
class Source {
  readonly #buffer = new RecordsBuffer();
  readonly #take: (channel: number, record: TapRecord) => void;

  constructor(take: (channel: number, record: TapRecord) => void) {
    this.#take = take;
  }

  #give(channel: number): void {
    const bytes = this.#buffer.bytes().slice();
    this.#buffer.clear();
    for (const record of recordsIn(bytes)) this.#take(channel, record);
  }

  event(event: object): void {
    const text = encodePlain(event);
    const at = this.#buffer.claim(NodeEvent.typeId, NodeEvent.bytes + text.length);
    NodeEvent.setTextBytes(this.#buffer.views, at, text.length);
    this.#buffer.views.u8.set(text, at + NodeEvent.bytes);
    this.#buffer.commit();
    this.#give(CLEARING);
  }

  level(marketIndex: number, side: number, price: number, quantity: number): void {
    const at = this.#buffer.claim(LevelChanged.typeId, LevelChanged.bytes);
    LevelChanged.write(this.#buffer.views, at, { marketIndex, side, price, quantity } as never);
    this.#buffer.commit();
    this.#give(marketIndex);
  }

  commit(marketIndex: number, commits: number): void {
    const at = this.#buffer.claim(DepthCommitted.typeId, DepthCommitted.bytes);
    DepthCommitted.write(this.#buffer.views, at, { marketIndex, commits, timeNs: START_NS as TimestampNs });
    this.#buffer.commit();
    this.#give(marketIndex);
  }

  reset(marketIndex: number): void {
    const at = this.#buffer.claim(DepthReset.typeId, DepthReset.bytes);
    DepthReset.write(this.#buffer.views, at, { marketIndex, sequence: 1 as Sequence });
    this.#buffer.commit();
    this.#give(marketIndex);
  }

  fill(trade: TradeFigures): void {
    const at = this.#buffer.claim(FillConfirmed.typeId, FillConfirmed.bytes);
    const zero = { makerOrder: 1, takerOrder: 2, makerFee: 0n, takerFee: 0n };
    const flags = { isLiquidation: false, isAutoDeleverage: false };
    FillConfirmed.write(this.#buffer.views, at, { ...trade, ...zero, ...flags } as never);
    this.#buffer.commit();
    this.#give(CLEARING);
  }
}

class World {
  readonly truth: Truth;
  readonly tape: TapeLines[] = [];
  readonly replicaEdge: Edge;
  readonly feed: ReplicaFeed;
  loss = 0;
  epoch = 1;
  isLeading = true;
  run = 1;
  nowMs = 1_000;
  replica: { readonly feed: MarketDataFeed; readonly store: TapeStore };
  readonly sleeping: (() => void)[] = [];
  #leader: { readonly feed: MarketDataFeed; readonly tap: MarketDataTap };
  #leaderEdge: Edge;
  #publisher: MarketDataPublisher;
  #source: Source;
  #draw: () => number;

  constructor(draw: () => number) {
    this.#draw = draw;
    this.truth = {
      books: Array.from({ length: MARKETS }, () => new Map()),
      commits: Array.from({ length: MARKETS }, () => 0),
      trades: [],
    };
    this.replica = this.#newReplica();
    this.replicaEdge = new Edge(({ typeId, v, at }) => {
      if (typeId === MarketDataMessage.typeId) this.replica.store.add(readTap<TapeMessage>(v, at).message.trades);
      else this.replica.feed.handle(typeId, v, at);
    });
    this.feed = new ReplicaFeed({
      servers: {
        askBook: async (market, take) => {
          await this.#moment();
          if (this.#isLost()) return;
          for (const part of this.partsOf(market)) if (!take(part)) return;
        },
        getTape: async (from) => {
          await this.#moment();
          if (this.#isLost()) return [];
          const start = this.tape.findIndex(({ sequence }) => sequence >= from);
          return start < 0 ? [] : this.tape.slice(start, start + TAPE_BATCH);
        },
      },
      publication: this.replicaEdge,
      wallMs: () => this.nowMs,
      sleep: () => this.#moment(),
      alive: nothing,
      log: nothing,
    });
    const { leader, edge, publisher, source } = this.#newLeader();
    this.#leader = leader;
    this.#leaderEdge = edge;
    this.#publisher = publisher;
    this.#source = source;
    this.#restoreLeader();
  }

  /** What a replica is answered that asks now. */
  partsOf(market: number | null): readonly Uint8Array[] {
    const parts: Uint8Array[] = [];
    this.#publisher.asked(market, (part) => parts.push(part.slice()));
    this.#leader.tap.flush();
    return parts;
  }

  get leader(): MarketDataFeed {
    return this.#leader.feed;
  }

  /** Other things happen meanwhile. */
  #moment(): Promise<void> {
    return new Promise((resolve) => this.sleeping.push(resolve));
  }

  #isLost(): boolean {
    return this.#draw() < this.loss;
  }

  #newReplica(): World['replica'] {
    const store = new TapeStore();
    const options = { clock, clearingChannel: 0, openHistory: () => store, pacingNs: () => START_NS };
    return { feed: new MarketDataFeed(SINK, options), store };
  }

  #newLeader(): {
    leader: { feed: MarketDataFeed; tap: MarketDataTap };
    edge: Edge;
    publisher: MarketDataPublisher;
    source: Source;
  } {
    const ofMarket = (market: number): readonly StoredTrade[] =>
      this.truth.trades.filter(({ marketIndex }) => marketIndex === market);
    const openHistory = () => ({
      marketTradesSince: (market: number) => [...ofMarket(market)].reverse(),
      marketTradesAfter: (market: number, after: number, limit: number) =>
        ofMarket(market)
          .filter(({ tradeId }) => tradeId > after)
          .slice(0, limit),
      marketTrades: () => [],
    });
    const feed = new MarketDataFeed(SINK, { clock, clearingChannel: CLEARING, openHistory, pacingNs: () => START_NS });
    // A small tape of the process: what is behind it comes of the tables.
    feed.data.setTapeTrades(4);
    const edge = new Edge(({ v, at }) => publisher.receive(v, at));
    this.run += 1;
    const tap = new MarketDataTap(
      {
        publication: edge,
        run: this.run,
        wallMs: () => this.nowMs,
        clearingChannel: CLEARING,
        channels: MARKETS + 1,
        channelOfMarket: (market) => market,
      },
      feed,
    );
    const publisher = new MarketDataPublisher({
      servers: {
        publishMarketData: (epoch, channel, bytes) => {
          if (!this.#isLost()) this.feed.heard(epoch, channel, bytes);
          if (this.#isLost()) this.feed.heard(epoch, channel, bytes);
        },
        putTrades: async (marketIndex, lines) => {
          await this.#moment();
          if (this.#isLost()) return false;
          this.tape.push({ sequence: this.tape.length + 1, marketIndex, lines: lines.slice() });
          // Stored, and the acknowledgement is lost.
          return !this.#isLost();
        },
        lastTrades: async (marketIndex) => {
          await this.#moment();
          if (this.#isLost()) return null;
          return this.tape.filter((message) => message.marketIndex === marketIndex).at(-1)?.lines ?? new Uint8Array();
        },
      },
      toMarketData: new Edge(({ v, at }) => tap.asked(v, at)),
      leads: () => this.isLeading,
      serves: () => true,
      epoch: () => this.epoch,
      place: () => ({ node: 'a', oms: null, mds: null, sequence: 1 }),
      nowMs: () => this.nowMs,
    });
    const source = new Source((channel, { typeId, v, at, bytes }) => {
      feed.handle(typeId, v, at);
      tap.taken(channel, typeId, v, at, bytes);
    });
    return { leader: { feed, tap }, edge, publisher, source };
  }

  /** Clearing and the markets send everything, as after a restart of the thread. */
  #restoreLeader(): void {
    for (let market = 0; market < MARKETS; market += 1) {
      const row = { definition: marketOf(market, `${market + 1}`) };
      this.#source.event({ kind: 'registryChanged', change: { table: 'market', row } });
    }
    this.#source.event({ kind: 'historyReady' });
    for (const [market, book] of this.truth.books.entries()) {
      this.#source.reset(market);
      for (const { side, price, quantity } of book.values()) this.#source.level(market, side, price, quantity);
      this.#source.commit(market, this.truth.commits[market] ?? 0);
    }
    this.#leader.feed.publish();
  }

  // ---- what happens

  /** @param isSplit whether the batch of the thread ends within the message. */
  async depth(pick: number, isSplit: boolean): Promise<void> {
    const market = pick % MARKETS;
    const book = this.truth.books[market];
    assert.ok(book !== undefined);
    for (let change = 0; change < 2; change += 1) {
      const side = (pick >> change) % 2 === 0 ? SIDE.buy : SIDE.sell;
      const price = side === SIDE.buy ? 90 - ((pick + change) % 7) : 110 + ((pick + change) % 7);
      const quantity = (pick >> 3) % 5;
      if (quantity === 0) book.delete(`${side} ${price}`);
      else book.set(`${side} ${price}`, { side, price, quantity });
      this.#source.level(market, side, price, quantity);
      if (!isSplit || change > 0) continue;
      this.batch();
      // A book may be read now.
      await this.later();
      this.batch();
    }
    const commits = (this.truth.commits[market] ?? 0) + 1;
    this.truth.commits[market] = commits;
    this.#source.commit(market, commits);
  }

  fill(pick: number): void {
    const trade: StoredTrade = {
      marketIndex: pick % MARKETS,
      tradeId: (this.truth.trades.length + 1) as Sequence,
      price: (100 + (pick % 50)) as never,
      quantity: (1 + (pick % 9)) as never,
      matchedNs: (START_NS + BigInt(this.truth.trades.length) * SECOND) as TimestampNs,
      takerSide: pick % 3 === 0 ? SIDE.buy : SIDE.sell,
      isAutoDeleverage: false,
    };
    this.truth.trades.push(trade);
    this.#source.fill(trade);
  }

  batch(): void {
    this.nowMs += 20;
    this.#leader.tap.flush();
    this.#publisher.tick();
    this.feed.tick();
  }

  ringIsFull(isFull: boolean): void {
    this.#leaderEdge.isFull = isFull;
  }

  restartLeader(): void {
    const { leader, edge, publisher, source } = this.#newLeader();
    this.#leader = leader;
    this.#leaderEdge = edge;
    this.#publisher = publisher;
    this.#source = source;
    this.#restoreLeader();
  }

  takeOver(): void {
    this.epoch += 1;
    // The clock of the other machine may be behind.
    this.run = 1;
    this.restartLeader();
  }

  restartReplica(): void {
    this.replica = this.#newReplica();
    this.replicaEdge.skip();
    this.replicaEdge.isResyncWanted = true;
  }

  /** What waits for its moment goes on. */
  async later(): Promise<void> {
    for (const wake of this.sleeping.splice(0)) wake();
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  }

  async settle(): Promise<void> {
    this.loss = 0;
    this.ringIsFull(false);
    for (let round = 0; round < 1_000; round += 1) {
      this.batch();
      await this.later();
      if (round > 100 && this.feed.isLive && this.replica.feed.hasHistory) return;
    }
  }
}

/** All levels and the number of the last message. */
function bookOf(feed: MarketDataFeed, market: number): unknown {
  const image = feed.data.bookImage(market);
  assert.ok(image !== null, 'the book is contiguous');
  const { asks, bids, marketSequence } = image;
  return { asks, bids, marketSequence };
}

function check(world: World): void {
  assert.ok(world.feed.isLive, 'the replica has all books');
  for (let market = 0; market < MARKETS; market += 1) {
    assert.deepEqual(bookOf(world.replica.feed, market), bookOf(world.leader, market));
    const last = world.truth.trades.filter(({ marketIndex }) => marketIndex === market).at(-1);
    const { lastTrade } = { lastTrade: world.replica.feed.data.lastTrade(market) };
    assert.equal(lastTrade?.tradeId, last?.tradeId);
  }
  const page = world.replica.feed.data.trades(null, 0, 1_000).map(({ tradeId }) => tradeId);
  assert.deepEqual(
    [...page].sort((a, b) => a - b),
    world.truth.trades.map(({ tradeId }) => tradeId),
    'the replica has every trade once',
  );
  const ids = world.tape.flatMap(({ lines }) =>
    Buffer.from(lines)
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { trade_id: number }).trade_id),
  );
  assert.deepEqual(
    [...new Set(ids)].sort((a, b) => a - b),
    world.truth.trades.map(({ tradeId }) => tradeId),
    'the tape has every trade',
  );
}

type Step = (world: World, pick: number) => void | Promise<void>;
const STEPS: readonly Step[] = [
  ...Array.from({ length: 6 }, (): Step => (world, pick) => world.depth(pick, false)),
  ...Array.from({ length: 2 }, (): Step => (world, pick) => world.depth(pick, true)),
  ...Array.from({ length: 5 }, (): Step => (world, pick) => world.fill(pick)),
  ...Array.from({ length: 6 }, (): Step => (world) => world.batch()),
  ...Array.from({ length: 8 }, (): Step => (world) => world.later()),
  (world) => world.restartLeader(),
  (world) => world.takeOver(),
  (world) => world.restartReplica(),
  (world) => world.ringIsFull(true),
  (world) => world.ringIsFull(false),
];

function drawsOf(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

suite('a replica of market data', () => {
  test('has the books and trades of the leader, whatever was lost, repeated or restarted', async () => {
    await fc.assert(
      fc.asyncProperty(
        storyOf(STEPS, [20, 150]),
        fc.nat(),
        fc.constantFrom(0, 0.02, 0.2),
        async (story, seed, loss) => {
          const world = new World(drawsOf(seed + 1));
          world.loss = loss;
          for (const [step, pick] of story) await STEPS[step]?.(world, pick);
          await world.settle();
          check(world);
        },
      ),
      propertyParameters(60),
    );
  });

  test('a lost message is a gap that is counted, and costs no other message', async () => {
    const world = new World(() => 1);
    await world.settle();
    for (let pick = 0; pick < 10; pick += 1) await world.depth(8 * pick + 8, false);
    world.batch();
    assert.equal(world.feed.gaps, 0);
    world.ringIsFull(true);
    await world.depth(9, false);
    world.batch();
    world.ringIsFull(false);
    await world.depth(16, false);
    world.batch();
    await world.settle();
    assert.equal(world.feed.gaps, 1);
    check(world);
  });

  test('questions for markets that are none hold no place of those who wait for a book', async () => {
    const world = new World(() => 1);
    await world.settle();
    for (let market = MARKETS; market < 1_000; market += 1) assert.deepEqual(world.partsOf(market), []);
    for (const market of [2 ** 32, Number.MAX_SAFE_INTEGER]) assert.deepEqual(world.partsOf(market), []);
    for (const market of [null, 0, 1]) assert.ok(world.partsOf(market).length > 0, `market ${market}`);
  });
});
